"""Single settings out of a run's config, also where today's prorl would not take all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def setting(run: Path, section: str, key: str) -> Any:
    """Return ``section.key`` of the run's ``config.yaml``; None where it or the file is not there, or is torn."""
    import yaml

    try:
        found = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return None
    part = found.get(section) if isinstance(found, dict) else None
    return part.get(key) if isinstance(part, dict) else None
