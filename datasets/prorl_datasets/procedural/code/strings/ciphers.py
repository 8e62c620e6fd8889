"""Ciphers that shift letters.

Leaves out: layouts (``strings.layouts``).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    text_over,
)

_S = (("s", "str"),)


def _shift(rng: Random) -> Problem:
    k, mode = rng.randint(1, 25), rng.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 3))
    step = rng.randint(1, 12) if mode else 0
    what = (
        f"move every letter {k} places in the alphabet",
        f"move the letter at place i (counted from 0) {k} + {step} * i places in the alphabet",
        f"move every vowel (a, e, i, o, u) {k} places and other letters {step} in the alphabet",
        f"move the letters at places 0, 2, 4, ... {k} in the alphabet, the others -{step} places",
    )[mode]
    amount = (
        f"{k}",
        f"{k} + {step} * i",
        f'({k} if ch in "aeiou" else {step})',
        f"({k} if i % 2 == 0 else -{step})",
    )[mode]

    def brute(s: str) -> str:
        out = ""
        for i, ch in enumerate(s):
            vowel = ch in ("a", "e", "i", "o", "u")
            way = (k, k + step * i, k if vowel else step, k if i % 2 == 0 else 26 - step)[mode]
            for _ in range(way):
                ch = "a" if ch == "z" else chr(ord(ch) + 1)
            out += ch
        return out

    code = f'return "".join(chr((ord(ch) - 97 + {amount}) % 26 + 97) for i, ch in enumerate(s))'
    return Problem(
        f"Given a string `s` of at most 100 lowercase letters, {what}. Positive numbers move "
        "forward (after z comes a), negative ones backward. Find the new string.",
        _S,
        "str",
        f"def solve(s):\n    {code}",
        brute,
        lambda r: (text_over(r, LETTERS, 3, 12),),
        {"v": 1, "k": k, "mode": mode, "step": step},
        (("",),),
    )


def _keyed_gold(key: str, sign: str, auto: bool, decode: bool) -> str:
    return f"""
        def solve(s):
            key = [ord(ch) - 97 for ch in "{key}"]
            out = []
            for i, ch in enumerate(s):
                new = (ord(ch) - 97 {sign} key[i{"" if auto else f" % {len(key)}"}]) % 26
                {f"key.append({'new' if decode else 'ord(ch) - 97'})" if auto else ""}
                out.append(chr(new + 97))
            return "".join(out)
    """


def _keyed(rng: Random) -> Problem:
    key, auto = text_over(rng, LETTERS, 3, 6), rng.random() < 0.5
    decode = rng.random() < 0.5
    sign = "-" if decode else "+"
    code = _keyed_gold(key, sign, auto, decode)

    def brute(s: str) -> str:
        plain = ""
        for i, ch in enumerate(s):
            under = (key + (plain if decode else s) if auto else key * (i + 1))[i]
            row = LETTERS[LETTERS.index(under) :] + LETTERS
            plain += LETTERS[row.index(ch)] if decode else row[LETTERS.index(ch)]
        return plain

    stream = (
        f"the key {key}, followed by the plain text itself"
        if auto
        else f"the key {key}, repeated as often as needed"
    )
    task = "Given an encrypted string `s`" if decode else "Given a plain string `s`"
    return Problem(
        "A cipher writes under each letter of a plain text one letter of the key stream, which is "
        f"{stream}. "
        "With a = 0, ..., z = 25 the encrypted letter is the sum of the two, modulo 26. "
        f"{task} of at most 100 lowercase letters, find the {'plain' if decode else 'encrypted'} "
        "text.",
        _S,
        "str",
        source("\n".join(line for line in code.splitlines() if line.strip())),
        brute,
        lambda r: (text_over(r, LETTERS, 4, 16),),
        {"v": 2, "key": key, "auto": auto, "decode": decode},
        (("",),),
    )


def _affine_gold(a: int, c: int, b: int, d: int) -> str:
    return f"""
        def solve(s, t):
            inverse = pow({a}, -1, 26)
            values = [ord(ch) - 97 for ch in s]
            for _ in range(t):
                before, plain = {c}, []
                for v in values:
                    plain.append(((v - {b} - before) * inverse) % 26)
                    before = (v + {d}) % 26
                values = plain
            return "".join(chr(v + 97) for v in values)
    """


def _affine_brute(encrypt: Callable[[str], str]) -> Callable[[str, int], str]:
    def brute(s: str, t: int) -> str:
        for _ in range(t):
            plain = ""
            for i in range(len(s)):
                plain += next(ch for ch in LETTERS if encrypt(plain + ch)[i] == s[i])
            s = plain
        return s

    return brute


def _affine(rng: Random) -> Problem:
    a, b, c = (
        rng.choice((3, 5, 7, 9, 11, 15, 17, 19, 21, 23)),
        rng.randint(0, 25),
        rng.randint(1, 25),
    )
    d = rng.randint(0, 9)
    code = _affine_gold(a, c, b, d)

    def encrypt(plain: str) -> str:
        out, before = "", c
        for ch in plain:
            value = (a * LETTERS.index(ch) + b + before) % 26
            out += LETTERS[value]
            before = (value + d) % 26
        return out

    brute = _affine_brute(encrypt)

    plus = f" + {d}" if d else ""
    return Problem(
        "With a = 0, ..., z = 25, a cipher turns the letters p_1, p_2, ... of a text into the "
        "letters "
        f"q_1, q_2, ... by q_i = ({a} * p_i + {b} + r_i) mod 26, where r_1 = {c} and "
        f"r_i = (q_(i-1){plus}) mod 26 for i >= 2. A text was encrypted `t` times in a row, the "
        "result is "
        "the string `s` (at most 60 lowercase letters, 0 <= t <= 20). Find the original text.",
        (("s", "str"), ("t", "int")),
        "str",
        source(code),
        brute,
        lambda r: (text_over(r, LETTERS, 2, 7), r.randint(1, 3)),
        {"v": 3, "a": a, "b": b, "c": c, "d": d},
        (("", 2), ("abc", 0)),
    )


FAMILIES = (
    code_family("letter_ciphers", "shifts and substitutions", leveled(_shift, _keyed, _affine)),
)
