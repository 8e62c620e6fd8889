"""Problems on replacing letters."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import LETTERS, draw_letters, listed, text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _replaced(rng: Random) -> Problem:
    a, b, c = rng.sample(LETTERS[:12], 3)
    new, mode = rng.choice("xyz*#-+"), rng.randint(0, 2)
    what = WORDINGS.all("replaced", a=a, b=b, new=new, c=c, new_plus_new=new + new)[mode]
    table = ({a: new, b: new, c: c + c}, {a: "", b: new, c: new + new}, {a: b, b: a, c: new + c})[
        mode
    ]
    shown = "{" + ", ".join(f'"{k}": "{v}"' for k, v in table.items()) + "}"

    def brute(s: str) -> str:
        capital = s.upper().replace(c.upper(), table[c]) if mode != 2 else s.upper()
        if mode == 2:
            capital = capital.replace(c.upper(), new + c)
        return capital.replace(a.upper(), table[a]).replace(b.upper(), table[b]).lower()

    return Problem(
        WORDINGS.one("replaced 2", what=what),
        "s: str -> str",
        f'def solve(s):\n    table = {shown}\n    return "".join(table.get(ch, ch) for ch in s)',
        brute,
        lambda r: (text_over(r, a + b + c + LETTERS[:14], 4, 14),),
        {"v": 1, "abc": [*sorted((a, b)), c] if mode != 1 else [a, b, c], "new": new, "mode": mode},
        (("",),),
    )


def _positional(rng: Random) -> Problem:
    k, start = rng.randint(2, 6), rng.randint(0, 1)
    shift, fixed = rng.randint(1, 25), draw_letters(rng, 3, "abcdefgh")
    up = rng.random() < 0.5
    test = f"i % {k} == {start}"
    code = WORDINGS.source(
        "positional solution",
        kept=fixed,
        upper=".upper()" if up else " + ch",
        test=test,
        shift=shift,
    )

    def brute(s: str) -> str:
        moved = dict(zip(LETTERS, LETTERS[shift:] + LETTERS[:shift], strict=True))
        out = list(s)
        for i in range(start, len(s), k):
            out[i] = moved[s[i]]
        for i in range(len(s)):
            if fixed.count(s[i]):
                out[i] = s[i].upper() if up else 2 * s[i]
        return "".join(out)

    done = "becomes a capital letter" if up else "is doubled"
    places = ", ".join(str(start + k * i) for i in range(3))
    return Problem(
        WORDINGS.one(
            "positional",
            kept=listed(fixed),
            done=done,
            places=places,
            shift=shift,
            plural_s="s" * (shift > 1),
        ),
        "s: str -> str",
        code,
        brute,
        lambda r: (text_over(r, LETTERS + "abcdefgh", 3, 16),),
        {"v": 2, "k": k, "start": start, "shift": shift, "kept": fixed, "up": up},
        (("",),),
    )


def _rounds(rng: Random) -> Problem:
    size = rng.randint(5, 12)
    a, b = rng.randint(1, size - 1), rng.randint(1, size - 1)
    ring, c = rng.random() < 0.5, rng.randint(0, size - 1)
    alphabet = LETTERS[:size]
    edge = "values[(i + 1) % n]" if ring else "(values[i + 1] if i + 1 < n else 0)"
    code = WORDINGS.source("rounds solution", a=a, b=b, edge=edge, c=c, size=size)

    def brute(s: str, t: int) -> str:
        for _ in range(t):
            following = ""
            for i in range(len(s)):
                after = s[(i + 1) % len(s)] if ring or i + 1 < len(s) else "a"
                total = a * alphabet.index(s[i]) + b * alphabet.index(after) + c
                following += alphabet[total - total // size * size]
            s = following
        return s

    last = (
        "the neighbour of the last letter is the first" if ring else "the last letter counts r = 0"
    )
    return Problem(
        WORDINGS.one(
            "rounds",
            alphabet=alphabet,
            alphabet_2=alphabet[-1],
            size_minus_1=size - 1,
            a=a,
            b=b,
            c=c,
            size=size,
            last=last,
        ),
        "s: str, t: int -> str",
        code,
        brute,
        lambda r: (text_over(r, alphabet, 2, 8), r.randint(1, 40)),
        {"v": 3, "a": a, "b": b, "size": size, "ring": ring, "c": c},
        ((alphabet[1], 0),),
    )


FAMILIES = (
    leveled_family(
        "letter_rewriting", "letters replaced, doubled, removed", _replaced, _positional, _rounds
    ),
)
