"""Problems on conditional probability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import comb
from random import Random
from typing import Any

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.probability.asking import probability
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

Test = Callable[[Sequence[int]], bool]


def _given(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        faces = rng.choice((6, 6, 8, 10, 12))
        every = list(product(range(1, faces + 1), repeat=2))
        kind = (
            "fair six-sided dice"
            if faces == 6
            else f"fair dice with faces numbered $1$ to ${faces}$"
        )

        def draw() -> tuple[str, str, str, Fraction, dict[str, int]]:
            known = rng.choice(("sum at least", "some", "sum", "different"))
            asked = rng.choice(("six", "equal", "product even", "sum high"))
            a, b = rng.randint(3, 2 * faces - 2), rng.randint(1, faces)
            c = rng.randint(faces // 2, 2 * faces - 2)
            facts: dict[str, tuple[str, Test]] = {
                "sum at least": (
                    f"the sum of the results is at least ${a}$",
                    lambda o: sum(o) >= a,
                ),
                "some": (f"at least one of the dice shows ${b}$", lambda o: b in o),
                "sum": (f"the sum of the results is ${a}$", lambda o: sum(o) == a),
                "different": ("the dice show different numbers", lambda o: o[0] != o[1]),
            }
            know, fits = facts[known]
            events: dict[str, tuple[str, Test]] = {
                "six": (f"at least one die shows ${faces}$", lambda o: faces in o),
                "equal": ("both dice show the same number", lambda o: o[0] == o[1]),
                "product even": (
                    "the product of the results is even",
                    lambda o: o[0] * o[1] % 2 == 0,
                ),
                "sum high": (f"the sum of the results is greater than ${c}$", lambda o: sum(o) > c),
            }
            event, good = events[asked]
            left = [o for o in every if fits(o)]
            value = Fraction(sum(good(o) for o in left), len(left))
            more = {"a": a} if "sum" in known else {"b": b} if known == "some" else {}
            more |= {"c": c} if asked == "sum high" else {}
            return f"{known}|{asked}", know, event, value, more

        ask, know, event, value, more = redrawn(
            draw,
            lambda d: (
                0 < d[3] < 1
                and d[0] not in ("sum|sum high", "different|equal", "sum at least|sum high")
            ),
        )
        scene = WORDINGS.draw(rng, "given", who=who, kind=kind, know=know)
        return probability(rng, scene, event, value, {"ask": ask, "faces": faces, **more}, level)
    if level == 2:
        n = rng.randint(3, 8)
        thing, side = rng.choice((("coin", "heads"), ("coin", "tails")))
        k = rng.randint(2, n - 1)
        j = rng.randint(1, k)
        ask = rng.choice(("at least", "first", "exactly first"))
        if ask == "at least":
            left = sum(comb(n, i) for i in range(j, n + 1))
            good = sum(comb(n, i) for i in range(k, n + 1))
            know, event = (
                f"{side} came up at least {_times(j)}",
                f"{side} came up at least {_times(k)}",
            )
            value = Fraction(good, left)
        elif ask == "first":
            value = Fraction(
                sum(comb(n - 1, i - 1) for i in range(k, n + 1)),
                sum(comb(n, i) for i in range(k, n + 1)),
            )
            know, event = f"{side} came up at least {_times(k)}", f"the first toss was {side}"
        else:
            k = max(k, 2)
            value = Fraction(comb(n - 2, k - 2), comb(n, k))
            know, event = (
                f"{side} came up exactly {_times(k)}",
                f"both the first and the last toss were {side}",
            )
        if not 0 < value < 1:
            return _given(rng, level)
        scene = WORDINGS.draw(rng, "given, level 2", thing=thing, n=n, know=know, who=who)
        if "kept record" in scene:
            event = f"in it {event}"
        values = {"ask": ask, "n": n, "k": k, **({"j": j} if ask == "at least" else {})}
        return probability(rng, scene, event, value, values, level)
    x, y, z = (rng.randint(2, 6) for _ in range(3))
    n = x + y + z
    ask = rng.choice(("second red", "two aces", "some pair", "bridge"))
    if ask == "second red":
        scene = WORDINGS.one("given scene", x=x, y=y, z=z, who=who)
        event = rng.choice(("the first ball was red too", "the first ball was blue"))
        value = Fraction(x - 1 if "too" in event else y, n - 1)
        values = {"ask": "first red" if "too" in event else "first blue", "counts": [x, y, z]}
        return probability(rng, scene, event, value, values, level)
    if ask == "two aces":
        k = rng.randint(2, 3)
        word = {2: "two", 3: "three"}[k]
        some = comb(n, k) - comb(n - x, k)
        good = some - x * comb(n - x, k - 1)
        scene = WORDINGS.one("given scene 2", x=x, y_plus_z=y + z, word=word)
        event = "at least two of the drawn balls are red"
        values = {"ask": ask, "red": x, "blue": y + z, "k": k}
        return probability(rng, scene, event, Fraction(good, some), values, level)
    if ask == "some pair":
        m = rng.randint(5, 12)
        s = rng.randint(m // 2 + 1, 2 * m - 2)
        pairs = [(a, b) for a in range(1, m + 1) for b in range(a + 1, m + 1) if a + b >= s]
        good = sum(a * b % 2 == 0 for a, b in pairs)
        value = Fraction(good, len(pairs))
        if not 0 < value < 1:
            return _given(rng, level)
        scene = WORDINGS.one("given scene 3", m=m, s=s)
        event = "the product of the two numbers is even"
        return probability(rng, scene, event, value, {"ask": ask, "m": m, "s": s}, level)
    # two parallel ways of two bridges, each open with probability a/b
    a, b = rng.choice(((1, 2), (1, 3), (2, 3), (3, 4), (1, 4), (2, 5), (3, 5), (4, 5)))
    p = Fraction(a, b)
    up, down = rng.choice(((1, 2), (2, 2), (1, 3), (2, 3), (1, 1)))
    reach = 1 - (1 - p**up) * (1 - p**down)
    event = f"all the bridges of the {'first' if up <= down else 'second'} way are open"
    value = p**up / reach
    scene = WORDINGS.one(
        "given scene 4",
        up=up,
        bridge="bridge" if up == 1 else "bridges",
        down=down,
        other_bridge="other bridge" if down == 1 else "other bridges",
        a=a,
        b=b,
    )
    values = {"ask": ask, "a": a, "b": b, "up": up, "down": down}
    return probability(rng, scene, event, value, values, level)


def _times(k: int) -> str:
    return {1: "once", 2: "twice"}.get(k, f"{k} times")


def _bayes(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        r1, b1, r2, b2 = (rng.randint(1, 8) for _ in range(4))
        box = rng.choice(("box", "bag", "jar"))
        reverse = rng.random() < 0.5
        one, two = Fraction(r1, r1 + b1) / 2, Fraction(r2, r2 + b2) / 2
        total = one + two
        scene = WORDINGS.draw(
            rng,
            "bayes",
            box=box,
            r1=r1,
            b1=b1,
            r2=r2,
            b2=b2,
            who=who,
            es="es" if box == "box" else "s",
        )
        values: dict[str, Any] = {"first": [r1, b1], "second": [r2, b2]}
        if reverse:
            scene += rng.choice((" The ball is red.", " It turns out that the ball is red."))
            event = WORDINGS.draw(rng, "bayes 3", box=box, r1=r1, b1=b1)  # fmt: skip
            if (r1, b1) == (r2, b2) or r1 * b2 == r2 * b1:
                return _bayes(rng, level)
            return probability(rng, scene, event, one / total, {"ask": "which", **values}, level)
        return probability(rng, scene, "the ball is red", total, {"ask": "red", **values}, level)
    if level == 2:
        s1 = rng.choice((20, 25, 30, 40, 50))
        s2 = rng.choice((10, 20, 25, 30))
        s3 = 100 - s1 - s2
        f1, f2, f3 = rng.sample(range(1, 11), 3)
        if s3 <= 0:
            return _bayes(rng, level)
        maker, item, bad = rng.choice((
            ("machine", "bolts", "are faulty"), ("farm", "eggs", "are cracked"),
            ("printer", "posters", "have a misprint"), ("bakery", "rolls", "are burnt"),
            ("supplier", "bulbs", "do not work"),
        ))  # fmt: skip
        plural = {"bakery": "bakeries"}.get(maker, maker + "s")
        single = item[:-1]
        part = [Fraction(s * f, 10000) for s, f in ((s1, f1), (s2, f2), (s3, f3))]
        three = rng.random() < 0.6
        if not three:
            s2, part = 100 - s1, [Fraction(s1 * f1, 10000), Fraction((100 - s1) * f2, 10000)]
        total = sum(part, Fraction(0))
        names = "A, B and C" if three else "A and B"
        shares = f"{s1}%, {s2}% and {s3}%" if three else f"{s1}% and {s2}%"
        rates = f"{f1}%, {f2}% and {f3}%" if three else f"{f1}% and {f2}%"
        i = rng.randrange(len(part))
        scene = WORDINGS.draw(
            rng,
            "bayes 2",
            plural=plural.capitalize(),
            names=names,
            shares=shares,
            item=item,
            plural_2=plural,
            rates=rates,
            bad=bad,
            single=single,
            who=who,
        )
        scene = scene.replace("A egg", "An egg")
        event = f"it came from {maker} {'ABC'[i]}"
        known = {
            "shares": [s1, s2, s3] if three else [s1, s2],
            "rates": [f1, f2, f3] if three else [f1, f2],
        }
        return probability(
            rng, scene, event, part[i] / total, {"ask": "supplier", **known, "which": i}, level
        )
    ask = rng.choice(("coins", "cards", "second draw", "witness"))
    if ask == "coins":
        fair, double, n = rng.randint(1, 5), rng.randint(1, 3), rng.randint(2, 4)
        seen_fair, seen_double = fair * Fraction(1, 2**n), Fraction(double)
        again = rng.random() < 0.5
        scene = WORDINGS.one(
            "bayes scene",
            fair=fair,
            coin="coin" if fair == 1 else "coins",
            double=double,
            coin_2="coin" if double == 1 else "coins",
            who=who,
            n=n,
        )
        if again:
            event = "the same coin shows heads again at the next toss"
            value = (seen_fair / 2 + seen_double) / (seen_fair + seen_double)
        else:
            event = "the coin is fair"
            value = seen_fair / (seen_fair + seen_double)
        values = {"ask": "next" if again else "fair", "fair": fair, "double": double, "n": n}
        return probability(rng, scene, event, value, values, level)
    if ask == "cards":
        a, b, c = (rng.randint(1, 4) for _ in range(3))
        scene = WORDINGS.one("bayes scene 2", a=a, card="card" if a == 1 else "cards", b=b, c=c)
        return probability(
            rng, scene, "the other side of this card is red too",
            Fraction(2 * a, 2 * a + c), {"ask": ask, "counts": [a, b, c]}, level,
        )  # fmt: skip
    if ask == "second draw":
        r1, b1, r2, b2 = (rng.randint(2, 7) for _ in range(4))
        if r1 * b2 == r2 * b1:
            return _bayes(rng, level)
        back = rng.random() < 0.5
        ways = []
        for r, b in ((r1, b1), (r2, b2)):
            first = Fraction(r, r + b)
            second = first if back else Fraction(r - 1, r + b - 1)
            ways.append((first / 2, first * second / 2))
        value = sum((w[1] for w in ways), Fraction(0)) / sum((w[0] for w in ways), Fraction(0))
        scene = WORDINGS.one(
            "bayes scene 3",
            r1=r1,
            b1=b1,
            r2=r2,
            b2=b2,
            it_is="It is put back into its urn" if back else "It is kept out",
        )
        values = {"ask": ask, "first": [r1, b1], "second": [r2, b2], "back": back}
        return probability(rng, scene, "the second ball is red", value, values, level)
    share = rng.choice((10, 15, 20, 25, 30))
    right = rng.choice((60, 70, 75, 80, 90))
    witnesses = rng.choice((1, 2, 3))
    p = Fraction(right, 100)
    prior = Fraction(share, 100)
    true, false = prior * p**witnesses, (1 - prior) * (1 - p) ** witnesses
    word = {1: "A witness says", 2: "Two witnesses both say", 3: "Three witnesses all say"}[
        witnesses
    ]
    scene = WORDINGS.one(
        "bayes scene 4",
        share=share,
        word=word,
        right=right,
        independently_of=", independently of the others" if witnesses > 1 else "",
    )
    values = {"ask": ask, "share": share, "right": right, "witnesses": witnesses}
    return probability(
        rng, scene, "the taxi was really green", true / (true + false), values, level
    )


FAMILIES = (
    math_family("probability_given", _given, "conditional probability with dice, coins and urns"),
    math_family("probability_causes", _bayes, "which cause, judged by what was seen"),
)
