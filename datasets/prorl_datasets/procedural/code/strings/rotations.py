"""Rotations of strings.

Leaves out: hashes of windows (``strings.hashes``).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    draw_letters,
    text_over,
)

_S = (("s", "str"),)


def _rotated(rng: Random) -> Problem:
    k, left, mode = rng.randint(1, 12), rng.random() < 0.5, rng.randint(0, 2)
    end = rng.choice(("", "-", "*", "+", ".", "!", "x", "z"))
    what = ("s", "s followed by s reversed", "s reversed")[mode]
    build = ("s", "s + s[::-1]", "s[::-1]")[mode]
    code = f"""
        def solve(s):
            text = {build}
            k = {k} % len(text)
            return text[k:] + text[:k]{f' + "{end}"' if end else ""}
    """
    if not left:
        code = code.replace(f"k = {k} %", f"k = -{k} %")

    def brute(s: str) -> str:
        turned = list((s, s + "".join(reversed(s)), "".join(reversed(s)))[mode])
        for _ in range(k):
            if left:
                turned.append(turned.pop(0))
            else:
                turned.insert(0, turned.pop())
        return "".join(turned) + end

    side, other = ("first", "end") if left else ("last", "front")
    tail = f" Finally the character {end} is put at the end." if end else ""
    return Problem(
        f"Given a string `s` of 1 to 50 lowercase letters, start with {what} and do this {k} "
        f"time{'s' * (k > 1)}: take away the {side} letter and put it at the {other}.{tail} Find "
        "the "
        "resulting string.",
        _S,
        "str",
        source(code),
        brute,
        lambda r: (text_over(r, LETTERS, 2, 12),),
        {"v": 1, "k": k, "left": left, "mode": mode, "end": end},
        (("q",),),
    )


def _rotations_gold(order: str, step: int, largest: bool) -> str:
    return f"""
        def solve(s):
            order = "{order}"
            rotations = [s[i:] + s[:i] for i in range(0, len(s), {step})]
            ranked = sorted(rotations, key=lambda t: [order.index(ch) for ch in t])
            best = ranked[{"-1" if largest else "0"}]
            return f"{{best}} {{rotations.index(best)}} {{len(set(rotations))}}"
    """


def _rotations_brute(largest: bool, order: str, step: int) -> Callable[[str], str]:
    def brute(s: str) -> str:
        best, place, different = "", 0, list[str]()
        turned = s
        for number in range((len(s) + step - 1) // step):
            if turned not in different:
                different.append(turned)
            for x, y in zip(turned, best or turned, strict=True):
                if x != y:
                    if (order.find(x) > order.find(y)) == largest:
                        best, place = turned, number
                    break
            best = best or turned
            for _ in range(step):
                turned = turned[1:] + turned[0]
        return " ".join((best, str(place), str(len(different))))

    return brute


def _rotations(rng: Random) -> Problem:
    order = "".join(rng.sample("abcdef", 6))
    largest, step = rng.random() < 0.5, rng.randint(1, 3)
    code = _rotations_gold(order, step, largest)

    brute = _rotations_brute(largest, order, step)

    times = "i" if step == 1 else f"{step} * i"
    return Problem(
        f"In this problem the letters a to f have the order {' < '.join(order)}, and strings are "
        "compared letter by "
        "letter by it. Given a string `s` of 1 to 100 of these letters, rotation number i (i = 0, "
        "1, 2, ...) is s with its "
        f"first {times} letters moved to its end, as long as {times} is less than the length of s. "
        "Find the "
        f"{'largest' if largest else 'smallest'} rotation, the lowest number at which it appears, "
        "and how "
        "many different strings the rotations are, as one string with single spaces between the "
        "three.",
        _S,
        "str",
        source(code),
        brute,
        lambda r: (text_over(r, r.choice(("abcdef", "abc", "ef")), 2, 9),),
        {"v": 2, "order": order, "largest": largest, "step": step},
        (("a",), ("abab",)),
    )


def _necklaces_brute(
    a: str, b: str, m: int, mirror: bool, p: int, shift: bool
) -> Callable[[list[str]], list[int]]:
    def brute(w: list[str]) -> list[int]:
        def same(s: str, t: str) -> bool:
            forms = [t] + ([t[::-1]] if mirror else [])
            if shift:
                forms += [f.replace(a, "#").replace(b, a).replace("#", b) for f in forms]
            return len(s) == len(t) and any(s in f + f for f in forms)

        left, sizes, score = list(range(len(w))), [0], 0
        while left:
            group = [i for i in left if same(w[left[0]], w[i])]
            score += left[0] * p + len(group) * len(group)
            sizes.append(len(group))
            left = [i for i in left if i not in group]
        return [len(sizes) - 1, max(sizes), score % m]

    return brute


def _necklaces_gold(mirror: bool, shift: bool, swap: str, p: int, m: int) -> str:
    return f"""
        def solve(w):
            def canonical(s):
                forms = [s, s[::-1]] if {mirror} else [s]
                if {shift}:
                    forms += [t.translate(str.maketrans("{swap}", "{swap[::-1]}")) for t in forms]
                return min(t[i:] + t[:i] for t in forms for i in range(len(t)))

            groups = {{}}
            for place, s in enumerate(w):
                groups.setdefault(canonical(s), []).append(place)
            sizes = sorted(map(len, groups.values()), reverse=True)
            score = sum(first * {p} + len(g) ** 2 for g in groups.values() for first in g[:1])
            return [len(groups), sizes[0] if sizes else 0, score % {m}]
    """


def _necklaces_draw(a: str, b: str, swap: str) -> Callable[[Random], tuple[list[str]]]:
    def draw(r: Random) -> tuple[list[str]]:
        found = [
            text_over(r, r.choice((swap, swap + "ah", "abc")), 1, 5) for _ in range(r.randint(2, 5))
        ]
        for s in list(found):
            k = r.randrange(len(s))
            turned = s[k:] + s[:k]
            found.append(turned[::-1] if r.random() < 0.5 else turned)
            if r.random() < 0.4:
                found.append(turned.translate(str.maketrans(swap, b + a)))
        return (found,)

    return draw


def _necklaces(rng: Random) -> Problem:
    swap, mirror = draw_letters(rng, 2, "abcdefgh"), rng.random() < 0.5
    shift, p, m = rng.random() < 0.5, rng.randint(2, 50), rng.randint(100, 999)
    a, b = swap[0], swap[1]
    code = _necklaces_gold(mirror, shift, swap, p, m)

    brute = _necklaces_brute(a, b, m, mirror, p, shift)

    draw = _necklaces_draw(a, b, swap)

    rules = ["moving letters from its front to its end"]
    rules += ["reversing it"] * mirror + [f"exchanging all letters {a} and {b}"] * shift
    return Problem(
        f"Two strings are alike if one becomes the other by {', '.join(rules)} (any of these, any "
        "number of times). "
        "Given a list `w` of at most 100 words of 1 to 10 letters from a to h, put words that are "
        "alike into "
        "one group (equal words too). Find three integers: the number of groups, the size of the "
        "largest "
        f"one (0 if there are none), and the sum over all groups of ({p} * f + z^2), modulo {m}, "
        "where f is "
        "the place (counted from 0) of the group's first word in `w` and z is the size of the "
        "group.",
        (("w", "strs"),),
        "ints",
        source(code),
        brute,
        draw,
        {"v": 3, "swap": swap if shift else "", "mirror": mirror, "p": p, "m": m},
        (([],),),
    )


FAMILIES = (
    code_family(
        "string_rotations", "repeated moves of letters", leveled(_rotated, _rotations, _necklaces)
    ),
)
