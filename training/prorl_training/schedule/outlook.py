"""What a rule of the controller may ask: how much of a climb the run's own forecast still sees until its last step.

Nothing asks unless the config says so (``controller.end_gain``): on our own runs no forecast was better than "no change"
(docs/evidence/forecast.md). A refusal is "not known", and nothing follows from it. A function of the metrics rows, so
that a simulation and a resumed run get the answer that the run got.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Rows = Sequence[Mapping[str, Any]]


class Outlook(NamedTuple):
    """A forecast that is made when somebody asks."""

    rows: Callable[[], Rows]
    """Returns the lines of ``metrics.jsonl``, that of the step that is judged included."""
    step: int
    to_step: int
    seed: int

    def gain(self, least: float) -> Gain:
        """Return what the forecast says of a climb of ``least`` (validation reward) from now to ``to_step``."""
        if self.step >= self.to_step:
            return Gain("not known", least, self.to_step, why="this is the run's last step")
        from prorl_training.schedule.forecast.forecasting import forecast

        found = forecast(self.rows(), self.to_step, seed=self.seed)
        g = found.gain
        if g is None:
            return Gain("not known", least, self.to_step, why=found.why)
        seen = Gain("not known", least, self.to_step, g.value, g.low, g.high, found.why)
        if not g.identified:
            return seen
        return seen._replace(says="less" if g.high < least else "may be as much")


class Gain(NamedTuple):
    """What a forecast says of a climb of ``least`` until ``to_step``; JSON values, for a decision's evidence."""

    says: Literal["less", "may be as much", "not known"]
    """``less``: the whole 95 % interval of the climb lies below ``least``. ``not known``: the forecast refuses."""
    least: float
    to_step: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    """The forecast's own words."""
