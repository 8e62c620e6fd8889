from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest

from prorl_common import NullProgress
from prorl_datasets import Sample
from prorl_evaluation import (
    EvalResult,
    EvalSettings,
    EvaluationError,
    evaluate,
    g_pass_at_k,
    load_result,
    regrade,
)
from prorl_evaluation.compare import compare
from prorl_evaluation.report.markdown import format_table
from prorl_evaluation.tables import interval_table, near_n_lines, rate, result_table
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_verifiers import Task

SETTINGS = EvalSettings(n=16, k=8, draws=300)


def run(
    out: Path, samples: list[Sample], scorer: FakeScorer | None = None, percent: int = 60
) -> EvalResult:
    generator = FakeGenerator(percent=percent)
    return evaluate(generator, samples, SETTINGS, out, scorer or FakeScorer(), NullProgress())


def as_verifier(samples: list[Sample], verifier: str) -> list[Sample]:
    task = Task(verifier, {"answer": "yes"})
    return [dataclasses.replace(s, task=task) for s in samples]


def test_answers_of_math_are_put_to_the_vote_and_those_of_logic_are_not(tmp_path: Path) -> None:
    samples = [*make_samples(20), *as_verifier(make_samples(4, "logic"), "logic")]
    result = run(tmp_path, samples)
    overall, math_group, logic = result.groups
    # 60 % say "yes": the vote amplifies the majority, and k = 1 is pass@1.
    assert math_group.maj_at_k[1].value == pytest.approx(math_group.pass_at_k[1].value)
    assert math_group.maj_at_k[8].value > math_group.maj_at_k[1].value + 0.05
    assert math_group.maj_at_k[8].value < math_group.pass_at_k[8].value
    assert overall.maj_at_k[8].count == 20 and logic.maj_at_k == {}
    assert result.problems[0].answers is not None and result.problems[20].answers is None
    table = result_table(result)
    assert "maj@8" in table.head and table.rows[2][table.head.index("maj@8")] == "-"


def test_stability_is_kept_at_half_and_at_all_of_eight_samples(tmp_path: Path) -> None:
    result = run(tmp_path, make_samples(6))
    found = result.overall.g_pass
    assert list(found) == ["G-Pass@8(0.5)", "G-Pass@8(1)"]
    means = [g_pass_at_k(p.n, p.c, 8, 0.5) for p in result.problems]
    assert found["G-Pass@8(0.5)"].value == pytest.approx(sum(means) / 6)


def test_labels_of_the_metadata_reach_the_result_and_survive_regrading(tmp_path: Path) -> None:
    metadata = {"family": "dice", "rung": 5, "benchmark": "rg", "config": {"x": 1}, "level": None}
    samples = [dataclasses.replace(s, metadata=metadata) for s in make_samples(2)]
    result = run(tmp_path, samples)
    expected = {"family": "dice", "rung": 5, "benchmark": "rg"}
    assert [dict(p.labels) for p in result.problems] == [expected, expected]
    again = regrade(tmp_path, FakeScorer(), NullProgress()).result
    assert again.problems == result.problems == load_result(tmp_path).problems


def test_no_problem_is_dropped_silently_when_the_verifier_is_broken(tmp_path: Path) -> None:
    result = run(tmp_path, make_samples(8), FakeScorer(broken="no"), percent=50)
    overall = result.overall
    lost = sum(p.infra_errors for p in result.problems)
    assert overall.infra_error_rate == lost / (8 * 16) > 0
    at_8 = overall.pass_at_k[8]
    assert at_8.count + at_8.undefined == 8
    assert at_8.undefined == sum(p.n < 8 for p in result.problems)


def test_rates_are_shown_at_zero_too(tmp_path: Path) -> None:
    table = result_table(run(tmp_path, make_samples(3)))
    assert table.head[-3:] == ("cut", "unparsable", "infra")
    assert table.rows[0][-2:] == ("0%", "0%")
    assert (rate(0.0), rate(0.0004), rate(0.126), rate(math.nan)) == ("0%", "0.0%", "12.6%", "-")
    assert format_table(table).splitlines()[2].startswith("|   | problems | pass@1 |")


def test_a_k_above_half_of_n_is_starred_and_said(tmp_path: Path) -> None:
    settings = EvalSettings(n=8, k=8, draws=100)
    scorer = FakeScorer()
    result = evaluate(FakeGenerator(), make_samples(2), settings, tmp_path, scorer, NullProgress())
    table = result_table(result)
    assert "pass@8*" in table.head and "pass@1" in table.head and "* k above n/2" in table.title
    assert len(near_n_lines([result])) == 1


def test_a_result_of_the_first_format_is_read_with_what_it_lacks_unknown(tmp_path: Path) -> None:
    result = run(tmp_path, make_samples(3))
    file = tmp_path / "result.json"
    row = json.loads(file.read_text())
    row["format"] = 1
    for problem in row["problems"]:
        del problem["labels"], problem["answers"]
    for group in row["groups"]:
        del group["infra_error_rate"], group["maj_at_k"], group["g_pass"], group["fixed_pass_at_k"]
    file.write_text(json.dumps(row))
    old = load_result(tmp_path)
    assert old.overall.pass_at_k == result.overall.pass_at_k
    assert old.overall.fixed_pass_at_k == result.overall.fixed_pass_at_k  # computed from the counts
    assert math.isnan(old.overall.infra_error_rate) and old.overall.maj_at_k == {}
    assert old.problems[0].labels == {} and old.problems[0].answers is None
    assert result_table(old).rows[0][-1] == "0%"
    file.write_text(json.dumps({**row, "format": 3}))
    with pytest.raises(EvaluationError, match="formats 1 and 2: run its pass-at-k command again"):
        load_result(tmp_path)


@pytest.mark.parametrize(
    ("part", "key", "value", "words"),
    [
        ("settings", "level", 2.0, "level is 2.0"),
        ("settings", "temperature", "hot", "temperature is 'hot'"),
        ("settings", "n", 8.5, "n is 8.5"),
        ("problem", "id", "math-1", "a problem id occurs twice"),
        ("problem", "id", 7, "of the wrong type"),
        ("problem", "labels", ["x"], "of the wrong type"),
    ],
)
def test_a_result_with_a_value_that_cannot_be_is_none(
    tmp_path: Path, part: str, key: str, value: object, words: str
) -> None:
    run(tmp_path, make_samples(3))
    file = tmp_path / "result.json"
    row = json.loads(file.read_text())
    (row["settings"] if part == "settings" else row["problems"][0])[key] = value
    file.write_text(json.dumps(row))
    with pytest.raises(EvaluationError, match=f"is not a result of prorl eval .*{words}"):
        load_result(tmp_path)


def test_both_intervals_are_shown_and_each_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, make_samples(12))
    table = interval_table([result], [compare(result, result)])
    assert table.head[3:] == ("problems like these", "these very problems, sampled again")
    level, change = table.rows[0], table.rows[-1]
    assert level[2] == "pass@1" and level[3].split()[0] == level[4].split()[0]
    assert change[3].startswith("+0.000") and change[4].startswith("+0.000")
