"""Problems on groups and chains of words."""

from __future__ import annotations

import re
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    draw_letters,
    listed,
    text_over,
    words,
)
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _group_key(rng: Random) -> Problem:
    k, kind = rng.randint(1, 3), rng.choice((0, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3))
    letters = draw_letters(rng, rng.randint(3, 5), "aeioulnrstgmpc")
    what = WORDINGS.all("group key", k=k, letters=listed(letters))[kind]
    key = (
        f"word[:{k}]",
        f"word[-{k}:]",
        f'sum(ch in "{letters}" for ch in word)',
        f'"".join(ch for ch in word if ch not in "{letters}")',
    )[kind]
    code = WORDINGS.source("group key solution", key_=key)

    def alike(u: str, v: str) -> bool:
        if kind == 0:
            return u[:k] == v[:k]
        if kind == 1:
            return u[::-1][:k] == v[::-1][:k]
        if kind == 2:
            return sum(map(u.count, letters)) == sum(map(v.count, letters))
        return re.sub(f"[{letters}]", "", u) == re.sub(f"[{letters}]", "", v)

    def brute(w: list[str]) -> list[int]:
        starts = [i for i in range(len(w)) if not any(alike(w[i], w[j]) for j in range(i))]
        return [sum(1 for v in w if alike(w[i], v)) for i in starts]

    return Problem(
        WORDINGS.one("group key 2", what=what),
        "w: strs -> ints",
        code,
        brute,
        lambda r: (words(r, 4, 12),),
        {"v": 1, "kind": kind, "k": k if kind < 2 else 0, "letters": letters if kind > 1 else ""},
        (([],),),
    )


def _anagrams(rng: Random) -> Problem:
    free = draw_letters(rng, rng.randint(2, 4), "abcdeilnorst")
    least, score = rng.randint(1, 2), rng.randint(0, 2)
    joiner = rng.choice("+-/|&=")
    shown = ("first", "last", "longest")[score]
    pick = ("group[0]", "group[-1]", "max(group, key=len)")[score]
    code = WORDINGS.source("anagrams solution", free=free, least=least, pick=pick, joiner=joiner)

    def brute(w: list[str]) -> list[str]:
        def alike(u: str, v: str) -> bool:
            counts = [(u.count(ch), v.count(ch)) for ch in LETTERS if ch not in free]
            return all(x == y for x, y in counts)

        groups: list[list[str]] = []
        for word in w:
            home = [group for group in groups if alike(group[0], word)]
            if home:
                home[0].append(word)
            else:
                groups.append([word])
        out = []
        for size in range(len(w), least - 1, -1):
            for group in groups:
                if len(group) == size:
                    longest = next(x for x in group if all(len(x) >= len(y) for y in group))
                    out.append(f"{(group[0], group[-1], longest)[score]}{joiner}{size}")
        return out

    def draw(r: Random) -> tuple[list[str]]:
        groups = words(r, 3, 6)
        for word in list(groups):
            mixed = list(word) + [r.choice(free)] * r.randint(0, 1)
            r.shuffle(mixed)
            groups.append("".join(mixed))
        r.shuffle(groups)
        return (groups,)

    ties = " (the first such one)" if score == 2 else ""
    return Problem(
        WORDINGS.one(
            "anagrams",
            free=listed(free),
            least=least,
            plural_s="s" * (least > 1),
            shown=shown,
            ties=ties,
            joiner=joiner,
        ).replace(f"its {shown} word in the order of `w`{ties}", f"its {shown} word{ties}"),
        "w: strs -> strs",
        code,
        brute,
        draw,
        {"v": 2, "free": free, "least": least, "score": score, "joiner": joiner},
        (([],),),
    )


def _linked(rng: Random) -> Problem:
    k, size = rng.randint(1, 2), rng.randint(3, 5)
    p, m = rng.randint(2, 40), rng.randint(50, 999)
    free = draw_letters(rng, 2, "abcdef")
    code = WORDINGS.source("linked solution", free=free, k=k, p=p, m=m)

    def brute(w: list[str]) -> list[int]:
        def distance(u: str, v: str) -> int:
            plain = [t.replace(free[1], free[0]) for t in (u, v)]
            return len([i for i in range(size) if plain[0][i] != plain[1][i]])

        labels = list(range(len(w)))
        changed = True
        while changed:
            changed = False
            for i in range(len(w)):
                for j in range(len(w)):
                    if distance(w[i], w[j]) <= k and labels[i] > labels[j]:
                        labels[i], changed = labels[j], True
        roots = [i for i in range(len(w)) if labels[i] == i]
        sizes = [labels.count(root) for root in roots]
        score = sum((p * root + n * n) % m for root, n in zip(roots, sizes, strict=True))
        return [len(roots), max([0, *sizes]), score]

    return Problem(
        WORDINGS.one("linked", size=size, k=k, plural_s="s" * (k > 1), free=free, p=p, m=m),
        "w: strs -> ints",
        code,
        brute,
        lambda r: (
            [
                text_over(r, "abcdef"[: 3 + k + r.randint(0, 1)], size, size)
                for _ in range(r.randint(3, 14))
            ],
        ),
        {"v": 3, "k": k, "size": size, "p": p, "m": m, "free": free},
        (([],),),
    )


FAMILIES = (leveled_family("word_groups", "grouped by likeness", _group_key, _anagrams, _linked),)
