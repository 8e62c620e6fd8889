"""Problems on accounts with credit, fees and savings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Account:
    level: int
    opening: int
    fee: int
    credit: int
    cond: Condition
    every: int
    cap: int
    part: int


def _account_state(p: _Account, a: list[int]) -> tuple[int, int, int]:
    if not a:
        return p.opening, 0, 0
    balance, saved, refused = _account_state(p, a[:-1])
    v, due = a[-1], len(a) % p.every == 0
    room = balance + p.credit + (saved if p.level == 3 else 0)
    if v >= 0:
        balance += v - p.fee * (p.level == 1 and p.cond.holds(v))
    elif -v <= room:
        balance += v
        if p.level == 3 and balance < -p.credit:
            balance, saved = -p.credit, saved + balance + p.credit
    else:
        refused, balance = refused + 1, balance - p.fee * (p.level > 1)
    if p.level == 2 and due:
        balance += max(0, balance) // p.part
    if p.level == 3:
        saved, balance = saved + max(0, balance - p.cap), min(p.cap, balance)
        saved += saved // p.part if due else 0
    return balance, saved, refused


def _account_brute(p: _Account, a: list[int]) -> Any:
    if p.level == 1:
        return [_account_state(p, a[: i + 1])[0] for i in range(len(a))]
    state = _account_state(p, a)
    return state[0] if p.level == 2 else [*state]


def _accounts(rng: Random, level: int) -> Problem:
    opening, fee, credit = rng.randint(0, 90), rng.randint(1, 9), rng.randint(0, 60)
    c, every, cap = condition(rng, -40, 60), rng.randint(2, 5), rng.randint(60, 160)
    part = rng.randint(3, 12)
    p = _Account(level, opening, fee, credit, c, every, cap, part)
    key: dict[str, Any] = {"level": p.level, "opening": p.opening, "fee": p.fee, "credit": p.credit}
    key |= (
        {"condition": p.cond.key},
        {"every": p.every, "part": p.part},
        {"every": p.every, "part": p.part, "cap": p.cap},
    )[p.level - 1]
    text = WORDINGS.source(f"accounts solution {p.level}", p, cond=p.cond.on("v"))
    head = WORDINGS.one("account statement head", p=p)
    refuse = WORDINGS.one(
        "account statement refuse",
        minus_credit=-p.credit if p.credit else 0,
        p_word=WORDINGS.one(f"account of {p.level}", p=p),
    )
    task = WORDINGS.one(f"account {p.level}", text=p.cond.text, p=p, every=ordinal(p.every))
    return Problem(
        head + refuse + task,
        f"a: ints -> {'int' if p.level == 2 else 'ints'}",
        text,
        partial(_account_brute, p),
        lambda r: (integers(r, 5, 9 + 2 * p.level, -80, 60),),
        key,
    )


FAMILIES = (code_family("coin_accounts", "limits and fees", _accounts),)
