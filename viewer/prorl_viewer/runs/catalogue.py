"""The charts of a run: which keys of a step's line they draw, under which name, in which unit.

``CHARTS`` are those with a name of their own; any other number that a run recorded is a chart named by its key.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart. ``lines``: key of the step's line -> label; ``in_parts``: the key that a domain or task has it under,
    where that is another one."""

    name: str
    title: str
    unit: str
    section: str
    lines: tuple[tuple[str, str], ...]
    about: str = ""
    in_parts: str = ""
    first: bool = True
    """Whether it is drawn before anyone chooses."""
    smooth: bool = True
    """Whether it may be drawn in means: not what jumps, as KL at a reset, or what is measured rarely."""

    @property
    def part_key(self) -> str:
        """The key under which a domain or a task has the chart's number."""
        return self.in_parts or self.lines[0][0]


def _one(
    key: str,
    title: str,
    unit: str,
    section: str,
    about: str = "",
    in_parts: str = "",
    first: bool = True,
    smooth: bool = True,
) -> Chart:
    lines = ((key, title),)
    return Chart(key, title, unit, section, lines, about, in_parts, first, smooth)


STALE = "stale_share"
"""A key that no run records: groups carried in, as a share of the groups trained on."""
INTERVALS = {"validation_reward": "validation_se"}
"""Key -> that of its standard error; the band is 1.96 of them to either side."""

CHARTS = (
    _one(
        "reward_mean", "Reward", "", "Learning", "mean raw reward of all responses with a verdict"
    ),
    _one(
        "pass_rate",
        "Pass rate",
        "share",
        "Learning",
        "share of responses with full marks",
        first=False,
    ),
    _one(
        "validation_reward",
        "Validation reward",
        "",
        "Learning",
        "the same problems each time; band: 95 % interval between problems",
        smooth=False,
    ),
    _one(
        "kl",
        "KL to the reference",
        "nats a token",
        "Policy",
        "falls to 0 at a reference reset",
        smooth=False,
    ),
    _one("entropy", "Entropy", "nats a token", "Policy"),
    _one(
        "response_length_mean",
        "Response length",
        "tokens",
        "Responses",
        in_parts="length_mean",
    ),
    _one("truncated_rate", "Cut by the token limit", "share", "Responses"),
    _one("unparsable_rate", "Unparsable answers", "share", "Responses"),
    _one("infra_errors", "Responses without a verdict", "count", "Responses", "infra errors"),
    _one("filter_rate", "Groups that taught nothing", "share", "Responses", first=False),
    _one(
        "mismatch_kl",
        "Sampler mismatch",
        "nats a token",
        "Sampler",
        "KL between the sampler and the trainer before the update",
    ),
    _one(
        "mismatch_ess",
        "Effective sample size of the ratios",
        "share",
        "Sampler",
        "trainer over sampler",
        first=False,
    ),
    _one(
        STALE,
        "Staleness",
        "share",
        "Sampler",
        "share of the trained groups that an earlier step sampled",
    ),
    _one("grad_norm", "Gradient norm", "", "Policy", "before clipping", first=False),
    _one("lr", "Learning rate", "", "Policy", first=False, smooth=False),
    _one("tokens_per_second", "Speed", "tokens/s", "Time"),
    Chart(
        "stages",
        "Time per stage",
        "s",
        "Time",
        (
            ("sample_seconds", "sampling"),
            ("score_seconds", "scoring"),
            ("update_seconds", "update"),
            ("validation_seconds", "validation"),
        ),
        "seconds of a step; in scoring nothing was sampled and verdicts were waited for",
    ),
)
BY_NAME = {chart.name: chart for chart in CHARTS}
_DRAWN = {key for chart in CHARTS for key, _ in chart.lines}


def words(key: str) -> str:
    """Return a key as words."""
    return key.replace("/", ": ").replace("_", " ")


def charts_of(keys: Collection[str]) -> list[Chart]:
    """Return the charts that a run with these keys has: those with a name, then one for each other number."""
    named = [chart for chart in CHARTS if any(key in keys for key, _ in chart.lines)]
    plain = (key for key in sorted(keys) if "/" not in key and key not in _DRAWN | {"step"})
    return [*named, *(other(key) for key in plain)]


def other(key: str) -> Chart:
    """Return the chart of a number that has no chart of its own."""
    return _one(key, words(key), "", "Other", first=False)
