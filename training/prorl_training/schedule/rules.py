"""The controller's tests: does the KL spike, and has validation stalled or got worse?

KL starts at 0 after every reset and climbs for hundreds of steps, by orders of magnitude. The rule for a
spike therefore looks at x = log(max(KL, 0) + FLOOR), fits Theil and Sen's line through the last ``window``
values (the median of all pairwise slopes, the median intercept), and measures how far the newest x lies
above the line's continuation, in robust standard deviations of the residuals (1.4826 x their median
absolute value). A steady climb, linear or exponential, lies on its line; so does a flat stretch. The
spread is taken as at least MIN_SPREAD, or a nearly constant history would make a spike of anything.

A single validation is noise. ``stall_validations`` (K) of them in a row make a block, and the tests are
made once a block, when it is full:

degraded: the newest block's mean lies below the best block's before it. The best of m noisy blocks is
    better than the policy ever was, so the gap is judged as the largest of m comparisons with the newest
    block: Dunnett's one-sided test (JASA 50, 1955) with the measured standard errors as known, at
    ``degrade_alpha``. The level holds however many blocks came before. Once it has led to a reset to
    the current policy (or to the next phase), later blocks are held against the lower level, or one
    drop would reset at every block from then on.
stalled: the newest block's mean is not above the best block's before it by more than
    ``stall_min_delta``, and the newest 4 K validations (at least 2 K of them since the last reset) show
    no upward trend: Mann and Kendall's one-sided test at TREND_LEVEL, with a Theil-Sen rise over K
    validations that is more than ``stall_min_delta``. A lucky block long ago makes a stall of nothing,
    as long as the policy visibly climbs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from prorl_training.config import ControllerConfig

FLOOR = 1e-6
"""Nats a token; differences between KLs far below this are not seen."""
MIN_SPREAD = 0.1
"""In log-KL: about 10%. With 8 deviations a spike is at least exp(0.8) = 2.2 times what was due."""
TREND_LEVEL = 0.25
"""One-sided level of the trend test: little evidence of a climb is enough to hold a stall back."""
TREND_BLOCKS = 4
"""Length of the stretch that the trend is sought in, in blocks."""


class Spike(NamedTuple):
    """How the newest KL compares with its history."""

    z: float
    """Robust standard deviations above the line."""
    expected: float
    """KL in nats where the line's continuation is."""
    median: float
    """Median KL of the history in nats."""
    spread: float
    """Robust standard deviation of the log residuals, MIN_SPREAD or more."""


class ValidationResult(NamedTuple):
    """One validation: mean raw reward over the watched problems, its standard error, how many problems.

    The standard error that the engine measures is that of the spread over problems. The problems are the
    same every time, so it is larger than the noise between two validations: the tests err on the side
    of silence.
    """

    mean: float
    standard_error: float
    problems: int


class Finding(NamedTuple):
    """A test that says something: which rule, in words, and what it saw."""

    rule: str
    reason: str
    evidence: dict[str, Any]


def measure_spike(history: Sequence[float], kl: float) -> Spike:
    """Compare ``kl`` with the finite KLs of the steps before it, oldest first (at least 3)."""
    *logs, newest = [math.log(max(value, 0.0) + FLOOR) for value in (*history, kl)]
    slope = theil_sen_slope(logs)
    intercept = statistics.median(x - slope * i for i, x in enumerate(logs))
    residuals = [abs(x - intercept - slope * i) for i, x in enumerate(logs)]
    spread = max(1.4826 * statistics.median(residuals), MIN_SPREAD)
    due = intercept + slope * len(logs)
    expected = max(math.exp(min(due, 700.0)) - FLOOR, 0.0)
    return Spike((newest - due) / spread, expected, statistics.median(history), spread)


class ValidationHistory:
    """The validations of a run as the tests see them; plain JSON inside."""

    def __init__(self) -> None:
        self.blocks: list[list[float]] = []
        """Full blocks before the newest: [mean, standard error, last step]."""
        self.open: list[list[float]] = []
        """The block being filled: [mean, standard error]."""
        self.stretch: list[float] = []
        """Means of the newest validations of one policy line, for the trend."""
        self.since_reset = 0
        """Validations since the last reset."""

    def add(self, step: int, result: ValidationResult, config: ControllerConfig) -> Finding | None:
        """Take the validation of ``step``; a finding where a block is full and a test holds.

        A mean that is not finite is no validation.
        """
        k = config.stall_validations
        if k == 0 or not math.isfinite(result.mean):
            return None
        self.stretch = [*self.stretch, result.mean][-TREND_BLOCKS * k :]
        self.since_reset += 1
        self.open.append([result.mean, _standard_error(result)])
        if len(self.open) < k:
            return None
        error = math.sqrt(math.fsum(se * se for _, se in self.open)) / len(self.open)
        newest = [statistics.fmean(m for m, _ in self.open), error, float(step)]
        self.open = []
        earlier, self.blocks = self.blocks, [*self.blocks, newest]
        if not earlier:
            return None
        return self._degraded(earlier, newest, config) or self._stalled(earlier, newest, config)

    def after_reset(self, policy_moved: bool) -> None:
        """A reset is given time; where the policy itself went back, stretch and open block are void."""
        self.since_reset = 0
        if policy_moved:
            self.open, self.stretch = [], []

    def accept_level(self) -> None:
        """After a drop that nothing takes back, the newest block is what later ones are held against."""
        self.blocks = self.blocks[-1:]

    def start_phase(self, comparable: bool) -> None:
        """A phase begins a new stretch; what is measured otherwise than before begins a new history."""
        self.open, self.stretch, self.since_reset = [], [], 0
        if not comparable:
            self.blocks = []

    def _degraded(
        self, earlier: Sequence[Sequence[float]], newest: Sequence[float], config: ControllerConfig
    ) -> Finding | None:
        p = dunnett_p(newest, earlier)
        if p >= config.degrade_alpha:
            return None
        best = max(earlier, key=lambda block: block[0])
        evidence = _blocks_evidence(earlier, best, newest) | {"p": p, "alpha": config.degrade_alpha}
        reason = (
            f"validation got worse: the newest {config.stall_validations} mean {newest[0]:.4f}, the best "
            f"block before {best[0]:.4f} (p {p:.2g})"
        )
        return Finding("degraded_validation", reason, evidence)

    def _stalled(
        self, earlier: Sequence[Sequence[float]], newest: Sequence[float], config: ControllerConfig
    ) -> Finding | None:
        k, delta, stretch = config.stall_validations, config.stall_min_delta, self.stretch
        best = max(earlier, key=lambda block: block[0])
        if min(self.since_reset, len(stretch)) < 2 * k or newest[0] > best[0] + delta:
            return None
        p, rise = mann_kendall_p(stretch), theil_sen_slope(stretch) * k
        if p < TREND_LEVEL and rise > delta:
            return None
        evidence = _blocks_evidence(earlier, best, newest) | {
            "min_delta": delta,
            "trend_p": p,
            "trend_rise_per_block": rise,
            "trend_validations": len(stretch),
        }
        reason = (
            f"validation stalled: the newest {k} mean {newest[0]:.4f}, the best block before "
            f"{best[0]:.4f}, no upward trend (p {p:.2f})"
        )
        return Finding("stalled_validation", reason, evidence)

    def to_json(self) -> dict[str, Any]:
        """Return the history for a checkpoint."""
        return {
            "blocks": self.blocks,
            "open": self.open,
            "stretch": self.stretch,
            "since_reset": self.since_reset,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take the history of a checkpoint."""
        self.blocks = [[float(x) for x in block] for block in state["blocks"]]
        self.open = [[float(x) for x in pair] for pair in state["open"]]
        self.stretch = [float(x) for x in state["stretch"]]
        self.since_reset = int(state["since_reset"])


def _blocks_evidence(
    earlier: Sequence[Sequence[float]], best: Sequence[float], newest: Sequence[float]
) -> dict[str, Any]:
    return {
        "newest_mean": newest[0],
        "newest_se": newest[1],
        "best_mean": best[0],
        "best_se": best[1],
        "best_block_ended": int(best[2]),
        "blocks_before": len(earlier),
    }


def dunnett_p(newest: Sequence[float], earlier: Sequence[Sequence[float]]) -> float:
    """Return P(the largest gap below an earlier block is at least as seen, if all levels are one).

    Blocks are (mean, standard error, ...) with independent normal errors. The gap to block j is divided
    by sqrt(se_j^2 + se_new^2); given the newest block's own error u they are independent, so
    p = 1 - integral of phi(u) prod_j Phi((t sqrt(se_j^2 + s^2) + s u) / se_j) du, by the trapezoid rule.
    """
    mean, s = newest[0], newest[1]
    scales = [(math.hypot(block[1], s), block[1]) for block in earlier]
    t = max((block[0] - mean) / scale for block, (scale, _) in zip(earlier, scales, strict=True))
    width, inside, total = 0.2, 0.0, 0.0
    for i in range(-40, 41):
        u = i * width
        density = math.exp(-u * u / 2)
        total += density
        inside += density * math.prod(_phi((t * both + s * u) / se) for both, se in scales)
    return max(1.0 - inside / total, 0.0)


def theil_sen_slope(values: Sequence[float]) -> float:
    """Return the median of the slopes between all pairs, a step apart each (Sen 1968, JASA 63)."""
    return statistics.median(
        (values[j] - values[i]) / (j - i) for j in range(1, len(values)) for i in range(j)
    )


def mann_kendall_p(values: Sequence[float]) -> float:
    """Return the one-sided p-value of an upward trend (Mann 1945; variance with Kendall's tie term)."""
    n = len(values)
    s = sum(
        (values[j] > values[i]) - (values[j] < values[i]) for j in range(1, n) for i in range(j)
    )
    ties = [values.count(v) for v in set(values)]
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    if variance <= 0:
        return 1.0
    return 1.0 - _phi((s - (s > 0) + (s < 0)) / math.sqrt(variance))


def _standard_error(result: ValidationResult) -> float:
    """The measured one, but at least that of half a problem in ``problems`` (0 where all score alike)."""
    least = math.sqrt(0.5) / max(result.problems, 1)
    measured = result.standard_error
    if not math.isfinite(measured):
        bound = math.sqrt(max(result.mean * (1 - result.mean), 0.0) / max(result.problems, 1))
        return max(bound, least)
    return max(measured, least)


def _phi(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))
