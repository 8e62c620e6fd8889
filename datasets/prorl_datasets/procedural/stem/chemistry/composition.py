"""Problems on the composition of compounds."""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.stem.chemistry.amounts import AVOGADRO, AVOGADRO_NOTE
from prorl_datasets.procedural.stem.chemistry.tables import (
    ELEMENTS,
    MASS,
    NAME,
    atoms,
    masses,
    molar_mass,
    organic,
)
from prorl_datasets.procedural.stem.problem import Choice, Solved, clean, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _percent_composition(rng: Random, level: int) -> Solved:
    formula = organic(rng, 2)
    symbol = rng.choice([s for s in atoms(formula) if s != "H"])
    share = MASS[symbol] * atoms(formula)[symbol] / molar_mass(formula)
    what = rng.choice(("A compound", "An organic solid", "A pesticide", "A solvent additive"))
    text = f"{what} has the molecular formula {formula}. {masses(formula)} "
    count = atoms(formula)[symbol] / sum(atoms(formula).values())
    single = MASS[symbol] / molar_mass(formula)
    if level == 1:
        text += f"What percent of its mass is {NAME[symbol]}?"
        wrong: tuple[float, ...] = (100 * count, 100 * single, 100 - 100 * share)
        return Solved(text, 100 * share, "%", {"of": formula, "in": symbol}, 3, wrong)
    if level == 2:
        m = clean(rng, 0.1, 9, 2)
        text += f"What mass of {NAME[symbol]} is there in {shown(m)} g of it?"
        wrong = (m * share, m * count * 1000, m * single * 1000)
        return Solved(text, m * share * 1000, "mg", {"of": formula, "in": symbol, "m": m}, 3, wrong)
    m, total = clean(rng, 1, 9, 2), 0.0
    total = round(m * clean(rng, 1.2, 4, 1), 2)
    text += WORDINGS.one(
        "percent composition",
        total=shown(total),
        name=NAME[symbol],
        m_times_share=shown(round(m * share, 3)),
    )
    found = round(m * share, 3)
    wrong = (found / total * 100, found / total * 100 * share, share * 100)
    parameters: dict[str, Any] = {"of": formula, "in": symbol, "found": found, "total": total}
    return Solved(text, found / share / total * 100, "%", parameters, 3, wrong)


def _empirical_formula(rng: Random, level: int) -> Choice:
    symbols = ["C", "H", *rng.sample(["N", "O", "S", "Cl"], min(level, 2))]
    factor = rng.randint(2, 3) if level == 3 else 1
    counts = _valent(rng, symbols, factor)
    share = [n * MASS[s] for n, s in zip(counts, symbols, strict=True)]
    if level == 1:
        k = clean(rng, 0.02, 0.9, 2)
        data = ", ".join(
            f"{shown(round(n * k, 2))} mol of {s}" for n, s in zip(counts, symbols, strict=True)
        )
        text = f"A sample of a compound holds {data}."
    else:
        percents = [f"{100 * x / sum(share):.2f}% {s}" for x, s in zip(share, symbols, strict=True)]
        text = f"A compound is {', '.join(percents)} by mass. {masses(''.join(symbols))}"
    if level == 3:
        text += f" Its molar mass is {round(sum(share) * factor):d} g/mol."
    text += f" What is its {'molecular' if level == 3 else 'empirical'} formula?"
    right = _formula(symbols, [n * factor for n in counts])
    wrong = [_formula(symbols, counts)] if factor > 1 else []
    while len(wrong) < 5:
        changed = [max(1, n + rng.choice((-1, 0, 1))) * factor for n in counts]
        same = all(x * counts[0] == n * changed[0] for x, n in zip(changed, counts, strict=True))
        if (other := _formula(symbols, changed)) not in (right, *wrong) and not same:
            wrong.append(other)
    lead = rng.choice(("", "Combustion analysis was done. ", "From a quality check: "))
    return Choice(lead + text, right, tuple(wrong), {"right": right, "level": level, "data": text})


def _valent(rng: Random, symbols: list[str], factor: int) -> list[int]:
    """Draw coprime counts of atoms whose multiples by ``factor`` form a possible molecule."""
    most = {"C": 18 // (factor + 1), "H": 40 // (factor + 1), "N": 3, "O": 4, "S": 2, "Cl": 3}
    while True:
        count = {symbol: rng.randint(1, most[symbol]) for symbol in symbols}
        spare = 2 * count["C"] + count.get("N", 0) - count.get("Cl", 0) - count["H"]
        if factor * spare + 2 < 0 or factor * spare % 2 or count["H"] < count["C"] // 2:
            continue
        if all(any(n % d for n in count.values()) for d in range(2, 10)):
            return list(count.values())


def _formula(symbols: list[str], counts: list[int]) -> str:
    return "".join(s + (str(n) if n > 1 else "") for s, n in zip(symbols, counts, strict=True))


def _isotopes(rng: Random, level: int) -> Solved:
    _, name, mass = rng.choice(ELEMENTS[2:60])
    low = round(mass) - rng.randint(0, 2)
    a = round(low - clean(rng, 0.01, 0.09, 3), 3)
    b = round(low + rng.randint(1, 3) - clean(rng, 0.01, 0.09, 3), 3)
    part = clean(rng, 5, 95, 2)
    mean = (a * part + b * (100 - part)) / 100
    where = rng.choice(("from an isotope separator", "made in a reactor", "enriched for research"))
    lead = WORDINGS.one("isotopes lead", name=name, where=where, a=a, b=b)
    if level == 1:
        text = WORDINGS.one("isotopes", lead=lead, part=part, value=100 - part)
        wrong: tuple[float, ...] = ((a + b) / 2, (a * (100 - part) + b * part) / 100, a, b)
        return Solved(text, mean, "u", {"a": a, "b": b, "part": part}, 5, wrong)
    given = round(mean, 3)
    share = (b - given) / (b - a) * 100
    if level == 2:
        text = WORDINGS.one("isotopes 2", lead=lead, given=given)
        wrong = (100 - share, 50.0)
        return Solved(text, share, "%", {"a": a, "b": b, "mean": given}, 3, wrong)
    m = clean(rng, 1, 50, 1)
    text = WORDINGS.one(
        "isotopes 3", lead=lead, given=given, m=shown(m), avogadro_note=AVOGADRO_NOTE
    )
    value = m / given * AVOGADRO * share / 100
    wrong = (m / given * AVOGADRO, m / given * AVOGADRO - value, m / a * AVOGADRO)
    return Solved(text, value, "", {"a": a, "b": b, "mean": given, "m": m}, 3, wrong)


FAMILIES = (
    stem_family("chemistry_percent_composition", _percent_composition),
    stem_family("chemistry_empirical_formula", _empirical_formula),
    stem_family("chemistry_isotopes", _isotopes),
)
