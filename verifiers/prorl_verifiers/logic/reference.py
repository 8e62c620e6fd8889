"""Check the reference of a logic task when the task is loaded.

Leaves out: grading (``logic.scorer``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_common import nearest
from prorl_verifiers.references import known_keys
from prorl_verifiers.types import TaskError


def check_reference(reference: Mapping[str, Any]) -> None:
    known_keys(reference, "dataset", "entry", "mode", "extraction")
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
    if reference.get("extraction", "answer") not in ("answer", "lenient"):
        raise TaskError(
            f"unknown extraction {reference['extraction']!r} of logic: use answer or lenient"
        )


def logic_datasets() -> tuple[str, ...]:
    """Return the names of the reasoning-gym datasets that can be scored (all but ``composite``)."""
    import reasoning_gym  # noqa: F401 - fills the registry below
    from reasoning_gym.factory import DATASETS

    return tuple(sorted(set(DATASETS) - {"composite"}))
