"""Which environment has the module that a program could not import.

Reads the last lines of what a program wrote to its standard error, which is its own word: only names that
we know are ever repeated.
"""

from __future__ import annotations

import functools
import re

from prorl_sandbox.environments import store
from prorl_sandbox.environments.requirements import STDLIB

_LINE = re.compile(r"^ModuleNotFoundError: No module named '([A-Za-z_]\w*)[\w.]*'", re.MULTILINE)
_TAIL = 2000


def hint(stderr: str, environment: str) -> str:
    """Return a line that names the environments which have what the program lacked, '' for none."""
    found = _LINE.findall(stderr[-_TAIL:])
    if not found:
        return ""
    having = [name for name in _owners().get(found[-1], ()) if name != environment]
    if not having:
        return ""
    which = (
        f"environment {having[0]} has it"
        if len(having) == 1
        else (f"environments {' and '.join(having)} have it")
    )
    return f"no module named {found[-1]} here: {which}"


@functools.cache
def _owners() -> dict[str, list[str]]:
    """Return the environments of each module that a known environment has, built or not."""
    owners: dict[str, list[str]] = {}
    for name in store.names():
        wanted = None if name == STDLIB else store.requirements_of(name)
        if wanted is None:
            continue
        modules = {module.partition(".")[0] for line in wanted.preload for module in line}
        for folder in (store.root() / name).glob("*/"):
            modules |= set((store.manifest(folder) or {}).get("modules", ()))
        for module in modules:
            owners.setdefault(module, []).append(name)
    return owners
