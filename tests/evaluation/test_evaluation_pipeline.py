from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress, ServiceError
from prorl_evaluation import EvalSettings, EvaluationError, evaluate
from prorl_evaluation.sampling.job import problems_of
from prorl_evaluation.sampling.pipeline import GradingThread, Meter
from prorl_evaluation.sampling.sampler import plan
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_verifiers import Task, Verdict

SETTINGS = EvalSettings(n=20, k=8, batch_rows=24, draws=100)
SAMPLES = make_samples(6)


def lines(path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row.pop("seconds")
    return sorted(rows, key=lambda r: str(r["key"]))


@dataclasses.dataclass
class Waiting(FakeGenerator):
    """Wait with the second batch until the first is being judged."""

    judging: threading.Event = dataclasses.field(default_factory=threading.Event)

    def generate(self, *arguments: Any) -> Any:
        if self.calls == 1:
            assert self.judging.wait(20), "the first batch was not judged while sampling went on"
        return super().generate(*arguments)


@dataclasses.dataclass
class Telling(FakeScorer):
    judging: threading.Event = dataclasses.field(default_factory=threading.Event)
    fails: bool = False

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        self.judging.set()
        if self.fails:
            raise ServiceError("the pool is gone")
        return super().score(items)


def test_a_batch_is_judged_while_the_next_one_is_sampled(tmp_path: Path) -> None:
    scorer = Telling()
    generator = Waiting(judging=scorer.judging)
    result = evaluate(generator, SAMPLES, SETTINGS, tmp_path, scorer, NullProgress())
    assert generator.calls > 2 and scorer.scored == 120 == result.overall.sampled
    assert len(lines(tmp_path / "verdicts.jsonl")) == 120


@dataclasses.dataclass
class Lingering(FakeGenerator):
    """Finish half of a call's samples, then wait until they are on disk."""

    folder: Path = Path()

    def generate(
        self, requests: Any, params: Any, on_done: Any = None, on_result: Any = None
    ) -> Any:
        answers = super().generate(requests, params)
        half = len(answers) // 2
        for i, answer in enumerate(answers[:half]):
            on_result(i, answer)
        for _ in range(200):
            if len((self.folder / "samples.jsonl").read_text().splitlines()) >= half:
                break
            on_done(0)
            time.sleep(0.05)
        else:
            raise AssertionError("ended samples were not written while the others went on")
        for i, answer in enumerate(answers[half:], half):
            on_result(i, answer)
        return answers


def test_ended_samples_are_written_though_no_other_ends(tmp_path: Path) -> None:
    settings = dataclasses.replace(SETTINGS, batches="bucketed")
    lingering = Lingering(folder=tmp_path)
    result = evaluate(lingering, SAMPLES, settings, tmp_path, FakeScorer(), NullProgress())
    assert result.overall.sampled == 120


def test_sampling_never_waits_for_a_verdict(tmp_path: Path) -> None:
    release = threading.Event()

    class Held(FakeScorer):
        def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
            assert release.wait(20)
            return super().score(items)

    class Counting(NullProgress):
        done = 0

        def advance(self, count: int = 1, **fields: str) -> None:
            self.done += count
            if self.done == 120 * 20:
                release.set()

    samples = make_samples(120)
    settings = dataclasses.replace(SETTINGS, batch_rows=2)
    result = evaluate(FakeGenerator(), samples, settings, tmp_path, Held(), Counting())
    assert result.overall.sampled == 2400


def test_a_scorer_that_fails_ends_sampling_and_keeps_the_samples(tmp_path: Path) -> None:
    scorer = Telling(fails=True)
    generator = Waiting(judging=scorer.judging)
    with pytest.raises(ServiceError, match="the pool is gone"):
        evaluate(generator, SAMPLES, SETTINGS, tmp_path, scorer, NullProgress())
    kept = len(lines(tmp_path / "samples.jsonl"))
    assert kept > 0 and lines(tmp_path / "verdicts.jsonl") == []
    again, good = FakeGenerator(), FakeScorer()
    evaluate(again, SAMPLES, SETTINGS, tmp_path, good, NullProgress())
    assert sum(len(batch) for batch in again.batches) == 120 - kept and good.scored == 120
    assert [t.name for t in threading.enumerate() if t.name == "prorl-grading"] == []


def test_a_resumed_run_judges_what_was_sampled_and_not_judged_once_each(tmp_path: Path) -> None:
    evaluate(FakeGenerator(), SAMPLES, SETTINGS, tmp_path, FakeScorer(), NullProgress())
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text("".join(verdicts.read_text().splitlines(keepends=True)[:50]))
    samples = tmp_path / "samples.jsonl"
    samples.write_text("".join(samples.read_text().splitlines(keepends=True)[:70]))
    scorer = FakeScorer()
    evaluate(FakeGenerator(), SAMPLES, SETTINGS, tmp_path, scorer, NullProgress())
    keys = [row["key"] for row in lines(verdicts)]
    assert len(keys) == len(set(keys)) == 120 and scorer.scored == 70


def varied(count: int) -> list[Any]:
    made = make_samples(count)
    return [
        dataclasses.replace(s, prompt=({"role": "user", "content": "x" * (7 * i % 50)},))
        for i, s in enumerate(made)
    ]


def test_bucketed_batches_hold_prompts_of_like_length_and_the_same_items() -> None:
    problems = list(problems_of(varied(30)))
    settings = dataclasses.replace(SETTINGS, batch_rows=64)
    by_length = dataclasses.replace(settings, batches="bucketed")
    fixed, bucketed = list(plan(problems, settings)), list(plan(problems, by_length))
    assert bucketed == list(plan(problems[::-1], by_length))

    def items(batches: Sequence[Any]) -> set[tuple[str, int]]:
        return {(p.id, i) for batch in batches for p, i in batch.items()}

    def spread(batches: Sequence[Any]) -> int:
        lengths = [[len(p.prompt[0]["content"]) for p in b.problems] for b in batches]
        return sum(max(found) - min(found) for found in lengths)

    assert items(fixed) == items(bucketed) and spread(bucketed) < spread(fixed)
    with pytest.raises(EvaluationError, match="fixed or bucketed"):
        plan(problems, dataclasses.replace(SETTINGS, batches="sorted"))


@pytest.mark.parametrize(
    "change", [{"batches": "bucketed"}, {"backend": "vllm"}, {"backend": "server:chat"}]
)
def test_other_batches_cut_off_and_continued_are_equal_in_items_and_seeds(
    tmp_path: Path, change: dict[str, str]
) -> None:
    settings = dataclasses.replace(SETTINGS, **change)  # type: ignore[arg-type]
    samples = varied(20)
    whole = evaluate(
        FakeGenerator(), samples, settings, tmp_path / "a", FakeScorer(), NullProgress()
    )

    class Cut(FakeGenerator):
        """Stop in the middle of a batch, after some samples were reported."""

        def generate(
            self, requests: Any, params: Any, on_done: Any = None, on_result: Any = None
        ) -> Any:
            reported: list[int] = []

            def report(index: int, answer: Any) -> None:
                if len(reported) == 13:
                    raise KeyboardInterrupt
                reported.append(index)
                on_result(index, answer)

            return super().generate(requests, params, on_done, report)

    with pytest.raises(KeyboardInterrupt):
        evaluate(Cut(), samples, settings, tmp_path / "b", FakeScorer(), NullProgress())
    assert len(lines(tmp_path / "b" / "samples.jsonl")) == 13
    again = FakeGenerator()
    result = evaluate(again, samples, settings, tmp_path / "b", FakeScorer(), NullProgress())
    assert sum(len(batch) for batch in again.batches) == 400 - 13
    assert [(p.n, p.c) for p in result.problems] == [(p.n, p.c) for p in whole.problems]
    for one, other in zip(
        lines(tmp_path / "a" / "samples.jsonl"),
        lines(tmp_path / "b" / "samples.jsonl"),
        strict=True,
    ):
        assert (one["key"], one["seed"]) == (other["key"], other["seed"])


class Bar(NullProgress):
    def __init__(self) -> None:
        self.counts: list[int] = []
        self.facts: dict[str, str] = {}

    def advance(self, count: int = 1, **fields: str) -> None:
        self.counts.append(count)
        self.facts |= fields


@dataclasses.dataclass
class Spent:
    cost: float | None = 1.0


def test_the_bar_shows_tokens_a_second_and_the_cost_of_this_call_so_far_and_in_all() -> None:
    bar, spent = Bar(), Spent()
    meter = Meter(bar, 10, lambda: spent)
    meter.count(1)
    assert "tokens/s" not in bar.facts
    spent.cost = 3.0
    meter.count(3, 5000)
    assert bar.facts["cost"] == "2 of about 5" and "tokens/s" in bar.facts
    assert sum(bar.counts) == 4
    assert "cost" not in Meter(bar, 10, lambda: Spent(None)).facts()


CHILD = """
import sys, time
from pathlib import Path
from prorl_common import NullProgress
from prorl_evaluation import EvalSettings, evaluate
from prorl_evaluation.testing import FakeScorer, make_samples
from prorl_inference import load_generator

class Slow:
    def __init__(self, inner):
        self.inner, self.model_id, self.model_digest = inner, inner.model_id, inner.model_digest
    def generate(self, *arguments):
        found = self.inner.generate(*arguments)
        print("batch", flush=True)
        time.sleep(0.05)
        return found

settings = EvalSettings(n=24, k=2, max_tokens=5, batch_rows=12, draws=50)
generator = Slow(load_generator(sys.argv[1], "cpu", "fp32", 12))
evaluate(generator, make_samples(6), settings, Path(sys.argv[2]), FakeScorer(), NullProgress())
print("done", flush=True)
"""


@pytest.mark.slow
def test_a_process_killed_at_any_moment_and_continued_equals_one_never_killed(
    tmp_path: Path, tiny_models: tuple[Path, Path]
) -> None:

    from prorl_inference import load_generator

    command = [sys.executable, "-c", CHILD, str(tiny_models[0]), str(tmp_path / "cut")]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout as out:
        for _ in range(4):
            assert out.readline() == "batch\n"
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait(30) == -signal.SIGKILL and "done" not in out.read()
    settings = EvalSettings(n=24, k=2, max_tokens=5, batch_rows=12, draws=50)
    generator = load_generator(str(tiny_models[0]), "cpu", "fp32", 12)
    for name in ("cut", "whole"):
        evaluate(
            generator, make_samples(6), settings, tmp_path / name, FakeScorer(), NullProgress()
        )
    for file in ("samples.jsonl", "verdicts.jsonl"):
        assert lines(tmp_path / "cut" / file) == lines(tmp_path / "whole" / file)
    assert len(lines(tmp_path / "whole" / "samples.jsonl")) == 144


def test_verdicts_that_fall_far_behind_are_let_go_and_made_when_sampling_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prorl_evaluation.sampling import pipeline

    class Slow(FakeScorer):
        def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
            time.sleep(0.01)
            return super().score(items)

    settings = dataclasses.replace(SETTINGS, batch_rows=8)
    quick = evaluate(
        FakeGenerator(), make_samples(40), settings, tmp_path / "a", FakeScorer(), NullProgress()
    )
    looked_through: list[GradingThread] = []
    look_through = GradingThread._grade_from_journal

    def counted(thread: GradingThread) -> None:
        looked_through.append(thread)
        look_through(thread)

    monkeypatch.setattr(pipeline, "MOST_WAITING", 4)
    monkeypatch.setattr(GradingThread, "_grade_from_journal", counted)
    slow = Slow()
    found = evaluate(
        FakeGenerator(), make_samples(40), settings, tmp_path / "b", slow, NullProgress()
    )
    assert found.problems == quick.problems
    assert slow.scored == 40 * settings.n and len(looked_through) == 1
