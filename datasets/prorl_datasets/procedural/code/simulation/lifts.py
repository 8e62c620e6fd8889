"""Problems on an elevator that serves calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Lift:
    level: int
    home: int
    stop: int
    top: int
    up: bool
    room: int
    factor: int
    cond: Condition
    tie: str


def _lift_brute(p: _Lift, a: list[int]) -> list[int]:
    if p.level == 3:
        return _nearest(
            a,
            (p.home, p.stop, p.room, p.factor),
            [p.cond.holds(v) for v in range(p.top + 1)],
            p.tie,
        )
    if p.level == 1:
        route = [v for v in a if not p.cond.holds(v)]
    else:
        high, low = (
            [v for v in range(p.home, p.top + 1) if v in a],
            [v for v in range(p.home + 1) if v in a],
        )
        route = (
            high + [v for v in reversed(low) if v != p.home]
            if p.up
            else low[::-1] + [v for v in high if v != p.home]
        )
    places = [p.home, *route]
    legs = [max(x, y) - min(x, y) for x, y in pairwise(places)]
    waits = [p.stop * (p.factor if p.level == 2 and p.cond.holds(v) else 1) for v in route]
    return [sum(legs[: i + 1]) + sum(waits[: i + 1]) for i in range(len(route))]


def _lift_draw(p: _Lift, r: Random) -> tuple[list[int]]:
    pool = integers(r, 4, 8, 0, p.top)
    return ([r.choice(pool) for _ in range(r.randint(3, 12))],)


def _elevators(rng: Random, level: int) -> Problem:
    home, stop, top = rng.randint(0, 20), rng.randint(1, 9), 30
    up, k, f = rng.random() < 0.5, rng.randint(2, 4), rng.randint(2, 6)
    c = condition(rng, 0, top)
    tie = rng.choice(("lower", "higher"))
    p = _Lift(level, home, stop, top, up, k, f, c, tie)
    key: dict[str, Any] = {
        "level": p.level,
        "home": p.home,
        "stop": p.stop,
        "condition": p.cond.key,
    }
    key |= ({}, {"up": p.up, "f": p.factor}, {"k": p.room, "f": p.factor, "tie": p.tie})[
        p.level - 1
    ]
    text = WORDINGS.source(
        f"elevators solution {p.level}",
        p,
        cond=p.cond.on("v"),
        tie="v" if p.tie == "lower" else "-v",
        first=f"v {('>' if p.up else '<')}= {p.home}",
        order="above + below[::-1]" if p.up else "above[::-1] + below",
    )
    head = WORDINGS.one("lift statement head", p=p)
    task = WORDINGS.one(
        f"lift {p.level}",
        text=p.cond.text,
        above="above" if p.up else "below",
        increasing="increasing" if p.up else "decreasing",
        decreasing="decreasing" if p.up else "increasing",
        p=p,
    )
    return Problem(
        head + task,
        "a: ints -> ints",
        text,
        partial(_lift_brute, p),
        partial(_lift_draw, p),
        key,
        (([],),),
    )


def _nearest(
    a: list[int], rule: tuple[int, int, int, int], late: list[bool], tie: str
) -> list[int]:
    at, stop, k, f = rule
    calls, out, now = sorted(a), [], 0
    while calls:
        ready = [v for v in calls if not late[v]] or calls
        signs = (-1, 1) if tie == "lower" else (1, -1)
        v = next(at + s * d for d in range(len(late)) for s in signs if at + s * d in ready)
        served = 0
        while v in calls and served < k:
            calls.remove(v)
            served += 1
        now, at = now + max(v - at, at - v) + stop + f * served, v
        out.append(v)
    return [*out, now]


FAMILIES = (code_family("elevator_calls", "lifts that serve calls", _elevators),)
