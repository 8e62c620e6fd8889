"""Problems on random walks and on waiting for patterns of coin tosses."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import fraction
from prorl_datasets.procedural.math.probability.asking import expected, probability
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def ruin(start: int, top: int, p: Fraction) -> Fraction:
    """Return the probability to reach ``top`` before 0; a step is up with probability p, else down."""
    ratio = (1 - p) / p
    if ratio == 1:
        return Fraction(start, top)
    return (1 - ratio**start) / (1 - ratio**top)


def _walks(rng: Random, level: int) -> Problem:
    who = rng.choice(("A frog", "A beetle", "A robot", "A token", "A cricket", "A mouse"))
    n = rng.randint(3, 9)
    if level == 1:
        k = rng.choice([i for i in range(-n + 2, n - 1) if (n - i) % 2 == 0])
        scene = WORDINGS.draw(rng, "walks, level 1", who=who, n=n)
        ask = rng.choice(("at", "positive"))
        if ask == "at":
            event, value = f"it is at ${k}$ in the end", Fraction(comb(n, (n + k) // 2), 2**n)
        else:
            k = abs(k) or 1
            event = f"its final distance from $0$ is greater than ${k}$"
            value = Fraction(sum(comb(n, i) for i in range(n + 1) if abs(2 * i - n) > k), 2**n)
        if not 0 < value < 1:
            return _walks(rng, level)
        return probability(rng, scene, event, value, {"ask": ask, "n": n, "k": k}, level)
    if level == 2:
        ask = rng.choice(("polygon", "plane", "cube", "never left"))
        n = rng.randint(3, 7)
        if ask == "polygon":
            sides = rng.choice((3, 4, 5, 6))
            chance = {0: Fraction(1)}
            for _ in range(n):
                after: dict[int, Fraction] = {}
                for place, part in chance.items():
                    for step in (1, -1):
                        to = (place + step) % sides
                        after[to] = after.get(to, Fraction(0)) + part / 2
                chance = after
            name = {3: "triangle", 4: "square", 5: "regular pentagon", 6: "regular hexagon"}[sides]
            goal = 0
            if sides % 2 == 0 and n % 2:
                goal = sides // 2 if sides == 6 else 1
            where = {0: "the corner where it started"}.get(
                goal, "the corner opposite its starting corner"
            )
            if goal not in chance or (sides == 4 and goal):
                return _walks(rng, level)
            scene = WORDINGS.one("walks scene", who=who, name=name)
            event = f"after {n} minutes it is at {where}"
            return probability(
                rng,
                scene,
                event,
                chance[goal],
                {"ask": ask, "sides": sides, "n": n, "goal": goal},
                level,
            )
        if ask == "plane":
            n = rng.choice((2, 3, 4, 5))
            x, y = redrawn(
                lambda: (rng.randint(-2, 2), rng.randint(-2, 2)),
                lambda t: abs(t[0]) + abs(t[1]) <= n and (n - abs(t[0]) - abs(t[1])) % 2 == 0,
            )
            good = comb(n, (n + x + y) // 2) * comb(n, (n + x - y) // 2)
            scene = WORDINGS.one("walks, level 2, plane", who=who, n=n)
            event = f"it ends at $({x}, {y})$"
            return probability(
                rng, scene, event, Fraction(good, 4**n), {"ask": ask, "n": n, "x": x, "y": y}, level
            )
        if ask == "cube":
            n = rng.randint(2, 7)
            solid = rng.choice(("cube", "tetrahedron", "octahedron"))
            value = {
                "cube": Fraction(1, 4) + Fraction(3, 4) * Fraction(1, 3**n)
                if n % 2 == 0
                else Fraction(0),
                "tetrahedron": Fraction(1, 4) + Fraction(3, 4) * Fraction(-1, 3) ** n,
                "octahedron": Fraction(1, 6) + Fraction(1, 3) * Fraction(-1, 2) ** n,
            }[solid]
            if not value:
                return _walks(rng, level)
            degree = {"cube": "three", "tetrahedron": "three", "octahedron": "four"}[solid]
            scene = (WORDINGS.one("walks", solid=solid, degree=degree)).replace(
                "a regular cube", "a cube"
            )
            event = f"after {n} edges it is back at the corner where it started"
            return probability(rng, scene, event, value, {"ask": solid, "n": n}, level)
        n = rng.randint(3, 10)
        value = Fraction(comb(n, n // 2), 2**n)
        scene = WORDINGS.one("walks scene 2", who=who, n=n)
        return probability(
            rng, scene, "it is never at a negative number", value, {"ask": ask, "n": n}, level
        )
    a, b = rng.sample(PEOPLE, 2)
    ask = rng.choice(("ruin", "ruin", "meet", "duration"))
    if ask == "meet":
        n, m = rng.randint(2, 6), rng.randint(2, 6)
        scene = WORDINGS.one("walks, meet", a=a, b=b, n=n, m=m)
        total = n + m
        if total % 2:
            return _walks(rng, level)
        half = total // 2
        value = sum(
            (
                Fraction(comb(half, x), 2**half) * Fraction(comb(half, n - x), 2**half)
                for x in range(half + 1)
                if half - x >= 0 and 0 <= n - x <= half
            ),
            Fraction(0),
        )
        event = f"they are at the same crossing after {half} minutes"
        return probability(
            rng, scene, event, value, {"ask": ask, "n": n, "m": m, "half": half}, level
        )
    top = rng.randint(3, 8)
    start = rng.randint(1, top - 1)
    p = pick(
        rng,
        Fraction(1, 2),
        Fraction(1, 3),
        Fraction(2, 3),
        Fraction(2, 5),
        Fraction(3, 5),
        Fraction(1, 4),
    )
    if ask == "duration":
        scene = WORDINGS.one(
            "walks scene 3",
            a=a,
            start=start,
            chip="chip" if start == 1 else "chips",
            b=b,
            top_minus_start=top - start,
        )
        return expected(
            rng, scene, "the number of tosses", Fraction(start * (top - start)),
            {"ask": ask, "start": start, "rest": top - start}, level,
        )  # fmt: skip
    scene = WORDINGS.draw(
        rng,
        "walks 2",
        a=a,
        start=start,
        coin="coin" if start == 1 else "coins",
        p=fraction(p),
        top=top,
        who=who,
    )
    event = (
        f"the game ends with {top} coins"
        if "coin" in scene
        else f"it arrives at ${top}$ before $0$"
    )
    value = ruin(start, top, p)
    return probability(
        rng, scene, event, value, {"ask": ask, "p": str(p), "start": start, "top": top}, level
    )


def _patterns(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        n, pattern = rng.randint(3, 7), rng.choice(("HH", "HT", "TT", "TH"))
        # count strings without the pattern
        if pattern in ("HH", "TT"):
            free = [1, 2]
            for _ in range(n - 1):
                free.append(free[-1] + free[-2])
            without = free[n]
        else:
            without = n + 1
        present = rng.random() < 0.5
        scene = WORDINGS.draw(rng, "patterns, level 1", n=n, who=who)
        event = (
            f"{pattern} occurs somewhere in neighboring places"
            if present
            else f"{pattern} does not occur in any two neighboring places"
        )
        value = 1 - Fraction(without, 2**n) if present else Fraction(without, 2**n)
        return probability(
            rng,
            scene,
            event,
            value,
            {"ask": "occurs" if present else "absent", "n": n, "pattern": pattern},
            level,
        )
    p = pick(
        rng,
        Fraction(1, 2),
        Fraction(1, 3),
        Fraction(2, 3),
        Fraction(1, 4),
        Fraction(3, 4),
        Fraction(2, 5),
        Fraction(3, 5),
    )
    coin = (
        "a fair coin"
        if p == Fraction(1, 2)
        else f"a coin that shows heads with probability ${fraction(p)}$"
    )
    if level == 2:
        pattern = rng.choice(("HH", "HT", "TH", "TT", "HHH", "TTT"))
        ask = rng.choice(("pattern", "pattern", "faces"))
        if ask == "faces":
            faces = rng.choice((3, 4, 5, 6, 8))
            drawn_faces = rng.randint(2, faces)
            value = sum((Fraction(faces, faces - i) for i in range(drawn_faces)), Fraction(0))
            scene = WORDINGS.one(
                "patterns scene",
                faces=faces,
                every_face="every face"
                if drawn_faces == faces
                else f"{drawn_faces} different faces",
                has="has" if drawn_faces == faces else "have",
            )
            return expected(
                rng,
                scene,
                "the number of rolls",
                value,
                {"ask": ask, "faces": faces, "seen": drawn_faces},
                level,
            )
        value = _overlap(pattern, pattern, p)
        scene = WORDINGS.draw(
            rng,
            "patterns",
            who=who,
            coin=coin,
            pattern=len(pattern),
            pattern_2=pattern,
            coin_0=coin[0].upper(),
            coin_2=coin[1:],
        )
        return expected(
            rng,
            scene,
            "the number of tosses",
            value,
            {"ask": ask, "p": str(p), "pattern": pattern},
            level,
        )
    one, two = redrawn(
        lambda: (
            "".join(rng.choice("HT") for _ in range(rng.choice((2, 3, 3)))),
            "".join(rng.choice("HT") for _ in range(rng.choice((2, 3, 3)))),
        ),
        lambda t: t[0] not in t[1] and t[1] not in t[0],
    )
    value = _race(one, two, p)
    if not 0 < value < 1:
        return _patterns(rng, level)
    scene = WORDINGS.draw(
        rng,
        "patterns 2",
        coin_0=coin[0].upper(),
        coin=coin[1:],
        who=who,
        one=one,
        two=two,
        coin_2=coin,
    )
    event = f"{who} wins" if "wins" in scene else f"{one} appears before {two}"
    return probability(
        rng, scene, event, value, {"ask": "race", "p": str(p), "one": one, "two": two}, level
    )


def _overlap(x: str, y: str, p: Fraction) -> Fraction:
    """Return Conway's leading number: the sum of 1/probability of all words that both end x and begin y."""
    total = Fraction(0)
    for i in range(1, min(len(x), len(y)) + 1):
        if x[len(x) - i :] == y[:i]:
            chance = Fraction(1)
            for letter in y[:i]:
                chance *= p if letter == "H" else 1 - p
            total += 1 / chance
    return total


def _race(one: str, two: str, p: Fraction) -> Fraction:
    """Return the probability that ``one`` appears before ``two`` (Conway's rule)."""
    first = _overlap(two, two, p) - _overlap(two, one, p)
    second = _overlap(one, one, p) - _overlap(one, two, p)
    return first / (first + second)


FAMILIES = (
    math_family("probability_walks", _walks, "random walks and ruin"),
    math_family(
        "probability_patterns", _patterns, "patterns of coin tosses, and how long they take"
    ),
)
