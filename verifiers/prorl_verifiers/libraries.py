"""Heavy libraries that a scorer imports when an answer needs them, outside of the answer's time limit."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

Loading = Callable[[str], Any]
"""Called with a module name; returns when it has been imported."""

_loading: Loading = importlib.import_module


def load_library(module: str) -> None:
    """Import a heavy module from inside a verifier's ``score``.

    In a worker the time that it takes is not counted against the answer's limit. Raises ImportError.
    """
    _loading(module)


def load_with(loading: Loading) -> None:
    """Have ``load_library`` call ``loading`` (a worker, which tells the pool before and after)."""
    global _loading
    _loading = loading
