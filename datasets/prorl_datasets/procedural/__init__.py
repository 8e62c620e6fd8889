"""Generates problems with known answers, without any download.

Each module below this folder lists its families in ``FAMILIES``.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from prorl_datasets.procedural.items import Family, Item

__all__ = ["Family", "Item", "families"]


def families(under: str = "") -> dict[str, Family]:
    """Return all families by name, or those of a folder ("code", "code.strings")."""
    return {family.name: family for family in _families(f"{__name__}.{under}".rstrip("."))}


@cache
def _families(package: str) -> tuple[Family, ...]:
    by_name: dict[str, Family] = {}
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        for family in getattr(import_module(module.name), "FAMILIES", ()):
            if family.name in by_name:
                raise RuntimeError(f"two procedural families share the name {family.name}")
            by_name[family.name] = family
    return tuple(by_name.values())
