"""The tasks of a lighteval file: ``LightevalTaskConfig(...)`` calls read with ``ast``, never imported.

Taken: a config at the top of the file whose prompt function stands in the file and is of the part of Python that
``python_prompts`` interprets, judged by ``exact_match`` (as there) or by one of its mathematical metrics (by our math
verifier in place of theirs, which is said). Fields: tasks/lighteval_task.py of huggingface/lighteval (0.13). Leaves
out: examples before the question (lighteval takes their number from its command line).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import nearest, why_unreadable
from prorl_evaluation.exchange.harness_problems import read_rows
from prorl_evaluation.exchange.harness_task import LONGEST, MAX_SAMPLES, RefusedTask
from prorl_evaluation.exchange.python_prompts import Prompting, UnreadPythonError, source
from prorl_evaluation.exchange.suite_files import ForeignProblem, ForeignSuite
from prorl_evaluation.types import EvaluationError
from prorl_verifiers import Task

CONFIG = "LightevalTaskConfig"
MATHEMATICAL = (
    "expr_gold_metric", "latex_gold_metric", "expr_latex_gold_metric", "pass_at_k_math", "avg_at_n_math",
    "g_pass_at_k_math", "maj_at_n_math",
)  # fmt: skip
COMPUTED = ("hf_filter", "filter", "generation_grammar")
MAX_BYTES = 2**21


@dataclass(frozen=True, slots=True)
class LightevalTask:
    """A task that can be scored here. ``strip``: both sides lose blanks at their ends (exact match)."""

    name: str
    source: str
    splits: tuple[str, ...]
    prompting: Prompting
    mathematical: bool
    strip: bool
    samples: int
    max_tokens: int | None
    until: tuple[str, ...]
    notes: tuple[str, ...]


def lighteval_suite(
    file: Path, data: Mapping[str, Path], *, task: str | None = None, limit: int | None = None
) -> ForeignSuite:
    """Return the problems of one task of the file; ``data`` maps a split to its file.

    Raises RefusedTask with the reasons, EvaluationError for a broken file, an unknown task, or a split without a file.
    """
    calls, module = lighteval_configs(file)
    names = list(calls)
    if task is None and len(names) > 1:
        raise EvaluationError(
            f"{file} defines {len(names)} tasks, name one with --task: {', '.join(names)}"
        )
    name = names[0] if task is None else task
    if name not in calls:
        raise EvaluationError(
            f"{file} has no task '{name}'{nearest(name, names)}: {', '.join(names)}"
        )
    found = read_lighteval_task(name, calls[name], module)
    problems: list[ForeignProblem] = []
    for split in found.splits:
        if split not in data:
            raise EvaluationError(
                f"{name} needs its split '{split}' of {found.source}: fetch it and give --data {split}=FILE"
            )
        for index, (where, row) in enumerate(read_rows(data[split])):
            if limit is not None and len(problems) >= limit:
                break
            made = found.prompting.of({**row, "__few_shots": False, "__index": index}, name)
            if made is not None:
                problems.append(_problem(found, made, where))
    if not problems:
        raise EvaluationError(f"{name}: the data holds no rows")
    sampling: dict[str, Any] = {"n": found.samples}
    sampling |= {"temperature": 0.0, "top_p": 1.0} if found.samples == 1 else {}
    sampling |= {} if found.max_tokens is None else {"max_tokens": found.max_tokens}
    return ForeignSuite(name, found.source, "lighteval", sampling, tuple(problems), found.notes)


def lighteval_configs(file: Path) -> tuple[dict[str, ast.Call], ast.Module]:
    """Return the configs at the top of a file by their task's name, and the parsed file.

    Raises EvaluationError where it cannot be parsed or has none.
    """
    try:
        if file.stat().st_size > MAX_BYTES:
            raise EvaluationError(f"{file} is larger than {MAX_BYTES // 2**20} MiB: no task file")
        module = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{file} cannot be read: {why_unreadable(error)}") from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise EvaluationError(f"{file} is not Python that can be parsed ({error})") from error
    found = {}
    for statement in module.body:
        match statement:
            case ast.Assign(value=ast.Call(func=ast.Name(id=name)) as call) if name == CONFIG:
                title = _literal(_fields(call).get("name"))
                if isinstance(title, str):
                    found[title] = call
    if not found:
        raise EvaluationError(
            f"{file} assigns no {CONFIG}(name=...) at its top: tasks made in loops would have to be run"
        )
    return found, module


def read_lighteval_task(name: str, call: ast.Call, module: ast.Module) -> LightevalTask:
    """Return the task of a config. Raises RefusedTask with every reason."""
    fields = _fields(call)
    reasons = [
        f"{key} is computed"
        for key in COMPUTED
        if key in fields and _literal(fields[key]) is not None
    ]
    notes = [f"lighteval task {name}", "no examples before the question"]
    kinds = _metrics(fields.get("metrics"))
    exact = [params for kind, params in kinds if kind == "exact_match"]
    mathematical = [params for kind, params in kinds if kind in MATHEMATICAL]
    if others := [k for k, _ in kinds if k != "exact_match" and k not in MATHEMATICAL]:
        notes.append(f"left out: metrics {', '.join(others)}")
    if not exact and not mathematical:
        said = ", ".join(k for k, _ in kinds) or "none is named"
        reasons.append(f"its metric is neither exact_match nor a mathematical one ({said})")
    params = (exact or mathematical or [{}])[0]
    odd = [k for k in params or {} if k not in ("strip_strings", "k", "n")]
    if params is None or odd:
        said = ", ".join(map(str, odd))
        reasons.append(f"its metric is computed ({said or 'sample_params'})")
    if mathematical and not exact:
        notes.append("prorl's math verifier judges in place of lighteval's extraction")
    splits = _texts(fields, "evaluation_splits", reasons) or ["validation"]
    until = _texts(fields, "stop_sequence", reasons)
    size = _literal(fields.get("generation_size"))
    prompting = _prompting(fields.get("prompt_function"), module, reasons)
    if reasons or prompting is None:
        raise RefusedTask(name, reasons)
    asked = (params or {}).get("n", 1)
    samples = asked if isinstance(asked, int) and 0 < asked <= MAX_SAMPLES else 1
    if asked != samples:
        notes.append(f"one answer a problem: n is {str(asked)[:40]}")
    if samples != 1:
        notes.append(
            "temperature and top-p are prorl's: lighteval takes them from its command line"
        )
    where = [_literal(fields.get(key)) for key in ("hf_repo", "hf_subset")]
    return LightevalTask(
        name=name,
        source=" ".join(str(part) for part in where if part) or "local files",
        splits=tuple(splits),
        prompting=prompting,
        mathematical=not exact,
        strip=(params or {}).get("strip_strings", True) is not False,
        samples=samples,
        max_tokens=size if isinstance(size, int) and 0 < size <= LONGEST else None,
        until=tuple(until),
        notes=tuple(notes),
    )


def _fields(call: ast.Call) -> dict[str, ast.expr]:
    return {k.arg: k.value for k in call.keywords if k.arg is not None}


def _texts(fields: Mapping[str, ast.expr], key: str, reasons: list[str]) -> list[str]:
    """Return a field that holds a text or several; a reason where it is anything else."""
    value = _literal(fields.get(key))
    found = list(value) if isinstance(value, list | tuple) else [value] if value else []
    if not all(isinstance(text, str) for text in found):
        reasons.append(f"{key} holds no texts, or is computed")
        return []
    return found


def _literal(node: ast.expr | None) -> Any:
    """Return a literal's value; the text of anything else, so that it counts as given."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return {"computed": source(node)}


def _metrics(node: ast.expr | None) -> list[tuple[str, dict[str, Any] | None]]:
    """Return each metric's name and literal parameters (None: they are computed)."""
    found: list[tuple[str, dict[str, Any] | None]] = []
    for one in node.elts if isinstance(node, ast.List | ast.Tuple) else []:
        match one:
            case ast.Attribute(value=ast.Name(id="Metrics"), attr=name):
                found.append((name, {}))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="Metrics"), attr=name)):
                given = _fields(one)
                params = _literal(given.get("sample_params"))
                plain = isinstance(params, dict) and "computed" not in params
                found.append((name, params if plain and set(given) == {"sample_params"} else None))
            case _:
                found.append((source(one), None))
    return found


def _prompting(node: ast.expr | None, module: ast.Module, reasons: list[str]) -> Prompting | None:
    functions = {s.name: s for s in module.body if isinstance(s, ast.FunctionDef)}
    if not isinstance(node, ast.Name) or node.id not in functions:
        reasons.append("its prompt_function is not defined in the file")
        return None
    constants = {
        s.targets[0].id: s.value
        for s in module.body
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)
    }
    prompting = Prompting(functions[node.id], constants)
    try:
        prompting.check()
    except UnreadPythonError as error:
        reasons.append(f"{node.id}: {error}")
        return None
    return prompting


def _problem(found: LightevalTask, made: Mapping[str, Any], where: str) -> ForeignProblem:
    """Return the problem of one ``Doc``: its prompt as lighteval's chat template has it, and its gold answers."""
    query, choices, gold = made.get("query"), made.get("choices"), made.get("gold_index", 0)
    if not isinstance(query, str) or not isinstance(choices, list):
        raise EvaluationError(f"{where}: {found.name} gives no query or no choices")
    instruction = made.get("instruction")
    if isinstance(instruction, str):
        rest = query[len(instruction) :].strip() if query.startswith(instruction) else query
        query = instruction + rest
    golds = _golds(choices, gold, where)
    prompt = ({"role": "user", "content": query},)
    if found.mathematical:
        if "\n" in golds[0].strip() or "####" in golds[0]:
            raise EvaluationError(
                f"{where}: the gold answer of {found.name} is a whole solution, from which lighteval extracts; "
                "prorl's math verifier takes answers alone"
            )
        return ForeignProblem(prompt, Task("math", {"answer": golds[0]}))
    golds = [g.strip() for g in golds] if found.strip else golds
    reference: dict[str, Any] = {"answer": golds[0] if len(golds) == 1 else golds}
    reference |= {"until": list(found.until)} if found.until else {}
    steps = ("remove_thinking", *(["remove_whitespace"] if found.strip else []))
    reference["filters"] = [{"function": step} for step in steps]
    return ForeignProblem(prompt, Task("exact_match", reference))


def _golds(choices: Sequence[Any], gold: Any, where: str) -> list[str]:
    places = gold if isinstance(gold, list) else [gold]
    if not places or any(isinstance(p, bool) or not isinstance(p, int) for p in places):
        raise EvaluationError(f"{where}: gold_index is no place among the choices")
    try:
        picked = [choices[p] for p in places]
    except IndexError as error:
        raise EvaluationError(f"{where}: gold_index {gold} is not among the choices") from error
    flat = [g for one in picked for g in (one if isinstance(one, list) else [one])]
    texts = [str(g) for g in flat if g is not None]
    written = [text for text in texts if text.strip()]  # there, an empty answer is never right
    if not written:
        raise EvaluationError(f"{where}: there is no gold answer")
    return written
