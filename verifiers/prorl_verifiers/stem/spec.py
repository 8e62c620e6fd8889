"""The STEM verifier as the door has it; light, the scorer is imported when it is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prorl_verifiers.audit.items import AuditRequest, Group
from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.spec import PROMPT, answer_as_text, boxed, boxed_canaries, boxed_gold
from prorl_verifiers.spec import Canary, VerifierSpec
from prorl_verifiers.types import Reference, Score


def score(response: str, reference: Reference) -> Score:
    """Score the boxed (or last-line) answer of ``response``."""
    from prorl_verifiers.stem.scorer import score_stem

    return score_stem(response, reference, load_library)


def check_reference(reference: Reference) -> None:
    """Raise TaskError when the reference cannot be graded."""
    from prorl_verifiers.stem.reference import check_reference as check

    check(reference)


def deep_canaries() -> Sequence[Canary]:
    """Return answers that need units and formulas."""
    length = {"answer": r"5\ \text{km}"}
    formula = {"answer": r"\frac{m v^2}{2}"}
    return (
        Canary(length, r"\boxed{5000\ \text{m}}", 1.0),
        Canary(length, r"\boxed{500\ \text{m}}", 0.0),
        Canary(formula, r"\boxed{\frac{1}{2} m v^2}", 1.0),
        Canary(formula, r"\boxed{m v^2}", 0.0),
    )


def audit_groups(request: AuditRequest) -> Iterable[Group]:
    """Return the built-in STEM tasks."""
    from prorl_verifiers.audit.builtin_math import stem_groups

    return stem_groups()


SPEC = VerifierSpec(
    name="stem",
    score=score,
    check_reference=check_reference,
    libraries=("math_verify", "prorl_verifiers.notation.loaded_pint"),
    quick_canaries=boxed_canaries,
    deep_canaries=deep_canaries,
    example={"answer": "2"},
    prompt=PROMPT,
    optional_columns=("choices", "unit", "tolerance"),
    json_columns=("choices",),
    tidy=answer_as_text,
    write=boxed,
    gold_response=boxed_gold,
    vote=str,
    audit_groups=audit_groups,
)
