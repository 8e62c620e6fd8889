"""How a function of another language is called: libraries in that language, laid beside or around a
submission, that read a question, call the function and write its answer (``spec.Harness``).

A library finds a function's types by the means of its own language; text is looked at only for
where the function may be.
"""

from __future__ import annotations

import re
from pathlib import Path


def library(name: str) -> str:
    """Return the text of a library of this folder."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def places(call: str, source: str, solution: str) -> tuple[tuple[str, str], ...]:
    """Return where the function may be, as (class or "", name), the likeliest first.

    A bare name may be a method of a class ``Solution``, as contest sites write it; ``solution`` is
    a pattern of what such a class begins with.
    """
    owner, dot, name = call.partition(".")
    if dot:
        return ((owner, name),)
    if re.search(solution, source):
        return (("Solution", call), ("", call))
    return (("", call),)
