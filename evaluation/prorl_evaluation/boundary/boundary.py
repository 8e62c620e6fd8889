"""Builds boundary reports from several results on the same problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prorl_common import derive_seed
from prorl_evaluation.boundary.changes import gain_against_base, ladders, solvable_changes
from prorl_evaluation.boundary.claims import Evidence, decide_claims
from prorl_evaluation.boundary.types import (
    BoundaryGroup,
    BoundaryReport,
    Claim,
    Curve,
    GainAgainstBase,
    GainPoint,
    Kind,
    Ladder,
)
from prorl_evaluation.compare import MIN_PROBLEMS
from prorl_evaluation.metrics import ks_up_to, near_n_warning, pass_at_k_table
from prorl_evaluation.stats.intervals import Drawn, Resampling, Units, bounded_columns
from prorl_evaluation.stats.paired import (
    Change,
    changes,
    group_resampling,
    group_units,
    same_problem,
    task_of,
)
from prorl_evaluation.types import OVERALL, EvalResult, EvaluationError, ProblemResult

Aligned = list[tuple[ProblemResult, ...]]
"""One tuple per shared problem, with its outcome in each result."""


@dataclass(frozen=True, slots=True)
class BoundaryOptions:
    """Options of a boundary report.

    ``k`` is the largest k of pass@k (None: the largest power of two up to half the samples per problem). ``alpha`` is
    the family-wise error rate of the claims. Changes of pass@k below ``margin`` count as no change. ``fdr`` is the
    false discovery rate of gained and lost problems.
    """

    k: int | None = None
    alpha: float = 0.05
    margin: float = 0.05
    fdr: float = 0.05
    cluster: str = "problem"


@dataclass(frozen=True, slots=True)
class Members:
    """A group of problems; ``places`` are their indices among the problems that all results share."""

    kind: Kind
    name: str
    places: tuple[int, ...]


def align(results: Sequence[EvalResult]) -> tuple[Aligned, list[str]]:
    """Return the problems that all results share, and a warning for each result that has others.

    Shared problems have the same id, prompt and task. Raises EvaluationError without shared problems or a second
    result.
    """
    if len(results) < 2:
        raise EvaluationError("a boundary report needs two or more results, the baseline first")
    tables = [{p.id: p for p in r.problems} for r in results]
    shared = [
        tuple(t[p.id] for t in tables)
        for p in results[0].problems
        if all(p.id in t and same_problem(p, t[p.id]) for t in tables)
    ]
    if not shared:
        names = ", ".join(f"'{r.label}'" for r in results)
        raise EvaluationError(
            f"{names} have no problem in common: evaluate them on the same dataset and split"
        )
    lines = [
        f"{r.label}: {len(r.problems) - len(shared)} of {len(r.problems)} problems are not in all "
        "results with the same prompt and task, and are left out of the comparison"
        for r in results
        if len(r.problems) > len(shared)
    ]
    return shared, lines


def boundary_report(
    results: Sequence[EvalResult], options: BoundaryOptions | None = None
) -> BoundaryReport:
    """Compare every later result with the first, the baseline.

    The baseline's settings give the confidence level, and the number and seed of bootstrap draws. Raises
    EvaluationError.
    """
    options = options or BoundaryOptions()
    aligned, warnings = align(results)
    k = claim_k(results, options.k)
    near = [near_n_warning(r.settings.n, k) for r in results]
    groups = members_of([row[0] for row in aligned])
    builder = _ReportBuilder(results, aligned, options, k)
    measured: list[list[list[Change]]] = []

    def evidence() -> Iterator[Evidence]:
        for g in groups:
            changed = builder.changes(g)
            measured.append([rows for rows, _, _ in changed])
            yield from builder.evidence(g, changed)

    claims, tested = decide_claims(evidence(), options.alpha, options.margin)
    later = len(results) - 1
    built = tuple(
        builder.group(g, changed, claims[i * later : (i + 1) * later])
        for i, (g, changed) in enumerate(zip(groups, measured, strict=True))
    )
    return BoundaryReport(
        labels=tuple(r.label for r in results),
        k=k,
        near_n=tuple(dict.fromkeys(line for line in near if line is not None)),
        alpha=options.alpha,
        margin=options.margin,
        level=results[0].settings.level,
        hypotheses=tested,
        groups=built,
        solvable=tuple(
            solvable_changes(
                [(row[0], row[j]) for row in aligned], (results[0].label, r.label), options.fdr
            )
            for j, r in enumerate(results[1:], start=1)
        ),
        gains=tuple(builder.gain(builder.finest(groups, built), j) for j in range(later)),
        ladders=tuple(builder.ladders()),
        warnings=tuple(warnings),
    )


def claim_k(results: Sequence[EvalResult], requested: int | None = None) -> int:
    """Return ``requested`` or, if None, the default k of ``BoundaryOptions``. Raises EvaluationError for k > n."""
    n = min(r.settings.n for r in results)
    if requested is None:
        return max((k for k in ks_up_to(n) if 2 * k <= n), default=1)
    if not 1 <= requested <= n:
        raise EvaluationError(f"k is {requested}, but a result has n = {n}: use 1 to {n}")
    return requested


def members_of(problems: Sequence[ProblemResult]) -> list[Members]:
    """Return all problems, and each domain, benchmark and task; equal sets of problems are returned once."""
    every = [Members("overall", OVERALL, tuple(range(len(problems)))), *named_groups(problems)]
    first: dict[tuple[int, ...], Members] = {}
    for group in every:
        first.setdefault(group.places, group)
    return list(first.values())


def named_groups(problems: Sequence[ProblemResult]) -> list[Members]:
    members: dict[tuple[Kind, str], list[int]] = {}
    kinds: dict[Kind, list[str]] = {
        "domain": [p.domain for p in problems],
        "benchmark": [str(p.labels.get("benchmark", "")) for p in problems],
        "task": [task_of(p) for p in problems],
    }
    for kind, names in kinds.items():
        for place, name in enumerate(names):
            if name:
                members.setdefault((kind, name), []).append(place)
    return [Members(kind, name, tuple(places)) for (kind, name), places in members.items()]


class _ReportBuilder:
    def __init__(
        self,
        results: Sequence[EvalResult],
        aligned: Aligned,
        options: BoundaryOptions,
        k: int,
    ) -> None:
        self.results, self.aligned, self.options, self.k = results, aligned, options, k
        self.settings = results[0].settings
        n = min(r.settings.n for r in results)
        self.ks = ks_up_to(n, [k, *(r.settings.k for r in results)])

    def changes(self, group: Members) -> list[tuple[list[Change], Drawn, Drawn | None]]:
        """Return (changes since the baseline, their draws, draws since the previous result) for each later result.

        The draws are bootstrap draws. The last item is None if the previous result is the baseline.
        """
        later = range(1, len(self.results))
        steps = [*((0, j) for j in later), *((j - 1, j) for j in later[1:])]
        rows = [self.aligned[i] for i in group.places]
        pairs = [[(row[a], row[b]) for row in rows] for a, b in steps]
        how = group_resampling(self.settings, group.kind, group.name)
        measured = changes(pairs, self.ks, self._units(group), how)
        before = [None, *(drawn for _, drawn in measured[len(later) :])]
        return [(*measured[i], before[i]) for i in range(len(later))]

    def evidence(
        self, group: Members, measured: Sequence[tuple[list[Change], Drawn, Drawn | None]]
    ) -> list[Evidence]:
        first, last = self.ks.index(1), self.ks.index(self.k)
        resting = []
        for result, (rows, drawn, before) in zip(self.results[1:], measured, strict=True):
            problems = min(int(d.counts[last]) for d in (drawn, before) if d is not None)
            blocked = ""
            if self.k == 1:
                blocked = "no k above 1 with k <= n/2: sample more answers per problem"
            elif problems < MIN_PROBLEMS:
                blocked = f"{problems} problem{'' if problems == 1 else 's'}: too few to say"
            who = (group.kind, group.name, result.label, self.k)
            base = rows[last].before
            resting.append(Evidence(*who, drawn, before, first, last, blocked, base))
        return resting

    def group(
        self,
        group: Members,
        measured: Sequence[Sequence[Change]],
        claims: Sequence[Claim],
    ) -> BoundaryGroup:
        import numpy as np

        ks = [ks_up_to(r.settings.n, self.ks) for r in self.results]
        tables = [
            pass_at_k_table([self.aligned[i][j] for i in group.places], k_values)
            for j, k_values in enumerate(ks)
        ]
        s = self.settings
        how = Resampling(s.level, s.draws, derive_seed(s.seed, "bootstrap", group.name))
        points = iter(bounded_columns(np.hstack(tables), (0.0, 1.0), self._units(group), how))
        curves = tuple(
            Curve(r.label, {k: next(points) for k in k_values})
            for r, k_values in zip(self.results, ks, strict=True)
        )
        rows = tuple(map(tuple, measured))
        return BoundaryGroup(group.kind, group.name, len(group.places), curves, rows, tuple(claims))

    def finest(
        self, groups: Sequence[Members], built: Sequence[BoundaryGroup]
    ) -> list[BoundaryGroup]:
        named = named_groups([row[0] for row in self.aligned])
        for kind in ("task", "benchmark", "domain"):
            places = {member.places for member in named if member.kind == kind}
            used = [g for group, g in zip(groups, built, strict=True) if group.places in places]
            if len(used) > 1:
                return used
        return []

    def gain(self, groups: Sequence[BoundaryGroup], later: int) -> GainAgainstBase:
        place = self.ks.index(self.k)
        points = []
        for g in groups:
            c = g.changes[later][place]
            points.append(GainPoint(g.name, c.before, c.interval.value, c.interval.count))
        seed = derive_seed(self.settings.seed, "boundary", "gain", later)
        how = Resampling(self.settings.level, min(self.settings.draws, 2000), seed)
        return gain_against_base(self.k, points, how)

    def ladders(self) -> list[Ladder]:
        columns = [[row[j] for row in self.aligned] for j in range(len(self.results))]
        seed = derive_seed(self.settings.seed, "boundary", "ladder")
        how = Resampling(self.settings.level, self.settings.draws, seed)
        return ladders(columns, sorted({1, self.k}), how)

    def _units(self, group: Members) -> Units:
        return group_units([self.aligned[i][0] for i in group.places], self.options.cluster)
