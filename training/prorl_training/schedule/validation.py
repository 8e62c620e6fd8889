"""Validation in training: which problems a run watches, and how the policy does on them.

The same problems and the same random numbers at every validation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from prorl_common import derive_seed
from prorl_datasets import Sample
from prorl_inference import Generator, Request, SamplingParams
from prorl_training.config import TrainConfig
from prorl_training.rollout.scoring import score_or_infra
from prorl_training.rollout.types import FULL_MARKS, Scorer
from prorl_training.schedule.validation_history import ValidationResult
from prorl_verifiers import Verdict


def watched(samples: Sequence[Sample], count: int) -> list[Sample]:
    """Return at most ``count`` samples: equal numbers of each domain as far as they last, in the
    order given.
    """
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
) -> tuple[ValidationResult | None, dict[str, Any]]:
    """Sample and score the watched problems; return the result and the keys for the step's line.

    The result's mean is over problems that have a verdict, its standard error is between problems
    (sample standard deviation / sqrt(problems)). None when ``safety.infra_rate`` of the responses or more
    have no verdict: what is left says more of the outage than of the policy. Among the keys
    ``validation_rewards`` holds each problem's mean (None without a verdict), which the controller's tests
    pair, and ``domains`` each domain's part. ``beat``: something moved.
    """
    started = time.perf_counter()
    v = config.validation
    requests = [
        Request(
            s.prompt,
            tuple(derive_seed(config.seed, "validation", s.id, i) for i in range(v.samples)),
        )
        for s in samples
    ]
    params = SamplingParams(v.temperature, v.top_p, config.rollout.max_tokens)
    answers = generator.generate(requests, params, lambda _: beat())
    asked = [(c.text, s.task) for s, cs in zip(samples, answers, strict=True) for c in cs]
    verdicts = score_or_infra(scorer, asked)
    lost = sum(x.reward is None for x in verdicts)
    outage = lost > 0 and lost >= config.safety.infra_rate * len(verdicts)
    result = None if outage else _result(verdicts, v.samples)
    row: dict[str, Any] = {
        "validation_infra_errors": lost,
        "validation_seconds": round(time.perf_counter() - started, 3),
    }
    if result is None:
        return None, row
    domains: dict[str, dict[str, float]] = {}  # of those that got a verdict, as over all
    for domain in sorted({s.domain for s in samples}):
        places = [i for i, s in enumerate(samples) if s.domain == domain]
        own = [x for i in places for x in verdicts[i * v.samples : (i + 1) * v.samples]]
        part = _result(own, v.samples)
        if part is not None:
            domains[domain] = {
                "validation_reward": part.mean,
                "validation_pass_rate": _pass_rate(own),
            }
    row |= {
        "validation_reward": result.mean,
        "validation_se": result.standard_error,
        "validation_problems": result.problems,
        "validation_rewards": list(result.rewards),
        "validation_pass_rate": _pass_rate(verdicts),
        "domains": domains,
    }
    return result, row


def _pass_rate(verdicts: Sequence[Verdict]) -> float:
    rewards = [v.reward for v in verdicts if v.reward is not None]
    return sum(r >= FULL_MARKS for r in rewards) / len(rewards)


def _result(verdicts: Sequence[Verdict], samples: int) -> ValidationResult | None:
    rewards: list[float | None] = []
    for start in range(0, len(verdicts), samples):
        found = [v.reward for v in verdicts[start : start + samples] if v.reward is not None]
        rewards.append(sum(found) / len(found) if found else None)
    means = [reward for reward in rewards if reward is not None]
    if not means:
        return None
    mean = sum(means) / len(means)
    variance = sum((m - mean) ** 2 for m in means) / max(len(means) - 1, 1)
    return ValidationResult(mean, math.sqrt(variance / len(means)), tuple(rewards))
