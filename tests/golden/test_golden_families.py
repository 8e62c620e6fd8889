from __future__ import annotations

from random import Random
from typing import Any

import pytest

from prorl_datasets.procedural import Family, families

ITEMS = {"few": 10, "all": 200}
"""Items per family, with the levels 1 to 3 in turn."""


def items_of(family: Family, count: int) -> list[list[Any]]:
    """Return the items that a dataset gets of ``count``."""
    items = (family.generate(Random(f"{family.name} 1 {i}"), i % 3 + 1) for i in range(count))
    return [
        [
            *(item.question, item.gold, item.answer, item.task.verifier, item.task.reference),
            *(item.chance, item.metadata, item.parameters, item.core, item.independent),
        ]
        for item in items
    ]


@pytest.mark.parametrize("size", ["few", pytest.param("all", marks=pytest.mark.nightly)])
def test_every_family_makes_the_items_it_made(size: str, golden: Any, digest: Any) -> None:
    found = families().items()
    hashes = {name: digest(items_of(family, ITEMS[size])) for name, family in sorted(found)}
    golden.check(f"families_{size}", hashes)
