"""Problems on ciphers that shift letters."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import LETTERS, text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _shift(rng: Random) -> Problem:
    k, mode = rng.randint(1, 25), rng.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 3))
    step = rng.randint(1, 12) if mode else 0
    what = WORDINGS.all("shift", k=k, step=step)[mode]
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
        WORDINGS.one("shift 2", what=what),
        "s: str -> str",
        f"def solve(s):\n    {code}",
        brute,
        lambda r: (text_over(r, LETTERS, 3, 12),),
        {"v": 1, "k": k, "mode": mode, "step": step},
        (("",),),
    )


def _keyed(rng: Random) -> Problem:
    key, auto = text_over(rng, LETTERS, 3, 6), rng.random() < 0.5
    decode = rng.random() < 0.5
    sign = "-" if decode else "+"
    code = WORDINGS.source(
        "keyed solution",
        key_=key,
        sign=sign,
        value="" if auto else f" % {len(key)}",
        key_append=f"key.append({('new' if decode else 'ord(ch) - 97')})" if auto else "",
    )

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
        WORDINGS.one("keyed", stream=stream, task=task, plain="plain" if decode else "encrypted"),
        "s: str -> str",
        "\n".join(line for line in code.splitlines() if line.strip()),
        brute,
        lambda r: (text_over(r, LETTERS, 4, 16),),
        {"v": 2, "key": key, "auto": auto, "decode": decode},
        (("",),),
    )


def _affine(rng: Random) -> Problem:
    a, b, c = (
        rng.choice((3, 5, 7, 9, 11, 15, 17, 19, 21, 23)),
        rng.randint(0, 25),
        rng.randint(1, 25),
    )
    d = rng.randint(0, 9)
    code = WORDINGS.source("affine solution", a=a, c=c, b=b, d=d)

    def encrypt(plain: str) -> str:
        out, before = "", c
        for ch in plain:
            value = (a * LETTERS.index(ch) + b + before) % 26
            out += LETTERS[value]
            before = (value + d) % 26
        return out

    def brute(s: str, t: int) -> str:
        for _ in range(t):
            plain = ""
            for i in range(len(s)):
                plain += next(ch for ch in LETTERS if encrypt(plain + ch)[i] == s[i])
            s = plain
        return s

    plus = f" + {d}" if d else ""
    return Problem(
        WORDINGS.one("affine", a=a, b=b, c=c, plus=plus),
        "s: str, t: int -> str",
        code,
        brute,
        lambda r: (text_over(r, LETTERS, 2, 7), r.randint(1, 3)),
        {"v": 3, "a": a, "b": b, "c": c, "d": d},
        (("", 2), ("abc", 0)),
    )


FAMILIES = (leveled_family("letter_ciphers", "shifts and substitutions", _shift, _keyed, _affine),)
