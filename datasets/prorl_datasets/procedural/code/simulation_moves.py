"""Code problems on things that move: robots and counting in a circle.

Leaves out: elevators (``simulation_lifts``) and systems with rules.
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, letters, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_ROBOTS_GOLD = """
def solve(s):
    x = y = dx = far = 0
    dy = 1
    seen = {(0, 0)}
    for c in s:
        if c == "$left":
            dx, dy = -dy, dx
        elif c == "$right":
            dx, dy = dy, -dx
        elif c == "$back":
            dx, dy = -dx, -dy
        else:
            for _ in range($k):
                $step
    return [x, y, $third]
"""


def _robots(rng: Random, level: int) -> Problem:
    go, left, right, back = rng.sample("FLRBGTWMSD", 4)
    w, h, k, f = rng.randint(4, 9), rng.randint(4, 9), rng.randint(1, 3), rng.randint(2, 30)
    wrap, turn = rng.random() < 0.5, rng.choice(("left", "right"))
    head = (
        "A robot stands at the point (0, 0) and looks north (towards larger y; east is "
        f"towards larger x). `s` is a word of at most 40 commands: {go} moves it {k} "
        f"step{'s' if k > 1 else ''} forward (one point a step), {left} turns it left by 90 "
        f"degrees, {right} turns it right by 90 degrees, {back} turns it around. "
    )
    edge = f"The field has the points with 0 <= x < {w} and 0 <= y < {h}. "
    rule = {
        1: "",
        2: edge
        + (
            "A step over an edge leads to the opposite edge. "
            if wrap
            else f"A step that would leave the field is not made; instead the robot turns {turn} "
            "by 90 degrees, and the other steps of the command are made in its new "
            "direction. "
        ),
        3: edge
        + (
            "A step over an edge leads to the opposite edge. "
            if wrap
            else f"A step that would leave the field is not made; instead the robot turns {turn} "
            "by 90 degrees, and the other steps of the command are made in its new "
            "direction. "
        )
        + "Whenever a step brings it to a point where it has been before (the start "
        f"counts), it turns {'right' if turn == 'left' else 'left'} by 90 degrees at "
        "once. ",
    }[level]
    what = {
        1: f"Give a list of three integers: the last x, the last y, and {f} times the "
        "largest |x| + |y| at any time.",
        2: f"Give a list of three integers: the last x, the last y, and {f} times the number "
        "of different points visited (the start counts).",
        3: f"Give a list of three integers: the last x, the last y, and the sum of x + {f}*y "
        "over the different points visited (the start counts).",
    }[level]
    turned = {"left": "dx, dy = -dy, dx", "right": "dx, dy = dy, -dx"}
    other = turned["right" if turn == "left" else "left"]
    step = {
        True: ["x, y = x + dx, y + dy"],
        False: [f"nx, ny = (x + dx) % {w}, (y + dy) % {h}"]
        if wrap
        else [
            "nx, ny = x + dx, y + dy",
            f"if not (0 <= nx < {w} and 0 <= ny < {h}):",
            f"    {turned[turn]}",
            "    continue",
        ],
    }[level == 1]
    step += [] if level == 1 else ["x, y = nx, ny"]
    step += ["if (x, y) in seen:", f"    {other}"] if level == 3 else []
    step += ["far = max(far, abs(x) + abs(y))", "seen.add((x, y))"]
    gold = _ROBOTS_GOLD
    third = {1: f"{f} * far", 2: f"{f} * len(seen)", 3: f"sum(x + {f} * y for x, y in seen)"}[level]

    def brute(s: str) -> list[int]:
        at, way, track = 0j, 1j, [0j]
        steps = [c for command in s for c in (command * k if command == go else command)]
        for c in steps:
            if c != go:
                way *= {left: 1j, right: -1j, back: -1}[c]
                continue
            new = at + way
            if level > 1 and not (0 <= new.real < w and 0 <= new.imag < h):
                if not wrap:
                    way *= 1j if turn == "left" else -1j
                    continue
                new = complex(new.real % w, new.imag % h)
            at = new
            if level == 3 and at in track:
                way *= -1j if turn == "left" else 1j
            track.append(at)
        points = [(int(p.real), int(p.imag)) for i, p in enumerate(track) if p not in track[:i]]
        last = max(abs(x) + abs(y) for x, y in points) * f
        last = (last, f * len(points), sum(x for x, _ in points) + f * sum(y for _, y in points))[
            level - 1
        ]
        return [int(at.real), int(at.imag), last]

    def draw(r: Random) -> tuple[str]:
        return (letters(r, go * 4 + left + right + back, 6, 20 + 6 * level),)

    key: dict[str, Any] = {"level": level, "k": k, "f": f, "signs": [go, left, right, back]}
    key |= {"field": [w, h], "wrap": wrap} if level > 1 else {}
    key |= {"turn": turn} if level == 3 or (level == 2 and not wrap) else {}
    text = source(
        gold, left=left, right=right, back=back, k=k, third=third, step=("\n" + " " * 16).join(step)
    )
    return Problem(head + rule + what, (("s", "str"),), "ints", text, brute, draw, key)


_CIRCLES_GOLD = {
    1: """
    def solve(a):
        a = list(a)
        out = []
        i = $start - 1
        while a:
            i = (i + $k - 1) % len(a)
            out.append(a.pop(i) + $f * (len(out) + 1))
        return out
    """,
    2: """
    def solve(a):
        a = list(a)
        out = []
        i = $start - 1
        goal = $k
        while len(a) > $left:
            i = (i + goal - 1) % len(a)
            v = a.pop(i)
            out.append(v)
            goal = $k + $f if $cond else $k
        return out + a
    """,
    3: """
    def solve(a):
        a = list(a)
        out = []
        i = $start - 1
        goal = $k
        way = 1
        while a:
            i = (i + way * (goal - 1)) % len(a)
            v = a.pop(i)
            out.append(v)
            goal = 1 + v * $f % $m
            if $cond:
                way = -way
            if way < 0:
                i -= 1
        return out
    """,
}


def _circles(rng: Random, level: int) -> Problem:
    k, f, m = rng.randint(2, 12), rng.randint(1, 9), rng.randint(10, 20)
    c, start, left = condition(rng, 1, 40), rng.randint(1, 4), rng.randint(1, 3)
    head = (
        "`a` is a list of 1 to 16 positive integers that stand in a circle; after the last "
        "element comes the first. "
    )
    count = (
        f"Counting starts at the {('first', 'second', 'third', 'fourth')[start - 1]} element "
        "(going round if there are fewer) with 1. "
    )
    what = {
        1: f"The element at which the count reaches {k} is taken out, and counting starts "
        "again with 1 at the element after it, until the circle is empty. Give the list "
        f"of the elements in the order in which they are taken out, each plus {f} times "
        "its place in this order (1 for the first one taken out).",
        2: f"The element v at which the count reaches {k} is taken out, and counting starts "
        f"again with 1 at the element after it; but if v is {c.text}, the next count goes "
        f"to {k + f} instead of {k} (only the next one). This goes on until at most "
        f"{left} elements are left. Give the elements taken out, in order, followed by "
        "those left, in the order of `a`.",
        3: f"The element v at which the count reaches {k} is taken out; counting starts "
        "again with 1 at the neighbour that is next in the direction of counting, and "
        f"goes to 1 + (v*{f}) modulo {m}. The direction is at first that of `a`; "
        f"if v is {c.text}, it is reversed before the count starts again. This goes on "
        "until the circle is empty. Give the list of the elements in the order in which "
        "they are taken out.",
    }[level]
    gold = _CIRCLES_GOLD[level]

    def brute(a: list[int]) -> list[int]:
        ring = [*range(len(a))]
        for _ in range(start - 1):
            ring = ring[1:] + ring[:1]
        goal, out = k, []
        while len(ring) > (left if level == 2 else 0):
            for _ in range(goal - 1):
                ring = ring[1:] + ring[:1]
            v = a[ring[0]]
            ring = ring[1:]
            out.append(v)
            goal = k + f * c.holds(v) if level == 2 else k if level == 1 else 1 + (v * f) % m
            if level == 3 and c.holds(v):
                ring.reverse()
        if level == 1:
            return [v + f * i for i, v in enumerate(out, 1)]
        return out + [a[i] for i in sorted(ring)]

    key: dict[str, Any] = {"level": level, "k": k, "f": f, "start": start}
    key |= ({}, {"condition": c.key, "left": left}, {"condition": c.key, "m": m})[level - 1]
    text = source(gold, k=k, f=f, m=m, start=start, left=left, cond=c.on("v"))
    return Problem(
        head + count + what,
        (("a", "ints"),),
        "ints",
        text,
        brute,
        lambda r: (integers(r, 4, 9 + 2 * level, 1, 40),),
        key,
        (([3],),),
    )


FAMILIES = (
    code_family("robot_walks", _robots),
    code_family("counting_circles", _circles),
)
