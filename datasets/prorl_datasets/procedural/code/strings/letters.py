"""Letters replaced one by one, by place and by neighbour.

Leaves out: systems of rules (``strings.rewriting``).
"""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    draw_letters,
    listed,
    text_over,
)

_S = (("s", "str"),)


def _replaced(rng: Random) -> Problem:
    a, b, c = rng.sample(LETTERS[:12], 3)
    new, mode = rng.choice("xyz*#-+"), rng.randint(0, 2)
    what = (
        f"replace every {a} and every {b} by {new} and double every {c}",
        f"remove every {a}, replace every {b} by {new} and every {c} by {new + new}",
        f"swap the letters {a} and {b} everywhere and put {new} in front of every {c}",
    )[mode]
    table = (
        {a: new, b: new, c: c + c},
        {a: "", b: new, c: new + new},
        {a: b, b: a, c: new + c},
    )[mode]
    shown = "{" + ", ".join(f'"{k}": "{v}"' for k, v in table.items()) + "}"

    def brute(s: str) -> str:
        capital = s.upper().replace(c.upper(), table[c]) if mode != 2 else s.upper()
        if mode == 2:
            capital = capital.replace(c.upper(), new + c)
        return capital.replace(a.upper(), table[a]).replace(b.upper(), table[b]).lower()

    return Problem(
        f"Given a string `s` of at most 100 lowercase letters, {what}. All of this happens to the "
        "letters of "
        "the given string only, not to letters that were put in. Find the new string.",
        _S,
        "str",
        f'def solve(s):\n    table = {shown}\n    return "".join(table.get(ch, ch) for ch in s)',
        brute,
        lambda r: (text_over(r, a + b + c + LETTERS[:14], 4, 14),),
        {"v": 1, "abc": [*sorted((a, b)), c] if mode != 1 else [a, b, c], "new": new, "mode": mode},
        (("",),),
    )


def _positional_gold(kept: str, test: str, shift: int, up: bool) -> str:
    return f"""
        def solve(s):
            out = []
            for i, ch in enumerate(s):
                if ch in "{kept}":
                    out.append(ch{".upper()" if up else " + ch"})
                elif {test}:
                    out.append(chr((ord(ch) - 97 + {shift}) % 26 + 97))
                else:
                    out.append(ch)
            return "".join(out)
    """


def _positional(rng: Random) -> Problem:
    k, start = rng.randint(2, 6), rng.randint(0, 1)
    shift, kept = rng.randint(1, 25), draw_letters(rng, 3, "abcdefgh")
    up = rng.random() < 0.5
    test = f"i % {k} == {start}"
    code = _positional_gold(kept, test, shift, up)

    def brute(s: str) -> str:
        moved = dict(zip(LETTERS, LETTERS[shift:] + LETTERS[:shift], strict=True))
        out = list(s)
        for i in range(start, len(s), k):
            out[i] = moved[s[i]]
        for i in range(len(s)):
            if kept.count(s[i]):
                out[i] = s[i].upper() if up else 2 * s[i]
        return "".join(out)

    done = "becomes a capital letter" if up else "is doubled"
    places = ", ".join(str(start + k * i) for i in range(3))
    return Problem(
        "Given a string `s` of at most 100 lowercase letters, whose places count from 0: each of "
        "the letters "
        f"{listed(kept)} {done}, wherever it stands. Any other letter at one of the places "
        f"{places}, ... "
        f"moves {shift} place{'s' * (shift > 1)} forward in the alphabet (after z comes a). All "
        "other "
        "letters stay. Places are those in the given string. Find the new string.",
        _S,
        "str",
        source(code),
        brute,
        lambda r: (text_over(r, LETTERS + "abcdefgh", 3, 16),),
        {"v": 2, "k": k, "start": start, "shift": shift, "kept": kept, "up": up},
        (("",),),
    )


def _rounds_gold(a: int, b: int, edge: str, c: int, size: int) -> str:
    return f"""
        def solve(s, t):
            values = [ord(ch) - 97 for ch in s]
            n = len(values)
            seen = {{}}
            history = []
            while tuple(values) not in seen and len(history) < t:
                seen[tuple(values)] = len(history)
                history.append(values)
                values = [({a} * values[i] + {b} * {edge} + {c}) % {size} for i in range(n)]
            if len(history) < t:
                first = seen[tuple(values)]
                values = history[first + (t - first) % (len(history) - first)]
            return "".join(chr(v + 97) for v in values)
    """


def _rounds(rng: Random) -> Problem:
    size = rng.randint(5, 12)
    a, b = rng.randint(1, size - 1), rng.randint(1, size - 1)
    ring, c = rng.random() < 0.5, rng.randint(0, size - 1)
    alphabet = LETTERS[:size]
    edge = "values[(i + 1) % n]" if ring else "(values[i + 1] if i + 1 < n else 0)"
    code = _rounds_gold(a, b, edge, c, size)

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
        f"The letters {alphabet[0]} to {alphabet[-1]} have the values 0 to {size - 1}. In one "
        "round every letter of "
        "a string is replaced, all at once: a letter of value v whose right neighbour has value r "
        "becomes "
        f"the letter of value ({a} * v + {b} * r + {c}) mod {size}; {last}. Given a string `s` of "
        "1 to 20 "
        f"of these letters and an integer `t` (0 <= t <= 10^5), find the string after t rounds.",
        (("s", "str"), ("t", "int")),
        "str",
        source(code),
        brute,
        lambda r: (text_over(r, alphabet, 2, 8), r.randint(1, 40)),
        {"v": 3, "a": a, "b": b, "size": size, "ring": ring, "c": c},
        ((alphabet[1], 0),),
    )


FAMILIES = (
    code_family(
        "letter_rewriting",
        "letters replaced, doubled, removed",
        leveled(_replaced, _positional, _rounds),
    ),
)
