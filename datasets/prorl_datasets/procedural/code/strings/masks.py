"""Masks with wildcards: found, matched, filled.

Leaves out: brackets (``strings.brackets``).
"""

from __future__ import annotations

import re
from itertools import product
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import draw_letters, text_over, words

_W = (("w", "strs"),)


_SYMBOLS = "abcdefghijklmnopqrstuvwxyz"


def _mask_places_gold(mask: str, letters: str) -> str:
    return f"""
        def solve(s):
            places = []
            for i in range(len(s) - {len(mask) - 1}):
                part = zip(s[i:], "{mask}")
                if all(ch in ("{letters}" if m == "?" else m) for ch, m in part):
                    places.append(i)
            return places
    """


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
        f"A mask is a word in which ? stands for one letter that is {letters[0]} or {letters[1]}; "
        "every other letter stands for itself. "
        "Given a string `s` of at most 200 letters from a to e, find all places (from 0, "
        "ascending) at which a substring begins that "
        f"fits the mask {mask} and has its length. The result is empty if there are none.",
        (("s", "str"),),
        "ints",
        source(_mask_places_gold(mask, letters)),
        brute,
        draw,
        {"v": 1, "mask": mask, "letters": letters},
    )


def _mask_words_gold(any_: str, one: str, mask: str, c: int, least: int) -> str:
    return f"""
        def fits(word, mask):
            row = [True] + [False] * len(word)
            for m in mask:
                if m == "{any_}":
                    following = [row[0]]
                    for j in range(len(word)):
                        following.append(row[j + 1] or following[j])
                else:
                    same = [row[j] and m in (ch, "{one}") for j, ch in enumerate(word)]
                    following = [False, *same]
                row = following
            return row[-1]


        def solve(w):
            good = [i for i, word in enumerate(w) if fits(word, "{mask}")]
            total = sum(len(w[i]) + {c} * i for i in good)
            return [len(good), total, good[-1] if len(good) > {least} else -1]
    """


def _mask_words_list(r: Random, mask: str, any_: str, one: str) -> list[str]:
    """Return common words and up to four words made to fit the mask, shuffled."""
    lengths = {any_: (0, 3), one: (1, 1)}
    found = words(r, 4, 12)
    for _ in range(r.randint(0, 4)):
        parts = [text_over(r, _SYMBOLS, *lengths[m]) if m in lengths else m for m in mask]
        found.append("".join(parts))
    r.shuffle(found)
    return found


def _mask_words(rng: Random) -> Problem:
    any_, one = rng.sample("*?#+%", 2)
    pieces = [any_, *(rng.choice("aeinorstlc") for _ in range(rng.randint(1, 2))), any_]
    pieces.insert(rng.randint(0, len(pieces)), one)
    mask = "".join(pieces) if rng.random() < 0.6 else "".join(pieces[:-1])
    least, c = rng.randint(0, 2), rng.randint(1, 20)
    code = _mask_words_gold(any_, one, mask, c, least)

    def brute(w: list[str]) -> list[int]:
        table = {any_: ".*", one: "."}
        pattern = "".join(table.get(m, m) for m in mask)
        good = [(i, word) for i, word in enumerate(w) if re.fullmatch(pattern, word)]
        total = sum(c * i + len(word) for i, word in good)
        return [len(good), total, max(i for i, _ in good) if len(good) > least else -1]

    more = ("at least one word fits", "at least two words fit", "at least three words fit")[least]
    return Problem(
        f"In a mask {any_} stands for any number of letters (also none), {one} for exactly one "
        "letter, and every letter for itself. "
        "Given a list `w` of at most 200 lowercase words, find three integers about the words "
        f"that fit the mask {mask} as a whole: their "
        f"number, the sum of (length + {c} * place) over them (places in `w` count from 0), and "
        "the place of the last of them if "
        f"{more}, otherwise -1.",
        _W,
        "ints",
        source(code),
        brute,
        lambda r: (_mask_words_list(r, mask, any_, one),),
        {"v": 2, "mask": mask.translate({ord(any_): "*", ord(one): "?"}), "least": least, "c": c},
        (([],),),
    )


def _mask_fill_gold(alphabet: str, letter: str, k: int, m: int, r0: int, banned: list[str]) -> str:
    return f"""
        def solve(s):
            ways = {{("", 0): 1}}
            for ch in s:
                following = {{}}
                for (last, count), number in ways.items():
                    for new in "{alphabet}" if ch == "?" else ch:
                        if last + new not in {tuple(banned)!r}:
                            key = (new, (count + (new == "{letter}")) % {k})
                            following[key] = (following.get(key, 0) + number) % {m}
                ways = following
            return sum(number for (_, count), number in ways.items() if count == {r0}) % {m}
    """


def _mask_fill(rng: Random) -> Problem:
    size, m = rng.randint(3, 5), rng.randint(1000, 99999)
    alphabet = _SYMBOLS[:size]
    banned = sorted({text_over(rng, alphabet, 2, 2) for _ in range(rng.randint(1, 4))})
    letter, k = rng.choice(alphabet), rng.randint(2, 4)
    r0 = rng.randrange(k)
    code = _mask_fill_gold(alphabet, letter, k, m, r0, banned)

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
        f"Given a string `s` of at most 1000 characters, each a letter from {alphabet[0]} to "
        f"{alphabet[-1]} or ?, replace every ? by one of these "
        f"letters so that none of {', '.join(banned)} stands anywhere in the string (as two "
        "neighbouring letters) and the number of letters "
        f"{letter} in the whole string leaves the remainder {r0} when divided by {k}. Find the "
        f"number of ways modulo {m} (0 "
        "if there is none).",
        (("s", "str"),),
        "int",
        source(code),
        brute,
        draw,
        {"v": 3, "size": size, "m": m, "banned": banned, "letter": letter, "k": k, "r": r0},
        (("??",), ("????",)),
    )


FAMILIES = (
    code_family(
        "letter_masks", "places where a mask fits", leveled(_mask_places, _mask_words, _mask_fill)
    ),
)
