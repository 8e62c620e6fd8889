"""What holds for every STEM family: reproducible, verified, varied, not to be hit by one answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest

from prorl_datasets.procedural.items import Family, Item
from prorl_datasets.procedural.stem import stem_families
from prorl_datasets.procedural.stem.problem import (
    FIELDS,
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

DRAWS = 200
Drawn = Mapping[str, list[tuple[int, Item]]]


def _items(family: Family, draws: int) -> list[tuple[int, Item]]:
    """Return (level, item) for as many seeds; the levels take turns."""
    found = []
    for seed in range(draws):
        level = seed % 3 + 1
        found.append((level, family.generate(Random(f"{family.name} {seed}"), level)))
    return found


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return {family.name: _items(family, DRAWS) for family in stem_families()}


def test_there_are_eighty_families_with_names_of_their_own_and_all_fields(drawn: Drawn) -> None:
    names = [family.name for family in stem_families()]
    assert len(names) >= 80
    assert len(set(names)) == len(names)
    assert {name.split("_")[0] for name in names} >= set(FIELDS) - {"facts"}
    assert all(family.domain == "stem" for family in stem_families())


def test_the_same_seed_gives_the_same_item(drawn: Drawn) -> None:
    for family in stem_families():
        assert _items(family, 9) == drawn[family.name][:9], family.name


def test_the_gold_of_every_level_and_form_is_verified(drawn: Drawn) -> None:
    chosen: dict[tuple[str, int, str], Item] = {}
    for name, items in drawn.items():
        for level, item in items:
            chosen.setdefault((name, level, str(item.metadata["form"])), item)
    forms = Counter(form for _, _, form in chosen)
    assert forms["choice"] >= 3 * len(drawn) and forms["numeric"] >= 3 * 80
    with VerifierPool(workers=1) as pool:
        verdicts = pool.score([(item.gold, item.task) for item in chosen.values()])
    bad = [key for key, verdict in zip(chosen, verdicts, strict=True) if verdict.reward != 1.0]
    assert not bad


def test_wrong_options_and_numbers_a_tenth_off_are_refused(drawn: Drawn) -> None:
    wrong = []
    for items in drawn.values():
        for _, item in items[:4]:
            if item.metadata["form"] == "choice":
                letter = LETTERS[(LETTERS.index(str(item.answer)) + 1) % len(LETTERS)]
                wrong.append((f"\\boxed{{{letter}}}", item.task))
            elif item.metadata["figures"] == 3:
                value = read_quantity(str(item.answer))
                assert value is not None
                off = f"{float(value.value) * 1.1:.4g}"
                wrong.append((f"\\boxed{{{off}}}", item.task))
    with VerifierPool(workers=1) as pool:
        verdicts = pool.score(wrong)
    assert len(wrong) > 200
    assert [verdict.reward for verdict in verdicts] == [0.0] * len(wrong)


def test_no_constant_answer_earns_more_than_a_fifth(drawn: Drawn) -> None:
    for name, items in drawn.items():
        answers = Counter(item.answer for _, item in items)
        lettered = all(item.metadata["form"] == "choice" for _, item in items)
        limit = 0.28 if lettered else 0.2  # letters alone: 1/6 and four standard deviations
        assert max(answers.values()) <= limit * DRAWS, (name, answers.most_common(2))


def test_right_options_stand_at_every_place_alike(drawn: Drawn) -> None:
    items = [item for family in drawn.values() for _, item in family]
    letters = Counter(i.answer for i in items if i.metadata["form"] == "choice")
    assert set(letters) == set(LETTERS)
    assert max(letters.values()) <= 0.18 * letters.total()


def test_parameters_hardly_ever_repeat(drawn: Drawn) -> None:
    for name, items in drawn.items():
        different = {json.dumps(item.parameters, sort_keys=True) for _, item in items}
        assert len(different) >= 0.95 * DRAWS, (name, len(different))


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
