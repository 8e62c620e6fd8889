"""``--set a.b=c``: reading it, and laying it into the plain values of a config.

Lists are addressed by number (``phases.0.steps=100``, counted from 0) or by a phase's name
(``phases.run-8.steps=100``). Leaves out: whether the result fits (``config.loading``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prorl_common import nearest
from prorl_training.config.files import ConfigError, read_yaml


def parse_override(text: str) -> tuple[list[str], Any]:
    """Split ``a.b=c`` into (["a", "b"], value); the value is read as YAML (true, 3, 1e-5, text)."""
    key, equals, value = text.partition("=")
    path = [part.strip() for part in key.split(".")]
    if not equals or not all(path):
        raise ConfigError(f"--set {text}: write it as section.key=value, e.g. rollout.samples=8")
    if path[0] in ("preset", "extends"):
        raise ConfigError(
            f"--set {text}: choose the preset with --preset, or with preset: in the file"
        )
    try:
        return path, read_yaml(value, "value")
    except ConfigError as error:
        raise ConfigError(f"--set {text}: the value is not valid YAML") from error


def apply_overrides(
    values: Mapping[str, Any], overrides: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return ``values`` with every override laid in, later over earlier, and the complaints.

    An override that cannot be read or has no place is left out and named in one line of the second
    result; ``values`` itself is not changed.
    """
    result = dict(values)
    complaints = []
    for text in overrides:
        try:
            path, value = parse_override(text)
            result = _put(result, path, value, ())
        except ConfigError as error:
            complaints.append(str(error))
    return result, complaints


def _put(into: Any, path: Sequence[str], value: Any, done: tuple[str, ...]) -> Any:
    """Return a copy of ``into`` with ``value`` at ``path``; ``done`` is the way that led here."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    here = (*done, key)
    if isinstance(into, Mapping):
        return {**into, key: _put(into.get(key), rest, value, here)}
    if isinstance(into, list):
        place = _place(into, key, done)
        return [_put(old, rest, value, here) if n == place else old for n, old in enumerate(into)]
    if into is None:
        if done == ("phases",):
            raise ConfigError(f"{'.'.join((*done, *path))}: this config has no phases")
        return {key: _put(None, rest, value, here)}
    raise ConfigError(f"{'.'.join((*done, *path))}: {'.'.join(done)} is a value, not a section")


def _place(items: Sequence[Any], key: str, done: tuple[str, ...]) -> int:
    """Return the index that ``key`` means, a number or the name of an item. Raises ConfigError."""
    where = ".".join(done)
    if key.isdecimal() and int(key) < len(items):
        return int(key)
    names = [str(item.get("name")) if isinstance(item, Mapping) else "" for item in items]
    if names.count(key) == 1:
        return names.index(key)
    if names.count(key) > 1:
        raise ConfigError(
            f"{where}.{key}: {names.count(key)} of {where} have this name; use a number"
        )
    if not items:
        raise ConfigError(f"{where}.{key}: this config has no {where}")
    known = ", ".join(f"{n} ({name})" if name else str(n) for n, name in enumerate(names))
    raise ConfigError(f"{where}.{key} does not exist{nearest(key, names)}; there are {known}")
