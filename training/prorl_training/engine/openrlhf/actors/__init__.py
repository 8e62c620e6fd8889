"""The classes that stand in for OpenRLHF's own in its Ray processes.

Unlike the rest of prorl these modules import ray, torch and openrlhf when they are imported: only the
processes of a cluster run do that.
"""

from __future__ import annotations

from typing import Any


def raw_class(actor: Any) -> Any:
    """Return the class that ``@ray.remote`` was put on, to inherit from; a plain class is returned as it is."""
    metadata = getattr(actor, "__ray_metadata__", None)
    return actor if metadata is None else metadata.modified_class
