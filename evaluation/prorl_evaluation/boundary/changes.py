"""Finds gained and lost problems, and how the gain depends on base pass@k."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from prorl_evaluation.boundary.types import (
    GainAgainstBase,
    GainPoint,
    Ladder,
    Rung,
    SolvableChanges,
)
from prorl_evaluation.stats.distributions import benjamini_hochberg, fisher_exact
from prorl_evaluation.stats.intervals import Interval, Resampling, bounded_columns
from prorl_evaluation.stats.paired import Pair, outcome_table, task_of
from prorl_evaluation.types import Label, ProblemResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def solvable_changes(
    pairs: Sequence[Pair], labels: tuple[str, str], fdr: float = 0.05
) -> SolvableChanges:
    """Return the problems gained (solved only after) and lost (solved only before); ``pairs`` are (before, after)."""
    judged = [(p, q) for p, q in pairs if p.n and q.n]
    tests = benjamini_hochberg(
        [
            fisher_exact(p.c, p.n - p.c, q.c, q.n - q.c) if 0 in (p.c, q.c) else 1.0
            for p, q in judged
        ]
    )
    gained = [i for i, (p, q) in enumerate(judged) if p.c == 0 and q.c > 0]
    lost = [i for i, (p, q) in enumerate(judged) if p.c > 0 and q.c == 0]

    def ids(places: Sequence[int]) -> tuple[str, ...]:
        return tuple(judged[i][0].id for i in places)

    return SolvableChanges(
        before=labels[0],
        after=labels[1],
        both=sum(p.c > 0 and q.c > 0 for p, q in judged),
        neither=sum(p.c == 0 and q.c == 0 for p, q in judged),
        gained=ids(gained),
        lost=ids(lost),
        gained_shown=ids([i for i in gained if tests[i] <= fdr]),
        lost_shown=ids([i for i in lost if tests[i] <= fdr]),
        gained_by_luck=math.fsum(_all_on_one_side(p.c + q.c, q.n, p.n) for p, q in judged),
        lost_by_luck=math.fsum(_all_on_one_side(p.c + q.c, p.n, q.n) for p, q in judged),
        unjudged=tuple(p.id for p, q in pairs if not (p.n and q.n)),
        fdr=fdr,
    )


def _all_on_one_side(successes: int, size: int, other_size: int) -> float:
    if successes == 0:
        return 0.0
    return math.comb(size, successes) / math.comb(size + other_size, successes)


FEWEST_POINTS = 5
"""Minimum number of groups for a correlation."""
LADDER_KEYS = ("rung", "level", "difficulty")
_WORDS = ("easy", "medium", "hard")


def gain_against_base(
    k: int, points: Sequence[GainPoint], how: Resampling | None = None
) -> GainAgainstBase:
    """Return Spearman's correlation of base pass@k and gain over groups, with a percentile bootstrap interval.

    It is NaN for fewer than FEWEST_POINTS groups, or if base pass@k or gain is the same in all groups.
    """
    import numpy as np

    how = how or Resampling()
    used = [p for p in points if math.isfinite(p.base) and math.isfinite(p.gain)]
    undefined = len(points) - len(used)
    base, gain = (np.array(v) for v in ([p.base for p in used], [p.gain for p in used]))
    value = spearman(base, gain) if len(used) >= FEWEST_POINTS else math.nan
    if math.isnan(value):
        nothing = Interval(math.nan, math.nan, math.nan, 0, len(points))
        return GainAgainstBase(k, tuple(points), nothing)
    rng = np.random.default_rng(how.seed)
    picks = rng.integers(0, len(used), (how.draws, len(used)))
    draws = [spearman(base[p], gain[p]) for p in picks]
    tail = (1.0 - how.level) / 2.0
    low, high = (float(v) for v in np.nanquantile(draws, [tail, 1.0 - tail]))
    return GainAgainstBase(k, tuple(points), Interval(value, low, high, len(used), undefined))


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the rank correlation; NaN if ``x`` or ``y`` is constant."""
    import numpy as np

    centred = []
    for values in (x, y):
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
        centred.append(ranks - ranks.mean())
    a, b = centred
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(np.clip(a @ b / scale, -1.0, 1.0)) if scale > 0 else math.nan


def ladders(
    results: Sequence[Sequence[ProblemResult]], ks: Sequence[int], how: Resampling
) -> list[Ladder]:
    """Return each task's pass@k and mean reward at each of its difficulty levels.

    ``results`` must hold the same problems in the same order.
    """
    import numpy as np

    names = [*(f"pass@{k}" for k in ks), "reward"]
    tasks: dict[str, list[int]] = {}
    for i, p in enumerate(results[0] if results else []):
        if task := task_of(p):
            tasks.setdefault(task, []).append(i)
    result = []
    for task, members in tasks.items():
        sorted_by = ((key, _rungs(results[0], members, key)) for key in LADDER_KEYS)
        key, rungs = next((by for by in sorted_by if len(by[1]) > 1), ("", []))
        columns: list[list[Rung]] = [[] for _ in names]
        for value, label, places in rungs:
            tables = [outcome_table([problems[i] for i in places], ks) for problems in results]
            cells = bounded_columns(np.hstack(tables), (0.0, 1.0), None, how)
            for at, column in enumerate(columns):
                column.append(Rung(value, label, len(places), tuple(cells[at :: len(names)])))
        if rungs:
            ladder = zip(names, columns, strict=True)
            result += [Ladder(task, key, name, tuple(column)) for name, column in ladder]
    return result


def _rungs(
    problems: Sequence[ProblemResult], places: Sequence[int], key: str
) -> list[tuple[float, str, list[int]]]:
    members: dict[Label, list[int]] = {}
    for i in places:
        if key in problems[i].labels:
            members.setdefault(problems[i].labels[key], []).append(i)
    key_of = rung_order([str(v) for v in members])
    ordered = sorted(members, key=lambda v: key_of(str(v)))
    numbers = [_number(str(v)) for v in ordered]
    if None in numbers or len({*numbers}) < len(numbers):
        numbers = [float(i) for i in range(len(ordered))]  # evenly spaced words
    return [(x or 0.0, str(v), members[v]) for x, v in zip(numbers, ordered, strict=True)]


def rung_order(names: Sequence[str]) -> Callable[[str], tuple[float, int]]:
    """Return a sort key for difficulty levels: numbers, then easy, medium, hard, then others."""

    def key(name: str) -> tuple[float, int]:
        number = _number(name)
        if number is not None:
            return number, 0
        word = name.lower()
        return math.inf, _WORDS.index(word) if word in _WORDS else len(_WORDS) + names.index(name)

    return key


def _number(name: str) -> float | None:
    try:
        value = float(name)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
