"""From Ray's actor classes back to the Python classes under them, to inherit from."""

from __future__ import annotations

from typing import Any


def raw_class(actor: Any) -> Any:
    """Return the class that ``@ray.remote`` was put on; a plain class is returned as it is."""
    metadata = getattr(actor, "__ray_metadata__", None)
    return actor if metadata is None else metadata.modified_class
