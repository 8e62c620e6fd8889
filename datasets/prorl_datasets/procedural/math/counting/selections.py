"""Problems on selections without order."""

from __future__ import annotations

from itertools import combinations
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

GROUPS = (
    ("teachers", "parents", "committee"), ("nurses", "doctors", "delegation"),
    ("painters", "sculptors", "jury"), ("juniors", "seniors", "team"),
    ("pianists", "violinists", "band"), ("biologists", "chemists", "crew"),
)  # fmt: skip


def _committees(rng: Random, level: int) -> Problem:
    one, two, body = rng.choice(GROUPS)
    a, b = redrawn(lambda: (rng.randint(4, 9), rng.randint(4, 9)), lambda p: sum(p) < 16)
    size = rng.randint(3, 5)
    x, y = rng.sample(PEOPLE, 2)
    if level == 1:
        size = rng.randint(4, 7)
        k = rng.randint(2, size - 2)
        if rng.random() < 0.6:
            texts = WORDINGS.all(
                "committees, level 1",
                body=body,
                k=k,
                one=one,
                size_minus_k=size - k,
                two=two,
                a=a,
                b=b,
                size=size,
                belongs_or_belong="belongs" if k == 1 else "belong",
                a_plus_b=a + b,
            )
            answer = comb(a, k) * comb(b, size - k)
            values = {"ask": "exactly", "groups": [a, b], "size": size, "k": k}
            return Problem(rng.choice(texts), str(answer), values)
        n = rng.randint(7, 14)
        texts = WORDINGS.all("committees, level 1, offices", n=n, size=size)
        if n < size + 3:
            return _committees(rng, level)
        answer = n * (n - 1) * comb(n - 2, size)
        return Problem(rng.choice(texts), str(answer), {"ask": "offices", "n": n, "size": size})
    if level == 2:
        ask = rng.choice(("at least", "at most", "not both", "only with"))
        if ask in ("at least", "at most"):
            k = rng.randint(1, size - 1)
            sizes = range(k, size + 1) if ask == "at least" else range(k + 1)
            answer = sum(comb(a, i) * comb(b, size - i) for i in sizes)
            texts = WORDINGS.all(
                "committees 9",
                body=body,
                size=size,
                a=a,
                one=one,
                b=b,
                two=two,
                ask=ask,
                k=k,
                goes="goes" if k == 1 else "go",
            )
            values = {"ask": ask, "groups": [a, b], "size": size, "k": k}
            return Problem(rng.choice(texts), str(answer), values)
        n = rng.randint(8, 15)
        if ask == "not both":
            answer = comb(n, size) - comb(n - 2, size - 2)
            rule = f"{x} and {y} cannot both be chosen"
        else:
            answer = comb(n, size) - comb(n - 2, size - 1)
            rule = f"{x} can be chosen only together with {y}"
        texts = (
            WORDINGS.one(
                "committees 5",
                body=body,
                size=size,
                n=n,
                x=x,
                y=y,
                rule=rule,
                though_either=", though either may be chosen without the other"
                if ask == "not both"
                else ", while " + y + " may also be chosen without " + x,
            ),
            WORDINGS.one(
                "committees 6",
                n=n,
                size=size,
                rule=rule,
                value="" if ask == "not both" else "; " + y + " needs nobody",
            ),
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "size": size})
    ask = rng.choice(("three groups", "chair", "majority"))
    if ask == "three groups":
        groups = [rng.randint(2, 5) for _ in range(3)]
        answer = sum(
            comb(groups[0], i) * comb(groups[1], j) * comb(groups[2], size - i - j)
            for i in range(1, size - 1)
            for j in range(1, size - i)
        )
        p, q, r = groups
        texts = WORDINGS.all("committees, three groups", p=p, q=q, r=r, size=size, body=body)
        values = {"ask": ask, "groups": groups, "size": size}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "chair":
        k = rng.randint(1, 2)
        answer = sum(i * comb(a, i) * comb(b, size - i) for i in range(max(k, 1), size + 1))
        texts = WORDINGS.all(
            "committees 10",
            a=a,
            one=one,
            b=b,
            two=two,
            body=body,
            size=size,
            k=k,
            seat="seat" if k == 1 else "seats",
        )
        values = {"ask": ask, "groups": [a, b], "size": size, "k": k}
        return Problem(rng.choice(texts), str(answer), values)
    n = rng.randint(8, 13)
    parts = redrawn(
        lambda: sorted(rng.choices(range(2, 5), k=3)), lambda p: sum(p) <= n and len(set(p)) < 3
    )
    answer, left = 1, n
    for part in parts:
        answer *= comb(left, part)
        left -= part
    for part in set(parts):
        times = parts.count(part)
        answer //= 1 if times == 1 else 2 if times == 2 else 6
    texts = WORDINGS.all("committees", n=n, parts=listed(parts))
    values = {"ask": "groups", "n": n, "parts": parts}
    return Problem(rng.choice(texts), str(answer), values)


def _subsets(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    n = rng.randint(6, 11)
    universe = WORDINGS.draw(rng, "subsets 2", n=n)
    if level == 1:
        ask = rng.choice(("contains even", "with without", "largest", "size contains"))
        if ask == "contains even":
            d = rng.choice((2, 3))
            answer = 2**n - 2 ** (n - n // d)
            name = {2: "even number", 3: "multiple of $3$"}[d]
            texts = WORDINGS.all(
                "subsets, level 1, contains even",
                universe=universe,
                name=name,
                who=who,
                n=n,
                an_or_a="an" if d == 2 else "a",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "d": d})
        if ask == "with without":
            x, y, z = sorted(rng.sample(range(1, n + 1), 3))
            answer = 2 ** (n - 3) * 3
            texts = WORDINGS.all(
                "subsets, level 1, with without", universe=universe, x=x, y=y, z=z, who=who
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "xyz": [x, y, z]})
        if ask == "largest":
            k = rng.randint(2, 4)
            m = rng.randint(k + 2, n + 3)
            n = n + 4
            answer = comb(m - 1, k - 1)
            texts = WORDINGS.all("subsets, level 1, largest", n=n, k=k, m=m, who=who)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "m": m})
        k = rng.randint(3, 5)
        x, y = rng.sample(range(1, n + 1), 2)
        answer = comb(n, k) - comb(n - 2, k)
        texts = WORDINGS.all("subsets, level 1", k=k, universe=universe, x=x, y=y, who=who, n=n)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "xy": [x, y]})
    if level == 2:
        ask = rng.choice(("no two", "k no two", "even sum", "sum divisible"))
        if ask == "no two":
            n = rng.randint(6, 12)
            gap = rng.choice((1, 1, 2))
            ways = [1]
            for i in range(1, n + 1):
                ways.append(ways[i - 1] + (ways[i - 1 - gap] if i > gap else 1))
            name = (
                "no two consecutive integers"
                if gap == 1
                else "no two numbers whose difference is less than $3$"
            )
            texts = WORDINGS.all("subsets, level 2, no two", n=n, name=name, who=who)
            return Problem(rng.choice(texts), str(ways[n]), {"ask": ask, "n": n, "gap": gap})
        if ask == "k no two":
            n, k = rng.randint(8, 14), rng.randint(3, 4)
            answer = comb(n - k + 1, k)
            if rng.random() < 0.4:
                answer = comb(n - k, k) + comb(n - k - 1, k - 1)
                texts = WORDINGS.all("subsets, level 2, k no two", n=n, k=k)
                return Problem(rng.choice(texts), str(answer), {"ask": "circle", "n": n, "k": k})
            texts = WORDINGS.all("subsets, level 2, k no two, 2", k=k, n=n, who=who)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        k = rng.randint(2, 4)
        n = rng.randint(8, 13)
        d = 2 if ask == "even sum" else rng.choice((3, 4, 5))
        r = rng.choice((0, 1)) if d == 2 else rng.randint(0, d - 1)
        answer = sum(sum(s) % d == r for s in combinations(range(1, n + 1), k))
        name = (
            ("even", "odd")[r]
            if d == 2
            else f"a number that leaves remainder ${r}$ when divided by ${d}$"
        )
        if d > 2 and r == 0:
            name = f"a multiple of ${d}$"
        texts = WORDINGS.all("subsets, level 2", k=k, n=n, name=name, who=who)
        return Problem(
            rng.choice(texts), str(answer), {"ask": "sum", "n": n, "k": k, "d": d, "r": r}
        )
    ask = rng.choice(("two sets", "min sum", "spread", "pairs"))
    if ask == "two sets":
        n = rng.randint(4, 9)
        which = rng.choice(("disjoint", "inside", "union", "meet once"))
        answer = {
            "disjoint": 3**n, "inside": 3**n - 2**n, "union": 3**n, "meet once": n * 3 ** (n - 1),
        }[which]  # fmt: skip
        wish = WORDINGS.one(f"subsets {which}", n=n)
        texts = WORDINGS.all("subsets, two sets", n=n, wish=wish, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": which, "n": n})
    if ask == "min sum":
        n, k = rng.randint(6, 12), rng.randint(2, 4)
        low = rng.random() < 0.5
        answer = comb(n + 1, k + 1) if low else comb(n + 1, k + 1) * k
        name = "smallest" if low else "largest"
        texts = WORDINGS.all("subsets, min sum", k=k, n=n, name=name, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": name, "n": n, "k": k})
    if ask == "spread":
        n = rng.randint(7, 12)
        gap = rng.randint(3, n - 3)
        answer = (n - gap) * 2 ** (gap - 1)
        texts = WORDINGS.all("subsets, spread", n=n, gap=gap)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "gap": gap})
    n = rng.randint(4, 8)
    k = rng.randint(2, 4)
    j = rng.choice((0, 1))
    pairs = n
    answer = comb(pairs, k) * 2**k if j == 0 else pairs * comb(pairs - 1, k - 1) * 2 ** (k - 1)
    size = k if j == 0 else k + 1
    texts = WORDINGS.all(
        "subsets",
        pairs=pairs,
        size=size,
        no_or_exactly_one="no" if j == 0 else "exactly one",
        twice_pairs=2 * pairs,
        no_two_or_exactly_one="no two numbers" if j == 0 else "exactly one pair of numbers",
        twice_pairs_plus_one=2 * pairs + 1,
    )
    values = {"ask": "pairs", "pairs": pairs, "size": size, "exactly": j}
    if size > pairs:
        return _subsets(rng, level)
    return Problem(rng.choice(texts), str(answer), values)


FAMILIES = (
    math_family("counting_committees", _committees, "committees with conditions and offices"),
    math_family("counting_subsets", _subsets, "subsets with a condition"),
)
