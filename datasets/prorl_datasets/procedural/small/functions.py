"""Problems that ask for a one-line function; levels 2 and 3 add one or two parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

from prorl_datasets.procedural.items import Family, Item
from prorl_datasets.procedural.small.function_items import function_item, integers, phrase, word
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

NUMBER_PAIRS = (("a", "b"), ("x", "y"), ("m", "n"), ("p", "q"))
LISTS = ("numbers", "xs", "values", "items", "nums")
TEXTS = ("text", "s", "word", "string")


def _two_numbers(rng: Random) -> tuple[int, int]:
    return rng.randint(-30, 30), rng.randint(-30, 30)


def _factor(rng: Random, level: int) -> int:
    return 1 if level == 1 else rng.randint(2, 9 if level == 2 else 99)


def _offset(rng: Random, level: int) -> int:
    return 0 if level < 3 else rng.randint(1, 99)


def _pair_operation(
    words: tuple[str, ...], symbol: str, value: Callable[[int, int], int]
) -> Callable[[Random, int], Item]:
    def generate(rng: Random, level: int) -> Item:
        a, b = rng.choice(NUMBER_PAIRS)
        k, c = _factor(rng, level), _offset(rng, level)
        text = f"returns {rng.choice(words).format(a=a, b=b)}"
        if level > 1:
            text = WORDINGS.one(
                "pair operation",
                drawn=rng.choice(words).format(a=a, b=b),
                k=k,
                adds=f", adds {c}" if c else "",
            )
        body = f"return ({a} {symbol} {b}) * {k} + {c}" if level > 1 else f"return {a} {symbol} {b}"
        return function_item(
            rng, (a, b), text, body, lambda x, y: value(x, y) * k + c, _two_numbers
        )

    return generate


def _linear(rng: Random, level: int) -> Item:
    top = 9 * 10 ** (level - 1)
    x, k, c = rng.choice("xntz"), rng.randint(2, top), rng.randint(1, top)
    return function_item(
        rng,
        (x,),
        f"returns {k} times {x} plus {c}",
        f"return {k} * {x} + {c}",
        lambda value: sum([value] * k) + c,
        lambda r: (r.randint(-50, 50),),
    )


def _power(rng: Random, level: int) -> Item:
    x, p = rng.choice("xntz"), 2 if level == 1 else rng.randint(2, 4)
    c = 0 if level == 1 else rng.randint(1, 9 * 10 ** (level - 1))
    what = {2: "the square", 3: "the cube", 4: "the fourth power"}[p] + f" of {x}"
    return function_item(
        rng,
        (x,),
        f"returns {what}" + (f" plus {c}" if c else ""),
        f"return {x} ** {p}" + (f" + {c}" if c else ""),
        lambda v: math.prod([v] * p) + c,
        lambda r: (r.randint(-20, 20),),
    )


def _largest(numbers: list[int]) -> int:
    ordered = sorted(numbers)
    return ordered[-1]


def _smallest(numbers: list[int]) -> int:
    return -_largest([-n for n in numbers])


def _total(numbers: list[int]) -> int:
    total = 0
    for n in numbers:
        total += n
    return total


def _list_value(
    what: tuple[str, ...], code: str, value: Callable[[list[int]], int]
) -> Callable[[Random, int], Item]:
    def generate(rng: Random, level: int) -> Item:
        xs, k, c = rng.choice(LISTS), _factor(rng, level), _offset(rng, level)
        text = f"returns {rng.choice(what)} {xs}"
        text += (f", multiplied by {k}" if k > 1 else "") + (f", plus {c}" if c else "")
        body = f"return {code.format(xs=xs)}"
        if level > 1:
            body = f"return ({code.format(xs=xs)}) * {k} + {c}"
        return function_item(
            rng, (xs,), text, body, lambda v: value(v) * k + c, lambda r: (integers(r),)
        )

    return generate


def _reversed_text(text: str) -> str:
    out = ""
    for ch in text:
        out = ch + out
    return out


def _text_value(
    what: tuple[str, ...], code: str, value: Callable[[str], Any], draw: Callable[[Random], str]
) -> Callable[[Random, int], Item]:
    def generate(rng: Random, level: int) -> Item:
        s = rng.choice(TEXTS)
        text, body = f"returns {rng.choice(what).format(s=s)}", f"return {code.format(s=s)}"
        n = 1 if level == 1 else rng.randint(2, 9 * level)
        if n > 1:
            text, body = f"{text}, repeated {n} times as one string", f"{body} * {n}"
        return function_item(
            rng,
            (s,),
            text,
            body,
            lambda v: "".join([value(v)] * n) if n > 1 else value(v),
            lambda r: (draw(r),),
        )

    return generate


def _count_letters(rng: Random, level: int) -> Item:
    s = rng.choice(TEXTS)
    letters = (
        "aeiou" if level == 1 else "".join(sorted(rng.sample("abcdefghilmnoprstuw", level + 1)))
    )
    named = "vowels (a, e, i, o, u)" if level == 1 else f"letters among {', '.join(letters)}"
    return function_item(
        rng,
        (s,),
        f"returns how many {named} the lowercase string {s} contains",
        f'return sum(ch in "{letters}" for ch in {s})',
        lambda v: len([ch for ch in v if letters.find(ch) >= 0]),
        lambda r: (phrase(r),),
    )


def _count_above(rng: Random, level: int) -> Item:
    xs, k = rng.choice(LISTS), rng.randint(-3, 3) if level < 3 else rng.randint(-12, 12)
    word_, test = rng.choice((("greater", ">"), ("less", "<")))
    return function_item(
        rng,
        (xs,),
        f"returns how many elements of {xs} are {word_} than {k}",
        f"return len([v for v in {xs} if v {test} {k}])",
        lambda v: len([n for n in v if (n > k if test == ">" else n < k)]),
        lambda r: (integers(r, 4, 9, 15),),
    )


FAMILIES = (
    Family(
        "add_two",
        "code",
        _pair_operation(("the sum of {a} and {b}", "{a} plus {b}"), "+", lambda a, b: sum((a, b))),
    ),
    Family(
        "subtract_two",
        "code",
        _pair_operation(
            ("the difference {a} minus {b}", "{a} minus {b}"), "-", lambda a, b: a + -b
        ),
    ),
    Family(
        "multiply_two",
        "code",
        _pair_operation(
            ("the product of {a} and {b}", "{a} times {b}"), "*", lambda a, b: int.__mul__(a, b)
        ),
    ),
    Family("linear", "code", _linear),
    Family("powers", "code", _power),
    Family(
        "list_max",
        "code",
        _list_value(("the largest element of", "the maximum of"), "max({xs})", _largest),
    ),
    Family(
        "list_min",
        "code",
        _list_value(("the smallest element of", "the minimum of"), "min({xs})", _smallest),
    ),
    Family(
        "list_sum",
        "code",
        _list_value(("the sum of the elements of", "the total of"), "sum({xs})", _total),
    ),
    Family(
        "list_length",
        "code",
        _list_value(
            ("the number of elements of", "the length of"),
            "len({xs})",
            lambda v: _total([1] * len(v)),
        ),
    ),
    Family(
        "last_element",
        "code",
        _list_value(
            ("the last element of", "the final item of"), "{xs}[-1]", lambda v: v[len(v) - 1]
        ),
    ),
    Family(
        "first_element",
        "code",
        _list_value(
            ("the first element of", "the item at index 0 of"), "{xs}[0]", lambda v: next(iter(v))
        ),
    ),
    Family(
        "reverse_string",
        "code",
        _text_value(
            ("{s} reversed", "the string {s} backwards"), "{s}[::-1]", _reversed_text, word
        ),
    ),
    Family(
        "upper_case",
        "code",
        _text_value(
            ("{s} in upper case", "{s} with all letters in capitals"),
            "{s}.upper()",
            lambda v: "".join(chr(ord(c) - 32) if "a" <= c <= "z" else c for c in v),
            phrase,
        ),
    ),
    Family(
        "first_word",
        "code",
        _text_value(
            ("the first word of {s}", "the first space-separated word in {s}"),
            "{s}.split()[0]",
            lambda v: v[: v.index(" ")],
            phrase,
        ),
    ),
    Family("count_letters", "code", _count_letters),
    Family("count_above", "code", _count_above),
)
