from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest

from prorl_datasets.procedural import Family, Item, families
from prorl_datasets.procedural.stem.problem import (
    LETTERS,
    Choice,
    Solved,
    choice_item,
    rounded,
    shown,
    stem_item,
    value_text,
)
from prorl_verifiers import VerifierPool, load_task
from prorl_verifiers.notation.quantities import read_quantity

FAMILIES = families("stem")
DRAWS = 30
Drawn = Mapping[str, list[tuple[int, Item]]]


def _items(family: Family, draws: int) -> list[tuple[int, Item]]:
    """Return (level, item) for ``draws`` seeds, the levels in turn."""
    found = []
    for seed in range(draws):
        level = seed % 3 + 1
        found.append((level, family.generate(Random(f"{family.name} {seed}"), level)))
    return found


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return {family.name: _items(family, DRAWS) for family in FAMILIES.values()}


def _scored(chosen: list[tuple[str, Item]], texts: list[str]) -> list[str]:
    """Return the names of the items whose text earns nothing."""
    with VerifierPool(workers=1) as pool:
        asked = zip(texts, chosen, strict=True)
        verdicts = pool.score([(text, item.task) for text, (_, item) in asked])
    pairs = zip(chosen, verdicts, strict=True)
    return [name for (name, _), verdict in pairs if verdict.reward != 1.0]


def _wrong(item: Item) -> str | None:
    """Return the next letter or a number off by a tenth; None if it has too few figures."""
    if item.metadata["form"] == "choice":
        return LETTERS[(LETTERS.index(str(item.answer)) + 1) % len(LETTERS)]
    value = read_quantity(str(item.answer))
    assert value is not None
    return f"{float(value.value) * 1.1:.4g}" if item.metadata["figures"] == 3 else None


def test_golds_of_both_forms_are_verified_and_wrong_answers_are_not(drawn: Drawn) -> None:
    """One item of each form per family, the levels in turn; options are rare, so more are drawn for them."""
    chosen: dict[tuple[str, str], tuple[str, Item]] = {}
    for place, (name, items) in enumerate(drawn.items()):
        for _, item in items[place % 3 :: 3]:
            chosen.setdefault((name, str(item.metadata["form"])), (name, item))
        for seed in range(90):
            if (name, "choice") in chosen:
                break
            item = FAMILIES[name].generate(Random(seed), seed % 3 + 1)
            chosen.setdefault((name, str(item.metadata["form"])), (name, item))
    picked = list(chosen.values())
    forms = Counter(form for _, form in chosen)
    assert forms["choice"] >= len(drawn) - 5 and forms["numeric"] >= 140
    wrong = [(one, text) for one in picked if (text := _wrong(one[1])) is not None]
    assert len(wrong) > 250
    everything = picked + [one for one, _ in wrong]
    texts = [item.gold for _, item in picked] + [f"\\boxed{{{text}}}" for _, text in wrong]
    assert _scored(everything, texts) == [name for (name, _), _ in wrong]


@pytest.mark.slow
def test_a_thousand_draws_of_a_level_hold_at_least_600_problems() -> None:
    for family in FAMILIES.values():
        for level in (1, 2, 3):
            items = [family.generate(Random(f"{family.name} {i}"), level) for i in range(1000)]
            different = {json.dumps(item.parameters, sort_keys=True) for item in items}
            assert len(different) >= 600, (family.name, level, len(different))


def test_the_place_of_the_right_option_does_not_depend_on_the_item() -> None:
    """The builder draws uniformly from six places, for texts as for numbers."""
    texts = Choice("?", "a", tuple("bcdefgh"), {})
    numbers = Solved("?", 10.0, "m", {}, wrong=(20.0, 5.0))
    made = [choice_item(Random(seed), texts) for seed in range(1500)]
    made += [item for seed in range(15000) if (item := stem_item(Random(seed), 1, numbers)).chance]
    for items in (made[:1500], made[1500:]):
        letters = Counter(item.answer for item in items)
        assert set(letters) == set(LETTERS)
        assert max(letters.values()) <= 0.2 * len(items)


def test_right_options_stand_at_every_place_alike(drawn: Drawn) -> None:
    items = [item for family in drawn.values() for _, item in family]
    letters = Counter(i.answer for i in items if i.metadata["form"] == "choice")
    assert set(letters) == set(LETTERS)
    assert max(letters.values()) <= 0.19 * letters.total()


def test_parameters_hardly_ever_repeat(drawn: Drawn) -> None:
    for name, items in drawn.items():
        different = {json.dumps(item.parameters, sort_keys=True) for _, item in items}
        assert len(different) >= 0.9 * DRAWS, (name, len(different))


def test_levels_differ_in_what_they_ask(drawn: Drawn) -> None:
    for name, items in drawn.items():
        cores = [{item.core for at, item in items if at == level} for level in (1, 2, 3)]
        assert not cores[0] & cores[2], name


def test_a_numeric_question_says_unit_and_figures(drawn: Drawn) -> None:
    for name, items in drawn.items():
        for _, item in items:
            if item.metadata["form"] != "numeric":
                continue
            assert item.core and item.core in item.question
            request = item.question[len(item.core) :]
            unit = item.task.reference.get("unit")
            assert unit is None or f" in {unit}" in request, (name, request)
            figures = item.metadata["figures"]
            assert figures is None or "significant figures" in request, (name, request)


def test_at_most_a_fifth_of_the_items_of_all_families_have_options(drawn: Drawn) -> None:
    forms = Counter(item.metadata["form"] for items in drawn.values() for _, item in items)
    assert forms["choice"] <= 0.2 * forms.total()


def test_six_options_differ_and_one_is_named(drawn: Drawn) -> None:
    for name, items in drawn.items():
        for _, item in items:
            if item.metadata["form"] != "choice":
                continue
            options = item.task.reference["choices"]
            assert len(options) == len(set(options)) == 6, (name, options)
            assert item.chance == pytest.approx(1 / 6, abs=1e-3)
            assert all(f"{letter}) " in item.question for letter in LETTERS)
        load_task("stem", items[0][1].task.reference)


def test_the_core_holds_no_sentence_of_the_form(drawn: Drawn) -> None:
    for name, items in drawn.items():
        for _, item in items[:20]:
            assert item.core, name
            assert "significant figures" not in item.core, (name, item.core)
            assert "option" not in item.core.lower().split(), (name, item.core)


def test_numbers_are_rounded_in_decimal_half_away_from_zero() -> None:
    assert rounded(12.345, 4) == 12.35
    assert rounded(-0.0012345, 4) == -0.001235
    assert rounded(24.69 * 0.49999999999999994, 4) == 12.35
    assert value_text(12345.0) == "12300"
    assert value_text(0.00012345, scientific=True) == "1.23 \\times 10^{-4}"
    assert value_text(9.996) == "10.0"
    assert value_text(40.0, exact=True) == "40"
    assert shown(12.0) == "12" and shown(3.2e-6) == "$3.2 \\times 10^{-6}$"


def test_a_typical_mistake_becomes_an_option_unless_it_is_too_close() -> None:
    solved = Solved("How far?", 10.0, "m", {}, wrong=(20.0, 10.1, float("nan"), 0.0))
    items = [stem_item(Random(seed), 1, solved) for seed in range(40)]
    listed = [item.task.reference["choices"] for item in items if item.chance]
    assert listed
    assert all("20.0 m" in options and "10.1 m" not in options for options in listed)


def test_a_percentage_takes_a_share_of_itself_for_tolerance() -> None:
    items = [stem_item(Random(seed), 1, Solved("?", 66.04, "%", {})) for seed in range(9)]
    task = next(item.task for item in items if item.chance is None)
    with VerifierPool(workers=1) as pool:
        answers = ("66.0\\%", "66.1", "67.0\\%", "72.6\\%", "0.66")
        verdicts = pool.score([(f"\\boxed{{{answer}}}", task) for answer in answers])
    assert [verdict.reward for verdict in verdicts] == [1.0, 1.0, 0.0, 0.0, 1.0]


def test_counts_have_whole_options_and_no_tolerance() -> None:
    solved = Solved("How many?", 3.0, "", {}, exact=True, wrong=(9.0, 4.5))
    for seed in range(40):
        item = stem_item(Random(seed), 2, solved)
        if item.chance:
            assert all(option.isdigit() for option in item.task.reference["choices"])
        else:
            assert item.task.reference == {"answer": "3"}


def test_a_problem_without_an_answer_and_a_question_with_few_options_are_refused() -> None:
    with pytest.raises(ValueError, match="no answer"):
        stem_item(Random(0), 1, Solved("?", float("nan"), "m", {}))
    with pytest.raises(ValueError, match="five wrong"):
        choice_item(Random(0), Choice("?", "a", ("b", "c"), {}))
