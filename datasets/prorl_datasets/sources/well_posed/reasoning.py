"""Rejects ill-posed items on conclusions and programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule
from prorl_verifiers.logic.proposition import assignments, parse

DECIMALS = 8
"""Maximum number of decimals of a result; longer results contain rounding errors that the scorer would require."""
_LONG = re.compile(rf"\d\.\d{{{DECIMALS + 1}}}")
_STATEMENT = re.compile(r"(All|No|Some) (.+?) are (not )?(.+)")
Statement = tuple[str, str, str]
World = Sequence[Mapping[str, bool]]


def _propositional_logic(entry: Mapping[str, Any]) -> Flaw | None:
    rows = list(assignments([str(name) for name in entry["metadata"]["variables"]]))
    columns = [
        [premise(row) for row in rows] for premise in map(parse, entry["metadata"]["premises"])
    ]
    together = [all(values) for values in zip(*columns, strict=True)]
    if not any(together):
        return Flaw("impossible", "the premises contradict each other")
    if all(together):
        return Flaw("trivial", "the premises say nothing")
    if together in columns:
        return Flaw("trivial", "one premise says all")
    return None


def _syllogism(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject answers that are wrong, or that are right only if no class is empty."""
    metadata = entry["metadata"]
    statements = [_statement_of(metadata[key]) for key in ("premise1", "premise2", "conclusion")]
    *premises, conclusion = statements
    terms = sorted({term for _, *pair in statements for term in pair})
    modern = traditional = True
    for world in _worlds(terms):
        if all(_holds(one, world) for one in premises) and not _holds(conclusion, world):
            modern = False
            traditional &= not all(any(thing[term] for thing in world) for term in terms)
    if modern != traditional:
        return Flaw("ambiguous", "follows only if such things exist")
    if modern != (str(entry["answer"]).lower() == "yes"):
        return Flaw(
            "wrong answer", f"{metadata['conclusion']}: the stored answer is {entry['answer']}"
        )
    return None


def _statement_of(text: str) -> Statement:
    read = _STATEMENT.fullmatch(text)
    if read is None:
        raise ValueError(f"not a statement of a syllogism: {text!r}")
    quantifier, subject, negated, predicate = read.groups()
    return f"{quantifier} not" if negated else quantifier, subject, predicate


def _worlds(terms: Sequence[str]) -> Iterator[World]:
    """Yield every set of kinds of things; a kind maps each term to whether it applies."""
    kinds = [
        dict(zip(terms, values, strict=True))
        for values in product((False, True), repeat=len(terms))
    ]
    for exists in product((False, True), repeat=len(kinds)):
        yield [kind for kind, present in zip(kinds, exists, strict=True) if present]


def _holds(statement: Statement, world: World) -> bool:
    quantifier, subject, predicate = statement
    both = any(thing[subject] and thing[predicate] for thing in world)
    apart = any(thing[subject] and not thing[predicate] for thing in world)
    return {"All": not apart, "No": not both, "Some": both, "Some not": apart}[quantifier]


def _codeio(entry: Mapping[str, Any]) -> Flaw | None:
    if match := _LONG.search(str(entry["answer"])):
        return Flaw("too large", f"a result of more than {DECIMALS} decimals: {match.group()}...")
    return None


RULES: Mapping[str, Rule] = {
    "codeio": _codeio,
    "propositional_logic": _propositional_logic,
    "syllogism": _syllogism,
}
