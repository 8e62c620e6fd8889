"""Our own generators: families of problems with known answers, needing no download.

A family is added by a module that holds it in ``FAMILIES``, anywhere below this folder: ``small`` (for
tiny models), ``code``, ``stem`` and ``instruction``, each with a folder a topic. Nothing else lists it
but the recipes that ask for it; the page of the generators reads this folder when the site is built.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from prorl_datasets.procedural.items import Family, Item

__all__ = ["Family", "Item", "families"]


def families(under: str = "") -> dict[str, Family]:
    """Return every family by name, or those of one folder ("code", "code.strings")."""
    return {family.name: family for family in _families(f"{__name__}.{under}".rstrip("."))}


@cache
def _families(package: str) -> tuple[Family, ...]:
    """Return the families of a package's modules, in the order of the modules' names."""
    found: dict[str, Family] = {}
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        for family in getattr(import_module(module.name), "FAMILIES", ()):
            if family.name in found:
                raise RuntimeError(f"two procedural families share the name {family.name}")
            found[family.name] = family
    return tuple(found.values())
