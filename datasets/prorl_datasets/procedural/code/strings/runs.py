"""Problems on runs of equal letters."""

from __future__ import annotations

from itertools import groupby
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import LETTERS, draw_letters, listed, runs_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _encode(rng: Random) -> Problem:
    least, first = rng.randint(1, 5), rng.random() < 0.5
    sep, cap = rng.choice(("", "-", "*", ":", "x", "_")), rng.choice((0, 3, 4, 5, 6, 7, 8, 9))
    shown = f'f"{{n}}{sep}{{ch}}"' if first else f'f"{{ch}}{sep}{{n}}"'
    code = WORDINGS.source(
        "encode solution", and_j=f" and j - i < {cap}" if cap else "", shown=shown, least=least
    )

    def brute(s: str) -> str:
        parts: list[str] = []
        for ch, group in groupby(s):
            whole = "".join(group)
            width = cap or len(whole)
            for piece in (whole[i : i + width] for i in range(0, len(whole), width)):
                mark = (str(len(piece)), ch) if first else (ch, str(len(piece)))
                parts.append(piece if len(piece) < least else sep.join(mark))
        return "".join(parts)

    order = "its length and then its letter" if first else "its letter and then its length"
    between = f", with the character {sep} between them" if sep else ""
    split = WORDINGS.one("encode", cap=cap) if cap else ""
    return Problem(
        WORDINGS.one(
            "encode 2",
            least=least,
            plural_s="s" * (least > 1),
            order=order,
            between=between,
            split=split,
        ),
        "s: str -> str",
        code,
        brute,
        lambda r: (runs_over(r, "abcxyz", 6, 12 if cap else 9),),
        {"v": 1, "least": least, "first": first, "sep": sep, "cap": cap},
        (("",),),
    )


def _run_scores(rng: Random) -> Problem:
    chosen = draw_letters(rng, 3, "abcdef")
    p, least, c = rng.randint(1, 3), rng.randint(1, 4), rng.randint(2, 30)
    code = WORDINGS.source("run scores solution", least=least, p=p, c=c, chosen=chosen)

    def brute(s: str) -> int:
        total = 0
        starts = [i for i in range(len(s)) if i == 0 or s[i - 1] != s[i]]
        for place, i in enumerate(starts, start=1):
            n = next((j for j in range(i, len(s)) if s[j] != s[i]), len(s)) - i
            if n >= least:
                total += place * (1, n, n * n, n * n * n)[p] * (c if chosen.find(s[i]) >= 0 else 1)
        return total

    power = ("its length", "the square of its length", "the cube of its length")[p - 1]
    return Problem(
        WORDINGS.one(
            "run scores",
            least=least,
            plural_s="s" * (least > 1),
            power=power,
            c=c,
            chosen=listed(chosen),
        ),
        "s: str -> int",
        code,
        brute,
        lambda r: (runs_over(r, "abcdef", 9, 5),),
        {"v": 2, "chosen": chosen, "p": p, "least": least, "c": c},
        (("",),),
    )


def _collapse(rng: Random) -> Problem:
    k, letters = rng.randint(2, 4), rng.randint(4, 6)
    chain, left = LETTERS[:letters], rng.random() < 0.5
    turn = {letter: rng.choice((*chain, "")) for letter in chain}
    code = WORDINGS.source(
        "collapse solution",
        turn=turn,
        plural_s="s" if left else "reversed(s)",
        k=k,
        out="out" if left else "out[::-1]",
    )

    def brute(s: str) -> str:
        if not left:
            s = s[::-1]
        while True:
            places = [i for i in range(len(s) - k + 1) if s[i : i + k] == s[i] * k]
            if not places:
                return s if left else s[::-1]
            i = places[0]
            s = s[:i] + turn[s[i]] + s[i + k :]

    side = "left" if left else "right"
    return Problem(
        WORDINGS.one(
            "collapse",
            chain=chain,
            chain_2=chain[-1],
            k=k,
            side=side,
            chain_3=", ".join(f"{turn[a] or 'nothing'} (if they are {a})" for a in chain),
        ),
        "s: str -> str",
        code,
        brute,
        lambda r: (runs_over(r, chain, 12, k + 1),),
        {"v": 3, "k": k, "turn": turn, "left": left},
        (("",), (chain[0],)),
    )


FAMILIES = (leveled_family("letter_runs", "run-length forms", _encode, _run_scores, _collapse),)
