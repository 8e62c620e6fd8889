"""Compares several models with a baseline in one table.

The tests of all differences are corrected together by Holm's method, so the probability of any false claim is at most
``alpha``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from prorl_common import derive_seed
from prorl_common.markup import md
from prorl_common.markup import table as markdown_table
from prorl_evaluation.boundary.boundary import Members, align, claim_k, named_groups
from prorl_evaluation.compare import MIN_PROBLEMS, check_alike
from prorl_evaluation.metrics import near_n_warning, pass_at_k_table
from prorl_evaluation.sampling.choose import gather
from prorl_evaluation.stats.distributions import holm
from prorl_evaluation.stats.fixed_set import fixed_change, fixed_interval
from prorl_evaluation.stats.intervals import (
    Drawn,
    Interval,
    Resampling,
    bounded_columns,
    paired_columns,
)
from prorl_evaluation.stats.paired import group_resampling, group_units, one_sided
from prorl_evaluation.suites.runner import joined_problems
from prorl_evaluation.tables import TextTable, signed_bracket
from prorl_evaluation.types import (
    OVERALL,
    RESULT_FILE,
    EvalResult,
    EvaluationError,
    ProblemResult,
    finite,
    load_result,
)

TABLE_FORMAT = 1
MARKS = {"higher": "↑", "lower": "↓", "": ""}


@dataclass(frozen=True, slots=True)
class Value:
    """One model's metric in one group of problems.

    The interval ``population`` is for a random sample of similar problems, ``fixed`` for exactly these problems.
    """

    model: str
    group: str
    metric: str
    population: Interval
    fixed: Interval


@dataclass(frozen=True, slots=True)
class TableDifference:
    """A model's difference from the baseline, with intervals as in ``Value``.

    ``p`` is two-sided; it is NaN for fewer than MIN_PROBLEMS problems.
    """

    model: str
    group: str
    metric: str
    population: Interval
    fixed: Interval
    p: float
    p_corrected: float = math.nan

    def claim(self, alpha: float) -> Literal["higher", "lower", ""]:
        """Return the direction of a difference that is significant at level ``alpha``, else ""."""
        if math.isnan(self.p_corrected) or self.p_corrected > alpha:
            return ""
        return "higher" if self.population.value > 0 else "lower"


@dataclass(frozen=True, slots=True)
class ModelTable:
    """All values and differences; ``labels`` starts with the baseline, ``groups`` are (name, number of problems)."""

    labels: tuple[str, ...]
    k: int
    alpha: float
    level: float
    tests: int
    groups: tuple[tuple[str, int], ...]
    values: tuple[Value, ...]
    differences: tuple[TableDifference, ...]
    notes: tuple[str, ...]

    def value(self, model: str, group: str, metric: str) -> Value:
        key = (model, group, metric)
        return next(v for v in self.values if (v.model, v.group, v.metric) == key)

    def difference(self, model: str, group: str, metric: str) -> TableDifference | None:
        key = (model, group, metric)
        hits = (d for d in self.differences if (d.model, d.group, d.metric) == key)
        return next(hits, None)

    def to_json(self) -> dict[str, Any]:
        value = finite(dataclasses.asdict(self))
        assert isinstance(value, dict)
        for row, difference in zip(value["differences"], self.differences, strict=True):
            row["claim"] = difference.claim(self.alpha)
        return {"format": TABLE_FORMAT, "baseline": self.labels[0], **value}


def gather_models(
    names: Sequence[str], any_sampling: bool = False
) -> tuple[list[EvalResult], list[str]]:
    """Return one result per model, baseline first, and a line for each sampling setting that differs.

    Each name is a result folder, a folder of result folders, or a run. Raises EvaluationError for invalid names and,
    unless ``any_sampling``, for differing settings.
    """
    results: list[EvalResult] = []
    for name in names:
        path, files = Path(name), list[Path]()
        if path.is_dir() and not any((path / f).is_file() for f in (RESULT_FILE, "config.yaml")):
            for form in ("*", "*/*"):
                files += sorted(path.glob(f"{form}/{RESULT_FILE}"))
        results += [load_result(file) for file in files] if files else gather([name]).results
    notes = check_alike(results, any_sampling=any_sampling, one_dataset=False)
    models: dict[tuple[str, str], list[EvalResult]] = {}
    for r in results:
        models.setdefault((r.label, r.model_digest), []).append(r)
    if len(models) < 2:
        raise EvaluationError(
            f"a table compares models, but all results in {', '.join(names)} are of one model: "
            "name results of two or more models"
        )
    one_each = [_one_result(parts, single=len(results) == len(models)) for parts in models.values()]
    labels: list[str] = []
    for place, r in enumerate(one_each):
        label = r.label
        if label in labels:
            label = f"{label} ({r.model_digest[:8]})"
            settings = dataclasses.replace(r.settings, label=label)
            one_each[place] = dataclasses.replace(r, settings=settings)
        labels.append(label)
    return one_each, notes


def _one_result(parts: Sequence[EvalResult], single: bool) -> EvalResult:
    if single:
        return parts[0]
    taken: set[tuple[str, str]] = set()
    problems: list[ProblemResult] = []
    for r in parts:
        keys = {(p.id, p.prompt_sha256) for p in r.problems}
        if keys & taken:
            raise EvaluationError(
                f"{r.label} has two results on the same problems: name one of them, not the "
                "folder that holds both"
            )
        taken |= keys
        origin = r.settings.dataset
        name = Path(origin.get("path", "")).name or "dataset"
        if any(p.labels.get("benchmark") == name for p in problems):
            name += f"-{origin.get('manifest_sha256', '')[:8]}"
        problems += joined_problems(name, r.problems)
    n, k = (min(getattr(r.settings, name) for r in parts) for name in ("n", "k"))
    settings = dataclasses.replace(parts[0].settings, n=n, k=min(n, k))
    return dataclasses.replace(parts[0], settings=settings, problems=tuple(problems), groups=())


def model_table(
    results: Sequence[EvalResult],
    k: int | None = None,
    alpha: float = 0.05,
    cluster: str = "problem",
    notes: Sequence[str] = (),
) -> ModelTable:
    """Return the table of ``results``, baseline first. Raises EvaluationError like ``align`` and ``claim_k``."""
    import numpy as np

    aligned, left_out = align(results)
    largest = claim_k(results, k)
    ks = sorted({1, largest})
    settings = results[0].settings
    values: list[Value] = []
    differences: list[TableDifference] = []
    columns = _columns([row[0] for row in aligned])
    for group in columns:
        rows = [aligned[i] for i in group.places]
        sides = [[row[j] for row in rows] for j in range(len(results))]
        tables = [pass_at_k_table(side, ks) for side in sides]
        units = group_units(sides[0], cluster)
        seed = derive_seed(settings.seed, "bootstrap", group.name)
        alone = Resampling(settings.level, settings.draws, seed)
        points = iter(bounded_columns(np.hstack(tables), (0.0, 1.0), units, alone))
        for r, side in zip(results, sides, strict=True):
            for each in ks:
                fixed = fixed_interval(side, each, settings.level)
                values.append(Value(r.label, group.name, f"pass@{each}", next(points), fixed))
        changes = np.hstack([table - tables[0] for table in tables[1:]])
        paired = group_resampling(settings, group.kind, group.name)
        intervals, drawn = paired_columns(changes, units, paired)
        tested = iter(zip(intervals, two_sided(drawn), strict=True))
        for j, r in enumerate(results[1:], start=1):
            pairs = [(row[0], row[j]) for row in rows]
            for each in ks:
                interval, p = next(tested)
                fixed = fixed_change(pairs, each, settings.level)
                differences.append(
                    TableDifference(r.label, group.name, f"pass@{each}", interval, fixed, p)
                )
    corrected = holm([d.p for d in differences])
    near = [near_n_warning(r.settings.n, largest) for r in results]
    by_weights: dict[str, list[str]] = {}
    for r in results:
        by_weights.setdefault(r.model_digest, []).append(r.label)
    twins = [
        f"of the same weights: {', '.join(labels)}"
        for labels in by_weights.values()
        if len(labels) > 1
    ]
    return ModelTable(
        labels=tuple(r.label for r in results),
        k=largest,
        alpha=alpha,
        level=settings.level,
        tests=sum(not math.isnan(p) for p in corrected),
        groups=tuple((g.name, len(g.places)) for g in columns),
        values=tuple(values),
        differences=tuple(
            dataclasses.replace(d, p_corrected=p)
            for d, p in zip(differences, corrected, strict=True)
        ),
        notes=tuple(dict.fromkeys([*notes, *left_out, *filter(None, near), *twins])),
    )


def two_sided(drawn: Drawn) -> list[float]:
    """Return each column's two-sided p-value of "no change"; NaN for fewer than MIN_PROBLEMS values."""
    p_values = []
    for j, count in enumerate(drawn.counts):
        up, down = one_sided(drawn, j)
        tested = count >= MIN_PROBLEMS and not math.isnan(up)
        p_values.append(min(1.0, 2.0 * up, 2.0 * down) if tested else math.nan)
    return p_values


def _columns(problems: Sequence[ProblemResult]) -> list[Members]:
    overall = Members("overall", OVERALL, tuple(range(len(problems))))
    groups = [g for g in named_groups(problems) if g.places != overall.places]
    benchmarks = [g for g in groups if g.kind == "benchmark"]
    chosen = benchmarks or [g for g in groups if g.kind == "domain"]
    # columns are looked up by name, so a group with the name of the overall group is renamed
    return [
        overall,
        *(
            dataclasses.replace(g, name=f"{g.kind} {OVERALL}") if g.name == OVERALL else g
            for g in chosen
        ),
    ]


def value_table(table: ModelTable) -> TextTable:
    rows = []
    for label in table.labels:
        for metric in (f"pass@{k}" for k in sorted({1, table.k})):
            cells = (_cell(table, label, group, metric) for group, _ in table.groups)
            rows.append((label, metric, *cells))
    head = ("", "", *(f"{name} ({problems})" for name, problems in table.groups))
    title = f"pass@k of {len(table.labels)} models, baseline {table.labels[0]}, {100 * table.level:g}% intervals"
    return TextTable(title, head, tuple(rows))


def _cell(table: ModelTable, label: str, group: str, metric: str) -> str:
    value, difference = table.value(label, group, metric), table.difference(label, group, metric)
    i, fixed = value.population, value.fixed
    if i.count == 0:
        return "-"
    mark = MARKS[difference.claim(table.alpha) if difference is not None else ""]
    text = f"{i.value:.3f}{mark}{i.part}\n[{i.low:.3f}, {i.high:.3f}]"
    return f"{text}\n{{{fixed.low:.3f}, {fixed.high:.3f}}}" if fixed.count else text


def claims_table(table: ModelTable) -> TextTable:
    rows = tuple(
        (
            d.model,
            d.group,
            d.metric,
            signed_bracket(d.population),
            f"{{{d.fixed.low:+.3f}, {d.fixed.high:+.3f}}}",
            "< 1e-6" if d.p_corrected < 1e-6 else f"{d.p_corrected:.2g}",
            claim,
        )
        for d in table.differences
        if (claim := d.claim(table.alpha))
    )
    head = ("", "", "", "difference", "these very problems", "corrected p", "claim")
    return TextTable(f"Claimed against {table.labels[0]}", head, rows)


def below(table: ModelTable) -> list[str]:
    claimed = [d for d in table.differences if d.claim(table.alpha)]
    alone = sum(
        not d.claim(table.alpha) and (d.population.low > 0 or d.population.high < 0)
        for d in table.differences
    )
    lines = [
        "[ ] holds for problems like these, { } for new samples of these very problems",
        (
            f"{MARKS['higher']} {MARKS['lower']} claimed against {table.labels[0]}: {len(claimed)} of {table.tests} "
            "differences, corrected together (Holm): the chance of any false one in the table is at most "
            f"{100 * table.alpha:g}%"
        ),
    ]
    if alone:
        lines.append(
            f"{alone} more {'interval excludes' if alone == 1 else 'intervals exclude'} 0 alone but "
            "not after the correction for a table of this size"
        )
    if untested := len(table.differences) - table.tests:
        lines.append(f"{untested} differences are not tested: too few problems")
    return [*lines, *table.notes]


def table_markdown(table: ModelTable) -> str:
    parts = []
    for text in (value_table(table), claims_table(table)):
        if text.rows:
            rows = [[md(cell) for cell in row] for row in text.rows]
            parts.append(
                f"### {md(text.title)}\n\n{markdown_table([md(c) for c in text.head], rows)}"
            )
    parts.append("\n".join(f"- {md(line)}" for line in below(table)))
    return "\n\n".join(parts) + "\n"
