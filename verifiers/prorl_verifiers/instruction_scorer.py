"""The instruction verifier: the fraction of an item's constraints that the response meets.

Reference: {"instruction_id_list", "kwargs"} in IFEval's shapes; repeated ids count each by its own kwargs.
The text after the thinking is checked as it stands (strict); a blank text meets nothing. Leaves out: the
definitions (``ifeval_checks``) and whether the answer is any good beyond its form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_verifiers.ifeval_checks import CHECKS
from prorl_verifiers.score import Loading, Score, unparsable


def follows(text: str, instruction: str, kwargs: Mapping[str, Any] | None) -> bool:
    """Whether ``text`` meets one constraint; ``kwargs`` that are None count as absent."""
    check, _ = CHECKS[instruction]
    return bool(text.strip()) and check(text, given(kwargs))


def given(kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the kwargs that have a value (some copies of IFEval list all keys, most of them null)."""
    return {key: value for key, value in (kwargs or {}).items() if value is not None}


def score_instruction(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
    """Return the fraction met; metrics: one 0/1 per constraint, ``strict_all``, ``constraints``."""
    if not text.strip():
        return unparsable("the response is blank", text[:10])
    ids = list(reference["instruction_id_list"])
    if any(instruction.startswith("language:") for instruction in ids):
        loading("py3langid")
    kwargs = reference.get("kwargs") or [{}] * len(ids)
    met = [follows(text, instruction, kwargs[at]) for at, instruction in enumerate(ids)]
    metrics = {
        f"{at}:{instruction}": float(ok)
        for at, (instruction, ok) in enumerate(zip(ids, met, strict=True))
    }
    metrics |= {"strict_all": float(all(met)), "constraints": float(len(ids))}
    failed = [instruction for instruction, ok in zip(ids, met, strict=True) if not ok]
    reason = "all constraints met" if not failed else "not met: " + ", ".join(failed)
    return Score(sum(met) / len(met), reason, None, metrics=metrics)
