"""Code problems on records of a log.

Leaves out: packed words (``parsing.texts``), programs (``parsing.machines``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_RECORDS_GOLD = {
    1: """
    def solve(log):
        total = 0
        for record in log:
            name, verb, amount = record.split("$sep")
            v = int(amount)
            if verb == "$v0" and $cond:
                total += v
        return total * $f + len(log)
    """,
    2: """
    def solve(log):
        totals = {}
        for record in log:
            name, verb, amount = record.split("$sep")
            v = int(amount)
            if not $cond:
                change = {"$v0": v, "$v1": -v, "$v2": $f}[verb]
                totals[name] = totals.get(name, 0) + change
        items = sorted(totals.items(), key=lambda item: $rank)
        return [f"{name}={total}" for name, total in items]
    """,
    3: """
    def solve(log):
        cases = {}
        out = []
        for record in log:
            name, verb, amount = record.split("$sep")
            v = int(amount)
            if $cond:
                continue
            if verb == "$v0":
                cases[name] = cases.get(name, 0) + v
            elif name in cases and verb == "$v1":
                cases[name] += 2 * v
            elif name in cases:
                out.append(f"{name}={cases.pop(name)}")
        return out + [f"{name}={total * $f}" for name, total in cases.items()]
    """,
}


@dataclass(frozen=True, slots=True)
class _Log:
    """What is drawn for one problem on a log."""

    level: int
    sep: str
    cond: Condition
    factor: int
    verbs: list[str]
    order: str


def _draw_log(rng: Random, level: int) -> _Log:
    sep = rng.choice(":|;/")
    c, f = condition(rng, 1, 60), rng.randint(2, 9)
    verbs = rng.sample(("buy", "sell", "load", "send", "take", "give", "hire", "lend"), 3)
    order = rng.choice(("amount", "name"))
    return _Log(level, sep, c, f, verbs, order)


def _log_statement(p: _Log) -> str:
    head = (
        f"`log` is a list of at most 16 records NAME{p.sep}VERB{p.sep}AMOUNT in order of time: a "
        f"name of small letters, one of the verbs {', '.join(p.verbs)}, and an integer from 1 "
        "to 99. "
    )
    ways = {
        "amount": "by decreasing total, names with equal totals alphabetically",
        "name": "alphabetically by name",
    }[p.order]
    what = {
        1: f"Take the records with the verb {p.verbs[0]} and an amount that is {p.cond.text}. Give "
        f"the total of their amounts, times {p.factor}, plus the number of all records.",
        2: f"The total of a name is the sum of its amounts with {p.verbs[0]}, minus those with "
        f"{p.verbs[1]}, plus {p.factor} for each record with {p.verbs[2]} whatever its amount; "
        f"records with an amount that is {p.cond.text} are ignored. Give a word NAME=TOTAL for "
        f"each name with a record that is not ignored, {ways}.",
        3: f"A {p.verbs[0]} opens a case of that name if it has none open (else it adds its "
        f"amount to the open case); {p.verbs[1]} adds twice its amount to the open case of "
        f"that name; {p.verbs[2]} closes the open case of that name. Opening counts the "
        f"amount once, closing counts nothing. {p.verbs[1]} and {p.verbs[2]} without an open "
        f"case, and every record whose amount is {p.cond.text}, do nothing. "
        "Give a word NAME=TOTAL for each closed case, in the order of closing, and after "
        "them, for each case still open, in the order of opening, NAME=TOTAL with the "
        f"total multiplied by {p.factor}.",
    }[p.level]
    return head + what


def _log_brute(p: _Log, log: list[str]) -> Any:
    rows = [re.split(re.escape(p.sep), line) for line in log]
    if p.level == 1:
        return len(rows) + sum(
            p.factor * int(n) for _, verb, n in rows if verb == p.verbs[0] and p.cond.holds(int(n))
        )
    kept = [(name, verb, int(n)) for name, verb, n in rows if not p.cond.holds(int(n))]
    if p.level == 3:
        return _cases(kept, p.verbs, p.factor)
    v0, v1, v2 = p.verbs
    names = sorted({name for name, _, _ in kept})
    sums = []
    for name in names:
        own = {verb: [n for who, did, n in kept if (who, did) == (name, verb)] for verb in p.verbs}
        sums.append((sum(own[v0]) - sum(own[v1]) + p.factor * len(own[v2]), name))
    if p.order == "amount":
        sums = [x for total in sorted({t for t, _ in sums})[::-1] for x in sums if x[0] == total]
    return [f"{name}={total}" for total, name in sums]


def _log_draw(p: _Log, r: Random) -> tuple[list[str]]:
    people = r.sample(("ann", "bob", "cy", "dee", "eve", "flo"), r.randint(2, 4))
    rows = [
        (r.choice(people), r.choice(p.verbs), r.randint(1, 60)) for _ in range(r.randint(6, 16))
    ]
    return ([f"{name}{p.sep}{verb}{p.sep}{n}" for name, verb, n in rows],)


def _records(rng: Random, level: int) -> Problem:
    p = _draw_log(rng, level)
    key: dict[str, Any] = {
        "level": p.level,
        "verbs": p.verbs,
        "condition": p.cond.key,
        "f": p.factor,
    }
    key |= {"order": p.order} if p.level == 2 else {}
    rank = "(-item[1], item[0])" if p.order == "amount" else "item[0]"
    text = source(
        _RECORDS_GOLD[p.level],
        sep=p.sep,
        v0=p.verbs[0],
        v1=p.verbs[1],
        v2=p.verbs[2],
        cond=p.cond.on("v"),
        f=p.factor,
        rank=rank,
    )
    return Problem(
        _log_statement(p),
        (("log", "strs"),),
        "int" if p.level == 1 else "strs",
        text,
        partial(_log_brute, p),
        partial(_log_draw, p),
        key,
    )


def _cases(kept: list[tuple[str, str, int]], verbs: list[str], f: int) -> list[str]:
    """Follow each name by itself; then put the cases in order by the times noted."""
    closed: list[tuple[int, str]] = []
    left: list[tuple[int, str]] = []
    for who in sorted({name for name, _, _ in kept}):
        since, total = -1, 0
        for i, (name, verb, n) in enumerate(kept):
            if name != who or (since < 0 and verb != verbs[0]):
                continue
            if verb == verbs[2]:
                closed.append((i, f"{who}={total}"))
                since, total = -1, 0
                continue
            since, total = (i if since < 0 else since), total + n * (1 + (verb == verbs[1]))
        if since >= 0:
            left.append((since, f"{who}={total * f}"))
    return [text for _, text in sorted(closed)] + [text for _, text in sorted(left)]


FAMILIES = (code_family("log_records", "filtered and added up", _records),)
