"""Code problems on an elevator that serves calls.

Leaves out: robots and circles (``simulation_moves``).
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, source
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


def _elevators(rng: Random, level: int) -> Problem:
    home, stop, top = rng.randint(0, 20), rng.randint(1, 9), 30
    up, k, f = rng.random() < 0.5, rng.randint(2, 4), rng.randint(2, 6)
    c = condition(rng, 0, top)
    tie = rng.choice(("lower", "higher"))
    head = (
        f"An elevator starts at floor {home}; moving by one floor takes 1 second, each stop "
        f"{stop} seconds. `a` is the list of at most 12 floors, from 0 to {top}, for which it "
        "is called, all at the start. "
    )
    what = {
        1: "It serves the calls in the order of the list; a call for the floor where it "
        f"stands also takes a stop. Calls for floors that are {c.text} are ignored. Give "
        "the list of the times, in seconds from the start, at which the stops end.",
        2: "It serves all floors that are called, each with one stop: first those at or "
        f"{'above' if up else 'below'} the start, in the order of "
        f"{'increasing' if up else 'decreasing'} floor, then the others, in the order of "
        f"{'decreasing' if up else 'increasing'} floor. A stop at a floor that is "
        f"{c.text} takes {f} times as long. Give the list of the times, in seconds from "
        "the start, at which the stops end.",
        3: "Again and again it goes to the nearest floor that still has a call (of two "
        f"equally near ones to the {tie} one) and serves there at most {k} calls with one "
        f"stop, which takes {f} seconds more for each call served; calls that are left "
        f"stay for another stop. A floor that is {c.text} is served only when no other "
        "floor has a call. "
        "Give a list of the floors of the stops, in order, followed by the time in "
        "seconds at which the last stop ends (0 without stops).",
    }[level]
    gold = _ELEVATORS_GOLD[level]

    def brute(a: list[int]) -> list[int]:
        if level == 3:
            return _nearest(a, (home, stop, k, f), [c.holds(v) for v in range(top + 1)], tie)
        if level == 1:
            route = [v for v in a if not c.holds(v)]
        else:
            high, low = (
                [v for v in range(home, top + 1) if v in a],
                [v for v in range(home + 1) if v in a],
            )
            route = (
                high + [v for v in reversed(low) if v != home]
                if up
                else low[::-1] + [v for v in high if v != home]
            )
        places = [home, *route]
        legs = [max(x, y) - min(x, y) for x, y in pairwise(places)]
        waits = [stop * (f if level == 2 and c.holds(v) else 1) for v in route]
        return [sum(legs[: i + 1]) + sum(waits[: i + 1]) for i in range(len(route))]

    def draw(r: Random) -> tuple[list[int]]:
        pool = integers(r, 4, 8, 0, top)
        return ([r.choice(pool) for _ in range(r.randint(3, 12))],)

    key: dict[str, Any] = {"level": level, "home": home, "stop": stop, "condition": c.key}
    key |= ({}, {"up": up, "f": f}, {"k": k, "f": f, "tie": tie})[level - 1]
    text = source(
        gold,
        home=home,
        stop=stop,
        f=f,
        k=k,
        cond=c.on("v"),
        tie="v" if tie == "lower" else "-v",
        first=f"v {'>' if up else '<'}= {home}",
        order="above + below[::-1]" if up else "above[::-1] + below",
    )
    return Problem(head + what, (("a", "ints"),), "ints", text, brute, draw, key, (([],),))


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


FAMILIES = (code_family("elevator_calls", _elevators),)
