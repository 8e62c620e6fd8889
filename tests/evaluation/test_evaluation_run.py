from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import (
    Journal,
    NullProgress,
    ServiceError,
    UnknownNameError,
    UserError,
    derive_seed,
)
from prorl_evaluation import (
    EvalResult,
    EvalSettings,
    EvaluationError,
    evaluate,
    load_result,
    pass_at_k,
    regrade,
)
from prorl_evaluation.sampling.journal import SAMPLE_FIELDS, VERDICT_FIELDS, fault
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_inference import Generator

SETTINGS = EvalSettings(n=20, k=8, batch_rows=24, draws=200)
SAMPLES = [*make_samples(5), *make_samples(3, "logic")]


def run(
    out: Path,
    generator: FakeGenerator | None = None,
    scorer: FakeScorer | None = None,
    settings: EvalSettings = SETTINGS,
) -> EvalResult:
    return evaluate(
        generator or FakeGenerator(), SAMPLES, settings, out, scorer or FakeScorer(), NullProgress()
    )


def timeless(result: EvalResult) -> dict[str, Any]:
    """Return the result without timings."""
    row = result.to_json()
    for name in ("wall_seconds", "sampling_seconds", "created"):
        del row[name]
    return row


def lines(path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row.pop("seconds")
    return sorted(rows, key=lambda r: (r["key"], str(r.get("task"))))


def test_counts_follow_the_seeds(tmp_path: Path) -> None:
    result = run(tmp_path)
    for problem in result.problems:
        seeds = [derive_seed(0, "eval", problem.id, i) for i in range(20)]
        right = sum(seed % 100 < 40 for seed in seeds)
        cut = sum(seed % 7 == 0 for seed in seeds)
        assert (problem.n, problem.c, problem.truncated) == (20, right, cut)
        assert problem.reward_mean == right / 20
    means = [pass_at_k(p.n, p.c, 8) for p in result.problems]
    assert result.overall.pass_at_k[8].value == pytest.approx(sum(means) / 8)
    assert list(result.overall.pass_at_k) == [1, 2, 4, 8, 16]
    assert [g.name for g in result.groups] == ["overall", "math", "logic"]
    assert result.tokens == 8 * 20 * 3


@pytest.mark.parametrize("at", [1, 2, 4, 7])
def test_interrupted_and_continued_equals_never_interrupted(tmp_path: Path, at: int) -> None:
    whole = run(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "cut", FakeGenerator(interrupt_at=at))
    assert not (tmp_path / "cut" / "result.json").exists()
    generator = FakeGenerator()
    again = run(tmp_path / "cut", generator)
    assert timeless(again) == timeless(whole)
    for name in ("samples.jsonl", "verdicts.jsonl"):
        assert lines(tmp_path / "cut" / name) == lines(tmp_path / "whole" / name)
    total = FakeGenerator()
    run(tmp_path / "count", total)
    assert generator.calls == total.calls - (at - 1)


def test_a_batch_cut_off_in_the_journal_is_redone_whole(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole")
    run(tmp_path / "cut")
    journal = tmp_path / "cut" / "samples.jsonl"
    data = journal.read_bytes()
    # A kill during a write: the complete lines stay, the torn one is removed.
    kept = data.splitlines(keepends=True)[:30]
    journal.write_bytes(b"".join(kept) + b'{"key": "torn')
    verdicts = tmp_path / "cut" / "verdicts.jsonl"
    verdicts.write_bytes(b"".join(verdicts.read_bytes().splitlines(keepends=True)[:7]))
    again = run(tmp_path / "cut")
    assert timeless(again) == timeless(whole)
    assert lines(journal) == lines(tmp_path / "whole" / "samples.jsonl")


def test_a_finished_evaluation_needs_neither_model_nor_scorer(tmp_path: Path) -> None:
    run(tmp_path)
    generator, scorer = FakeGenerator(interrupt_at=1), FakeScorer()
    run(tmp_path, generator, scorer)
    assert (generator.calls, scorer.scored) == (0, 0)


def test_n_may_grow_and_keeps_the_old_samples(tmp_path: Path) -> None:
    small = dataclasses.replace(SETTINGS, n=16)
    run(tmp_path, settings=small)
    before = lines(tmp_path / "samples.jsonl")
    generator = FakeGenerator()
    result = run(tmp_path, generator, settings=dataclasses.replace(SETTINGS, n=32))
    after = {row["key"]: row for row in lines(tmp_path / "samples.jsonl")}
    assert all(after[row["key"]] == row for row in before)
    assert len(after) == 32 * 8 and result.problems[0].n == 32
    assert sum(len(batch) for batch in generator.batches) == 16 * 8


def test_another_temperature_never_shares_samples(tmp_path: Path) -> None:
    run(tmp_path)
    hotter = FakeGenerator(percent=100)
    warm = run(tmp_path, hotter, settings=dataclasses.replace(SETTINGS, temperature=1.0))
    assert warm.overall.reward.value == 1.0
    assert hotter.calls > 0
    again = FakeGenerator(interrupt_at=1)
    assert run(tmp_path, again).overall.reward.value < 1.0


def test_another_model_in_the_same_folder_is_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    run(tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(
        EvaluationError, match=r"other weights of fake .*d1, this model's is d2.*--out"
    ):
        run(tmp_path, FakeGenerator(model_digest="d2"))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    (tmp_path / "eval.json").unlink()
    with pytest.raises(EvaluationError, match=r"samples\.jsonl:1 is a sample of another model"):
        run(tmp_path, FakeGenerator(model_digest="d2"))
    with pytest.raises(EvaluationError, match=r"with backend transformers, not vllm"):
        run(tmp_path, settings=dataclasses.replace(SETTINGS, backend="vllm"))


def test_infra_errors_are_counted_and_left_out(tmp_path: Path) -> None:
    clean = run(tmp_path / "clean")
    hurt = run(tmp_path / "hurt", scorer=FakeScorer(broken="no"))
    for before, after in zip(clean.problems, hurt.problems, strict=True):
        assert after.infra_errors == before.n - before.c
        assert (after.sampled, after.n, after.c) == (20, before.c, before.c)
    assert hurt.overall.infra_errors == sum(p.infra_errors for p in hurt.problems)
    short = [p for p in hurt.problems if p.n < 8]
    assert short and hurt.overall.pass_at_k[8].undefined == len(short)


def test_infra_errors_are_tried_again_at_the_next_call(tmp_path: Path) -> None:
    clean = run(tmp_path / "clean")
    run(tmp_path / "hurt", scorer=FakeScorer(broken="no"))
    generator = FakeGenerator(interrupt_at=1)
    assert timeless(run(tmp_path / "hurt", generator)) == timeless(clean)


def test_k_above_n_is_refused_with_the_cure() -> None:
    with pytest.raises(UserError, match=r"k > n.*--n 256"):
        EvalSettings(n=64, k=128)


def test_k_near_n_is_flagged() -> None:
    assert EvalSettings(n=128, k=128).near_any_success
    assert "same answer 8 times" in str(EvalSettings(n=8, k=4, temperature=0.0).repeated_answers())
    assert EvalSettings(n=1, k=1, temperature=0.0).repeated_answers() is None
    assert EvalSettings(n=8, k=4, temperature=0.1).repeated_answers() is None
    assert not EvalSettings(n=256, k=128).near_any_success


def test_an_empty_dataset_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    arguments = (SETTINGS, tmp_path, FakeScorer(), NullProgress())
    with pytest.raises(EvaluationError, match="empty"):
        evaluate(FakeGenerator(), [], *arguments)
    with pytest.raises(EvaluationError, match="'math-0' occurs twice"):
        evaluate(FakeGenerator(), make_samples(1) * 2, *arguments)


def test_a_damaged_journal_line_is_named(tmp_path: Path) -> None:
    run(tmp_path)
    journal = tmp_path / "samples.jsonl"
    rows = journal.read_text().splitlines()
    rows[3] = '{"key": "abc"}'
    journal.write_text("\n".join(rows) + "\n")
    with pytest.raises(UserError, match=r"samples\.jsonl:4: the line has no 'sample_id'"):
        run(tmp_path)
    rows[3] = "garbage"
    journal.write_text("\n".join(rows) + "\n")
    with pytest.raises(UserError, match=r"samples\.jsonl:4"):
        run(tmp_path)


def test_a_result_survives_saving_and_loading_nan_included(tmp_path: Path) -> None:
    result = run(tmp_path, scorer=FakeScorer(broken=""))
    assert math.isnan(result.overall.reward.value)
    assert "NaN" not in (tmp_path / "result.json").read_text()
    assert load_result(tmp_path).to_json() == result.to_json()


def test_loading_something_else_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="prorl eval pass-at-k"):
        load_result(tmp_path)
    (tmp_path / "result.json").write_text('{"format": 1}')
    with pytest.raises(EvaluationError, match="not a result"):
        load_result(tmp_path)
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(EvaluationError, match="not a result"):
        load_result(tmp_path)


class Inverted(FakeScorer):
    """A scorer with inverted verdicts."""

    def _verdict(self, text: str, task: Any) -> Any:
        verdict = super()._verdict(text, task)
        return dataclasses.replace(verdict, reward=1.0 - (verdict.reward or 0.0))


def test_regrading_needs_no_model_and_keeps_the_old_verdicts(tmp_path: Path) -> None:
    before = run(tmp_path)
    old = lines(tmp_path / "verdicts.jsonl")
    report = regrade(tmp_path, Inverted(), NullProgress())
    assert (report.verdicts, report.changed) == (160, 160)
    for a, b in zip(before.problems, report.result.problems, strict=True):
        assert b.c == a.n - a.c
    assert lines(tmp_path / "verdicts.previous.jsonl") == old
    assert load_result(tmp_path).problems == report.result.problems
    same = regrade(tmp_path, Inverted(), NullProgress())
    assert same.changed == 0


def test_regrading_without_a_verifier_leaves_the_old_verdicts(tmp_path: Path) -> None:
    before = run(tmp_path)
    old = lines(tmp_path / "verdicts.jsonl")
    with pytest.raises(ServiceError, match=r"of 160 answers got no verdict .* old verdicts"):
        regrade(tmp_path, FakeScorer(broken="yes"), NullProgress())
    assert lines(tmp_path / "verdicts.jsonl") == old
    assert load_result(tmp_path).problems == before.problems


def test_regrading_keeps_verdicts_on_other_parameters_and_every_former_file(tmp_path: Path) -> None:
    warm = dataclasses.replace(SETTINGS, temperature=1.0)
    run(tmp_path, settings=warm)
    run(tmp_path)
    assert len(lines(tmp_path / "verdicts.jsonl")) == 320
    for _ in range(2):
        assert regrade(tmp_path, Inverted(), NullProgress()).verdicts == 160
    assert len(lines(tmp_path / "verdicts.jsonl")) == 320
    assert len(list(tmp_path.glob("verdicts.previous*.jsonl"))) == 2
    scorer = FakeScorer()
    run(tmp_path, FakeGenerator(interrupt_at=1), scorer, warm)
    assert scorer.scored == 0


def test_regrading_an_interrupted_evaluation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, FakeGenerator(interrupt_at=3))
    with pytest.raises(EvaluationError, match="interrupted"):
        regrade(tmp_path, FakeScorer(), NullProgress())
    with pytest.raises(EvaluationError, match="not an evaluation folder"):
        regrade(tmp_path / "nowhere", FakeScorer(), NullProgress())


def test_a_read_only_folder_is_one_clear_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(UserError, match="cannot write"):
        run(blocked / "out")


class Interrupted:
    """A real generator that is interrupted at its third call."""

    def __init__(self, inner: Generator) -> None:
        self.inner, self.calls = inner, 0
        self.model_id, self.model_digest = inner.model_id, inner.model_digest

    def generate(self, *arguments: Any) -> Any:
        self.calls += 1
        if self.calls == 3:
            raise KeyboardInterrupt
        return self.inner.generate(*arguments)

    def sync_weights(self, model: Any) -> None:
        """Left to the owner."""

    def close(self) -> None:
        """Left to the owner."""


def test_a_real_model_cut_off_and_continued_is_equal_bit_for_bit(
    tmp_path: Path, tiny_models: tuple[Path, Path]
) -> None:
    from prorl_inference import load_generator

    settings = EvalSettings(n=6, k=2, max_tokens=5, batch_rows=12, draws=50)
    generator = load_generator(str(tiny_models[0]), "cpu", "fp32", 12)
    whole = evaluate(generator, SAMPLES, settings, tmp_path / "whole", FakeScorer(), NullProgress())
    with pytest.raises(KeyboardInterrupt):
        evaluate(
            Interrupted(generator),
            SAMPLES,
            settings,
            tmp_path / "cut",
            FakeScorer(),
            NullProgress(),
        )
    journal = tmp_path / "cut" / "samples.jsonl"
    assert 0 < len(lines(journal)) < 48
    journal.write_bytes(journal.read_bytes()[:-20])  # the last write was torn as well
    again = evaluate(generator, SAMPLES, settings, tmp_path / "cut", FakeScorer(), NullProgress())
    assert timeless(again) == timeless(whole)
    assert lines(journal) == lines(tmp_path / "whole" / "samples.jsonl")
    assert len({row["text"] for row in lines(journal)}) > 40


def test_a_backend_that_is_not_registered_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    generator, settings = FakeGenerator(), EvalSettings(n=4, k=2, backend="vlm")
    with pytest.raises(UnknownNameError, match="did you mean 'vllm'"):
        evaluate(generator, make_samples(1), settings, tmp_path, FakeScorer(), NullProgress())
    assert generator.calls == 0 and not list(tmp_path.iterdir())


# Damaged journals: torn ends are cut; other faults are named


SHORT = EvalSettings(n=8, k=4, batch_rows=8, draws=100)
FOUR = make_samples(4)
FILES = ("samples.jsonl", "verdicts.jsonl")


def run_short(out: Path, generator: FakeGenerator | None = None) -> Any:
    return evaluate(generator or FakeGenerator(), FOUR, SHORT, out, FakeScorer(), NullProgress())


def rows(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for row in found:
        row.pop("seconds")
    return sorted(found, key=lambda r: str(r["key"]))


def change(line: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(line), **fields}).encode()


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "zeros": (lambda line: b"\0" * len(line), "not valid JSON"),
    "half a line": (lambda line: line[: len(line) // 2], "not valid JSON"),
    "two writers": (lambda line: line[:40] + line, "not valid JSON"),
    "bad utf-8": (lambda line: line[:-3] + b'\xff"}', "not valid JSON"),
    "an array": (lambda _: b"[1, 2]", "not a JSON object"),
    "nesting": (lambda _: b"[" * 100_000, "not valid JSON"),
    "a missing field": (lambda _: b'{"key": "x"}', "the line has no"),
    "a number as key": (lambda line: change(line, key=5), "'key' is a int"),
    "a truth as number": (lambda line: change(line, seconds=True), "'seconds' is a bool"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_line_is_named_and_once_it_is_removed_the_run_equals_an_undamaged_one(
    tmp_path: Path, name: str, kind: str
) -> None:
    run_short(tmp_path / "whole")
    run_short(tmp_path / "hurt")
    journal = tmp_path / "hurt" / name
    lines = journal.read_bytes().splitlines()
    damage, said = DAMAGE[kind]
    lines[5] = damage(lines[5])
    journal.write_bytes(b"\n".join(lines) + b"\n")
    before = journal.read_bytes()
    with pytest.raises(EvaluationError, match=rf"{name}:6: .*{said}.*remove the line"):
        run_short(tmp_path / "hurt")
    assert journal.read_bytes() == before
    journal.write_bytes(b"\n".join([*lines[:5], *lines[6:]]) + b"\n")
    run_short(tmp_path / "hurt")
    for file in FILES:
        assert rows(tmp_path / "hurt" / file) == rows(tmp_path / "whole" / file)


def test_every_line_that_is_written_passes_its_own_check(tmp_path: Path) -> None:
    run_short(tmp_path)
    for name, fields in zip(FILES, (SAMPLE_FIELDS, VERDICT_FIELDS), strict=True):
        for line in (tmp_path / name).read_text().splitlines():
            assert fault(json.loads(line), fields) is None


@pytest.mark.parametrize("torn", [1, 65_535, 65_536, 65_537, 200_000])
def test_a_torn_end_of_any_length_is_cut_at_the_last_whole_line(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "j.jsonl"
    whole = b'{"a": 1}\n{"a": 2}\n'
    path.write_bytes(whole + b"x" * torn)
    Journal(path).close()
    assert path.read_bytes() == whole
    path.write_bytes(b"x" * torn)
    Journal(path).close()
    assert path.read_bytes() == b""
