"""Words in groups: by keys, anagrams and chains of neighbours.

Leaves out: counts of single words (``strings.words``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    draw_letters,
    listed,
    text_over,
    words,
)

_W = (("w", "strs"),)


def _group_key_gold(key: str) -> str:
    return f"""
        def solve(w):
            groups = {{}}
            for word in w:
                groups.setdefault({key}, []).append(word)
            return [len(group) for group in groups.values()]
    """


def _group_key_brute(alike: Callable[[str, str], bool]) -> Callable[[list[str]], list[int]]:
    def brute(w: list[str]) -> list[int]:
        starts = [i for i in range(len(w)) if not any(alike(w[i], w[j]) for j in range(i))]
        return [sum(1 for v in w if alike(w[i], v)) for i in starts]

    return brute


def _group_key_alike(k: int, kind: int, letters: str) -> Callable[[str, str], bool]:
    def alike(u: str, v: str) -> bool:
        if kind == 0:
            return u[:k] == v[:k]
        if kind == 1:
            return u[::-1][:k] == v[::-1][:k]
        if kind == 2:
            return sum(map(u.count, letters)) == sum(map(v.count, letters))
        return re.sub(f"[{letters}]", "", u) == re.sub(f"[{letters}]", "", v)

    return alike


def _group_key(rng: Random) -> Problem:
    k, kind = rng.randint(1, 3), rng.choice((0, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3))
    letters = draw_letters(rng, rng.randint(3, 5), "aeioulnrstgmpc")
    what = (
        f"agree in their first {k} letters (a shorter word counts as a whole)",
        f"agree in their last {k} letters (a shorter word counts as a whole)",
        f"hold equally many letters out of {listed(letters)}",
        f"are equal once all letters out of {listed(letters)} are removed",
    )[kind]
    key = (
        f"word[:{k}]",
        f"word[-{k}:]",
        f'sum(ch in "{letters}" for ch in word)',
        f'"".join(ch for ch in word if ch not in "{letters}")',
    )[kind]
    code = _group_key_gold(key)

    alike = _group_key_alike(k, kind, letters)

    brute = _group_key_brute(alike)

    return Problem(
        f"Two words are alike if they {what}. Given a list `w` of at most 100 lowercase words, put "
        "words that are alike "
        "into one group. Find the sizes of the groups, in the order in which the groups' first "
        "words stand in `w`.",
        _W,
        "ints",
        source(code),
        brute,
        lambda r: (words(r, 4, 12),),
        {"v": 1, "kind": kind, "k": k if kind < 2 else 0, "letters": letters if kind > 1 else ""},
        (([],),),
    )


def _anagrams_gold(free: str, least: int, pick: str, joiner: str) -> str:
    return f"""
        def solve(w):
            groups = {{}}
            for word in w:
                key = "".join(sorted(ch for ch in word if ch not in "{free}"))
                groups.setdefault(key, []).append(word)
            chosen = [group for group in groups.values() if len(group) >= {least}]
            chosen.sort(key=len, reverse=True)
            return [f"{{{pick}}}{joiner}{{len(group)}}" for group in chosen]
    """


def _anagrams_brute(
    free: str, joiner: str, least: int, score: int
) -> Callable[[list[str]], list[str]]:
    def brute(w: list[str]) -> list[str]:
        def alike(u: str, v: str) -> bool:
            counts = [(u.count(ch), v.count(ch)) for ch in LETTERS if ch not in free]
            return all(x == y for x, y in counts)

        found: list[list[str]] = []
        for word in w:
            home = [group for group in found if alike(group[0], word)]
            if home:
                home[0].append(word)
            else:
                found.append([word])
        out = []
        for size in range(len(w), least - 1, -1):
            for group in found:
                if len(group) == size:
                    longest = next(x for x in group if all(len(x) >= len(y) for y in group))
                    out.append(f"{(group[0], group[-1], longest)[score]}{joiner}{size}")
        return out

    return brute


def _anagrams(rng: Random) -> Problem:
    free = draw_letters(rng, rng.randint(2, 4), "abcdeilnorst")
    least, score = rng.randint(1, 2), rng.randint(0, 2)
    joiner = rng.choice("+-/|&=")
    shown = ("first", "last", "longest")[score]
    pick = ("group[0]", "group[-1]", "max(group, key=len)")[score]
    code = _anagrams_gold(free, least, pick, joiner)

    brute = _anagrams_brute(free, joiner, least, score)

    def draw(r: Random) -> tuple[list[str]]:
        found = words(r, 3, 6)
        for word in list(found):
            mixed = list(word) + [r.choice(free)] * r.randint(0, 1)
            r.shuffle(mixed)
            found.append("".join(mixed))
        r.shuffle(found)
        return (found,)

    ties = " (the first such one)" if score == 2 else ""
    return Problem(
        "Two words are related if they are anagrams of each other (the same letters equally "
        "often, in any order) once "
        f"all letters {listed(free)} are removed from both. Given a list `w` of at most 200 "
        "lowercase words, group "
        f"related words (repeated words count each time). For every group of at least {least} "
        f"word{'s' * (least > 1)} write its {shown} word in the order of `w`{ties}, the character "
        f"{joiner} and the size of the "
        "group. Find these strings, larger groups first, equally large groups in the order of "
        "their first words in "
        "`w`.".replace(f"its {shown} word in the order of `w`{ties}", f"its {shown} word{ties}"),
        _W,
        "strs",
        source(code),
        brute,
        draw,
        {"v": 2, "free": free, "least": least, "score": score, "joiner": joiner},
        (([],),),
    )


def _linked_gold(free: str, k: int, p: int, m: int) -> str:
    return f"""
        def solve(w):
            def linked(u, v):
                pairs = [(a, b) for a, b in zip(u, v) if a != b]
                return sum(a not in "{free}" or b not in "{free}" for a, b in pairs) <= {k}

            component = [-1] * len(w)
            score, sizes = 0, []
            for start in range(len(w)):
                if component[start] >= 0:
                    continue
                component[start], queue = start, [start]
                for i in queue:
                    for j in range(len(w)):
                        if component[j] < 0 and linked(w[i], w[j]):
                            component[j] = start
                            queue.append(j)
                sizes.append(len(queue))
                score += (start * {p} + len(queue) ** 2) % {m}
            return [len(sizes), max(sizes, default=0), score]
    """


def _linked_brute(free: str, k: int, m: int, p: int, size: int) -> Callable[[list[str]], list[int]]:
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

    return brute


def _linked(rng: Random) -> Problem:
    k, size = rng.randint(1, 2), rng.randint(3, 5)
    p, m = rng.randint(2, 40), rng.randint(50, 999)
    free = draw_letters(rng, 2, "abcdef")
    code = _linked_gold(free, k, p, m)

    brute = _linked_brute(free, k, m, p, size)

    return Problem(
        f"All words here have {size} letters from a to f. Two words are neighbours if they differ "
        f"at no more than {k} "
        f"place{'s' * (k > 1)}, where {free[0]} and {free[1]} do not count as different. Words "
        "joined by a chain of neighbours "
        "belong to one cluster. Given a list `w` of at most 200 such words, find three integers: "
        "the number of "
        "clusters, the number of words in the largest (equal words count each; 0 for an empty "
        "list), and the sum over all "
        f"clusters of ({p} * f + z^2) mod {m}, where f is the place (from 0) of the cluster's "
        "first word in `w` and z "
        "its number of words.",
        _W,
        "ints",
        source(code),
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


FAMILIES = (
    code_family("word_groups", "grouped by likeness", leveled(_group_key, _anagrams, _linked)),
)
