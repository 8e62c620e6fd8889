"""Problems on log records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Log:
    level: int
    sep: str
    cond: Condition
    factor: int
    verbs: list[str]
    order: str


def _log_statement(p: _Log) -> str:
    head = WORDINGS.one("log statement head", p=p, verbs=", ".join(p.verbs))
    ways = WORDINGS.one(f"log {p.order}")
    task = WORDINGS.one(
        f"log {p.level}",
        verbs_0=p.verbs[0],
        text=p.cond.text,
        p=p,
        verbs_1=p.verbs[1],
        verbs_2=p.verbs[2],
        ways=ways,
    )
    return head + task


def _log_brute(p: _Log, log: list[str]) -> Any:
    rows = [re.split(re.escape(p.sep), line) for line in log]
    if p.level == 1:
        return len(rows) + sum(
            p.factor * int(n) for _, verb, n in rows if verb == p.verbs[0] and p.cond.holds(int(n))
        )
    entries = [(name, verb, int(n)) for name, verb, n in rows if not p.cond.holds(int(n))]
    if p.level == 3:
        return _cases(entries, p.verbs, p.factor)
    v0, v1, v2 = p.verbs
    names = sorted({name for name, _, _ in entries})
    sums = []
    for name in names:
        amounts = {
            verb: [n for who, did, n in entries if (who, did) == (name, verb)] for verb in p.verbs
        }
        sums.append((sum(amounts[v0]) - sum(amounts[v1]) + p.factor * len(amounts[v2]), name))
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
    sep = rng.choice(":|;/")
    c, f = condition(rng, 1, 60), rng.randint(2, 9)
    verbs = rng.sample(("buy", "sell", "load", "send", "take", "give", "hire", "lend"), 3)
    order = rng.choice(("amount", "name"))
    p = _Log(level, sep, c, f, verbs, order)
    key: dict[str, Any] = {
        "level": p.level,
        "verbs": p.verbs,
        "condition": p.cond.key,
        "f": p.factor,
    }
    key |= {"order": p.order} if p.level == 2 else {}
    rank = "(-item[1], item[0])" if p.order == "amount" else "item[0]"
    text = WORDINGS.source(
        f"records solution {p.level}",
        p,
        v0=p.verbs[0],
        v1=p.verbs[1],
        v2=p.verbs[2],
        cond=p.cond.on("v"),
        rank=rank,
    )
    return Problem(
        _log_statement(p),
        f"log: strs -> {'int' if p.level == 1 else 'strs'}",
        text,
        partial(_log_brute, p),
        partial(_log_draw, p),
        key,
    )


def _cases(entries: list[tuple[str, str, int]], verbs: list[str], f: int) -> list[str]:
    closed: list[tuple[int, str]] = []
    left: list[tuple[int, str]] = []
    for who in sorted({name for name, _, _ in entries}):
        since, total = -1, 0
        for i, (name, verb, n) in enumerate(entries):
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
