"""Problems on expressions with invented operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

Operator = tuple[str, str, Callable[[int, int], int], str]


def _operator(rng: Random, sign: str) -> Operator:
    """Draw an operator; return (sign, Python expression in x and y, function, meaning)."""
    a, b, m = rng.randint(1, 5), rng.randint(1, 5), rng.randint(11, 60)
    kind = rng.choice(("linear", "minus", "product", "distance"))
    if kind == "linear":
        return sign, f"{a} * x + {b} * y", lambda x, y: x * a + y * b, f"{a}x + {b}y"
    if kind == "minus":
        return sign, f"{a} * x - {b} * y", lambda x, y: -(y * b - x * a), f"{a}x - {b}y"
    if kind == "product":
        code, text = f"(x * y + {a}) % {m}", f"the remainder of xy + {a} modulo {m}"
        return sign, code, lambda x, y: x * y + a - (x * y + a) // m * m, text
    return sign, f"abs(x - y) + {b}", lambda x, y: max(x, y) - min(x, y) + b, f"|x - y| + {b}"


@dataclass(frozen=True, slots=True)
class _Expressions:
    level: int
    ops: list[Operator]
    signs: list[str]
    right: bool
    back: bool


def _expressions_statement(p: _Expressions) -> str:
    meaning = "; ".join(f"x {sign} y is {text}" for sign, _, _, text in p.ops)
    head = WORDINGS.one(
        "expressions statement head",
        with_parentheses=", with parentheses" if p.level == 3 else "",
        meaning=meaning,
    )
    ends = WORDINGS.one("expressions statement ends", right="right" if p.right else "left")
    rule = WORDINGS.one(
        f"expressions {p.level}",
        right_to="right to left" if p.back else "left to right",
        signs_0=p.signs[0],
        signs_1=p.signs[1],
        signs_2=p.signs[2],
        ends=ends,
    )
    return f"{head}{rule}Give the value of `s`."


def _expressions_brute(p: _Expressions, s: str) -> int:
    loosest = [p.signs] if p.level == 1 else [[sign] for sign in p.signs[::-1]]
    functions = {sign: function for sign, _, function, _ in p.ops}
    return _evaluate(s, loosest, functions, p.right or p.back)


def _expressions_draw(p: _Expressions, r: Random) -> tuple[str]:
    return (_expression(r, p.signs, r.randint(3, 4 + p.level), p.level == 3),)


def _expressions(rng: Random, level: int) -> Problem:
    ops = [_operator(rng, sign) for sign in rng.sample("@#&!?~^:", 3)]
    signs = [op[0] for op in ops]
    right = level == 3 and rng.random() < 0.5
    back = level == 1 and rng.random() < 0.5
    p = _Expressions(level, ops, signs, right, back)
    late = p.right or p.back
    ranks = {sign: 0 if p.level == 1 else 2 - i for i, sign in enumerate(p.signs)}
    key = {"level": p.level, "operators": [[o[0], o[3]] for o in p.ops], "late": late}
    text = WORDINGS.source(
        "expressions solution",
        ranks=repr(ranks),
        cmp=">" if late else ">=",
        s0=p.signs[0],
        s1=p.signs[1],
        c0=p.ops[0][1],
        c1=p.ops[1][1],
        c2=p.ops[2][1],
    )
    return Problem(
        _expressions_statement(p),
        "s: str -> int",
        text,
        partial(_expressions_brute, p),
        partial(_expressions_draw, p),
        key,
        (("7",),),
    )


def _expression(r: Random, signs: list[str], size: int, nested: bool) -> str:
    parts = []
    for i in range(size):
        if nested and size > 2 and r.random() < 0.3:
            parts.append(f"({_expression(r, signs, r.randint(2, size - 1), True)})")
        else:
            parts.append(str(r.randint(0, 30)))
        if i < size - 1:
            parts.append(r.choice(signs))
    return "".join(parts)


def _evaluate(
    s: str, loosest: list[list[str]], functions: dict[str, Callable[[int, int], int]], late: bool
) -> int:
    depth, places = 0, []
    for i, letter in enumerate(s):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in functions:
            places.append(i)
    for signs in loosest:
        signs_at = [i for i in places if s[i] in signs]
        if signs_at:
            i = signs_at[0] if late else signs_at[-1]
            sides = [_evaluate(part, loosest, functions, late) for part in (s[:i], s[i + 1 :])]
            return functions[s[i]](*sides)
    return int(s) if s.isdigit() else _evaluate(s[1:-1], loosest, functions, late)


FAMILIES = (
    code_family("own_operators", "expressions with operators defined in the task", _expressions),
)
