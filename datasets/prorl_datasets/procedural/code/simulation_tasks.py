"""Code problems on schedulers and accounts with rules.

Leaves out: caches and cards (``simulation_rules``).
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, ordinal, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_SCHEDULERS_GOLD = {
    1: """
    def solve(a):
        now = 0
        end = [0] * len(a)
        for v, i in sorted(($sign v, i) for i, v in enumerate(a)):
            v = abs(v)
            now += $lost + v + ($f if $cond else 0)
            end[i] = now
        return end
    """,
    2: """
    from collections import deque

    def solve(a):
        left = list(a)
        end = [0] * len(a)
        queue = deque(range(len(a)))
        now = 0
        while queue:
            i = queue.popleft()
            v = a[i]
            ran = min($q, left[i])
            now += ran + ($lost if $cond else 0)
            left[i] -= ran
            if left[i]:
                queue.append(i)
            else:
                end[i] = now
        return end
    """,
    3: """
    from heapq import heappop, heappush

    def solve(a):
        arrivals = sorted((i * $f % $m, i) for i in range(len(a)))
        heap = []
        end = [0] * len(a)
        now = 0
        while heap or arrivals:
            while arrivals and arrivals[0][0] <= now:
                i = arrivals.pop(0)[1]
                heappush(heap, (-(i * $step % $ranks), a[i], i))
            now += 1
            if heap:
                rank, v, i = heappop(heap)
                v -= 1
                if v == 0:
                    end[i] = now
                else:
                    heappush(heap, (rank + (1 if $cond else 0), v, i))
        return end
    """,
}


def _schedulers(rng: Random, level: int) -> Problem:
    q, swap, m, f = rng.randint(2, 6), rng.randint(0, 3), rng.randint(3, 9), rng.randint(1, 8)
    c, order = condition(rng, 1, 12), rng.choice(("shortest", "longest"))
    head = (
        "`a` is a list of 1 to 8 integers from 1 to 12: task i (counted from 0) needs a[i] "
        "seconds. One task runs at a time. "
    )
    what = {
        1: f"Tasks run one after the other without a break, {order} first, of equally long "
        f"ones the one with the smaller number first; before each task, {swap + 1} "
        f"seconds are lost. A task that needs a time that is {c.text} takes {f} seconds "
        "more. The order follows the times as given in `a`. Give the list that holds for "
        "each task, in the order of `a`, the second at which it ends.",
        2: f"The tasks wait in a queue, task 0 in front. The task in front runs for {q} "
        "seconds, or until it is done; if it is not done it goes to the back of the "
        f"queue. Every time a task that needs (in `a`) a time that is {c.text} is put to "
        f"run, {swap + 1} seconds are lost before. Give the list that holds for each task "
        "the second at which it is done.",
        3: f"Task i arrives at second (i*{f}) modulo {m} and has the priority (i*{swap + 2}) "
        f"modulo {q + 1}. At every whole second the task with the largest priority among "
        "those that have arrived and are not done runs for one second (of equal "
        "priorities the one that still needs less time, then the one with the smaller "
        "number); if there is none, the second passes idle. Each time a task has run for "
        "one second, its priority falls by 1 if "
        f"the time it still needs then is {c.text}. Give the list that holds for each "
        "task the second at which it is done.",
    }[level]
    gold = _SCHEDULERS_GOLD[level]

    def brute(a: list[int]) -> list[int]:
        n, left = len(a), [*a]
        if level == 1:
            out = []
            for i, v in enumerate(a):
                early = [(u < v) if order == "shortest" else (u > v) for u in a]
                done = [u for j, u in enumerate(a) if early[j] or (u == v and j <= i)]
                out.append(sum(u + swap + 1 + f * c.holds(u) for u in done))
            return out
        if level == 2:
            spans = []
            for turn in range(12):
                for i, v in enumerate(a):
                    if v > turn * q:
                        spans.append((i, min(q, v - turn * q) + (swap + 1) * c.holds(v)))
            last = [max(t for t, (j, _) in enumerate(spans) if j == i) for i in range(n)]
            return [sum(s for _, s in spans[: t + 1]) for t in last]
        ranks, end, now = [(i * (swap + 2)) % (q + 1) for i in range(n)], [0] * n, 0
        while any(left):
            here = [i for i in range(n) if left[i] and now >= (i * f) % m]
            now += 1
            for rule in (lambda i: ranks[i], lambda i: -left[i], lambda i: -i):
                here = [i for i in here if rule(i) == max(map(rule, here))]
            for i in here:
                left[i] -= 1
                ranks[i] -= c.holds(left[i])
                end[i] = now
        return end

    key: dict[str, Any] = {"level": level, "condition": c.key, "swap": swap}
    key |= ({"order": order, "f": f}, {"q": q}, {"f": f, "m": m, "q": q})[level - 1]
    text = source(
        gold,
        q=q,
        lost=swap + 1,
        f=f,
        m=m,
        cond=c.on("v"),
        sign="-" if order == "longest" else "",
        step=swap + 2,
        ranks=q + 1,
    )
    return Problem(
        head + what,
        (("a", "ints"),),
        "ints",
        text,
        brute,
        lambda r: (integers(r, 3, 8, 1, 12),),
        key,
        (([5],),),
    )


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


def _accounts(rng: Random, level: int) -> Problem:
    opening, fee, credit = rng.randint(0, 90), rng.randint(1, 9), rng.randint(0, 60)
    c, every, cap = condition(rng, -40, 60), rng.randint(2, 5), rng.randint(60, 160)
    part = rng.randint(3, 12)
    head = (
        f"An account holds {opening} coins. `a` is a list of at most 20 integers, taken in "
        "order: a positive one (or 0) is paid in, a negative one is a withdrawal of its "
        "absolute value. "
    )
    refuse = (
        f"A withdrawal that would bring the account below {-credit if credit else 0} is refused"
    ) + {
        1: ". ",
        2: f" and costs {fee} (this fee is always taken). ",
        3: f" and costs {fee} (this fee is always taken). ",
    }[level]
    what = {
        1: f"An amount paid in that is {c.text} is reduced by {fee} (it may become "
        "negative). Give the balance after each element of `a`, as a list.",
        2: f"After every {ordinal(every)} element, taken or refused, 1/{part} of the balance, "
        "rounded down, is added if the balance is positive then. Give the balance at the "
        "end.",
        3: f"What lies above {cap} after an element is moved to a savings account, which "
        "holds 0 at first. A withdrawal that would be refused is made if the savings can "
        "bring the balance up to what is needed: then exactly the missing coins are "
        f"moved from the savings before (without a fee). After every {ordinal(every)} element "
        f"1/{part} of the savings, rounded down, is added to the savings. "
        "Give a list of three integers: the balance, the savings, and the number of "
        "refused withdrawals.",
    }[level]
    gold = _ACCOUNTS_GOLD[level]

    def state(a: list[int]) -> tuple[int, int, int]:
        """Return (balance, savings, refused) after ``a`` by recursion on its last element."""
        if not a:
            return opening, 0, 0
        balance, saved, refused = state(a[:-1])
        v, due = a[-1], len(a) % every == 0
        room = balance + credit + (saved if level == 3 else 0)
        if v >= 0:
            balance += v - fee * (level == 1 and c.holds(v))
        elif -v <= room:
            balance += v
            if level == 3 and balance < -credit:
                balance, saved = -credit, saved + balance + credit
        else:
            refused, balance = refused + 1, balance - fee * (level > 1)
        if level == 2 and due:
            balance += max(0, balance) // part
        if level == 3:
            saved, balance = saved + max(0, balance - cap), min(cap, balance)
            saved += saved // part if due else 0
        return balance, saved, refused

    def brute(a: list[int]) -> Any:
        if level == 1:
            return [state(a[: i + 1])[0] for i in range(len(a))]
        return state(a)[0] if level == 2 else [*state(a)]

    key: dict[str, Any] = {"level": level, "opening": opening, "fee": fee, "credit": credit}
    key |= (
        {"condition": c.key},
        {"every": every, "part": part},
        {"every": every, "part": part, "cap": cap},
    )[level - 1]
    text = source(
        gold,
        opening=opening,
        fee=fee,
        credit=credit,
        every=every,
        part=part,
        cap=cap,
        cond=c.on("v"),
    )
    statement = head + refuse + what
    return Problem(
        statement,
        (("a", "ints"),),
        "int" if level == 2 else "ints",
        text,
        brute,
        lambda r: (integers(r, 5, 9 + 2 * level, -80, 60),),
        key,
    )


FAMILIES = (
    code_family("task_schedulers", _schedulers),
    code_family("coin_accounts", _accounts),
)
