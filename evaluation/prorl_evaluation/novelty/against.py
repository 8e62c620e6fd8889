"""Novelty with respect to the base model's own responses, with the control that makes it readable.

Any sample is partly new beside other samples. So the corpus is one half of the base's samples of each
problem (even sample numbers), the base's other half is scored against it as the control, and the difference
says what training changed. Responses repeat their prompt; the prompts' n-grams are in both numbers alike.
Leaves out: files (``corpus``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prorl_evaluation.novelty.corpus import TextCorpus
from prorl_evaluation.novelty.responses import Response, ResponseSet
from prorl_evaluation.types import EvaluationError


@dataclass(frozen=True, slots=True)
class Against:
    """The base's samples as a corpus, and its held-out samples as the control (None without any)."""

    corpus: TextCorpus
    control: ResponseSet | None
    described: str


def against_base(base: ResponseSet, models: Sequence[ResponseSet]) -> Against:
    """Split the base's samples. Raises EvaluationError where no model shares a problem with it."""
    problems = {r.problem for r in base.responses}
    for model in models:
        if not any(r.problem in problems for r in model.responses):
            raise EvaluationError(
                f"'{model.label}' and '{base.label}' share no problem: sample both on the same problems"
            )
    corpus = [r.text for r in base.responses if r.index % 2 == 0]
    rest: list[Response] = [r for r in base.responses if r.index % 2 == 1]
    described = f"{len(corpus):,} responses of {base.label}"
    if not rest:
        return Against(TextCorpus(corpus), None, described)
    control = ResponseSet(f"{base.label} (held-out half)", rest)
    return Against(TextCorpus(corpus), control, described)
