"""The code verifier's spec, which imports the scorer on first use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from prorl_verifiers.audit_shape import AuditRequest, AuditShape, Group, Mutation, Probe
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.spec import Needs, VerifierSpec
from prorl_verifiers.types import Reference, Verdict

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox


def score_in_sandbox(response: str, reference: Reference, sandbox: Sandbox) -> Verdict:
    from prorl_verifiers.code.scorer import score_code

    return score_code(response, reference, sandbox)


def check_reference(reference: Reference) -> None:
    from prorl_verifiers.code.reference import check_reference as check

    check(reference)


def needs(reference: Reference) -> Needs:
    environment = reference.get("environment")
    parts: Sequence[Mapping[str, str]] = ()
    if reference.get("language") is not None:
        from prorl_sandbox import LANGUAGES
        from prorl_verifiers.code.reference import read_language

        parts = LANGUAGES.records([read_language(reference["language"]).name])
    return Needs(parts, environment if isinstance(environment, str) else None)


def no_answer(reference: Reference) -> None:
    """Return None: a code task has no gold answer."""


def fenced(program: str, reference: Reference) -> str:
    return f"```{reference.get('language') or 'python'}\n{program}\n```"


def probes() -> Sequence[Probe]:
    from prorl_verifiers.code.audit import code_probes

    return code_probes()


def mutations() -> Sequence[Mutation]:
    from prorl_verifiers.code.audit import code_mutations

    return code_mutations()


def audit_groups(request: AuditRequest) -> Iterable[Group]:
    from prorl_verifiers.code.audit import code_groups

    return code_groups()


def constant_share(reference: Reference) -> float:
    """Return the largest fraction of tests that one constant output passes."""
    tests = reference["tests"]
    outputs = Counter(
        repr(test[key]) for test in tests for key in ("stdout", "expected") if key in test
    )
    commonest = max(outputs.values(), default=0)
    return commonest / len(tests) if len(outputs) < len(tests) else 0.0


SPEC = VerifierSpec(
    name="code",
    score_in_sandbox=score_in_sandbox,
    needs=needs,
    check_reference=check_reference,
    modes=("fraction", "binary"),
    mode_for={"evaluation": "binary"},
    data=DataShape(
        prompt="{question}\nWrite the final code in triple backticks.",
        columns=("tests",),
        optional_columns=("entry_point", "language", "environment", "prelude", "limits", "judge"),
        json_columns=("tests", "limits"),
        answer=no_answer,
        write=fenced,
    ),
    audit=AuditShape(
        probes=probes,
        mutations=mutations,
        groups=audit_groups,
        chance=constant_share,
    ),
)
