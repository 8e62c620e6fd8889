"""A minimal verifier that compares one word, and the one-line explanation of its verdict."""

from collections.abc import Mapping
from typing import Any

from prorl_verifiers import VerifierSpec, note


def score(response: str, reference: Mapping[str, Any]) -> float:
    given = response.strip()
    right = given == reference["answer"]
    note("letter by letter", right, {"answer": given, "gold": reference["answer"]})
    return float(right)


SPEC = VerifierSpec(name="exact", score=score)
