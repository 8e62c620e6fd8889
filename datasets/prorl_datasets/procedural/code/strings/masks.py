"""Problems on wildcard masks."""

from __future__ import annotations

import re
from itertools import product
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import draw_letters, text_over, words
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_SYMBOLS = "abcdefghijklmnopqrstuvwxyz"


def _mask_places(rng: Random) -> Problem:
    mask = "".join(rng.choice("?abcde") for _ in range(rng.randint(2, 4)))
    letters = draw_letters(rng, 2, "abcde")
    if "?" not in mask:
        mask = mask[:-1] + "?"

    def brute(s: str) -> list[int]:
        pattern = mask.replace("?", f"[{letters}]")
        return [match.start() for match in re.finditer(f"(?={pattern})", s)]

    def draw(r: Random) -> tuple[str]:
        parts = [
            "".join(r.choice(letters) if m == "?" else m for m in mask)
            if r.random() < 0.5
            else r.choice("abcde")
            for _ in range(r.randint(2, 9))
        ]
        return ("".join(parts),)

    return Problem(
        WORDINGS.one("mask places", letters=letters, mask=mask),
        "s: str -> ints",
        WORDINGS.source(
            "mask places solution", len_value=len(mask) - 1, mask=mask, letters=letters
        ),
        brute,
        draw,
        {"v": 1, "mask": mask, "letters": letters},
    )


def _mask_words_list(r: Random, mask: str, any_: str, one: str) -> list[str]:
    lengths = {any_: (0, 3), one: (1, 1)}
    drawn = words(r, 4, 12)
    for _ in range(r.randint(0, 4)):
        parts = [text_over(r, _SYMBOLS, *lengths[m]) if m in lengths else m for m in mask]
        drawn.append("".join(parts))
    r.shuffle(drawn)
    return drawn


def _mask_words(rng: Random) -> Problem:
    any_, one = rng.sample("*?#+%", 2)
    pieces = [any_, *(rng.choice("aeinorstlc") for _ in range(rng.randint(1, 2))), any_]
    pieces.insert(rng.randint(0, len(pieces)), one)
    mask = "".join(pieces) if rng.random() < 0.6 else "".join(pieces[:-1])
    least, c = rng.randint(0, 2), rng.randint(1, 20)
    code = WORDINGS.source("mask words solution", any=any_, one=one, mask=mask, c=c, least=least)

    def brute(w: list[str]) -> list[int]:
        table = {any_: ".*", one: "."}
        pattern = "".join(table.get(m, m) for m in mask)
        good = [(i, word) for i, word in enumerate(w) if re.fullmatch(pattern, word)]
        total = sum(c * i + len(word) for i, word in good)
        return [len(good), total, max(i for i, _ in good) if len(good) > least else -1]

    more = ("at least one word fits", "at least two words fit", "at least three words fit")[least]
    return Problem(
        WORDINGS.one("mask words", any=any_, one=one, mask=mask, c=c, more=more),
        "w: strs -> ints",
        code,
        brute,
        lambda r: (_mask_words_list(r, mask, any_, one),),
        {"v": 2, "mask": mask.translate({ord(any_): "*", ord(one): "?"}), "least": least, "c": c},
        (([],),),
    )


def _mask_fill(rng: Random) -> Problem:
    size, m = rng.randint(3, 5), rng.randint(1000, 99999)
    alphabet = _SYMBOLS[:size]
    banned = sorted({text_over(rng, alphabet, 2, 2) for _ in range(rng.randint(1, 4))})
    letter, k = rng.choice(alphabet), rng.randint(2, 4)
    r0 = rng.randrange(k)
    code = WORDINGS.source(
        "mask fill solution",
        alphabet=alphabet,
        banned=repr(tuple(banned)),
        letter=letter,
        k=k,
        m=m,
        r0=r0,
    )

    def brute(s: str) -> int:
        total, holes = 0, s.count("?")
        for fill in product(alphabet, repeat=holes):
            letters = iter(fill)
            text = "".join(next(letters) if ch == "?" else ch for ch in s)
            total += text.count(letter) % k == r0 and not any(pair in text for pair in banned)
        return total % m

    def draw(r: Random) -> tuple[str]:
        text = list("?" * r.randint(2, 4) + text_over(r, alphabet, 0, 6))
        r.shuffle(text)
        return ("".join(text),)

    return Problem(
        WORDINGS.one(
            "mask fill",
            alphabet=alphabet,
            alphabet_2=alphabet[-1],
            banned=", ".join(banned),
            letter=letter,
            r0=r0,
            k=k,
            m=m,
        ),
        "s: str -> int",
        code,
        brute,
        draw,
        {"v": 3, "size": size, "m": m, "banned": banned, "letter": letter, "k": k, "r": r0},
        (("??",), ("????",)),
    )


FAMILIES = (
    leveled_family(
        "letter_masks", "places where a mask fits", _mask_places, _mask_words, _mask_fill
    ),
)
