"""From preset, file and ``--set`` to one checked config; all mistakes reported at once.

Precedence, later wins: preset, file, ``--set a.b=c``. Leaves out: what any value means (``config``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from prorl_common import UserError, atomic_write_text, nearest
from prorl_training.config import TrainConfig


class ConfigError(UserError):
    """One or more values of the config are wrong; the message lists all of them."""


def preset_names() -> list[str]:
    """Return the names of the packaged presets, sorted."""
    folder = resources.files("prorl_training") / "presets"
    return sorted(
        f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")
    )


def load_preset(name: str) -> dict[str, Any]:
    """Return a preset's values. Raises ConfigError for an unknown name, offering the nearest."""
    if name not in preset_names():
        known = ", ".join(preset_names())
        raise ConfigError(
            f"unknown preset '{name}'{nearest(name, preset_names())}; presets: {known}"
        )
    text = (resources.files("prorl_training") / "presets" / f"{name}.yaml").read_text("utf-8")
    values = yaml.safe_load(text)
    return {**values, "preset": name}


def read_config_file(path: Path) -> dict[str, Any]:
    """Read a YAML config file. Raises ConfigError naming the file when it cannot be used."""
    if not path.is_file():
        raise ConfigError(f"no such config file: {path}")
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = getattr(error, "problem_mark", None)
        line = f":{where.line + 1}" if where is not None else ""
        problem = getattr(error, "problem", None) or "not UTF-8 text"
        raise ConfigError(f"{path}{line}: not valid YAML ({problem})") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected a mapping of settings")
    return values


def parse_override(text: str) -> tuple[list[str], Any]:
    """Split ``a.b=c`` into (["a", "b"], value); the value is read as YAML (true, 3, 1e-5, text)."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {text}: write it as section.key=value, e.g. rollout.samples=8")
    try:
        parsed = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"--set {text}: the value is not valid YAML") from error
    if isinstance(parsed, str):
        parsed = _number_or_text(parsed)
    return key.strip().split("."), parsed


def _number_or_text(text: str) -> float | str:
    """YAML 1.1 reads ``1e-5`` as text; people mean the number."""
    try:
        return float(text)
    except ValueError:
        return text


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``over`` laid on top, section by section."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = merge(old, value) if both else value  # type: ignore[arg-type]
    return result


def load_config(
    preset: str | None = None, file: Path | None = None, overrides: Sequence[str] = ()
) -> TrainConfig:
    """Return the checked config of preset, file and overrides.

    The file may name its own ``preset``; an explicit ``preset`` argument wins over it. Raises
    ConfigError listing every unknown key (with the nearest known one) and every wrong value.
    """
    from_file = read_config_file(file) if file is not None else {}
    name = preset or from_file.get("preset") or TrainConfig().preset
    values = merge(load_preset(str(name)), {k: v for k, v in from_file.items() if k != "preset"})
    for text in overrides:
        path, value = parse_override(text)
        nested: dict[str, Any] = {path[-1]: value}
        for part in reversed(path[:-1]):
            nested = {part: nested}
        values = merge(values, nested)
    return check_config(values)


def check_config(values: Mapping[str, Any]) -> TrainConfig:
    """Validate plain values; see :func:`load_config` for the errors."""
    try:
        return TrainConfig.model_validate(values)
    except ValidationError as error:
        lines = [_describe(e) for e in error.errors()]
        head = (
            lines[0] if len(lines) == 1 else f"{len(lines)} settings are wrong: " + "; ".join(lines)
        )
        raise ConfigError(head) from error


def _describe(error: ErrorDetails) -> str:
    path = [str(part) for part in error["loc"]]
    if error["type"] == "extra_forbidden":
        known = _known_keys(path[:-1])
        return f"unknown setting '{'.'.join(path)}'{_suggest(path, known)}"
    message = error["msg"].removeprefix("Value error, ")
    if not path:
        return message
    return f"{'.'.join(path)}: {message} (got {error['input']!r})"


def _suggest(path: Sequence[str], known: Iterable[str]) -> str:
    prefix = ".".join(path[:-1])
    hit = nearest(path[-1], known)
    return hit.replace("mean '", f"mean '{prefix}." if prefix else "mean '") if hit else ""


def _known_keys(path: Sequence[str]) -> list[str]:
    model: type[BaseModel] = TrainConfig
    for part in path:
        field = model.model_fields.get(part)
        if field is None or not (isinstance(field.annotation, type)):
            return []
        if not issubclass(field.annotation, BaseModel):
            return []
        model = field.annotation
    return list(model.model_fields)


def save_config(config: TrainConfig, path: Path) -> None:
    """Write the resolved config as YAML, atomically."""
    atomic_write_text(path, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))


def load_saved_config(path: Path) -> TrainConfig:
    """Read a run's resolved ``config.yaml``."""
    return check_config(read_config_file(path))
