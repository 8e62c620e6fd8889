"""Problems on lists of words."""

from __future__ import annotations

import re
from collections import Counter
from functools import cmp_to_key
from random import Random
from typing import Any

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    WORDS,
    draw_letters,
    listed,
    words,
)
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _word_test(rng: Random) -> tuple[str, str, Any]:
    """Draw a condition on a word; return (text, expression in ``word``, check)."""
    kind, n = rng.choice((0, 1, 2, 2, 3, 3, 4, 4)), rng.randint(3, 7)
    letters = draw_letters(rng, rng.randint(2, 3), "abcdeilmnoprstu")
    return (
        (f"have at least {n} letters", f"len(word) >= {n}", lambda w: len(list(w)) > n - 1),
        (f"have at most {n} letters", f"len(word) <= {n}", lambda w: len(list(w)) < n + 1),
        (
            f"contain at least one of the letters {listed(letters)}",
            f'any(ch in "{letters}" for ch in word)',
            lambda w: sum(w.count(ch) for ch in letters) > 0,
        ),
        (
            f"contain none of the letters {listed(letters)}",
            f'not any(ch in "{letters}" for ch in word)',
            lambda w: sum(w.count(ch) for ch in letters) == 0,
        ),
        (
            f"begin or end with one of the letters {listed(letters)}",
            f'word[0] in "{letters}" or word[-1] in "{letters}"',
            lambda w: re.search(f"^[{letters}]|[{letters}]$", w) is not None,
        ),
    )[kind]


def _chosen_words(rng: Random) -> Problem:
    text, code, check = _word_test(rng)
    kind = rng.randint(0, 3)
    what = WORDINGS.all("chosen words")[kind]
    expression = (
        "found",
        "[part for word in found for part in (word, str(len(word)))]",
        "found[::-1]",
        "[word[::-1] for word in found]",
    )[kind]

    def brute(w: list[str]) -> list[str]:
        out: list[str] = []
        for word in w:
            if not check(word):
                continue
            if kind == 2:
                out.insert(0, word)
            else:
                out.append("".join(reversed(word)) if kind == 3 else word)
            if kind == 1:
                out.append(str(len(word)))
        return out

    wording = what.replace(
        "list the lengths of these words, in the given order of the words, each after its word",
        "list each of these words followed by its length, in the given order",
    )
    return Problem(
        WORDINGS.one("chosen words 2", text=text, told=wording),
        "w: strs -> strs",
        f"def solve(w):\n    found = [word for word in w if {code}]\n    return {expression}",
        brute,
        lambda r: (words(r, 3, 9),),
        {"v": 1, "test": text, "kind": kind},
        (([],),),
    )


def _ranked_words(rng: Random) -> Problem:
    text, code, check = _word_test(rng)
    most, back, short = rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.5
    top = rng.randint(2, 6)
    code_ = WORDINGS.source(
        "ranked words solution",
        code=code,
        reverse_true=", reverse=True" if back else "",
        reverse_true_2="" if short else ", reverse=True",
        reverse_true_3=", reverse=True" if most else "",
        top=top,
    )

    def brute(w: list[str]) -> list[str]:
        def compare(x: str, y: str) -> int:
            for left, right, down in ((w.count(x), w.count(y), most), (len(x), len(y), not short)):
                if left != right:
                    return -1 if (left > right) == down else 1
            return -1 if (x > y) == back else 1

        left = [word for i, word in enumerate(w) if check(word) and word not in w[:i]]
        return [f"{word}:{w.count(word)}" for word in sorted(left, key=cmp_to_key(compare))[:top]]

    def draw(r: Random) -> tuple[list[str]]:
        pool = [r.choice(WORDS) for _ in range(9)]
        return ([r.choice(pool) for _ in range(r.randint(5, 18))],)

    return Problem(
        WORDINGS.one(
            "ranked words",
            text=text,
            largest="largest" if most else "smallest",
            shorter="shorter" if short else "longer",
            later="later" if back else "earlier",
            top=top,
        ),
        "w: strs -> strs",
        code_,
        brute,
        draw,
        {"v": 2, "test": text, "most": most, "back": back, "short": short, "top": top},
        (([],),),
    )


def _word_chain(rng: Random) -> Problem:
    k, bonus, cyclic = rng.randint(1, 2), rng.randint(1, 30), rng.randint(0, 2)
    chosen = draw_letters(rng, rng.randint(3, 5), LETTERS[:20])
    later = ("u[-1] <= v[0]", "u[-1] != v[0]", f"abs(len(u) - len(v)) <= {k}")[cyclic]
    rule = WORDINGS.all("word chain", k=k)[cyclic]
    code = WORDINGS.source("word chain solution", bonus=bonus, chosen=chosen, later=later)

    def fits(u: str, v: str) -> bool:
        return (not u[-1] > v[0], u[-1] != v[0], -k <= len(u) - len(v) <= k)[cyclic]

    def brute(w: list[str]) -> list[int]:
        totals: Counter[int] = Counter()

        def extend(last: int, total: int) -> None:
            if last >= 0:
                totals[total] += 1
            for j in range(last + 1, len(w)):
                if last < 0 or fits(w[last], w[j]):
                    extend(j, total + len(w[j]) + (bonus if chosen.count(w[j][0]) else 0))

        extend(-1, 0)
        return [max(totals, default=0), totals[max(totals, default=0)]]

    return Problem(
        WORDINGS.one("word chain 2", rule=rule, bonus=bonus, chosen=listed(chosen)),
        "w: strs -> ints",
        code,
        brute,
        lambda r: (words(r, 3, 9),),
        {"v": 3, "k": k if cyclic == 2 else 0, "bonus": bonus, "rule": cyclic, "chosen": chosen},
        (([],),),
    )


FAMILIES = (
    leveled_family("word_lists", "filtered and changed", _chosen_words, _ranked_words, _word_chain),
)
