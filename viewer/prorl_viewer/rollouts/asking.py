"""What a query asks of the list of rollouts.

``step=120``, ``reward=0.5..1``, ``tokens=..200`` are ranges, both ends included; ``domain=math,code`` words of which a
row has one; ``kept=yes`` a flag; ``q`` a text in response, prompt or sample id; ``sort`` a column, ``order`` asc or desc.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from prorl_common import UserError
from prorl_viewer.rollouts.segment import FLAGS, NUMBERS, WORDS
from prorl_viewer.rollouts.table import Filter
from prorl_viewer.subject import Query, choice, integer

RANGES = ("step", *NUMBERS)
SORTED_BY = ("step", "row", *NUMBERS, *WORDS, *FLAGS)
MOST_ROWS = 500
LONGEST_TEXT = 1000
"""Characters of a text that is searched for."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Which rows of the list, in which order, and from where to where."""

    wanted: Filter
    text: str
    sort: str
    down: bool
    offset: int
    limit: int


def read_query(query: Query) -> Ask:
    """Return what is asked. Raises UserError for what makes no sense."""
    # a name may hold a comma itself
    words = {n: [query[n], *query[n].split(",")] for n in WORDS if query.get(n)}
    ranges = {name: read_range(name, query[name]) for name in RANGES if query.get(name)}
    flags = {n: choice(query, n, ("yes", "no")) == "yes" for n in FLAGS if query.get(n)}
    text = query.get("q", "")
    if len(text) > LONGEST_TEXT:
        raise UserError(f"q is longer than {LONGEST_TEXT} characters: search for a part of it")
    offset, limit = integer(query, "offset", 0), integer(query, "limit", 100)
    if offset < 0 or not 0 <= limit <= MOST_ROWS:
        raise UserError(f"offset is at least 0 and limit from 0 to {MOST_ROWS}")
    sort = choice(query, "sort", SORTED_BY, "step")
    down = choice(query, "order", ("asc", "desc"), "desc" if sort == "step" else "asc") == "desc"
    flags.setdefault("carried", False)  # their own step has them
    return Ask(Filter(ranges, words, flags), text, sort, down, offset, limit)


def read_range(name: str, given: str) -> tuple[float, float]:
    """Return both ends of ``3``, ``1..3``, ``1..`` or ``..3``."""
    low, dots, high = given.partition("..")
    try:
        ends = (float(low) if low else -math.inf, float(high) if high else math.inf)
        if not dots:
            ends = (float(low), float(low))
    except ValueError:
        ends = (math.nan, math.nan)
    if math.isnan(ends[0]) or math.isnan(ends[1]):
        raise UserError(f"{name} is a number or a range like 1..3, not '{given}'")
    return ends
