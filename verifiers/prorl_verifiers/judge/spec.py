"""The judge's VerifierSpec."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.judge.reference import check_reference
from prorl_verifiers.spec import ByService, VerifierSpec
from prorl_verifiers.types import Reference, Score


def score(response: str, reference: Reference) -> Score:
    """Return the finding of the environment's judge."""
    from prorl_verifiers.judge.judge import the_judge

    return the_judge().score(response, reference)


def prove() -> None:
    """Have the environment's judge judge its canaries."""
    from prorl_verifiers.judge.judge import the_judge

    the_judge().prove()


def who() -> Mapping[str, str]:
    """Return the record of the environment's judge."""
    from prorl_verifiers.judge import judge

    return judge.who()


def no_gold(reference: Reference) -> None:
    """Give no gold response: that a model accepts one would verify nothing."""


SPEC = VerifierSpec(
    name="judge",
    score_by_service=ByService(score, prove, who),
    check_reference=check_reference,
    example={"question": "What is 1 + 1?", "answer": "2"},
    columns=("question",),
    optional_columns=("criteria", "answer", "scale"),
    gold_response=no_gold,
)
