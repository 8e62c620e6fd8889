"""Problems on expected values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE
from prorl_datasets.procedural.math.probability.asking import expected
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _payments(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    faces = rng.choice((4, 6, 6, 8, 10))
    die = (
        "a fair six-sided die" if faces == 6 else f"a fair die with faces numbered $1$ to ${faces}$"
    )
    if level == 1:
        win, lose = rng.randint(5, 30), rng.randint(2, 12)
        k = rng.randint(2, faces)
        ask = rng.choice(("threshold", "face value", "wheel"))
        if ask == "threshold":
            scene = WORDINGS.one("payments scene", who=who, die=die, k=k, win=win, lose=lose)
            value = (win * Fraction(faces - k + 1, faces)) - lose * Fraction(k - 1, faces)
            values: dict[str, object] = {
                "ask": ask,
                "faces": faces,
                "k": k,
                "win": win,
                "lose": lose,
            }
        elif ask == "face value":
            scene = WORDINGS.one("payments scene 2", who=who, die=die, lose=lose, k=k)
            value = Fraction(sum(x if x >= k else lose for x in range(1, faces + 1)), faces)
            values = {"ask": ask, "faces": faces, "k": k, "lose": lose}
        else:
            parts = [rng.randint(1, 5) for _ in range(3)]
            prizes = rng.sample(range(2, 40), 2)
            scene = WORDINGS.one(
                "payments scene 3", parts=sum(parts), parts_2=parts, prizes=prizes, who=who
            )
            value = Fraction(parts[0] * prizes[0] + parts[1] * prizes[1], sum(parts))
            values = {"ask": ask, "parts": parts, "prizes": prizes}
        quantity = pick(rng, f"{who}'s gain, in dollars", f"the amount in dollars that {who} gains")
        return expected(
            rng,
            scene,
            f"{quantity} (a payment counts as negative)" if ask == "threshold" else quantity,
            value,
            values,
            level,
        )
    if level == 2:
        ask = rng.choice(("max", "difference", "product", "coins"))
        if ask == "coins":
            n, a, b = rng.randint(2, 5), rng.randint(2, 9), rng.randint(2, 9)
            scene = WORDINGS.one("payments scene 4", who=who, n=n, a=a, b=b)
            value = Fraction(n * a, 2) + Fraction(b, 2**n)
            return expected(
                rng,
                scene,
                "the total amount in dollars",
                value,
                {"ask": ask, "n": n, "a": a, "b": b},
                level,
            )
        every = list(product(range(1, faces + 1), repeat=2))
        c = rng.randint(2, 6)
        games: dict[str, tuple[str, Callable[[Sequence[int]], int]]] = {
            "max": (
                f"${c}$ times the larger result (or ${c}$ times either one if they are equal)",
                lambda o: c * max(o),
            ),
            "difference": (
                f"the difference between the larger and the smaller result, plus ${c}$",
                lambda o: abs(o[0] - o[1]) + c,
            ),
            "product": (f"the product of the two results minus ${c}$", lambda o: o[0] * o[1] - c),
        }
        quantity, pay = games[ask]
        scene = WORDINGS.draw(rng, "payments", die=die, who=who)
        value = Fraction(sum(pay(o) for o in every), len(every))
        return expected(rng, scene, quantity, value, {"ask": ask, "faces": faces, "c": c}, level)
    ask = rng.choice(("choice", "reroll", "fair price"))
    if ask == "reroll":
        k = rng.randint(2, faces - 1)
        mean = Fraction(faces + 1, 2)
        value = Fraction(sum(range(k, faces + 1)), faces) + Fraction(k - 1, faces) * mean
        scene = WORDINGS.one("payments scene 5", who=who, die=die, k=k)
        return expected(
            rng, scene, "the result that counts", value, {"ask": ask, "faces": faces, "k": k}, level
        )
    if ask == "choice":
        mean = Fraction(faces + 1, 2)
        rounds = rng.choice((2, 3))
        best = mean
        for _ in range(rounds - 1):
            best = sum((max(Fraction(x), best) for x in range(1, faces + 1)), Fraction(0)) / faces
        scene = WORDINGS.one(
            "payments scene 6", who=who, die=die, two="two" if rounds == 2 else "three"
        )
        return expected(
            rng,
            scene,
            "the payment in dollars",
            best,
            {"ask": ask, "faces": faces, "rounds": "two" if rounds == 2 else "three"},
            level,
        )
    r, b = rng.randint(2, 7), rng.randint(2, 7)
    gain, loss = rng.randint(2, 12), rng.randint(2, 12)
    scene = WORDINGS.one("payments scene 7", r=r, b=b, who=who, gain=gain, loss=loss)
    same = Fraction(comb(r, 2) + comb(b, 2), comb(r + b, 2))
    value = same * gain - (1 - same) * loss
    if value <= 0:
        return _payments(rng, level)
    values = {"ask": ask, "red": r, "blue": b, "gain": gain, "loss": loss}
    return expected(
        rng, scene, f"{who}'s gain in dollars, a payment counting as negative", value, values, level
    )


def _counts(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    n = rng.randint(4, 12)
    if level == 1:
        ask = rng.choice(("red", "heads match", "sum"))
        r, b = rng.randint(2, 9), rng.randint(2, 9)
        k = rng.randint(2, r + b - 1)
        if ask == "red":
            scene = WORDINGS.one("counts scene", k=k, r=r, b=b)
            return expected(
                rng, scene, "the number of red balls among those drawn", Fraction(k * r, r + b),
                {"ask": ask, "red": r, "blue": b, "k": k}, level,
            )  # fmt: skip
        if ask == "sum":
            k = rng.randint(2, n - 1)
            scene = WORDINGS.one("counts scene 2", k=k, n=n)
            return expected(
                rng, scene, "the sum of the numbers on the drawn cards", Fraction(k * (n + 1), 2),
                {"ask": ask, "n": n, "k": k}, level,
            )  # fmt: skip
        faces = rng.choice((4, 6, 8, 10, 12))
        scene = WORDINGS.one("counts scene 3", who=who, faces=faces, n=n)
        return expected(
            rng,
            scene,
            "the number of correct guesses",
            Fraction(n, faces),
            {"ask": ask, "faces": faces, "n": n},
            level,
        )
    if level == 2:
        ask = rng.choice(("largest", "neighbors", "distinct", "empty"))
        if ask == "largest":
            k = rng.randint(2, 4)
            n = rng.randint(k + 2, 20)
            low = rng.random() < 0.5
            value = Fraction(n + 1, k + 1) * (1 if low else k)
            scene = WORDINGS.draw(rng, "counts, level 2, largest", k=k, n=n, who=who)
            name = "smallest" if low else "largest"
            return expected(
                rng,
                scene,
                f"the {name} of the {k} numbers",
                value,
                {"ask": name, "n": n, "k": k},
                level,
            )
        if ask == "neighbors":
            g, b = rng.randint(2, 7), rng.randint(2, 7)
            ring = rng.random() < 0.4
            total = g + b
            places = total if ring else total - 1
            value = places * Fraction(2 * g * b, total * (total - 1))
            scene = WORDINGS.one(
                "counts scene 4",
                g=g,
                b=b,
                sit_down="sit down at random around a round table"
                if ring
                else "stand in a row in random order",
            )
            return expected(
                rng, scene, "the number of pairs of neighbors that consist of a girl and a boy", value,
                {"ask": "ring" if ring else "row", "girls": g, "boys": b}, level,
            )  # fmt: skip
        faces, rolls = rng.choice((4, 5, 6, 8, 10)), rng.randint(2, 4)
        if ask == "distinct":
            value = faces * (1 - Fraction(faces - 1, faces) ** rolls)
            scene = f"A fair die with faces numbered $1$ to ${faces}$ is rolled {rolls} times."
            return expected(
                rng,
                scene,
                "the number of different results that occur",
                value,
                {"ask": ask, "faces": faces, "n": rolls},
                level,
            )
        value = faces * Fraction(faces - 1, faces) ** rolls
        scene = WORDINGS.one("counts scene 5", rolls=rolls, faces=faces)
        return expected(
            rng,
            scene,
            "the number of boxes that stay empty",
            value,
            {"ask": ask, "faces": faces, "n": rolls},
            level,
        )
    ask = rng.choice(("runs", "shared", "pairs left", "inversions", "triples"))
    if ask == "runs":
        g, b = rng.randint(2, 6), rng.randint(2, 6)
        value = 1 + Fraction(2 * g * b, g + b)
        scene = WORDINGS.one("counts, runs", g=g, b=b)
        return expected(
            rng, scene, "the number of runs", value, {"ask": ask, "red": g, "blue": b}, level
        )
    if ask == "shared":
        people, days = rng.randint(3, 5), rng.choice((4, 5, 6, 7))
        value = days * (
            1
            - Fraction(days - 1, days) ** people
            - people * Fraction(1, days) * Fraction(days - 1, days) ** (people - 1)
        )
        scene = WORDINGS.one("counts scene 6", people=people, days=days)
        return expected(
            rng, scene, "the number of days that are chosen by at least two people", value,
            {"ask": ask, "people": people, "days": days}, level,
        )  # fmt: skip
    if ask == "pairs left":
        pairs = rng.randint(3, 7)
        taken = rng.randint(2, 2 * pairs - 2)
        value = pairs * Fraction(comb(2 * pairs - 2, taken), comb(2 * pairs, taken))
        scene = WORDINGS.one("counts scene 7", pairs=pairs, taken=taken)
        return expected(
            rng,
            scene,
            "the number of complete pairs that are left",
            value,
            {"ask": ask, "pairs": pairs, "taken": taken},
            level,
        )
    if ask == "inversions":
        m = rng.randint(4, 7)
        k = rng.randint(2, m - 1)
        # positions i < j, j - i <= k, with the larger number first
        near = sum(1 for i in range(m) for j in range(i + 1, m) if j - i <= k)
        scene = f"The numbers $1, 2, \\ldots, {m}$ are written in a row in random order."
        quantity = WORDINGS.one("counts, inversions", k=k)
        return expected(
            rng, scene, quantity, Fraction(near, 2), {"ask": ask, "n": m, "k": k}, level
        )
    faces, rolls = rng.choice((3, 4, 5, 6)), rng.randint(3, 5)
    value = (rolls - 1) * Fraction(faces - 1, 2 * faces)
    scene = WORDINGS.one("counts scene 8", faces=faces, rolls=rolls)
    quantity = WORDINGS.one("counts quantity")
    return expected(
        rng, scene, quantity, value, {"ask": "rises", "faces": faces, "n": rolls}, level
    )


FAMILIES = (
    math_family("probability_payments", _payments, "expected payments in games"),
    math_family("probability_counts", _counts, "expected numbers of things, and expected extremes"),
)
