"""Single settings out of a run's config, also where today's prorl would not take all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_common.config import read_config_file


def setting(run: Path, section: str, key: str) -> Any:
    """Return ``section.key`` of the run's ``config.yaml``; None where it or the file is not there, or is torn."""
    try:
        part = read_config_file(run / "config.yaml").get(section)
    except UserError:
        return None
    return part.get(key) if isinstance(part, dict) else None
