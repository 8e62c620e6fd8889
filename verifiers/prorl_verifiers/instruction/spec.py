"""The instruction verifier's spec, which imports the checks on first use."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prorl_common import nearest
from prorl_verifiers.audit_shape import AuditRequest, AuditShape, Group, Mutation, Probe
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.libraries import load_library
from prorl_verifiers.spec import Canary, VerifierSpec
from prorl_verifiers.types import Reference, Score, TaskError, check_keys

_WORDS = "amber birch cobalt delta ember fjord garnet harbor indigo juniper".split()  # noqa: SIM905


def score(response: str, reference: Reference) -> Score:
    from prorl_verifiers.instruction.scorer import score_instruction

    return score_instruction(response, reference, load_library)


def check_reference(reference: Reference) -> None:
    from prorl_verifiers.instruction.kwargs import check_patterns, clean_kwargs
    from prorl_verifiers.instruction.official_text import DOWNLOADS, missing_module
    from prorl_verifiers.instruction.registry import modules_of, registry
    from prorl_verifiers.instruction.scorer import DEFAULT_MODE, SCORES

    check_keys(reference, "instruction_id_list", "kwargs", "mode", "score")
    mode = reference.get("mode", DEFAULT_MODE)
    score = reference.get("score", SCORES[0])
    if score not in SCORES:
        raise TaskError(f"unknown score {score!r}: use {' or '.join(SCORES)}")
    ids = reference.get("instruction_id_list")
    if not isinstance(ids, list) or not ids:
        raise TaskError("the reference needs a list 'instruction_id_list' with at least one id")
    kwargs = reference.get("kwargs") or [{}] * len(ids)
    if not isinstance(kwargs, list) or len(kwargs) != len(ids):
        raise TaskError(f"'kwargs' must be a list of {len(ids)} objects, one per instruction")
    for instruction, values in zip(ids, kwargs, strict=True):
        if not isinstance(instruction, str) or instruction not in registry():
            hint = nearest(str(instruction), registry())
            raise TaskError(f"unknown instruction id {instruction!r}{hint}")
        if not isinstance(values, Mapping | None):
            raise TaskError(f"{instruction}: its entry in 'kwargs' must be an object or null")
        entry = registry()[instruction]
        cleaned = clean_kwargs(instruction, values, entry.kwargs, mode)
        if mode == "reference":
            check_patterns(instruction, entry.patterns, cleaned)
        absent = missing_module(modules_of(instruction, mode))
        if absent is not None:
            raise TaskError(f"{instruction}: {absent}")
        weights = [DOWNLOADS[name] for name in entry.downloads if mode == "reference"]
        for download in weights:
            if not download.installed():
                raise TaskError(
                    f"{instruction}: mode 'reference' needs {download.title}, which is not installed: run "
                    f"{download.command}, or use mode 'fixed'"
                )


def quick_canaries(draw: random.Random) -> Sequence[Canary]:
    keyword, other = draw.sample(_WORDS, 2)
    reference = {
        "instruction_id_list": ["keywords:existence"],
        "kwargs": [{"keywords": [keyword]}],
    }
    pair = [
        Canary(reference, f"The word is {keyword}.", 1.0),
        Canary(reference, f"The word is {other}.", 0.0),
    ]
    draw.shuffle(pair)
    return pair


def deep_canaries() -> Sequence[Canary]:
    reference = {
        "instruction_id_list": ["language:response_language"],
        "kwargs": [{"language": "en"}],
    }
    english = "The river was wide and the people walked along it every morning."
    german = "Der Fluss war breit und die Leute gingen jeden Morgen an ihm entlang."
    return Canary(reference, english, 1.0), Canary(reference, german, 0.0)


def without_nulls(reference: dict[str, Any]) -> dict[str, Any]:
    kwargs = reference["kwargs"]
    if not isinstance(kwargs, list) or not all(k is None or isinstance(k, dict) for k in kwargs):
        raise TaskError("'kwargs' must be a list of objects")
    cleaned = [{k: v for k, v in (one or {}).items() if v is not None} for one in kwargs]
    return {**reference, "kwargs": cleaned}


def no_answer(reference: Reference) -> None:
    """Return None: constraints have no gold answer."""


def ids(reference: Reference) -> str | None:
    names = reference.get("instruction_id_list")
    return " + ".join(sorted(map(str, names))) if isinstance(names, list) else None


def probes() -> Sequence[Probe]:
    from prorl_verifiers.audit.probes import echo_probes
    from prorl_verifiers.instruction.audit import instruction_probes

    return instruction_probes() + echo_probes()


def mutations() -> Sequence[Mutation]:
    from prorl_verifiers.instruction.audit import instruction_mutations

    return instruction_mutations()


def audit_groups(request: AuditRequest) -> Iterable[Group]:
    from prorl_verifiers.instruction.audit import instruction_groups

    return instruction_groups()


SPEC = VerifierSpec(
    name="instruction",
    score=score,
    check_reference=check_reference,
    modes=("fixed", "reference"),
    mode_for={"file": "reference", "evaluation": "reference"},
    quick_canaries=quick_canaries,
    deep_canaries=deep_canaries,
    data=DataShape(
        example={"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
        columns=("instruction_id_list", "kwargs"),
        json_columns=("instruction_id_list", "kwargs"),
        tidy=without_nulls,
        answer=no_answer,
        topic=ids,
    ),
    audit=AuditShape(
        probes=probes,
        mutations=mutations,
        groups=audit_groups,
    ),
)
