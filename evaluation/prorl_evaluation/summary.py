"""From samples and verdicts to the numbers: per problem, per domain and overall, with intervals.

Every problem weighs the same. The overall interval keeps each domain's number of problems (stratified by
domain). Leaves out: comparing two results (``compare``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from prorl_common import derive_seed
from prorl_evaluation.bootstrap import bootstrap_columns
from prorl_evaluation.journal import EvalJournal, Problem, SampleRecord, VerdictRecord
from prorl_evaluation.passk import ks_up_to, pass_at_k
from prorl_evaluation.types import (
    FULL_MARKS,
    OVERALL,
    EvalSettings,
    Example,
    GroupResult,
    ProblemResult,
)

EXAMPLES_A_DOMAIN = 2
EXAMPLE_CHARACTERS = 4000

Graded = tuple[SampleRecord, VerdictRecord]


def graded(problem: Problem, journal: EvalJournal, n: int) -> list[Graded]:
    """Return the problem's first ``n`` samples with their verdicts; both journals must hold them."""
    found = []
    for index in range(n):
        key = journal.keys.key(problem.id, problem.prompt_sha256, index)
        found.append((journal.samples[key], journal.verdicts[(key, problem.task_sha256)]))
    return found


def problem_result(problem: Problem, rows: Sequence[Graded]) -> ProblemResult:
    """Count one problem's samples; infra errors stay out of ``n`` and ``c``."""
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
    )


def group_results(
    problems: Sequence[ProblemResult], settings: EvalSettings
) -> tuple[GroupResult, ...]:
    """Return the overall result, then one for each domain in order of first appearance."""
    domains = list(dict.fromkeys(p.domain for p in problems))
    groups = [_group(OVERALL, problems, settings)]
    groups += [_group(d, [p for p in problems if p.domain == d], settings) for d in domains]
    return tuple(groups)


def _group(name: str, problems: Sequence[ProblemResult], settings: EvalSettings) -> GroupResult:
    ks = ks_up_to(settings.n, [settings.k])
    rows = [
        [
            *(pass_at_k(p.n, p.c, k) for k in ks),
            p.reward_mean,
            p.tokens / p.sampled if p.sampled else math.nan,
        ]
        for p in problems
    ]
    intervals = bootstrap_columns(
        rows,
        strata=[p.domain for p in problems],
        level=settings.level,
        draws=settings.draws,
        seed=derive_seed(settings.seed, "bootstrap", name),
    )
    sampled = sum(p.sampled for p in problems)
    scored = sum(p.n for p in problems)
    stated = [p.chance for p in problems if p.chance is not None]
    return GroupResult(
        name=name,
        problems=len(problems),
        sampled=sampled,
        infra_errors=sum(p.infra_errors for p in problems),
        pass_at_k=dict(zip(ks, intervals, strict=False)),
        reward=intervals[-2],
        length=intervals[-1],
        truncation_rate=_share(sum(p.truncated for p in problems), sampled),
        unparsable_rate=_share(sum(p.unparsable for p in problems), scored),
        timeout_rate=_share(sum(p.timeouts for p in problems), scored),
        chance=math.fsum(stated) / len(problems) if stated else math.nan,
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def pick_examples(problems: Sequence[Problem], journal: EvalJournal) -> tuple[Example, ...]:
    """Return sample 0 of the first problems of each domain: chosen by place, never by outcome."""
    taken: dict[str, int] = {}
    found = []
    for problem in problems:
        if taken.get(problem.domain, 0) >= EXAMPLES_A_DOMAIN:
            continue
        taken[problem.domain] = taken.get(problem.domain, 0) + 1
        sample, verdict = graded(problem, journal, 1)[0]
        prompt = "\n\n".join(f"{m['role']}: {m['content']}" for m in problem.prompt)
        found.append(
            Example(
                id=problem.id,
                domain=problem.domain,
                prompt=_shorten(prompt),
                response=_shorten(sample.text),
                reward=verdict.reward,
                status=verdict.status,
                reason=_shorten(verdict.reason),
            )
        )
    return tuple(found)


def _shorten(text: str) -> str:
    if len(text) <= EXAMPLE_CHARACTERS:
        return text
    return f"{text[:EXAMPLE_CHARACTERS]} [... {len(text) - EXAMPLE_CHARACTERS} more characters]"
