r"""Magnitudes with a direction: ``50 N at 30^\circ``, ``5 m/s, 30° north of east``, ``12 m/s upward``."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_DIRECTED = 300
"""Characters; a longer text is not read here."""
_WRAPPER = re.compile(r"\\(?:text|mathrm|mbox|textrm)\s*\{([^{}]*)\}")
_ANGLE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:\^\s*\{?\s*\\circ\s*\}?|°|\\degree|degrees?\b|deg\b)")
_START = re.compile(
    r"[\s,;(]*(?:\\angle|∠|(?:,|\bat\b|\bin\b|\bto\b|\bdirected\b|\bpointing\b|\bdue\b|\btoward(?:s)?\b|(?<=\s)(?=-?\d+(?:\.\d+)?\s*(?:\^|°))"
    r"|(?=\b(?:left|right|north|south|east|west|up|down|upwards?|downwards?|in(?:to|wards?)|out(?:wards?)?|clockwise|counter-?clockwise|anti-?clockwise"
    r"|northeast|northwest|southeast|southwest)\b))).*\Z",
    re.IGNORECASE | re.DOTALL,
)
_WORDS = {
    "left": "left", "right": "right", "north": "north", "south": "south", "east": "east", "west": "west", "n": "north",
    "s": "south", "e": "east", "w": "west", "up": "up", "upward": "up", "upwards": "up", "down": "down",
    "downward": "down", "downwards": "down", "inward": "in", "inwards": "in", "outward": "out", "outwards": "out",
    "clockwise": "clockwise", "counterclockwise": "counter", "counter-clockwise": "counter", "anticlockwise": "counter",
    "anti-clockwise": "counter", "above": "above", "below": "below", "horizontal": "horizontal", "vertical": "vertical",
    "negative": "negative", "northeast": "north east", "northwest": "north west", "southeast": "south east",
    "southwest": "south west", "into": "in", "out": "out",
}  # fmt: skip
_FILLER = frozenset(
    """of the to at an angle in direction due from axis x y z x-axis y-axis with toward towards directed pointing positive
    and page plane measured is""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Direction:
    """An angle in degrees ("" without one) and the words of the direction in order."""

    angle: str
    words: tuple[str, ...]


def split_direction(text: str) -> tuple[str, Direction] | None:
    """Return (what stands before, the direction) of a text that ends in a direction, or None."""
    if len(text) > MAX_DIRECTED:
        return None
    plain = _WRAPPER.sub(r" \1 ", text)
    match = _START.search(plain)
    while match is not None and match.start() > 0:
        direction = _read(match.group())
        if direction is not None:
            return plain[: match.start()].rstrip(" ,;\\~$"), direction
        match = _START.search(plain, match.start() + 1)
    return None


def same_direction(gold: Direction, answer: Direction) -> bool:
    """Whether the angles agree to half a degree, or half a unit of the gold's last digit, and the words are the same."""
    if bool(gold.angle) != bool(answer.angle):
        return False
    if gold.angle:
        places = len(gold.angle.partition(".")[2])
        if abs(float(gold.angle) - float(answer.angle)) > 0.5 * 10.0**-places:
            return False
    return gold.words == answer.words or (bool(gold.angle) and not (gold.words and answer.words))


def _read(text: str) -> Direction | None:
    angle = _ANGLE.search(text)
    rest = _ANGLE.sub(" ", text, count=1)
    if _ANGLE.search(rest):
        return None
    rest = re.sub(r"\\angle|\\[,;:! ]|[∠,;()$~{}.]|\+(?=\s*x)", " ", rest)
    words: list[str] = []
    for word in rest.split():
        if word.casefold() in _WORDS and (len(word) > 1 or angle):
            words += _WORDS[word.casefold()].split()
        elif word.casefold() not in _FILLER:
            return None
    return Direction(angle.group(1) if angle else "", tuple(words)) if angle or words else None
