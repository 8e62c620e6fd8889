"""Summarises verdicts by problem, by domain and overall."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from prorl_common import derive_seed
from prorl_evaluation.metrics import g_pass_at_k, ks_up_to, maj_at_k, pass_at_k_table, tally
from prorl_evaluation.sampling.journal import EvalJournal, Problem, SampleRecord, VerdictRecord
from prorl_evaluation.stats.fixed_set import fixed_interval
from prorl_evaluation.stats.intervals import (
    Interval,
    Resampling,
    Units,
    bounded_columns,
    expanded_columns,
)
from prorl_evaluation.types import (
    FULL_MARKS,
    OVERALL,
    EvalSettings,
    Example,
    GroupResult,
    ProblemResult,
)
from prorl_verifiers import VERIFIERS

EXAMPLES_A_DOMAIN = 2
EXAMPLE_CHARACTERS = 4000
STABLE_K, STABLE_TAUS = 16, (0.5, 1.0)
"""The reported G-Pass@k: at least half of 16 samples correct, and all of them correct."""

Graded = tuple[SampleRecord, VerdictRecord]


def graded(problem: Problem, journal: EvalJournal, n: int) -> list[Graded]:
    rows = []
    for index in range(n):
        key = journal.keys.key(problem.id, problem.prompt_sha256, index)
        rows.append((journal.samples[key], journal.verdicts[(key, problem.task_sha256)]))
    return rows


def problem_result(problem: Problem, rows: Sequence[Graded]) -> ProblemResult:
    """Count one problem's verdicts and, if the verifier supports majority votes, its distinct answers."""
    vote = VERIFIERS.get(problem.task.verifier).data.vote
    result = counted(problem, rows)
    if vote is None:
        return result
    judged = [(v.extracted, v.reward) for _, v in rows if v.reward is not None]
    answers = tally((text and vote(text), reward >= FULL_MARKS) for text, reward in judged)
    return dataclasses.replace(result, answers=answers)


def counted(problem: Problem, rows: Sequence[Graded]) -> ProblemResult:
    rewards = [v.reward for _, v in rows if v.reward is not None]
    statuses = [v.status for _, v in rows]
    return ProblemResult(
        id=problem.id,
        domain=problem.domain,
        prompt_sha256=problem.prompt_sha256,
        task_sha256=problem.task_sha256,
        sampled=len(rows),
        n=len(rewards),
        c=sum(r >= FULL_MARKS for r in rewards),
        reward_mean=math.fsum(rewards) / len(rewards) if rewards else math.nan,
        infra_errors=statuses.count("infra_error"),
        timeouts=statuses.count("timeout"),
        unparsable=statuses.count("unparsable"),
        truncated=sum(s.finish_reason == "length" for s, _ in rows),
        tokens=sum(s.tokens for s, _ in rows),
        chance=problem.chance,
        labels=dict(problem.labels),
        refused=sum(s.refused for s, _ in rows),
    )


def group_results(
    problems: Sequence[ProblemResult], settings: EvalSettings
) -> tuple[GroupResult, ...]:
    domains = list(dict.fromkeys(p.domain for p in problems))
    groups = [_group(OVERALL, problems, settings)]
    groups += [_group(d, [p for p in problems if p.domain == d], settings) for d in domains]
    return tuple(groups)


def _group(name: str, problems: Sequence[ProblemResult], settings: EvalSettings) -> GroupResult:
    import numpy as np

    ks = ks_up_to(settings.n, [settings.k])
    # G-Pass@k uses k = 16, or the largest power of two up to n/2 if n/2 is smaller
    half = max((k for k in ks_up_to(min(settings.n // 2, STABLE_K)) if k > 1), default=0)
    stable = [(f"G-Pass@{half}({tau:g})", half, tau) for tau in STABLE_TAUS] if half else []
    seed = derive_seed(settings.seed, "bootstrap", name)
    how = Resampling(settings.level, settings.draws, seed)
    strata = [p.domain for p in problems]
    rates = [
        [*(g_pass_at_k(p.n, p.c, k, tau) for _, k, tau in stable), p.reward_mean] for p in problems
    ]
    table = np.hstack([pass_at_k_table(problems, ks), np.array(rates, dtype=np.float64)])
    bounded = bounded_columns(table, (0.0, 1.0), Units(strata=strata), how)
    lengths = [[p.length] for p in problems]
    majority: dict[int, Interval] = {}
    if voting := [p for p in problems if p.answers is not None]:
        votes = [
            maj_at_k(p.answers or (), p.n, ks, derive_seed(settings.seed, "majority", p.id))
            for p in voting
        ]
        units = Units(strata=[p.domain for p in voting])
        majority = dict(zip(ks, bounded_columns(votes, (0.0, 1.0), units, how), strict=True))
    sampled = sum(p.sampled for p in problems)
    scored = sum(p.n for p in problems)
    infra_errors = sum(p.infra_errors for p in problems)
    stated = [p.chance for p in problems if p.chance is not None]
    return GroupResult(
        name=name,
        problems=len(problems),
        sampled=sampled,
        infra_errors=infra_errors,
        pass_at_k=dict(zip(ks, bounded, strict=False)),
        reward=bounded[-1],
        length=expanded_columns(lengths, Units(strata=strata), how)[0],
        truncation_rate=_share(
            sum(p.truncated for p in problems), sum(p.answered for p in problems)
        ),
        unparsable_rate=_share(sum(p.unparsable for p in problems), scored),
        timeout_rate=_share(sum(p.timeouts for p in problems), scored),
        chance=math.fsum(stated) / len(problems) if stated else math.nan,
        infra_error_rate=_share(infra_errors, sampled),
        maj_at_k=majority,
        g_pass={g[0]: bounded[len(ks) + i] for i, g in enumerate(stable)},
        fixed_pass_at_k={k: fixed_interval(problems, k, settings.level) for k in ks},
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def pick_examples(problems: Sequence[Problem], journal: EvalJournal) -> tuple[Example, ...]:
    """Return the first sample of the first EXAMPLES_A_DOMAIN problems in each domain."""
    taken: dict[str, int] = {}
    examples = []
    for problem in problems:
        if taken.get(problem.domain, 0) >= EXAMPLES_A_DOMAIN:
            continue
        taken[problem.domain] = taken.get(problem.domain, 0) + 1
        sample, verdict = graded(problem, journal, 1)[0]
        examples.append(
            Example(
                id=problem.id,
                domain=problem.domain,
                prompt=_shorten(_as_text(problem.prompt)),
                response=_shorten(_as_text(sample.turns) or sample.text),
                reward=verdict.reward,
                status=verdict.status,
                reason=_shorten(verdict.reason),
            )
        )
    return tuple(examples)


def _as_text(messages: Sequence[Mapping[str, str]]) -> str:
    return "\n\n".join(f"{m['role']}: {m['content']}" for m in messages)


def _shorten(text: str) -> str:
    if len(text) <= EXAMPLE_CHARACTERS:
        return text
    return f"{text[:EXAMPLE_CHARACTERS]} [... {len(text) - EXAMPLE_CHARACTERS} more characters]"
