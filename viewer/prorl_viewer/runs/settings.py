"""A run's config, setting by setting, beside what its preset has: read as plain values, its plug-ins are not loaded."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_training.config.loading import load_config, saved_values
from prorl_training.run.folder import RunFolder
from prorl_training.run.resume import flat
from prorl_viewer.subject import Json


def settings(run: RunFolder) -> Json:
    """Return every setting of the run: key, value, the preset's value.

    ``known`` is false where prorl has no preset of this name: then there is nothing to compare with.
    """
    values = flat(read_plain(run.config_path))
    preset = values.get("preset")
    defaults = _of_preset(str(preset))
    keys = dict.fromkeys([*values, *(defaults or {})])
    return {
        "preset": preset,
        "known": defaults is not None,
        "settings": [
            {"key": key, "value": values.get(key), "preset": (defaults or {}).get(key)}
            for key in keys
            if key != "preset"
        ],
    }


def read_plain(path: Path) -> dict[str, Any]:
    """Return the values of a ``config.yaml``, read once as long as the file stays. Raises ConfigError."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        raise UserError(f"{path.parent} is not a run: it has no {path.name}") from None
    return _read_plain(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _read_plain(path: Path, time: int, size: int) -> dict[str, Any]:
    del time, size
    return saved_values(path)


@cache
def _of_preset(name: str) -> Mapping[str, Any] | None:
    try:
        return flat(load_config(name).model_dump(mode="json"))
    except UserError:  # a preset that prorl has no more, or one of a file
        return None
