"""What ``prorl train forecast`` would have said of our own runs, and what came: every prefix of every run.

- Runs: the 18 of docs/evidence/data/three-thousand-steps (6 arms, 3 seeds; 96 problems with one answer each every 50 steps; the
  record has the pass rate of each validation, not of each problem, so the noise comes from the scatter alone). The run of
  docs/evidence/data/smollm2 has 6 validations: too few for any forecast, and left out.
- Every prefix of 8 validations or more is fitted by each family and by ``no change`` (the mean of the newest four); the error is
  the root mean squared distance to all validations that come after the prefix. ``chosen``: the family that a forecast takes.
- The forecast itself, intervals and all, is made on every fourth prefix, for the run's last step: does the interval of
  ``measured`` hold the last validation, how wide is it, how often is it identified.
- All of it over tokens, and over steps. Nothing was tuned on these runs; that there are few problems in each validation, and that
  some runs fall, was known.

    python benchmarks/forecast_errors.py
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from prorl_common import atomic_write_text
from prorl_training.schedule.forecast.forecasting import forecast
from prorl_training.schedule.forecast.prefixes import FEWEST, foretold
from prorl_training.schedule.forecast.series import read_series

DATA = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "data"
RECORD = DATA / "forecast" / "errors.json"
EVERY = 4
CHOSEN = "chosen"


def recorded_rows(path: Path) -> list[dict[str, Any]]:
    """Return a recorded run's validations as rows of ``metrics.jsonl``."""
    curves = json.loads(path.read_text())["curves"]
    tokens = np.cumsum([0.0, *np.diff([0, *curves["step"]]) * np.array(curves["tokens"])])
    return [
        {
            "step": step,
            "validation_reward": rate,
            "tokens_total": float(np.interp(step, [0, *curves["step"]], tokens)),
        }
        for step, rate in curves["validation_pass_rate"]
    ]


def prefixes(rows: list[dict[str, Any]], unit: str) -> Iterator[dict[str, Any]]:
    """Yield what each prefix of a run leads to."""
    whole = read_series(rows, unit)
    last = int(rows[-1]["step"])
    for count in range(FEWEST, len(rows)):
        start = whole.until(count)
        later = start.compute_at(whole.steps[count:])  # as it would have been reckoned then
        said = foretold(start, later)
        errors = {
            f: math.sqrt(float(((v - whole.values[count:]) ** 2).mean())) for f, v in said.items()
        }
        found: dict[str, Any] = {"seen": count / len(rows), "errors": errors}
        if (count - FEWEST) % EVERY == 0:
            told = forecast(rows[:count], last, unit=unit)
            assert told.measured is not None and told.value is not None and told.family is not None
            found["interval"] = {
                "holds": bool(
                    told.measured.low <= rows[-1]["validation_reward"] <= told.measured.high
                ),
                "identified": told.value.identified,
                "width": told.measured.high - told.measured.low,
                "family": told.family,
            }
            errors[CHOSEN] = errors[told.family]
        yield found


def main() -> None:
    """Fit all prefixes of all runs and write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=RECORD)
    given = parser.parse_args()
    record: dict[str, Any] = {"tokens": {}, "steps": {}}
    for path in sorted((DATA / "three-thousand-steps").glob("*-seed*.json")):
        rows = recorded_rows(path)
        for unit, runs in record.items():
            runs[path.stem] = [_short(p) for p in prefixes(rows, unit)]
        print(path.stem, flush=True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(given.out, json.dumps(record) + "\n")


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _short(v) for k, v in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


if __name__ == "__main__":
    main()
