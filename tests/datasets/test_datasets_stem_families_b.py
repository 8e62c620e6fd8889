"""Chemistry, biology, statistics and facts: answers recomputed by other methods than the families'."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from prorl_datasets.procedural import families
from prorl_datasets.procedural.items import Item
from prorl_datasets.procedural.stem.biology import genetics as biology_genetics
from prorl_datasets.procedural.stem.chemistry import tables as chemistry_tables
from prorl_datasets.procedural.stem.facts import biology as facts_biology
from prorl_datasets.procedural.stem.facts import chemistry as facts_chemistry
from prorl_datasets.procedural.stem.facts import physics as facts_physics
from prorl_datasets.procedural.stem.statistics.inference import phi

FAMILIES = families("stem")


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
