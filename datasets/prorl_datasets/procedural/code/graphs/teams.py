"""Code problems on two-colourings and degrees of graphs.

Leaves out: task orders (``graphs.orders``), trees (``graphs.trees``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import (
    Condition,
    edge_list,
    rare_condition,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

_NE = (("n", "int"), ("edges", "pairs"))


_TWO_TEAMS_GOLD = {
    1: """
    def solve(n, edges):
        count = [0] * n
        for u, v in edges:
            if not $cond:
                count[u] += 1
                count[v] += 1
        return [count[v] * (($f * v + $g) % $m) for v in range(n)]
    """,
    2: """
    def solve(n, edges):
        near = [[] for _ in range(n)]
        for u, v in edges:
            if not $cond:
                near[u].append(v)
                near[v].append(u)
        team = [None] * n
        total = 0
        for s in range(n):
            if team[s] is not None:
                continue
            team[s] = 0
            skill = [0, 0]
            stack = [s]
            while stack:
                u = stack.pop()
                skill[team[u]] += ($f * u + $g) % $m
                for v in near[u]:
                    if team[v] is None:
                        team[v] = 1 - team[u]
                        stack.append(v)
                    elif team[v] == team[u]:
                        return -1
            total += $pick(skill)
        return total
    """,
    3: """
    def solve(n, edges):
        rivals = [(u, v) for u, v in edges if not $cond]
        skill = [($f * v + $g) % $m for v in range(n)]
        score = sum(skill) - $penalty * len(rivals)
        team = [1] * n
        best = score
        for code in range(1, 1 << n):
            p = (code & -code).bit_length() - 1
            score -= 2 * team[p] * skill[p]
            for u, v in rivals:
                if p in (u, v):
                    score += $penalty if team[u] == team[v] else -$penalty
            team[p] = -team[p]
            best = max(best, score)
        return best
    """,
}


@dataclass(frozen=True, slots=True)
class _Teams:
    """The drawn skills (``f``*v + ``g``) modulo ``m``; pairs with u + v ``void`` are no rivals;
    ``size`` of the skill asked for (level 2), ``penalty`` for rivals in a team (level 3)."""

    level: int
    m: int
    f: int
    g: int
    void: Condition
    size: str
    penalty: int


def _two_teams(rng: Random, level: int) -> Problem:
    rule = _Teams(
        level=level,
        m=rng.randint(10, 23),
        f=rng.randint(4, 9),
        g=rng.randint(1, 6),
        void=rare_condition(rng, 1, 13),
        size=rng.choice(("largest", "smallest")),
        penalty=rng.randint(1, 12),
    )
    m, f, g, penalty = rule.m, rule.f, rule.g, rule.penalty

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(4, 8)
        edges = edge_list(r, n, n + 3)
        side = r.sample([0] * n + [1] * n, n)
        if level == 2 and r.random() < 0.9:
            edges = [e for e in edges if side[e[0]] != side[e[1]]]
        return n, edges

    key: dict[str, Any] = {"level": level, "m": m, "f": f, "g": g, "condition": rule.void.key}
    key |= ({}, {"size": rule.size}, {"penalty": penalty})[level - 1]
    pick, cond = "max" if rule.size == "largest" else "min", rule.void.on("(u + v)")
    text = source(_TWO_TEAMS_GOLD[level], cond=cond, f=f, g=g, m=m, pick=pick, penalty=penalty)
    output = "ints" if level == 1 else "int"
    brute = partial(_teams_brute, rule)
    return Problem(_teams_statement(rule), _NE, output, text, brute, draw, key, ((1, []),))


def _teams_statement(rule: _Teams) -> str:
    head = (
        "Players are numbered from 0 to n - 1 (n at most 8). Each pair [u, v] of `edges` says that "
        f"u and v are rivals, but pairs for which u + v is {rule.void.text} mean nothing. "
        f"The skill of player v is ({rule.f}*v + {rule.g}) modulo {rule.m}. "
    )
    what = {
        1: "For each player 0, 1, ..., n - 1 take the number of the player's rivals times "
        "the player's skill. Give the list of these products.",
        2: "All players are put into two teams A and B (a team may be empty) so that no two "
        f"rivals are in one team. Give the {rule.size} possible total skill of team A, or -1 "
        "if there is no such way.",
        3: "All players are put into two teams A and B (a team may be empty). The score is "
        f"the total skill of team A minus the total skill of team B, minus {rule.penalty} for "
        "every pair of rivals that are in one team. Give the largest possible score.",
    }
    return head + what[rule.level]


def _teams_brute(rule: _Teams, n: int, edges: list[list[int]]) -> Any:
    """Try all ways to make two teams (levels 2 and 3)."""
    f, g, m = rule.f, rule.g, rule.m
    rivals = [(u, v) for u, v in edges if not rule.void.holds(u + v)]
    skill = [v * f + g - (v * f + g) // m * m for v in range(n)]
    if rule.level == 1:
        return [sum(skill[v] for e in rivals if v in e) for v in range(n)]
    scores = []
    for team in product((1, 0), repeat=n):
        clashes = [1 for u, v in rivals if team[u] == team[v]]
        own = sum(s for s, t in zip(skill, team, strict=True) if t)
        if rule.level == 3:
            scores.append(2 * own - sum(skill) - rule.penalty * len(clashes))
        elif not clashes:
            scores.append(own)
    if rule.level == 2 and rule.size == "smallest":
        return min(scores, default=-1)
    return max(scores, default=-1)


_DEGREES_GOLD_HEAD = """
def solve(n, edges):
    near = [[] for _ in range(n)]
    for u, v in edges:
        if not $cond:
            near[u].append(v)
            near[v].append(u)
    degree = [len(x) for x in near]
"""


_DEGREES_GOLD = {
    1: """
    return [$f * degree[v] + $g * v for v in range(n) if degree[v] >= $k - 1]
    """,
    2: """
    total = 0
    for u in range(n):
        for v in near[u]:
            if u < v:
                total += abs($f * degree[u] - $g * degree[v]) + $h
    return total
    """,
    3: """
    out = []
    weak = [v for v in range(n) if degree[v] < $k]
    while weak:
        v = max(weak, key=lambda v: (($f * v + $h) % ($g + 7), -v))
        out.append(v)
        for u in near[v]:
            degree[u] -= 1
        weak = [u for u in range(n) if degree[u] < $k and u not in out]
    return out
    """,
}


@dataclass(frozen=True, slots=True)
class _Degrees:
    """The drawn rules: pairs with u + v ``void`` do not count, ``k`` bounds a degree, ``f``, ``g``
    and ``h`` make the measure."""

    level: int
    k: int
    void: Condition
    f: int
    g: int
    h: int


def _degrees(rng: Random, level: int) -> Problem:
    rule = _Degrees(
        level=level,
        k=rng.randint(2, 3),
        void=rare_condition(rng, 1, 13),
        f=rng.randint(2, 6),
        g=rng.randint(1, 7),
        h=rng.randint(1, 9),
    )
    k, f, g, h = rule.k, rule.f, rule.g, rule.h

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(5, 9)
        return n, edge_list(r, n, 2 * n + 4)

    key: dict[str, Any] = {"level": level, "f": f, "g": g, "condition": rule.void.key}
    key |= ({"k": k}, {"h": h}, {"k": k, "h": h})[level - 1]
    gold = _DEGREES_GOLD_HEAD + _DEGREES_GOLD[level]
    text = source(gold, cond=rule.void.on("(u + v)"), f=f, g=g, h=h, k=k)
    output = "int" if level == 2 else "ints"
    brute = partial(_degrees_brute, rule)
    return Problem(_degrees_statement(rule), _NE, output, text, brute, draw, key)


def _degrees_statement(rule: _Degrees) -> str:
    k, f, g, h = rule.k, rule.f, rule.g, rule.h
    head = (
        "A graph has the vertices 0 to n - 1 (n at most 9). Each pair [u, v] of `edges` joins u "
        f"and v, unless u + v is {rule.void.text}: such a pair does not count. The degree of "
        "a vertex is the number of its edges. "
    )
    what = {
        1: f"Give the list of {f} times the degree of v plus {g} times v, for the vertices v "
        f"of degree at least {k - 1}, in increasing order of v.",
        2: f"Give the sum, over the edges that count, of |{f}*d - {g}*e| + {h}, where d is the "
        "degree of the edge's end with the smaller number and e that of the other end.",
        3: f"A vertex is weak if it is not removed and its degree is less than {k}. As long as "
        "there are weak vertices, remove the one of them with the largest value of "
        f"({f}*v + {h}) modulo {g + 7} (of several the one with the smallest number), with its "
        "edges; degrees are counted anew after each removal. Give the list of the removed "
        "vertices in the order of removal.",
    }
    return head + what[rule.level]


def _degrees_brute(rule: _Degrees, n: int, edges: list[list[int]]) -> Any:
    k, f, g = rule.k, rule.f, rule.g
    real = [sorted(e) for e in edges if not rule.void.holds(sum(e))]
    ends = [v for e in real for v in e]
    if rule.level == 1:
        return [f * ends.count(v) + g * v for v in range(n) if ends.count(v) + 1 >= k]
    if rule.level == 2:
        gaps = [f * ends.count(u) - g * ends.count(v) for u, v in real]
        return sum(max(x, -x) + rule.h for x in gaps)
    return _removed(rule, n, real)


def _removed(rule: _Degrees, n: int, edges: list[list[int]]) -> list[int]:
    """Remove weak vertices, all degrees counted anew each time."""
    m = rule.g + 7
    order = [v for x in range(m) for v in range(n) if (rule.f * v + rule.h) % m == m - 1 - x]
    left = [*range(n)]
    out: list[int] = []
    while True:
        edges_left = [e for e in edges if e[0] in left and e[1] in left]
        weak = [v for v in order if v in left and sum(v in e for e in edges_left) < rule.k]
        if not weak:
            return out
        left.remove(weak[0])
        out.append(weak[0])


FAMILIES = (
    code_family("rival_teams", "neighbours, scores, two-colourings", _two_teams),
    code_family("degree_rules", "vertices by degree", _degrees),
)
