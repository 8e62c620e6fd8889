from __future__ import annotations

from collections import Counter

from prorl_datasets import Sample
from prorl_training.rollout.prompts import item_order
from prorl_training.schedule.validation import watched
from prorl_verifiers import Task


def _samples(**counts: int) -> list[Sample]:
    return [
        Sample(f"{domain}-{i:03d}", domain, (), Task("math", {"answer": "1"}), "s", "l")
        for domain, count in counts.items()
        for i in range(count)
    ]


def test_each_domain_gets_its_share_although_one_is_ninety_percent_of_the_split() -> None:
    samples = _samples(code=25, logic=960, math=25, stem=3)
    found = watched(samples, 40)
    assert Counter(s.domain for s in found) == {"code": 13, "logic": 12, "math": 12, "stem": 3}
    assert [s.id for s in found] == sorted(s.id for s in found)


def test_problems_of_a_domain_come_from_all_over_it() -> None:
    found = watched(_samples(logic=100), 4)
    assert [s.id for s in found] == ["logic-000", "logic-025", "logic-050", "logic-075"]


def test_fewer_samples_than_asked_are_all_taken() -> None:
    samples = _samples(code=2, math=1)
    assert watched(samples, 40) == samples
    assert watched([], 5) == []


def test_items_of_greater_weight_in_the_recipe_come_first_more_often() -> None:
    firsts = Counter(item_order([3.0, 1.0, 0.0], seed=1, step=step)[0] for step in range(1, 401))
    assert set(firsts) == {0, 1}
    assert 0.68 < firsts[0] / 400 < 0.82  # expected 3/4, standard error 0.02
    assert item_order([3.0, 1.0, 0.0], 1, 7) == item_order([3.0, 1.0, 0.0], 1, 7)
