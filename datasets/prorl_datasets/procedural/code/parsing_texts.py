"""Code problems on packed words: repeated, nested and reversed groups.

Leaves out: records (``parsing_records``), programs (``parsing_machines``).
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import ordinal, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_PACKED_GOLD = {
    1: """
    def solve(s):
        out = ""
        for i, c in enumerate(s):
            if c.isalpha():
                near = s[i $side 1:i$cut]
                count = int(near) + $plus if near.isdigit() else 1
                out += chr((ord(c) - 97 + $turn) % 26 + 97) * count
        return out
    """,
    2: """
    def solve(s):
        stack = [""]
        counts = []
        for c in s:
            if c.isdigit():
                counts.append(int(c) + $plus)
            elif c == "$opening":
                stack.append("")
            elif c == "$closing":
                group = stack.pop()
                stack[-1] += group * counts.pop()
            else:
                stack[-1] += chr((ord(c) - 97 + $turn) % 26 + 97)
        return stack[0][::$k]
    """,
    3: """
    def solve(s):
        stack = [""]
        heads = []
        for c in s:
            if c.isdigit() or c == "$mark":
                heads.append(c)
            elif c == "$opening":
                stack.append("")
            elif c == "$closing":
                group = stack.pop()
                sign = heads.pop()
                if sign == "$mark":
                    group = "".join(chr((ord(x) - 97 + $turn) % 26 + 97) for x in reversed(group))
                else:
                    group *= int(sign) + $plus
                stack[-1] += group
            else:
                stack[-1] += c
        word = stack[0]
        total = sum(ord(c) - 96 for c in word)
        return [len(word), total % $m, sum(x == y for x, y in zip(word, word[1:]))]
    """,
}


def _packed(rng: Random, level: int) -> Problem:
    opening, closing = rng.choice(("()", "[]", "{}", "<>"))
    mark = rng.choice("!~*^%")
    turn, plus, modulus = rng.randint(1, 25), rng.randint(0, 3), rng.randint(3, 9)
    k, first = rng.randint(2, 9), rng.random() < 0.5
    head = (
        "`s` is a packed word of small letters"
        + {
            1: " and digits. ",
            2: f", digits and '{opening}', '{closing}'. ",
            3: f", digits, '{opening}', '{closing}' and '{mark}'. ",
        }[level]
    )
    shift = f"moved {turn} places on in the alphabet (after z comes a again)"
    what = {
        1: f"A letter with a digit from 1 to 9 directly {'before' if first else 'after'} it "
        f"stands for that many plus {plus} of the letter; a letter without one stands for "
        f"itself. Each letter of the unpacked word is then {shift}. Give the result.",
        2: f"A digit from 1 to 9 and a group in '{opening}' and '{closing}' after it stand "
        f"for that many plus {plus} copies of the unpacked group; groups may be nested; "
        "other letters stand for themselves. Of the unpacked word, with its letters "
        f"{shift}, give every {ordinal(k)} letter, starting with the first.",
        3: f"A digit from 1 to 9 and a group in '{opening}' and '{closing}' after it stand "
        f"for that many plus {plus} copies of the unpacked group; a group with '{mark}' "
        "in front instead of a digit stands for the unpacked group reversed, with each "
        f"of its letters {shift}. Groups may be nested; other letters stand for "
        "themselves. Unpack s and give a list with the number of letters, followed by "
        "the sum of the letters' places "
        f"in the alphabet (a is 1) modulo {modulus + 90}, followed by the number of "
        "neighbouring letters in the unpacked word that are equal.",
    }[level]
    gold = _PACKED_GOLD[level]
    abc = "abcdefghijklmnopqrstuvwxyz"
    moved = str.maketrans(abc, abc[turn:] + abc[:turn])

    def brute(s: str) -> Any:
        if level == 1:
            pattern = r"(\d?)([a-z])" if first else r"([a-z])(\d?)"
            parts = [m if first else m[::-1] for m in re.findall(pattern, s)]
            return "".join(c * (int(n) + plus if n else 1) for n, c in parts).translate(moved)
        group = re.compile(
            rf"([\d{re.escape(mark)}]){re.escape(opening)}([a-z]*){re.escape(closing)}"
        )
        while hit := group.search(s):
            n, inner = hit.groups()
            new = inner[::-1].translate(moved) if n == mark else inner * (int(n) + plus)
            s = s[: hit.start()] + new + s[hit.end() :]
        if level == 2:
            return "".join(c for i, c in enumerate(s.translate(moved)) if i % k == 0)
        same = sum(len(m.group()) - 1 for m in re.finditer(r"(.)\1+", s))
        return [len(s), sum(abc.index(c) + 1 for c in s) % (modulus + 90), same]

    def draw(r: Random) -> tuple[str]:
        if level == 1:
            units = [r.choice("abcdexyz") for _ in range(r.randint(4, 9))]
            return (
                "".join(("" if r.random() < 0.5 else str(r.randint(1, 5))) + c for c in units)[
                    :: 1 if first else -1
                ],
            )
        return (_pack(r, opening + closing, mark if level == 3 else "", level),)

    key: dict[str, Any] = {"level": level, "turn": turn, "plus": plus}
    key |= (
        {"first": first},
        {"k": k, "pair": opening},
        {"mark": mark, "pair": opening, "m": modulus},
    )[level - 1]
    text = source(
        gold,
        opening=opening,
        closing=closing,
        mark=mark,
        turn=turn,
        plus=plus,
        k=k,
        m=modulus + 90,
        side="-" if first else "+",
        cut="" if first else " + 2",
    )
    if level == 1 and first:
        text = text.replace("s[i - 1:i]", "s[max(0, i - 1):i]")
    return Problem(
        head + what, (("s", "str"),), "ints" if level == 3 else "str", text, brute, draw, key
    )


def _pack(r: Random, pair: str, mark: str, depth: int) -> str:
    out = ""
    for _ in range(r.randint(2, 3)):
        out += "".join(r.choice("abcxyz") for _ in range(r.randint(0, 2)))
        if depth:
            sign = mark if mark and r.random() < 0.4 else str(r.randint(1, 3))
            out += (
                sign
                + pair[0]
                + _pack(r, pair, mark, depth - 1 if r.random() < 0.7 else 0)
                + pair[1]
            )
    return out or "a"


FAMILIES = (code_family("packed_words", _packed),)
