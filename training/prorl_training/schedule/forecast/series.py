"""A run's validations as numbers: reward over compute, and how much of the scatter is known to be noise.

Compute is the tokens sampled so far (``tokens_total``: dropped groups count, they cost the same), or the steps where rows
have none or they do not grow: a token costs the same before and after a change of n, of context or of the length penalty,
a step does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from prorl_common import UserError
from prorl_training.schedule.forecast.shapes import Array
from prorl_training.schedule.recorded import number, numbers


class Series(NamedTuple):
    """Validations, oldest first."""

    steps: Array
    compute: Array
    """Tokens sampled or steps done until then."""
    unit: str
    """``tokens`` or ``steps``."""
    values: Array
    """Mean reward of each."""
    noise: float
    """Least variance of a value around the curve, from how single problems change from one validation to the next; 0:
    unknown."""
    rate: float
    """Compute of a step, over the newest quarter of the run."""

    @property
    def size(self) -> int:
        """How many validations there are."""
        return int(self.values.size)

    @property
    def places(self) -> Array:
        """Steps in median distances between validations: what noise hangs together over."""
        return self.steps / np.median(np.diff(self.steps))

    def compute_at(self, steps: Array) -> Array:
        """Return the compute of later steps, at the newest rate."""
        return np.asarray(self.compute[-1] + (steps - self.steps[-1]) * self.rate)

    def until(self, count: int) -> Series:
        """Return the first ``count`` validations; ``noise`` stays that of all."""
        steps, compute = self.steps[:count], self.compute[:count]
        return self._replace(
            steps=steps, compute=compute, values=self.values[:count], rate=_rate(steps, compute)
        )


def read_series(rows: Sequence[Mapping[str, Any]], unit: str = "tokens") -> Series:
    """Return the validations among a run's metrics rows: those of the problems that are watched now.

    Where the number of watched problems changed, what was before is left out: another set is another curve. Of several
    lines of a step the last counts; one whose mean is not finite is no validation. Raises UserError for what is no
    number, and for a mean that is no reward (0 to 1).
    """
    means = {int(r["step"]): (r, _mean(r)) for r in rows}
    seen = [(r, mean) for _, (r, mean) in sorted(means.items()) if mean is not None]
    rewards = [numbers(r, "validation_rewards") for r, _ in seen]
    first = max((i + 1 for i, x in enumerate(rewards) if len(x) != len(rewards[-1])), default=0)
    seen, rewards = seen[first:], rewards[first:]
    steps = np.array([float(r["step"]) for r, _ in seen])
    tokens = [t for r, _ in seen if (t := number(r, "tokens_total")) is not None]
    in_tokens = unit == "tokens" and len(tokens) == len(seen) and _grow(tokens)
    compute = np.array(tokens) if in_tokens else steps
    return Series(
        steps=steps,
        compute=compute,
        unit="tokens" if in_tokens else "steps",
        values=np.array([mean for _, mean in seen]),
        noise=_noise(rewards),
        rate=_rate(steps, compute),
    )


def _mean(row: Mapping[str, Any]) -> float | None:
    """Return a step's mean reward of validation; None where there is none."""
    mean = number(row, "validation_reward")
    if mean is None or not math.isfinite(mean):
        return None
    if not 0 <= mean <= 1:
        raise UserError(
            f"the recorded step {row['step']} has validation_reward = {mean:g}, and a mean reward is from 0 to 1: "
            "a forecast reads no other unit"
        )
    return mean


def _grow(tokens: Sequence[float]) -> bool:
    """Return whether these can be tokens sampled until then: never fewer, and with two or more, more in the end."""
    if not np.isfinite(tokens).all():
        return False
    return len(tokens) < 2 or (min(np.diff(tokens)) >= 0 and tokens[-1] > tokens[0])


def _rate(steps: Array, compute: Array) -> float:
    """Return the compute of a step over the newest quarter."""
    if steps.size < 2:
        return 1.0
    first = min(3 * steps.size // 4, steps.size - 2)
    return float((compute[-1] - compute[first]) / (steps[-1] - steps[first]))


def _noise(rewards: Sequence[Sequence[float | None]]) -> float:
    """Return the variance that a mean over the problems has from single problems changing by themselves.

    The problems are the same every time, so how unlike they are is no noise. From one validation to the next problem j
    changes by d_j; what is common to all is the run's own movement and drops out, the rest is noise of two values:
    sum (d_j - mean d)^2 / (2 problems (problems - 1)), averaged over the pairs.
    """
    found = []
    for before, after in pairwise(rewards):
        both = zip(before, after, strict=True)
        changes = np.array([y - x for x, y in both if x is not None and y is not None])
        changes = changes[np.isfinite(changes)]
        if changes.size > 1:
            found.append(changes.var(ddof=1) / (2 * changes.size))
    return float(np.mean(found)) if found else 0.0
