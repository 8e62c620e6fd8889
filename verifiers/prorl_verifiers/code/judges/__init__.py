"""Special judges: trusted sources that decide where more than one printed output is right.

Each module of this folder defines ``check(stdin, stdout, expected) -> bool``, text in, bool out, needs
only the standard library, and is never imported by the verifier: it is read as text and run in a box of
its own. A dataset may name a judge and can never bring one.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

from prorl_common import nearest
from prorl_verifiers.types import TaskError


@cache
def judge_names() -> tuple[str, ...]:
    """Return the names of the installed judges, sorted."""
    names = (file.name for file in resources.files(__name__).iterdir())
    return tuple(sorted(n.removesuffix(".py") for n in names if n.endswith(".py") and n[0] != "_"))


@cache
def judge_source(name: str) -> str:
    """Return the source of the judge ``name``; raises TaskError for one that is not installed."""
    if name not in judge_names():
        known = ", ".join(judge_names())
        raise TaskError(
            f"unknown judge {name!r}{nearest(name, judge_names())}: the installed ones are {known}"
        )
    return (resources.files(__name__) / f"{name}.py").read_text(encoding="utf-8")
