"""Measures the cells of a simulation and keeps each in a JSON file, so that a killed run goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from prorl_common import atomic_write_text


class Cell(Protocol):
    """One setting of a simulation."""

    @property
    def name(self) -> str:
        """A key for the JSON."""
        ...


C = TypeVar("C", bound=Cell)


def measured(
    cells: Iterable[C],
    measure: Callable[[C, int], dict[str, Any]],
    counted: str,
    count: int,
    out: Path | None,
) -> list[dict[str, Any]]:
    """Return the row of each cell: that in ``out`` where its ``counted`` is ``count``, else one made now and kept there."""
    known: dict[str, dict[str, Any]] = {}
    if out and out.is_file():
        known = json.loads(out.read_text(encoding="utf-8"))["cells"]
    rows = []
    for cell in cells:
        row = known.get(cell.name)
        if row is None or row[counted] != count:
            row = known[cell.name] = measure(cell, count)
            if out:
                text = json.dumps({counted: count, "cells": known}, indent=1)
                atomic_write_text(out, text + "\n")
        rows.append(row)
    return rows
