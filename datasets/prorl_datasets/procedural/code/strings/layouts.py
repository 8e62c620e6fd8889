"""Texts written into columns and rails and read in another order.

Leaves out: letters that change (``strings.ciphers``).
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


def _columns_gold(rest: str, k: int, odd: int, back: bool) -> str:
    return f"""
        def solve(s):
            s += "{rest}" * (-len(s) % {k})
            lines = [s[i : i + {k}] for i in range(0, len(s), {k})]
            {("pass", "lines[1::2] = [line[::-1] for line in lines[1::2]]", "lines.reverse()")[odd]}
            columns = ["".join(line[i] for line in lines) for i in range({k})]
            return "".join({"reversed(columns)" if back else "columns"})
    """


def _columns(rng: Random) -> Problem:
    k, back, rest = rng.randint(2, 15), rng.random() < 0.5, rng.choice("#*-+.=/~@!")
    odd = rng.randint(0, 2)
    code = _columns_gold(rest, k, odd, back)

    def brute(s: str) -> str:
        height = (len(s) + k - 1) // k
        out = ""
        for x in range(k - 1, -1, -1) if back else range(k):
            for y in range(height):
                row = height - 1 - y if odd == 2 else y
                column = k - 1 - x if odd == 1 and row % 2 == 1 else x
                place = row * k + column
                out += s[place] if place < len(s) else rest
        return out

    change = (
        "",
        " Then every second line (the second, the fourth, ...) is reversed.",
        " Then the order of the lines is reversed.",
    )[odd]
    return Problem(
        f"Given a string `s` of at most 100 letters and digits, write it into lines of {k} "
        "characters, from left "
        f"to right and from top to bottom; the last line is filled up with {rest} if it is "
        f"shorter.{change} "
        "Then read the columns, each from top to bottom, from the "
        f"{'last column to the first' if back else 'first column to the last'}. "
        "Find the string that is read.",
        _S,
        "str",
        source(code).replace("    pass\n", ""),
        brute,
        lambda r: (text_over(r, LETTERS, 3, 30),),
        {"v": 1, "k": k, "back": back, "rest": rest, "odd": odd},
        (("",),),
    )


def _fence_gold(k: int, start: int, shift: int, up: bool, every: int) -> str:
    return f"""
        def solve(s):
            rails = [[] for _ in range({k})]
            for i, ch in enumerate(s):
                place = (i + {start}) % {2 * k - 2}
                rails[min(place, {2 * k - 2} - place)].append(ch)
            order = {"rails[::-1]" if up else "rails"}
            for rail in order[{every % 2}::2]:
                rail.reverse()
            read = "".join("".join(rail) for rail in order)
            return "".join(chr((ord(ch) - 97 + {shift}) % 26 + 97) for ch in read)
    """


def _fence_brute(every: int, k: int, shift: int, start: int, up: bool) -> Callable[[str], str]:
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

    return brute


def _fence(rng: Random) -> Problem:
    k, start, up = rng.randint(3, 9), rng.randint(0, 7), rng.random() < 0.5
    every, shift = rng.randint(1, 2), rng.randint(0, 25)
    start %= 2 * k - 2
    code = _fence_gold(k, start, shift, up, every)

    brute = _fence_brute(every, k, shift, start, up)

    began = "on the top rail" if start == 0 else f"as if {start} letters had been written before it"
    moved = (
        f" Finally every letter moves {shift} forward in the alphabet (after z comes a)."
        if shift
        else ""
    )
    which = "first, third, fifth" if every == 2 else "second, fourth, sixth"
    return Problem(
        f"Given a string `s` of at most 200 lowercase letters, write it letter by letter on {k} "
        "rails in a zigzag: "
        "on the top rail, the next lower one, and so on to the bottom rail, then up again to the "
        "top rail, "
        f"and so forth; the writing begins {began}. Read the rails from "
        f"{'bottom to top' if up else 'top to bottom'}, "
        f"each from left to right, but the {which}, ... rail read is read from right to "
        f"left.{moved} Find "
        "the string that is read.",
        _S,
        "str",
        source(code),
        brute,
        lambda r: (text_over(r, LETTERS, 5, 40),),
        {"v": 2, "k": k, "start": start, "up": up, "every": every, "shift": shift},
        (("",),),
    )


def _shuffles_gold(order: list[int], size: int, shift: int) -> str:
    return f"""
        def solve(s, t):
            n, order = len(s), {order}
            moved = [start + i for i in order for start in range(0, n, {size}) if start + i < n]
            place = list(range(n))
            power = t
            while power:
                if power & 1:
                    place = [moved[i] for i in place]
                moved = [moved[i] for i in moved]
                power >>= 1
            return "".join(chr((ord(s[i]) - 97 + {shift} * t) % 26 + 97) for i in place)
    """


def _shuffles_brute(order: list[int], shift: int, size: int) -> Callable[[str, int], str]:
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

    return brute


def _shuffles(rng: Random) -> Problem:
    order = list(range(rng.randint(4, 7)))
    while order == sorted(order):
        rng.shuffle(order)
    size, shift = len(order), rng.randint(0, 25)
    code = _shuffles_gold(order, size, shift)

    brute = _shuffles_brute(order, shift, size)

    moved = (
        f", and every letter moves {shift} forward in the alphabet (after z comes a)"
        if shift
        else ""
    )
    return Problem(
        f"One round writes a string into lines of {size} letters (the last line may be shorter) "
        "and reads the "
        f"columns, each from top to bottom, in the order {', '.join(str(i + 1) for i in order)} "
        "(column 1 is "
        f"the leftmost){moved}. The result is the string of the next round. Given a string `s` of "
        "1 to 60 "
        f"lowercase letters and an integer `t` (0 <= t <= 10^15), find the string after t rounds.",
        (("s", "str"), ("t", "int")),
        "str",
        source(code),
        brute,
        lambda r: (text_over(r, LETTERS, 6, 24), r.randint(1, 10 ** r.randint(1, 15))),
        {"v": 3, "order": order, "shift": shift},
        (("a", 0),),
    )


FAMILIES = (
    code_family(
        "text_layouts", "written in lines, read another way", leveled(_columns, _fence, _shuffles)
    ),
)
