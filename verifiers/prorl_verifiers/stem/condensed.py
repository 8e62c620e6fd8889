r"""Condensed formulas as molecules: ``CH3CH(OH)CH3`` is ``(CH3)2CHOH``, ``CH3CH2OH`` is ``C2H5OH``, not ``CH3OCH3``.

A formula is read from left to right into a graph of its heavy atoms with their hydrogens, by valence; the graph (without
rings) is written in one canonical way. Anything else is no condensed formula: rings, ambiguous groups (``C3H7``), ions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_ATOMS = 60
_VALENCE = {"C": 4, "N": 3, "O": 2, "S": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1, "Ph": 1}
_TOKEN = re.compile(r"(Cl|Br|[CNOSFIH])(\d{0,2})|(\()|(\))(\d{0,2})|([-=≡#])")
_LEADING_ETHYL = re.compile(r"^C2H5")
_ALIASES = {"HC2H3O2": "CH3COOH"}


@dataclass(slots=True)
class _Atom:
    element: str
    hydrogens: int = 0
    bonds: int = 0
    neighbours: list[int] = field(default_factory=list)


class NotCondensed(ValueError):
    """The text is no condensed formula that is read here."""


def canonical(formula: str) -> str | None:
    """Return the canonical writing of a condensed formula, None when it is none."""
    text = _ALIASES.get(formula, formula)
    if "C" not in text or len(text) > 4 * MAX_ATOMS:
        return None
    text = _LEADING_ETHYL.sub("CH3CH2", text)
    text = re.sub(r"C2H5$", "CH2CH3", text).replace("C2H5)", "CH2CH3)").replace("C6H5", "Ph")
    try:
        return _written(_Reader(text).whole())
    except NotCondensed:
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, int]] = []
        place = 0
        if re.search(r"Ph\d", text):
            raise NotCondensed
        while place < len(text):
            if text.startswith("Ph", place):
                self.tokens.append(("Ph", 1))
                place += 2
                continue
            match = _TOKEN.match(text, place)
            if match is None:
                raise NotCondensed
            element, count, opened, closed, times, bond = match.groups()
            self.tokens.append((element or opened or closed or bond, int(count or times or 1)))
            place = match.end()
        self.at = 0
        self.atoms: list[_Atom] = []

    def whole(self) -> list[_Atom]:
        last = self.chain(None)
        if self.at != len(self.tokens) or last is None or len(self.atoms) < 2:
            raise NotCondensed
        if not any(atom.element in ("C", "Ph") for atom in self.atoms):
            raise NotCondensed
        return self.atoms

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def room(self, at: int) -> int:
        atom = self.atoms[at]
        most = 4 if atom.element == "N" and atom.hydrogens == 0 else _VALENCE[atom.element]
        return most - atom.hydrogens - atom.bonds

    def add(self, element: str, to: int | None) -> int:
        if len(self.atoms) >= MAX_ATOMS:
            raise NotCondensed
        self.atoms.append(_Atom(element))
        new = len(self.atoms) - 1
        if to is not None:
            self.join(to, new, 1)
        return new

    def join(self, one: int, other: int, order: int) -> None:
        for atom, neighbour in ((one, other), (other, one)):
            self.atoms[atom].bonds += order
            if neighbour not in self.atoms[atom].neighbours:
                self.atoms[atom].neighbours.append(neighbour)
        if self.room(one) < 0 or self.room(other) < 0:
            raise NotCondensed

    def chain(self, current: int | None) -> int | None:
        """Read up to a closing bracket or the end; return the atom that the chain goes on from."""
        loose_hydrogens = 0
        waiting: list[tuple[int, int]] = []  # token span of a bracket before any atom, times
        order = 1
        last = current
        while self.peek() not in ("", ")"):
            kind, count = self.tokens[self.at]
            self.at += 1
            if kind in "-=≡#":
                order = {"-": 1, "=": 2}.get(kind, 3)
                continue
            if kind == "(":
                start = self.at
                if current is None:
                    self.skip()
                    waiting.append((start, self.tokens[self.at - 1][1]))
                else:
                    current = self.group(current, start)
                continue
            if kind == "H":
                if last is None:
                    loose_hydrogens += count
                else:
                    self.hydrogens(last, count)
                continue
            for _ in range(count):
                current = self.atom(kind, current, order)
                last = len(self.atoms) - 1
                order = 1
            if loose_hydrogens:
                self.hydrogens(len(self.atoms) - 1, loose_hydrogens)
                loose_hydrogens = 0
            for start, times in waiting:
                behind = self.at
                for _ in range(times):
                    self.at = start
                    assert current is not None
                    self.chain(current)
                self.at = behind
            waiting = []
        if loose_hydrogens or waiting:
            raise NotCondensed
        return current

    def hydrogens(self, at: int, count: int) -> None:
        self.atoms[at].hydrogens += count
        if self.room(at) < 0:
            raise NotCondensed

    def atom(self, element: str, current: int | None, order: int) -> int:
        """Add an atom; a halogen, ``=O`` or ``N`` of a nitrile hangs on ``current``, others carry the chain on."""
        if current is None:
            return self.add(element, None)
        free = self.room(current)
        following = self.peek()
        multiple = order
        if (
            order == 1
            and element == "O"
            and self.atoms[current].element in "CN"
            and free >= 2
            and following not in ("(", "H")
        ):
            multiple = 2
        if order == 1 and element == "N" and free == 3 and following in ("", ")"):
            multiple = 3
        if element == "O" == self.atoms[current].element:
            raise NotCondensed
        new = self.add(element, current)
        if multiple > 1:
            self.join(current, new, multiple - 1)
        closed = _VALENCE[element] == 1 or (element == "O" and (multiple == 2 or following == "H"))
        return current if closed else new

    def skip(self) -> None:
        depth = 1
        while depth and self.at < len(self.tokens):
            depth += (self.tokens[self.at][0] == "(") - (self.tokens[self.at][0] == ")")
            self.at += 1
        if depth:
            raise NotCondensed

    def group(self, current: int, start: int) -> int:
        """Read a bracket behind an atom: a side chain, several of them, or a repeated link of the chain."""
        self.at = start
        self.skip()
        end, times = self.at, self.tokens[self.at - 1][1]
        for _ in range(times):
            self.at = start
            last = self.chain(current)
            if last is None:
                raise NotCondensed
            if times > 1 and last != current and self.room(last) > 0:
                current = last
        self.at = end
        return current


def _written(atoms: list[_Atom]) -> str:
    if sum(len(atom.neighbours) for atom in atoms) != 2 * (len(atoms) - 1):
        raise NotCondensed
    return min(_from(atoms, root, None) for root in range(len(atoms)))


def _from(atoms: list[_Atom], at: int, parent: int | None) -> str:
    branches = sorted(_from(atoms, other, at) for other in atoms[at].neighbours if other != parent)
    return f"{atoms[at].element}{atoms[at].hydrogens}({','.join(branches)})"
