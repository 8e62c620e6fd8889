"""The evidence page of the forecast: made of its records, and a simulation that does what its protocol says."""

from __future__ import annotations

import forecast_coverage
import forecast_document
import forecast_errors
import pytest


def test_the_page_is_what_its_command_makes_of_the_records() -> None:
    assert (forecast_document.DOCS / "forecast.md").read_text("utf-8") == forecast_document.page()


@pytest.mark.parametrize("shape", [s for s in forecast_coverage.SHAPES if s != "flat"])
def test_every_shape_begins_at_r0_and_ends_at_its_ceiling(shape: str) -> None:
    cell = forecast_coverage.Cell(shape, "250 problems", 12)
    assert cell.level(0.0) == pytest.approx(forecast_coverage.R0, abs=1e-6)
    assert cell.level(1e9) == pytest.approx(forecast_coverage.SHAPES[shape][0])


def test_a_recorded_runs_tokens_add_up_to_what_the_run_says() -> None:
    import json

    path = forecast_errors.DATA / "three-thousand-steps" / "v2-seed1.json"
    rows = forecast_errors.recorded_rows(path)
    assert rows[-1]["tokens_total"] == pytest.approx(
        json.loads(path.read_text())["tokens"], rel=1e-3
    )
    assert [r["step"] for r in rows[:2]] == [50, 100]
