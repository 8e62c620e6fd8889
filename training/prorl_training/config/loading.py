"""From preset, file and ``--set a.b=c`` to one checked config.

Precedence, later wins: preset (its parents first), file, ``--set`` (how it is read: ``prorl_common.config``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text, config, use_plugins
from prorl_common.config import ConfigError, read_config_file, write_yaml
from prorl_training.config.checks import check_config
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
    values.setdefault("phases", [])
    values, complaints = config.apply_overrides(values, overrides, parse_override)
    return check_config(_with_plugins(values, file), complaints)


def save_config(resolved: TrainConfig, path: Path) -> None:
    """Write the resolved config as YAML, atomically; it loads back bit for bit."""
    atomic_write_text(path, write_yaml(resolved.model_dump(mode="json")))


def load_saved_config(path: Path) -> TrainConfig:
    """Read a run's resolved ``config.yaml``. Raises ConfigError like :func:`load_config`."""
    values = read_config_file(path)
    advantage = values.get("advantage")
    if isinstance(advantage, dict) and advantage.get("sign") == 1:
        del advantage["sign"]  # an option of prorl 0.1 that every run had at 1
    sampling = values.get("dynamic_sampling")
    if (
        isinstance(sampling, dict) and "max_rounds" in sampling
    ):  # up to prorl 0.2: rounds, each awaited
        sampling.setdefault("late", "wait")
        sampling["max_batches"] = sampling.pop("max_rounds")
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
    """Split ``a.b=c`` into (["a", "b"], value). Raises ConfigError, also for the preset, which is no setting."""
    path, value = config.parse_override(text, "rollout.samples=8")
    if path[0] in ("preset", "extends"):
        raise ConfigError(
            f"--set {text}: choose the preset with --preset, or with preset: in the file"
        )
    return path, value
