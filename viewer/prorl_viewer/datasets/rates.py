"""How often a model solved the rows, as ``prorl data rate`` left it beside the dataset or in it.

Rows are found by id. That a row asks the same as when it was rated is looked at where it is shown (``asks_the_same``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prorl_common import read_jsonl
from prorl_datasets import PASS_RATES, prompt_key

Values = NDArray[np.float32]


def ratings_file(folder: Path) -> Path | None:
    """Return the pass rates of a dataset folder, None where there are none."""
    places = (folder / PASS_RATES, folder.with_name(f"{folder.name}.ratings") / PASS_RATES)
    return next((place for place in places if place.is_file()), None)


@dataclass(slots=True)
class Rates:
    """Pass rates of N rows: ``value``, ``low`` and ``high`` (N,), NaN for unrated rows; ``n`` (N,) samples."""

    value: Values
    low: Values
    high: Values
    n: NDArray[np.int32]
    keys: dict[int, str] = field(default_factory=dict)
    """Row -> what its prompt was known by when it was rated."""

    @classmethod
    def read(cls, file: Path | None, ids: Any) -> Rates:
        """Read the rates of the rows ``ids`` (Arrow array). Raises UserError for a file that is damaged."""
        none = np.full(len(ids), np.nan, np.float32)
        rates = cls(none, none.copy(), none.copy(), np.zeros(len(ids), np.int32))
        if file is None:
            return rates
        places = {identity: at for at, identity in enumerate(ids.to_pylist())}
        for _, line in read_jsonl(file):
            at, n = places.get(str(line.get("id"))), line.get("n", 0)
            rate, low, high = (_share(line.get(key)) for key in ("pass_rate", "low", "high"))
            if at is None or math.isnan(rate):
                continue  # a row that the dataset does not have, or no rate
            rates.value[at], rates.low[at], rates.high[at] = rate, low, high
            rates.n[at] = n if isinstance(n, int) and 0 <= n < 1 << 31 else 0
            if isinstance(key := line.get("prompt_key"), str):
                rates.keys[at] = key
        return rates

    @property
    def rated(self) -> int:
        """How many rows have a rate."""
        return int(np.count_nonzero(~np.isnan(self.value)))

    def of(self, row: int, prompt: Sequence[Mapping[str, str]]) -> dict[str, Any] | None:
        """Return a row's rate as JSON-ready values, None for an unrated one."""
        if np.isnan(self.value[row]):
            return None
        key = self.keys.get(row)
        numbers = {"rate": self.value[row], "low": self.low[row], "high": self.high[row]}
        return {
            **{name: round(float(value), 4) for name, value in numbers.items()},
            "n": int(self.n[row]),
            "asks_the_same": key is None or key == prompt_key(prompt),
        }


def _share(value: Any) -> float:
    """Return a number from 0 to 1; NaN for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return math.nan
