from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from prorl_common import NullProgress
from prorl_datasets import Sample
from prorl_evaluation import EvalResult, EvalSettings, EvaluationError, compare, evaluate
from prorl_evaluation.compare import Comparison, Difference
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_verifiers import Task

SETTINGS = EvalSettings(n=16, k=8, draws=1000)


def result(
    out: Path, samples: list[Sample], percent: int, settings: EvalSettings = SETTINGS
) -> EvalResult:
    generator = FakeGenerator(model_id=f"m{percent}", model_digest=f"d{percent}", percent=percent)
    return evaluate(generator, samples, settings, out, FakeScorer(), NullProgress())


def test_a_real_gain_is_called_higher_and_its_reverse_lower(tmp_path: Path) -> None:
    samples = [*make_samples(15), *make_samples(12, "logic")]
    a, b = result(tmp_path / "a", samples, 20), result(tmp_path / "b", samples, 60)
    gain = compare(a, b).find("overall", "pass@1")
    assert gain is not None and gain.distinguishable
    assert gain.interval.value == pytest.approx(gain.b - gain.a)
    assert gain.interval.low > 0 and gain.statement.startswith("higher")
    loss = compare(b, a).find("overall", "pass@1")
    assert loss is not None and loss.statement.startswith("lower")
    groups = dict.fromkeys(d.group for d in compare(a, b).differences)
    assert list(groups) == ["overall", "math", "logic"]


def test_pairing_beats_the_spread_between_problems(tmp_path: Path) -> None:
    # The base rates run from 0 to 1, each 1/16 higher in b: unpaired intervals overlap widely,
    # but the paired difference excludes 0.
    samples = make_samples(45)
    a = result(tmp_path / "a", samples, 50)
    counts = [i % 15 for i in range(45)]
    low = [
        dataclasses.replace(p, c=c, reward_mean=c / 16)
        for p, c in zip(a.problems, counts, strict=True)
    ]
    high = [dataclasses.replace(p, c=p.c + 1, reward_mean=(p.c + 1) / 16) for p in low]
    found = compare(
        dataclasses.replace(a, problems=tuple(low)),
        dataclasses.replace(a, problems=tuple(reversed(high)), model_digest="other"),
    ).find("overall", "pass@1")
    assert found is not None
    assert found.interval.value == pytest.approx(1 / 16)
    assert 0.0 < found.interval.low < 1 / 16 < found.interval.high < 0.15


def test_no_change_is_not_distinguishable(tmp_path: Path) -> None:
    samples = make_samples(20)
    a, b = result(tmp_path / "a", samples, 40), result(tmp_path / "b", samples, 40)
    found = compare(a, b)
    assert not any(d.distinguishable for d in found.differences)
    assert "not distinguishable" in found.differences[0].sentence()
    assert "both results are of the same weights" in found.warnings


def test_few_problems_allow_no_statement(tmp_path: Path) -> None:
    samples = make_samples(3)
    found = compare(result(tmp_path / "a", samples, 0), result(tmp_path / "b", samples, 100))
    assert found.differences[0].statement == "only 3 problems: too few to say"
    assert not found.differences[0].distinguishable


def test_only_the_same_problem_is_paired_and_the_rest_is_listed(tmp_path: Path) -> None:
    mine, theirs = make_samples(12), make_samples(14, start=2)
    # math-5 keeps its id but asks for another answer, so it must not be paired.
    theirs[3] = dataclasses.replace(theirs[3], task=Task("math", {"answer": "other"}))
    found = compare(result(tmp_path / "a", mine, 30), result(tmp_path / "b", theirs, 30))
    assert found.paired == 9
    assert found.only_a == ("math-0", "math-1")
    assert found.only_b == ("math-12", "math-13", "math-14", "math-15")
    assert found.altered == ("math-5",)
    json.dumps(found.to_json(), allow_nan=False)


def test_nothing_in_common_is_an_error(tmp_path: Path) -> None:
    a = result(tmp_path / "a", make_samples(3), 30)
    b = result(tmp_path / "b", make_samples(3, "logic"), 30)
    with pytest.raises(EvaluationError, match="no problem in common"):
        compare(a, b)


def test_different_settings_are_named(tmp_path: Path) -> None:
    samples = make_samples(3)
    a = result(tmp_path / "a", samples, 30)
    b = result(tmp_path / "b", samples, 50, EvalSettings(n=8, k=8, temperature=1.0, draws=100))
    found = compare(a, b)
    assert "temperature differs: 0.6 against 1.0" in found.warnings
    assert {d.metric for d in found.differences} == {
        "pass@1",
        "pass@2",
        "pass@4",
        "pass@8",
        "reward",
        "length",
    }


def difference(metric: str, low: float, high: float, count: int = 100) -> Difference:
    middle = (low + high) / 2
    interval = Interval(middle, low, high, count)
    return Difference("overall", metric, 0.3, 0.3 + middle, interval)


UP, DOWN, FLAT = (0.1, 0.3), (-0.3, -0.1), (-0.05, 0.07)


@pytest.mark.parametrize(
    ("one", "many", "sentence"),
    [
        (
            UP,
            FLAT,
            (
                "pass@1 rose by 0.200 [0.100, 0.300], but no change of pass@4 was shown (+0.010 [-0.050, +0.070]): "
                "the model became surer of what it could already do."
            ),
        ),
        (
            UP,
            UP,
            (
                "pass@1 rose by 0.200 [0.100, 0.300], and pass@4 rose by 0.200 [0.100, 0.300]: within 4 tries the model "
                "solves more problems than before."
            ),
        ),
        (
            UP,
            DOWN,
            (
                "pass@1 rose by 0.200 [0.100, 0.300], and pass@4 fell by 0.200 [0.100, 0.300]: the model became surer, "
                "but solves fewer problems within 4 tries."
            ),
        ),
        (UP, None, "pass@1 rose by 0.200 [0.100, 0.300]."),
        (FLAT, FLAT, "No change was shown: pass@1 moved by +0.010 [-0.050, +0.070]."),
        (FLAT, None, "No change was shown: pass@1 moved by +0.010 [-0.050, +0.070]."),
        (
            FLAT,
            DOWN,
            "No change of pass@1 was shown (+0.010 [-0.050, +0.070]), but pass@4 fell by 0.200 [0.100, 0.300].",
        ),
        (DOWN, FLAT, "pass@1 fell by 0.200 [0.100, 0.300]: the model got worse."),
        (
            DOWN,
            DOWN,
            "pass@1 fell by 0.200 [0.100, 0.300], and pass@4 fell by 0.200 [0.100, 0.300]: the model got worse.",
        ),
        (
            DOWN,
            UP,
            (
                "pass@1 fell by 0.200 [0.100, 0.300], and pass@4 rose by 0.200 [0.100, 0.300]: the model became less "
                "sure, but solves more problems within 4 tries."
            ),
        ),
    ],
)
def test_the_headline_says_what_both_intervals_show(
    one: tuple[float, float], many: tuple[float, float] | None, sentence: str
) -> None:
    found = [difference("pass@1", *one), *([difference("pass@4", *many)] if many else [])]
    assert Comparison("a", "b", tuple(found), 100, (), (), (), ()).headline(4) == sentence


def test_the_headline_claims_nothing_of_too_few_problems() -> None:
    few = (difference("pass@1", *UP, count=9), difference("pass@4", *UP, count=9))
    assert Comparison("a", "b", few, 9, (), (), (), ()).headline(4) == (
        "Too few problems to say whether pass@1 changed: 9 have a value in both."
    )
