"""Code problems on games over a list and on intervals.

Leaves out: windows, order and runs (the other ``lists_`` modules).
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_A = (("a", "ints"),)


_END_GAME_GOLD = {
    1: """
    def solve(a):
        p = [$worth for v in a]
        score = [0, 0]
        turn = $turn
        i, j = 0, len(p) - 1
        while i <= j:
            if p[i] $op p[j]:
                score[turn] += p[i]
                i += 1
            else:
                score[turn] += p[j]
                j -= 1
            turn = 1 - turn
        return score
    """,
    2: """
    def solve(a):
        p = [$worth for v in a]
        best = [0] * (len(p) + 1)
        for size in range(1, len(p) + 1):
            for i in range(len(p) - size + 1):
                j = i + size - 1
                best[i] = max(p[i] - best[i + 1], p[j] - best[i])
        return ${first}best[0]
    """,
    3: """
    from functools import cache

    def solve(a):
        p = [$worth for v in a]

        @cache
        def best(i, j):
            if i == j:
                return 0
            options = [p[j - 1] - best(i, j - 1)]
            for k in range(1, min($most, j - i) + 1):
                options.append(sum(p[i:i + k]) - best(i + k, j))
            return max(options)

        return ${first}best(0, len(p))
    """,
}


_MODULI = tuple(m for m in range(13, 180) if m % 2 and m % 3 and m % 5 and m % 7 and m % 11)
"""Coprime to every factor drawn."""


def _end_game(rng: Random, level: int) -> Problem:
    m, c0 = rng.choice(_MODULI), rng.randint(1, 12)
    worth = rng.choice((f"(v * {c0}) % {m}", f"abs(v - {m}) + {c0}", f"v + {c0} * (v % {m})"))
    text = {"(": "(v * C) modulo M", "a": "|v - M| + C", "v": "v + C * (v modulo M)"}[worth[0]]
    text = text.replace("C", str(c0)).replace("M", str(m))
    tie, most, second = rng.choice(("left", "right")), rng.randint(2, 3), rng.random() < 0.5
    starter = "Bo" if second else "Ann"
    start = (
        "`a` is a list of at most 10 non-negative integers. Ann and Bo take elements in "
        "turn until none is left; "
        f"{starter} moves first. Taking an element v earns {text} points. "
    )
    what = {
        1: "A move takes the first or the last element, whichever earns more points now (if "
        f"both earn the same: the {tie} "
        "one). Give the list of Ann's points and Bo's points.",
        2: "A move takes the first or the last element. Both play so that their own points "
        "minus the other's are as "
        "large as possible. Give Ann's points minus Bo's points.",
        3: f"A move takes 1 to {most} elements from the front of the list (each earns its "
        "points), or the single last one. "
        "Both play so that their own points minus the other's are as large as possible. "
        "Give Ann's points "
        "minus Bo's points.",
    }[level]
    first = "-" if second else ""
    gold = _END_GAME_GOLD[level]

    def value(v: int) -> int:
        if worth[0] == "(":
            return v * c0 - v * c0 // m * m
        return max(v - m, m - v) + c0 if worth[0] == "a" else v * (1 + c0) - c0 * m * (v // m)

    def brute(a: list[int]) -> Any:
        points = [value(v) for v in a]
        if level == 1:
            return _greedy(points, tie == "left", second)
        return (-1 if second else 1) * _best(points, most if level == 3 else 1)

    key: dict[str, Any] = {"level": level, "c": c0, "m": m, "worth": worth[0], "second": second}
    key |= {"tie": tie} if level == 1 else {"most": most} if level == 3 else {}
    text = source(
        gold,
        worth=worth,
        op=">=" if tie == "left" else ">",
        turn=int(second),
        first=first,
        most=most,
    )
    return Problem(
        start + what,
        _A,
        "ints" if level == 1 else "int",
        text,
        brute,
        lambda r: (integers(r, 4, 10 if level == 1 else 8, 0, 50),),
        key,
        (([6],),),
    )


def _greedy(points: list[int], left: bool, second: bool) -> list[int]:
    """Play by consuming a copy; the move's index decides who gets the points."""
    rest, moves = points[:], []
    while rest:
        ends = (rest[0], rest[-1])
        front = ends[0] == max(ends) if left else ends[1] != max(ends)
        moves.append(rest.pop(0 if front else -1))
    shares = [sum(moves[::2]), sum(moves[1::2])]
    return shares[::-1] if second else shares


def _best(points: list[int], most: int) -> int:
    """Return the mover's lead under best play, by trying every line of play."""
    if not points:
        return 0
    lines = [points[-1] - _best(points[:-1], most)]
    for k in range(1, min(most, len(points)) + 1):
        lines.append(sum(points[:k]) - _best(points[k:], most))
    return max(lines)


_INTERVALS_GOLD = {
    1: """
    def solve(p):
        out = []
        for x, y in sorted((x - $pad, y + $pad) for x, y in p if not $cond):
            if out and x - out[-1][1] <= $gap:
                out[-1][1] = max(out[-1][1], y)
            else:
                out.append([x, y])
        return [y - x for x, y in out]
    """,
    2: """
    def solve(p):
        events = []
        for x, y in p:
            if not $cond:
                events += [(x - $pad, 1), (y + $pad, -1)]
        depth = last = 0
        total = $w * (len(events) // 2)
        for at, change in sorted(events):
            if depth >= $k:
                total += at - last
            depth += change
            last = at
        return total
    """,
    3: """
    from bisect import bisect_right

    def solve(p):
        kept = sorted((y + $pad, x - $pad) for x, y in p if not $cond)
        ends = [y for y, x in kept]
        best = [0]
        for y, x in kept:
            j = bisect_right(ends, x - $gap, 0, len(best) - 1)
            best.append(max(best[-1], best[j] + y - x + $w))
        return best[-1]
    """,
}


def _intervals(rng: Random, level: int) -> Problem:
    gap, k, pad = rng.randint(0, 6), rng.randint(2, 3), rng.randint(0, 4)
    c, w = condition(rng, 1, 20), rng.randint(1, 9)
    start = (
        "`p` is a list of at most 12 pairs [x, y] of integers, 0 <= x < y <= 80; a pair is "
        "the interval from x to y, of the length y - x."
    )
    only = f" Leave out the intervals whose length is {c.text}."
    grow = f" Each of the others is first lengthened by {pad} at both ends." if pad else ""
    what = {
        1: " Two intervals are joined into one (from the smaller start to the larger end) "
        "as long as there are two with at "
        f"most {gap} between the end of one and the start of the other, overlapping ones "
        "too. Give the lengths of the intervals "
        "that remain, from left to right.",
        2: " A point t + 1/2 (t an integer) is covered by an interval if it lies inside it. "
        f"Give the number of such points that are covered by at least {k} of the "
        f"intervals, plus {w} times the number of intervals that were not left out.",
        3: " Choose some of the intervals so that between the end of each and the start of "
        f"the next there is at least {gap} (they may not overlap). An "
        f"interval earns its length (as lengthened, where it was) plus {w}. Give the "
        "largest total that can be earned (0 for no intervals).",
    }[level]
    gold = _INTERVALS_GOLD[level]

    def brute(p: list[list[int]]) -> Any:
        kept = [(x - pad, y + pad) for x, y in p if not c.holds(y - x)]
        if level == 1:
            return _joined(kept, gap)
        if level == 2:
            covered = sum(sum(x <= t < y for x, y in kept) >= k for t in range(-9, 99))
            return covered + w * len(kept)
        return _most(kept, gap, w)

    def draw(r: Random) -> tuple[list[list[int]]]:
        starts = [r.randint(0, 55) for _ in range(r.randint(4, 12 if level < 3 else 9))]
        return ([[x, x + r.randint(1, 25)] for x in starts],)

    key: dict[str, Any] = {"level": level, "pad": pad, "condition": c.key}
    key["rule"] = (gap, (k, w), (gap, w))[level - 1]
    text = source(gold, pad=pad, gap=gap, k=k, w=w, cond=f"({c.on('(y - x)')})")
    return Problem(
        start + only + grow + what,
        (("p", "pairs"),),
        "ints" if level == 1 else "int",
        text,
        brute,
        draw,
        key,
        (([],),),
    )


def _joined(kept: list[tuple[int, int]], gap: int) -> list[int]:
    """Join any two near intervals until no two are near."""
    left = [*kept]
    while True:
        near = [
            (i, j)
            for i in range(len(left))
            for j in range(i)
            if left[i][0] - left[j][1] <= gap and left[j][0] - left[i][1] <= gap
        ]
        if not near:
            return [y - x for x, y in sorted(left)]
        i, j = near[0]
        one = (min(left[i][0], left[j][0]), max(left[i][1], left[j][1]))
        left = [v for n, v in enumerate(left) if n not in (i, j)] + [one]


def _most(kept: list[tuple[int, int]], gap: int, w: int) -> int:
    """Return the best total by taking or leaving each interval."""
    if not kept:
        return 0
    (x, y), rest = kept[0], kept[1:]
    free = [(u, v) for u, v in rest if u - y >= gap or x - v >= gap]
    return max(_most(rest, gap, w), y - x + w + _most(free, gap, w))


FAMILIES = (
    code_family("end_games", _end_game),
    code_family("interval_sets", _intervals),
)
