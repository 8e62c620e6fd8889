"""Subclasses of OpenRLHF's Ray actors.

These modules import ray, torch and openrlhf at the top, so only processes of a cluster run import them.
"""

from __future__ import annotations

from typing import Any


def raw_class(actor: Any) -> Any:
    """Return the class under ``@ray.remote``, to inherit from it."""
    metadata = getattr(actor, "__ray_metadata__", None)
    return actor if metadata is None else metadata.modified_class
