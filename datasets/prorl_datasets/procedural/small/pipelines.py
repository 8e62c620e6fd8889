"""Problems on small pipelines (filter, map, reduce), posed as functions or programs.

Expected values come from loops, and gold solutions are comprehensions.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from prorl_datasets.procedural.items import Family, Item
from prorl_datasets.procedural.small.function_items import (
    function_item,
    integers,
    phrase,
    program_item,
)
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

Keep = tuple[str, str, Callable[[int], bool]]
Change = tuple[str, str, Callable[[int], int]]


def _keep(rng: Random) -> Keep:
    k, d = rng.randint(-9, 9), rng.randint(2, 7)
    return rng.choice(
        (
            (f"the elements greater than {k}", f"v > {k}", lambda v: k < v),
            (f"the elements less than {k}", f"v < {k}", lambda v: k > v),
            (
                f"the elements divisible by {d}",
                f"v % {d} == 0",
                lambda v: abs(v) // d * d == abs(v),
            ),
            (f"the elements not equal to {k}", f"v != {k}", lambda v: v - k != 0),
            ("all elements", "True", lambda v: True),
        )
    )


def _change(rng: Random) -> Change:
    k = rng.randint(2, 15)
    return rng.choice(
        (
            (f"multiplies each by {k}", f"v * {k}", lambda v: sum([v] * k)),
            (f"adds {k} to each", f"v + {k}", lambda v: v - -k),
            (f"subtracts {k} from each", f"v - {k}", lambda v: v + -k),
            (f"squares each and adds {k}", f"v * v + {k}", lambda v: abs(v) ** 2 + k),
            (
                f"takes the absolute value of each plus {k}",
                f"abs(v) + {k}",
                lambda v: max(v, -v) + k,
            ),
        )
    )


REDUCE: tuple[tuple[str, str, Callable[[list[int]], Any]], ...] = (
    ("returns their sum", "sum(out)", lambda out: sum(out[::-1])),
    (
        "returns the largest (0 if there are none)",
        "max(out, default=0)",
        lambda o: ([0] if not o else sorted(o))[-1],
    ),
    (
        "returns the smallest (0 if there are none)",
        "min(out, default=0)",
        lambda o: ([0] if not o else sorted(o))[0],
    ),
    ("returns them as a list", "out", lambda out: [*out]),
    ("returns them as a list in reverse order", "out[::-1]", lambda out: list(reversed(out))),
    ("returns them as a sorted list", "sorted(out)", lambda out: _insertion_sorted(out)),
    ("returns how many distinct values there are", "len(set(out))", lambda out: _distinct(out)),
)


def _insertion_sorted(values: list[int]) -> list[int]:
    out: list[int] = []
    for value in values:
        place = len([v for v in out if v <= value])
        out.insert(place, value)
    return out


def _distinct(values: list[int]) -> int:
    distinct: list[int] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    return len(distinct)


def _list_pipeline(rng: Random, level: int) -> Item:
    (kept, keep_code, keep), (changes, change_code, change) = _keep(rng), _change(rng)
    reduced, reduce_code, reduce = rng.choice(REDUCE)
    xs = rng.choice(("numbers", "values", "xs"))
    what = f"takes {kept} of the list {xs}, {changes} and {reduced}"

    def expected(values: list[int]) -> Any:
        out = []
        for value in values:
            if keep(value):
                out.append(change(value))
        return reduce(out)

    body = f"out = [{change_code} for v in {xs} if {keep_code}]\nreturn {reduce_code}"
    high = 5 + 3 * level
    return function_item(rng, (xs,), what, body, expected, lambda r: (integers(r, 5, high, 25),))


def _text_pipeline(rng: Random, level: int) -> Item:
    n, m, letter = rng.randint(3, 7), rng.randint(4, 8), rng.choice("aeglnrt")
    tests: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
        (f"longer than {n} letters", f"len(w) > {n}", lambda w: n < len(w)),
        (f"shorter than {m} letters", f"len(w) < {m}", lambda w: m > len(w)),
        (f"containing '{letter}'", f"'{letter}' in w", lambda w: w.find(letter) >= 0),
        (f"without '{letter}'", f"'{letter}' not in w", lambda w: w.find(letter) < 0),
        (f"ending in '{letter}'", f"w.endswith('{letter}')", lambda w: w[-1] == letter),
    )
    sep = rng.choice(("-", "+", "/", "_", ":", "*"))
    ends: tuple[tuple[str, str, Callable[[list[str]], Any]], ...] = (
        ("returns how many there are", "len(out)", lambda o: sum(1 for _ in o)),
        (f"returns them joined by '{sep}'", f"'{sep}'.join(out)", lambda o: _join(o, sep)),
        ("returns their total length", "sum(map(len, out))", lambda o: len(_join(o, ""))),
        ("returns them as a list of reversed words", "[w[::-1] for w in out]", _reversed_words),
    )
    (kind, code, test), (end, end_code, finish) = rng.choice(tests), rng.choice(ends)
    text = rng.choice(("text", "s", "line", "sentence"))
    what = f"splits {text} at spaces, keeps the words {kind} and {end}"
    body = f"out = [w for w in {text}.split() if {code}]\nreturn {end_code}"

    def expected(value: str) -> Any:
        return finish(list(filter(test, value.split(" "))))

    return function_item(
        rng, (text,), what, body, expected, lambda r: (" ".join(phrase(r) for _ in range(level)),)
    )


def _join(words: list[str], sep: str) -> str:
    out = ""
    for place, value in enumerate(words):
        out += (sep if place else "") + value
    return out


def _reversed_words(words: list[str]) -> list[str]:
    return ["".join(reversed(w)) for w in words]


def _polynomial(rng: Random, level: int) -> Item:
    top = 6 + 6 * level
    a, b, c = rng.randint(1, top), rng.randint(1, top), rng.randint(1, top)
    x = rng.choice("xnt")
    return function_item(
        rng,
        (x,),
        f"returns {a} times {x} squared plus {b} times {x} plus {c}",
        f"return {a} * {x} ** 2 + {b} * {x} + {c}",
        lambda v: (a * v + b) * v + c,
        lambda r: (r.randint(-12, 12),),
    )


def _weighted_pair(rng: Random, level: int) -> Item:
    top = 6 + 12 * level
    a, b = rng.randint(2, top), rng.randint(2, top)
    x, y = rng.choice((("x", "y"), ("a", "b"), ("m", "n")))
    word, code, pick = rng.choice((("larger", "max", max), ("smaller", "min", min)))
    return function_item(
        rng,
        (x, y),
        f"returns the {word} of {a} times {x} and {b} times {y}",
        f"return {code}({a} * {x}, {b} * {y})",
        lambda u, v: pick([sum([u] * a), sum([v] * b)]),
        lambda r: (r.randint(-20, 20), r.randint(-20, 20)),
    )


def _stdin_sum(rng: Random, level: int) -> Item:
    (kept, keep_code, keep), (changes, change_code, change) = _keep(rng), _change(rng)
    source = WORDINGS.one("stdin sum source", change_code=change_code, keep_code=keep_code)
    what = WORDINGS.one("stdin sum what", kept=kept, changes=changes)

    def draw(r: Random) -> tuple[str, tuple[list[int]]]:
        values = integers(r, 4, 4 + 3 * level, 25)
        return " ".join(map(str, values)) + "\n", (values,)

    def expected(values: list[int]) -> str:
        total = 0
        for value in values:
            total += change(value) if keep(value) else 0
        return str(total)

    return program_item(what, source, expected, draw, rng)


FAMILIES = (
    Family("list_pipeline", "code", _list_pipeline),
    Family("text_pipeline", "code", _text_pipeline),
    Family("polynomial", "code", _polynomial),
    Family("weighted_pair", "code", _weighted_pair),
    Family("stdin_sum", "code", _stdin_sum),
)
