"""From preset, file and ``--set a.b=c`` to one checked config.

Precedence, later wins: preset (its parents first), file, ``--set`` (how it is read: ``prorl_common.config``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import PluginError, atomic_write_text, config, use_plugins
from prorl_common.config import ConfigError, read_config_file, write_yaml
from prorl_training.config.checks import check_config
from prorl_training.config.presets import load_preset
from prorl_training.config.schema import merge
from prorl_training.config.stages import OF_THE_RUN, expand
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
    own = {key: value for key, value in from_file.items() if key != "preset"}
    whole = [text for text in overrides if text.partition("=")[0].strip() == "stages"]
    own, _ = config.apply_overrides(own, whole, parse_override)
    overrides = [text for text in overrides if text not in whole]
    values = load_preset(str(name))
    if "stages" in own and "stages" not in values:
        values = {
            "preset": name
        }  # each stage has a preset of its own, which this one must not lie over
    values = merge(values, own)
    if values.get("stages") and not from_file.get(
        "phases"
    ):  # with phases: a run's own config, resolved
        for_all = [text for text in overrides if not _of_a_part(text)]
        said, _ = config.apply_overrides({}, for_all, parse_override)
        _with_plugins(merge(values, said), file)  # their parts are looked up in what follows
        values = expand(values, {k: v for k, v in said.items() if k not in OF_THE_RUN})
    values.setdefault("phases", [])
    values, complaints = config.apply_overrides(values, overrides, parse_override)
    return check_config(_with_plugins(values, file), complaints)


def _of_a_part(override: str) -> bool:
    """Return whether an override is for one stage or phase, by name or number."""
    return override.strip().startswith(("stages.", "phases."))


def save_config(resolved: TrainConfig, path: Path) -> None:
    """Write the resolved config as YAML, atomically; it loads back bit for bit."""
    atomic_write_text(path, write_yaml(resolved.model_dump(mode="json")))


GONE = (("advantage", "sign", 1), ("openrlhf", "cpu_slots", None))
"""(section, key, value) of settings that runs of prorl 0.1 have: dropped at this value, None at any."""


def load_saved_config(path: Path) -> TrainConfig:
    """Read a run's resolved ``config.yaml``. Raises ConfigError like :func:`load_config`."""
    return check_config(_with_plugins(saved_values(path), path))


def saved_values(path: Path) -> dict[str, Any]:
    """Return the plain values of a run's ``config.yaml`` as today's config has them; no plug-in is loaded."""
    values = read_config_file(path)
    for section, key, neutral in GONE:
        kept = values.get(section)
        if isinstance(kept, dict) and (neutral is None or kept.get(key) == neutral):
            kept.pop(key, None)
    sampling = values.get("dynamic_sampling")
    if isinstance(sampling, dict) and "max_rounds" in sampling:
        sampling.setdefault("late", "wait")  # up to prorl 0.2: rounds, each awaited
        sampling["max_batches"] = sampling.pop("max_rounds")
    return values


def _with_plugins(values: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """Load the plug-ins that the config names, and name those loaded already; paths become absolute.

    A relative path is one from the config file's folder, without a file from here. Raises PluginError.
    """
    named = values.get("plugins", ())
    if not isinstance(named, list | tuple) or not all(isinstance(path, str) for path in named):
        return dict(values)  # a wrong value, which the checks will name
    base = Path() if file is None else file.parent
    if file is not None and (gone := [path for path in named if not (base / path).exists()]):
        raise PluginError(
            f"plug-in {gone[0]} is not there: put it back, or name its new place under plugins: in {file}"
        )
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
