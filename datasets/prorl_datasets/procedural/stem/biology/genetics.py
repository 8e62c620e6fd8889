"""Problems on genetics.

Genes are independent and fully dominant (Mendel) unless the question says otherwise.
"""

from __future__ import annotations

import math
from itertools import product
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

TRAITS = (
    ("pea plants", "tall", "dwarf"),
    ("guinea pigs", "black", "white"),
    ("fruit flies", "grey-bodied", "black-bodied"),
    ("tomato plants", "red-fruited", "yellow-fruited"),
    ("rabbits", "short-haired", "long-haired"),
    ("pea plants", "purple-flowered", "white-flowered"),
)

BEARERS = (
    ("an island population", ("a metabolic disorder", "a blood marker")),
    ("a village", ("a metabolic disorder", "a blood marker")),
    ("a herd of deer", ("white fur", "short antlers")),
    ("a lake's trout", ("short fins", "a pale skin")),
)
"""(population, possible recessive traits)."""


def dominant_share(one: str, other: str) -> float:
    """Return the share of offspring with the dominant phenotype, by enumerating gametes."""
    pairs = list(product(one, other))
    return sum(any(allele.isupper() for allele in pair) for pair in pairs) / len(pairs)


def genotype_share(one: str, other: str, wanted: str) -> float:
    """Return the share of offspring with this genotype (``Aa``), by enumerating gametes."""
    pairs = ["".join(sorted(pair)) for pair in product(one, other)]
    return pairs.count("".join(sorted(wanted))) / len(pairs)


def _punnett(rng: Random, level: int) -> Solved:
    species, strong, weak = rng.choice(TRAITS)
    if level == 1:
        parents = rng.choice((("Aa", "Aa"), ("Aa", "aa"), ("Aa", "AA")))
        wanted = rng.choice([g for g in ("AA", "Aa", "aa") if genotype_share(*parents, g) > 0])
        n = 4 * rng.randint(5, 900)
        text = WORDINGS.one(
            "punnett",
            species=species,
            strong=strong,
            weak=weak,
            n=n,
            parents=parents,
            wanted=wanted,
        )
        value = n * genotype_share(*parents, wanted)
        parameters: dict[str, Any] = {"cross": list(parents), "wanted": wanted, "n": n}
        return Solved(text, value, "", parameters, 3, (n / 4, n / 2, n * 3 / 4, n), True)
    genes = "ABD"[:level]
    forms = [(f"{g}{g.lower()}", f"{g.lower()}{g.lower()}") for g in genes]
    crosses = [(het, rng.choice((het, het, rec))) for het, rec in forms]
    shows = [rng.random() < 0.6 for _ in genes]
    share = 1.0
    for (one, other), dominant in zip(crosses, shows, strict=True):
        part = dominant_share(one, other)
        share *= part if dominant else 1 - part
    n = 4**level * rng.randint(3, 400)
    cross = ["".join(pair[i] for pair in crosses) for i in (0, 1)]
    wanted = ", ".join(
        f"{'dominant' if d else 'recessive'} for {g}" for g, d in zip(genes, shows, strict=True)
    )
    text = WORDINGS.one(
        "punnett 2", species=species, genes=", ".join(genes), n=n, cross=cross, wanted=wanted
    )
    wrong = (n * 9 / 16, n * 3 / 16, n / 16, n / 4, n * 27 / 64, n / 2)
    parameters = {"cross": cross, "wanted": wanted, "n": n}
    return Solved(text, n * share, "", parameters, 3, wrong, True)


def _hardy_weinberg(rng: Random, level: int) -> Solved:
    who, traits = rng.choice(BEARERS)
    what = rng.choice(traits)
    lead = f"In {who} in Hardy-Weinberg equilibrium"
    n = rng.randint(400, 20000)
    if level == 1:
        q = clean(rng, 0.02, 0.6, 3)
        text = f"{lead} the recessive allele a for {what} has frequency {shown(q)}. Of {n} "
        text += "individuals, how many are expected to be heterozygous?"
        wrong: tuple[float, ...] = (q * q * n, q * (1 - q) * n, (1 - q) ** 2 * n, q * n)
        return Solved(text, 2 * q * (1 - q) * n, "", {"q": q, "n": n}, 3, wrong)
    ill = rng.randint(max(4, n // 2000), n // 5)
    q = math.sqrt(ill / n)
    text = f"{lead} {ill} of {n} individuals show {what}, a recessive trait of one gene. "
    if level == 2:
        text += "What percent of the population are heterozygous carriers?"
        wrong = (100 * q, 100 * (1 - q) ** 2, 100 * q * (1 - q), 200 * ill / n * (1 - ill / n))
        return Solved(text, 200 * q * (1 - q), "%", {"ask": "2pq", "ill": ill, "n": n}, 3, wrong)
    text += "Two individuals without the trait, chosen at random, have one offspring. What is "
    text += "the probability that the offspring shows the trait?"
    carrier = 2 * q / (1 + q)
    wrong = (ill / n, q * (1 - q) / 2, (2 * q * (1 - q)) ** 2 / 4, carrier**2, carrier / 4)
    return Solved(text, carrier**2 / 4, "", {"ask": "pair", "ill": ill, "n": n}, 3, wrong)


def _linkage(rng: Random, level: int) -> Solved:
    species = rng.choice(("fruit flies", "maize", "tomato plants", "mice"))
    if level == 1:
        r, s = rng.randint(10, 200), rng.randint(10, 200)
        parents = (r + s) * clean(rng, 1.2, 9, 1)
        a = int(parents / 2) + rng.randint(-8, 8)
        b = int(parents) - a
        total = a + b + r + s
        text = WORDINGS.one("linkage", species=species, a=a, b=b, r=r, s=s)
        wrong: tuple[float, ...] = (
            100 * (a + b) / total,
            100 * (r + s) / (a + b),
            50 * (r + s) / total,
            100 * r / total,
        )
        return Solved(text, 100 * (r + s) / total, "", {"counts": [a, b, r, s]}, 3, wrong)
    distance, n = rng.randint(3, 45), 20 * rng.randint(10, 400)
    if level == 2:
        text = WORDINGS.one("linkage 2", species=species, distance=distance, n=n)
        value = n * distance / 200
        wrong = (2 * value, n * (100 - distance) / 200, n / 4, n * distance / 1e4)
        return Solved(text, value, "", {"distance": distance, "n": n}, 3, wrong)
    other, part = rng.randint(3, 40), rng.randint(0, 9) / 10
    n *= 10
    text = WORDINGS.one(
        "linkage 3", species=species, distance=distance, other=other, part=shown(part), n=n
    )
    value = n * distance * other / 1e4 * (1 - part)
    wrong = (
        n * distance * other / 1e4,
        n * (distance + other) / 100,
        n * distance * other / 1e4 * part,
    )
    parameters: dict[str, Any] = {"d": [distance, other], "interference": part, "n": n}
    return Solved(text, value, "", parameters, 3, wrong)


def _cross_chi_square(rng: Random, level: int) -> Solved:
    species, strong, weak = rng.choice(TRAITS)
    ratio = {1: (3, 1), 2: (1, 2, 1), 3: (9, 3, 3, 1)}[level]
    unit = rng.randint(20, 120) if level < 3 else rng.randint(8, 40)
    expected = [unit * part for part in ratio]
    shifts = [rng.randint(-max(3, unit // 4), max(3, unit // 4)) for _ in ratio[:-1]]
    observed = [e + s for e, s in zip(expected, [*shifts, -sum(shifts)], strict=True)]
    if min(observed) < 1 or observed == expected:
        return _cross_chi_square(rng, level)
    value = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    if level == 1:
        counts = f"{observed[0]} {strong} and {observed[1]} {weak}"
    else:
        counts = ", ".join(map(str, observed[:-1])) + f" and {observed[-1]}"
    text = WORDINGS.one(
        "cross chi square",
        species=species,
        genotypes="genotypes" if level == 2 else "phenotypes",
        ratio=":".join(map(str, ratio)),
        counts=counts,
    )
    wrong = (
        sum(abs(o - e) / e for o, e in zip(observed, expected, strict=True)),
        sum((o - e) ** 2 / o for o, e in zip(observed, expected, strict=True)),
        sum((o - e) ** 2 for o, e in zip(observed, expected, strict=True)) / sum(expected),
        math.sqrt(value),
    )
    return Solved(text, value, "", {"ratio": list(ratio), "observed": observed}, 3, wrong)


def _family_risk(rng: Random, level: int) -> Solved:
    what = rng.choice(("cystic fibrosis", "phenylketonuria", "sickle-cell disease", "albinism"))
    children = rng.randint(2, 7)
    carriers, births = rng.randint(12, 400), 100 * rng.randint(40, 900)
    if level == 1:
        text = WORDINGS.one(
            "family risk", what_value=what[0].upper() + what[1:], carriers=carriers, births=births
        )
        value = births / carriers / 4
        wrong: tuple[float, ...] = (2 * value, 4 * value, births / (4 * carriers**2), 3 * value)
        parameters: dict[str, Any] = {"ask": 1, "carriers": carriers, "births": births}
        return Solved(text, value, "", parameters, 3, wrong)
    if level == 2:
        text = WORDINGS.one(
            "family risk 2", what_value=what[0].upper() + what[1:], carriers=carriers, births=births
        )
        value = births / carriers / 6
        wrong = (births / carriers / 8, births / carriers / 4, births / carriers / 3, value / 4)
        parameters = {"ask": 2, "carriers": carriers, "births": births}
        return Solved(text, value, "", parameters, 3, wrong)
    ill, prior = rng.randint(1, children - 1), rng.randint(50, 950) / 10
    chance = math.comb(children, ill) * 0.25**ill * 0.75 ** (children - ill)
    text = WORDINGS.one(
        "family risk 3",
        what_value=what[0].upper() + what[1:],
        prior=shown(prior),
        ill=ill,
        children=children,
        is_="is" if ill == 1 else "are",
    )
    wrong = (chance, prior / 100 * 0.25**ill, prior / 100 * 0.25**ill * 0.75 ** (children - ill))
    parameters = {"ask": 3, "prior": prior, "ill": ill, "children": children}
    return Solved(text, prior / 100 * chance, "", parameters, 3, wrong)


FAMILIES = (
    stem_family("biology_punnett", _punnett),
    stem_family("biology_hardy_weinberg", _hardy_weinberg),
    stem_family("biology_linkage", _linkage),
    stem_family("biology_cross_chi_square", _cross_chi_square),
    stem_family("biology_family_risk", _family_risk),
)
