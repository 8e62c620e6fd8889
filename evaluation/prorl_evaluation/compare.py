"""Compares two results on the problems with the same id, prompt and task in both.

Intervals are stratified by domain and not corrected for multiple comparisons.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from prorl_evaluation.metrics import ks_up_to
from prorl_evaluation.stats.fixed_set import fixed_change
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.stats.paired import Pair, changes, group_resampling, group_units, same_problem
from prorl_evaluation.types import (
    BEFORE_RL,
    OVERALL,
    EvalResult,
    EvaluationError,
    finite,
)

MIN_PROBLEMS = 10
"""Minimum number of paired problems for drawing a conclusion."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The change of one metric in one group, from the mean ``a`` to the mean ``b``.

    ``interval`` is the interval of ``b - a`` if the problems are a random sample of similar ones, ``fixed`` if only the
    answers vary (None unless the metric is pass@k). The metric ``length`` is in tokens per answer.
    """

    group: str
    metric: str
    a: float
    b: float
    interval: Interval
    fixed: Interval | None = None

    @property
    def statement(self) -> str:
        """The conclusion in words, such as "higher: the interval excludes 0"."""
        if self.interval.count == 0:
            return "no paired problem has a value"
        if self.interval.count < MIN_PROBLEMS:
            plural = "" if self.interval.count == 1 else "s"
            return f"only {self.interval.count} problem{plural}: too few to say"
        if self.interval.low > 0:
            return "higher: the interval excludes 0"
        if self.interval.high < 0:
            return "lower: the interval excludes 0"
        return "not distinguishable: the interval includes 0"

    @property
    def distinguishable(self) -> bool:
        """Whether the direction of the change is clear."""
        return self.direction != "unclear"

    @property
    def direction(self) -> Literal["rose", "fell", "unclear"]:
        """The direction, ``unclear`` if the interval includes 0 or there are fewer than MIN_PROBLEMS problems."""
        i = self.interval
        if i.count < MIN_PROBLEMS or i.low <= 0 <= i.high:
            return "unclear"
        return "rose" if i.low > 0 else "fell"

    def size(self) -> str:
        i = self.interval
        return f"{i.value:+.3f} [{i.low:+.3f}, {i.high:+.3f}]"

    def moved(self) -> str:
        i = self.interval
        match self.direction:
            case "rose":
                return f"{self.metric} rose by {i.value:.3f} [{i.low:.3f}, {i.high:.3f}]"
            case "fell":
                return f"{self.metric} fell by {-i.value:.3f} [{-i.high:.3f}, {-i.low:.3f}]"
            case "unclear":
                return f"{self.metric} moved by {self.size()}"
            case _:
                assert_never(self.direction)

    def sentence(self) -> str:
        return (
            f"{self.metric} {self.a:.3f} -> {self.b:.3f}, difference {self.size()} "
            f"over {self.interval.count} problems, {self.statement}"
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences ``b - a``, the unpaired problems, and warnings."""

    a: str
    b: str
    differences: tuple[Difference, ...]
    paired: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    altered: tuple[str, ...]
    warnings: tuple[str, ...]

    def find(self, group: str, metric: str) -> Difference | None:
        hits = (d for d in self.differences if (d.group, d.metric) == (group, metric))
        return next(hits, None)

    def headline(self, k: int) -> str:
        """Return a sentence on the changes of pass@1 and pass@k."""
        one = self.find(OVERALL, "pass@1")
        if one is None or one.interval.count < MIN_PROBLEMS:
            count = 0 if one is None else one.interval.count
            return f"Too few problems to say whether pass@1 changed: {count} have a value in both."
        tries = self.find(OVERALL, f"pass@{k}") if k > 1 else None
        more = "unclear" if tries is None else tries.direction
        if tries is None or more == "unclear":
            match one.direction:
                case "rose" if tries is not None:
                    return (
                        f"{one.moved()}, but no change of {tries.metric} was shown ({tries.size()}): the model "
                        "became surer of what it could already do."
                    )
                case "rose":
                    return f"{one.moved()}."
                case "fell":
                    return f"{one.moved()}: the model got worse."
                case "unclear":
                    return f"No change was shown: {one.moved()}."
        both = f"{one.moved()}, and {tries.moved()}"
        match one.direction:
            case "unclear":
                return f"No change of pass@1 was shown ({one.size()}), but {tries.moved()}."
            case "rose" if more == "rose":
                return f"{both}: within {k} tries the model solves more problems than before."
            case "rose":
                return (
                    f"{both}: the model became surer, but solves fewer problems within {k} tries."
                )
            case "fell" if more == "rose":
                return f"{both}: the model became less sure, but solves more problems within {k} tries."
            case "fell":
                return f"{both}: the model got worse."
        assert_never(one.direction)

    def to_json(self) -> dict[str, Any]:
        value = dataclasses.asdict(self)
        for row, difference in zip(value["differences"], self.differences, strict=True):
            row["statement"] = difference.statement
        plain = finite(value)
        assert isinstance(plain, dict)
        return plain


def against_baseline(results: Sequence[EvalResult]) -> Comparison | None:
    """Compare the last result with its baseline (``baseline_place``), or return None for a single result."""
    if len(results) < 2:
        return None
    return compare(results[baseline_place([r.label for r in results])], results[-1])


def baseline_place(labels: Sequence[str]) -> int:
    """Return the index of the baseline: the checkpoint labelled as before RL, else 0."""
    before_rl = (at for at, label in enumerate(labels[:-1]) if label.endswith(BEFORE_RL))
    return next(before_rl, 0)


def compare(a: EvalResult, b: EvalResult, *, cluster: str = "problem") -> Comparison:
    """Compare ``b`` with the baseline ``a``.

    The baseline's settings give the confidence level, and the number and seed of bootstrap draws. ``cluster`` is
    "problem" or "task" (see ``paired.units_of``). Raises EvaluationError if the results share no problems.
    """
    theirs = {p.id: p for p in b.problems}
    mine = {p.id: p for p in a.problems}
    both = [(p, theirs[p.id]) for p in a.problems if p.id in theirs]
    pairs = [(p, q) for p, q in both if same_problem(p, q)]
    if not pairs:
        raise EvaluationError(
            f"'{a.label}' and '{b.label}' have no problem in common: evaluate both on the same dataset and split"
        )
    domains = list(dict.fromkeys(p.domain for p, _ in pairs))
    differences = _differences(OVERALL, pairs, a, b, cluster)
    for d in domains if len(domains) > 1 else []:
        members = [(p, q) for p, q in pairs if p.domain == d]
        differences += _differences(d, members, a, b, cluster)
    return Comparison(
        a=a.label,
        b=b.label,
        differences=tuple(differences),
        paired=len(pairs),
        only_a=tuple(i for i in mine if i not in theirs),
        only_b=tuple(i for i in theirs if i not in mine),
        altered=tuple(p.id for p, q in both if not same_problem(p, q)),
        warnings=tuple(setting_warnings(a, b)),
    )


def _differences(
    group: str, pairs: Sequence[Pair], a: EvalResult, b: EvalResult, cluster: str
) -> list[Difference]:
    ks = ks_up_to(min(a.settings.n, b.settings.n), [a.settings.k, b.settings.k])
    how = group_resampling(a.settings, "overall" if group == OVERALL else "domain", group)
    ((rows, _),) = changes([pairs], ks, group_units([p for p, _ in pairs], cluster), how)
    level = a.settings.level
    fixed = {f"pass@{k}": fixed_change(pairs, k, level) for k in ks}
    return [
        Difference(group, c.metric, c.before, c.after, c.interval, fixed.get(c.metric))
        for c in rows
    ]


SAMPLING = ("n", "temperature", "top_p", "max_tokens", "turns", "extra")
"""Sampling settings that must be equal in compared results, unless the user allows differences."""


_WORDS = {"extra": "request fields"}


def check_alike(
    results: Sequence[EvalResult], *, any_sampling: bool = False, one_dataset: bool = True
) -> list[str]:
    """Check that the results have equal sampling settings.

    Raises EvaluationError for differences or, if ``any_sampling``, returns a line for each. ``one_dataset`` also checks
    the dataset.
    """
    lines = []
    for name in (*SAMPLING, *(["dataset"] if one_dataset else [])):
        values: dict[str, list[str]] = {}
        for r in results:
            values.setdefault(_setting(r, name), []).append(r.label)
        if len(values) > 1:
            who = "; ".join(f"{v}: {', '.join(dict.fromkeys(o))}" for v, o in values.items())
            lines.append(f"{_WORDS.get(name, name)} differs ({who})")
    if lines and not any_sampling:
        raise EvaluationError(
            f"the results have different settings: {'; '.join(lines)}. Evaluate with equal settings, or "
            "compare anyway with --set comparison.any_sampling=true"
        )
    return lines


def _setting(result: EvalResult, name: str) -> str:
    if name == "extra":
        return str(dict(result.settings.extra))
    if name == "dataset":
        data = result.settings.dataset
        limit = f", first {data['limit']}" if "limit" in data else ""
        return f"{data.get('split', '')} of {data.get('manifest_sha256', '')[:8]}{limit}"
    return f"{getattr(result.settings, name):g}"


def setting_warnings(a: EvalResult, b: EvalResult) -> list[str]:
    """Return a warning for each setting that differs, and one if both results have the same weights."""
    pairs: dict[str, tuple[object, object]] = {
        name: (getattr(a.settings, name), getattr(b.settings, name))
        for name in (*SAMPLING, "backend")
    }
    hashes = [r.settings.dataset.get("manifest_sha256", "") for r in (a, b)]
    pairs["dataset"] = (hashes[0], hashes[1])
    pairs["isolation"] = (a.isolation, b.isolation)
    pairs["prorl"] = (a.versions.get("prorl", ""), b.versions.get("prorl", ""))
    lines = [
        f"{_WORDS.get(name, name)} differs: {x} against {y}"
        for name, (x, y) in pairs.items()
        if x != y
    ]
    if a.model_digest == b.model_digest:
        lines.append("both results are of the same weights")
    return lines
