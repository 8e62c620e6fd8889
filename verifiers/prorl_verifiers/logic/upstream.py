"""Calls the scorers of reasoning-gym 0.1.25 ("upstream") without executing a model's text.

Scorers that call ``eval`` get only text that our own parser accepts.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from prorl_verifiers.logic.formula import (
    CONSTANTS,
    FUNCTIONS,
    MAX_EXPONENT,
    FormulaError,
    Node,
    is_antiderivative,
    names,
    parse,
)
from prorl_verifiers.logic.text import nesting

MAX_POWER = 60
"""Maximum exponent of a number. For letters it is MAX_EXPONENT."""
_LITERALS = re.compile(r"""(?:[\s\[\](),\d-]|'[\w ]*'|"[\w ]*")*""")
_WORDS = re.compile(r"[\s\w-]*")
"""Text without brackets, quotes and dots, which is harmless if evaluated."""
_HEX_ARITHMETIC = re.compile(r"[\s\da-fx()+*<>&|^~%-]*", re.IGNORECASE)
_ODD_TEXT = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    SyntaxError,
    AssertionError,
    NameError,
    RecursionError,
)
EVALUATING = (
    "binary_matrix",
    "spiral_matrix",
    "string_insertion",
    "n_queens",
    "countdown",
    "puzzle24",
    "simple_integration",
    "intermediate_integration",
    "polynomial_multiplication",
)
"""The datasets whose upstream scorer evaluates the answer."""
_LITERAL_ANSWERS = EVALUATING[:4]
_ARITHMETIC_ANSWERS = EVALUATING[4:6]
_FLOORS = {"countdown": 0.01, "puzzle24": 0.01}
"""Upstream's score for text that cannot be evaluated, if it is not 0."""
_LONGEST_FORMULA = 1500
_LONGEST = {"codeio": 10_000, "propositional_logic": 400}
"""Maximum characters of an answer for upstream scorers that need quadratic time or more."""


def upstream_score(dataset: str, answer: str, entry: Mapping[str, Any]) -> float:
    """Return upstream's score, or 0 if upstream raises for ``answer`` but not for the gold answer."""
    if not safe_to_evaluate(dataset, answer, entry):
        return _FLOORS.get(dataset, 0.0)
    if len(answer) > _LONGEST.get(dataset, len(answer)):
        return 0.0
    if dataset == "propositional_logic":
        variables = set(re.findall(r"[^\s()\u2227\u2228\u00ac\u2192\u2194]+", answer))
        if len(variables) > 12:
            return 0.0
    if dataset == "coin_flip" and re.search(r"[eE][+-]?\d{4,}", answer.replace("_", "")):
        return 0.0
    if dataset.endswith("integration") and not _could_be_right(answer, entry["metadata"]):
        return 0.0
    word_length = len(str(entry["metadata"]["end_word"])) if dataset == "word_ladder" else 0
    score = scorer(dataset, word_length)
    # Smaller move counts get the same score from upstream.
    if dataset == "rush_hour":  # no car can move more than five cells
        answer = re.sub(r"([A-Z][+-])0*(\d)\d+", r"\g<1>6", answer)
    elif dataset == "rubiks_cube":  # four quarter turns cancel
        answer = re.sub(r"(?<=\S)(\d+)(?=\s|$)", lambda m: str(int(m.group()[-2:]) % 4), answer)
    try:
        return float(score(answer, copy.deepcopy(dict(entry))))
    except _ODD_TEXT:
        if entry.get("answer") is not None:
            score(str(entry["answer"]), copy.deepcopy(dict(entry)))
        return 0.0


@cache
def scorer(dataset: str, word_length: int = 0) -> Callable[[str, dict[str, Any]], float]:
    from reasoning_gym.factory import create_dataset, get_score_answer_fn

    score: Callable[[str, dict[str, Any]], float]
    if word_length in (3, 5):
        lengths = {"min_word_length": word_length, "max_word_length": word_length}
        score = create_dataset(dataset, **lengths).score_answer
    else:
        score = get_score_answer_fn(dataset)
    return score


def restore_entry(dataset: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    restored = dict(entry)
    metadata = dict(entry.get("metadata") or {})
    if dataset in ("arc_agi", "rearc"):
        for key in ("input", "output"):
            if isinstance(metadata.get(key), list):
                metadata[key] = tuple(tuple(row) for row in metadata[key])
    restored["metadata"] = metadata
    return restored


# ---------------------------------------------------------------------------------------------- guards


def safe_to_evaluate(dataset: str, answer: str, entry: Mapping[str, Any]) -> bool:
    """Return whether ``answer`` is harmless for upstream to evaluate: literals, arithmetic and formulas only."""
    metadata = entry["metadata"]
    if dataset == "bitwise_arithmetic":
        return bool(_HEX_ARITHMETIC.fullmatch(str(metadata["problem"])[:10_000]))
    if dataset == "number_sorting":
        return bool(re.fullmatch(r"""[\s\[\],\d.'"+-]*""", str(entry["answer"])))
    if dataset not in EVALUATING:
        return True
    if dataset in _LITERAL_ANSWERS:
        harmless = _WORDS.fullmatch(answer) or _LITERALS.fullmatch(answer)
        return nesting(answer) <= 20 and harmless is not None
    try:
        tree = parse(without_integrals(dataset, answer))
    except FormulaError:
        return False
    allowed = {f"{name}()" for name in FUNCTIONS} | CONSTANTS
    allowed |= {
        str(name) for name in (metadata.get("variables") or [metadata.get("variable", "x")])
    }
    written = names(tree)
    if dataset in _ARITHMETIC_ANSWERS and written:
        return False
    return all(name in allowed or len(name) == 1 for name in written) and _small_powers(tree)


def without_integrals(dataset: str, answer: str) -> str:
    """Replace ``Integral(f, x)``, which some golds contain, by ``(f)``."""
    if not dataset.endswith("integration") or len(answer) > 300:
        return answer
    inner = r"((?:[^(),]|\((?:[^(),]|\([^(),]*\))*\))*)"
    return re.sub(rf"\bIntegral\({inner},\s*[A-Za-z]\)", r"(\1)", answer)


def _could_be_right(answer: str, metadata: Mapping[str, Any]) -> bool:
    if "Integral" in answer:  # upstream differentiates it without evaluating it
        return len(answer) <= 300
    letters = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if len(answer) > _LONGEST_FORMULA:
        return False
    return is_antiderivative(answer, str(metadata["integrand"]), str(metadata["variable"]), letters)


def _small_powers(tree: Node) -> bool:
    if tree.op == "**":
        base, power = tree.args
        bare = power.args[0] if power.op == "neg" else power
        fraction = bare.op == "/" and {arg.op for arg in bare.args} == {"num"}
        most = MAX_EXPONENT if names(base) else MAX_POWER
        if not names(power) and not (fraction or (bare.op == "num" and bare.value <= most)):
            return False
        if not names(base) and base.op not in ("num", "neg"):
            return False
    return all(_small_powers(arg) for arg in tree.args)
