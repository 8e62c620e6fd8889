"""Code problems on text that stands for values: expressions and numerals.

Leaves out: clocks (``parsing_clocks``), packed text (``parsing_texts``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import source
from prorl_datasets.procedural.code.problem import Problem, code_family

Operator = tuple[str, str, Callable[[int, int], int], str]


def _operator(rng: Random, sign: str) -> Operator:
    """Return (sign, Python expression in x and y, function, meaning)."""
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


_EXPRESSIONS_GOLD = """
import re

RANK = $ranks


def apply(op, x, y):
    if op == "$s0":
        return $c0
    if op == "$s1":
        return $c1
    return $c2


def solve(s):
    values = []
    ops = []

    def reduce():
        y = values.pop()
        x = values.pop()
        values.append(apply(ops.pop(), x, y))

    for token in re.findall(r"\\d+|\\D", s):
        if token.isdigit():
            values.append(int(token))
        elif token == "(":
            ops.append(token)
        elif token == ")":
            while ops[-1] != "(":
                reduce()
            ops.pop()
        else:
            while ops and ops[-1] != "(" and RANK[ops[-1]] $cmp RANK[token]:
                reduce()
            ops.append(token)
    while ops:
        reduce()
    return values[0]
"""


def _expressions(rng: Random, level: int) -> Problem:
    ops = [_operator(rng, sign) for sign in rng.sample("@#&!?~^:", 3)]
    signs = [op[0] for op in ops]
    right = level == 3 and rng.random() < 0.5
    back = level == 1 and rng.random() < 0.5
    meaning = "; ".join(f"x {sign} y is {text}" for sign, _, _, text in ops)
    head = (
        "`s` is an expression without blanks, of non-negative integers of at most 3 "
        "digits joined by operators"
        + (", with parentheses" if level == 3 else "")
        + f". The operators mean: {meaning} (remainders lie from 0 to the modulus minus 1, "
        "for negative numbers too). "
    )
    ends = (
        f"Of equal operators next to one another the {'right' if right else 'left'} one is "
        "applied first. "
    )
    rule = {
        1: "All operators bind equally and are applied from "
        f"{'right to left' if back else 'left to right'}. ",
        2: f"{signs[0]} binds most tightly, then {signs[1]}, then {signs[2]}. {ends}",
        3: f"{signs[0]} binds most tightly, then {signs[1]}, then {signs[2]}; parts in "
        f"parentheses come first. {ends}",
    }[level]
    ranks = {sign: 0 if level == 1 else 2 - i for i, sign in enumerate(signs)}
    gold = _EXPRESSIONS_GOLD
    late = right or back
    functions = {sign: function for sign, _, function, _ in ops}

    def brute(s: str) -> int:
        return _evaluate(s, [signs] if level == 1 else [[v] for v in signs[::-1]], functions, late)

    def draw(r: Random) -> tuple[str]:
        return (_expression(r, signs, r.randint(3, 4 + level), level == 3),)

    key = {"level": level, "operators": [[o[0], o[3]] for o in ops], "late": late}
    text = source(
        gold.replace("$ranks", repr(ranks)),
        cmp=">" if late else ">=",
        s0=signs[0],
        s1=signs[1],
        c0=ops[0][1],
        c1=ops[1][1],
        c2=ops[2][1],
    )
    return Problem(
        f"{head}{rule}Give the value of `s`.",
        (("s", "str"),),
        "int",
        text,
        brute,
        draw,
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
    """Split at the loosest operator outside parentheses and evaluate the two sides."""
    depth, places = 0, []
    for i, letter in enumerate(s):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in functions:
            places.append(i)
    for signs in loosest:
        here = [i for i in places if s[i] in signs]
        if here:
            i = here[0] if late else here[-1]
            sides = [_evaluate(part, loosest, functions, late) for part in (s[:i], s[i + 1 :])]
            return functions[s[i]](*sides)
    return int(s) if s.isdigit() else _evaluate(s[1:-1], loosest, functions, late)


_NUMERALS_GOLD = {
    1: """
    def solve(s):
        value = $table
        return sorted((sum(value[c] for c in word) for word in s), reverse=True)
    """,
    2: """
    def solve(s):
        value = $table
        out = []
        last = 0
        for word in s:
            total = 0
            for i, c in enumerate(word):
                if i + 1 < len(word) and value[word[i + 1]] > value[c]:
                    total -= value[c]
                else:
                    total += value[c]
            out.append(total - last)
            last = total
        return out
    """,
    3: """
    def solve(a):
        items = $items
        out = []
        for n in a:
            word = ""
            for value, text in items:
                word += n // value * text
                n %= value
            out.append(word)
        return out
    """,
}


def _numerals(rng: Random, level: int) -> Problem:
    symbols = rng.sample("ABCDEFGHKLMNPQRSTUVWXYZ", 4)
    values = [1]
    for _ in range(3):
        values.append(values[-1] * rng.randint(2, 7))
    table = dict(zip(symbols, values, strict=True))
    means = ", ".join(f"{s} = {v}" for s, v in table.items())
    top = values[-1] * 3
    head = f"Numerals are written with the symbols {means}. "
    what = {
        1: "A numeral is worth the sum of its symbols' values, whatever their order. `s` is "
        "a list of at most 6 numerals. Give the list of their values, from the largest "
        "to the smallest.",
        2: "In a numeral, a symbol that stands directly before one of larger value is "
        "subtracted, every other symbol is added. `s` is a list of at most 6 numerals. "
        "Give the list of their values, in the order of `s`, each minus the value of the "
        "numeral before it in `s` (the first one unchanged).",
        3: "A number is written by taking again and again the largest item that is not "
        "larger than what is left: items are the symbols, and also each pair of two "
        "symbols that are next to each other in value, the smaller one first (worth the "
        "larger value minus the smaller one; of a pair and a single symbol of equal "
        "worth the single symbol is taken). `a` is a list of at most 6 integers from 1 "
        f"to {top}. Give the list of the numerals of these numbers.",
    }[level]
    gold = _NUMERALS_GOLD[level]
    items = [(v, s) for s, v in table.items()]
    pairs = [(values[i + 1] - values[i], symbols[i] + symbols[i + 1]) for i in range(3)]
    items = sorted(items + [p for p in pairs if p[0] not in values], reverse=True)

    def brute(words: list[Any]) -> Any:
        if level == 1:
            return sorted(sum(w.count(s) * v for s, v in table.items()) for w in words)[::-1]
        if level == 2:
            worths = [_worth(w, symbols, values) for w in words]
            return [w - (worths[i - 1] if i else 0) for i, w in enumerate(worths)]
        return [_numeral(n, items) for n in words]

    def draw(r: Random) -> tuple[list[Any]]:
        size = r.randint(2, 6)
        if level == 3:
            return ([r.randint(1, top) for _ in range(size)],)
        return (["".join(r.choice(symbols) for _ in range(r.randint(1, 6))) for _ in range(size)],)

    key: dict[str, Any] = {"level": level, "symbols": symbols, "values": values}
    text = source(gold, table=table, items=items)
    inputs = (("a", "ints"),) if level == 3 else (("s", "strs"),)
    return Problem(head + what, inputs, "strs" if level == 3 else "ints", text, brute, draw, key)


def _worth(word: str, symbols: list[str], values: list[int]) -> int:
    """Return a subtractive numeral's value: all added, then twice those before a larger one off."""
    total = 0
    for symbol, value in zip(symbols, values, strict=True):
        larger = "".join(symbols[symbols.index(symbol) + 1 :])
        less = len(re.findall(f"{symbol}(?=[{larger}])", word)) if larger else 0
        total += value * (word.count(symbol) - 2 * less)
    return total


def _numeral(n: int, items: list[tuple[int, str]]) -> str:
    if n == 0:
        return ""
    value, text = max(item for item in items if item[0] <= n)
    return text + _numeral(n - value, items)


FAMILIES = (
    code_family("own_operators", _expressions),
    code_family("own_numerals", _numerals),
)
