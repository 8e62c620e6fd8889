"""Code problems on an elevator that serves calls.

Leaves out: robots (``simulation.robots``), circles (``simulation.circles``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_ELEVATORS_GOLD = {
    1: """
    def solve(a):
        now, at = 0, $home
        out = []
        for v in a:
            if not $cond:
                now += abs(v - at) + $stop
                at = v
                out.append(now)
        return out
    """,
    2: """
    def solve(a):
        floors = sorted(set(a))
        above = [v for v in floors if $first]
        below = [v for v in floors if not $first]
        now, at = 0, $home
        out = []
        for v in $order:
            now += abs(v - at) + ($stop * $f if $cond else $stop)
            at = v
            out.append(now)
        return out
    """,
    3: """
    def solve(a):
        calls = {}
        for v in a:
            calls[v] = calls.get(v, 0) + 1
        now, at = 0, $home
        out = []
        while calls:
            v = min(calls, key=lambda v: (bool($cond), abs(v - at), $tie))
            served = min(calls[v], $k)
            now += abs(v - at) + $stop + $f * served
            at = v
            calls[v] -= served
            if calls[v] == 0:
                del calls[v]
            out.append(v)
        return out + [now]
    """,
}


@dataclass(frozen=True, slots=True)
class _Lift:
    """What is drawn for one problem on an elevator."""

    level: int
    home: int
    stop: int
    top: int
    up: bool
    room: int
    factor: int
    cond: Condition
    tie: str


def _draw_lift(rng: Random, level: int) -> _Lift:
    home, stop, top = rng.randint(0, 20), rng.randint(1, 9), 30
    up, k, f = rng.random() < 0.5, rng.randint(2, 4), rng.randint(2, 6)
    c = condition(rng, 0, top)
    tie = rng.choice(("lower", "higher"))
    return _Lift(level, home, stop, top, up, k, f, c, tie)


def _lift_statement(p: _Lift) -> str:
    head = (
        f"An elevator starts at floor {p.home}; moving by one floor takes 1 second, each stop "
        f"{p.stop} seconds. `a` is the list of at most 12 floors, from 0 to {p.top}, for which it "
        "is called, all at the start. "
    )
    what = {
        1: "It serves the calls in the order of the list; a call for the floor where it "
        f"stands also takes a stop. Calls for floors that are {p.cond.text} are ignored. Give "
        "the list of the times, in seconds from the start, at which the stops end.",
        2: "It serves all floors that are called, each with one stop: first those at or "
        f"{'above' if p.up else 'below'} the start, in the order of "
        f"{'increasing' if p.up else 'decreasing'} floor, then the others, in the order of "
        f"{'decreasing' if p.up else 'increasing'} floor. A stop at a floor that is "
        f"{p.cond.text} takes {p.factor} times as long. Give the list of the times, in seconds "
        "from "
        "the start, at which the stops end.",
        3: "Again and again it goes to the nearest floor that still has a call (of two "
        f"equally near ones to the {p.tie} one) and serves there at most {p.room} calls with one "
        f"stop, which takes {p.factor} seconds more for each call served; calls that are left "
        f"stay for another stop. A floor that is {p.cond.text} is served only when no other "
        "floor has a call. "
        "Give a list of the floors of the stops, in order, followed by the time in "
        "seconds at which the last stop ends (0 without stops).",
    }[p.level]
    return head + what


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
    p = _draw_lift(rng, level)
    key: dict[str, Any] = {
        "level": p.level,
        "home": p.home,
        "stop": p.stop,
        "condition": p.cond.key,
    }
    key |= ({}, {"up": p.up, "f": p.factor}, {"k": p.room, "f": p.factor, "tie": p.tie})[
        p.level - 1
    ]
    text = source(
        _ELEVATORS_GOLD[p.level],
        home=p.home,
        stop=p.stop,
        f=p.factor,
        k=p.room,
        cond=p.cond.on("v"),
        tie="v" if p.tie == "lower" else "-v",
        first=f"v {'>' if p.up else '<'}= {p.home}",
        order="above + below[::-1]" if p.up else "above[::-1] + below",
    )
    return Problem(
        _lift_statement(p),
        (("a", "ints"),),
        "ints",
        text,
        partial(_lift_brute, p),
        partial(_lift_draw, p),
        key,
        (([],),),
    )


def _nearest(
    a: list[int], rule: tuple[int, int, int, int], late: list[bool], tie: str
) -> list[int]:
    """Look outwards floor by floor from where the elevator stands."""
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
