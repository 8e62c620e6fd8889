"""The forecast of a run's validation, for its curve: drawn where it is identified, else its reason is told."""

from __future__ import annotations

import threading
from typing import Any

from prorl_common import UserError
from prorl_training.run.folder import RunFolder
from prorl_viewer.runs.settings import read_plain
from prorl_viewer.subject import Json

FURTHEST = 1_000_000
"""Steps; a config that names more is no run's, and each is reckoned with."""


class Foreteller:
    """The newest forecast of one run; it takes seconds, so it is made once for each validation."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self._lock = threading.Lock()
        self._kept: tuple[tuple[int, int], Json] | None = None

    def tell(self, last_step: int, last_validation: int) -> Json:
        """Return the forecast for the run's planned end, or half as many steps again where that is reached.

        ``points`` are [step, value, low, high] from the last validation on; none where the value is not identified.
        """
        with self._lock:
            asked = (last_validation, self._to_step(last_step))
            if self._kept is None or self._kept[0] != asked:
                self._kept = (asked, self._made(last_validation, asked[1]))
            return self._kept[1]

    def _to_step(self, last: int) -> int:
        from prorl_training.schedule.forecast.forecasting import step_to_ask_for

        try:
            planned = read_plain(self.run.config_path).get("steps")
        except UserError:  # the head of the page tells it
            planned = None
        known = isinstance(planned, int) and planned < FURTHEST
        return step_to_ask_for(last, planned if known else None)

    def _made(self, last_validation: int, to_step: int) -> Json:
        from prorl_training.schedule.forecast.forecasting import forecast, told

        found = forecast(self.run.metrics(), to_step)
        answer: dict[str, Any] = {"told": told(found), "why": found.why, "points": []}
        if found.value is not None and found.value.identified:
            answer["points"] = [
                [p.step, p.value, p.low, p.high] for p in found.curve if p.step >= last_validation
            ]
        return answer
