"""Problems on rooted trees given by a list of parents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_P = (("parents", "ints"),)
_HEAD = (
    "A rooted tree has the vertices 0 to n - 1, n at most 12; vertex 0 is the root. "
    "`parents` has n elements: parents[0] is -1, and parents[v] is the parent of v, "
    "which is less than v. "
)

_MEASURES = {
    "depth": "depth of a vertex is the number of edges between it and the root",
    "height": "height of a vertex is the largest number of edges on a way down from it",
}


def _parents(r: Random, least: int, most: int) -> tuple[list[int]]:
    n, back = r.randint(least, most), r.randint(1, 6)
    return ([-1] + [r.randint(max(0, v - back), v - 1) for v in range(1, n)],)


_FAR = {
    "depth": ("range(1, n)", "far[v] = far[parents[v]] + 1"),
    "height": ("range(n - 1, 0, -1)", "far[parents[v]] = max(far[parents[v]], far[v] + 1)"),
}


@dataclass(frozen=True, slots=True)
class _Subtrees:
    """A problem in which vertex v has the weight (``f``*v + ``g``) modulo ``m``."""

    level: int
    f: int
    g: int
    m: int
    counted: Condition
    """Condition on the weights that are summed."""
    k: int
    """Factor of depth or height (``op``, level 1), or a distance (level 3)."""
    op: str


def _draw_subtrees(rng: Random, level: int) -> _Subtrees:
    m, g = rng.randint(5, 17), rng.randint(1, 9)
    f = rng.randint(2, min(9, m - 1))
    counted, k = condition(rng, 0, m - 1), rng.randint(1, 3)
    return _Subtrees(level, f, g, m, counted, k, rng.choice(("depth", "height")))


def _subtrees(rng: Random, level: int) -> Problem:
    rule = _draw_subtrees(rng, level)
    f, g, m, c, k = rule.f, rule.g, rule.m, rule.counted, rule.k
    order, update = _FAR[rule.op]
    key: dict[str, Any] = {"level": level, "f": f, "g": g, "m": m}
    key |= ({"op": rule.op, "k": k}, {"condition": c.key}, {"condition": c.key, "k": k})[level - 1]
    return Problem(
        _subtrees_statement(rule),
        "parents: ints -> ints",
        WORDINGS.source(
            f"subtrees solution {level}",
            f=f,
            g=g,
            m=m,
            k=k,
            cond=c.on("w"),
            order=order,
            update=update,
        ),
        partial(_subtrees_brute, rule),
        lambda r: _parents(r, 4, 12),
        key,
        (([-1],),),
    )


def _subtrees_statement(rule: _Subtrees) -> str:
    op, k, counted = rule.op, rule.k, rule.counted.text
    weight = f"The weight of vertex v is ({rule.f}*v + {rule.g}) modulo {rule.m}. "
    return (
        _HEAD
        + weight
        + WORDINGS.one(
            f"subtrees {rule.level}", counted=counted, k=k, measures=_MEASURES[op], op=op
        )
    )


def _subtrees_brute(rule: _Subtrees, parents: list[int]) -> list[int]:
    n, k = len(parents), rule.k
    weights = [rule.f * v + rule.g for v in range(n)]
    weights = [w - w // rule.m * rule.m for w in weights]
    lines = [_line(parents, v) for v in range(n)]
    if rule.level == 1 and rule.op == "depth":
        return [w + k * (len(line) - 1) for w, line in zip(weights, lines, strict=True)]
    if rule.level == 1:
        return [weights[v] + k * max(x.index(v) for x in lines if v in x) for v in range(n)]
    out = []
    for v in range(n):
        if rule.level == 2:
            ends = [u for u in range(n) if v in lines[u]]
        else:
            ends = [u for u in range(n) if len({*lines[u]} ^ {*lines[v]}) <= k]
        out.append(sum(weights[u] for u in ends if rule.counted.holds(weights[u])))
    return out


def _line(parents: list[int], v: int) -> list[int]:
    return [v] if v == 0 else [v, *_line(parents, parents[v])]


@dataclass(frozen=True, slots=True)
class _Choices:
    """A problem in which vertex v weighs 1 + (``f``*v + ``g``) modulo ``m``."""

    level: int
    f: int
    g: int
    m: int
    marked: Condition
    """Condition on vertices that give a bonus ``a``; at level 3, on vertices that cost ``a`` if not chosen."""
    k: int
    """Choosing a vertex and its parent costs ``a`` + ``k``."""
    a: int

    def weights(self, n: int) -> list[int]:
        return [1 + (self.f * v + self.g) % self.m for v in range(n)]


def _draw_choices(rng: Random, level: int) -> _Choices:
    m, g = rng.randint(5, 19), rng.randint(1, 9)
    f, marked = rng.randint(3, min(9, m - 1)), condition(rng, 0, 7 if level == 3 else 11)
    return _Choices(level, f, g, m, marked, rng.randint(1, 5), rng.randint(1, 9))


def _tree_choices(rng: Random, level: int) -> Problem:
    rule = _draw_choices(rng, level)
    f, g, m, c, a, k = rule.f, rule.g, rule.m, rule.marked, rule.a, rule.k
    key: dict[str, Any] = {"level": level, "f": f, "g": g, "m": m, "a": a}
    key |= ({}, {"condition": c.key}, {"condition": c.key, "k": k})[level - 1]
    most = 8 if level == 3 else 12
    return Problem(
        _choices_statement(rule),
        f"parents: ints -> {'ints' if level == 1 else 'int'}",
        WORDINGS.source(
            f"tree choices solution {level}", f=f, g=g, m=m, a=a, cond=c.on("v"), cost=k + a
        ),
        partial({1: _leaf_sums, 2: _best_path, 3: _best_set}[level], rule),
        lambda r: _parents(r, 4, most),
        key,
        (([-1],),),
    )


def _choices_statement(rule: _Choices) -> str:
    a, marked = rule.a, rule.marked.text
    weight = f"The weight of vertex v is 1 + ({rule.f}*v + {rule.g}) modulo {rule.m}. "
    what = {
        1: WORDINGS.one("choices", a=a),
        2: WORDINGS.one("choices 2", a=a, marked=marked),
        3: WORDINGS.one("choices 3", k_plus_a=rule.k + a, a=a, marked=marked),
    }
    return _HEAD + weight + what[rule.level]


def _leaf_sums(rule: _Choices, parents: list[int]) -> list[int]:
    weights, lines = rule.weights(len(parents)), [_line(parents, v) for v in range(len(parents))]
    inner = [p for line in lines for p in line[1:]]
    leaves = [v for v in range(len(parents)) if v not in inner]
    return [rule.a + sum(weights[u] for u in lines[v]) for v in leaves]


def _best_path(rule: _Choices, parents: list[int]) -> int:
    n = len(parents)
    worth = [w + rule.a * rule.marked.holds(v) for v, w in enumerate(rule.weights(n))]
    lines = [_line(parents, v) for v in range(n)]
    values = [0]
    for u, v in combinations(range(n), 2):
        top = next(x for x in lines[u] if x in lines[v])
        path = {*lines[u]} ^ {*lines[v]}
        values.append(sum(worth[x] for x in path) + worth[top])
    return max(values)


def _best_set(rule: _Choices, parents: list[int]) -> int:
    n, loss = len(parents), rule.k + rule.a
    weights = rule.weights(n)
    lost = [rule.a * rule.marked.holds(v) for v in range(n)]
    return max(
        sum(
            weights[v] - loss * (v > 0 and bits[parents[v]]) if bits[v] else -lost[v]
            for v in range(n)
        )
        for bits in product((0, 1), repeat=n)
    )


FAMILIES = (
    code_family("tree_subtrees", "heights, sizes, sums", _subtrees),
    code_family("tree_choices", "choices and paths in rooted trees", _tree_choices),
)
