"""Forecast a run's validation reward from its metrics rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from prorl_common import UserError, derive_seed
from prorl_training.schedule.curve_fit import (
    FAMILIES,
    Array,
    Functional,
    draw,
    likely,
    p_of_no_movement,
    settle,
    thresholds,
)

FEWEST = 8
"""Minimum number of validations for a curve fit."""
WIDEST = 0.1
"""Maximum width, in reward, of an interval that counts as identified."""
LEVEL_P = 0.05
"""If the p-value of "validation does not move" is above this, there is no forecast."""
POINTS = 40
"""Number of points of the returned curve, from the first validation to ``to_step``."""


@dataclass(frozen=True)
class Interval:
    """A value and its 95 % interval. It is ``identified`` if validation clearly moved and the interval is narrow."""

    value: float
    low: float
    high: float
    identified: bool


@dataclass(frozen=True)
class Point:
    step: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Forecast:
    """Forecast of a run's validation reward at ``to_step`` and beyond.

    ``value`` is the curve at ``to_step``, ``gain`` its rise since the last validation, ``ceiling`` its limit and
    ``noise`` the standard deviation of validations around the curve. All are None if there are too few validations.
    """

    identified: bool
    why: str
    validations: int
    last_step: int
    to_step: int
    unit: str
    family: str | None = None
    ceiling: Interval | None = None
    value: Interval | None = None
    gain: Interval | None = None
    no_movement_p: float | None = None
    noise: float | None = None
    curve: tuple[Point, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Series(NamedTuple):
    """A run's validations, oldest first: their steps, compute (in ``unit``) and mean rewards ``values``.

    ``noise`` is the variance of a value, estimated from single problems (0: unknown), ``rate`` recent compute per step.
    """

    steps: Array
    compute: Array
    unit: str
    values: Array
    noise: float
    rate: float

    @property
    def places(self) -> Array:
        """The steps of the validations, divided by the median distance between validations."""
        return self.steps / np.median(np.diff(self.steps))


def read_series(rows: Sequence[Mapping[str, Any]]) -> Series:
    """Return the validations in a run's metrics rows that used the same problems as the newest validation.

    Compute is in sampled tokens, or in steps if token counts are missing or do not grow. Raises UserError for a value
    that is not a number, or a mean outside [0, 1].
    """
    means = {int(r["step"]): (r, _mean(r)) for r in rows}
    validations = [(r, mean) for _, (r, mean) in sorted(means.items()) if mean is not None]
    rewards = [numbers(r, "validation_rewards") for r, _ in validations]
    first = max((i + 1 for i, x in enumerate(rewards) if len(x) != len(rewards[-1])), default=0)
    validations, rewards = validations[first:], rewards[first:]
    steps = np.array([float(r["step"]) for r, _ in validations])
    tokens = [t for r, _ in validations if (t := number(r, "tokens_total")) is not None]
    in_tokens = len(tokens) == len(validations) and bool(np.isfinite(tokens).all())
    if in_tokens and len(tokens) > 1:
        in_tokens = bool(min(np.diff(tokens)) >= 0 and tokens[-1] > tokens[0])
    compute = np.array(tokens) if in_tokens else steps
    rate = 1.0
    if steps.size > 1:
        start = min(3 * steps.size // 4, steps.size - 2)
        rate = float((compute[-1] - compute[start]) / (steps[-1] - steps[start]))
    return Series(
        steps=steps,
        compute=compute,
        unit="tokens" if in_tokens else "steps",
        values=np.array([mean for _, mean in validations]),
        noise=_noise(rewards),
        rate=rate,
    )


def _mean(row: Mapping[str, Any]) -> float | None:
    mean = number(row, "validation_reward")
    if mean is None or not math.isfinite(mean):
        return None
    if not 0 <= mean <= 1:
        raise UserError(
            f"the recorded step {row['step']} has validation_reward = {mean:g}, but a forecast "
            "needs mean rewards from 0 to 1"
        )
    return mean


def _noise(rewards: Sequence[Sequence[float | None]]) -> float:
    """Return the variance of a mean reward, estimated from single problems: var(d_j) / (2 x problems).

    d_j is the change of problem j's reward between two successive validations.
    """
    variances = []
    for before, after in pairwise(rewards):
        both = zip(before, after, strict=True)
        changes = np.array([y - x for x, y in both if x is not None and y is not None])
        changes = changes[np.isfinite(changes)]
        if changes.size > 1:
            variances.append(changes.var(ddof=1) / (2 * changes.size))
    return float(np.mean(variances)) if variances else 0.0


def forecast(rows: Sequence[Mapping[str, Any]], to_step: int, *, seed: int = 0) -> Forecast:
    """Forecast validation at ``to_step``. ``seed`` seeds the simulations.

    Raises UserError if ``to_step`` is not after the last validation.
    """
    series = read_series(rows)
    count = int(series.values.size)
    last = int(series.steps[-1]) if count else 0
    if count and to_step <= last:
        raise UserError(
            f"step {to_step} is not after the last validation (step {last}): give a later --to-step"
        )
    if count < FEWEST:
        why = f"{count} validations: a curve needs at least {FEWEST}"
        if count > 1:
            due = series.steps[-1] + (FEWEST - count) * float(np.median(np.diff(series.steps)))
            why += f", which this run has from step {due:.0f} on"
        return Forecast(False, why, count, last, to_step, series.unit)
    random = np.random.default_rng(derive_seed(seed, "forecast", last, to_step))
    setting = settle(series.compute, series.places, series.values, series.noise)
    still = p_of_no_movement(setting, series.values, random)

    def share_at(step: float) -> Array:
        compute = float(np.interp(step, series.steps, series.compute))
        if step > last:
            compute = float(series.compute[-1] + (step - series.steps[-1]) * series.rate)
        return setting.shapes.share(np.array([compute]))[:, 0]

    then, now = share_at(float(to_step)), share_at(float(last))
    at_end = Functional(np.zeros_like(then), np.ones_like(then))
    at_step, climb = Functional(1 - then, then), Functional(now - then, then - now)
    allowed = likely(setting)
    drawn = draw(setting, allowed, random)
    limits = thresholds(setting, drawn, [at_end, at_step, climb], random)
    shape, start, top = setting.likeliest()

    def interval(what: Functional, limit: float, least: float = 0.0) -> Interval:
        value = what.start[shape] * start + what.ceiling[shape] * top
        low, high = np.clip(setting.allowed(what, limit), least, 1)
        sure = still <= LEVEL_P and high - low <= WIDEST
        return Interval(float(np.clip(value, low, high)), float(low), float(high), bool(sure))

    def point(step: int) -> Point:
        share = share_at(float(step))
        at = interval(Functional(1 - share, share), limits[1])
        return Point(step, at.value, at.low, at.high)

    ceiling, value = interval(at_end, limits[0]), interval(at_step, limits[1])
    steps = np.unique(np.linspace(int(series.steps[0]), to_step, POINTS).round().astype(int))
    family = FAMILIES[setting.shapes.family[shape]]
    return Forecast(
        identified=ceiling.identified and value.identified,
        why=_why(family, count, still, ceiling, value),
        validations=count,
        last_step=last,
        to_step=to_step,
        unit=series.unit,
        family=family,
        ceiling=ceiling,
        value=value,
        gain=interval(climb, limits[2], least=-1.0),
        no_movement_p=still,
        noise=float((allowed.weights.sum(axis=(1, 2)) * np.sqrt(allowed.variances)).sum()),
        curve=tuple(point(int(step)) for step in steps),
    )


def step_to_ask_for(last: int, planned: int | None) -> int:
    """Return the step to forecast: ``planned`` if it is after ``last``, else 1.5 times ``last``."""
    return planned if planned is not None and planned > last else last + max(last // 2, 1)


def _why(family: str, count: int, still: float, ceiling: Interval, at_step: Interval) -> str:
    if still > LEVEL_P:
        return (
            f"no change of validation is shown: in {count} validations a random walk without a trend changes as much "
            f"(p {still:.2g}), so there is no curve to extrapolate; more validations, or more problems in each, would show a "
            "smaller change"
        )
    if ceiling.identified and at_step.identified:
        return f"all curves that fit agree closely; the most likely is a {family}"
    wide = [
        f"{what} may be anything from {i.low:.2f} to {i.high:.2f}"
        for what, i in (("the ceiling", ceiling), ("the value", at_step))
        if not i.identified
    ]
    return (
        f"{' and '.join(wide)}, wider than {WIDEST:g}: more steps, or more problems or samples in each validation, would "
        "narrow it"
    )


def one_line(result: Forecast) -> str:
    if result.value is None or result.gain is None or not result.value.identified:
        return f"no forecast for step {result.to_step}: {result.why}"
    v, g = result.value, result.gain
    line = (
        f"forecast for step {result.to_step}: validation {v.value:.3f} ({v.low:.3f} to {v.high:.3f}), "
        f"{g.value:+.3f} ({g.low:+.3f} to {g.high:+.3f}) from here"
    )
    if result.ceiling is None or not result.ceiling.identified:
        return f"{line}; the ceiling cannot be estimated yet"
    c = result.ceiling
    return f"{line}; ceiling {c.value:.3f} ({c.low:.3f} to {c.high:.3f})"


def number(row: Mapping[str, Any], key: str) -> float | None:
    value = row.get(key)
    return None if value is None else _number(row, key, value)


def numbers(row: Mapping[str, Any], key: str) -> tuple[float | None, ...]:
    """Return the list at ``key``, or () if absent. Raises UserError for values other than numbers and nulls."""
    values = row.get(key)
    if values is None:
        return ()
    if not isinstance(values, list | tuple):
        raise UserError(f"{_where(row)} has {key} = {values!r}, which is not a list: fix that line")
    return tuple(None if value is None else _number(row, key, value) for value in values)


def _number(row: Mapping[str, Any], key: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UserError(
            f"{_where(row)} has {key} = {value!r}, which is not a number: fix that line"
        ) from None


def _where(row: Mapping[str, Any]) -> str:
    return f"the recorded step {row.get('step', '?')}"


Rows = Sequence[Mapping[str, Any]]


class Outlook(NamedTuple):
    """Computes a forecast on demand."""

    rows: Callable[[], Rows]
    """Returns the rows of ``metrics.jsonl`` up to the current step."""
    step: int
    to_step: int
    seed: int

    def gain(self, least: float) -> Gain:
        """Forecast the gain in validation reward until ``to_step``, and compare it with ``least``."""
        if self.step >= self.to_step:
            return Gain("not known", least, self.to_step, why="this is the run's last step")
        result = forecast(self.rows(), self.to_step, seed=self.seed)
        g = result.gain
        if g is None:
            return Gain("not known", least, self.to_step, why=result.why)
        unknown = Gain("not known", least, self.to_step, g.value, g.low, g.high, result.why)
        if not g.identified:
            return unknown
        return unknown._replace(says="less" if g.high < least else "may be as much")


class Gain(NamedTuple):
    says: Literal["less", "may be as much", "not known"]
    """``less``: the 95 % interval of the gain is entirely below ``least``. ``not known``: no gain is ``identified``."""
    least: float
    to_step: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    """Why there is no forecast, or ""."""
