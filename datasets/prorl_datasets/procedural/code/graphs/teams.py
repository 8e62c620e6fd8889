"""Problems on two-colourings and degrees of graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, edge_list, rare_condition
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Teams:
    """A problem about teams in a graph: person v has the skill (``f``*v + ``g``) modulo ``m``."""

    level: int
    m: int
    f: int
    g: int
    void: Condition
    """Condition on u + v; pairs that meet it are not rivals."""
    size: str
    """Whether the largest or the smallest skill is asked for (level 2)."""
    penalty: int
    """Points lost for each pair of rivals in one team (level 3)."""


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
    text = WORDINGS.source(
        f"two teams solution {level}", cond=cond, f=f, g=g, m=m, pick=pick, penalty=penalty
    )
    output = "ints" if level == 1 else "int"
    brute = partial(_teams_brute, rule)
    head = WORDINGS.one("teams statement head", text=rule.void.text, rule=rule)
    return Problem(
        head + WORDINGS.one(f"teams {rule.level}", rule=rule),
        f"n: int, edges: pairs -> {output}",
        text,
        brute,
        draw,
        key,
        ((1, []),),
    )


def _teams_brute(rule: _Teams, n: int, edges: list[list[int]]) -> Any:
    f, g, m = rule.f, rule.g, rule.m
    rivals = [(u, v) for u, v in edges if not rule.void.holds(u + v)]
    skill = [v * f + g - (v * f + g) // m * m for v in range(n)]
    if rule.level == 1:
        return [sum(skill[v] for e in rivals if v in e) for v in range(n)]
    scores = []
    for team in product((1, 0), repeat=n):
        clashes = [1 for u, v in rivals if team[u] == team[v]]
        strength = sum(s for s, t in zip(skill, team, strict=True) if t)
        if rule.level == 3:
            scores.append(2 * strength - sum(skill) - rule.penalty * len(clashes))
        elif not clashes:
            scores.append(strength)
    if rule.level == 2 and rule.size == "smallest":
        return min(scores, default=-1)
    return max(scores, default=-1)


@dataclass(frozen=True, slots=True)
class _Degrees:
    level: int
    k: int
    """Bound on a degree (levels 1 and 3)."""
    void: Condition
    """Condition on u + v; edges that meet it are ignored."""
    f: int
    g: int
    h: int
    """Third coefficient of the quantity that is asked for, after ``f`` and ``g``."""


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
    text = WORDINGS.source(
        f"degrees solution {level}", cond=rule.void.on("(u + v)"), f=f, g=g, h=h, k=k
    )
    output = "int" if level == 2 else "ints"
    brute = partial(_degrees_brute, rule)
    return Problem(
        _degrees_statement(rule), f"n: int, edges: pairs -> {output}", text, brute, draw, key
    )


def _degrees_statement(rule: _Degrees) -> str:
    k, f, g, h = rule.k, rule.f, rule.g, rule.h
    head = WORDINGS.one("degrees statement head", text=rule.void.text)
    return head + WORDINGS.one(
        f"degrees {rule.level}", k=k, f=f, h=h, g_plus_7=g + 7, g=g, k_minus_1=k - 1
    )


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
