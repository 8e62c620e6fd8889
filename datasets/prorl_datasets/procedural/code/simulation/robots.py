"""Code problems on a robot that walks by commands.

Leaves out: counting in a circle (``simulation.circles``), elevators (``simulation.lifts``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import (
    letters,
    source,
)
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


@dataclass(frozen=True, slots=True)
class _Robot:
    """What is drawn for one problem on a robot."""

    level: int
    go: str
    left: str
    right: str
    back: str
    width: int
    height: int
    steps: int
    factor: int
    wrap: bool
    turn: str


def _draw_robot(rng: Random, level: int) -> _Robot:
    go, left, right, back = rng.sample("FLRBGTWMSD", 4)
    w, h, k, f = rng.randint(4, 9), rng.randint(4, 9), rng.randint(1, 3), rng.randint(2, 30)
    wrap, turn = rng.random() < 0.5, rng.choice(("left", "right"))
    return _Robot(level, go, left, right, back, w, h, k, f, wrap, turn)


def _robot_statement(p: _Robot) -> str:
    head = (
        "A robot stands at the point (0, 0) and looks north (towards larger y; east is "
        f"towards larger x). `s` is a word of at most 40 commands: {p.go} moves it {p.steps} "
        f"step{'s' if p.steps > 1 else ''} forward (one point a step), {p.left} turns it left by "
        "90 "
        f"degrees, {p.right} turns it right by 90 degrees, {p.back} turns it around. "
    )
    edge = f"The field has the points with 0 <= x < {p.width} and 0 <= y < {p.height}. "
    border = (
        "A step over an edge leads to the opposite edge. "
        if p.wrap
        else f"A step that would leave the field is not made; instead the robot turns {p.turn} "
        "by 90 degrees, and the other steps of the command are made in its new "
        "direction. "
    )
    rule = {
        1: "",
        2: edge + border,
        3: edge
        + border
        + "Whenever a step brings it to a point where it has been before (the start "
        f"counts), it turns {'right' if p.turn == 'left' else 'left'} by 90 degrees at "
        "once. ",
    }[p.level]
    what = {
        1: f"Give a list of three integers: the last x, the last y, and {p.factor} times the "
        "largest |x| + |y| at any time.",
        2: f"Give a list of three integers: the last x, the last y, and {p.factor} times the "
        "number "
        "of different points visited (the start counts).",
        3: "Give a list of three integers: the last x, the last y, and the sum of x + "
        f"{p.factor}*y "
        "over the different points visited (the start counts).",
    }[p.level]
    return head + rule + what


def _robot_step(p: _Robot) -> list[str]:
    """Return the lines of the gold for one step forward."""
    turned = {"left": "dx, dy = -dy, dx", "right": "dx, dy = dy, -dx"}
    other = turned["right" if p.turn == "left" else "left"]
    step = {
        True: ["x, y = x + dx, y + dy"],
        False: [f"nx, ny = (x + dx) % {p.width}, (y + dy) % {p.height}"]
        if p.wrap
        else [
            "nx, ny = x + dx, y + dy",
            f"if not (0 <= nx < {p.width} and 0 <= ny < {p.height}):",
            f"    {turned[p.turn]}",
            "    continue",
        ],
    }[p.level == 1]
    step += [] if p.level == 1 else ["x, y = nx, ny"]
    step += ["if (x, y) in seen:", f"    {other}"] if p.level == 3 else []
    step += ["far = max(far, abs(x) + abs(y))", "seen.add((x, y))"]
    return step


def _robot_brute(p: _Robot, s: str) -> list[int]:
    at, way, track = 0j, 1j, [0j]
    steps = [c for command in s for c in (command * p.steps if command == p.go else command)]
    for c in steps:
        if c != p.go:
            way *= {p.left: 1j, p.right: -1j, p.back: -1}[c]
            continue
        new = at + way
        if p.level > 1 and not (0 <= new.real < p.width and 0 <= new.imag < p.height):
            if not p.wrap:
                way *= 1j if p.turn == "left" else -1j
                continue
            new = complex(new.real % p.width, new.imag % p.height)
        at = new
        if p.level == 3 and at in track:
            way *= -1j if p.turn == "left" else 1j
        track.append(at)
    points = [
        (int(spot.real), int(spot.imag)) for i, spot in enumerate(track) if spot not in track[:i]
    ]
    last = max(abs(x) + abs(y) for x, y in points) * p.factor
    last = (
        last,
        p.factor * len(points),
        sum(x for x, _ in points) + p.factor * sum(y for _, y in points),
    )[p.level - 1]
    return [int(at.real), int(at.imag), last]


def _robot_draw(p: _Robot, r: Random) -> tuple[str]:
    return (letters(r, p.go * 4 + p.left + p.right + p.back, 6, 20 + 6 * p.level),)


def _robots(rng: Random, level: int) -> Problem:
    p = _draw_robot(rng, level)
    third = {
        1: f"{p.factor} * far",
        2: f"{p.factor} * len(seen)",
        3: f"sum(x + {p.factor} * y for x, y in seen)",
    }[p.level]
    key: dict[str, Any] = {
        "level": p.level,
        "k": p.steps,
        "f": p.factor,
        "signs": [p.go, p.left, p.right, p.back],
    }
    key |= {"field": [p.width, p.height], "wrap": p.wrap} if p.level > 1 else {}
    key |= {"turn": p.turn} if p.level == 3 or (p.level == 2 and not p.wrap) else {}
    text = source(
        _ROBOTS_GOLD,
        left=p.left,
        right=p.right,
        back=p.back,
        k=p.steps,
        third=third,
        step=("\n" + " " * 16).join(_robot_step(p)),
    )
    return Problem(
        _robot_statement(p),
        (("s", "str"),),
        "ints",
        text,
        partial(_robot_brute, p),
        partial(_robot_draw, p),
        key,
    )


FAMILIES = (code_family("robot_walks", "robots that follow commands", _robots),)
