"""Which problems became solvable, which were lost, and how many of either chance alone would give.

"Never solved in n samples" is not "unsolvable": a problem of rate 1/n is missed a third of the time.
Leaves out: coverage beyond the samples that were drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from prorl_evaluation.boundary.types import SolvableChanges
from prorl_evaluation.stats.distributions import benjamini_hochberg, fisher_exact
from prorl_evaluation.stats.paired import Pair


def solvable_changes(
    pairs: Sequence[Pair], labels: tuple[str, str], fdr: float = 0.05
) -> SolvableChanges:
    """Return the sets of problems gained and lost, raw and shown; ``pairs`` are (before, after).

    Shown: Fisher's exact test on each problem's two success counts, corrected over all judged problems
    for the false discovery rate (Benjamini and Hochberg 1995). A problem solved both times could be on
    neither list and counts with p = 1, so that true changes of such problems lift no other.
    """
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


def _all_on_one_side(successes: int, own: int, other: int) -> float:
    """Return the chance that all successes are among ``own`` samples when all orders are equally likely."""
    if successes == 0:
        return 0.0
    return math.comb(own, successes) / math.comb(own + other, successes)
