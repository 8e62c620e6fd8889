"""One word, letter by letter: the least verifier that there is."""

from collections.abc import Mapping
from typing import Any

from prorl_verifiers import VerifierSpec


def score(response: str, reference: Mapping[str, Any]) -> float:
    return float(response.strip() == reference["answer"])


SPEC = VerifierSpec(name="exact", score=score)
