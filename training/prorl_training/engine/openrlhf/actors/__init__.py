"""Subclasses of OpenRLHF's Ray actors, imported only by processes of a cluster run."""

from __future__ import annotations

from typing import Any


def raw_class(actor: Any) -> Any:
    metadata = getattr(actor, "__ray_metadata__", None)
    return actor if metadata is None else metadata.modified_class
