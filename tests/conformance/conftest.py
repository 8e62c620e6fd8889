"""Reads the golden files of scripts/conformance_golden.py; ``-v`` prints the largest differences from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

GOLDEN = Path(__file__).parent / "golden"
TOLERANCE = 1e-6
"""Largest allowed difference, relative for magnitudes above 1."""


class Case(NamedTuple):
    """One recorded call: batch, options of the package, and result."""

    batch: dict[str, Any]
    options: dict[str, Any]
    outputs: dict[str, Any]
    gradient: list[float] | None

    def tensor(self, name: str, dtype: torch.dtype = torch.float64) -> Tensor:
        """Return a field of the batch as a tensor (B,) or (N,)."""
        return torch.tensor(self.batch[name], dtype=dtype)

    @property
    def lengths(self) -> Tensor:
        """Number of tokens of each trajectory, shape (B,)."""
        return self.tensor("lengths", torch.int64)


Read = Callable[[str], Iterator[Case]]
Near = Callable[[Any, Any], None]


@pytest.fixture
def golden() -> Read:
    """Return a function that reads the cases of a golden file by name."""
    return _read


def _read(name: str) -> Iterator[Case]:
    file = json.loads((GOLDEN / f"{name}.json").read_text())
    for case in file["cases"]:
        yield Case(
            file["batches"][case["batch"]], case["options"], case["outputs"], case.get("gradient")
        )


@pytest.fixture
def near(record_property: Any) -> Iterator[Near]:
    """Return an assertion that two numbers or vectors agree; it records the largest difference."""
    worst = [0.0]

    def check(ours: Any, theirs: Any) -> None:
        left, right = _vector(ours), _vector(theirs)
        assert len(left) == len(right)
        for a, b in zip(left, right, strict=True):
            difference = abs(a - b) / max(1.0, abs(b))
            worst[0] = max(worst[0], difference)
            assert difference <= TOLERANCE, f"ours {a!r}, theirs {b!r}"

    yield check
    record_property("max_difference", worst[0])


def _vector(value: Any) -> Sequence[float]:
    tensor = (
        value.detach() if isinstance(value, Tensor) else torch.tensor(value, dtype=torch.float64)
    )
    return [float(x) for x in tensor.double().reshape(-1)]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the differences that ``record_property`` recorded in this folder."""
    if not config.getoption("verbose") > 0:
        return
    terminalreporter.section("largest differences")
    for report in terminalreporter.stats.get("", []):  # setup and teardown
        for name, value in report.user_properties if report.when == "teardown" else []:
            if isinstance(value, float):
                terminalreporter.write_line(
                    f"{value:10.2e}  {report.nodeid.split('::')[-1]}  {name}"
                )
