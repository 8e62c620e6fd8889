"""Make a Task from a verifier's name and a reference, or say at once what is wrong with it.

A malformed task is found when it is loaded, never when a response is scored. Leaves out: whether the gold
answer is right (the gold check of the data rooms).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from prorl_common import nearest
from prorl_verifiers.types import VERIFIER_NAMES, Task, TaskError

_LANGUAGES = frozenset(
    "en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi".split()  # noqa: SIM905
)


def load_task(verifier: str, reference: Mapping[str, Any] | str) -> Task:
    """Return the task; ``reference`` is an object or its JSON text.

    Raises TaskError (one line) for an unknown verifier, missing gold, an empty test list, an unknown
    instruction id or dataset, and for checks this machine cannot make.
    """
    if verifier not in VERIFIER_NAMES:
        known = ", ".join(VERIFIER_NAMES)
        raise TaskError(
            f"unknown verifier {verifier!r}{nearest(verifier, VERIFIER_NAMES)}: use {known}"
        )
    if isinstance(reference, str):
        try:
            reference = json.loads(reference)
        except (ValueError, RecursionError) as error:
            raise TaskError(f"{verifier}: the reference is not valid JSON ({error})") from error
    if not isinstance(reference, Mapping):
        raise TaskError(f"{verifier}: the reference must be a JSON object")
    try:
        _VALIDATORS[verifier](reference)
    except TaskError as error:
        raise TaskError(f"{verifier}: {error}") from error
    try:
        json.dumps(reference)
    except (TypeError, ValueError, RecursionError) as error:
        raise TaskError(f"{verifier}: the reference is not JSON ({error})") from error
    return Task(verifier, reference)


def _known_keys(reference: Mapping[str, Any], *keys: str) -> None:
    for key in reference:
        if key not in keys:
            known = ", ".join(keys)
            raise TaskError(
                f"unknown key {key!r} in the reference{nearest(str(key), keys)}: use {known}"
            )


def _gold(reference: Mapping[str, Any]) -> str:
    answer = reference.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        raise TaskError("the reference needs 'answer', text or a number")
    if not str(answer).strip():
        raise TaskError("the gold answer is empty")
    return str(answer)


def _math(reference: Mapping[str, Any]) -> None:
    _known_keys(reference, "answer")
    _gold(reference)


def _stem(reference: Mapping[str, Any]) -> None:
    from prorl_verifiers.stem_scorer import choice_index

    _known_keys(reference, "answer", "choices", "unit", "tolerance")
    gold = _gold(reference)
    choices = reference.get("choices")
    if choices is not None:
        texts = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
        if not texts or not 2 <= len(choices) <= 26:
            raise TaskError("'choices' must be a list of 2 to 26 texts")
        if choice_index(gold, choices) is None:
            raise TaskError(
                "the gold answer names none of the 'choices', neither by letter nor by text"
            )
    if not isinstance(reference.get("unit", ""), str | None):
        raise TaskError("'unit' must be text")
    tolerance = reference.get("tolerance")
    parts = tolerance.values() if isinstance(tolerance, Mapping) else [tolerance]
    for part in parts:
        number = isinstance(part, int | float) and not isinstance(part, bool)
        if part is not None and not (number and 0 <= part < float("inf")):
            raise TaskError(
                "'tolerance' must be a number (relative) or {'rel': r, 'abs': a}, not negative"
            )
    if isinstance(tolerance, Mapping):
        _known_keys(tolerance, "rel", "abs")


def _code(reference: Mapping[str, Any]) -> None:
    from prorl_verifiers.code_reference import KEYS, read_reference

    _known_keys(reference, *KEYS)
    read_reference(reference)


def _logic(reference: Mapping[str, Any]) -> None:
    from prorl_verifiers.logic_scorer import MODES

    _known_keys(reference, "dataset", "entry", "mode")
    dataset = reference.get("dataset")
    if not isinstance(dataset, str):
        raise TaskError("the reference needs 'dataset', the name of a reasoning-gym dataset")
    names = logic_datasets()
    if dataset not in names:
        raise TaskError(f"unknown reasoning-gym dataset {dataset!r}{nearest(dataset, names)}")
    entry = reference.get("entry")
    if not isinstance(entry, Mapping) or "answer" not in entry:
        raise TaskError(
            "the reference needs 'entry', a reasoning-gym entry with question, answer, metadata"
        )
    if not isinstance(entry.get("metadata"), Mapping):
        raise TaskError("the entry has no 'metadata'")
    if reference.get("mode", "fixed") not in MODES:
        raise TaskError(f"unknown mode {reference['mode']!r}: use {' or '.join(MODES)}")


def logic_datasets() -> tuple[str, ...]:
    """Return the names of the reasoning-gym datasets that can be scored (all but ``composite``)."""
    import reasoning_gym  # noqa: F401 - fills the registry below
    from reasoning_gym.factory import DATASETS

    return tuple(sorted(set(DATASETS) - {"composite"}))


def _instruction(reference: Mapping[str, Any]) -> None:
    from prorl_verifiers.ifeval_checks import CHECKS
    from prorl_verifiers.instruction_scorer import given

    _known_keys(reference, "instruction_id_list", "kwargs")
    ids = reference.get("instruction_id_list")
    if not isinstance(ids, list) or not ids:
        raise TaskError("the reference needs a list 'instruction_id_list' with at least one id")
    kwargs = reference.get("kwargs") or [{}] * len(ids)
    if not isinstance(kwargs, list) or len(kwargs) != len(ids):
        raise TaskError(f"'kwargs' must be a list of {len(ids)} objects, one an instruction")
    for instruction, values in zip(ids, kwargs, strict=True):
        if instruction not in CHECKS:
            raise TaskError(
                f"unknown instruction id {instruction!r}{nearest(str(instruction), CHECKS)}"
            )
        if not isinstance(values, Mapping | None):
            raise TaskError(f"{instruction}: its kwargs must be an object")
        missing = [name for name in CHECKS[instruction][1] if name not in given(values)]
        if missing:
            raise TaskError(f"{instruction}: its kwargs lack {', '.join(missing)}")
        _check_kwargs(str(instruction), given(values))


def _check_kwargs(instruction: str, kwargs: Mapping[str, Any]) -> None:
    for name, value in kwargs.items():
        if name.endswith("relation") and value not in ("less than", "at least"):
            raise TaskError(
                f"{instruction}: {name} must be 'less than' or 'at least', not {value!r}"
            )
        counted = name.startswith("num_") or name.endswith("frequency") or name == "nth_paragraph"
        number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        if counted and not number:
            raise TaskError(f"{instruction}: {name} must be a number, not {value!r}")
        words = isinstance(value, list) and value and all(isinstance(w, str) for w in value)
        if name in ("keywords", "forbidden_words") and not words:
            raise TaskError(f"{instruction}: {name} must be a list of words")
    if instruction.startswith("language:"):
        _check_language(str(kwargs["language"]))


def _check_language(language: str) -> None:
    import importlib.util

    if importlib.util.find_spec("py3langid") is None:
        raise TaskError("language:response_language needs py3langid: pip install 'py3langid>=0.3'")
    if language.split("-")[0] not in _LANGUAGES:
        raise TaskError(f"language:response_language cannot tell the language {language!r}")


_VALIDATORS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "math": _math,
    "stem": _stem,
    "code": _code,
    "logic": _logic,
    "instruction": _instruction,
}
