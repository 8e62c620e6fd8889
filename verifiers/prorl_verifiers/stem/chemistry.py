r"""Chemical formulas: ``H2SO4``, ``\mathrm{H_2SO_4}``, ``\ce{H2SO4}`` and ``H₂SO₄`` are one; ``CO`` is not ``Co``.

Compares spellings, case kept.
"""

from __future__ import annotations

import re

from prorl_verifiers.stem.condensed import canonical
from prorl_verifiers.stem.nuclides import NUMBERS

MAX_FORMULA = 300
"""Characters; a longer text is no formula."""

ELEMENTS = frozenset((*NUMBERS, "D"))
_WRAPPER = re.compile(r"\\(?:ce|text|textrm|mathrm|mathbf|textbf|mbox|rm|operatorname)(?![A-Za-z])")
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
_SHELL = re.compile(r"(\d[spdf])(\d{1,2})(?=\d[spdf]|$)")
_ELEMENT = re.compile(r"[A-Z][a-z]?")
_WORDS = frozenset({"no", "in", "as", "at", "he", "i", "be", "yes"})


def same_formula(gold: str, answer: str) -> bool | None:
    """Return whether two chemical formulas are the same; None when they are not both formulas."""
    if len(gold) > MAX_FORMULA or len(answer) > MAX_FORMULA or gold.strip().casefold() in _WORDS:
        return None
    one, other = spelled(gold), spelled(answer)
    special = _same_configuration(gold, answer)
    if special:
        return special == "same"
    if ">" in one:
        if ">" not in other and other.count("=") == 1:
            answer, other = answer.replace("=", "->"), other.replace("=", ">")
        return one == other or _same_equation(gold, answer)
    counts, states = zip(*(_apart(text) for text in (one, other)), strict=True)
    one, other = (_bare(text) for text in (one, other))
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
    """Whether a text is a chemical formula, a reaction or an electron configuration."""
    plain = spelled(text) if len(text) <= MAX_FORMULA else ""
    shells = re.sub(r"[\s${}^]|\\[,;]", "", _WRAPPER.sub("", text.translate(_HIGH)))
    if not plain or text.strip().casefold() in _WORDS:
        return False
    if ">" in plain:
        return all(_elements(_bare(term)) for half in _terms(text) for term in half)
    elements = _elements(_bare(plain))
    several = len(elements) > 1 or bool(elements and re.search(r"[\d^]", plain))
    return several or canonical(_bare(plain)) is not None or _SHELLS.fullmatch(shells) is not None


def spelled(text: str) -> str:
    """Return a formula in one spelling: digits plain, the charge behind ``^``, no blanks, no wrappers."""
    text = _RAISED.sub(lambda m: "^" + m.group().translate(_HIGH), text).translate(_LOW)
    text = text.translate(str.maketrans("−–·•", "--**"))
    text = _ARROW.sub(">", _WRAPPER.sub("", text).replace(r"\cdot", "*").replace("^{*}", ""))
    text = re.sub(r"[\s${}_~]|\\[,;! ]", "", text)
    charge = _CHARGE.search(text)
    if charge and ">" not in text and text != charge.group():
        size = charge.group(1) or charge.group(4) or ""
        sign = charge.group(2) or charge.group(3) or charge.group(5)
        text = f"{text[: charge.start()]}^{size if size != '1' else ''}{sign}"
    return text


def with_coefficient(text: str) -> bool:
    """Whether a text is a formula of two or more elements behind a coefficient (``2H2O``), no number with a unit."""
    plain = spelled(text) if len(text) <= MAX_FORMULA else ""
    bare = _bare(plain)
    return bool(bare != plain and re.search(r"\d", bare) and len(set(_elements(bare))) > 1)


def _apart(text: str) -> tuple[str, str]:
    """Return the coefficient (``2`` of ``2H2O``; none for 1) and the state (``aq``)."""
    match = _DRESSED.fullmatch(text)
    count = match.group(1) if match else ""
    return "" if count == "1" else count, (match.group(3) or "") if match else ""


def _bare(text: str) -> str:
    match = _DRESSED.fullmatch(text)
    return str(match.group(2)) if match else text


def _with_charge(raw: str, formula: str) -> str:
    """Read ``Fe2+`` and ``SO42-``, written without any mark, as a charge of two."""
    match = re.fullmatch(r"(.*[A-Za-z0-9)\]])([1-7])\^([+-])", formula)
    return (
        f"{match.group(1)}^{match.group(2)}{match.group(3)}"
        if match and not set("^_") & set(raw)
        else formula
    )


def _same_equation(gold: str, answer: str) -> bool:
    """Compare reactions: both sides, their terms in any order, states as for single formulas."""
    halves = [_terms(gold), _terms(answer)]
    if any(len(half) != 2 for half in halves):
        return False
    for wanted, given in zip(*halves, strict=True):
        left = list(given)
        for term in wanted:
            hit = None
            for other in left:
                parts = _apart(term), _apart(other)
                states = {state for _, state in parts if state}
                same = _bare(term) == _bare(other) and parts[0][0] == parts[1][0]
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
    spaced = _ARROW.sub(" > ", _WRAPPER.sub("", text))
    return [
        [spelled(term) for term in re.split(r"\s\+\s|(?<=[A-Za-z0-9)}])\+(?=\s*[\dA-Z\\({])", half)]
        for half in spaced.split(">")
    ]


def _same_configuration(gold: str, answer: str) -> str:
    """``same`` or ``other`` for two electron configurations (``1s^2 2s^2``, shells in any order), "" when they are not both."""
    pair = [
        re.sub(r"[\s${}^]|\\[,;]", "", _WRAPPER.sub("", text.translate(_HIGH)))
        for text in (gold, answer)
    ]
    if not all(_SHELLS.fullmatch(text) for text in pair):
        return ""
    core, filled = zip(
        *((text.split("]")[0], sorted(_SHELL.findall(text))) for text in pair), strict=True
    )
    same_core = core[0] == core[1] or "[" not in pair[0] + pair[1]
    return "same" if same_core and filled[0] == filled[1] else "other"


def _elements(formula: str) -> list[str]:
    """Return the element symbols of a formula; [] when it is none."""
    if _FORMULA.fullmatch(formula) is None:
        return []
    symbols = _ELEMENT.findall(formula)
    return symbols if all(symbol in ELEMENTS for symbol in symbols) else []
