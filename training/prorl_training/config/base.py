"""The check of a value that names a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from prorl_common import Door, MissingExtraError, UserError
from prorl_training.spec import ObjectiveSpec, check_options

S = TypeVar("S", bound=ObjectiveSpec)


def known_name(door: Door[S], name: str) -> str:
    """Return ``name`` when it is a part of the door. Raises ValueError, one line with the nearest names."""
    try:
        door.origin(name)
    except UserError as error:
        raise ValueError(str(error)) from error
    return name


def known_options(door: Door[S], name: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError (one line) when the part lacks one of ``options``.

    Without options nothing of ours is loaded, so that a config can be checked where torch is not installed.
    """
    try:
        if options:
            check_options(f"{door.noun} {name}", options, door.get(name).options)
    except UserError as error:
        raise ValueError(str(error)) from error
    except ModuleNotFoundError as error:  # of ours: torch is not in the base install
        raise ValueError(str(MissingExtraError("local", error.name or "torch"))) from error
