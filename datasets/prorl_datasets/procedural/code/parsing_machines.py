"""Code problems on small programs for a stack machine.

Leaves out: packed words and records (``parsing_texts``).
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import source
from prorl_datasets.procedural.code.problem import Problem, code_family

_STACK_OPS = {
    "dup": ("puts another copy of the top on top", 1),
    "swap": ("exchanges the top two", 2),
    "drop": ("removes the top", 1),
    "over": ("puts a copy of the second from the top on top", 2),
    "rot": ("moves the third from the top to the top", 3),
    "neg": ("replaces the top by its negative", 1),
}


_MACHINES_GOLD = """
def solve(program):
    stack = []
    sums = []
    most = 0
    i = 0
    need = $need
    while i < len(program):
        op = program[i]
        i += 1
        if op in need and len(stack) < need[op]:
            $short
        elif op == "$mix":
            x = stack.pop()
            y = stack.pop()
            stack.append(($a * x + $b * y + $d) % $m)
        elif op == "dup":
            stack.append(stack[-1])
        elif op == "swap":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif op == "drop":
            stack.pop()
        elif op == "over":
            stack.append(stack[-2])
        elif op == "rot":
            stack.append(stack.pop(-3))
        elif op == "neg":
            stack[-1] = -stack[-1]
        elif op == "skip":
            if not stack or stack.pop() > $third:
                i += 1
        else:
            stack.append(int(op))
        sums.append(sum(stack))
        most = max(most, len(stack))
    return $result
"""


def _machines(rng: Random, level: int) -> Problem:
    a, b, m, d = rng.randint(1, 9), rng.randint(1, 9), rng.randint(50, 999), rng.randint(0, 9)
    names = rng.sample(list(_STACK_OPS), 1 + level)
    mix, low = rng.choice(("mix", "op", "join", "f")), rng.randint(0, 3)
    rules = "; ".join(f"'{name}' {_STACK_OPS[name][0]}" for name in names)
    head = (
        "`program` is a list of at most 25 instructions for a machine with a stack, "
        f"empty at first. A whole number is put on the stack. '{mix}' removes the top x "
        f"and the one below it, y, and puts ({a}*x + {b}*y + {d}) modulo {m} (from 0 to "
        f"{m - 1}) on the stack; "
        f"{rules}. "
    )
    short = (
        "An instruction that needs more numbers than there are on the stack does "
        f"nothing{' but put ' + str(low) + ' on the stack' if level > 1 else ''}. "
    )
    jump = (
        (
            f"'skip' removes the top, if there is one, and when it was greater than {m // 3} (or "
            "there was none) the next instruction is left out. "
        )
        if level == 3
        else ""
    )
    ask = {
        1: "Give the stack after the last instruction, from bottom to top.",
        2: "Give the sum of the numbers on the stack after every instruction, as a list with "
        "one element for each instruction.",
        3: "Give the stack after the last instruction, from top to bottom, followed by the "
        "largest number of elements that the stack ever had.",
    }[level]
    gold = _MACHINES_GOLD
    need = {mix: 2} | {name: _STACK_OPS[name][1] for name in names}

    def brute(program: list[str]) -> list[int]:
        state: tuple[int, ...] = ()
        history: list[tuple[int, ...]] = [()]
        rest = program[:]
        while rest:
            op, *rest = rest
            if op == "skip":
                rest = rest[1:] if not state or state[0] > m // 3 else rest
                state = state[1:]
            else:
                state = _after(state, op, (mix, a, b, d, m), low if level > 1 else None)
            history.append(state)
        if level == 2:
            return [sum(s) for s in history[1:]]
        return [*state[::-1]] if level == 1 else [*state, max(map(len, history))]

    def draw(r: Random) -> tuple[list[str]]:
        ops = [mix, mix, *names, *(["skip"] * (level == 3))]
        size = r.randint(6, 14 + 3 * level)
        words = [r.choice(ops) if r.random() < 0.5 else str(r.randint(0, 99)) for _ in range(size)]
        return ([str(r.randint(1, 99)), str(r.randint(1, 99)), *words],)

    key: dict[str, Any] = {
        "level": level,
        "mix": [a, b, d, m],
        "names": sorted(names),
        "low": low * (level > 1),
    }
    result = {1: "stack", 2: "sums", 3: "stack[::-1] + [most]"}[level]
    text = source(
        gold,
        need=need,
        short="pass" if level == 1 else f"stack.append({low})",
        mix=mix,
        a=a,
        b=b,
        d=d,
        m=m,
        third=m // 3,
        result=result,
    )
    return Problem(
        head + short + jump + ask, (("program", "strs"),), "ints", text, brute, draw, key
    )


def _after(
    s: tuple[int, ...], op: str, mix: tuple[str, int, int, int, int], low: int | None
) -> tuple[int, ...]:
    """Return the stack (top first) after an instruction other than 'skip'."""
    name, a, b, d, m = mix
    if op.isdigit():
        return (int(op), *s)
    if len(s) < (2 if op == name else _STACK_OPS[op][1]):
        return s if low is None else (low, *s)
    if op == name:
        return ((a * s[0] + b * s[1] + d) % m, *s[2:])
    moves = {"dup": (0, 0), "swap": (1, 0), "drop": (), "over": (1, 0, 1), "rot": (2, 0, 1)}
    if op == "neg":
        return (-s[0], *s[1:])
    return (*(s[i] for i in moves[op]), *s[_STACK_OPS[op][1] :])


FAMILIES = (code_family("stack_machines", _machines),)
