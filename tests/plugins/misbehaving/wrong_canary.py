# mypy: ignore-errors
"""A verifier that fails its own canary, one whose canaries raise, and one whose library cannot be imported."""

from prorl_verifiers import Canary, VerifierSpec


def score(response, reference):
    return float(response == reference["answer"])


def wrong(draw):
    return [Canary({"answer": "a"}, "b", 1.0)]


def none(draw):
    raise RuntimeError("no canary today")


WRONG = VerifierSpec(name="wrong-canary", score=score, quick_canaries=wrong)
RAISING = VerifierSpec(name="raising-canary", score=score, quick_canaries=none)
