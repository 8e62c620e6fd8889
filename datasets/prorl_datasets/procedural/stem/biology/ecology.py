"""Problems on populations and ecosystems."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

GROWERS = ("a stand of duckweed", "a culture of algae", "a colony of mites", "a colony of aphids")


def _exponential_growth(rng: Random, level: int) -> Solved:
    what = rng.choice(GROWERS)
    n, r, t = rng.randint(20, 5000), clean(rng, 0.02, 0.6, 3), rng.randint(2, 15)
    what = what[0].upper() + what[1:]
    if level == 1:
        text = f"{what} grows exponentially, N(t) = N0 e^(rt), from {n} individuals with r = "
        text += f"{shown(r)} per day. How many are there after {t} days?"
        wrong: tuple[float, ...] = (
            n * (1 + r * t),
            n * (1 + r) ** t,
            n * math.exp(r) * t,
            n * 2**t,
        )
        return Solved(text, n * math.exp(r * t), "", {"n": n, "r": r, "t": t}, 3, wrong)
    if level == 2:
        factor = clean(rng, 1.5, 60, 1)
        text = f"{what} grows exponentially, N(t) = N0 e^(rt), with r = {shown(r)} per day. After "
        text += f"how many hours is it {shown(factor)} times as large as at the start?"
        value = math.log(factor) / r * 24
        wrong = (
            value / 24,
            math.log10(factor) / r * 24,
            (factor - 1) / r * 24,
            value / math.log(2),
        )
        return Solved(text, value, "", {"r": r, "factor": factor}, 3, wrong)
    n2 = int(n * clean(rng, 1.3, 8, 1))
    goal = n2 * rng.randint(2, 40)
    text = f"{what} grows exponentially from {n} to {n2} individuals in {t} days. How many days "
    text += f"after the start does it reach {goal}?"
    value = t * math.log(goal / n) / math.log(n2 / n)
    wrong = (t * (goal - n) / (n2 - n), value - t, t * goal / n2, value / math.log(2))
    return Solved(text, value, "", {"n": [n, n2, goal], "t": t}, 3, wrong)


def _logistic(rng: Random, level: int) -> Solved:
    what = rng.choice(("a fish stock", "a population of voles", "a herd of deer", "a seal colony"))
    k, r = 50 * rng.randint(10, 400), clean(rng, 0.05, 1.2, 2)
    n = int(k * rng.randint(5, 90) / 100)
    lead = f"In {what} the carrying capacity is {k} and the intrinsic growth rate {shown(r)} per "
    lead += "year."
    if level == 1:
        text = f"{lead} By how many individuals per year does it grow, dN/dt = rN(1 - N/K), when "
        text += f"it counts {n}?"
        wrong: tuple[float, ...] = (r * n, r * n * n / k, r * (k - n), r * k / 4)
        return Solved(text, r * n * (1 - n / k), "", {"K": k, "r": r, "n": n}, 3, wrong)
    if level == 2:
        rate = rounded(r * n * (1 - n / k), 4)
        text = f"In {what} of {n} individuals with carrying capacity {k}, dN/dt = rN(1 - N/K) is "
        text += f"{shown(rate)} per year. What is the intrinsic growth rate r per year?"
        wrong = (rate / n, rate / k, rate / (k - n), rate / n * k / n)
        return Solved(text, rate / n / (1 - n / k), "", {"K": k, "n": n, "rate": rate}, 3, wrong)
    t = rng.randint(2, 12)
    n = int(k * rng.randint(3, 45) / 100)
    text = f"{lead} It starts with {n} individuals and follows N(t) = K/(1 + (K/N0 - 1) e^(-rt)). "
    text += f"How many are there after {t} years?"
    value = k / (1 + (k / n - 1) * math.exp(-r * t))
    wrong = (n * math.exp(r * t), n + r * n * (1 - n / k) * t, k - (k - n) * math.exp(-r * t), k)
    return Solved(text, value, "", {"K": k, "r": r, "n": n, "t": t}, 3, wrong)


def _mark_recapture(rng: Random, level: int) -> Solved:
    what = pick(
        rng, "beetles in a meadow", "trout in a lake", "mice in a wood", "snails in a garden"
    )
    marked, caught = rng.randint(30, 400), rng.randint(30, 400)
    again = rng.randint(5, max(6, min(marked, caught) // 3))
    lead = f"Of the {what}, {marked} are caught, marked and set free. Later {caught} are caught, "
    lead += f"of which {again} bear a mark."
    parameters: dict[str, Any] = {"marked": marked, "caught": caught, "again": again}
    plain = marked * caught / again
    if level == 1:
        text = f"{lead} Estimate the size of the population (Lincoln index, M C/R)."
        wrong: tuple[float, ...] = (
            marked * again / caught,
            marked + caught,
            plain / 2,
            marked + caught - again,
        )
        return Solved(text, plain, "", parameters, 3, wrong)
    if level == 2:
        area = clean(rng, 0.4, 9, 1)
        text = f"{lead} They live on {shown(area)} hectares. How many live on 100 square metres "
        text += "(Lincoln index, M C/R)?"
        value = plain / area / 100
        wrong = (plain / area, plain / area / 1000, plain * area / 100, value / 10)
        return Solved(text, value, "", {**parameters, "area": area}, 3, wrong)
    lost = rng.randint(5, 40)
    text = f"{lead} Between the catches {lost}% of the marks were lost, and nothing else changed. "
    text += "Estimate the size of the population (Lincoln index, with the number of marks left)."
    wrong = (plain, plain / (1 - lost / 100), plain * lost / 100, plain * (1 + lost / 100))
    return Solved(text, plain * (1 - lost / 100), "", {**parameters, "lost": lost}, 3, wrong)


def _diversity(rng: Random, level: int) -> Solved:
    where = rng.choice(("a hedge", "a pond", "a coral reef", "a forest plot", "a moth trap"))
    counts = [rng.randint(2, 60) for _ in range(rng.randint(3, 3 + level))]
    total = sum(counts)
    text = f"In {where} the species are counted: {', '.join(map(str, counts))} individuals. "
    shares = [c / total for c in counts]
    simpson, shannon = sum(p * p for p in shares), -sum(p * math.log(p) for p in shares)
    parameters: dict[str, Any] = {"counts": sorted(counts), "ask": level}
    if level == 1:
        text += "What is Simpson's diversity 1 - Σ p_i^2 (p_i: share of a species)?"
        wrong: tuple[float, ...] = (simpson, 1 / simpson, shannon, 1 - 1 / len(counts) / 2)
        return Solved(text, 1 - simpson, "", parameters, 3, wrong)
    if level == 2:
        text += "What is the Shannon index H = -Σ p_i ln p_i (natural logarithm)?"
        wrong = (shannon / math.log(10), shannon / math.log(2), 1 - simpson, math.log(len(counts)))
        return Solved(text, shannon, "", parameters, 3, wrong)
    if len(set(counts)) == 1:
        return _diversity(rng, level)
    text += "What is the evenness H/ln S, with H = -Σ p_i ln p_i and S the number of species?"
    wrong = (shannon, shannon / len(counts), 1 - simpson, math.exp(shannon) / len(counts))
    return Solved(text, shannon / math.log(len(counts)), "", parameters, 3, wrong)


def _trophic(rng: Random, level: int) -> Solved:
    where = rng.choice(("a lake", "a meadow", "a kelp forest", "a savanna"))
    energy, share = 100 * rng.randint(20, 900), rng.randint(5, 20)
    lead = f"In {where} the plants' net production is {energy} kJ per square metre and year"
    steps = rng.randint(1, 3)
    level_name = (
        "herbivores",
        "first carnivores (which eat the herbivores)",
        "top carnivores (which eat the first carnivores)",
    )[steps - 1]
    if level == 1:
        text = f"{lead}; {share}% of the energy of one level reaches the next. How many kJ per "
        text += f"square metre and year reach the {level_name}?"
        value = energy * (share / 100) ** steps
        wrong: tuple[float, ...] = (
            value * share / 100,
            energy * share / 100 * steps,
            energy * (1 - share / 100) ** steps,
        )
        return Solved(text, value, "", {"energy": energy, "share": share, "steps": steps}, 3, wrong)
    other = rng.randint(5, 20)
    if level == 2:
        need = rng.randint(20, 900)
        text = WORDINGS.one(
            "trophic", where=where, share=share, other=other, need=need, energy=energy
        )
        value = need * 1000 / (energy * share * other / 1e4)
        wrong = (value / 1000, need * 1000 / energy, value * other / 100, value * share / 100)
        parameters: dict[str, Any] = {
            "energy": energy,
            "shares": sorted((share, other)),
            "need": need,
        }
        return Solved(text, value, "", parameters, 3, wrong)
    return _trophic_hard(rng, where, share, other)


def _trophic_hard(rng: Random, where: str, share: int, other: int) -> Solved:
    light, breath = rng.randint(3, 60) * 100, rng.randint(30, 70)
    fixed = clean(rng, 0.5, 4, 1)
    text = WORDINGS.one(
        "trophic hard",
        where=where,
        light=light,
        fixed=shown(fixed),
        breath=breath,
        share=share,
        other=other,
    )
    value = light * 1000 * fixed * (100 - breath) * share * other / 1e8
    wrong = (
        value * breath / (100 - breath),
        value * 100 / (100 - breath),
        value / 1000,
        value * 100 / other,
    )
    parameters: dict[str, Any] = {
        "light": light,
        "fixed": fixed,
        "breath": breath,
        "shares": sorted((share, other)),
    }
    return Solved(text, value, "", parameters, 3, wrong)


def _species_area(rng: Random, level: int) -> Solved:
    what = rng.choice(("land birds", "reptiles", "beetles", "ferns"))
    z, area, c = clean(rng, 0.15, 0.4, 2), rng.randint(5, 4000), clean(rng, 2, 30, 1)
    lead = f"On an archipelago the number of species of {what} follows S = c A^z"
    if level == 1:
        text = f"{lead} with c = {shown(c)} (A in square kilometres) and z = {shown(z)}. How many "
        text += f"species are expected on {area} square kilometres?"
        wrong: tuple[float, ...] = (
            c * area * z,
            c + area**z,
            c * z * math.log(area),
            (c * area) ** z,
        )
        return Solved(text, c * area**z, "", {"c": c, "z": z, "A": area}, 3, wrong)
    if level == 2:
        lost = rng.randint(20, 95)
        text = WORDINGS.one("species area", lead=lead, z=shown(z), lost=lost, area=area)
        value = 100 * (1 - (1 - lost / 100) ** z)
        wrong = (100 - value, lost * z, 100 * (lost / 100) ** z, lost)
        return Solved(text, value, "%", {"z": z, "lost": lost}, 3, wrong)
    a1, a2 = area, area * rng.randint(3, 30)
    s1 = rng.randint(8, 60)
    s2 = int(s1 * (a2 / a1) ** z) + 1
    a3 = a2 * rng.randint(2, 20)
    text = f"{lead}. An island of {a1} square kilometres has {s1} species, one of {a2} has {s2}. "
    text += f"How many are expected on {a3} square kilometres?"
    power = math.log(s2 / s1) / math.log(a2 / a1)
    value = s2 * (a3 / a2) ** power
    wrong = (
        s1 + (s2 - s1) * (a3 - a1) / (a2 - a1),
        s2 * a3 / a2,
        s2 * power * a3 / a2,
        s1 * (a3 / a2) ** power,
    )
    return Solved(text, value, "", {"A": [a1, a2, a3], "S": [s1, s2]}, 3, wrong)


def _selection(rng: Random, level: int) -> Solved:
    what = rng.choice(("an insect population", "a fish population", "a weed"))
    q, n = clean(rng, 0.1, 0.9, 2), rng.randint(10, 400)
    if level == 1:
        t = rng.randint(3, 60)
        h = clean(rng, 0.1, 0.8, 2)
        text = WORDINGS.one("selection", what=what, n=n, h=shown(h), t=t)
        wrong: tuple[float, ...] = (
            h * (1 - 1 / n) ** t,
            h * max(0.01, 1 - t / (2 * n)),
            h / (2 * n),
            h / 2,
        )
        return Solved(text, h * (1 - 1 / (2 * n)) ** t, "", {"n": n, "t": t, "h": h}, 3, wrong)
    s = clean(rng, 0.05, 1, 2)
    if level == 2:
        text = WORDINGS.one("selection 2", what=what, q=shown(q), round=shown(round(1 - s, 2)))
        value = q * (1 - s * q) / (1 - s * q * q)
        wrong = (q * (1 - s), q - s * q * q, q * (1 - s) / (1 - s * q), q * q * (1 - s))
        if s == 1 and q == 1:
            return _selection(rng, level)
        return Solved(text, value, "", {"q": q, "s": s}, 3, wrong)
    u, m = clean(rng, 0.02, 0.3, 2), clean(rng, 0.05, 0.95, 2)
    t = rng.randint(2, 12)
    if abs(q - m) < 0.05:
        return _selection(rng, level)
    text = WORDINGS.source(
        "selection solution",
        what=what,
        q=shown(q),
        m=shown(m),
        u_times_100=shown(round(100 * u)),
        t=t,
    )
    value = m + (q - m) * (1 - u) ** t
    wrong = (q + (m - q) * u, q * (1 - u) ** t, (q + m) / 2, m + (q - m) * u**t)
    return Solved(text, value, "", {"q": q, "m": m, "u": u, "t": t}, 3, wrong)


FAMILIES = (
    stem_family("biology_exponential_growth", _exponential_growth),
    stem_family("biology_logistic_growth", _logistic),
    stem_family("biology_mark_recapture", _mark_recapture),
    stem_family("biology_diversity", _diversity),
    stem_family("biology_trophic_energy", _trophic),
    stem_family("biology_species_area", _species_area),
    stem_family("biology_evolution", _selection),
)
