"""Problems on distributing things among people or boxes."""

from __future__ import annotations

from itertools import product
from math import comb, factorial
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

THINGS = ("marbles", "cookies", "coins", "balloons", "stickers", "apples", "tickets", "pencils")

KINDS = (
    ("doughnuts", "flavors"), ("flowers", "colors"), ("postcards", "motifs"), ("scoops", "flavors"),
    ("fruits", "sorts"), ("bagels", "varieties"),
)  # fmt: skip


def _equal_things(rng: Random, level: int) -> Problem:
    who, things = rng.choice(PEOPLE), rng.choice(THINGS)
    n, k = rng.randint(6, 16), rng.randint(3, 5)
    letters = ("x", "y", "z", "w", "v")[:k]
    equation = " + ".join(letters) + f" = {n}"
    tuple_text = f"({', '.join(letters)})"
    if level == 1:
        least = rng.choice((0, 1))
        answer = comb(n + k - 1, k - 1) if not least else comb(n - 1, k - 1)
        kind = ("nonnegative", "positive")[least]
        rule = (
            ("some may get nothing", "nobody has to get any", "a child may end up with none"),
            ("everyone gets at least one", "no one goes away empty-handed", "each child gets some"),
        )[least]
        sorts, name = rng.choice(KINDS)
        more = (
            "it is allowed to take only some of the " + name,
            "each of the " + name + " is taken at least once",
        )[least]
        texts: tuple[str, ...] = (
            WORDINGS.one("equal things 17", n=n, things=things, k=k, rule=rng.choice(rule)),
            WORDINGS.one(
                "equal things",
                tuples="tuples" if k > 3 else "triples",
                tuple_text=tuple_text,
                kind=kind,
                equation=equation,
            ),
            WORDINGS.one("equal things 2", sorts=sorts, k=k, name=name, who=who, n=n, more=more),
            WORDINGS.one(
                "equal things 3",
                who=who,
                n=n,
                k=k,
                boxes_may="boxes may stay empty" if not least else "afterwards no box is empty",
            ),
            WORDINGS.one(
                "equal things 4",
                n=n,
                k=k,
                k_minus_1=k - 1,
                where_sections="where sections may be empty"
                if not least
                else "and every section holds a star",
            ),
        )
        return Problem(
            rng.choice(texts), str(answer), {"ask": "plain", "n": n, "k": k, "least": least}
        )
    if level == 2:
        ask = rng.choice(("lower", "at most", "odd", "special"))
        if ask == "lower":
            lows = [rng.randint(0, 3) for _ in range(k)]
            n = sum(lows) + rng.randint(3, 9)
            answer = comb(n - sum(lows) + k - 1, k - 1)
            conditions = ", ".join(f"{x} \\ge {low}" for x, low in zip(letters, lows, strict=True))
            texts = WORDINGS.all(
                "equal things 18",
                letters_joined=" + ".join(letters),
                n=n,
                conditions=conditions,
                things=things,
                k=k,
                lows=lows,
                listed_lows=listed(lows[1:]),
                tuple_text=tuple_text,
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "lows": lows})
        if ask == "at most":
            k = min(k, 4)
            letters = letters[:k]
            answer = comb(n + k, k)
            texts = (
                (
                    f"How many ordered {'tuples' if k > 3 else 'triples'} $({', '.join(letters)})$ of "
                    f"nonnegative integers satisfy ${' + '.join(letters)} \\le {n}$?"
                ),
                WORDINGS.one("equal things 6", who=who, n=n, things=things, k=k),
                WORDINGS.one("equal things 7", n=n, k=k),
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "odd":
            half = rng.randint(3, 9)
            odd = rng.random() < 0.5
            n = 2 * half + (k if odd else 0)
            answer = comb(half + k - 1, k - 1)
            name = "odd positive" if odd else "even nonnegative"
            texts = WORDINGS.all(
                "equal things 19",
                n=n,
                k=k,
                name=name,
                tuples="tuples" if k > 3 else "triples",
                tuple_text=tuple_text,
                things=things,
                odd="odd" if odd else "even",
                zero_counts="" if odd else " (zero counts as even)",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "odd": odd})
        m = rng.randint(3, 7)
        answer = comb(n + k - 1, k - 1) * comb(m + k - 1, k - 1)
        least = rng.choice((0, 1))
        if least:
            answer = comb(n - 1, k - 1) * comb(m + k - 1, k - 1)
        one, two = rng.sample(THINGS, 2)
        texts = (
            WORDINGS.one(
                "equal things 10",
                n=n,
                one=one,
                m=m,
                two=two,
                k=k,
                there_is="Every child gets at least one of the " + one
                if least
                else "There is no rule about who gets how many",
                two_value="; for the " + two + " there is no rule" if least else "",
            ),
            WORDINGS.one(
                "equal things 11",
                n=n,
                one=one,
                m=m,
                two=two,
                k=k,
                any_box="each box must contain at least one of the " + one
                if least
                else "any box may also stay empty",
            ),
        )
        values = {"ask": "two kinds", "n": n, "m": m, "k": k, "least": least}
        return Problem(rng.choice(texts), str(answer), values)
    k = rng.choice((3, 4))
    letters = letters[:k] if len(letters) >= k else ("x", "y", "z", "w")[:k]
    ask = rng.choice(("upper", "order", "exactly empty"))
    if ask == "upper":
        low = rng.choice((0, 1))
        tops = [rng.randint(3, 7) for _ in range(k)]
        if rng.random() < 0.5:
            tops = [tops[0]] * k
        n = rng.randint(sum(tops) // 2 - 1, sum(tops) // 2 + 3)
        answer = sum(sum(t) == n for t in product(*(range(low, top + 1) for top in tops)))
        if len(set(tops)) == 1:
            texts = (
                WORDINGS.one(
                    "equal things 12",
                    n=n,
                    things=things,
                    k=k,
                    least_one="least one and at" if low else "",
                    tops=tops,
                ).replace("  ", " "),
                WORDINGS.one(
                    "equal things 13",
                    quadruples="quadruples" if k == 4 else "triples",
                    low=low,
                    tops=tops,
                    n=n,
                ),
                WORDINGS.one(
                    "equal things 14",
                    k=k,
                    tops=tops,
                    things=things,
                    who=who,
                    n=n,
                    none_of="none of which may stay empty"
                    if low
                    else "some of which may stay empty",
                ),
            )
        else:
            bounds = ", ".join(
                f"{low} \\le {x} \\le {top}" for x, top in zip(letters, tops, strict=True)
            )
            texts = (
                WORDINGS.one(
                    "equal things 5", letters_joined=" + ".join(letters), n=n, bounds=bounds
                ),
                WORDINGS.one(
                    "equal things 15",
                    tops=listed(
                        [
                            f"{t} {c}"
                            for t, c in zip(tops, ("red", "blue", "green", "white"), strict=False)
                        ]
                    ),
                    things=things,
                    n=n,
                    at_least=", at least one of each color" if low else "",
                ),
            )
        if answer < 2:
            return _equal_things(rng, level)
        values = {"ask": ask, "n": n, "tops": tops, "low": low}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "order":
        n = rng.randint(10, 30)
        answer = sum(a < b < n - a - b for a in range(1, n) for b in range(1, n - a))
        strict = rng.random() < 0.5
        if not strict:
            answer = sum(a <= b <= n - a - b for a in range(1, n) for b in range(1, n - a))
        triangle = rng.random() < 0.3
        if triangle:
            answer = sum(a <= b <= n - a - b < a + b for a in range(1, n) for b in range(1, n - a))
            texts = WORDINGS.all("equal things, order, triangle", n=n, who=who)
            return Problem(rng.choice(texts), str(answer), {"ask": "triangles", "n": n})
        sign = "<" if strict else "\\le"
        texts = WORDINGS.all(
            "equal things 20",
            sign=sign,
            n=n,
            things=things,
            of_three=" of three different sizes" if strict else "",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "strict": strict})
    k = rng.randint(4, 6)
    j = rng.randint(1, k - 2)
    answer = comb(k, j) * comb(n - 1, k - j - 1)
    texts = (
        (
            f"{n} identical balls are put into {k} numbered boxes so that exactly {j} "
            f"{'box stays' if j == 1 else 'boxes stay'} empty. In how many ways can this be done?"
        ),
        (
            f"{who} shares {n} identical {things} among {k} friends, and exactly {j} of the friends "
            f"{'gets' if j == 1 else 'get'} nothing. Count the possible distributions."
        ),
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "j": j})


def _onto(n: int, k: int) -> int:
    return sum((-1) ** i * comb(k, i) * (k - i) ** n for i in range(k + 1))


def _different_things(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    n, k = redrawn(
        lambda: (rng.randint(4, 9), rng.randint(2, 6)),
        lambda p: p[1] < p[0] and p[1] ** p[0] < 80_000,
    )
    if level == 1:
        if rng.random() < 0.5:
            texts = WORDINGS.all("different things, level 1", n=n, k=k)
            return Problem(rng.choice(texts), str(k**n), {"ask": "any", "n": n, "k": k})
        sizes = [rng.randint(1, 4) for _ in range(rng.choice((2, 3)))]
        n = sum(sizes)
        answer = factorial(n)
        for size in sizes:
            answer //= factorial(size)
        people = rng.sample(PEOPLE, len(sizes))
        shares = listed([f"{p} {s}" for p, s in zip(people, sizes, strict=True)])
        texts = WORDINGS.all(
            "different things, level 1, sizes", n=n, shares=shares, len_sizes=len(sizes)
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "sizes", "sizes": sizes})
    if level == 2:
        ask = rng.choice(("onto", "boxes", "one empty"))
        if ask == "onto":
            answer = _onto(n, k)
            texts = WORDINGS.all("different things, level 2, onto", n=n, k=k, who=who)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "boxes":
            answer = _onto(n, k) // factorial(k)
            texts = WORDINGS.all("different things, level 2, boxes", n=n, k=k)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        k = rng.randint(3, 5)
        answer = k * _onto(n, k - 1)
        texts = WORDINGS.all("different things, level 2", n=n, k=k)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
    ask = rng.choice(("capacity", "apart", "first at least"))
    if ask == "capacity":
        n, k, top = redrawn(
            lambda: (rng.randint(4, 9), rng.randint(2, 5), rng.randint(2, 4)),
            lambda t: t[2] + 1 < t[0] < t[1] * t[2] and t[1] ** t[0] < 80_000,
        )
        answer = sum(all(t.count(j) <= top for j in range(k)) for t in product(range(k), repeat=n))
        texts = WORDINGS.all("different things, capacity", n=n, k=k, top=top)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "top": top})
    if ask == "apart":
        n, k = redrawn(
            lambda: (rng.randint(4, 9), rng.randint(2, 5)),
            lambda p: p[1] < p[0] and p[1] ** p[0] < 80_000,
        )
        answer = _onto(n, k) - _onto(n - 1, k)
        x, y = rng.sample(PEOPLE, 2)
        named = rng.random() < 0.5
        if not named:
            answer //= factorial(k)
        label = "different" if named else "unnamed"
        texts = (
            WORDINGS.one(
                "different things 2",
                n=n,
                x=x,
                y=y,
                k=k,
                label=label,
                it_matters="It matters which group is which."
                if named
                else "The order of the groups is irrelevant.",
            ),
            WORDINGS.one(
                "different things 3",
                x=x,
                y=y,
                n_minus_2=n - 2,
                k=k,
                different_boats="different boats" if named else "boats that need not be told apart",
            ),
        )
        values = {"ask": ask, "n": n, "k": k, "named": named}
        return Problem(rng.choice(texts), str(answer), values)
    low = rng.randint(2, 4)
    n, k = redrawn(
        lambda: (rng.randint(low + 2, 9), rng.randint(2, 4)),
        lambda p: p[0] >= low + p[1] - 1 and p[1] ** p[0] < 80_000,
    )
    answer = sum(
        t.count(0) >= low and all(j in t for j in range(1, k)) for t in product(range(k), repeat=n)
    )
    if answer < 2:
        return _different_things(rng, level)
    x = rng.choice(PEOPLE)
    texts = WORDINGS.all("different things", n=n, x=x, k_minus_one=k - 1, low=low, k=k)
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "low": low})


FAMILIES = (
    math_family("counting_equal_things", _equal_things, "equal things shared out, with bounds"),
    math_family("counting_different_things", _different_things, "different things in boxes"),
)
