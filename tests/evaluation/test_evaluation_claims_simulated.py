"""The simulation of the claims, and what the docs print of it."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FOUND = ROOT / "docs/evidence/data/evaluation/claims.json"


@pytest.fixture
def simulation(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return import_module("claims")


def test_the_table_of_the_docs_is_the_simulations(simulation: Any) -> None:
    rows = list(json.loads(FOUND.read_text())["cells"].values())
    page = (ROOT / "docs/concepts/evaluation.md").read_text()
    assert simulation.markdown(rows) in page


def test_at_half_a_margin_no_more_than_2_5_per_cent_of_the_claims_are_wrong() -> None:
    rows = [r for r in json.loads(FOUND.read_text())["cells"].values() if r["change"] is not None]
    half = [r for r in rows if abs(r["change"]) == 0.025]
    assert len(half) == 12 and all(r["trials"] >= 1000 for r in half)
    assert max(r["wrong share"] for r in half) <= 0.025
    assert max(r["wrong share"] for r in rows) <= 0.05


def test_the_simulated_changes_are_the_ones_that_are_asked_for(simulation: Any) -> None:
    row = simulation.measure(simulation.Cell(60, 3, True, 0.025), 20)
    assert (row["dK"], row["eK"]) == pytest.approx((0.175, 0.025))
    assert sum(row["said"].values()) == pytest.approx(1.0)
    assert row == simulation.measure(simulation.Cell(60, 3, True, 0.025), 20)


def test_the_steps_move_the_rates_by_their_means(simulation: Any) -> None:
    import numpy as np

    rng = np.random.default_rng(5)
    base = rng.beta(simulation.A, simulation.B, 400_000)
    made = simulation.step(0.05, simulation.base_means(True)[1], True)
    after = made.apply(base, rng)
    expected = made.means(*simulation.base_means(True))
    assert (after.mean(), simulation.any_of_k(after).mean()) == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ((0.1, 0.025, float("nan")), {"fell", "plateau"}),
        ((0.1, -0.025, float("nan")), {"sustained", "plateau"}),
        ((0.0, 0.0, float("nan")), {"fell", "sustained", "plateau", "sharpened only"}),
        ((0.1, 0.2, -0.025), {"fell", "sustained", "sharpened only"}),
        ((0.1, 0.2, 0.1), {"fell", "plateau", "sharpened only"}),
    ],
)
def test_what_is_wrong_follows_from_the_true_changes(
    simulation: Any, changes: tuple[float, float, float], wrong: set[str]
) -> None:
    assert simulation.wrong_claims(*changes) == wrong
