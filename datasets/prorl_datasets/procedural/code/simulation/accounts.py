"""Code problems on accounts with credit, fees and savings.

Leaves out: schedulers (``simulation.schedulers``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wording import ordinal

_ACCOUNTS_GOLD = {
    1: """
    def solve(a):
        balance = $opening
        out = []
        for v in a:
            if v >= 0:
                balance += v - ($fee if $cond else 0)
            elif balance + v >= -$credit:
                balance += v
            out.append(balance)
        return out
    """,
    2: """
    def solve(a):
        balance = $opening
        for i, v in enumerate(a, 1):
            if v >= 0 or balance + v >= -$credit:
                balance += v
            else:
                balance -= $fee
            if i % $every == 0 and balance > 0:
                balance += balance // $part
        return balance
    """,
    3: """
    def solve(a):
        balance, saved, refused = $opening, 0, 0
        for i, v in enumerate(a, 1):
            missing = -$credit - (balance + v) if v < 0 else 0
            if missing > saved:
                refused += 1
                balance -= $fee
            else:
                if missing > 0:
                    saved -= missing
                    balance += missing
                balance += v
            if balance > $cap:
                saved += balance - $cap
                balance = $cap
            if i % $every == 0:
                saved += saved // $part
        return [balance, saved, refused]
    """,
}


@dataclass(frozen=True, slots=True)
class _Account:
    """What is drawn for one problem on an account."""

    level: int
    opening: int
    fee: int
    credit: int
    cond: Condition
    every: int
    cap: int
    part: int


def _draw_account(rng: Random, level: int) -> _Account:
    opening, fee, credit = rng.randint(0, 90), rng.randint(1, 9), rng.randint(0, 60)
    c, every, cap = condition(rng, -40, 60), rng.randint(2, 5), rng.randint(60, 160)
    part = rng.randint(3, 12)
    return _Account(level, opening, fee, credit, c, every, cap, part)


def _account_statement(p: _Account) -> str:
    head = (
        f"An account holds {p.opening} coins. `a` is a list of at most 20 integers, taken in "
        "order: a positive one (or 0) is paid in, a negative one is a withdrawal of its "
        "absolute value. "
    )
    refuse = (
        f"A withdrawal that would bring the account below {-p.credit if p.credit else 0} is refused"
    ) + {
        1: ". ",
        2: f" and costs {p.fee} (this fee is always taken). ",
        3: f" and costs {p.fee} (this fee is always taken). ",
    }[p.level]
    what = {
        1: f"An amount paid in that is {p.cond.text} is reduced by {p.fee} (it may become "
        "negative). Give the balance after each element of `a`, as a list.",
        2: f"After every {ordinal(p.every)} element, taken or refused, 1/{p.part} of the balance, "
        "rounded down, is added if the balance is positive then. Give the balance at the "
        "end.",
        3: f"What lies above {p.cap} after an element is moved to a savings account, which "
        "holds 0 at first. A withdrawal that would be refused is made if the savings can "
        "bring the balance up to what is needed: then exactly the missing coins are "
        f"moved from the savings before (without a fee). After every {ordinal(p.every)} element "
        f"1/{p.part} of the savings, rounded down, is added to the savings. "
        "Give a list of three integers: the balance, the savings, and the number of "
        "refused withdrawals.",
    }[p.level]
    return head + refuse + what


def _account_state(p: _Account, a: list[int]) -> tuple[int, int, int]:
    """Return (balance, savings, refused) after ``a`` by recursion on its last element."""
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
    p = _draw_account(rng, level)
    key: dict[str, Any] = {"level": p.level, "opening": p.opening, "fee": p.fee, "credit": p.credit}
    key |= (
        {"condition": p.cond.key},
        {"every": p.every, "part": p.part},
        {"every": p.every, "part": p.part, "cap": p.cap},
    )[p.level - 1]
    text = source(
        _ACCOUNTS_GOLD[p.level],
        opening=p.opening,
        fee=p.fee,
        credit=p.credit,
        every=p.every,
        part=p.part,
        cap=p.cap,
        cond=p.cond.on("v"),
    )
    return Problem(
        _account_statement(p),
        (("a", "ints"),),
        "int" if p.level == 2 else "ints",
        text,
        partial(_account_brute, p),
        lambda r: (integers(r, 5, 9 + 2 * p.level, -80, 60),),
        key,
    )


FAMILIES = (code_family("coin_accounts", "limits and fees", _accounts),)
