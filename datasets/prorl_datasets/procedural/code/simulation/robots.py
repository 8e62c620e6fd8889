"""Problems on a robot that follows commands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import letters
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Robot:
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


def _robot_statement(p: _Robot) -> str:
    head = WORDINGS.one("robot statement head", p=p, plural_s="s" if p.steps > 1 else "")
    edge = f"The field has the points with 0 <= x < {p.width} and 0 <= y < {p.height}. "
    border = (
        "A step over an edge leads to the opposite edge. " if p.wrap else WORDINGS.one("robot", p=p)
    )
    rule = {
        1: "",
        2: edge + border,
        3: WORDINGS.one(
            "robot 2", edge_plus_border=edge + border, right="right" if p.turn == "left" else "left"
        ),
    }[p.level]
    task = WORDINGS.one(f"robot of {p.level}", p=p)
    return head + rule + task


def _robot_step(p: _Robot) -> list[str]:
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
    go, left, right, back = rng.sample("FLRBGTWMSD", 4)
    w, h, k, f = rng.randint(4, 9), rng.randint(4, 9), rng.randint(1, 3), rng.randint(2, 30)
    wrap, turn = rng.random() < 0.5, rng.choice(("left", "right"))
    p = _Robot(level, go, left, right, back, w, h, k, f, wrap, turn)
    third = WORDINGS.one(f"robots {p.level}", p=p)
    key: dict[str, Any] = {
        "level": p.level,
        "k": p.steps,
        "f": p.factor,
        "signs": [p.go, p.left, p.right, p.back],
    }
    key |= {"field": [p.width, p.height], "wrap": p.wrap} if p.level > 1 else {}
    key |= {"turn": p.turn} if p.level == 3 or (p.level == 2 and not p.wrap) else {}
    text = WORDINGS.source(
        "robots solution", p, third=third, step=("\n" + " " * 16).join(_robot_step(p))
    )
    return Problem(
        _robot_statement(p),
        "s: str -> ints",
        text,
        partial(_robot_brute, p),
        partial(_robot_draw, p),
        key,
    )


FAMILIES = (code_family("robot_walks", "robots that follow commands", _robots),)
