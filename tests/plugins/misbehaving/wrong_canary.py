# mypy: ignore-errors
"""Verifiers that fail their canary, have canaries that raise, or need a library that cannot be imported."""

from prorl_verifiers import Canary, VerifierSpec


def score(response, reference):
    return float(response == reference["answer"])


def wrong(draw):
    return [Canary({"answer": "a"}, "b", 1.0)]


def none(draw):
    raise RuntimeError("no canary today")


WRONG = VerifierSpec(name="wrong-canary", score=score, quick_canaries=wrong)
RAISING = VerifierSpec(name="raising-canary", score=score, quick_canaries=none)
