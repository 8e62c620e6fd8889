"""Compares chemical formulas, isotopes, reactions and SMILES.

Condensed formulas without rings are parsed into graphs, so ``CH3CH2OH`` equals ``C2H5OH`` but not ``CH3OCH3``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prorl_verifiers.libraries import Loading
from prorl_verifiers.stem.kinds import FONT_COMMAND, NUMBERS

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
    """Raised if a text cannot be parsed as a condensed formula."""


def canonical(formula: str) -> str | None:
    text = _ALIASES.get(formula, formula)
    if "C" not in text or len(text) > 4 * MAX_ATOMS:
        return None
    text = _LEADING_ETHYL.sub("CH3CH2", text)
    text = re.sub(r"C2H5$", "CH2CH3", text).replace("C2H5)", "CH2CH3)").replace("C6H5", "Ph")
    try:
        atoms = _Reader(text).whole()
    except NotCondensed:
        return None
    if sum(len(atom.neighbours) for atom in atoms) != 2 * (len(atoms) - 1):
        return None  # it has rings
    return min(_branch(atoms, root, None) for root in range(len(atoms)))


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
        loose_hydrogens = 0
        waiting: list[tuple[int, int]] = []  # (start token, repetitions) of leading brackets
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
        """Append an atom to the chain at ``current``. Return the atom to which the next one is bound."""
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


def _branch(atoms: list[_Atom], at: int, parent: int | None) -> str:
    branches = sorted(
        _branch(atoms, other, at) for other in atoms[at].neighbours if other != parent
    )
    return f"{atoms[at].element}{atoms[at].hydrogens}({','.join(branches)})"


MAX_FORMULA = 300

ELEMENTS = frozenset((*NUMBERS, "D"))

_ARROW = re.compile(
    r"\\(?:xrightarrow|xrightleftharpoons|xlongrightarrow)(?:\[[^\]]*\])?\s*\{[^{}]*\}"
    r"|\\(?:(?:long)?rightarrow|to|Rightarrow|rightleftharpoons|rightleftarrows|leftrightarrows|leftrightarrow|leftrightharpoons)(?![A-Za-z])"
    r"|\\ce\{\s*->\s*\}|<?[-=]{1,3}>|→|⟶|⟹|⇒|⇌|⇄|⇋|⇆|↔|⟷"
)
_LOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_HIGH = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−–", "0123456789+---")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]*[⁺⁻]")
_CHARGE = re.compile(r"\^(\d*)([+-])$|\^([+-])(\d+)$|([+-])$")
_FORMULA = re.compile(r"(?:[A-Z][a-z]?\d{0,3}|[()\[\]]\d{0,3}|[.*]\d{0,2})+(?:\^\d?[+-])?")
_DRESSED = re.compile(r"(\d{0,3})([A-Z(\[].*?)(?:\((aq|s|l|g)\))?")
_SHELLS = re.compile(r"(?:\[[A-Z][a-z]\])?(?:\d[spdf]\d{1,2}){1,20}")
_HYBRID = re.compile(r"(d\d?)?sp\d?(d\d?)?")
_SHELL = re.compile(r"(\d[spdf])(\d{1,2})(?=\d[spdf]|$)")
_ELEMENT = re.compile(r"[A-Z][a-z]?")
_WORDS = frozenset({"no", "in", "as", "at", "he", "i", "be", "yes"})


def same_formula(gold: str, answer: str) -> bool | None:
    """Return whether two chemical formulas are the same, or None if one text is not a formula."""
    if len(gold) > MAX_FORMULA or len(answer) > MAX_FORMULA or gold.strip().casefold() in _WORDS:
        return None
    one, other = normalise(gold), normalise(answer)
    if is_formula(gold) and one != other and one.casefold() == other.casefold():
        return False
    same_configuration = _same_configuration(gold, answer)
    if same_configuration is not None:
        return same_configuration
    if ">" in one:
        if ">" not in other and other.count("=") == 1:
            answer, other = answer.replace("=", "->"), other.replace("=", ">")
        return one == other or _same_equation(gold, answer)
    counts, states = zip(*(_coefficient_and_state(text) for text in (one, other)), strict=True)
    one, other = (_without_coefficient(text) for text in (one, other))
    if one != other and counts[0] == counts[1]:
        molecules = canonical(one), canonical(other)
        if molecules[0] is not None and molecules[0] == molecules[1]:
            return True
        if molecules[0] is not None and "=" in other + one:
            return False
    first, second = _elements(one), _elements(other)
    if not first or not second:
        return None
    if len(first) < 2 and len(second) < 2 and not re.search(r"[\d^]", one + other):
        return None
    if counts[0] != counts[1] or (states[0] and states[1] and states[0] != states[1]):
        return False
    if one != other and {one, _with_charge(gold, one)} & {other, _with_charge(answer, other)}:
        return True
    if one != other and sorted(one) == sorted(other) and not re.search(r"\d", one):
        return None
    return one == other


def is_formula(text: str) -> bool:
    """Return whether a text is a chemical formula, a reaction or an electron configuration."""
    plain = normalise(text) if len(text) <= MAX_FORMULA else ""
    shells = _configuration(text)
    if not plain or text.strip().casefold() in _WORDS:
        return False
    if ">" in plain:
        return all(_elements(_without_coefficient(term)) for half in _terms(text) for term in half)
    elements = _elements(_without_coefficient(plain))
    several = len(elements) > 1 or bool(elements and re.search(r"[\d^]", plain))
    return (
        several
        or canonical(_without_coefficient(plain)) is not None
        or _SHELLS.fullmatch(shells) is not None
        or (shells != "sp" and _HYBRID.fullmatch(shells) is not None)
    )


def normalise(text: str) -> str:
    """Rewrite a formula with plain digits, and with its charge after ``^``."""
    text = _RAISED.sub(lambda m: "^" + m.group().translate(_HIGH), text).translate(_LOW)
    text = text.translate(str.maketrans("−–·•", "--**"))
    text = _ARROW.sub(">", FONT_COMMAND.sub("", text).replace(r"\cdot", "*").replace("^{*}", ""))
    text = re.sub(r"[\s${}_~]|\\[,;! ]", "", text)
    charge = _CHARGE.search(text)
    if charge and ">" not in text and text != charge.group():
        size = charge.group(1) or charge.group(4) or ""
        sign = charge.group(2) or charge.group(3) or charge.group(5)
        text = f"{text[: charge.start()]}^{size if size != '1' else ''}{sign}"
    return text


def has_coefficient(text: str) -> bool:
    plain = normalise(text) if len(text) <= MAX_FORMULA else ""
    bare = _without_coefficient(plain)
    return bool(bare != plain and re.search(r"\d", bare) and len(set(_elements(bare))) > 1)


def _coefficient_and_state(text: str) -> tuple[str, str]:
    match = _DRESSED.fullmatch(text)
    count = match.group(1) if match else ""
    return "" if count == "1" else count, (match.group(3) or "") if match else ""


def _without_coefficient(text: str) -> str:
    match = _DRESSED.fullmatch(text)
    return str(match.group(2)) if match else text


def _with_charge(raw: str, formula: str) -> str:
    """Rewrite ``Fe2+`` and ``SO42-`` with a charge of two, as ``Fe^2+`` and ``SO4^2-``."""
    match = re.fullmatch(r"(.*[A-Za-z0-9)\]])([1-7])\^([+-])", formula)
    if match is None or set("^_") & set(raw):
        return formula
    return f"{match.group(1)}^{match.group(2)}{match.group(3)}"


def _same_equation(gold: str, answer: str) -> bool:
    halves = [_terms(gold), _terms(answer)]
    if any(len(half) != 2 for half in halves):
        return False
    for gold_terms, answer_terms in zip(*halves, strict=True):
        left = list(answer_terms)
        for term in gold_terms:
            hit = None
            for other in left:
                parts = _coefficient_and_state(term), _coefficient_and_state(other)
                states = {state for _, state in parts if state}
                same = (
                    _without_coefficient(term) == _without_coefficient(other)
                    and parts[0][0] == parts[1][0]
                )
                if same and len(states) < 2:
                    hit = other
                    break
            if hit is None:
                return False
            left.remove(hit)
        if left:
            return False
    return True


def _terms(text: str) -> list[list[str]]:
    spaced = _ARROW.sub(" > ", FONT_COMMAND.sub("", text))
    return [
        [
            normalise(term)
            for term in re.split(r"\s\+\s|(?<=[A-Za-z0-9)}])\+(?=\s*[\dA-Z\\({])", half)
        ]
        for half in spaced.split(">")
    ]


def _same_configuration(gold: str, answer: str) -> bool | None:
    pair = [_configuration(text) for text in (gold, answer)]
    if all(_HYBRID.fullmatch(text) for text in pair):
        return pair[0] == pair[1]
    if not all(_SHELLS.fullmatch(text) for text in pair):
        return None
    core, filled = zip(
        *((text.split("]")[0], sorted(_SHELL.findall(text))) for text in pair), strict=True
    )
    same_core = core[0] == core[1] or "[" not in pair[0] + pair[1]
    return same_core and filled[0] == filled[1]


def _configuration(text: str) -> str:
    plain = re.sub(r"[\s${}^]|\\[,; ]", "", FONT_COMMAND.sub("", text.translate(_HIGH)))
    return re.sub(r"-?hybridi[sz](?:ed|ation)$|-?hybrid$|orbitals?$", "", plain)


def _elements(formula: str) -> list[str]:
    if _FORMULA.fullmatch(formula) is None:
        return []
    symbols = _ELEMENT.findall(formula)
    return symbols if all(symbol in ELEMENTS for symbol in symbols) else []


MAX_SMILES = 500


def canonical_smiles(text: str, loading: Loading) -> str | None:
    """Return RDKit's canonical SMILES, or None for invalid SMILES. Raises ImportError without RDKit."""
    text = (
        text.strip()
        .strip("$`")
        .removeprefix(r"\text{")
        .removeprefix(r"\texttt{")
        .removesuffix("}")
        .strip()
    )
    if not text or len(text) > MAX_SMILES or any(letter.isspace() for letter in text):
        return None
    loading("rdkit.Chem")
    from rdkit import Chem, rdBase  # type: ignore[import-not-found,unused-ignore]

    rdBase.DisableLog("rdApp.*")
    molecule = Chem.MolFromSmiles(text)
    return None if molecule is None else str(Chem.MolToSmiles(molecule))
