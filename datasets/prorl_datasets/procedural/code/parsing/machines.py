"""Code problems on small programs for a stack machine.

Leaves out: packed words and records (``parsing.texts``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import source
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


@dataclass(frozen=True, slots=True)
class _Machine:
    """What is drawn for one problem on a stack machine: its instructions and their numbers.

    The instruction ``mix`` puts (a*x + b*y + d) modulo ``modulus`` on the stack.
    """

    level: int
    a: int
    b: int
    d: int
    modulus: int
    names: list[str]
    mix: str
    low: int

    @property
    def filler(self) -> int | None:
        """What an instruction puts that finds too few numbers, None for nothing."""
        return self.low if self.level > 1 else None


def _draw_machine(rng: Random, level: int) -> _Machine:
    a, b, m, d = rng.randint(1, 9), rng.randint(1, 9), rng.randint(50, 999), rng.randint(0, 9)
    names = rng.sample(list(_STACK_OPS), 1 + level)
    mix, low = rng.choice(("mix", "op", "join", "f")), rng.randint(0, 3)
    return _Machine(level, a, b, d, m, names, mix, low)


def _machine_statement(p: _Machine) -> str:
    rules = "; ".join(f"'{name}' {_STACK_OPS[name][0]}" for name in p.names)
    head = (
        "`program` is a list of at most 25 instructions for a machine with a stack, "
        f"empty at first. A whole number is put on the stack. '{p.mix}' removes the top x "
        f"and the one below it, y, and puts ({p.a}*x + {p.b}*y + {p.d}) modulo {p.modulus} "
        f"(from 0 to {p.modulus - 1}) on the stack; {rules}. "
    )
    short = "An instruction that needs more numbers than there are on the stack does nothing"
    short += ". " if p.filler is None else f" but put {p.filler} on the stack. "
    jump = (
        "'skip' removes the top, if there is one, and when it was greater than "
        f"{p.modulus // 3} (or there was none) the next instruction is left out. "
    )
    ask = {
        1: "Give the stack after the last instruction, from bottom to top.",
        2: "Give the sum of the numbers on the stack after every instruction, as a list with "
        "one element for each instruction.",
        3: "Give the stack after the last instruction, from top to bottom, followed by the "
        "largest number of elements that the stack ever had.",
    }[p.level]
    return head + short + (jump if p.level == 3 else "") + ask


def _machine_brute(p: _Machine, program: list[str]) -> list[int]:
    state: tuple[int, ...] = ()
    history: list[tuple[int, ...]] = [()]
    rest = program[:]
    while rest:
        op, *rest = rest
        if op == "skip":
            rest = rest[1:] if not state or state[0] > p.modulus // 3 else rest
            state = state[1:]
        else:
            state = _after(p, state, op)
        history.append(state)
    if p.level == 2:
        return [sum(s) for s in history[1:]]
    return [*state[::-1]] if p.level == 1 else [*state, max(map(len, history))]


def _after(p: _Machine, s: tuple[int, ...], op: str) -> tuple[int, ...]:
    """Return the stack (top first) after an instruction other than 'skip'."""
    if op.isdigit():
        return (int(op), *s)
    if len(s) < (2 if op == p.mix else _STACK_OPS[op][1]):
        return s if p.filler is None else (p.filler, *s)
    if op == p.mix:
        return ((p.a * s[0] + p.b * s[1] + p.d) % p.modulus, *s[2:])
    moves = {"dup": (0, 0), "swap": (1, 0), "drop": (), "over": (1, 0, 1), "rot": (2, 0, 1)}
    if op == "neg":
        return (-s[0], *s[1:])
    return (*(s[i] for i in moves[op]), *s[_STACK_OPS[op][1] :])


def _machine_draw(p: _Machine, r: Random) -> tuple[list[str]]:
    ops = [p.mix, p.mix, *p.names, *(["skip"] * (p.level == 3))]
    size = r.randint(6, 14 + 3 * p.level)
    words = [r.choice(ops) if r.random() < 0.5 else str(r.randint(0, 99)) for _ in range(size)]
    return ([str(r.randint(1, 99)), str(r.randint(1, 99)), *words],)


def _machines(rng: Random, level: int) -> Problem:
    p = _draw_machine(rng, level)
    key: dict[str, Any] = {
        "level": level,
        "mix": [p.a, p.b, p.d, p.modulus],
        "names": sorted(p.names),
        "low": p.low * (level > 1),
    }
    text = source(
        _MACHINES_GOLD,
        need={p.mix: 2} | {name: _STACK_OPS[name][1] for name in p.names},
        short="pass" if p.filler is None else f"stack.append({p.filler})",
        mix=p.mix,
        a=p.a,
        b=p.b,
        d=p.d,
        m=p.modulus,
        third=p.modulus // 3,
        result={1: "stack", 2: "sums", 3: "stack[::-1] + [most]"}[level],
    )
    return Problem(
        _machine_statement(p),
        (("program", "strs"),),
        "ints",
        text,
        partial(_machine_brute, p),
        partial(_machine_draw, p),
        key,
    )


FAMILIES = (code_family("stack_machines", "programs of stack machines", _machines),)
