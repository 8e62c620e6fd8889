"""The problems of a lm-evaluation-harness task: its rows, filled templates, examples and gold answers.

As there, examples come first, each as question, delimiter, answer, delimiter; ``default`` draws them for one row after
the other with Random(1234). The prompt is what the harness sends with a chat template: the description as system
message, all else as one message of the user. Leaves out: what is in the task (``harness_task``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
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
        left_out = [
            f"; {n}" for n in task.notes if re.match(rf"left out: filter {re.escape(chosen)}\b", n)
        ]
        raise EvaluationError(
            f"{task.name} has no filter '{chosen}'{nearest(chosen, task.filters)}: "
            f"it has {', '.join(task.filters)}{''.join(left_out)}"
        )
    rows = _rows(task, data, task.split)[:limit]
    examples = _examples(task, data, rows)
    shown = _Shown(task.text, task.target, task.choices).of(rows)
    answers = _answers([target for _, target in shown])
    example_rows = list({id(r): r for drawn in examples for r in drawn}.values())
    written = _Shown(task.shots.text, task.shots.target, task.shots.choices).of(example_rows)
    example_of = {id(r): pair for r, pair in zip(example_rows, written, strict=True)}
    systems = _descriptions(task, rows)
    problems = []
    for (question, _), golds, drawn, system in zip(shown, answers, examples, systems, strict=True):
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


def read_rows(file: Path) -> Iterator[tuple[str, Row]]:
    """Yield ("<path>:<place>", row). An empty cell of a CSV file is None, as the library reads it that harnesses load with."""
    from prorl_datasets.sources.readers import iter_rows

    cells = file.name.endswith((".csv", ".csv.gz"))
    for where, row in iter_rows(file):
        yield where, {k: None if v == "" else v for k, v in row.items()} if cells else row


def _rows(task: HarnessTask, data: Mapping[str, Path], split: str) -> list[Row]:
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
    found = [row for file in files for _, row in read_rows(file)]
    if not found:
        raise EvaluationError(f"{task.name}: {', '.join(map(str, files))} holds no rows")
    return found


def _examples(task: HarnessTask, data: Mapping[str, Path], rows: Sequence[Row]) -> list[list[Row]]:
    """Return the examples that stand before each row."""
    shots = task.shots
    if not shots.count:
        return [[] for _ in rows]
    own = shots.samples
    pool = _rows(task, data, str(shots.split)) if own is None else list(own)
    needed = shots.count + (1 if shots.beside and shots.sampler == "default" else 0)
    if len(pool) < needed:
        raise EvaluationError(f"{task.name} shows {shots.count} examples and has {len(pool)}")
    random = Random(SEED)
    found = []
    for place, row in enumerate(rows):
        drawn = random.sample(pool, needed) if shots.sampler == "default" else pool
        others = (r for r in drawn if not (shots.beside and r == row))
        found.append(list(islice(others, shots.count)))
        if len(found[-1]) < shots.count:
            raise EvaluationError(
                f"row {place}: {task.name} shows {shots.count} examples, and too many of those it has are the row itself"
            )
    return found


def _example(shots: Shots, question: str, target: Any) -> str:
    """Return an example as the harness writes it: one without an answer has no delimiters either."""
    answer = target[0] if isinstance(target, list) and target else target
    if answer == "":
        return question
    return f"{question}{shots.target_delimiter}{answer}{shots.delimiter}"


def _descriptions(task: HarnessTask, rows: Sequence[Row]) -> list[str]:
    if not task.description:
        return [""] * len(rows)
    if "{" not in task.description:
        return [str(r.get(task.description, task.description) or "") for r in rows]
    return fill([(task.description, r) for r in rows])


class _Shown:
    """A question and its target, of rows: each of text, target and choices is a column's name or a template."""

    def __init__(self, text: str, target: Any, choices: Any) -> None:
        self.text, self.target, self.choices = text, target, choices

    def of(self, rows: Sequence[Row]) -> list[tuple[str, Any]]:
        """Return (question, target) of each row; a target is a text or another value, or a list of them."""
        if not rows:
            return []
        texts, targets = (self._filled(part, rows) for part in (self.text, self.target))
        choices = self._filled(self.choices, rows)
        return [
            (_question(text, i), _target(target, options, i))
            for i, (text, target, options) in enumerate(zip(texts, targets, choices, strict=True))
        ]

    @staticmethod
    def _filled(part: Any, rows: Sequence[Row]) -> list[Any]:
        if not isinstance(part, str):
            return [part] * len(rows)
        if any(part in row for row in rows):
            return [row.get(part) for row in rows]
        return list(map(_Filled, fill([(part, row) for row in rows])))


class _Filled(str):
    """A text that a template made: one that looks like a list or a number may stand for it."""

    __slots__ = ()


def _question(text: Any, place: int) -> str:
    if not isinstance(text, str):
        raise EvaluationError(f"row {place}: doc_to_text gives no text but {type(text).__name__}")
    return str(text)


def _target(target: Any, choices: Any, place: int) -> Any:
    if choices is not None:
        listed = _literal(choices) if isinstance(choices, _Filled) else choices
        listed = list(listed.values()) if isinstance(listed, dict) else listed
        place_named = isinstance(target, str) and target.isdecimal() and len(target) < 10
        index = int(target) if place_named else target
        if not isinstance(listed, list) or not isinstance(index, int):
            raise EvaluationError(f"row {place}: doc_to_target gives no place among the choices")
        if not 0 <= index < len(listed):
            raise EvaluationError(f"row {place}: there is no choice {index}")
        return str(listed[index])
    if isinstance(target, _Filled) and target[:1] == "[" and target[-1:] == "]":
        target = _literal(target)
    if target is None or isinstance(target, dict):
        raise EvaluationError(f"row {place}: doc_to_target gives no answer")
    try:
        str(target)
    except ValueError as error:  # Python writes no longer number
        raise EvaluationError(
            f"row {place}: the answer is a number of over 4,300 digits"
        ) from error
    return target


def _answers(targets: Sequence[Any]) -> list[list[str]]:
    """Return the gold answers of each row.

    As there, the first row decides whether a list means that any of its texts is right, or is written out as one text.
    """
    several = isinstance(targets[0], list) and len(targets[0]) > 0
    found = []
    for place, target in enumerate(targets):
        listed = several and isinstance(target, list)
        golds = target if listed else [target]
        if listed and (not golds or any(g is None or isinstance(g, dict | list) for g in golds)):
            raise EvaluationError(f"row {place}: doc_to_target gives no answer")
        if listed and not any(isinstance(g, str) for g in golds):
            raise EvaluationError(
                f"row {place}: doc_to_target gives a list without a text, which lm-evaluation-harness finds no answer equal to"
            )
        found.append([str(g) for g in golds])
    return found


def _literal(text: str) -> Any:
    """Return the list or number that ``text`` writes down, else the text."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return text
