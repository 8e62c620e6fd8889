"""The config tree seen from outside: its sections, keys and value types, and one set of values over another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from prorl_training.config import PhaseConfig, TrainConfig


def section_class(section: type, key: str) -> type[BaseModel] | None:
    """Return the model of the section ``key`` of ``section``, None for a value or unknown key."""
    found = value_type(section, key)
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def value_type(section: type, key: str) -> Any:
    """Return the annotation of a key, None for an unknown one."""
    if not issubclass(section, BaseModel):
        return None
    field = section.model_fields.get(key)
    return None if field is None else field.annotation


def section_at(path: Sequence[Any]) -> type[BaseModel] | None:
    """Return the model of the section at a path like ("phases", 0, "set", "kl"), if there is one.

    Below a phase's ``set`` the tree begins again.
    """
    section: type[BaseModel] = TrainConfig
    parts = list(path)
    while parts:
        key = parts.pop(0)
        if section is TrainConfig and key == "phases" and parts:
            parts.pop(0)
            section = PhaseConfig
        elif section is PhaseConfig and key == "set":
            section = TrainConfig
        else:
            found = section_class(section, str(key))
            if found is None:
                return None
            section = found
    return section


def all_keys() -> list[str]:
    """Return the dotted path of every setting outside ``phases``, in the order of the tree."""
    return [".".join(path) for path, _ in walk_keys()]


def walk_keys(
    section: type[BaseModel] = TrainConfig, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield (path, annotation) of every value below ``section``, sections left out."""
    for key, field in section.model_fields.items():
        below = section_class(section, key)
        if below is None:
            yield (*path, key), field.annotation
        else:
            yield from walk_keys(below, (*path, key))


def is_number(annotation: Any) -> bool:
    """Whether a value of this annotation is an int or a float and never a bool."""
    options = (
        get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    )
    return bool({int, float} & set(options)) and bool not in options


def item_type(annotation: Any) -> Any:
    """Return what a ``dict[str, X]`` holds, None for anything else."""
    if get_origin(annotation) in (dict, Mapping):
        return get_args(annotation)[1]
    return None


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``over`` laid on top, section by section.

    Lists and mappings that are values of their own (``phases``, ``data.domain_weights``,
    ``reward.modes``) are replaced whole, so that a file can also empty them.
    """
    return _merge(base, over, TrainConfig)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any], section: type) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        below = section_class(section, key)
        old = result.get(key)
        if below is not None and isinstance(old, Mapping) and isinstance(value, Mapping):
            result[key] = _merge(old, value, below)
        else:
            result[key] = value
    return result
