from __future__ import annotations

import itertools
import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest

from prorl_datasets.procedural import Family, families
from prorl_datasets.procedural.items import Item
from prorl_datasets.procedural.stem.biology import genetics as biology_genetics
from prorl_datasets.procedural.stem.chemistry import tables as chemistry_tables
from prorl_datasets.procedural.stem.facts import biology as facts_biology
from prorl_datasets.procedural.stem.facts import chemistry as facts_chemistry
from prorl_datasets.procedural.stem.facts import physics as facts_physics
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
from prorl_datasets.procedural.stem.statistics.inference import phi
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
    with pytest.raises(ValueError, match="cannot be an answer"):
        stem_item(Random(0), 1, Solved("?", float("nan"), "m", {}))
    with pytest.raises(ValueError, match="five different wrong"):
        choice_item(Random(0), Choice("?", "a", ("b", "c"), {}))


def _numeric(name: str, level: int, count: int = 25) -> Iterator[tuple[Item, float]]:
    """Yield items of the numeric form with their answers."""
    found = 0
    for seed in range(400):
        item = FAMILIES[name].generate(Random(seed), level)
        if item.chance is None:
            found += 1
            yield item, _number(item.answer or "")
        if found == count:
            return


def _number(text: str) -> float:
    match = re.fullmatch(r"(-?[\d.]+)(?:\s*\\times 10\^\{(-?\d+)\})?", text.strip("$ "))
    assert match, text
    return float(match[1]) * 10.0 ** int(match[2] or 0)


@pytest.mark.parametrize(
    ("formula", "mass"),
    [
        ("H2O", 18.015),
        ("CO2", 44.009),
        ("NaCl", 58.44),
        ("H2SO4", 98.07),
        ("C6H12O6", 180.156),
        ("Ca(OH)2", 74.092),
        ("(NH4)2SO4", 132.13),
        ("KMnO4", 158.032),
        ("CuSO4", 159.60),
        ("Al2(SO4)3", 342.13),
        ("K2Cr2O7", 294.18),
        ("AgNO3", 169.87),
    ],
)
def test_molar_masses_agree_with_handbook_values(formula: str, mass: float) -> None:
    assert chemistry_tables.molar_mass(formula) == pytest.approx(mass, abs=0.02)


def test_every_equation_is_balanced() -> None:
    for left, right in chemistry_tables.EQUATIONS:
        totals: list[dict[str, int]] = []
        for side in (left, right):
            total: dict[str, int] = {}
            for count, formula in side:
                for symbol, number in chemistry_tables.atoms(formula).items():
                    total[symbol] = total.get(symbol, 0) + count * number
            totals.append(total)
        assert totals[0] == totals[1], chemistry_tables.show((left, right))


def test_the_86_elements_stand_in_order_with_rising_masses_but_for_the_known_inversions() -> None:
    symbols = [symbol for symbol, _, _ in chemistry_tables.ELEMENTS]
    assert len(symbols) == len(set(symbols)) == 86
    assert [symbols[z - 1] for z in (1, 26, 47, 53, 79, 86)] == ["H", "Fe", "Ag", "I", "Au", "Rn"]
    masses = [mass for _, _, mass in chemistry_tables.ELEMENTS]
    falls = [symbols[i] for i in range(85) if masses[i] > masses[i + 1]]
    assert falls == ["Ar", "Co", "Te"]


@pytest.mark.parametrize(
    ("name", "level", "function", "figures"),
    [
        ("statistics_mean", 1, statistics.fmean, 3),
        ("statistics_median", 1, statistics.median, 9),
        ("statistics_median", 2, statistics.median, 9),
        ("statistics_spread", 1, statistics.variance, 3),
        ("statistics_spread", 2, statistics.stdev, 3),
    ],
)
def test_data_answers_agree_with_the_statistics_module(
    name: str, level: int, function: Callable[[list[float]], float], figures: int
) -> None:
    for item, answer in _numeric(name, level):
        values = [float(x) for x in (item.parameters or {})["values"]]
        assert answer == pytest.approx(function(values), rel=0.6 * 10 ** (1 - figures))


def test_lines_and_correlations_agree_with_the_statistics_module() -> None:
    for item, answer in _numeric("statistics_regression", 2):
        data: Any = item.parameters
        line = statistics.linear_regression(data["x"], data["y"])
        assert answer == pytest.approx(line.intercept, rel=0.006)
    for item, answer in _numeric("statistics_correlation", 2):
        data = item.parameters
        assert answer == pytest.approx(statistics.correlation(data["x"], data["y"]), rel=0.006)


def test_the_normal_law_agrees_with_the_statistics_module() -> None:
    normal = statistics.NormalDist()
    assert all(phi(i / 50) == pytest.approx(normal.cdf(i / 50)) for i in range(-150, 151))


def test_punnett_counts_agree_with_an_enumeration_of_all_offspring() -> None:
    for level in (2, 3):
        for item, answer in _numeric("biology_punnett", level, 12):
            data: Any = item.parameters
            hits = total = 0
            pairs = [[p[i : i + 2] for i in range(0, 2 * level, 2)] for p in data["cross"]]
            for one, other in itertools.product(*(itertools.product(*p) for p in pairs)):
                strong = [a.isupper() or b.isupper() for a, b in zip(one, other, strict=True)]
                wanted = [part.startswith("dominant") for part in data["wanted"].split(", ")]
                hits, total = hits + (strong == wanted), total + 1
            assert answer == data["n"] * hits / total
    assert biology_genetics.genotype_share("Aa", "Aa", "Aa") == 0.5


def test_a_chosen_set_of_answers_is_right_by_hand() -> None:
    for item, answer in _numeric("chemistry_dilution", 1):
        data: Any = item.parameters
        assert answer * data["total"] == pytest.approx(data["c"] * data["v"], rel=0.006)
    for item, answer in _numeric("chemistry_ph_weak", 1):
        data = item.parameters
        hydron = 10**-answer
        assert hydron**2 / (data["c"] - hydron) == pytest.approx(data["ka"], rel=0.03)
    for item, answer in _numeric("biology_hardy_weinberg", 2):
        data = item.parameters
        p = 1 - (data["ill"] / data["n"]) ** 0.5
        assert answer / 100 == pytest.approx(1 - p**2 - data["ill"] / data["n"], rel=0.006)


def test_hypergeometric_answers_agree_with_counting_draws_one_by_one() -> None:
    for item, answer in _numeric("statistics_hypergeometric", 1):
        data: Any = item.parameters
        chance = 1.0
        for i in range(data["k"]):
            chance *= (data["n"] - data["marked"] - i) / (data["n"] - i)
        assert answer == pytest.approx(chance, rel=0.006)


def test_the_genetic_code_has_its_known_codons() -> None:
    codons = facts_biology.CODONS
    known = {"AUG": "methionine", "UGG": "tryptophan", "GAA": "glutamic acid", "UGA": "stop"}
    assert len(codons) == 64
    assert all(codons[codon] == amino for codon, amino in known.items())
    assert [list(codons.values()).count(a) for a in ("leucine", "isoleucine", "stop")] == [6, 3, 3]


def test_unpaired_electrons_and_oxidation_numbers_are_the_known_ones() -> None:
    numbers = {"N": 3, "O": 2, "Fe": 4, "Mn": 5, "Zn": 0, "Cl": 1, "Ni": 2}
    for symbol, count in numbers.items():
        assert facts_chemistry.unpaired(chemistry_tables.NUMBER[symbol]) == count
    charge = {"H": 1, "O": -2, "K": 1, "Na": 1, "Cl": -1, "F": -1}
    for name, number in facts_chemistry.OXIDATION:
        symbol, formula = name.split(" in ")
        counts = chemistry_tables.atoms(formula)
        if set(counts) - {symbol} <= set(charge) and len(counts) > 1 and symbol not in charge:
            rest = sum(charge[s] * n for s, n in counts.items() if s != symbol)
            assert number * counts[symbol] + rest == 0, name


def test_dimensions_follow_from_those_of_other_quantities() -> None:
    table = dict(facts_physics.DIMENSIONS)

    def product(one: str, other: str, sign: int = 1) -> tuple[int, ...]:
        return tuple(a + sign * b for a, b in zip(table[one], table[other], strict=True))

    assert product("force", "length") == table["work"]
    assert product("force", "area", -1) == table["pressure"]
    assert product("work", "electric charge", -1) == table["voltage"]
    assert product("electric charge", "voltage", -1) == table["capacitance"]
    assert product("magnetic flux density", "area") == table["magnetic flux"]
    assert product("voltage", "length", -1) == table["electric field strength"]
    assert product("pressure", "frequency", -1) == table["dynamic viscosity"]
