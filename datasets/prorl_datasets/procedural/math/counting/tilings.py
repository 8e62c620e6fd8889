"""Stairs and tilings of strips, and strings without or with a pattern.

Leaves out: paths on grids (``paths``).
"""

from __future__ import annotations

from itertools import product
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family


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
        texts = phrasings(
            f"How many sequences of numbers, each of them {shown}, add up to ${n}$?",
            f"Parking along a street with {n} marked spaces, vehicles occupy {shown} spaces "
            "each, and the street is full without gaps. If vehicles of equal size are not "
            "distinguished, in how many patterns can this happen?",
            f"A melody of {n} beats consists of tones that last {shown} beats each. Only the "
            "lengths of the tones, in order, are noted. How many melodies with different "
            "notations are there?",
            f"{who} saws a log of {n} decimeters, from left to right, into pieces of {shown} "
            "decimeters with nothing left over. How many ways of placing the cuts are there?",
            f"{who} climbs a staircase with {n} stairs and takes {shown} stairs at a time. In "
            "how many "
            "different ways can the staircase be climbed?",
            f"A strip of {n} unit squares is covered without gaps or overlaps by tiles of length "
            f"{shown}. "
            "Tiles of the same length look the same. How many coverings are there?",
            f"In how many ways can ${n}$ be written as an ordered sum in which each summand is "
            f"{shown}?",
            f"A frog hops along stones numbered 0 to {n}, starting on stone 0 and ending on "
            f"stone {n}. "
            f"Each hop carries it {shown} stones forward. How many routes does the frog have?",
        )
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
            texts = phrasings(
                f"{who} goes up {n} stairs, {shown} at a time, but {name} {listed(broken)} "
                f"{'is' if len(broken) == 1 else 'are'} broken and must not be stepped on. In "
                "how many "
                "ways is this possible?",
                f"A grasshopper starts at $0$ on a number line and jumps {shown} units to the "
                "right each "
                f"time until it is at ${n}$. It avoids the point{'s' if len(broken) > 1 else ''} "
                f"{points}. How many sequences of jumps are possible?",
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
        texts = phrasings(
            f"Let $a_0 = 1$, $a_1 = {c}$ and, for $k \\ge 2$, let $a_k$ be the number of ways to "
            f"fill a strip of $k$ cells with single-cell stickers in {c} "
            f"{'design' if c == 1 else 'designs'} and two-cell stickers in {d} "
            f"{'design' if d == 1 else 'designs'}. Find $a_{n}$.",
            f"A fence of {n} meters is put together from panels of one meter, available in {c} "
            f"{'variant' if c == 1 else 'variants'}, and panels of two meters, available in {d} "
            f"{'variant' if d == 1 else 'variants'}. In how many ways can it be built from left "
            "to right?",
            f"A board of {n} squares in one row is to be tiled with squares, which come in {c} "
            f"{'color' if c == 1 else 'colors'}, and dominoes, which cover two squares and come "
            f"in {d} "
            f"{'color' if d == 1 else 'colors'}. How many different tilings are there?",
            f"A signal lasts {n} seconds and is built from short tones of one second, of which "
            "there are "
            f"{c} {'kind' if c == 1 else 'kinds'}, and long tones of two seconds, of which there "
            f"are {d} "
            f"{'kind' if d == 1 else 'kinds'}, without pauses. How many signals are possible?",
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
        texts = phrasings(
            f"How many sequences of the numbers $1$ and ${long}$ have the sum ${n}$ and no two "
            f"neighboring terms equal to ${long}$?",
            f"In a row of {n} seats, groups take their places: single guests on one seat and "
            f"parties of {long} on {long} neighboring seats. The row is full, and there is at "
            "least one single guest between any two parties. Only the pattern of singles and "
            "parties counts. How many patterns are there?",
            f"{who} climbs {n} stairs, taking 1 or {long} at a time, but never makes two steps "
            f"of {long} "
            "stairs in a row. In how many ways can the climb be done?",
            f"A path of {n} squares is paved with slabs of length 1 and of length {long}, and "
            "two slabs of "
            f"length {long} are never next to each other. How many different pavings are possible?",
        )
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
        texts = phrasings(
            f"In how many ways can a rectangle of $2 \\times {n}$ unit squares be covered "
            "exactly by "
            f"dominoes of size $1 \\times 2${more}? Dominoes may be turned; rotated or reflected "
            "coverings "
            "count as different.",
            f"A corridor is {n} meters long and 2 meters wide. It is laid with slabs of 1 by 2 "
            "meters"
            f"{' and slabs of 2 by 2 meters' if squares else ''}, which may lie lengthwise or "
            "crosswise. "
            "How many patterns are possible, if turned or mirrored patterns count separately?",
        )
        values = {"ask": "square tiles" if squares else "dominoes", "n": n}
        return Problem(rng.choice(texts), str(ways[n]), values)
    n, k = rng.randint(9, 16), rng.randint(5, 8)
    steps = rng.choice(([1, 2, 3], [1, 2], [1, 2, 4], [1, 3]))
    answer = sum(sum(t) == n for t in product(steps, repeat=k))
    if answer < 3:
        return _stairs(rng, level)
    shown = listed(steps, "or")
    texts = phrasings(
        f"How many sequences of ${k}$ numbers, each equal to {shown}, have the sum ${n}$?",
        f"{who} scored {n} points with {k} throws, each worth {shown} points. How many orders of "
        "scores are possible?",
        f"In how many ways can {who} climb {n} stairs in exactly {k} moves, if each move takes "
        f"{shown} "
        "stairs?",
        f"A strip of length {n} is covered by exactly {k} tiles laid end to end, each of length "
        f"{shown}. How "
        "many sequences of tile lengths are possible?",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "steps": steps})


def _strings(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def runs_up_to(n: int, letters: int, limit: int) -> int:
        """Count strings with no more than ``limit`` equal letters in a row."""
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
            texts = phrasings(
                f"How many strings of {n} letters from the alphabet {', '.join(alphabet)} have "
                "no two "
                "equal letters next to each other?",
                f"{who} threads {n} beads on a straight string, choosing among "
                f"{letters} colors, and never puts two beads of one color next to each other. "
                "How many "
                "color patterns are possible, read from one fixed end?",
                f"A row of {n} houses is painted; {letters} colors are available, and "
                "neighboring houses "
                "get different colors. In how many ways can this be done?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "letters": letters})
        n = rng.randint(3, 6)
        if ask == "at least one":
            answer = letters**n - (letters - 1) ** n
            texts = phrasings(
                f"How many strings of length {n} over the letters {', '.join(alphabet)} contain "
                "the letter "
                "A at least once?",
                f"A lock has {n} wheels, each with the {letters} symbols {', '.join(alphabet)}. "
                "How many "
                "settings show the symbol A on one wheel or more?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "letters": letters})
        n = rng.randint(5, 10)
        k = rng.randint(2, n - 2)
        answer = comb(n, k) * (letters - 1) ** (n - k)
        texts = phrasings(
            f"How many strings of {n} letters, each of them {listed(alphabet, 'or')}, contain "
            f"exactly {k} "
            "letters A?",
            f"In a test with {n} questions, every question has {letters} possible answers, only "
            "one of "
            f"them right. In how many ways can the test be filled in so that exactly {k} answers "
            "are "
            "right?",
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
            texts = phrasings(
                f"Count the subsets of $\\{{1, 2, \\ldots, {n}\\}}$ that do not contain {word} "
                "consecutive integers.",
                f"Each of {n} lamps in a row is on or off, and nowhere are {word} neighboring "
                "lamps all on. How many states are possible?",
                f"How many strings of {n} zeros and ones do not contain {word} consecutive ones?",
                f"A coin is tossed {n} times. In how many of the possible sequences of heads and "
                "tails are "
                f"there never {word} heads in a row?",
                f"{who} plans the next {n} days: each is either a working day or a day off, and "
                "there must "
                f"not be {word} days off in succession. How many plans are possible?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "limit": limit})
        if ask == "run":
            letters, limit = rng.choice((2, 3)), 2
            n = rng.randint(5, 10)
            answer = runs_up_to(n, letters, limit)
            texts = phrasings(
                f"{who} arranges {n} books in a row, each bound in one of {letters} colors, so "
                "that no color appears on three books in succession. Considering only the "
                "colors, how many rows are possible?",
                f"How many strings of length {n} over {letters} letters have no three equal "
                "letters in a "
                "row?",
                f"{n} fence posts in a row are painted, each in one of {letters} colors, such "
                "that no three "
                "consecutive posts have the same color. In how many ways can this be done?",
                f"A light flashes {n} times, each time in one of {letters} colors, but never "
                "three times in "
                "succession in the same color. Count the possible signals.",
            )
            return Problem(
                rng.choice(texts),
                str(answer),
                {"ask": "three in a row", "n": n, "letters": letters},
            )
        n, letters = rng.randint(3, 8), rng.choice((3, 4))
        answer = (letters**n + (letters - 2) ** n) // 2
        alphabet = "ABCD"[:letters]
        texts = phrasings(
            f"How many strings of {n} letters from {', '.join(alphabet)} contain an even number "
            "of letters "
            "A? Zero counts as even.",
            f"{who} rolls a die with {letters} faces marked {', '.join(alphabet)} exactly {n} "
            "times and "
            "writes down the results in order. In how many of the possible records does A occur "
            "an even "
            "number of times (perhaps never)?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "letters": letters})
    ask = rng.choice(("pattern", "blocks", "exact and apart"))
    if ask == "pattern":
        n = rng.randint(6, 11)
        pattern = rng.choice(("01", "11", "010", "101", "110", "100", "011", "001"))
        answer = sum(pattern in "".join(t) for t in product("01", repeat=n))
        texts = phrasings(
            f"How many strings of {n} digits, each $0$ or $1$, contain the block ${pattern}$ "
            "somewhere in "
            "consecutive places?",
            f"Among all sequences of {n} tosses of a coin, with heads written as $1$ and tails "
            "as $0$, how "
            f"many contain ${pattern}$ as consecutive results at least once?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "pattern": pattern})
    if ask == "blocks":
        n, k = rng.randint(8, 14), rng.randint(2, 4)
        answer = comb(n + 1, 2 * k)
        texts = phrasings(
            f"How many strings of {n} zeros and ones have exactly {k} blocks of ones? A block is "
            "a group of "
            "one or more ones in a row that cannot be extended.",
            f"{n} seats of a row are partly taken. Looking along the row one sees exactly {k} "
            "groups of "
            "people, where a group is formed by people on consecutive seats and different "
            "groups are "
            "separated by at least one empty seat. How many sets of taken seats are possible?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
    n, k = rng.randint(8, 13), rng.randint(3, 4)
    gap = rng.choice((1, 2))
    answer = comb(n - (k - 1) * gap, k)
    if answer < 3:
        return _strings(rng, level)
    between = {1: "at least one zero", 2: "at least two zeros"}[gap]
    texts = phrasings(
        f"How many strings of {n} zeros and ones contain exactly {k} ones and have {between} "
        "between any two "
        "of the ones?",
        f"{k} of {n} parking spaces in a row are to be reserved in such a way that between any "
        "two reserved "
        "spaces there "
        f"{'is at least one other space' if gap == 1 else 'are at least two other spaces'}. In "
        "how many ways can this be done?",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": "apart", "n": n, "k": k, "gap": gap})


FAMILIES = (
    math_family("counting_stairs", _stairs, "stairs and tilings of strips"),
    math_family("counting_strings", _strings, "strings without or with a pattern"),
)
