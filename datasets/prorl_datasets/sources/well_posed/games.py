"""Rejects items of games, puzzles and grids that are already solved, unchanged, or stored with a wrong answer."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule, unchanged

_SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))
_FACES = 6
_HAND = re.compile(r"initial cards ([A-Z]+)")
Place = tuple[int, int]


def _knight_swap(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject boards that are stored as impossible although they have a solution."""
    metadata = entry["metadata"]
    squares = list(metadata["board"])
    if metadata["is_possible"]:
        return None
    moves = {one: [other for other in squares if _knight_move(one, other)] for one in squares}
    white = frozenset(place for place, piece in metadata["pieces"].items() if piece == "w")
    black = frozenset(place for place, piece in metadata["pieces"].items() if piece == "B")
    if _swappable(moves, white, black, metadata["start_turn"] == "w"):
        return Flaw("wrong answer", "called impossible, and there is a solution")
    return None


def _knight_move(one: str, other: str) -> bool:
    return {abs(ord(one[0]) - ord(other[0])), abs(int(one[1:]) - int(other[1:]))} == {1, 2}


def _swappable(
    moves: Mapping[str, Sequence[str]], white: frozenset[str], black: frozenset[str], turn: bool
) -> bool:
    start = (white, black, turn)
    reached, waiting = {start}, deque([start])
    while waiting:
        ours, theirs, whites_turn = waiting.popleft()
        if (ours, theirs) == (black, white):
            return True
        movers = ours if whites_turn else theirs
        for place in movers:
            for free in moves[place]:
                if free in ours or free in theirs:
                    continue
                moved = movers - {place} | {free}
                state = (moved, theirs, False) if whites_turn else (ours, moved, True)
                if state not in reached:
                    reached.add(state)
                    waiting.append(state)
    return False


def _tsumego(entry: Mapping[str, Any]) -> Flaw | None:
    """Require the stored move to capture the most white stones, or any number if the question asks for "some"."""
    board = entry["metadata"]["board"]
    size, move = len(board), str(entry["answer"])
    stored = (size - int(move[1:]), ord(move[0]) - ord("A"))
    taken = {
        (row, column): _taken(board, row, column)
        for row in range(size)
        for column in range(size)
        if board[row][column] == "."
    }
    if not taken.get(stored):
        return Flaw("wrong answer", f"{move} takes no stone")
    some = "some of the white" in str(entry["question"])
    best = [
        place for place, stones in taken.items() if stones >= (1 if some else max(taken.values()))
    ]
    if stored not in best:
        return Flaw(
            "wrong answer", f"{move} takes {taken[stored]}, another move {max(taken.values())}"
        )
    if len(best) > 1:
        return Flaw("ambiguous", f"{len(best)} moves do what is asked")
    return None


def _taken(board: Sequence[Sequence[str]], row: int, column: int) -> int:
    taken: set[Place] = set()
    for down, right in _SIDES:
        start = (row + down, column + right)
        if _stone(board, start) != "O" or start in taken:
            continue
        group, waiting, alive = {start}, [start], False
        while waiting:
            y, x = waiting.pop()
            for dy, dx in _SIDES:
                place = (y + dy, x + dx)
                stone = _stone(board, place)
                alive = alive or (stone == "." and place != (row, column))
                if stone == "O" and place not in group:
                    group.add(place)
                    waiting.append(place)
        if not alive:
            taken |= group
    return len(taken)


def _stone(board: Sequence[Sequence[str]], place: Place) -> str:
    y, x = place
    return board[y][x] if 0 <= y < len(board) and 0 <= x < len(board) else ""


def _sokoban(entry: Mapping[str, Any]) -> Flaw | None:
    board = str(entry["metadata"]["gamestr"])
    if "@" not in board:
        return Flaw("trivial", "every box is on a goal")
    if board.count("@") != board.count("X") + board.count("%"):
        return Flaw("impossible", "not as many boxes as goals")
    return None


def _rubiks_cube(entry: Mapping[str, Any]) -> Flaw | None:
    size = entry["metadata"]["cube_size"]
    rows = [row.split() for row in str(entry["question"]).splitlines()]
    drawn = [row for row in rows if len(row) in (size, 4 * size) and all(len(s) == 1 for s in row)]
    faces: dict[tuple[int, int], set[str]] = {}
    for at, row in enumerate(drawn):
        for place, colour in enumerate(row):
            faces.setdefault((at // size, place // size), set()).add(colour)
    if len(faces) == _FACES and all(len(colours) == 1 for colours in faces.values()):
        return Flaw("trivial", "the cube is solved")
    return None


def _quantum_lock(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject stored solutions if presses without effect allow a shorter one."""
    metadata = entry["metadata"]
    stored, target = len(metadata["solution_path"]), metadata["target_value"]
    if metadata["initial_value"] == target:
        return Flaw("trivial", "the number is the target")
    states = {(metadata["initial_value"], metadata["initial_state"])}
    reached = set(states)
    for presses in range(1, stored):
        states = {
            (_pressed(value, light, button), "green" if light == "red" else "red")
            for value, light in states
            for button in metadata["buttons"]
        } - reached
        reached |= states
        if any(value == target for value, _ in states):
            return Flaw("ambiguous", f"{presses} presses, if presses without effect count")
    return None


def _pressed(value: int, light: str, button: Mapping[str, Any]) -> int:
    if button["active_state"] not in ("any", light):
        return value
    number: int = button["value"]
    return {"add": value + number, "subtract": value - number, "multiply": value * number}[
        button["type"]
    ]


def _graph_color(entry: Mapping[str, Any]) -> Flaw | None:
    if not entry["metadata"]["puzzle"]["edges"]:
        return Flaw("trivial", "the graph has no edge")
    return None


def _mahjong_puzzle(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject wrong stored moves, such as Pass although the card completes a set."""
    first = _HAND.search(str(entry["question"]))
    *before, last = entry["metadata"]["rounds"]
    if first is None:
        return None
    hand = list(first.group(1))
    for one in before:
        hand.append(one["add"])
        hand.remove(one["remove"])
    card = ord(last["add"])
    runs = ((-2, -1), (-1, 1), (1, 2))
    right = "Pass"
    if hand.count(last["add"]) >= 2:
        right = "Peng"
    elif any(all(chr(card + step) in hand for step in run) for run in runs):
        right = "Chi"
    if right != entry["answer"]:
        return Flaw("wrong answer", f"{right}, not {entry['answer']}")
    return None


def _color_cube_rotation(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject items whose answer depends on the direction of a half turn."""
    metadata = entry["metadata"]
    results: set[str] = set()
    for sideways in (False, True):
        sides = dict(metadata["initial_state"])
        for turn in metadata["rotations"]:
            sides = _turned(sides, turn, sideways)
        results.add(sides[metadata["target_side"]])
    if len(results) > 1:
        return Flaw("ambiguous", "the bottom comes up over the front or over a side")
    return None


def _turned(sides: Mapping[str, str], turn: str, sideways: bool) -> dict[str, str]:
    if turn == "top":
        return dict(sides)
    opposite = {"front": "back", "back": "front", "left": "right", "right": "left"}
    if turn == "bottom":
        over = "right" if sideways else "front"
        return _turned(_turned(sides, over, sideways), over, sideways)
    away = opposite[turn]
    return {
        **sides,
        "top": sides[turn],
        away: sides["top"],
        "bottom": sides[away],
        turn: sides["bottom"],
    }


def _game_of_life(entry: Mapping[str, Any]) -> Flaw | None:
    answer = re.sub(r"\s", "", str(entry["answer"]))
    if "1" not in answer:
        return Flaw("trivial", "the board is empty in the end")
    if answer in re.sub(r"\s", "", str(entry["question"])):
        return Flaw("trivial", "the board does not change")
    return None


def _largest_island(entry: Mapping[str, Any]) -> Flaw | None:
    if not any(1 in row for row in entry["metadata"]["grid"]):
        return Flaw("trivial", "there is no island")
    return None


def _rotten_oranges(entry: Mapping[str, Any]) -> Flaw | None:
    if not any(1 in row for row in entry["metadata"]["matrix"]):
        return Flaw("trivial", "no orange is fresh")
    return None


def _pieces(entry: Mapping[str, Any]) -> Flaw | None:
    if len(entry["metadata"]["states"]) < 2:
        return Flaw("trivial", "no rule applies")
    return None


RULES: Mapping[str, Rule] = {
    "color_cube_rotation": _color_cube_rotation,
    "graph_color": _graph_color,
    "knight_swap": _knight_swap,
    "mahjong_puzzle": _mahjong_puzzle,
    "quantum_lock": _quantum_lock,
    "rubiks_cube": _rubiks_cube,
    "sokoban": _sokoban,
    "tsumego": _tsumego,
    "binary_matrix": unchanged("matrix", "solution"),
    "game_of_life": _game_of_life,
    "largest_island": _largest_island,
    "manipulate_matrix": unchanged("matrix", "solution"),
    "pool_matrix": unchanged("matrix", "solution"),
    "rotate_matrix": unchanged("matrix", "solution"),
    "rotten_oranges": _rotten_oranges,
    "string_splitting": _pieces,
    "string_synthesis": _pieces,
}
