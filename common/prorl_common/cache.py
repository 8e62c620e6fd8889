"""The user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """Return prorl's cache folder: $PRORL_CACHE, else $XDG_CACHE_HOME/prorl, else ~/.cache/prorl."""
    if folder := os.environ.get("PRORL_CACHE"):
        return Path(folder)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "prorl"
    return Path.home() / ".cache" / "prorl"
