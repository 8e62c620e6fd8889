"""Problems on nucleic acids."""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.stem.wording import listed
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _base_composition(rng: Random, level: int) -> Solved:
    what = rng.choice(("a phage", "a bacterium", "a plasmid", "a chloroplast"))
    pairs = 20 * rng.randint(20, 5000)
    base = rng.choice("ATGC")
    share = 5 * rng.randint(2, 8) if level == 1 else rng.randint(12, 38)
    given = f"In the double-stranded DNA of {what}, {share}% of the bases are {base}."
    partner = {"A": "T", "T": "A", "G": "C", "C": "G"}[base]
    other = rng.choice([b for b in "ATGC" if b not in (base, partner)])
    if level == 1:
        text = f"{given} The molecule has {pairs} base pairs. How many {other} bases does it hold?"
        value = 2 * pairs * (50 - share) / 100
        wrong: tuple[float, ...] = (
            2 * pairs * share / 100,
            value / 2,
            2 * pairs * (100 - share) / 100,
            pairs * 2,
        )
        return Solved(text, value, "", {"share": share, "same": False, "bp": pairs}, 3, wrong, True)
    gc = 2 * share if base in "GC" else 100 - 2 * share
    parameters: dict[str, Any] = {"gc": gc, "bp": pairs}
    if level == 2:
        pairs = 50 * (pairs // 50 + 1)
        text = f"{given} The molecule has {pairs} base pairs. How many hydrogen bonds hold its "
        text += "strands together (two in an A-T pair, three in a G-C pair)?"
        value = pairs * (2 + gc / 100)
        wrong = (pairs * (3 - gc / 100), 2 * value, pairs * 2.5, pairs * (2 + share / 100))
        return Solved(text, round(value), "", {"gc": gc, "bp": pairs}, 3, wrong, True)
    text = WORDINGS.one(
        "base composition",
        given=given,
        part0_34_times_pairs=shown(rounded(pairs * 0.34, 4)),
        other=other,
    )
    value = 2 * rounded(pairs * 0.34, 4) / 0.34 * (50 - share) / 100
    wrong = (value / 2, 2 * pairs * share / 100, value * 0.34)
    return Solved(text, value, "", {**parameters, "of": other}, 3, wrong)


def _translation(rng: Random, level: int) -> Solved:
    what = rng.choice(("an enzyme", "a hormone", "a membrane protein", "a transport protein"))
    aminos = rng.randint(60, 2400)
    if level == 1:
        text = WORDINGS.one("translation", what=what, aminos_value=3 * (aminos + 1))
        wrong: tuple[float, ...] = (aminos + 1, 3 * aminos, aminos - 1, 3 * (aminos + 1))
        return Solved(text, aminos, "", {"nt": 3 * (aminos + 1)}, 3, wrong, True)
    if level == 2:
        mass, dalton = clean(rng, 8, 250, 1), rng.randint(105, 118)
        text = f"The chain of {what} has a mass of {shown(mass)} kDa; a residue weighs {dalton} "
        text += "Da on average. How many nucleotides code for its residues (stop codon left out)?"
        value = mass * 1000 / dalton * 3
        return Solved(
            text, value, "", {"kDa": mass, "Da": dalton}, 3, (value / 3, value / 9, value / 1000)
        )
    introns = [10 * rng.randint(8, 300) for _ in range(rng.randint(2, 4))]
    utr = [rng.randint(40, 400), rng.randint(60, 900)]
    gene = 3 * (aminos + 1) + sum(introns) + sum(utr)
    cut = rng.randint(15, 30)
    text = WORDINGS.one(
        "translation 2", what=what, gene=gene, introns=listed(introns), utr=utr, cut=cut
    )
    wrong = (aminos, aminos + 1 - cut, (gene - sum(introns)) // 3 - cut, gene // 3)
    parameters: dict[str, Any] = {"gene": gene, "introns": introns, "utr": utr, "cut": cut}
    return Solved(text, aminos - cut, "", parameters, 3, wrong, True)


def _pcr(rng: Random, level: int) -> Solved:
    what = rng.choice(("a viral gene", "a microsatellite", "a soil bacterium's DNA", "a crop gene"))
    start, cycles = rng.randint(2, 900), rng.randint(8, 35)
    if level == 1:
        text = f"A PCR begins with {start} copies of {what} and doubles them in every cycle. How "
        text += f"many copies are there after {cycles} cycles?"
        wrong: tuple[float, ...] = (
            start * 2.0 ** (cycles - 1),
            start * 2.0 * cycles,
            start * cycles**2,
            2.0**cycles,
        )
        return Solved(text, start * 2.0**cycles, "", {"start": start, "cycles": cycles}, 3, wrong)
    gain = rng.randint(70, 98)
    if level == 2:
        text = f"In a PCR for {what} {gain}% of the copies are duplicated in every cycle. It "
        text += f"begins with {start} copies. How many are there after {cycles} cycles?"
        wrong = (
            start * 2.0**cycles,
            start * (gain / 50) ** cycles,
            start * (1 + gain / 100 * cycles),
        )
        parameters: dict[str, Any] = {"start": start, "cycles": cycles, "gain": gain}
        return Solved(text, start * (1 + gain / 100) ** cycles, "", parameters, 3, wrong)
    a, b = clean(rng, 14, 24, 2), clean(rng, 20, 34, 2)
    if abs(a - b) < 1:
        return _pcr(rng, level)
    text = WORDINGS.one("pcr", what=what, a=a, b=b, gain=gain)
    value = (1 + gain / 100) ** (b - a)
    wrong = (1 / value, 2 ** (b - a), b / a, (b - a) * (1 + gain / 100))
    return Solved(text, value, "", {"ct": [a, b], "gain": gain}, 3, wrong)


FAMILIES = (
    stem_family("biology_base_composition", _base_composition),
    stem_family("biology_translation", _translation),
    stem_family("biology_pcr", _pcr),
)
