"""The run's numbers as TensorBoard scalars, where tensorboard is installed.

``metrics.jsonl`` is the record; this is a view of it for people who watch runs in TensorBoard. Leaves
out: histograms, text, graphs.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class ScalarLog:
    """Writes every number of a step's metrics under its key; nested keys are joined with ``/``."""

    def __init__(self, folder: Path, first_step: int) -> None:
        self._writer: Any = None
        if importlib.util.find_spec("tensorboard") is None:
            return
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=first_step)

    def write(self, step: int, row: Mapping[str, Any]) -> None:
        """Add one step's numbers."""
        if self._writer is not None:
            for key, value in scalars(row):
                self._writer.add_scalar(key, value, step)
            self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        if self._writer is not None:
            self._writer.close()


def scalars(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield (joined key, number) for every number and truth value in a nested mapping."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from scalars(value, f"{prefix}{key}/")
        elif isinstance(value, int | float):
            yield f"{prefix}{key}", float(value)
