"""The problems of a lm-evaluation-harness task: its rows, filled templates, examples and gold answers.

As there, examples come first, each as question, delimiter, answer, delimiter; ``default`` draws them for one row after
the other with Random(1234). The prompt is what the harness sends with a chat template: the description as system
message, all else as one message of the user. Leaves out: what is in the task (``harness_task``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from prorl_common import nearest
from prorl_evaluation.exchange.harness_task import HarnessTask, Shots
from prorl_evaluation.exchange.suite_files import ForeignProblem, ForeignSuite
from prorl_evaluation.exchange.templates import fill
from prorl_evaluation.types import EvaluationError
from prorl_verifiers import Task

SEED = 1234
"""The harness's seed of examples (DEFAULT_OTHER_SEED)."""
Row = Mapping[str, Any]


def harness_suite(
    task: HarnessTask,
    data: Mapping[str, Path],
    *,
    pipeline: str | None = None,
    limit: int | None = None,
) -> ForeignSuite:
    """Return the task's problems. ``data`` maps a split to a file and wins over the task's own local files.

    ``pipeline`` names one of its filters (None: the first); ``limit`` keeps the first rows. Raises EvaluationError for
    a split without a file, an unknown pipeline, and a row that its templates do not suit.
    """
    chosen = pipeline if pipeline is not None else next(iter(task.filters))
    if chosen not in task.filters:
        raise EvaluationError(
            f"{task.name} has no filter '{chosen}'{nearest(chosen, task.filters)}: "
            f"it has {', '.join(task.filters)}"
        )
    rows = _rows(task, data, task.split)[:limit]
    examples = _examples(task, data, rows)
    shown = _Shown(task.text, task.target, task.choices).of(rows)
    example_rows = list({id(r): r for drawn in examples for r in drawn}.values())
    written = _Shown(task.shots.text, task.shots.target, task.shots.choices).of(example_rows)
    example_of = {id(r): pair for r, pair in zip(example_rows, written, strict=True)}
    systems = _descriptions(task, rows)
    problems = []
    for (question, golds), drawn, system in zip(shown, examples, systems, strict=True):
        before = "".join(_example(task.shots, *example_of[id(r)]) for r in drawn)
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": before + question})
        reference: dict[str, Any] = {"answer": golds[0] if len(golds) == 1 else golds}
        reference |= {"until": list(task.until)} if task.until else {}
        reference |= {"filters": [dict(f) for f in task.filters[chosen]]}
        reference |= {**task.comparing, "filter_name": chosen}
        problems.append(ForeignProblem(tuple(messages), Task("exact_match", reference)))
    return ForeignSuite(
        name=task.name,
        source=task.dataset or "local files",
        origin="lm-evaluation-harness",
        sampling={
            "n": task.repeats,
            "temperature": task.temperature,
            "top_p": task.top_p,
            "max_tokens": task.max_tokens,
        },
        problems=tuple(problems),
        notes=tuple(_notes(task, chosen)),
    )


def _notes(task: HarnessTask, chosen: str) -> Iterable[str]:
    version = f" (version {task.version})" if task.version else ""
    yield f"lm-evaluation-harness task {task.name}{version}, filter {chosen}"
    if others := [name for name in task.filters if name != chosen]:
        yield f"its other filters: {', '.join(others)} (--filter)"
    yield from task.notes


def _rows(task: HarnessTask, data: Mapping[str, Path], split: str) -> list[Row]:
    from prorl_datasets.sources.readers import iter_rows

    own = [task.base / name for name in task.data_files.get(split, ())]
    files = [data[split]] if split in data else own
    if not files:
        where = f" of {task.dataset}" if task.dataset else ""
        raise EvaluationError(
            f"{task.name} needs its split '{split}'{where}: fetch it and give --data {split}=FILE "
            "(.jsonl, .json, .csv or .parquet)"
        )
    if missing := [str(file) for file in files if not file.is_file()]:
        raise EvaluationError(f"{task.name}: no file {', '.join(missing)}")
    found: list[Row] = [row for file in files for _, row in iter_rows(file)]
    if not found:
        raise EvaluationError(f"{task.name}: {', '.join(map(str, files))} holds no rows")
    return found


def _examples(task: HarnessTask, data: Mapping[str, Path], rows: Sequence[Row]) -> list[list[Row]]:
    """Return the examples that stand before each row."""
    shots = task.shots
    if not shots.count:
        return [[] for _ in rows]
    own = shots.samples is not None
    pool: list[Row] = list(shots.samples or ()) if own else _rows(task, data, str(shots.split))
    if shots.places is not None:
        pool = [pool[i] for i in shots.places if -len(pool) <= i < len(pool)]
    same = not own and shots.split == task.split
    needed = shots.count + (1 if same else 0)
    if len(pool) < needed:
        raise EvaluationError(f"{task.name} shows {shots.count} examples and has {len(pool)}")
    random = Random(SEED)
    found = []
    for row in rows:
        if shots.sampler == "default":
            drawn = random.sample(pool, needed)
        else:
            drawn = pool if same else pool[: shots.count]
        found.append([r for r in drawn if not (same and r == row)][: shots.count])
    return found


def _example(shots: Shots, question: str, golds: Sequence[str]) -> str:
    return f"{question}{shots.target_delimiter}{golds[0]}{shots.delimiter}"


def _descriptions(task: HarnessTask, rows: Sequence[Row]) -> list[str]:
    if not task.description:
        return [""] * len(rows)
    if "{" not in task.description:
        return [str(r.get(task.description, task.description)) for r in rows]
    return fill([(task.description, r) for r in rows])


class _Shown:
    """A question and its gold answers, of rows: each of the three is a column's name or a template."""

    def __init__(self, text: str, target: Any, choices: Any) -> None:
        self.text, self.target, self.choices = text, target, choices

    def of(self, rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
        """Return (question, gold answers) of each row."""
        if not rows:
            return []
        texts, targets = (self._filled(part, rows) for part in (self.text, self.target))
        choices = self._filled(self.choices, rows)
        return [
            (_question(text, i), _golds(target, options, i))
            for i, (text, target, options) in enumerate(zip(texts, targets, choices, strict=True))
        ]

    @staticmethod
    def _filled(part: Any, rows: Sequence[Row]) -> list[Any]:
        if not isinstance(part, str):
            return [part] * len(rows)
        if part in rows[0]:
            return [row.get(part) for row in rows]
        return list(map(_Filled, fill([(part, row) for row in rows])))


class _Filled(str):
    """A text that a template made: one that looks like a list or a number may stand for it."""

    __slots__ = ()


def _question(text: Any, place: int) -> str:
    if not isinstance(text, str):
        raise EvaluationError(f"row {place}: doc_to_text gives no text but {type(text).__name__}")
    return str(text)


def _golds(target: Any, choices: Any, place: int) -> list[str]:
    if choices is not None:
        listed = _literal(choices) if isinstance(choices, _Filled) else choices
        listed = list(listed.values()) if isinstance(listed, dict) else listed
        place_named = isinstance(target, str) and target.isdecimal() and len(target) < 10
        index = int(target) if place_named else target
        if not isinstance(listed, list) or isinstance(index, bool) or not isinstance(index, int):
            raise EvaluationError(f"row {place}: doc_to_target gives no place among the choices")
        if not 0 <= index < len(listed):
            raise EvaluationError(f"row {place}: there is no choice {index}")
        return [str(listed[index])]
    if isinstance(target, _Filled) and target[:1] == "[" and target[-1:] == "]":
        target = _literal(target)
    golds = target if isinstance(target, list) else [target]
    if not golds or any(g is None or isinstance(g, dict | list) for g in golds):
        raise EvaluationError(f"row {place}: doc_to_target gives no answer")
    try:
        return [str(g) for g in golds]
    except ValueError as error:  # Python writes no longer number
        raise EvaluationError(
            f"row {place}: the answer is a number of over 4,300 digits"
        ) from error


def _literal(text: str) -> Any:
    """Return the list or number that ``text`` writes down, else the text."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return text
