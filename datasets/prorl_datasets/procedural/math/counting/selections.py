"""Selections without order: committees, and subsets with a condition.

Leaves out: surveys and matches (``meetings``), sharing things out (``distributions``).
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family

GROUPS = (
    ("teachers", "parents", "committee"), ("nurses", "doctors", "delegation"),
    ("painters", "sculptors", "jury"), ("juniors", "seniors", "team"),
    ("pianists", "violinists", "band"), ("biologists", "chemists", "crew"),
)  # fmt: skip


def _committees(rng: Random, level: int) -> Problem:
    one, two, body = rng.choice(GROUPS)
    a, b = redrawn(lambda: (rng.randint(4, 9), rng.randint(4, 9)), lambda p: sum(p) < 16)
    size = rng.randint(3, 5)
    x, y = rng.sample(PEOPLE, 2)
    if level == 1:
        size = rng.randint(4, 7)
        k = rng.randint(2, size - 2)
        if rng.random() < 0.6:
            texts = phrasings(
                f"In how many ways can a {body} of {k} {one} and {size - k} {two} be chosen from "
                f"{a} "
                f"{one} and {b} {two}?",
                f"A school has {a} {one} and {b} {two} on its list. A {body} is to consist of "
                "exactly "
                f"{k} of the {one} and {size - k} of the {two}. How many different choices are "
                "there?",
                f"{size} people are picked out of {a} {one} and {b} {two}, and exactly {k} of them "
                f"{'belongs' if k == 1 else 'belong'} to the {one}. Find the number of possible "
                "selections.",
                f"From {a + b} volunteers, namely {a} {one} and {b} {two}, a {body} of {size} "
                "people "
                f"is formed in which the {two} are {size - k} in number. How many different "
                "results "
                "are possible?",
            )
            answer = comb(a, k) * comb(b, size - k)
            values = {"ask": "exactly", "groups": [a, b], "size": size, "k": k}
            return Problem(rng.choice(texts), str(answer), values)
        n = rng.randint(7, 14)
        texts = phrasings(
            f"A club of {n} members elects a chair, a treasurer and {size} ordinary board "
            "members, all "
            "of them different people. In how many ways can this be done?",
            f"From {n} players a coach names a captain, a deputy captain and {size} further "
            "players, "
            "whose order does not matter. How many different outcomes are there?",
        )
        if n < size + 3:
            return _committees(rng, level)
        answer = n * (n - 1) * comb(n - 2, size)
        return Problem(rng.choice(texts), str(answer), {"ask": "offices", "n": n, "size": size})
    if level == 2:
        ask = rng.choice(("at least", "at most", "not both", "only with"))
        if ask in ("at least", "at most"):
            k = rng.randint(1, size - 1)
            wanted = range(k, size + 1) if ask == "at least" else range(k + 1)
            answer = sum(comb(a, i) * comb(b, size - i) for i in wanted)
            texts = phrasings(
                f"A {body} of {size} people is chosen from {a} {one} and {b} {two}. How many "
                "choices "
                f"include {ask} {k} of the {one}?",
                f"{a} {one} and {b} {two} are willing to join a {body} with {size} places. In "
                "how many "
                f"ways can the places be filled, if {ask} {k} {'goes' if k == 1 else 'go'} to the "
                f"{one} and it does not matter who gets which place?",
                f"Count the groups of {size} people from {a} {one} and {b} {two} that contain "
                f"{ask} "
                f"{k} of the {one}.",
            )
            values = {"ask": ask, "groups": [a, b], "size": size, "k": k}
            return Problem(rng.choice(texts), str(answer), values)
        n = rng.randint(8, 15)
        if ask == "not both":
            answer = comb(n, size) - comb(n - 2, size - 2)
            rule = f"{x} and {y} cannot both be chosen"
        else:
            answer = comb(n, size) - comb(n - 2, size - 1)
            rule = f"{x} can be chosen only together with {y}"
        texts = phrasings(
            f"A {body} of {size} is chosen from {n} people, among them {x} and {y}. {rule}"
            f"{', though either may be chosen without the other' if ask == 'not both' else ', while ' + y + ' may also be chosen without ' + x}. "
            "How many choices are possible?",
            f"Out of {n} candidates, {size} are selected. There is one rule: {rule}"
            f"{'' if ask == 'not both' else '; ' + y + ' needs nobody'}. Both of them are "
            "candidates. In "
            "how many ways can the selection be made?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "size": size})
    ask = rng.choice(("three groups", "chair", "majority"))
    if ask == "three groups":
        groups = [rng.randint(2, 5) for _ in range(3)]
        answer = sum(
            comb(groups[0], i) * comb(groups[1], j) * comb(groups[2], size - i - j)
            for i in range(1, size - 1)
            for j in range(1, size - i)
        )
        p, q, r = groups
        texts = phrasings(
            f"{p} students from the first year, {q} from the second and {r} from the third apply "
            "for "
            f"{size} equal places on a trip. In how many ways can the places be given so that "
            "every "
            "year is represented?",
            f"A box holds {p} different red, {q} different green and {r} different blue marbles. "
            "How "
            f"many sets of {size} marbles contain all three colors?",
            f"A {body} of {size} is formed from {p} Swedes, {q} Turks and {r} Greeks so that "
            "each of "
            "the three nations has at least one member in it. Count the possibilities.",
        )
        values = {"ask": ask, "groups": groups, "size": size}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "chair":
        k = rng.randint(1, 2)
        answer = sum(i * comb(a, i) * comb(b, size - i) for i in range(max(k, 1), size + 1))
        texts = phrasings(
            f"From {a} {one} and {b} {two} a {body} of {size} people is chosen that has at least "
            f"{k} "
            f"of the {one}; then one of its members who is among the {one} becomes its head. How "
            "many "
            "outcomes (the group together with its head) are possible?",
            f"A {body} of {size} is formed out of {a} {one} and {b} {two} and gets a "
            "spokesperson. The "
            f"spokesperson must be one of the {one}, and the {one} must have at least {k} "
            f"{'seat' if k == 1 else 'seats'} in all. In how many ways can {body} and "
            "spokesperson be "
            "chosen?",
        )
        values = {"ask": ask, "groups": [a, b], "size": size, "k": k}
        return Problem(rng.choice(texts), str(answer), values)
    n = rng.randint(8, 13)
    parts = redrawn(
        lambda: sorted(rng.choices(range(2, 5), k=3)), lambda p: sum(p) <= n and len(set(p)) < 3
    )
    answer, left = 1, n
    for part in parts:
        answer *= comb(left, part)
        left -= part
    for part in set(parts):
        times = parts.count(part)
        answer //= 1 if times == 1 else 2 if times == 2 else 6
    texts = phrasings(
        f"From {n} people, three working groups of {listed(parts)} are formed. Nobody belongs to "
        "two "
        "groups, and groups of equal size have the same task, so that it does not matter which is "
        "which. In how many ways can this be done?",
        f"How many ways are there to pick, from a set of {n} different books, three unlabeled "
        "piles "
        f"without common books, of sizes {listed(parts)}? The order of piles, and the order "
        "within a "
        "pile, is irrelevant.",
    )
    values = {"ask": "groups", "n": n, "parts": parts}
    return Problem(rng.choice(texts), str(answer), values)


def _subsets(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    n = rng.randint(6, 11)
    universe = rng.choice(
        (f"$\\{{1, 2, 3, \\ldots, {n}\\}}$", f"the set of the integers from $1$ to ${n}$")
    )
    if level == 1:
        ask = rng.choice(("contains even", "with without", "largest", "size contains"))
        if ask == "contains even":
            d = rng.choice((2, 3))
            answer = 2**n - 2 ** (n - n // d)
            name = {2: "even number", 3: "multiple of $3$"}[d]
            texts = phrasings(
                f"How many subsets of {universe} contain at least one {name}?",
                f"{who} chooses some (or all) of the numbers $1, 2, \\ldots, {n}$, and at least "
                "one "
                f"{name} is among them. In how many ways can this be done?",
                f"Each of the numbers $1, 2, \\ldots, {n}$ is written on a card. {who} takes "
                "some of "
                f"the cards, and at least one of those taken shows {'an' if d == 2 else 'a'} "
                f"{name}. "
                "How many different sets of cards can have been taken?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "d": d})
        if ask == "with without":
            x, y, z = sorted(rng.sample(range(1, n + 1), 3))
            answer = 2 ** (n - 3) * 3
            texts = phrasings(
                f"How many subsets of {universe} contain ${x}$ or ${y}$ or both, but not ${z}$?",
                f"{who} picks a subset of {universe} that leaves out ${z}$ and includes at least "
                "one "
                f"of ${x}$ and ${y}$. Find the number of possible subsets.",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "xyz": [x, y, z]})
        if ask == "largest":
            k = rng.randint(2, 4)
            m = rng.randint(k + 2, n + 3)
            n = n + 4
            answer = comb(m - 1, k - 1)
            texts = phrasings(
                f"How many subsets of $\\{{1, 2, \\ldots, {n}\\}}$ with exactly ${k}$ elements "
                "have "
                f"${m}$ as their largest element?",
                f"{who} draws {k} of {n} balls numbered 1 to {n} at once. In how many of the "
                "possible "
                f"draws is {m} the highest number drawn?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "m": m})
        k = rng.randint(3, 5)
        x, y = rng.sample(range(1, n + 1), 2)
        answer = comb(n, k) - comb(n - 2, k)
        texts = phrasings(
            f"How many ${k}$-element subsets of {universe} contain at least one of ${x}$ and "
            f"${y}$?",
            f"{who} chooses {k} different numbers from 1 to {n}, in any order. In how many of the "
            f"choices is {x} or {y} (or both) among them?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "xy": [x, y]})
    if level == 2:
        ask = rng.choice(("no two", "k no two", "even sum", "sum divisible"))
        if ask == "no two":
            n = rng.randint(6, 12)
            gap = rng.choice((1, 1, 2))
            ways = [1]
            for i in range(1, n + 1):
                ways.append(ways[i - 1] + (ways[i - 1 - gap] if i > gap else 1))
            name = (
                "no two consecutive integers"
                if gap == 1
                else "no two numbers whose difference is less than $3$"
            )
            texts = phrasings(
                f"How many subsets of $\\{{1, 2, \\ldots, {n}\\}}$ contain {name}? The empty set "
                "counts.",
                f"{who} marks some, all or none of the numbers from 1 to {n}, so that the marked "
                f"numbers include {name}. How many results are possible?",
                f"Let $A = \\{{1, 2, \\ldots, {n}\\}}$. Find the number of subsets $S$ of $A$, the "
                f"empty set among them, such that $S$ has {name}.",
            )
            return Problem(rng.choice(texts), str(ways[n]), {"ask": ask, "n": n, "gap": gap})
        if ask == "k no two":
            n, k = rng.randint(8, 14), rng.randint(3, 4)
            answer = comb(n - k + 1, k)
            if rng.random() < 0.4:
                answer = comb(n - k, k) + comb(n - k - 1, k - 1)
                texts = phrasings(
                    f"{n} chairs stand in a circle. In how many ways can {k} of the chairs be "
                    "chosen "
                    "so that no two chosen chairs are next to each other? The chairs are "
                    "different.",
                    f"From the {n} corners of a regular polygon, numbered $1$ to ${n}$, {k} "
                    "corners "
                    "are selected such that no two of them are joined by a side of the polygon. "
                    "How "
                    "many selections are there?",
                )
                return Problem(rng.choice(texts), str(answer), {"ask": "circle", "n": n, "k": k})
            texts = phrasings(
                f"In how many ways can ${k}$ different numbers be chosen from $1, 2, \\ldots, "
                f"{n}$ so "
                "that no two of them are consecutive? The order of choosing does not matter.",
                f"{k} of {n} street lamps in a straight row are to be switched off, but never two "
                "neighboring ones. How many possibilities are there?",
                f"A shelf holds {n} different books. {who} takes {k} of them away, no two of which "
                "stood next to each other. Count the possible selections.",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        k = rng.randint(2, 4)
        n = rng.randint(8, 13)
        d = 2 if ask == "even sum" else rng.choice((3, 4, 5))
        r = rng.choice((0, 1)) if d == 2 else rng.randint(0, d - 1)
        answer = sum(sum(s) % d == r for s in combinations(range(1, n + 1), k))
        name = (
            ("even", "odd")[r]
            if d == 2
            else f"a number that leaves remainder ${r}$ when divided by ${d}$"
        )
        if d > 2 and r == 0:
            name = f"a multiple of ${d}$"
        texts = phrasings(
            f"How many sets of ${k}$ different numbers chosen from $1, 2, \\ldots, {n}$ have a sum "
            f"that is {name}?",
            f"{n} cards are numbered $1$ to ${n}$. In how many ways can {k} cards be taken at "
            "once so "
            f"that the sum of their numbers is {name}?",
            f"{who} chooses ${k}$ elements of $\\{{1, \\ldots, {n}\\}}$ and adds them up. For "
            "how many "
            f"choices is the total {name}?",
        )
        return Problem(
            rng.choice(texts), str(answer), {"ask": "sum", "n": n, "k": k, "d": d, "r": r}
        )
    ask = rng.choice(("two sets", "min sum", "spread", "pairs"))
    if ask == "two sets":
        n = rng.randint(4, 9)
        which = rng.choice(("disjoint", "inside", "union", "meet once"))
        answer = {
            "disjoint": 3**n, "inside": 3**n - 2**n, "union": 3**n, "meet once": n * 3 ** (n - 1),
        }[which]  # fmt: skip
        wish = {
            "disjoint": "$A \\cap B$ is empty",
            "inside": "$A$ is a subset of $B$ and $A \\ne B$",
            "union": f"$A \\cup B = \\{{1, 2, \\ldots, {n}\\}}$",
            "meet once": "$A \\cap B$ has exactly one element",
        }[which]
        texts = phrasings(
            f"How many ordered pairs $(A, B)$ of subsets of $\\{{1, 2, \\ldots, {n}\\}}$ are "
            "there for "
            f"which {wish}?",
            f"{who} chooses two subsets $A$ and $B$ of $\\{{1, 2, \\ldots, {n}\\}}$, which may "
            "be empty "
            f"or equal unless the condition forbids it, so that {wish}. In how many ways can the "
            "pair "
            "$(A, B)$ be chosen?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": which, "n": n})
    if ask == "min sum":
        n, k = rng.randint(6, 12), rng.randint(2, 4)
        low = rng.random() < 0.5
        answer = comb(n + 1, k + 1) if low else comb(n + 1, k + 1) * k
        name = "smallest" if low else "largest"
        texts = phrasings(
            f"For every ${k}$-element subset of $\\{{1, 2, \\ldots, {n}\\}}$ the {name} element is "
            "noted. What is the sum of all the noted numbers?",
            f"{who} lists all ways to choose {k} different numbers from 1 to {n} without regard to "
            f"order, and adds up the {name} numbers of all these choices. What is the total?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": name, "n": n, "k": k})
    if ask == "spread":
        n = rng.randint(7, 12)
        gap = rng.randint(3, n - 3)
        answer = (n - gap) * 2 ** (gap - 1)
        texts = phrasings(
            f"How many subsets of $\\{{1, 2, \\ldots, {n}\\}}$ have a largest and a smallest "
            "element "
            f"that differ by exactly ${gap}$?",
            "Call the difference between the largest and the smallest element of a nonempty set "
            "of "
            f"integers its spread. Find the number of subsets of $\\{{1, 2, \\ldots, {n}\\}}$ with "
            f"spread ${gap}$.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "gap": gap})
    n = rng.randint(4, 8)
    k = rng.randint(2, 4)
    j = rng.choice((0, 1))
    pairs = n
    answer = comb(pairs, k) * 2**k if j == 0 else pairs * comb(pairs - 1, k - 1) * 2 ** (k - 1)
    size = k if j == 0 else k + 1
    texts = phrasings(
        f"A drawer holds {pairs} pairs of shoes, all pairs different. In how many ways can {size} "
        f"single shoes be taken out so that {'no' if j == 0 else 'exactly one'} complete pair is "
        "among "
        "them? Left and right shoes are different, and the order does not matter.",
        f"{pairs} married couples come to a party, and {size} of the guests are chosen for a "
        "game. How "
        f"many choices contain {'no' if j == 0 else 'exactly one'} married couple?",
        f"How many sets of {size} numbers from $1, 2, \\ldots, {2 * pairs}$ contain "
        f"{'no two numbers' if j == 0 else 'exactly one pair of numbers'} with the sum "
        f"${2 * pairs + 1}$?",
    )
    values = {"ask": "pairs", "pairs": pairs, "size": size, "exactly": j}
    if size > pairs:
        return _subsets(rng, level)
    return Problem(rng.choice(texts), str(answer), values)


FAMILIES = (
    math_family("counting_committees", _committees, "committees with conditions and offices"),
    math_family("counting_subsets", _subsets, "subsets with a condition"),
)
