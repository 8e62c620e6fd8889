"""Runs of equal letters: encoded, scored, collapsed.

Leaves out: letters replaced one by one (``strings.letters``).
"""

from __future__ import annotations

from itertools import groupby
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    draw_letters,
    listed,
    runs_over,
)

_S = (("s", "str"),)


def _encode_gold(shown: str, least: int, cap: int) -> str:
    return f"""
        def solve(s):
            out, i = [], 0
            while i < len(s):
                j = i
                while j < len(s) and s[j] == s[i]{f" and j - i < {cap}" if cap else ""}:
                    j += 1
                n, ch = j - i, s[i]
                out.append({shown} if n >= {least} else ch * n)
                i = j
            return "".join(out)
    """


def _encode(rng: Random) -> Problem:
    least, first = rng.randint(1, 5), rng.random() < 0.5
    sep, cap = rng.choice(("", "-", "*", ":", "x", "_")), rng.choice((0, 3, 4, 5, 6, 7, 8, 9))
    shown = f'f"{{n}}{sep}{{ch}}"' if first else f'f"{{ch}}{sep}{{n}}"'
    code = _encode_gold(shown, least, cap)

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
    split = (
        f" A run of more than {cap} is first cut, from the left, into runs of {cap} (the last "
        "one may be "
        "shorter)."
        if cap
        else ""
    )
    return Problem(
        "A run is a longest stretch of equal neighbouring letters. Given a string `s` of at most "
        "100 "
        f"lowercase letters, replace each run of at least {least} letter{'s' * (least > 1)} by "
        f"{order}"
        f"{between}; shorter runs stay as they are.{split} Find the new string.",
        _S,
        "str",
        source(code),
        brute,
        lambda r: (runs_over(r, "abcxyz", 6, 12 if cap else 9),),
        {"v": 1, "least": least, "first": first, "sep": sep, "cap": cap},
        (("",),),
    )


def _run_scores_gold(least: int, p: int, c: int, chosen: str) -> str:
    return f"""
        from itertools import groupby


        def solve(s):
            total, place = 0, 0
            for ch, group in groupby(s):
                n = len(list(group))
                place += 1
                if n >= {least}:
                    total += n ** {p} * ({c} if ch in "{chosen}" else 1) * place
            return total
    """


def _run_scores(rng: Random) -> Problem:
    chosen = draw_letters(rng, 3, "abcdef")
    p, least, c = rng.randint(1, 3), rng.randint(1, 4), rng.randint(2, 30)
    code = _run_scores_gold(least, p, c, chosen)

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
        "Given a string `s` of at most 1000 letters from a to f, take its runs (longest stretches "
        "of equal "
        f"neighbouring letters), numbered 1, 2, 3, ... from the left. A run of at least {least} "
        f"letter{'s' * (least > 1)} is worth its number times {power}, and {c} times that if its "
        "letter "
        f"is one of {listed(chosen)}; a shorter run is worth 0. Find the total worth of all runs.",
        _S,
        "int",
        source(code),
        brute,
        lambda r: (runs_over(r, "abcdef", 9, 5),),
        {"v": 2, "chosen": chosen, "p": p, "least": least, "c": c},
        (("",),),
    )


def _collapse_gold(turn: dict[str, str], k: int, left: bool) -> str:
    return f"""
        def solve(s):
            turn = {turn}
            stack = []
            for ch in {"s" if left else "reversed(s)"}:
                while ch:
                    if stack and stack[-1][0] == ch:
                        stack[-1][1] += 1
                    else:
                        stack.append([ch, 1])
                    ch = ""
                    if stack[-1][1] == {k}:
                        ch = turn[stack.pop()[0]]
            out = "".join(c * n for c, n in stack)
            return {"out" if left else "out[::-1]"}
    """


def _collapse(rng: Random) -> Problem:
    k, letters = rng.randint(2, 4), rng.randint(4, 6)
    chain, left = LETTERS[:letters], rng.random() < 0.5
    turn = {letter: rng.choice((*chain, "")) for letter in chain}
    code = _collapse_gold(turn, k, left)

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
        f"Given a string `s` of at most 1000 letters from {chain[0]} to {chain[-1]}, repeat this "
        "as long as "
        f"possible: among all places where {k} equal letters stand side by side take the one "
        "furthest to "
        f"the {side} and replace these {k} letters by "
        + ", ".join(f"{turn[a] or 'nothing'} (if they are {a})" for a in chain)
        + ". Find the string that is left (it may be empty).",
        _S,
        "str",
        source(code),
        brute,
        lambda r: (runs_over(r, chain, 12, k + 1),),
        {"v": 3, "k": k, "turn": turn, "left": left},
        (("",), (chain[0],)),
    )


FAMILIES = (
    code_family("letter_runs", "run-length forms", leveled(_encode, _run_scores, _collapse)),
)
