from __future__ import annotations

import re
from random import Random

import pytest

from prorl_datasets.procedural import Family, Item, families
from prorl_datasets.procedural.code.problem import LARGE_TESTS
from prorl_verifiers import Task, VerifierPool

FAMILIES = families("code.scale")
SLOW = {
    "long_pair_sums": """
def of_list(a):
    n = len(a)
    return sum((a[i] + a[j]) % {m} == {r} for j in range(n) for i in range(j))
""",
    "long_subarray_totals": """
def of_list(a):
    count = 0
    for i in range(len(a)):
        total = 0
        for v in a[i:]:
            total += v
            count += total % {m} == 0
    return count
""",
    "long_inversions": """
def of_list(a):
    return sum(a[i] > a[j] for j in range(len(a)) for i in range(j))
""",
}
"""A correct level 1 algorithm that is too slow, with the parameters it needs."""


def _item(name: str, seed: int = 1) -> Item:
    return FAMILIES[name].generate(Random(f"{name} {seed}"), 1)


def _rewritten(item: Item, slow: str) -> str:
    """Return the gold response with ``of_list`` replaced."""
    body = slow.strip().format(**(item.parameters or {}))
    text, count = re.subn(r"def of_list\(a\):\n(?:(?:    .*)?\n)+", f"{body}\n\n\n", item.gold)
    assert count == 1
    return text


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_an_algorithm_that_looks_at_every_pair_passes_the_small_tests_alone(name: str) -> None:
    item = _item(name)
    limits = {"cpu_seconds": 2, "wall_seconds": 6, "partial": True}
    task = Task("code", {**item.task.reference, "limits": limits})
    with VerifierPool(workers=1) as pool:
        gold, slow = pool.score([(item.gold, task), (_rewritten(item, SLOW[name]), task)])
    count = len(item.task.reference["tests"])
    assert gold.reward == 1.0
    assert slow.reward == pytest.approx((count - LARGE_TESTS) / count)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_a_long_input_is_a_few_characters_of_the_item(family: Family) -> None:
    for level in (1, 2, 3):
        item = family.generate(Random(f"{family.name} {level}"), level)
        sizes = sorted(
            int(t["args"][0] if "args" in t else t["stdin"].split()[0])
            for t in item.task.reference["tests"]
        )
        assert sizes[-LARGE_TESTS] >= 18_000 and sizes[0] <= 2
        assert len(item.task.reference_json()) < 3000
