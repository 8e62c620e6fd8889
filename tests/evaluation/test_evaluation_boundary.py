from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy import stats

from prorl_evaluation import (
    BoundaryOptions,
    EvalResult,
    EvalSettings,
    EvaluationError,
    ProblemResult,
    Resampling,
    boundary_report,
    compare,
    gain_against_base,
    solvable_changes,
)
from prorl_evaluation.boundary.changes import spearman
from prorl_evaluation.boundary.tables import boundary_tables, suspicion_table, suspicions
from prorl_evaluation.boundary.types import GainPoint
from prorl_evaluation.summary import group_results
from prorl_evaluation.types import Label

N = 64


def test_a_change_has_one_interval_in_the_comparison_and_in_the_boundary_report() -> None:
    domains = ["logic"] * 15 + ["math"] * 12
    first = result("base", [problem(str(i), i, domain=d) for i, d in enumerate(domains)])
    last = result("last", [problem(str(i), i + i % 5, domain=d) for i, d in enumerate(domains)])
    report, comparison = boundary_report([first, last]), compare(first, last)
    for group in report.groups[:3]:
        for change in group.changes[0]:
            found = comparison.find(group.name, change.metric)
            assert found is not None
            assert found.interval.value == pytest.approx(change.interval.value)
            assert (found.interval.low, found.interval.high) == pytest.approx(
                (change.interval.low, change.interval.high)
            )
    for group in report.groups[:3]:
        for r, curve in zip((first, last), group.curves, strict=True):
            own = r.group(group.name)
            assert own is not None
            assert all(
                own.pass_at_k[k].high == pytest.approx(curve.points[k].high) for k in (1, 8, 32)
            )


def problem(
    name: str, c: int, n: int = N, domain: str = "logic", labels: dict[str, Label] | None = None
) -> ProblemResult:
    return ProblemResult(
        id=name,
        domain=domain,
        prompt_sha256=f"p-{name}",
        task_sha256=f"t-{name}",
        sampled=n,
        n=n,
        c=c,
        reward_mean=c / n if n else math.nan,
        infra_errors=0,
        timeouts=0,
        unparsable=0,
        truncated=0,
        tokens=100 * n + c,
        labels=labels or {},
    )


def result(label: str, problems: Sequence[ProblemResult], n: int = N) -> EvalResult:
    settings = EvalSettings(n=n, k=n // 2, draws=1000, label=label)
    return EvalResult(
        model_id=label,
        model_digest=label,
        settings=settings,
        problems=tuple(problems),
        groups=group_results(problems, settings),
        isolation=(),
        examples=(),
        tokens=0,
        sampling_seconds=0.0,
        wall_seconds=0.0,
        created="",
    )


def drawn(
    label: str, rate: Callable[[float], float], count: int = 80, seed: int = 0, task: str = "dice"
) -> EvalResult:
    """Return problems whose base rate is drawn from Beta(0.4, 1) and changes by ``rate``."""
    base = np.random.default_rng(99).beta(0.4, 1.0, count)
    rng = np.random.default_rng([seed, len(label)])
    counts = rng.binomial(N, [min(1.0, max(0.0, rate(float(p)))) for p in base])
    labels: dict[str, Label] = {"family": task}
    return result(label, [problem(f"q{i}", int(c), labels=labels) for i, c in enumerate(counts)])


def test_a_boundary_that_keeps_rising_is_called_sustained() -> None:
    results = [
        drawn("base", lambda p: p * (p > 0.2)),
        drawn("half", lambda p: p + 0.02 * (p > 0.1)),
        drawn("full", lambda p: p + 0.1),
    ]
    report = boundary_report(results)
    half, full = report.claims
    assert report.k == 32 and (half.regime, full.regime) == ("sustained", "sustained")
    assert "cannot be distinguished" in half.reason and "since the checkpoint before" in full.reason
    assert full.p_corrected <= 0.05 and len(full.tests) == 2
    assert report.hypotheses == 3 + 4


def test_a_boundary_that_rose_once_and_stood_still_is_called_a_plateau() -> None:
    def lifted(p: float) -> float:
        return p + 0.15

    results = [
        drawn("base", lambda p: p * (p > 0.2)),
        drawn("early", lifted),
        drawn("later", lifted, seed=5),
    ]
    claim = boundary_report(results).claims[1]
    assert claim.regime == "plateau" and "then changed by less than 0.05" in claim.reason


def test_sharper_answers_on_fewer_problems_are_called_fell() -> None:
    results = [drawn("base", lambda p: p), drawn("rl", lambda p: 2 * p * (p > 0.15))]
    report = boundary_report(results)
    first = report.groups[0].changes[0][0]
    assert first.metric == "pass@1" and first.interval.low > 0
    assert report.claims[0].regime == "fell" and report.claims[0].reason == "pass@32 fell"


def test_pass_at_1_that_rises_without_the_boundary_is_called_sharpened_only() -> None:
    results = [
        drawn("base", lambda p: 0.5 * p + 0.2 if p > 0.3 else 0.0),
        drawn("rl", lambda p: 0.5 * p + 0.4 if p > 0.3 else 0.0),
    ]
    claim = boundary_report(results).claims[0]
    assert claim.regime == "sharpened only" and "changed by less than 0.05" in claim.reason


def test_a_baseline_at_the_ceiling_is_not_called_sharpened_only() -> None:
    results = [drawn("base", lambda p: 0.5 * p + 0.2), drawn("rl", lambda p: 0.5 * p + 0.4)]
    claim = boundary_report(results).claims[0]
    assert claim.regime == "undecided" and "within 0.05 of 1" in claim.reason


def test_problems_without_a_verdict_make_no_claim_surer() -> None:
    def problems(after: int, empty: int) -> list[ProblemResult]:
        judged = [problem(str(i), after if i < 4 else 3 * i) for i in range(12)]
        return [*judged, *(problem(f"e{i}", 0, n=0) for i in range(empty))]

    reports = [
        boundary_report([result("base", problems(0, e)), result("rl", problems(N, e))])
        for e in (0, 48)
    ]
    alone, beside = (r.groups[0].changes[0] for r in reports)
    for a, b in zip(alone, beside, strict=True):
        if a.metric != "length":
            assert (a.interval.low, a.p_up) == pytest.approx((b.interval.low, b.p_up))
            assert b.interval.undefined == 48


def test_true_changes_of_solved_problems_lift_no_lost_one_into_the_shown() -> None:
    rng = np.random.default_rng(1)  # corrected over all problems, one would be shown
    before = [*rng.binomial(N, 0.4, 300), *rng.binomial(N, 0.02, 300)]
    after = [*rng.binomial(N, 0.7, 300), *rng.binomial(N, 0.02, 300)]
    pairs = [
        (problem(str(i), int(b)), problem(str(i), int(a)))
        for i, (b, a) in enumerate(zip(before, after, strict=True))
    ]
    found = solvable_changes(pairs, ("base", "rl"))
    assert found.gained and found.lost and not found.gained_shown and not found.lost_shown


def test_no_change_on_few_problems_is_undecided_and_never_called_unchanged() -> None:
    results = [drawn("base", lambda p: p, 24), drawn("rl", lambda p: p, 24, seed=3)]
    claim = boundary_report(results).claims[0]
    assert claim.regime == "undecided" and "nothing is shown" in claim.reason
    assert claim.p_corrected > 0.05
    few = boundary_report([drawn("base", lambda p: p, 6), drawn("rl", lambda p: p + 0.5, 6)])
    assert few.claims[0].reason == "6 problems: too few to say"
    assert math.isnan(few.claims[0].p_corrected) and few.hypotheses == 0


def test_many_groups_without_a_change_yield_no_claim_after_correction() -> None:
    # 30 tasks of 30 problems: some of their 90 candidate claims would pass at 5 % without correction.
    rng = np.random.default_rng(2)
    sides: list[list[ProblemResult]] = [[], []]
    for task in range(30):
        for i in range(30):
            rate = rng.beta(0.3, 2.0)
            for side in sides:
                labels: dict[str, Label] = {"family": f"task{task}"}
                side.append(problem(f"{task}-{i}", int(rng.binomial(N, rate)), labels=labels))
    report = boundary_report([result("base", sides[0]), result("rl", sides[1])])
    assert len(report.groups) == 31 and report.hypotheses == 93
    tasks = [c for c in report.claims if c.kind == "task"]
    assert min(t.p for c in report.claims for t in c.tests) < 0.05
    assert {c.regime for c in tasks} == {"undecided"}


def test_groups_with_the_same_problems_are_tested_once() -> None:
    results = [drawn("base", lambda p: p), drawn("rl", lambda p: p + 0.1)]
    assert [g.kind for g in boundary_report(results).groups] == ["overall"]


def test_clusters_of_tasks_make_the_overall_interval_wider() -> None:
    rng = np.random.default_rng(7)
    sides: list[list[ProblemResult]] = [[], []]
    for task in range(8):
        lift = rng.random()
        labels: dict[str, Label] = {"family": f"task{task}"}
        for i in range(20):
            sides[0].append(problem(f"{task}-{i}", 4, labels=labels))
            sides[1].append(problem(f"{task}-{i}", 4 + int(40 * lift), labels=labels))
    results = [result("base", sides[0]), result("rl", sides[1])]
    narrow, wide = (
        boundary_report(results, BoundaryOptions(cluster=c)).groups[0].changes[0][0].interval
        for c in ("problem", "task")
    )
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    with pytest.raises(EvaluationError, match="problem or task"):
        boundary_report(results, BoundaryOptions(cluster="domain"))


def test_only_problems_that_all_share_enter_and_the_rest_is_said() -> None:
    a = result("a", [problem(f"q{i}", 3) for i in range(12)])
    b = result("b", [problem(f"q{i}", 3) for i in range(2, 14)])
    report = boundary_report([a, b])
    assert report.groups[0].problems == 10
    assert [line.split(":")[0] for line in report.warnings] == ["a", "b"]
    with pytest.raises(EvaluationError, match="two or more"):
        boundary_report([a])
    with pytest.raises(EvaluationError, match="no problem in common"):
        boundary_report([a, result("c", [problem("other", 1)])])


def test_a_k_near_n_is_used_only_when_asked_for_and_warned_of() -> None:
    results = [drawn("base", lambda p: p), drawn("rl", lambda p: p)]
    assert boundary_report(results).near_n == ()
    asked = boundary_report(results, BoundaryOptions(k=48))
    assert asked.k == 48 and "pass@48" in asked.near_n[0]
    with pytest.raises(EvaluationError, match="use 1 to 64"):
        boundary_report(results, BoundaryOptions(k=65))


def test_solvable_sets_name_luck_and_show_only_what_a_test_shows() -> None:
    names = [f"q{i}" for i in range(40)]
    before = [problem(n, 0 if i < 30 else 20) for i, n in enumerate(names)]
    after = [problem(n, 1 if i < 5 else 40 if i < 8 else 0) for i, n in enumerate(names)]
    pairs = [*zip(before, after, strict=True), (problem("z", 0, 0), problem("z", 3))]
    found = solvable_changes(pairs, ("base", "rl"))
    assert len(found.gained) == 8 and found.gained_shown == ("q5", "q6", "q7")
    assert len(found.lost) == len(found.lost_shown) == 10
    assert (found.neither, found.both, found.unjudged) == (22, 0, ("z",))
    # Each single success was as likely to fall on the other side, which gives five halves.
    assert found.gained_by_luck == pytest.approx(2.5, abs=1e-4)


def test_gain_against_base_is_spearmans_and_needs_groups() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 6, 25).astype(float), rng.random(25)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    points = [GainPoint(f"t{i}", i / 10, 0.5 - i / 20, 30) for i in range(10)]
    found = gain_against_base(32, points, Resampling(draws=200))
    assert found.correlation.value == found.correlation.low == -1.0
    assert math.isnan(gain_against_base(32, points[:4]).correlation.value)
    equal = [GainPoint(f"t{i}", 0.2, i / 10, 30) for i in range(8)]
    assert math.isnan(gain_against_base(32, equal).correlation.value)


@pytest.mark.parametrize("order", [("1", "10", "2"), ("hard", "easy", "medium"), ("2", 10, 3)])
def test_rungs_stand_by_size_or_by_word(order: tuple[Label, ...]) -> None:
    labels: list[dict[str, Label]] = [{"family": "t", "rung": rung} for rung in order]
    one = result("a", [problem(str(i), i, labels=own) for i, own in enumerate(labels)])
    (ladder, *_) = boundary_report([one, one]).ladders
    names = [r.name for r in ladder.rungs]
    assert names in (["1", "2", "10"], ["easy", "medium", "hard"], ["2", "3", "10"])


def test_what_a_server_refused_is_in_no_length() -> None:
    whole = result("a", [problem(str(i), 5) for i in range(12)])
    half = [
        dataclasses.replace(p, sampled=N, n=N // 2, refused=N // 2, tokens=p.tokens // 2)
        for p in whole.problems
    ]
    report = boundary_report([whole, result("b", half)])
    length = next(c for c in report.groups[0].changes[0] if c.metric == "length")
    assert length.before == pytest.approx(length.after, abs=1.0)


def test_ladders_are_ordered_by_difficulty_and_not_by_appearance() -> None:
    def rung(value: Label, c: int, i: int, key: str) -> ProblemResult:
        labels: dict[str, Label] = {"family": f"graph-{key}", key: value}
        return problem(f"{key}-{value}-{i}", c, labels=labels)

    def model(label: str, scale: int) -> EvalResult:
        sizes = [(20, 1), (5, 9), (10, 4)]
        found = [rung(v, c * scale, i, "rung") for v, c in sizes for i in range(10)]
        words: list[tuple[Label, int]] = [("hard", 1), ("easy", 9)]
        found += [rung(v, c * scale, i, "difficulty") for v, c in words for i in range(10)]
        return result(label, found)

    report = boundary_report([model("base", 1), model("rl", 3)])
    ladders = {(x.task, x.metric): x for x in report.ladders}
    assert {m for _, m in ladders} == {"pass@1", "pass@32", "reward"}
    graph = ladders[("graph-rung", "pass@1")]
    assert [r.value for r in graph.rungs] == [5.0, 10.0, 20.0]
    assert [r.values[1].value for r in graph.rungs] == pytest.approx([27 / 64, 12 / 64, 3 / 64])
    assert [r.name for r in ladders[("graph-difficulty", "reward")].rungs] == ["easy", "hard"]


def test_the_report_is_json_and_every_table_is_text() -> None:
    labels: list[dict[str, Label]] = [{"family": f"t{i % 6}", "rung": i % 3} for i in range(90)]
    rng = np.random.default_rng(0)
    sides = [
        [problem(f"q{i}", int(rng.binomial(N, 0.1 * (s + 1))), labels=labels[i]) for i in range(90)]
        for s in range(3)
    ]
    results = [result(f"m{s}", side) for s, side in enumerate(sides)]
    report = boundary_report(results)
    row = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert row["format"] == 1 and row["groups"][0]["curves"][0]["points"]["1"]["count"] == 90
    assert len(row["groups"][1]["claims"]) == 2
    lengths = [c for c in report.groups[0].changes[1] if c.metric == "length"]
    assert lengths[0].interval.low > 0 and lengths[0].before == pytest.approx(100.1, abs=0.1)
    tables = boundary_tables(report)
    assert [t.title.split(" ")[0] for t in tables[:4]] == [
        "Boundary",
        "Solved",
        "Generated",
        "Gain",
    ]
    tables += [suspicion_table(suspicions(results, 0.01), 0.01)]
    assert all(len(r) == len(t.head) for t in tables for r in t.rows)
    assert all(isinstance(cell, str) for t in tables for r in t.rows for cell in r)
