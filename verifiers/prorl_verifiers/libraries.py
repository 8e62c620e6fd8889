"""Import heavy libraries when a scorer needs them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Loading = Callable[[str], Any]
"""Called with a module name; returns when the module has been imported."""

_loading: Loading = importlib.import_module


def load_library(module: str) -> None:
    """Import a module inside a verifier's ``score`` outside its time limit. Raises ImportError."""
    _loading(module)


def load_with(loading: Loading) -> None:
    global _loading
    _loading = loading
