"""Problems on texts written into columns or rails and read in another order."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import LETTERS, text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _columns(rng: Random) -> Problem:
    k, back, filler = rng.randint(2, 15), rng.random() < 0.5, rng.choice("#*-+.=/~@!")
    odd = rng.randint(0, 2)
    code = WORDINGS.source(
        "columns solution",
        rest=filler,
        k=k,
        odd_word=("pass", "lines[1::2] = [line[::-1] for line in lines[1::2]]", "lines.reverse()")[
            odd
        ],
        reversed_columns="reversed(columns)" if back else "columns",
    )

    def brute(s: str) -> str:
        height = (len(s) + k - 1) // k
        out = ""
        for x in range(k - 1, -1, -1) if back else range(k):
            for y in range(height):
                row = height - 1 - y if odd == 2 else y
                column = k - 1 - x if odd == 1 and row % 2 == 1 else x
                place = row * k + column
                out += s[place] if place < len(s) else filler
        return out

    change = (
        "",
        " Then every second line (the second, the fourth, ...) is reversed.",
        " Then the order of the lines is reversed.",
    )[odd]
    return Problem(
        WORDINGS.one(
            "columns",
            k=k,
            rest=filler,
            change=change,
            last_column="last column to the first" if back else "first column to the last",
        ),
        "s: str -> str",
        code.replace("    pass\n", ""),
        brute,
        lambda r: (text_over(r, LETTERS, 3, 30),),
        {"v": 1, "k": k, "back": back, "rest": filler, "odd": odd},
        (("",),),
    )


def _fence(rng: Random) -> Problem:
    k, start, up = rng.randint(3, 9), rng.randint(0, 7), rng.random() < 0.5
    every, shift = rng.randint(1, 2), rng.randint(0, 25)
    start %= 2 * k - 2
    code = WORDINGS.source(
        "fence solution",
        k=k,
        start=start,
        k_value=2 * k - 2,
        rails="rails[::-1]" if up else "rails",
        every_mod_2=every % 2,
        shift=shift,
    )

    def brute(s: str) -> str:
        rail, step, marks = 0, 1, list[int]()
        for _ in range(start + len(s)):
            marks.append(rail)
            if not 0 <= rail + step < k:
                step = -step
            rail += step
        marks = marks[start:]
        out = ""
        for number, rail in enumerate(range(k - 1, -1, -1) if up else range(k)):
            part = [ch for ch, mark in zip(s, marks, strict=True) if mark == rail]
            if number % 2 == every % 2:
                part.reverse()
            out += "".join(LETTERS[(LETTERS.index(ch) + shift) % 26] for ch in part)
        return out

    began = "on the top rail" if start == 0 else f"as if {start} letters had been written before it"
    moved = (
        f" Finally every letter moves {shift} forward in the alphabet (after z comes a)."
        if shift
        else ""
    )
    which = "first, third, fifth" if every == 2 else "second, fourth, sixth"
    return Problem(
        WORDINGS.one(
            "fence",
            k=k,
            began=began,
            bottom_to="bottom to top" if up else "top to bottom",
            which=which,
            moved=moved,
        ),
        "s: str -> str",
        code,
        brute,
        lambda r: (text_over(r, LETTERS, 5, 40),),
        {"v": 2, "k": k, "start": start, "up": up, "every": every, "shift": shift},
        (("",),),
    )


def _shuffles(rng: Random) -> Problem:
    order = list(range(rng.randint(4, 7)))
    while order == sorted(order):
        rng.shuffle(order)
    size, shift = len(order), rng.randint(0, 25)
    code = WORDINGS.source("shuffles solution", order=order, size=size, shift=shift)

    def brute(s: str, t: int) -> str:
        def once(text: str) -> str:
            columns = {i: text[i::size] for i in range(size)}
            return "".join(columns[i] for i in order)

        marks = "".join(chr(0x100 + i) for i in range(len(s)))
        rounds = [marks]
        while once(rounds[-1]) != marks:
            rounds.append(once(rounds[-1]))
        text = "".join(s[ord(mark) - 0x100] for mark in rounds[t % len(rounds)])
        alphabet = LETTERS[shift * t % 26 :] + LETTERS
        return "".join(alphabet[LETTERS.index(ch)] for ch in text)

    moved = (
        f", and every letter moves {shift} forward in the alphabet (after z comes a)"
        if shift
        else ""
    )
    return Problem(
        WORDINGS.one(
            "shuffles", size=size, order=", ".join(str(i + 1) for i in order), moved=moved
        ),
        "s: str, t: int -> str",
        code,
        brute,
        lambda r: (text_over(r, LETTERS, 6, 24), r.randint(1, 10 ** r.randint(1, 15))),
        {"v": 3, "order": order, "shift": shift},
        (("a", 0),),
    )


FAMILIES = (
    leveled_family(
        "text_layouts", "written in lines, read another way", _columns, _fence, _shuffles
    ),
)
