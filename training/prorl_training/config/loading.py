"""From preset, file and ``--set a.b=c`` to one checked config.

Precedence, later wins: preset (its parents first), file, ``--set``, which addresses lists by number
(``phases.0.steps=100``, counted from 0) or by a phase's name (``phases.run-8.steps=100``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text, nearest, use_plugins
from prorl_training.config.checks import check_config
from prorl_training.config.files import ConfigError, read_config_file, read_yaml, write_yaml
from prorl_training.config.presets import load_preset
from prorl_training.config.schema import merge
from prorl_training.config.tree import TrainConfig


def load_config(
    preset: str | None = None, file: Path | None = None, overrides: Sequence[str] = ()
) -> TrainConfig:
    """Return the checked config of preset, file and overrides.

    The file may name its own ``preset``; an explicit ``preset`` argument wins over it. Raises
    ConfigError listing every unknown key (with the nearest known one) and every wrong value.
    """
    from_file = read_config_file(file) if file is not None else {}
    if "extends" in from_file:
        raise ConfigError(
            f"{file}: a config file names what it builds on with 'preset', not 'extends'"
        )
    name = preset or from_file.get("preset") or TrainConfig().preset
    values = merge(load_preset(str(name)), {k: v for k, v in from_file.items() if k != "preset"})
    values, complaints = apply_overrides(values, overrides)
    return check_config(_with_plugins(values, file), complaints)


def save_config(config: TrainConfig, path: Path) -> None:
    """Write the resolved config as YAML, atomically; it loads back bit for bit."""
    atomic_write_text(path, write_yaml(config.model_dump(mode="json")))


def load_saved_config(path: Path) -> TrainConfig:
    """Read a run's resolved ``config.yaml``. Raises ConfigError like :func:`load_config`."""
    values = read_config_file(path)
    advantage = values.get("advantage")
    if isinstance(advantage, dict) and advantage.get("sign") == 1:
        del advantage["sign"]  # an option of prorl 0.1 that every run had at 1
    return check_config(_with_plugins(values, path))


def _with_plugins(values: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """Load the plug-ins that the config names, and name those loaded already; paths become absolute.

    A relative path is one from the config file's folder, without a file from here. Raises PluginError.
    """
    named = values.get("plugins", ())
    if not isinstance(named, list | tuple) or not all(isinstance(path, str) for path in named):
        return dict(values)  # a wrong value, which the checks will name
    base = Path() if file is None else file.parent
    loaded = use_plugins(base / path for path in named)
    return {**values, **({"plugins": [str(f.path) for f in loaded]} if loaded else {})}


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
