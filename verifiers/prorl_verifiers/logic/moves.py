"""Scores moves by simulating them.

An impossible move makes the answer wrong, whereas reasoning-gym skips it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from prorl_verifiers.logic.text import Entry, Upstream, above_floor, loads, plain

MOST_MOVES = 2000
_SIZE = 6
"""Side length of a rush hour board."""


def rush_hour(answer: str, entry: Entry, upstream: Upstream) -> float:
    moves = re.split(r"[\s,]+", answer.strip())
    if len(moves) > MOST_MOVES:
        return 0.0
    cars, walls = cars_of(str(entry["metadata"]["board_config"]))
    for move in moves:
        match = re.fullmatch(r"([A-Z])([+-])([1-9])", move)
        if match is None or match.group(1) not in cars:
            return 0.0
        label, sign, steps = match.groups()
        for _ in range(int(steps)):
            moved = moved_car(cars, walls, label, 1 if sign == "+" else -1)
            if moved is None:
                return 0.0
            cars[label] = moved
    return float(max(cars["A"]) == 3 * _SIZE - 1)


Cars = dict[str, tuple[int, ...]]


def cars_of(board: str) -> tuple[Cars, frozenset[int]]:
    labels = sorted(set(board) - {"o", "x"})
    cars = {
        chr(ord("A") + i): tuple(cell for cell, sign in enumerate(board) if sign == label)
        for i, label in enumerate(labels)
    }
    return cars, frozenset(cell for cell, sign in enumerate(board) if sign == "x")


def moved_car(
    cars: Cars, walls: frozenset[int], label: str, direction: int
) -> tuple[int, ...] | None:
    """Return the cells of a car moved by one cell (``direction`` +1: right or down), or None if it is blocked."""
    cells = cars[label]
    stride = cells[1] - cells[0]
    taken = walls.union(*(other for name, other in cars.items() if name != label))
    moved = tuple(cell + direction * stride for cell in cells)
    inside = all(0 <= cell < _SIZE * _SIZE for cell in moved)
    same_row = stride != 1 or len({cell // _SIZE for cell in (*cells, *moved)}) == 1
    return moved if inside and same_row and not taken.intersection(moved) else None


_STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def sokoban(answer: str, entry: Entry, upstream: Upstream) -> float:
    moves = "".join(answer.replace(",", " ").split()).upper()
    if not moves or len(moves) > MOST_MOVES or set(moves) - set(_STEPS):
        return 0.0
    rows = str(entry["metadata"]["gamestr"]).replace(" ", "").strip().split("\n")
    cells = {(r, c): sign for r, row in enumerate(rows) for c, sign in enumerate(row)}
    walls = {cell for cell, sign in cells.items() if sign == "+"}
    goals = {cell for cell, sign in cells.items() if sign in "X$%"}
    boxes = {cell for cell, sign in cells.items() if sign in "@$"}
    player = next(cell for cell, sign in cells.items() if sign in "*%")
    for move in moves:
        down, right = _STEPS[move]
        player = (player[0] + down, player[1] + right)
        if player not in cells or player in walls:
            return 0.0
        if player in boxes:
            beyond = (player[0] + down, player[1] + right)
            if beyond not in cells or beyond in walls or beyond in boxes:
                return 0.0
            boxes = boxes - {player} | {beyond}
    return float(boxes <= goals)


_WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def path(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``shortest_path``. A correct path that is longer than the shortest one earns 0.5."""
    gold = str(entry["answer"]).split()
    steps = answer.replace(",", " ").lower().split()
    if steps == gold:
        return 1.0
    if not steps or len(steps) > MOST_MOVES or set(steps) - set(_WAYS):
        return 0.0
    matrix = entry["metadata"]["matrix"]
    cells = {(r, c): sign for r, row in enumerate(matrix) for c, sign in enumerate(row)}
    position = next(cell for cell, sign in cells.items() if sign == "*")
    for step in steps:
        down, right = _WAYS[step]
        position = (position[0] + down, position[1] + right)
        if cells.get(position, "X") == "X":
            return 0.0
    if cells[position] != "#":
        return 0.0
    return 1.0 if len(steps) <= len(gold) else 0.5


def tower_of_hanoi(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``tower_of_hanoi``. Every line must consist of one move."""
    lines = [line.strip() for line in answer.split("\n") if line.strip()]
    move = re.compile(r"Move disk \d+ from Peg \d+ to Peg \d+", re.ASCII)
    return above_floor(answer, entry, upstream) if all(map(move.fullmatch, lines)) else 0.0


_PLACE = re.compile(
    r"(?:Agent|square)?\s*[\[(]?\s*(\d{1,3}(?:\.5)?)\s*,\s*(\d{1,3}(?:\.5)?)\s*[\])]?"
)
_ACTION = re.compile(
    r"move\(\s*(box_\w{1,20})\s*,\s*(target_\w{1,20}|square\s*[\[(][^\])]{1,20}[\])])\s*\)"
)


def boxnet(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``boxnet`` by the fraction of boxes that reach their targets."""
    state = {place: list(things) for place, things in entry["metadata"]["initial_state"].items()}
    before = _boxes(state)
    plan = loads(answer)
    if not isinstance(plan, list) or not before or len(plan) > MOST_MOVES:
        return 0.0
    for step in plan:
        if not isinstance(step, Mapping) or not _step(state, step):
            return 0.0
    return (before - _boxes(state)) / before


def _boxes(state: Mapping[str, list[str]]) -> int:
    return sum(thing.startswith("box_") for things in state.values() for thing in things)


def _step(state: dict[str, list[str]], actions: Mapping[str, Any]) -> bool:
    for agent, action in actions.items():
        place = _PLACE.fullmatch(agent.strip())
        move = _ACTION.fullmatch(str(action).strip())
        start = _key(place) if place else ""
        if move is None or start not in state or move.group(1) not in state[start]:
            return False
        box, goal = move.groups()
        if goal.startswith("target_"):
            if goal[7:] != box[4:] or goal not in state[start]:
                return False
            state[start].remove(goal)
        else:
            target = _PLACE.fullmatch(goal)
            end = _key(target) if target else ""
            if end not in state:
                return False
            (a, b), (c, d) = (map(float, place.split("_")) for place in (start, end))
            if abs(a - c) + abs(b - d) != 1:
                return False
            state[end].append(box)
        state[start].remove(box)
    return True


def _key(place: re.Match[str]) -> str:
    return f"{float(place.group(1))}_{float(place.group(2))}"


def quantum_lock(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``quantum_lock``. The answer must consist of button names."""
    if not re.fullmatch(r"(?:[ABC]|\u2192|->|[\s,])*", answer.strip().upper()):
        return 0.0
    return above_half(upstream())


def above_half(score: float) -> float:
    return score if score >= 0.5 else 0.0


def graph_color(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``graph_color``: neighbours need different colours, and colours must be among the given ones."""
    puzzle = entry["metadata"]["puzzle"]
    colors = loads(answer)
    if not isinstance(colors, Mapping):
        return 0.0
    vertices = {str(vertex) for vertex in puzzle["vertices"]}
    offered = puzzle["color_options"]
    proper = all(type(c) is int and c in offered for c in colors.values())
    edges = all(colors.get(str(a)) != colors.get(str(b)) for a, b in puzzle["edges"])
    return float(set(colors) == vertices and proper and edges)


_TURN = re.compile(r"(\d?[LRUDFBMESxyz]w?'?)([1-3]?)")


def rubiks_cube(answer: str, entry: Entry, upstream: Upstream) -> float:
    turns = [_TURN.fullmatch(turn) for turn in plain(answer).split()]
    if None in turns or len(turns) > MOST_MOVES:
        return 0.0
    solved = upstream() >= 1.0
    metadata = entry["metadata"]
    if int(metadata["cube_size"]) <= 3:
        return float(solved)
    # Larger cubes are turned here, because upstream ignores turns of inner layers (``2Rw``).
    cubes = import_module("magiccube.cube")
    cube = cubes.Cube(int(metadata["cube_size"]))
    cube.rotate(str(metadata["scramble_moves"]))
    try:
        for turn in turns:
            assert turn is not None
            cube.rotate(" ".join([turn.group(1)] * int(turn.group(2) or 1)))
    except (cubes.CubeException, ValueError, LookupError):
        return 0.0
    return float(bool(cube.is_done()))
