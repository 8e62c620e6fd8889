from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise, permutations
from typing import Any

Values = Mapping[str, Any]
VOWELS = frozenset("AEIOU")


def strings(word: str) -> list[str]:
    """Return the distinct arrangements in alphabetical order."""

    def grow(left: str) -> Iterator[str]:
        if not left:
            yield ""
        for letter in sorted(set(left)):
            for rest in grow(left.replace(letter, "", 1)):
                yield letter + rest

    return list(grow(word))


def words(p: Values, question: str) -> object:
    word, ask = p["word"], p["ask"]
    assert word in question.replace(", ", "") or "".join(sorted(word)) in question.replace(", ", "")
    if ask == "pick":
        return len(set(permutations(word, p["k"])))
    every = strings(word)
    if ask == "all":
        return len(every)
    if ask in ("position", "before"):
        return every.index(p["target"]) + (ask == "position")
    if ask == "order":
        kept = [c for c in word if c in VOWELS]
        return sum([c for c in s if c in VOWELS] == kept for s in every)
    if ask == "pair":
        return sum(p["letter"] * 2 not in s for s in every)
    if ask == "ends":
        return sum(s[0] not in VOWELS and s[-1] not in VOWELS for s in every)
    if ask == "apart":
        return sum(not any(x in VOWELS and y in VOWELS for x, y in pairwise(s)) for s in every)
    places = ([i for i, c in enumerate(s) if c in VOWELS] for s in every)
    return sum(found[-1] - found[0] == len(found) - 1 for found in places)


def rows(p: Values, question: str) -> object:
    if "rules" in p:
        return sum(
            all(row_fits(rule, row) for rule in p["rules"]) for row in permutations(range(p["n"]))
        )
    ask = p["ask"]
    if "sizes" in p:
        # first the kinds, place by place; then the distinct things of each kind
        total = 0
        for kinds in strings("".join("abc"[i] * size for i, size in enumerate(p["sizes"]))):
            changes = sum(x != y for x, y in pairwise(kinds))
            total += {
                "one block": "a" * p["sizes"][0] in kinds,
                "alternate": changes == len(kinds) - 1,
                "blocks": changes == len(p["sizes"]) - 1,
            }[ask]
        for size in p["sizes"]:
            total *= len(list(permutations(range(size))))
        return total
    if ask == "couples":
        found = [0] * (p["pairs"] + 1)
        for row in permutations(range(2 * p["pairs"])):
            found[sum(x // 2 == y // 2 for x, y in pairwise(row))] += 1
        return sum(found[1:]) if p["exactly"] < 0 else found[p["exactly"]]
    n = p["n"]
    if ask in ("no two", "not three"):
        free = 1
        for i in range(1, n - 2):  # the others take the places that are left
            free *= i
        gaps = [sorted(places) for places in permutations(range(n), 3)]
        if ask == "no two":
            return free * sum(y - x > 1 and z - y > 1 for x, y, z in gaps)
        return free * sum(z - x > 2 for x, y, z in gaps)

    def fits(row: tuple[int, ...]) -> Any:
        top = row.index(n - 1)
        if ask == "peak":
            rising = all(x < y for x, y in pairwise(row[: top + 1]))
            return top == p["k"] - 1 and rising and all(x > y for x, y in pairwise(row[top:]))
        best = max(row[: p["k"]])
        return best != n - 1 and next(x for x in row[p["k"] :] if x > best) == n - 1

    return sum(fits(row) for row in permutations(range(n)))


def row_fits(rule: list[Any], row: tuple[int, ...]) -> Any:
    kind, x, last = rule[0], row.index(rule[1]), len(row) - 1
    if kind == "first":
        return rule[1] in row[: rule[2]]
    if kind == "not place":
        return row[rule[2] - 1] != rule[1]
    if kind in ("end", "inside"):
        return (rule[1] in (row[0], row[last])) == (kind == "end")
    y = row.index(rule[2])
    if kind == "before":
        return x < y
    between = row[min(x, y) + 1 : max(x, y)]
    return {"next": not between, "apart": bool(between), "gap": len(between) == rule[-1]}[kind]


def circles(n: int) -> Iterator[tuple[int, ...]]:
    """Yield the seatings of 0 to n - 1 with 0 on the first chair: one of each rotation class."""
    for rest in permutations(range(1, n)):
        yield (0, *rest)


def table_fits(rule: list[Any], ring: tuple[int, ...]) -> bool:
    kind, n = rule[0], len(ring)
    start = ring.index(rule[1])
    turned = ring[start:] + ring[:start]
    one = turned.index(rule[2]) - 1  # people between the first and the second, in one direction
    ways = {one, n - 2 - one}
    return {
        "next": 0 in ways,
        "apart": 0 not in ways,
        "left": one == 0,
        "opposite": len(ways) == 1,
        "not opposite": len(ways) == 2,
        "gap": rule[-1] in ways,
    }[kind]


def tables(p: Values, question: str) -> object:
    if "rules" in p:
        return sum(all(table_fits(rule, ring) for rule in p["rules"]) for ring in circles(p["n"]))
    ask = p["ask"]
    if ask == "empty":
        seatings = set()
        for chairs in permutations(range(p["n"]), p["k"]):
            if chairs[0] == 0 and 1 not in {(x - y) % p["n"] for x, y in permutations(chairs, 2)}:
                seatings.add(chairs)
        return len(seatings)
    if ask == "flips":
        rings = set()
        for ring in circles(p["n"]):
            inside = [bead < p["k"] for bead in ring]
            if sum(x != y for x, y in zip(inside, inside[1:] + inside[:1], strict=True)) == 2:
                rings.add(min(ring, (ring[0], *ring[:0:-1])))
        return len(rings)
    if ask == "three apart":
        near = [["apart", *pair] for pair in ((0, 1), (0, 2), (1, 2))]
        return sum(all(table_fits(rule, ring) for rule in near) for ring in circles(p["n"]))
    if ask == "couples":
        couples = [["next", 2 * i, 2 * i + 1] for i in range(p["k"])]
        return sum(
            sum(table_fits(rule, ring) for rule in couples) == p["exactly"]
            for ring in circles(2 * p["k"])
        )
    if ask == "blocks":
        kinds = [kind for kind, size in enumerate(p["sizes"]) for _ in range(size)]
        want = len(p["sizes"])
    else:
        kinds, want = [0, 1] * p["k"], 2 * p["k"]
    found = [
        ring
        for ring in circles(len(kinds))
        if sum(kinds[x] != kinds[y] for x, y in pairwise([*ring, 0])) == want
    ]
    if ask == "alternate couples":
        couples = [["next", 2 * i, 2 * i + 1] for i in range(p["k"])]
        found = [ring for ring in found if all(table_fits(rule, ring) for rule in couples)]
    return len(found)


CHECKS = {"counting_words": words, "counting_rows": rows, "counting_tables": tables}
