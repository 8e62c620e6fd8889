"""``forecast``: from a run's journal to a statement on where its validation is heading, or a refusal with its reason.

A function of the metrics rows alone: the same rows give the same forecast, so a rule of the controller may read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from prorl_common import UserError, derive_seed
from prorl_training.schedule.forecast.calibration import draw, likely, thresholds
from prorl_training.schedule.forecast.level import p_of_no_movement
from prorl_training.schedule.forecast.prefixes import FEWEST, prefix_errors
from prorl_training.schedule.forecast.series import Series, read_series
from prorl_training.schedule.forecast.setting import Functional, settle
from prorl_training.schedule.forecast.shapes import FAMILIES, Array

WIDEST = 0.1
"""Reward: an interval wider than this is no answer."""
LEVEL_P = 0.05
"""A constant with a p above it is not refused."""
POINTS = 40
"""Of the curve, first validation to the step asked for."""


@dataclass(frozen=True)
class Interval:
    """A value and its 95 % interval; ``identified``: validation has moved, and it is no wider than ``widest``."""

    value: float
    low: float
    high: float
    identified: bool


@dataclass(frozen=True)
class Point:
    """The curve at a step, with its 95 % interval."""

    step: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Rival:
    """A family's best curve: what it says, how badly it foretold the run, and whether the data refuse it."""

    family: str
    ceiling: float
    value: float
    prefix_error: float | None
    refused: bool


@dataclass(frozen=True)
class Forecast:
    """What can be said of a run's validation at ``to_step`` and beyond.

    ``value`` is the curve at ``to_step``, ``gain`` what it climbs from the last validation until then, ``ceiling`` where it
    ends; ``measured`` is where a validation at ``to_step`` would come out, noise and all. All None with too few validations.
    """

    identified: bool
    """``ceiling`` and ``value`` both are."""
    why: str
    """What stands in the way, or what the statement rests on."""
    validations: int
    last_step: int
    to_step: int
    unit: str
    family: str | None = None
    ceiling: Interval | None = None
    value: Interval | None = None
    gain: Interval | None = None
    measured: Interval | None = None
    no_movement_p: float | None = None
    noise: float | None = None
    """Standard deviation of a validation around the curve."""
    curve: tuple[Point, ...] = ()
    rivals: tuple[Rival, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON."""
        return asdict(self)


def forecast(
    rows: Sequence[Mapping[str, Any]],
    to_step: int,
    *,
    unit: str = "tokens",
    widest: float = WIDEST,
    seed: int = 0,
) -> Forecast:
    """Return what ``rows`` (of ``metrics.jsonl``) say of validation at ``to_step``.

    ``unit``: compute in tokens (where rows have them) or in steps; ``seed`` of the bootstrap. Raises UserError for a
    step that is not ahead of the last validation.
    """
    series = read_series(rows, unit)
    if series.size and to_step <= series.steps[-1]:
        raise UserError(
            f"step {to_step} is not ahead: the last validation is of step {series.steps[-1]:.0f}; give a later --to-step"
        )
    if series.size < FEWEST:
        last = int(series.steps[-1]) if series.size else 0
        return Forecast(False, _too_few(series), series.size, last, to_step, series.unit)
    random = np.random.default_rng(derive_seed(seed, "forecast", int(series.steps[-1]), to_step))
    return _Reading(series, to_step, widest, random).forecast()


def step_to_ask_for(last: int, planned: int | None) -> int:
    """Return the step asked for where nobody named one: the planned end, or half as many steps again where the run,
    which has done ``last``, is past it or has none."""
    return planned if planned is not None and planned > last else last + max(last // 2, 1)


class _Reading:
    """One series, fitted: the pieces of its forecast."""

    def __init__(
        self, series: Series, to_step: int, widest: float, random: np.random.Generator
    ) -> None:
        self.series, self.to_step, self.widest = series, to_step, widest
        self.setting = settle(series.compute, series.places, series.values, series.noise)
        self.still = p_of_no_movement(self.setting, series.values, random)
        self.errors = prefix_errors(series)
        then, now = self._at(float(to_step)), self._at(float(series.steps[-1]))
        self.asked = [
            Functional(np.zeros_like(then), np.ones_like(then)),
            Functional(1 - then, then),
            Functional(now - then, then - now),
        ]
        allowed = likely(self.setting)
        drawn = draw(self.setting, allowed, random)
        self.limits = thresholds(self.setting, drawn, self.asked, random)
        self.noise = allowed.average(np.sqrt(allowed.variances))

    def _at(self, step: float) -> Array:
        compute = float(np.interp(step, self.series.steps, self.series.compute))
        if step > self.series.steps[-1]:
            compute = float(self.series.compute_at(np.array([step]))[0])
        return self.setting.shapes.share(np.array([compute]))[:, 0]

    def forecast(self) -> Forecast:
        """Put the statement together."""
        rivals = self._rivals()
        family = self._chosen(rivals)
        found = self.setting.curve(FAMILIES.index(family))
        assert found is not None  # a rival has a curve
        best, start, top = found
        ceiling, value, gain = (
            self._interval(what, limit, start, top, best, floor)
            for what, limit, floor in zip(self.asked, self.limits, (0, 0, -1), strict=True)
        )
        noise = 1.96 * self.noise
        measured = Interval(
            value.value,
            max(value.value - float(np.hypot(value.value - value.low, noise)), 0.0),
            min(value.value + float(np.hypot(value.high - value.value, noise)), 1.0),
            value.identified,
        )
        last = int(self.series.steps[-1])
        return Forecast(
            identified=ceiling.identified and value.identified,
            why=self._why(ceiling, value, rivals),
            validations=self.series.size,
            last_step=last,
            to_step=self.to_step,
            unit=self.series.unit,
            family=family,
            ceiling=ceiling,
            value=value,
            gain=gain,
            measured=measured,
            no_movement_p=self.still,
            noise=self.noise,
            curve=tuple(self._curve(best, start, top)),
            rivals=tuple(rivals),
        )

    def _interval(
        self, what: Functional, limit: float, start: float, top: float, shape: int, least: float
    ) -> Interval:
        value = what.start[shape] * start + what.ceiling[shape] * top
        low, high = np.clip(self.setting.allowed(what, limit), least, 1)
        sure = self.still <= LEVEL_P and high - low <= self.widest
        return Interval(float(np.clip(value, low, high)), float(low), float(high), bool(sure))

    def _curve(self, shape: int, start: float, top: float) -> list[Point]:
        first = int(self.series.steps[0])
        steps = np.unique(np.linspace(first, self.to_step, POINTS).round().astype(int))
        points = []
        for step in steps:
            at = self._at(float(step))
            what = Functional(1 - at, at)
            found = self._interval(what, self.limits[1], start, top, shape, 0)
            points.append(Point(int(step), found.value, found.low, found.high))
        return points

    def _rivals(self) -> list[Rival]:
        rivals = []
        least, then = float(self.setting.height.min()), self.asked[1].ceiling
        for number, family in enumerate(FAMILIES):
            found = self.setting.curve(number)
            if found is None:
                continue
            shape, start, top = found
            rivals.append(
                Rival(
                    family,
                    top,
                    float(start + (top - start) * then[shape]),
                    self.errors.get(family),
                    self.setting.least_of(number) - least > self.limits[1],
                )
            )
        return rivals

    def _chosen(self, rivals: Sequence[Rival]) -> str:
        """Return the family with the least prefix error among those not refused; the likeliest, without errors."""
        open_ones = [r for r in rivals if not r.refused]
        errors = {r.family: r.prefix_error for r in open_ones if r.prefix_error is not None}
        heights = {r.family: self.setting.least_of(FAMILIES.index(r.family)) for r in open_ones}
        judged = errors or heights
        return min(judged, key=lambda family: judged[family])

    def _why(self, ceiling: Interval, value: Interval, rivals: Sequence[Rival]) -> str:
        if self.still > LEVEL_P:
            return (
                f"validation may not have moved: in {self.series.size} validations a policy that wanders without any trend "
                f"does as much (p {self.still:.2g}), so there is no curve to continue; more validations, or more problems in "
                "each, would show a smaller climb"
            )
        said = ", ".join(
            f"{r.family} {r.ceiling:.2f} ({r.value:.3f} at step {self.to_step})"
            for r in rivals
            if not r.refused
        )
        if ceiling.identified and value.identified:
            return f"curves that fit: ceiling by {said}"
        wide = []
        if not ceiling.identified:
            wide.append(f"the ceiling may be anything from {ceiling.low:.2f} to {ceiling.high:.2f}")
        if not value.identified:
            wide.append(
                f"the value at step {self.to_step} anything from {value.low:.2f} to {value.high:.2f}"
            )
        return (
            f"{' and '.join(wide)}, wider than {self.widest:g}; what fits: ceiling by {said}; "
            f"{self._needed(rivals)}"
        )

    def _needed(self, rivals: Sequence[Rival]) -> str:
        """Say by when the curves that fit would have come apart."""
        steps = np.linspace(self.series.steps[-1], 4 * self.series.steps[-1], 61)
        said = []
        for rival in rivals:
            found = self.setting.curve(FAMILIES.index(rival.family))
            if found is None or rival.refused:
                continue
            shape, start, top = found
            shares = np.array([self._at(float(s))[shape] for s in steps])
            said.append(start + (top - start) * shares)
        apart = np.ptp(np.array(said), axis=0) > 3 * self.noise / np.sqrt(4)  # the mean of four
        if len(said) > 1 and apart.any():
            return (
                f"four validations at about step {steps[apart.argmax()]:.0f} would tell these apart"
            )
        return (
            "more problems or samples in each validation would narrow it, and so would more steps"
        )


def _too_few(series: Series) -> str:
    if series.size < 2:
        return f"{series.size} validations: a curve needs {FEWEST} at least"
    gap = float(np.median(np.diff(series.steps)))
    due = series.steps[-1] + (FEWEST - series.size) * gap
    return f"{series.size} validations: a curve needs {FEWEST} at least, which this run has from step {due:.0f} on"


def told(found: Forecast) -> str:
    """Return a forecast as one line."""
    if found.value is None or found.gain is None or not found.value.identified:
        return f"no forecast for step {found.to_step}: {found.why}"
    v, g = found.value, found.gain
    line = (
        f"forecast for step {found.to_step}: validation {v.value:.3f} ({v.low:.3f} to {v.high:.3f}), "
        f"{g.value:+.3f} ({g.low:+.3f} to {g.high:+.3f}) from here"
    )
    if found.ceiling is None or not found.ceiling.identified:
        return f"{line}; the ceiling cannot be told yet"
    c = found.ceiling
    return f"{line}; ceiling {c.value:.3f} ({c.low:.3f} to {c.high:.3f})"
