"""Problems on statistical inference.

The question states critical values.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

CRITICAL = ((80, 1.282), (90, 1.645), (95, 1.960), (98, 2.326), (99, 2.576))
"""(confidence in percent, two-sided standard normal quantile)."""
GROUPS = ("hens' eggs", "battery lifetimes", "blood samples", "bolts from one machine", "parcels")


def phi(z: float) -> float:
    """Return the standard normal distribution function at z."""
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def _normal(rng: Random, level: int) -> Solved:
    what = rng.choice(GROUPS)
    mu, sd = clean(rng, 40, 300, 0), clean(rng, 2, 30, 1)
    z = clean(rng, 0.1, 2.4, 2)
    lead = f"A measure of {what} is normally distributed with mean {shown(mu)} and standard "
    lead += f"deviation {shown(sd)}."
    table = f"For the standard normal variable Z, P(Z < {shown(z)}) = {phi(z):.4f}."
    above = rng.random() < 0.5
    if level == 1:
        x = round(mu + z * sd, 3) if above else round(mu - z * sd, 3)
        more = rng.random() < 0.5
        text = f"{lead} {table} What is the probability of a value {'above' if more else 'below'} "
        text += f"{shown(x)}?"
        p = round(phi(z), 4)
        value = p if above != more else 1 - p
        wrong: tuple[float, ...] = (
            1 - value,
            value - 0.5 if value > 0.5 else 0.5 - value,
            2 * min(value, 1 - value),
        )
        parameters: dict[str, Any] = {"mu": mu, "sd": sd, "z": z if above else -z, "more": more}
        return Solved(text, value, "", parameters, 3, wrong)
    if level == 2:
        p = round(phi(z), 4)
        text = f"{lead} {table} Below which value lie "
        text += f"{shown(round(100 * (p if above else 1 - p), 2))}% of all values?"
        value = mu + z * sd if above else mu - z * sd
        if value < 5:
            return _normal(rng, level)
        wrong = (2 * mu - value, mu + sd, mu * p, mu + z * math.sqrt(sd))
        return Solved(text, value, "", {"mu": mu, "sd": sd, "z": z, "above": above}, 3, wrong)
    other = clean(rng, 0.1, 2.4, 2)
    n = rng.choice((4, 9, 16, 25, 36))
    a, b = round(mu - other * sd / math.sqrt(n), 3), round(mu + z * sd / math.sqrt(n), 3)
    text = WORDINGS.one(
        "normal",
        lead=lead,
        n=n,
        table=table,
        other=shown(other),
        phi_other=phi(other),
        a=shown(a),
        b=shown(b),
    )
    value = round(phi(z), 4) + round(phi(other), 4) - 1
    wrong = (1 - value, abs(phi(z) - phi(other)), phi(z), phi(other))
    return Solved(text, value, "", {"mu": mu, "sd": sd, "z": [z, other], "n": n}, 3, wrong)


def _standard_error(rng: Random, level: int) -> Solved:
    what, n = rng.choice(GROUPS), rng.randint(8, 400)
    sd = clean(rng, 1, 40, 1)
    if level == 1:
        text = f"A sample of {n} {what} has the standard deviation {shown(sd)}. What is the "
        text += "standard error of the mean?"
        wrong: tuple[float, ...] = (sd / n, sd, sd * sd / n, sd * math.sqrt(n))
        return Solved(text, sd / math.sqrt(n), "", {"sd": sd, "n": n}, 3, wrong)
    hits = rng.randint(max(2, n // 12), n - max(2, n // 12))
    if level == 2:
        text = f"Of {n} {what}, {hits} meet a standard. What is the standard error of this "
        text += "proportion?"
        p = hits / n
        wrong = (p * (1 - p) / n, math.sqrt(p * (1 - p)), math.sqrt(p / n), p)
        return Solved(text, math.sqrt(p * (1 - p) / n), "", {"hits": hits, "n": n}, 3, wrong)
    m, sd2 = rng.randint(8, 400), clean(rng, 1, 40, 1)
    text = WORDINGS.one("standard error", what=what, n=n, m=m, sd=shown(sd), sd2=shown(sd2))
    value = math.sqrt(sd * sd / n + sd2 * sd2 / m)
    wrong = (sd / math.sqrt(n) + sd2 / math.sqrt(m), abs(sd / math.sqrt(n) - sd2 / math.sqrt(m)),
             math.sqrt((sd * sd + sd2 * sd2) / (n + m)), value**2)  # fmt: skip
    return Solved(text, value, "", {"sd": [sd, sd2], "n": [n, m]}, 3, wrong)


def _interval(rng: Random, level: int) -> Solved:
    what, n = rng.choice(GROUPS), rng.randint(30, 600)
    percent, z = rng.choice(CRITICAL)
    sd, mu = clean(rng, 1, 40, 1), clean(rng, 50, 300, 1)
    critical = f"(critical value {z:.3f} for {percent}% confidence)"
    if level == 1:
        text = WORDINGS.one(
            "interval", n=n, what=what, sd=shown(sd), percent=percent, known=critical
        )
        value = 2 * z * sd / math.sqrt(n)
        wrong: tuple[float, ...] = (value / 2, 2 * z * sd / n, 2 * sd / math.sqrt(n), 2 * z * sd)
        return Solved(text, value, "", {"sd": sd, "n": n, "percent": percent}, 3, wrong)
    if level == 2:
        upper = rng.random() < 0.5
        hits = rng.randint(n // 8, n - n // 8)
        p = hits / n
        half = z * math.sqrt(p * (1 - p) / n)
        if half > 0.9 * p:
            return _interval(rng, level)
        text = WORDINGS.one(
            "interval 2",
            n=n,
            what=what,
            hits=hits,
            upper="upper" if upper else "lower",
            percent=percent,
            known=critical,
        )
        value = 100 * (p + half if upper else p - half)
        wrong = (100 * (p - half if upper else p + half), 100 * p, 100 * half, 100 * (p + half / z))
        return Solved(
            text, value, "%", {"hits": hits, "n": n, "percent": percent, "upper": upper}, 3, wrong
        )
    m, sd2 = rng.randint(30, 600), clean(rng, 1, 40, 1)
    mu2 = round(mu - clean(rng, 5, 40, 1), 1)
    half = z * math.sqrt(sd * sd / n + sd2 * sd2 / m)
    text = WORDINGS.one(
        "interval 3",
        n=n,
        what=what,
        mu=shown(mu),
        sd=shown(sd),
        m=m,
        mu2=shown(mu2),
        sd2=shown(sd2),
        percent=percent,
        known=critical,
    )
    wrong = (mu - mu2 - half, mu - mu2, half, mu - mu2 + half / z)
    parameters: dict[str, Any] = {"mu": [mu, mu2], "sd": [sd, sd2], "n": [n, m], "percent": percent}
    return Solved(text, mu - mu2 + half, "", parameters, 3, wrong)


def _sample_size(rng: Random, level: int) -> Solved:
    what = rng.choice(GROUPS)
    percent, z = rng.choice(CRITICAL)
    sd, half = clean(rng, 2, 60, 1), clean(rng, 0.5, 6, 1)
    critical = f"(critical value {z:.3f})"
    if level == 1:
        text = WORDINGS.one(
            "sample size",
            what=what,
            sd=shown(sd),
            percent=percent,
            half=shown(half),
            known=critical,
        )
        raw = (z * sd / half) ** 2
        if raw < 8:
            return _sample_size(rng, level)
        wrong: tuple[float, ...] = (
            math.ceil(z * sd / half),
            math.ceil(raw / 4),
            math.ceil(raw * 4),
            math.floor(raw),
        )
        return Solved(
            text, math.ceil(raw), "", {"sd": sd, "half": half, "percent": percent}, 3, wrong, True
        )
    points, p = clean(rng, 1, 8, 1), rng.randint(5, 95)
    if level == 2:
        text = WORDINGS.one(
            "sample size 2", p=p, what=what, percent=percent, points=shown(points), known=critical
        )
        raw = z * z * p * (100 - p) / points**2
        wrong = (
            math.ceil(raw * 4),
            math.ceil(z * z * 2500 / points**2),
            math.ceil(raw / 4),
            math.ceil(raw / z),
        )
        if raw < 8:
            return _sample_size(rng, level)
        return Solved(
            text, math.ceil(raw), "", {"p": p, "points": points, "percent": percent}, 3, wrong, True
        )
    return _sample_size_hard(rng, percent, what, critical, z)


def _sample_size_hard(rng: Random, percent: int, what: str, critical: str, z: float) -> Solved:
    n, now = rng.randint(20, 400), clean(rng, 1, 15, 1)
    goal = round(now * clean(rng, 0.2, 0.8, 2), 2)
    other, z2 = rng.choice([c for c in CRITICAL if c[0] != percent])
    text = WORDINGS.one(
        "sample size hard",
        n=n,
        what=what,
        percent=percent,
        now=shown(now),
        known=critical,
        other=other,
        z2=z2,
        goal=shown(goal),
    )
    raw = n * (now / goal * z2 / z) ** 2
    if raw < n + 5:
        return _sample_size(rng, 3)
    wrong = (
        math.ceil(raw),
        math.ceil(n * (now / goal) ** 2) - n,
        math.ceil(n * now / goal),
        math.ceil(raw) + n,
    )
    parameters: dict[str, Any] = {"n": n, "width": [now, goal], "percent": [percent, other]}
    return Solved(text, math.ceil(raw) - n, "", parameters, 3, wrong)


def _test_statistic(rng: Random, level: int) -> Solved:
    what, n = rng.choice(GROUPS), rng.randint(9, 300)
    mu, sd = clean(rng, 50, 200, 1), clean(rng, 2, 30, 1)
    shift = rng.choice((-1, 1)) * clean(rng, 0.3, 3, 2)
    mean = round(mu + shift * sd / math.sqrt(n), 2)
    if abs(mean - mu) < 0.3:
        return _test_statistic(rng, level)
    t = (mean - mu) / sd * math.sqrt(n)
    if level == 1:
        text = WORDINGS.one(
            "test statistic", n=n, what=what, mean=shown(mean), sd=shown(sd), mu=shown(mu)
        )
        wrong: tuple[float, ...] = (-t, (mean - mu) / sd, (mean - mu) / sd * n, t * t)
        return Solved(text, t, "", {"n": n, "mean": mean, "sd": sd, "mu": mu}, 2, wrong)
    if level == 2:
        hits, p = rng.randint(n // 10 + 1, n - n // 10 - 1), rng.randint(10, 90)
        z = (hits / n - p / 100) / math.sqrt(p * (100 - p) / 1e4 / n)
        if abs(z) < 0.2 or abs(z) > 9:
            return _test_statistic(rng, level)
        text = WORDINGS.one("test statistic 2", n=n, what=what, hits=hits, p=p)
        q = hits / n
        wrong = (-z, (q - p / 100) / math.sqrt(q * (1 - q) / n), z * z, z / math.sqrt(n))
        return Solved(text, z, "", {"n": n, "hits": hits, "p": p}, 2, wrong)
    return _test_statistic_hard(rng, n, mean, sd, what)


def _test_statistic_hard(rng: Random, n: int, mean: float, sd: float, what: str) -> Solved:
    m, sd2 = rng.randint(8, 60), clean(rng, 2, 30, 1)
    n = min(n, 60)
    other = round(mean + rng.choice((-1, 1)) * clean(rng, 3, 25, 1), 2)
    pooled = ((n - 1) * sd * sd + (m - 1) * sd2 * sd2) / (n + m - 2)
    t = (mean - other) / math.sqrt(pooled * (1 / n + 1 / m))
    text = WORDINGS.one(
        "test statistic hard",
        n=n,
        what=what,
        mean=shown(mean),
        sd=shown(sd),
        m=m,
        other=shown(other),
        sd2=shown(sd2),
    )
    wrong = (
        -t,
        (mean - other) / math.sqrt(pooled),
        (mean - other) / math.sqrt(sd * sd / n + sd2 * sd2 / m),
        t * t,
    )
    parameters: dict[str, Any] = {"n": [n, m], "mean": [mean, other], "sd": [sd, sd2]}
    return Solved(text, t, "", parameters, 2, wrong)


def _chi_square(rng: Random, level: int) -> Solved:
    what = rng.choice(("Bees visit flowers", "Callers choose menu items", "Defects fall on shifts"))
    if level == 1:
        size, share = rng.randint(3, 6), rng.randint(15, 60)
        counts = [share + rng.randint(-share // 2, share // 2) for _ in range(size)]
        expected = sum(counts) / size
        if len(set(counts)) == 1:
            return _chi_square(rng, level)
        text = WORDINGS.one(
            "chi square",
            what=what,
            size=size,
            counts=", ".join(map(str, counts[:-1])),
            counts_2=counts[-1],
        )
        value = sum((c - expected) ** 2 for c in counts) / expected
        wrong: tuple[float, ...] = (
            value * expected,
            math.sqrt(value),
            value * expected / sum(counts),
            value / size,
        )
        return Solved(text, value, "", {"counts": counts}, 3, wrong)
    rows, columns = 2, 2 if level == 2 else 3
    table = [[rng.randint(8, 90) for _ in range(columns)] for _ in range(rows)]
    row, column = [sum(r) for r in table], [sum(c) for c in zip(*table, strict=True)]
    n = sum(row)
    expected_table = [[r * c / n for c in column] for r in row]
    value = sum(
        (table[i][j] - expected_table[i][j]) ** 2 / expected_table[i][j]
        for i in range(rows)
        for j in range(columns)
    )
    if value < 0.2:
        return _chi_square(rng, level)
    lines = " and ".join(f"({', '.join(map(str, r))})" for r in table)
    who = rng.choice(("treatments and outcomes", "varieties and damage", "regions and answers"))
    text = f"A table of {who} has the rows {lines}. What is the chi-square statistic for "
    text += "independence (no continuity correction)?"
    wrong = (math.sqrt(value), value / n, value / 2, math.sqrt(value / n))
    return Solved(text, value, "", {"table": table}, 3, wrong)


FAMILIES = (
    stem_family("statistics_normal", _normal),
    stem_family("statistics_standard_error", _standard_error),
    stem_family("statistics_confidence_interval", _interval),
    stem_family("statistics_sample_size", _sample_size),
    stem_family("statistics_test_statistic", _test_statistic),
    stem_family("statistics_chi_square", _chi_square),
)
