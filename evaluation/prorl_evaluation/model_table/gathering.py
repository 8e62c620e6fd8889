"""Which results a table of models holds: one a model, a suite's benchmarks taken together.

Leaves out: the numbers (``table``).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path

from prorl_common import nearest
from prorl_evaluation.sampling.choose import RUNS, gather
from prorl_evaluation.sampling.job import EVAL_FILE
from prorl_evaluation.suites.joining import joined_problems
from prorl_evaluation.types import RESULT_FILE, EvalResult, EvaluationError, load_result

SAMPLING = ("temperature", "top_p", "max_tokens", "extra")
"""Settings that decide what is measured: results that differ in them are not put side by side unasked."""


def gather_models(
    names: Sequence[str],
    baseline: str | None = None,
    *,
    any_sampling: bool = False,
    root: Path = RUNS,
) -> tuple[list[EvalResult], list[str]]:
    """Return one result a model, the baseline first, and lines on what was done to them.

    ``names`` are result folders (or their ``result.json`` or ``eval.json``), runs, and folders that hold result
    folders, as a suite leaves them. Results of one model (label and weights) on several datasets are taken together; a
    second one on the same dataset, or on most of its problems under another name, is a row of its own.
    ``baseline`` is a model's label, else one more name; None: the first. Raises EvaluationError for a name that is
    nothing, and for sampling settings that differ, unless ``any_sampling``.
    """
    found = [r for name in names for r in _results(name, root)]
    if baseline is not None and baseline not in {r.label for r in found}:
        labels = list(dict.fromkeys(r.label for r in found))
        try:
            first = _results(baseline, root)
        except EvaluationError as error:
            raise EvaluationError(
                f"--baseline is '{baseline}'{nearest(baseline, labels)}: no model of the table is called so "
                f"({', '.join(labels)}), nor is it a result ({error})"
            ) from error
        found, baseline = [*first, *found], first[0].label
    lines = _sampling_lines(found, any_sampling)
    named = list(zip(_dataset_names(found), found, strict=True))
    models = _by_model(named)
    if baseline is not None:
        models.sort(key=lambda parts: parts[0][1].label != baseline)
    if any(len(parts) > 1 for parts in models):
        results = _distinct([_joined(parts) for parts in models])
    else:
        results = _distinct([r for ((_, r),) in models])
    if len(results) < 2:
        raise EvaluationError(
            f"a table compares models, and {', '.join(names)} has one: name results of two or more"
        )
    return results, lines


def _results(name: str, root: Path) -> list[EvalResult]:
    path = Path(name)
    if path.name == EVAL_FILE and path.is_file():
        return [load_result(path.parent)]
    if path.is_dir() and not (path / RESULT_FILE).is_file():
        inside = [f for form in ("*", "*/*") for f in sorted(path.glob(f"{form}/{RESULT_FILE}"))]
        if inside and not (path / "config.yaml").is_file():
            return [load_result(file) for file in inside]
    return gather([name], root)[0]


def _sampling_lines(results: Sequence[EvalResult], allowed: bool) -> list[str]:
    lines = []
    for name in SAMPLING:
        values: dict[str, list[str]] = {}
        for r in results:
            value = getattr(r.settings, name)
            text = str(dict(value)) if name == "extra" else f"{value:g}"
            values.setdefault(text, []).append(r.label)
        if len(values) > 1:
            who = "; ".join(f"{v}: {', '.join(dict.fromkeys(o))}" for v, o in values.items())
            lines.append(f"{name} differs ({who})")
    if lines and not allowed:
        raise EvaluationError(
            f"these results were sampled differently: {'; '.join(lines)}. Sample them alike, or give "
            "--any-sampling to compare model and settings together"
        )
    counts = sorted({r.settings.n for r in results})
    if len(counts) > 1:
        lines.append(
            f"n differs ({', '.join(map(str, counts))}): pass@k has no bias from that, K suits the smallest"
        )
    others = {
        "backend": {r.settings.backend for r in results},
        "isolation": {" + ".join(r.isolation) for r in results},
        "version of prorl": {r.versions.get("prorl", "unknown") for r in results},
    }
    for name, kinds in others.items():
        if len(kinds) > 1:
            lines.append(f"{name} differs: {', '.join(sorted(kinds))}")
    return lines


def _by_model(
    results: Sequence[tuple[str, EvalResult]],
) -> list[list[tuple[str, EvalResult]]]:
    """Return each model's results with their datasets' names; a second one on the same dataset is a row of its own."""
    models: dict[tuple[str, str, int], list[tuple[str, EvalResult]]] = {}
    for data, r in results:
        for turn in range(len(results)):
            parts = models.setdefault((r.label, r.model_digest, turn), [])
            if all(other != data for other, _ in parts):
                parts.append((data, r))
                break
    return list(models.values())


def _dataset_names(results: Sequence[EvalResult]) -> list[str]:
    """Return the name of each result's dataset: that of its folder, with split and hash where another has that one.

    Datasets are one where manifest and split are the same, or most problems of the smaller: a dataset that was built
    anew must not count its problems twice.
    """
    known: dict[str, tuple[set[tuple[str, str]], set[tuple[str, str, str]]]] = {}
    names = []
    for r in results:
        origin = r.settings.dataset
        manifest, split = origin.get("manifest_sha256", ""), origin.get("split", "")
        problems = {(p.id, p.prompt_sha256, p.task_sha256) for p in r.problems}
        same = (
            name
            for name, (keys, others) in known.items()
            if (manifest, split) in keys
            or 2 * len(problems & others) > min(len(problems), len(others))
        )
        if (name := next(same, "")) == "":
            name = Path(origin.get("path", "")).name or "dataset"
            name = f"{name}-{split}-{manifest[:8]}" if name in known else name
        keys, others = known.setdefault(name, (set(), set()))
        keys.add((manifest, split))
        others |= problems
        names.append(name)
    return names


def _joined(parts: Sequence[tuple[str, EvalResult]]) -> EvalResult:
    """Return one result over all parts, each problem labelled with its dataset; it has no groups."""
    problems = [p for name, r in parts for p in joined_problems(name, r.problems)]
    first = parts[0][1]
    n, k = (min(getattr(r.settings, name) for _, r in parts) for name in ("n", "k"))
    settings = dataclasses.replace(first.settings, n=n, k=min(n, k))
    return dataclasses.replace(first, settings=settings, problems=tuple(problems), groups=())


def _distinct(results: Sequence[EvalResult]) -> list[EvalResult]:
    """Return the results with labels of their own: the second of one name gets `` (2)``."""
    taken = {r.label for r in results}
    seen: set[str] = set()
    found = []
    for r in results:
        label = r.label
        if label in seen:
            free = (f"{label} ({turn})" for turn in itertools.count(2))
            label = next(name for name in free if name not in taken)
        taken.add(label)
        seen.add(label)
        settings = dataclasses.replace(r.settings, label=label)
        found.append(dataclasses.replace(r, settings=settings))
    return found
