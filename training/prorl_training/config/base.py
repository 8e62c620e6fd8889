"""The base of every config section, and the check of a value that names a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from prorl_common import Door, UserError
from prorl_training.spec import ObjectiveSpec, check_options

S = TypeVar("S", bound=ObjectiveSpec)


class Section(BaseModel):
    """Base of every section: immutable, unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False
    )


def named_part(door: Door[S], key: str, name: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError (one line) when ``name`` is no part of the door, or lacks an option.

    Without options nothing of ours is loaded, so that a config can be checked where torch is not installed.
    """
    try:
        door.origin(name)
        if options:
            check_options(f"{door.noun} {name}", options, door.get(name).options)
    except UserError as error:
        raise ValueError(f"{key}: {error}") from error
