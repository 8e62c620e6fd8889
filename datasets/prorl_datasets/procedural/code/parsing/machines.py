"""Problems on programs for a stack machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_STACK_OPS = {
    "dup": ("puts another copy of the top on top", 1),
    "swap": ("exchanges the top two", 2),
    "drop": ("removes the top", 1),
    "over": ("puts a copy of the second from the top on top", 2),
    "rot": ("moves the third from the top to the top", 3),
    "neg": ("replaces the top by its negative", 1),
}


@dataclass(frozen=True, slots=True)
class _Machine:
    """A machine whose instruction ``mix`` pushes (a*x + b*y + d) modulo ``modulus``."""

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
        """Return the number to push if the stack is too short for an instruction, or None."""
        return self.low if self.level > 1 else None


def _machine_brute(p: _Machine, program: list[str]) -> list[int]:
    state: tuple[int, ...] = ()
    history: list[tuple[int, ...]] = [()]
    remaining = program[:]
    while remaining:
        op, *remaining = remaining
        if op == "skip":
            remaining = remaining[1:] if not state or state[0] > p.modulus // 3 else remaining
            state = state[1:]
        else:
            state = _after_instruction(p, state, op)
        history.append(state)
    if p.level == 2:
        return [sum(s) for s in history[1:]]
    return [*state[::-1]] if p.level == 1 else [*state, max(map(len, history))]


def _after_instruction(p: _Machine, s: tuple[int, ...], op: str) -> tuple[int, ...]:
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
    a, b, m, d = rng.randint(1, 9), rng.randint(1, 9), rng.randint(50, 999), rng.randint(0, 9)
    names = rng.sample(list(_STACK_OPS), 1 + level)
    mix, low = rng.choice(("mix", "op", "join", "f")), rng.randint(0, 3)
    p = _Machine(level, a, b, d, m, names, mix, low)
    key: dict[str, Any] = {
        "level": level,
        "mix": [p.a, p.b, p.d, p.modulus],
        "names": sorted(p.names),
        "low": p.low * (level > 1),
    }
    text = WORDINGS.source(
        "machines solution",
        p,
        need={p.mix: 2} | {name: _STACK_OPS[name][1] for name in p.names},
        short="pass" if p.filler is None else f"stack.append({p.filler})",
        third=p.modulus // 3,
        result={1: "stack", 2: "sums", 3: "stack[::-1] + [most]"}[level],
    )
    rules = "; ".join(f"'{name}' {_STACK_OPS[name][0]}" for name in p.names)
    head = WORDINGS.one("machine statement head", p=p, modulus_minus_1=p.modulus - 1, rules=rules)
    short = "An instruction that needs more numbers than there are on the stack does nothing"
    short += ". " if p.filler is None else f" but put {p.filler} on the stack. "
    jump = WORDINGS.one("machine statement jump", modulus_by_3=p.modulus // 3)
    ask = WORDINGS.one(f"machine {p.level}")
    return Problem(
        head + short + (jump if p.level == 3 else "") + ask,
        "program: strs -> ints",
        text,
        partial(_machine_brute, p),
        partial(_machine_draw, p),
        key,
    )


FAMILIES = (code_family("stack_machines", "programs of stack machines", _machines),)
