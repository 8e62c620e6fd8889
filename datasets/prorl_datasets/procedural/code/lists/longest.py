"""Problems on the longest subarray that satisfies given rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Longest:
    level: int
    bad: Condition
    latest: bool
    """Whether the last of equally long subarrays wins."""
    limit: int
    """Maximum difference of values (level 3)."""
    allowed: int
    """Maximum number of ``bad`` elements."""

    @property
    def step(self) -> int:
        """Return the divisor that the start index must have at level 2."""
        return self.limit % 3 + 2


def _longest(rng: Random, level: int) -> Problem:
    rule = _Longest(
        level=level,
        bad=condition(rng, -9, 20),
        latest=rng.random() < 0.5,
        limit=rng.randint(4, 25),
        allowed=rng.randint(1, 3) if level > 1 else 0,
    )
    shrink = f"bad > {rule.allowed}"
    if level > 1:
        spread = f"max(a[left:i + 1]) - min(a[left:i + 1]) > {rule.limit}"
        shrink += f" or left % {rule.step}" if level == 2 else f" or {spread}"
    solution = WORDINGS.source(
        "gold solution",
        cond=f"({rule.bad.on('v')})",
        cond_left=f"({rule.bad.on('a[left]')})",
        shrink=shrink,
        check=f"left % {rule.step} == 0" if level == 2 else "True",
        op=">=" if rule.latest else ">",
    )
    key: dict[str, Any] = {"level": level, "condition": rule.bad.key, "latest": rule.latest}
    key |= {"most": rule.allowed, "limit": (0, rule.step, rule.limit)[level - 1]}
    plural = "element that is" if rule.allowed == 1 else "elements that are"
    few = f"contains at most {rule.allowed} {plural} {rule.bad.text}"
    rules = WORDINGS.one(f"statement {rule.level}", text=rule.bad.text, few=few, rule=rule)
    return Problem(
        WORDINGS.one("statement", rules=rules, largest="largest" if rule.latest else "smallest"),
        "a: ints -> ints",
        solution,
        partial(_brute, rule),
        lambda r: (integers(r, 5, 9 + 4 * level, -9, 20),),
        key,
        (([],), ([5],)),
    )


def _brute(rule: _Longest, a: list[int]) -> list[int]:
    stretches = []
    for i in range(len(a)):
        for j in range(i + 1, len(a) + 1):
            w = a[i:j]
            if len([v for v in w if rule.bad.holds(v)]) > rule.allowed:
                break
            if rule.level == 2 and i % rule.step:
                continue
            if rule.level == 3 and max(w) - min(w) > rule.limit:
                continue
            stretches.append((j - i, i if rule.latest else -i, i, sum(w)))
    if not stretches:
        return [-1, 0, 0]
    size, _, start, total = max(stretches)
    return [start, size, total]


FAMILIES = (code_family("longest_subarray", "longest stretches under a condition", _longest),)
