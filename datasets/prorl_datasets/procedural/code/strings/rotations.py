"""Problems on rotations of strings."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import LETTERS, draw_letters, text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _rotated(rng: Random) -> Problem:
    k, left, mode = rng.randint(1, 12), rng.random() < 0.5, rng.randint(0, 2)
    end = rng.choice(("", "-", "*", "+", ".", "!", "x", "z"))
    what = ("s", "s followed by s reversed", "s reversed")[mode]
    build = ("s", "s + s[::-1]", "s[::-1]")[mode]
    code = WORDINGS.source("rotated solution", build=build, k=k, part=f' + "{end}"' if end else "")
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
        WORDINGS.one(
            "rotated", what=what, k=k, plural_s="s" * (k > 1), side=side, other=other, tail=tail
        ),
        "s: str -> str",
        code,
        brute,
        lambda r: (text_over(r, LETTERS, 2, 12),),
        {"v": 1, "k": k, "left": left, "mode": mode, "end": end},
        (("q",),),
    )


def _rotations(rng: Random) -> Problem:
    order = "".join(rng.sample("abcdef", 6))
    largest, step = rng.random() < 0.5, rng.randint(1, 3)
    code = WORDINGS.source(
        "rotations solution", order=order, step=step, value="-1" if largest else "0"
    )

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

    times = "i" if step == 1 else f"{step} * i"
    return Problem(
        WORDINGS.one(
            "rotations",
            order=" < ".join(order),
            times=times,
            largest="largest" if largest else "smallest",
        ),
        "s: str -> str",
        code,
        brute,
        lambda r: (text_over(r, r.choice(("abcdef", "abc", "ef")), 2, 9),),
        {"v": 2, "order": order, "largest": largest, "step": step},
        (("a",), ("abab",)),
    )


def _necklaces(rng: Random) -> Problem:
    swap, mirror = draw_letters(rng, 2, "abcdefgh"), rng.random() < 0.5
    shift, p, m = rng.random() < 0.5, rng.randint(2, 50), rng.randint(100, 999)
    a, b = swap[0], swap[1]
    code = WORDINGS.source(
        "necklaces solution", mirror=mirror, shift=shift, swap=swap, swap_2=swap[::-1], p=p, m=m
    )

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

    rules = ["moving letters from its front to its end"]
    rules += ["reversing it"] * mirror + [f"exchanging all letters {a} and {b}"] * shift
    return Problem(
        WORDINGS.one("necklaces", rules=", ".join(rules), p=p, m=m),
        "w: strs -> ints",
        code,
        brute,
        draw,
        {"v": 3, "swap": swap if shift else "", "mirror": mirror, "p": p, "m": m},
        (([],),),
    )


FAMILIES = (
    leveled_family(
        "string_rotations", "repeated moves of letters", _rotated, _rotations, _necklaces
    ),
)
