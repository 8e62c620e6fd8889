"""Problems on games of turns and series of games."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.probability.asking import expected, probability
from prorl_datasets.procedural.math.probability.walks import ruin
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, ordinal, pick

WORDINGS = Wordings(__name__)

CHANCES = tuple(
    Fraction(a, b) for b in range(2, 7) for a in range(1, b) if Fraction(a, b).denominator == b
)


def _turns(rng: Random, level: int) -> Problem:
    a, b = rng.sample(PEOPLE, 2)
    p, q = rng.choice(CHANCES), rng.choice(CHANCES)
    shown = f"${fraction(p)}$", f"${fraction(q)}$"
    game = pick(
        rng,
        "throw darts at a target",
        "shoot at a basket",
        "kick balls at a goal",
        "throw rings at a peg",
    )
    if level == 1:
        n = rng.randint(2, 4)
        ask = rng.choice(("at try", "within", "dice"))
        if ask == "dice":
            faces = rng.choice((4, 6, 8, 10))
            good = rng.randint(1, faces // 2)
            p = Fraction(good, faces)
            name = f"a number that is at most ${good}$" if good > 1 else "the number $1$"
            scene = WORDINGS.one("turns scene", a=a, faces=faces, name=name)
            event = f"exactly {n} rolls are needed"
            value = (1 - p) ** (n - 1) * p
            return probability(
                rng, scene, event, value, {"ask": ask, "faces": faces, "good": good, "n": n}, level
            )
        scene = WORDINGS.one("turns scene 2", a=a, shown=shown)
        event, value = (
            (f"this happens at the {ordinal(n)} attempt", (1 - p) ** (n - 1) * p)
            if ask == "at try"
            else (f"no more than {n} attempts are needed", 1 - (1 - p) ** n)
        )
        return probability(rng, scene, event, value, {"ask": ask, "p": str(p), "n": n}, level)
    if level == 2:
        scene = WORDINGS.draw(rng, "turns, level 2", a=a, b=b, game=game, shown=shown)
        lose = (1 - p) * (1 - q)
        first = p / (1 - lose)
        wins = rng.random() < 0.6
        return probability(
            rng, scene, f"{a if wins else b} wins", first if wins else 1 - first,
            {"ask": "first" if wins else "second", "p": str(p), "q": str(q)}, level,
        )  # fmt: skip
    if rng.random() < 0.5:
        n = rng.choice((3, 4, 5))
        i = rng.randint(1, n)
        word = {3: "Three", 4: "Four", 5: "Five"}[n]
        names = rng.sample(PEOPLE, n)
        p = pick(
            rng, Fraction(1, 2), Fraction(1, 3), Fraction(1, 6), Fraction(2, 3), Fraction(1, 4)
        )
        value = (1 - p) ** (i - 1) * p / (1 - (1 - p) ** n)
        scene = WORDINGS.one(
            "turns scene 3",
            word=word,
            names=", ".join(names[:-1]),
            names_2=names[-1],
            p=fraction(p),
            names_3=names,
        )
        values = {"ask": "circle", "p": str(p), "n": n, "i": i}
        return probability(rng, scene, f"{names[i - 1]} wins the game", value, values, level)
    # a must hit twice, b once
    scene = WORDINGS.one("turns", a=a, b=b, game=game, shown=shown)
    lose = (1 - p) * (1 - q)
    from_one = p / (1 - lose)
    value = p * (1 - q) * from_one / (1 - lose)
    values = {"ask": "two hits", "p": str(p), "q": str(q)}
    return probability(rng, scene, f"{a} wins", value, values, level)


def _series(rng: Random, level: int) -> Problem:
    a, b = rng.sample(PEOPLE, 2)
    p = rng.choice(CHANCES)
    q = 1 - p
    sport = rng.choice(("chess", "tennis", "table tennis", "darts", "checkers"))
    need = rng.choice((2, 3)) if level == 1 else rng.choice((2, 3, 4))
    best = 2 * need - 1
    scene = WORDINGS.draw(
        rng, "series", a=a, b=b, sport=sport, need=need, p=fraction(p), best=best, q=fraction(q)
    )
    values = {"p": str(p), "need": need}

    def win(x: int, y: int) -> Fraction:
        """Return the chance that the first player wins if the players need x and y more games."""
        if x == 0 or y == 0:
            return Fraction(int(x == 0))
        return p * win(x - 1, y) + q * win(x, y - 1)

    if level == 1:
        n = rng.randint(need, best)
        if rng.random() < 0.5:
            return probability(
                rng, scene, f"{a} wins the match", win(need, need), {"ask": "win", **values}, level
            )
        value = comb(n - 1, need - 1) * (p**need * q ** (n - need) + q**need * p ** (n - need))
        if not 0 < value < 1:
            return _series(rng, level)
        event = f"the match lasts exactly {n} games"
        return probability(rng, scene, event, value, {"ask": "length", "n": n, **values}, level)
    if level == 2:
        x, y = redrawn(
            lambda: (rng.randint(0, need - 1), rng.randint(0, need - 1)),
            lambda s: s != (0, 0) and need > 1,
        )
        if rng.random() < 0.5:
            scene += WORDINGS.one(
                "series scene",
                x_plus_y=x + y,
                game="game" if x + y == 1 else "games",
                a=a,
                x=x,
                b=b,
                y=y,
            )
            value = win(need - x, need - y)
            return probability(
                rng,
                scene,
                f"{a} wins the match in the end",
                value,
                {"ask": "from", "x": x, "y": y, **values},
                level,
            )
        lengths = [
            n * comb(n - 1, need - 1) * (p**need * q ** (n - need) + q**need * p ** (n - need))
            for n in range(need, best + 1)
        ]
        value = sum(lengths, Fraction(0))
        return expected(
            rng, scene, "the number of games played", value, {"ask": "mean", **values}, level
        )
    ask = rng.choice(("given", "comeback", "deuce"))
    if ask == "given":
        n = rng.randint(need, best)
        value = comb(n - 1, need - 1) * p**need * q ** (n - need) / win(need, need)
        event = f"the match took exactly {n} games"
        return probability(
            rng, f"{scene} Afterwards we only hear that {a} has won the match.", event, value,
            {"ask": ask, "n": n, **values}, level,
        )  # fmt: skip
    if ask == "comeback":
        value = q * win(need, need - 1)
        scene_end = f"{a} loses the first game but wins the match"
        return probability(rng, scene, scene_end, value, {"ask": ask, **values}, level)
    lead = rng.choice((2, 3))
    x = rng.randint(-(lead - 1), lead - 1)
    scene = WORDINGS.one("series scene 2", a=a, b=b, p=fraction(p), lead=lead)
    if x:
        scene += WORDINGS.one(
            "series scene 3",
            a=a if x > 0 else b,
            x=abs(x),
            point="point" if abs(x) == 1 else "points",
        )
    value = ruin(lead + x, 2 * lead, p)
    return probability(
        rng,
        scene,
        f"{a} wins the game",
        value,
        {"ask": ask, "p": str(p), "lead": lead, "x": x},
        level,
    )


FAMILIES = (
    math_family("probability_turns", _turns, "tries until somebody succeeds"),
    math_family("probability_series", _series, "matches of several games"),
)
