"""Validates on fixed problems, and tests whether validation got worse or stalled (docs/concepts/controller.md).

The tests are one-sided z-tests on the mean change of the problems' rewards, with the standard error std(changes) /
sqrt(problems). Each alpha is the level of one test, not of the run.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from prorl_common import UserError, derive_seed
from prorl_datasets import Sample
from prorl_inference import Generator, Request, SamplingParams
from prorl_training.config import ControllerConfig, DynamicSamplingConfig, TrainConfig
from prorl_training.rollout.collector import Collector, EncodeAnswer
from prorl_training.rollout.scoring import score_or_infra
from prorl_training.schedule.safety import Guard
from prorl_training.types import FULL_MARKS, Finding, Rewards, Scorer, Validation, ValidationResult
from prorl_verifiers import VERIFIERS, Verdict


class Comparison(NamedTuple):
    """An earlier and a later period of validations, compared problem by problem."""

    before: float
    """Mean reward of the earlier period, over problems with a reward in both periods."""
    after: float
    gain: float
    """after - before."""
    paired_se: float
    """Standard error of the gain over problems."""
    problems: int
    before_steps: str
    """First and last step of the earlier period."""
    after_steps: str
    gain_due: float
    """The gain to compare with: 0 to test for degradation, ``stall_gain`` per 1,000 steps to test for a stall."""
    p: float
    """p-value: probability of a gain this low if the true gain were ``gain_due``."""


class ValidationHistory:
    """A run's newest validations that are comparable with each other."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.rewards: list[Rewards] = []
        self.stretch = 0
        """Number of validations since the phase began or the last stall. The stall test uses only these validations."""

    def add(self, step: int, result: ValidationResult, config: ControllerConfig) -> None:
        """Add a validation, unless its mean is not finite or no problem has a reward.

        A change in the number of problems removes earlier validations.
        """
        longest = 8 * config.stall_validations
        if not longest or not math.isfinite(result.mean) or not result.problems:
            return
        if self.rewards and len(result.rewards) != len(self.rewards[-1]):
            self.forget()
        self.steps = [*self.steps, step][-longest:]
        self.rewards = [*self.rewards, tuple(result.rewards)][-longest:]
        self.stretch = min(self.stretch + 1, longest)

    def find(self, config: ControllerConfig) -> Finding | None:
        """Return a finding if validation got worse or, failing that, stopped improving; else None."""
        for comparison in self.drops(config):
            if comparison.p < config.degrade_alpha:
                reason = f"validation got worse: {_described(comparison)}"
                evidence = comparison._asdict() | {"alpha": config.degrade_alpha}
                return Finding("degraded_validation", reason, evidence)
        for comparison in self.halves(config):
            if comparison.p < config.stall_alpha:
                reason = (
                    f"validation stalled: {_described(comparison)}, {comparison.gain_due:+.4f} due"
                )
                evidence = comparison._asdict() | {"alpha": config.stall_alpha}
                return Finding("stalled_validation", reason, evidence)
        return None

    def drops(self, config: ControllerConfig) -> Iterator[Comparison]:
        """Compare the newest K, then 2 K, validations with the 2 K to 4 K before; K is ``stall_validations``."""
        k, count = config.stall_validations, len(self.steps)
        for length in (k, 2 * k):
            first = count - length
            if k and first >= 2 * k:
                yield from self._compare(max(first - 4 * k, 0), first, 0.0)

    def halves(self, config: ControllerConfig) -> Iterator[Comparison]:
        """Compare the halves of the validations since ``begin_stretch``, if each has 2 ``stall_validations``."""
        k, count = config.stall_validations, len(self.steps)
        half = min(self.stretch, count) // 2
        if k and half >= 2 * k:
            middle = count - half
            before, after = self.steps[middle - half : middle], self.steps[middle:]
            apart = statistics.fmean(after) - statistics.fmean(before)
            yield from self._compare(middle - half, middle, config.stall_gain * apart / 1000)

    def begin_stretch(self) -> None:
        """Let ``halves`` use only validations that are added from now on."""
        self.stretch = 0

    def forget(self) -> None:
        self.steps, self.rewards, self.stretch = [], [], 0

    def to_json(self) -> dict[str, Any]:
        return {"steps": self.steps, "rewards": self.rewards, "stretch": self.stretch}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the history from a checkpoint. Raises UserError if rewards by problem are missing."""
        if "rewards" not in state:
            raise UserError(
                "the checkpoint was written by an older prorl and has no validation rewards by "
                "problem: continue with that version, or export the model and start a new run "
                "from it"
            )
        self.steps = [int(step) for step in state["steps"]]
        self.rewards = [tuple(rewards) for rewards in state["rewards"]]
        self.stretch = int(state["stretch"])

    def _compare(self, start: int, middle: int, due: float) -> Iterator[Comparison]:
        before, after = self.rewards[start:middle], self.rewards[middle:]
        pairs = [
            (x, y)
            for x, y in zip(_means(before), _means(after), strict=True)
            if x is not None and y is not None
        ]
        n = len(pairs)
        if n < 2:
            return
        gains = [y - x for x, y in pairs]
        gain = math.fsum(gains) / n
        spread = math.sqrt(math.fsum((g - gain) ** 2 for g in gains) / (n - 1))
        # if all problems moved alike, use at least the error of half an answer
        error = max(spread / math.sqrt(n), math.sqrt(0.5 / min(len(before), len(after))) / n)
        level = math.fsum(x for x, _ in pairs) / n
        yield Comparison(
            before=level,
            after=level + gain,
            gain=gain,
            paired_se=error,
            problems=n,
            before_steps=f"{self.steps[start]}-{self.steps[middle - 1]}",
            after_steps=f"{self.steps[middle]}-{self.steps[-1]}",
            gain_due=due,
            p=0.5 * math.erfc((due - gain) / error / math.sqrt(2)),
        )


def _means(stretch: Sequence[Rewards]) -> list[float | None]:
    means: list[float | None] = []
    for rewards in zip(*stretch, strict=True):
        scored = [r for r in rewards if r is not None] if None in rewards else rewards
        means.append(sum(scored) / len(scored) if scored else None)
    return means


def _described(comparison: Comparison) -> str:
    return (
        f"{comparison.before:.4f} in steps {comparison.before_steps}, {comparison.after:.4f} in {comparison.after_steps} "
        f"({comparison.gain:+.4f} ± {comparison.paired_se:.4f}, p {comparison.p:.2g})"
    )


def watched(samples: Sequence[Sample], count: int) -> list[Sample]:
    """Return at most ``count`` validation samples, balanced over domains, in the order of ``samples``."""
    by_domain: dict[str, list[int]] = {}
    for place, sample in enumerate(samples):
        by_domain.setdefault(sample.domain, []).append(place)
    shares = dict.fromkeys(by_domain, 0)
    for _ in range(min(count, len(samples))):
        open_domains = [d for d in by_domain if shares[d] < len(by_domain[d])]
        shares[min(open_domains, key=lambda d: shares[d])] += 1
    chosen = [
        places[i * len(places) // shares[domain]]
        for domain, places in by_domain.items()
        for i in range(shares[domain])
    ]
    return [samples[place] for place in sorted(chosen)]


def validate(
    samples: Sequence[Sample],
    config: TrainConfig,
    generator: Generator,
    scorer: Scorer,
    beat: Callable[[], None] = lambda: None,
    encode_answer: EncodeAnswer | None = None,
) -> Validation:
    """Sample and score validation problems, calling ``beat`` on progress. Environments need ``encode_answer``.

    The ``result`` is None if at least ``safety.infra_rate`` of the responses have no verdict.
    """
    started = time.perf_counter()
    v = config.validation
    if any(VERIFIERS.get(s.task.verifier).is_environment for s in samples):
        sampling = DynamicSamplingConfig(enabled=False)
        own: dict[str, float] = {"prompts": len(samples), "samples": v.samples}
        own |= {"temperature": v.temperature, "top_p": v.top_p}
        rollout = config.rollout.model_copy(update=own)
        settings = config.model_copy(update={"rollout": rollout, "dynamic_sampling": sampling})
        guard = Guard(config.safety.model_copy(update={"infra_rate": math.inf}))
        collector = Collector(generator, scorer, guard, beat, encode_answer=encode_answer)
        groups = collector.collect(iter(samples), 0, settings).sampled
        verdicts = [t.verdict for group in groups for t in group.trajectories]
    else:
        requests = [
            Request(
                s.prompt,
                tuple(derive_seed(config.seed, "validation", s.id, i) for i in range(v.samples)),
            )
            for s in samples
        ]
        params = SamplingParams(v.temperature, v.top_p, config.rollout.max_tokens)
        answers = generator.generate(requests, params, lambda _: beat())
        items = [(c.text, s.task) for s, cs in zip(samples, answers, strict=True) for c in cs]
        verdicts = score_or_infra(scorer, items)
    lost = sum(x.reward is None for x in verdicts)
    outage = lost > 0 and lost >= config.safety.infra_rate * len(verdicts)
    result = None if outage else _result(verdicts, v.samples)
    seconds = time.perf_counter() - started
    if result is None:
        return Validation(None, 0.0, {}, len(verdicts), lost, seconds)
    domains: dict[str, tuple[float, float]] = {}  # over problems with a verdict, as in the total
    for domain in sorted({s.domain for s in samples}):
        places = [i for i, s in enumerate(samples) if s.domain == domain]
        domain_verdicts = [x for i in places for x in verdicts[i * v.samples : (i + 1) * v.samples]]
        part = _result(domain_verdicts, v.samples)
        if part is not None:
            domains[domain] = part.mean, _pass_rate(domain_verdicts)
    return Validation(result, _pass_rate(verdicts), domains, len(verdicts), lost, seconds)


def _pass_rate(verdicts: Sequence[Verdict]) -> float:
    rewards = [v.reward for v in verdicts if v.reward is not None]
    return sum(r >= FULL_MARKS for r in rewards) / len(rewards)


def _result(verdicts: Sequence[Verdict], samples: int) -> ValidationResult | None:
    rewards: list[float | None] = []
    for start in range(0, len(verdicts), samples):
        problem_rewards = [
            v.reward for v in verdicts[start : start + samples] if v.reward is not None
        ]
        rewards.append(sum(problem_rewards) / len(problem_rewards) if problem_rewards else None)
    return result_of(rewards)


def result_of(rewards: Sequence[float | None]) -> ValidationResult | None:
    """Return the result of the problems' rewards, or None if no problem has one."""
    means = [reward for reward in rewards if reward is not None]
    if not means:
        return None
    mean = sum(means) / len(means)
    variance = sum((m - mean) ** 2 for m in means) / max(len(means) - 1, 1)
    return ValidationResult(mean, math.sqrt(variance / len(means)), tuple(rewards))
