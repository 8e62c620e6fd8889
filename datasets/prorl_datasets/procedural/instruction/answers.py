"""What answers each request: sentences that together, in their order, do what it asks.

They stand in ``answers.txt``: a line ``# `` and the request as in ``requests``, then its sentences over ``{t}``, a
line each. As in ``phrases``: no comma, no word in capitals (so no "I", no "A" in front), no keyword. The first k are an
answer too. Leaves out: putting them together (``layout``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def answer_to(request: str) -> tuple[str, ...]:
    """Return the sentences of a request, a template of ``REQUESTS`` or ``QUESTIONS``. Raises KeyError."""
    return _answers()[request]


@cache
def _answers() -> Mapping[str, tuple[str, ...]]:
    text = (files(__package__) / "answers.txt").read_text(encoding="utf-8")
    parts = [part.strip().split("\n") for part in text.split("# ")[1:]]
    return {request: tuple(sentences) for request, *sentences in parts}
