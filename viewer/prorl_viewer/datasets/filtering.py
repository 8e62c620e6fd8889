"""Which rows a query asks for, and how many each further choice would leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from prorl_common import UserError
from prorl_viewer.datasets.rates import Rates
from prorl_viewer.datasets.table import LABEL_NAMES, Mask, Places, RowTable
from prorl_viewer.subject import Query, choice, integer, number

SORTS = ("", "rate", "n", "characters", *LABEL_NAMES)
COUNTED = tuple(name for name in LABEL_NAMES if name != "entry")
"""Labels whose values are offered with the rows that each would leave; entries are many, and mostly families."""
LONGEST_TEXT = 500
"""Characters of a text that is looked for."""
MOST_LISTED = 500
"""Rows of one answer."""
NONE = "(none)"
"""How a query says that a row has no family or no level."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rows that a query asks for: ``places`` in the order it asks for, and by label what each value would leave."""

    places: Places
    counts: dict[str, dict[str, int]]


def choose(table: RowTable, rates: Rates, query: Query) -> Chosen:
    """Return the rows that a query asks for.

    Keys: a label's name and its value; ``q``, a text of the question or the id; ``rate_from``, ``rate_to``;
    ``rated`` yes or no; ``sort``, ``down``. Raises UserError for what makes no sense.
    """
    by_label = {
        name: table.labels[name].is_(_named(value))
        for name in LABEL_NAMES
        if (value := query.get(name))
    }
    others = _others(table, rates, query)
    counts = {}
    for name in COUNTED:
        mask = _all(others, *(m for key, m in by_label.items() if key != name))
        labels = table.labels[name]
        found = np.bincount(labels.codes[mask], minlength=len(labels.names))
        counts[name] = {labels.names[c] or NONE: int(found[c]) for c in np.flatnonzero(found)}
    places = np.flatnonzero(_all(others, *by_label.values()))
    return Chosen(_sorted(places, table, rates, query), counts)


def window(query: Query, total: int) -> tuple[int, int]:
    """Return the first and the last place of what a query lists. Raises UserError for a window that makes no sense."""
    offset, limit = integer(query, "offset", 0), integer(query, "limit", 100)
    if offset < 0 or not 1 <= limit <= MOST_LISTED:
        raise UserError(f"offset starts at 0, limit is 1 to {MOST_LISTED}")
    return offset, min(total, offset + limit)


def _named(value: str) -> str:
    return "" if value == NONE else value


def _others(table: RowTable, rates: Rates, query: Query) -> Mask:
    """Return which rows pass all that is asked for beside labels."""
    mask = np.ones(len(table), np.bool_)
    if (rated := choice(query, "rated", ("yes", "no"))) != "":
        mask &= np.isnan(rates.value) == (rated == "no")
    for key, passes in (("rate_from", np.greater_equal), ("rate_to", np.less_equal)):
        if query.get(key):
            bound = np.float32(number(query, key, 0.0))
            mask &= passes(rates.value, bound)  # an unrated row passes neither
    if text := query.get("q", ""):
        if len(text) > LONGEST_TEXT:
            raise UserError(f"a text to look for has at most {LONGEST_TEXT} characters")
        mask &= table.holding(text)
    return mask


def _all(first: Mask, *more: Mask) -> Mask:
    found = first.copy()
    for mask in more:
        found &= mask
    return found


def _sorted(places: Places, table: RowTable, rates: Rates, query: Query) -> Places:
    """Return ``places`` in the order asked for; rows without a value come last either way."""
    key, down = choice(query, "sort", SORTS), choice(query, "down", ("0", "1")) == "1"
    if key == "":
        return places[::-1] if down else places
    values: Any
    if key == "rate":
        values = rates.value[places].astype(np.float64)
    elif key == "n":
        values = rates.n[places].astype(np.float64)
    elif key == "characters":
        values = table.characters[places].astype(np.float64)
    else:
        names = table.labels[key].names
        ranks = np.full(len(names), np.nan)
        in_order = sorted((name for name in names if name), key=label_order)
        ranks[[names.index(name) for name in in_order]] = np.arange(len(in_order))
        values = ranks[table.labels[key].codes[places]]
    order = np.argsort(-values if down else values, kind="stable")  # NaN is sorted last
    return np.asarray(places[order])


def label_order(name: str) -> tuple[bool, float, str]:
    """Return what labels are sorted by: numbers as numbers, before words."""
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name
