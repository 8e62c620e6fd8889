from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress, UserError
from prorl_datasets import Sample
from prorl_evaluation.rating.rate import feed_evaluation, feed_run, rate
from prorl_evaluation.rating.store import Policy, RatingStore, RowSamples
from prorl_evaluation.rating.summary import (
    RowRate,
    entries_in_band,
    group_rates,
    row_rates,
    suggest,
    write_pass_rates,
)
from prorl_evaluation.sampling.choose import read_run
from prorl_evaluation.sampling.evaluate import evaluate
from prorl_evaluation.stats.distributions import jeffreys
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_evaluation.types import EvalSettings, EvaluationError
from prorl_verifiers import Task

MANY = FakeScorer()


def settings(n: int, seed: int = 0, **more: Any) -> EvalSettings:
    return EvalSettings(n=n, k=1, seed=seed, batch_rows=4, **more)


def rated(
    folder: Path, samples: list[Sample], how: EvalSettings, generator: FakeGenerator | None = None
) -> tuple[Policy, dict[str, RowSamples]]:
    with RatingStore(folder) as store:
        policy = rate(
            generator or FakeGenerator(), samples, how, store, FakeScorer(), NullProgress()
        )
        return policy, store.rows(samples, [policy])


def counts(found: dict[str, RowSamples]) -> dict[str, tuple[int, int]]:
    return {name: (row.n, len(row.passed)) for name, row in found.items()}


def test_every_row_gets_its_samples_and_the_answers_are_deleted(tmp_path: Path) -> None:
    _, found = rated(tmp_path, make_samples(5), settings(6))
    assert {row.n for row in found.values()} == {6} and len(found) == 5
    assert any(row.passed for row in found.values()) and any(row.failed for row in found.values())
    assert [p.name for p in tmp_path.iterdir()] == ["ratings.jsonl"]


def test_the_same_call_again_samples_nothing_and_a_larger_one_only_the_rest(tmp_path: Path) -> None:
    rated(tmp_path, make_samples(4), settings(3))
    before = (tmp_path / "ratings.jsonl").read_bytes()
    idle = FakeGenerator()
    rated(tmp_path, make_samples(4), settings(3), idle)
    assert idle.calls == 0 and (tmp_path / "ratings.jsonl").read_bytes() == before
    more = FakeGenerator()
    _, found = rated(tmp_path, make_samples(4), settings(5), more)
    assert sum(len(batch) for batch in more.batches) == 4 * 2
    assert counts(found) == counts(rated(tmp_path / "at once", make_samples(4), settings(5))[1])


def test_what_is_cut_off_goes_on_and_equals_a_run_that_never_was(tmp_path: Path) -> None:
    cut = FakeGenerator(interrupt_at=3)
    with pytest.raises(KeyboardInterrupt):
        rated(tmp_path / "cut", make_samples(8), settings(4), cut)
    rest = FakeGenerator()
    _, found = rated(tmp_path / "cut", make_samples(8), settings(4), rest)
    assert sum(len(batch) for batch in rest.batches) == 8 * 4 - sum(len(b) for b in cut.batches)
    assert found == rated(tmp_path / "whole", make_samples(8), settings(4))[1]


def test_a_kill_between_counting_and_clearing_away_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            rated(tmp_path, make_samples(3), settings(4))
    idle = FakeGenerator()
    _, found = rated(tmp_path, make_samples(3), settings(4), idle)
    assert idle.calls == 0 and {row.n for row in found.values()} == {4}


def test_samples_without_a_verdict_do_not_count_and_are_tried_again(tmp_path: Path) -> None:
    with RatingStore(tmp_path) as store:
        scorer = FakeScorer(broken="yes")
        policy = rate(FakeGenerator(), make_samples(6), settings(8), store, scorer, NullProgress())
        first = store.rows(make_samples(6), [policy])
    assert sum(row.n for row in first.values()) < 48
    assert not any(row.passed for row in first.values())
    _, found = rated(tmp_path, make_samples(6), settings(8))
    assert {row.n for row in found.values()} == {8}
    assert found == rated(tmp_path / "whole", make_samples(6), settings(8))[1]


def test_other_seeds_add_up_and_fill_what_is_asked_for(tmp_path: Path) -> None:
    rated(tmp_path, make_samples(3), settings(4))
    other = FakeGenerator()
    _, found = rated(tmp_path, make_samples(3), settings(7, seed=1), other)
    assert {row.n for row in found.values()} == {7}
    assert sum(len(batch) for batch in other.batches) == 9


@pytest.mark.parametrize("change", [{"temperature": 1.0}, {"top_p": 0.5}, {"max_tokens": 9}])
def test_other_sampling_settings_are_another_policy(tmp_path: Path, change: dict[str, Any]) -> None:
    rated(tmp_path, make_samples(2), settings(2))
    _, found = rated(tmp_path, make_samples(2), settings(2, **change))
    assert {row.n for row in found.values()} == {2}
    with RatingStore(tmp_path) as store:
        assert len(store.policies()) == 2


def test_a_row_that_asks_something_else_by_now_is_unrated(tmp_path: Path) -> None:
    samples = make_samples(3)
    policy, _ = rated(tmp_path, samples, settings(2))
    other_prompt = replace(samples[0], prompt=({"role": "user", "content": "another"},))
    other_gold = replace(samples[1], task=Task("math", {"answer": "no"}))
    other_mode = replace(samples[2], task=Task("math", {"answer": "yes", "mode": "either"}))
    with RatingStore(tmp_path) as store:
        found = store.rows([other_prompt, other_gold, other_mode], [policy])
    assert list(found) == ["math-2"]  # grading strictness is not part of the question


def test_an_evaluation_feeds_the_store_and_feeding_it_again_changes_nothing(tmp_path: Path) -> None:
    samples, how = make_samples(6), settings(5)
    broken = FakeScorer(broken="yes")
    evaluate(FakeGenerator(), samples[:4], how, tmp_path / "e", broken, NullProgress())
    result = evaluate(FakeGenerator(), samples[:4], how, tmp_path / "e", MANY, NullProgress())
    altered = replace(samples[3], prompt=({"role": "user", "content": "another"},))
    here = [*samples[1:3], altered, *samples[4:]]
    with RatingStore(tmp_path) as store:
        fed = feed_evaluation(store, here, tmp_path / "e")
        assert (fed.samples, fed.elsewhere, fed.altered) == (10, 5, 5)
        found = store.rows(here, fed.policies)
        size = store.path.stat().st_size
        feed_evaluation(store, here, tmp_path / "e")
        assert store.path.stat().st_size == size
        assert store.rows(here, fed.policies) == found
    assert counts(found) == {p.id: (p.n, p.c) for p in result.problems[1:3]}


def test_rating_goes_on_from_what_an_evaluation_sampled(tmp_path: Path) -> None:
    samples, how = make_samples(4), settings(3)
    evaluate(FakeGenerator(), samples, how, tmp_path / "e", MANY, NullProgress())
    with RatingStore(tmp_path) as store:
        feed_evaluation(store, samples, tmp_path / "e")
    rest = FakeGenerator()
    _, found = rated(tmp_path, samples, replace(how, n=5), rest)
    assert sum(len(batch) for batch in rest.batches) == 8
    assert {row.n for row in found.values()} == {5}


def test_a_judgement_made_anew_replaces_the_old_one(tmp_path: Path) -> None:
    (sample,), policy = make_samples(1), Policy("m", "m", 1.0, 1.0, 8)
    with RatingStore(tmp_path) as store:
        store.add(policy, [(sample, RowSamples({"a"}, {"b"}))])
        store.add(policy, [(sample, RowSamples({"b"}, {"c"}))])
        store.add(policy, [(sample, RowSamples({"a"}, {"b"}))])
        assert store.rows([sample], [policy]) == {"math-0": RowSamples({"a"}, {"b", "c"})}


Rollout = tuple[int, str, int, str, float | None]


def write_rollouts(run: Path, rows: list[Rollout], task: Task, prompt: str | None = None) -> None:
    """Write rollouts (step, id, sample index, response, reward); None for `prompt` gives the older format."""
    import pyarrow as pa
    from pyarrow import parquet

    (run / "rollouts").mkdir(exist_ok=True)
    for step in {row[0] for row in rows}:
        names = ("step", "sample_id", "sample_index", "response", "reward")
        own = [dict(zip(names, row, strict=True)) for row in rows if row[0] == step]
        about = {
            "verifier": task.verifier,
            "reference": task.reference_json(),
            "shaped_reward": 0.5,
        }
        if prompt is not None:
            about["prompt"] = json.dumps([{"role": "user", "content": prompt}])
        table = pa.Table.from_pylist([{**row, **about} for row in own])
        parquet.write_table(table, run / "rollouts" / f"step_{step:06d}.parquet")


@pytest.fixture
def run_folder(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str = "demo") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.yaml").write_text(
            "rollout: {temperature: 1.0, top_p: 1.0, max_tokens: 8}\n"
            "phases: [{name: a}, {name: b, set: {rollout: {max_tokens: 16}}}]\n"
        )
        (folder / "identity.json").write_text('{"model": "base", "dataset": "d"}')
        metrics = [{"step": step, "phase": step > 2} for step in (1, 2, 3)]
        metrics = [{**row, "phase": int(row["phase"])} for row in metrics]
        (folder / "metrics.jsonl").write_text("".join(json.dumps(m) + "\n" for m in metrics))
        return folder

    return make


def test_rollouts_are_ratings_of_their_steps_policy_by_the_raw_outcome(
    tmp_path: Path, run_folder: Callable[..., Path]
) -> None:
    samples, folder = make_samples(2), run_folder()
    rows: list[Rollout] = [
        (1, "math-0", 0, "yes", 1.0),
        (1, "math-0", 1, "no", 0.4),  # partial credit does not count as a pass
        (1, "math-1", 0, "yes", 1.0),
        (3, "math-0", 0, "yes", 1.0),
        (3, "math-0", 1, "?", None),  # an infra error
        (3, "elsewhere", 0, "yes", 1.0),
    ]
    write_rollouts(folder, rows, samples[0].task)
    run = read_run(folder)
    with RatingStore(tmp_path / "r") as store:
        fed = feed_run(store, samples, run)
        assert (fed.samples, fed.elsewhere, fed.altered) == (4, 1, 0)
        assert [(p.step, p.max_tokens, p.model) for p in fed.policies] == [
            (1, 8, "base"),
            (3, 16, "base"),
        ]
        # only the newest step of each row counts
        assert counts(store.rows(samples, fed.policies)) == {"math-0": (1, 1), "math-1": (1, 1)}
        assert counts(store.rows(samples, fed.policies[:1])) == {"math-0": (2, 1), "math-1": (1, 1)}
        before = store.path.read_bytes()
        feed_run(store, samples, run)
        assert store.path.read_bytes() == before
        assert [p.step for p in feed_run(store, samples, run, (2, 9)).policies] == [3]


def test_rollouts_of_another_task_are_left_out(
    tmp_path: Path, run_folder: Callable[..., Path]
) -> None:
    folder = run_folder()
    write_rollouts(folder, [(1, "math-0", 0, "yes", 1.0)], Task("math", {"answer": "no"}))
    with RatingStore(tmp_path / "r") as store:
        fed = feed_run(store, make_samples(1), read_run(folder))
    assert (fed.samples, fed.altered) == (0, 1) and "another prompt or task" in fed.words()


@pytest.mark.parametrize(("asked", "found"), [("math question 0", (1, 0)), ("another", (0, 1))])
def test_rollouts_of_another_prompt_are_left_out(
    tmp_path: Path, run_folder: Callable[..., Path], asked: str, found: tuple[int, int]
) -> None:
    samples, folder = make_samples(1), run_folder()
    write_rollouts(folder, [(1, "math-0", 0, "yes", 1.0)], samples[0].task, asked)
    with RatingStore(tmp_path / "r") as store:
        fed = feed_run(store, samples, read_run(folder))
    assert (fed.samples, fed.altered) == found


def test_a_run_without_rollouts_says_so(tmp_path: Path, run_folder: Callable[..., Path]) -> None:
    with (
        RatingStore(tmp_path / "r") as store,
        pytest.raises(EvaluationError, match="demo has no rollouts"),
    ):
        feed_run(store, make_samples(1), read_run(run_folder()))


def test_two_processes_never_write_one_store(tmp_path: Path) -> None:
    with RatingStore(tmp_path), pytest.raises(UserError, match="another process"):
        RatingStore(tmp_path)


@pytest.mark.parametrize(
    "line",
    ['{"id": "math-0"}', '{"id": "a", "content": "c", "policy": "p", "passed": 1, "failed": 2}'],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "ratings.jsonl").write_text(line + "\n")
    with pytest.raises(EvaluationError, match=r"ratings\.jsonl:1 is not a rating"):
        RatingStore(tmp_path)


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    rated(tmp_path, make_samples(3), settings(2))
    path = tmp_path / "ratings.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    again = FakeGenerator()
    _, found = rated(tmp_path, make_samples(3), settings(2), again)
    assert sum(len(batch) for batch in again.batches) == 2 and {r.n for r in found.values()} == {2}


def test_jeffreys_interval_has_the_published_values() -> None:
    # method of Brown, Cai and DasGupta 2001, figure 11, computed by R's qbeta
    low, high = jeffreys(2, 10)
    assert (round(low, 4), round(high, 4)) == (0.0441, 0.5028)
    assert jeffreys(0, 4)[0] == 0.0 and jeffreys(4, 4)[1] == 1.0
    assert jeffreys(1, 4)[1] == pytest.approx(1 - jeffreys(3, 4)[0])


def rows_of(family: str, level: int, rates: list[int], domain: str = "math") -> list[RowRate]:
    """Return rows of ``family`` with the given numbers of passes in 8 samples."""
    base = make_samples(1, domain)[0]
    about = {"family": family, "level": level}
    return [
        RowRate(replace(base, id=f"{family}-{level}-{i}", metadata=about), 8, passes)
        for i, passes in enumerate(rates)
    ]


def test_groups_count_rows_that_never_sometimes_and_always_pass() -> None:
    rows = rows_of("sums", 1, [0, 0, 4, 8]) + rows_of("gaps", 2, [8], "stem")
    (whole,) = group_rates(rows, "all")
    assert (whole.rows, whole.samples, whole.never, whole.mixed, whole.always) == (5, 40, 2, 1, 2)
    assert whole.rate.value == pytest.approx((0 + 0 + 0.5 + 1 + 1) / 5)
    assert whole.rate.low < whole.rate.value < whole.rate.high
    assert [g.name for g in group_rates(rows, "level")] == [
        ("math", "sums", "level 1"),
        ("stem", "gaps", "level 2"),
    ]


def test_sizes_inside_the_band_are_taken_and_little_evidence_decides_nothing() -> None:
    rows = [
        *rows_of("mixed", 1, [8] * 9 + [7]),
        *rows_of("mixed", 2, [3, 5, 4]),
        *rows_of("hard", 1, [0] * 60),
        *rows_of("easy", 3, [8] * 60),
        *rows_of("few", 1, [0, 0]),
    ]
    found = {one.family: one for one in suggest(rows, (0.1, 0.9))}
    assert found["mixed"].take == ("level 2",)
    assert {name: one.finding for name, one in found.items()} == {
        "mixed": "take",
        "hard": "too hard",
        "easy": "too easy",
        "few": "undecided",
    }


def test_entries_in_the_band_are_those_that_named_the_rows() -> None:
    rows = [*rows_of("mixed", 1, [8, 8, 7]), *rows_of("mixed", 2, [3, 5]), *rows_of("hard", 1, [0])]
    named = [
        replace(r, sample=replace(r.sample, id=f"math-{r.sample.id[:-2]}-test-00000{i}"))
        for i, r in enumerate(rows)
    ]
    assert entries_in_band(named, (0.1, 0.9)) == ["math-mixed-2"]


def test_pass_rates_have_the_contracts_keys(tmp_path: Path) -> None:
    samples = make_samples(2)
    rates = row_rates(samples, {"math-0": RowSamples({"a"}, {"b", "c", "d"})})
    (line,) = [json.loads(x) for x in write_pass_rates(rates, tmp_path).read_text().splitlines()]
    assert (line["id"], line["pass_rate"], line["n"]) == ("math-0", 0.25, 4)
    assert 0 < line["low"] < 0.25 < line["high"] < 1


KILLED = """
import os, signal, sys
from pathlib import Path
from prorl_common import NullProgress
from prorl_evaluation.rating.rate import rate
from prorl_evaluation.rating.store import RatingStore
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_evaluation.types import EvalSettings

class Dying(FakeGenerator):
    def generate(self, *arguments):
        if self.calls == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().generate(*arguments)

with RatingStore(Path(sys.argv[1])) as store:
    how = EvalSettings(n=4, k=1, batch_rows=4)
    rate(Dying(), make_samples(6), how, store, FakeScorer(), NullProgress())
"""


def test_a_sigkill_loses_only_the_batch_in_work(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    rest = FakeGenerator()
    _, found = rated(tmp_path, make_samples(6), settings(4), rest)
    assert sum(len(batch) for batch in rest.batches) == 4 * 4
    assert found == rated(tmp_path / "whole", make_samples(6), settings(4))[1]
