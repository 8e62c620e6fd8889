"""Problems on stairs, tilings of strips, and strings with or without a pattern."""

from __future__ import annotations

from itertools import product
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _stairs(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def climbs(n: int, steps: list[int], broken: tuple[int, ...] = ()) -> int:
        ways = [1] + [0] * n
        for place in range(1, n + 1):
            if place not in broken:
                ways[place] = sum(ways[place - s] for s in steps if s <= place)
        return ways[n]

    n = rng.randint(7, 13)
    steps = sorted(
        rng.choice(([1, 2], [1, 3], [1, 2, 3], [2, 3], [1, 4], [1, 2, 4], [1, 3, 4], [2, 3, 4]))
    )
    if level == 1:
        answer = climbs(n, steps)
        shown = listed(steps, "or")
        if answer < 3:
            return _stairs(rng, level)
        texts = WORDINGS.all("stairs, level 1", shown=shown, n=n, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": "plain", "n": n, "steps": steps})
    if level == 2:
        ask = rng.choice(("broken", "colors"))
        if ask == "broken":
            steps = rng.choice(([1, 2], [1, 2, 3], [1, 3], [1, 2, 4]))
            broken = tuple(sorted(rng.sample(range(2, n - 1), rng.choice((1, 2)))))
            answer = climbs(n, steps, broken)
            if answer < 3:
                return _stairs(rng, level)
            shown = listed(steps, "or")
            name = "stair number" if len(broken) == 1 else "stairs number"
            points = listed([f"${b}$" for b in broken])
            texts = WORDINGS.all(
                "stairs 4",
                who=who,
                n=n,
                shown=shown,
                name=name,
                broken=listed(broken),
                is_="is" if len(broken) == 1 else "are",
                plural_s="s" if len(broken) > 1 else "",
                points=points,
            )
            values = {"ask": ask, "n": n, "steps": steps, "broken": list(broken)}
            return Problem(rng.choice(texts), str(answer), values)
        n = rng.randint(4, 9)
        c, d = rng.randint(1, 4), rng.randint(1, 4)
        if c == d == 1:
            c = 2
        ways = [1, c] + [0] * n
        for place in range(2, n + 1):
            ways[place] = c * ways[place - 1] + d * ways[place - 2]
        texts = WORDINGS.all(
            "stairs, level 2",
            c=c,
            designs="design" if c == 1 else "designs",
            d=d,
            designs_text="design" if d == 1 else "designs",
            n=n,
            variants="variant" if c == 1 else "variants",
            variants_text="variant" if d == 1 else "variants",
            colors="color" if c == 1 else "colors",
            colors_text="color" if d == 1 else "colors",
            kinds="kind" if c == 1 else "kinds",
            kinds_text="kind" if d == 1 else "kinds",
        )
        return Problem(rng.choice(texts), str(ways[n]), {"ask": ask, "n": n, "c": c, "d": d})
    ask = rng.choice(("no two long", "two rows", "exactly", "exactly"))
    if ask == "no two long":
        n = rng.randint(8, 15)
        long = rng.choice((2, 3))
        ends = [[1, 0]]  # ends[i]: coverings of i squares that do not / do end in a long tile
        for place in range(1, n + 1):
            short = sum(ends[place - 1])
            ends.append([short, ends[place - long][0] if place >= long else 0])
        texts = WORDINGS.all("stairs, no two long", long=long, n=n, who=who)
        return Problem(rng.choice(texts), str(sum(ends[n])), {"ask": ask, "n": n, "long": long})
    if ask == "two rows":
        n = rng.randint(4, 9)
        squares = rng.random() < 0.5
        ways = [1] + [0] * n
        for place in range(1, n + 1):
            ways[place] = ways[place - 1] + (
                (2 if squares else 1) * ways[place - 2] if place > 1 else 0
            )
        more = " and squares of side $2$" if squares else ""
        texts = WORDINGS.all(
            "stairs, two rows",
            n=n,
            more=more,
            and_slabs=" and slabs of 2 by 2 meters" if squares else "",
        )
        values = {"ask": "square tiles" if squares else "dominoes", "n": n}
        return Problem(rng.choice(texts), str(ways[n]), values)
    n, k = rng.randint(9, 16), rng.randint(5, 8)
    steps = rng.choice(([1, 2, 3], [1, 2], [1, 2, 4], [1, 3]))
    answer = sum(sum(t) == n for t in product(steps, repeat=k))
    if answer < 3:
        return _stairs(rng, level)
    shown = listed(steps, "or")
    texts = WORDINGS.all("stairs", k=k, shown=shown, n=n, who=who)
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "steps": steps})


def _strings(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def runs_up_to(n: int, letters: int, limit: int) -> int:
        ways = [letters] + [0] * (limit - 1)
        for _ in range(n - 1):
            ways = [sum(ways) * (letters - 1), *ways[:-1]]
        return sum(ways)

    if level == 1:
        n, letters = rng.randint(4, 9), rng.randint(3, 5)
        alphabet = "ABCDE"[:letters]
        ask = rng.choice(("no equal neighbors", "at least one", "exactly"))
        if ask == "no equal neighbors":
            answer = letters * (letters - 1) ** (n - 1)
            texts = WORDINGS.all(
                "strings, level 1, no equal neighbors",
                n=n,
                alphabet=", ".join(alphabet),
                who=who,
                letters=letters,
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "letters": letters})
        n = rng.randint(3, 6)
        if ask == "at least one":
            answer = letters**n - (letters - 1) ** n
            texts = WORDINGS.all("strings 4", n=n, alphabet=", ".join(alphabet), letters=letters)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "letters": letters})
        n = rng.randint(5, 10)
        k = rng.randint(2, n - 2)
        answer = comb(n, k) * (letters - 1) ** (n - k)
        texts = WORDINGS.all(
            "strings, level 1", n=n, alphabet=listed(alphabet, "or"), k=k, letters=letters
        )
        values = {"ask": ask, "n": n, "letters": letters, "k": k}
        return Problem(rng.choice(texts), str(answer), values)
    if level == 2:
        ask = rng.choice(("run", "no run", "even"))
        n = rng.randint(6, 14)
        if ask == "no run":
            limit = rng.choice((1, 2, 3))
            ways = [1] + [0] * limit
            for _ in range(n):
                ways = [sum(ways), *ways[:-1]]
            answer = sum(ways)
            word = {1: "two", 2: "three", 3: "four"}[limit]
            texts = WORDINGS.all("strings, level 2, no run", n=n, word=word, who=who)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "limit": limit})
        if ask == "run":
            letters, limit = rng.choice((2, 3)), 2
            n = rng.randint(5, 10)
            answer = runs_up_to(n, letters, limit)
            texts = WORDINGS.all("strings, level 2, run", who=who, n=n, letters=letters)
            return Problem(
                rng.choice(texts),
                str(answer),
                {"ask": "three in a row", "n": n, "letters": letters},
            )
        n, letters = rng.randint(3, 8), rng.choice((3, 4))
        answer = (letters**n + (letters - 2) ** n) // 2
        alphabet = "ABCD"[:letters]
        texts = WORDINGS.all(
            "strings, level 2", n=n, alphabet=", ".join(alphabet), who=who, letters=letters
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "letters": letters})
    ask = rng.choice(("pattern", "blocks", "exact and apart"))
    if ask == "pattern":
        n = rng.randint(6, 11)
        pattern = rng.choice(("01", "11", "010", "101", "110", "100", "011", "001"))
        answer = sum(pattern in "".join(t) for t in product("01", repeat=n))
        texts = WORDINGS.all("strings, pattern", n=n, pattern=pattern)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "pattern": pattern})
    if ask == "blocks":
        n, k = rng.randint(8, 14), rng.randint(2, 4)
        answer = comb(n + 1, 2 * k)
        texts = WORDINGS.all("strings, blocks", n=n, k=k)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
    n, k = rng.randint(8, 13), rng.randint(3, 4)
    gap = rng.choice((1, 2))
    answer = comb(n - (k - 1) * gap, k)
    if answer < 3:
        return _strings(rng, level)
    between = {1: "at least one zero", 2: "at least two zeros"}[gap]
    texts = WORDINGS.all(
        "strings",
        n=n,
        k=k,
        between=between,
        what="is at least one other space" if gap == 1 else "are at least two other spaces",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": "apart", "n": n, "k": k, "gap": gap})


FAMILIES = (
    math_family("counting_stairs", _stairs, "stairs and tilings of strips"),
    math_family("counting_strings", _strings, "strings without or with a pattern"),
)
