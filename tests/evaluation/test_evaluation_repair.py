"""Damaged journals: torn ends are cut, every other fault is named and moved aside, nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import Journal, NullProgress
from prorl_evaluation import EvalSettings, EvaluationError, evaluate
from prorl_evaluation.sampling.repair import (
    SAMPLE_FIELDS,
    VERDICT_FIELDS,
    fault,
    repair_folder,
    repair_journal,
)
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples

SETTINGS = EvalSettings(n=8, k=4, batch_rows=8, draws=100)
SAMPLES = make_samples(4)
FILES = ("samples.jsonl", "verdicts.jsonl")


def run(out: Path, generator: FakeGenerator | None = None) -> Any:
    return evaluate(
        generator or FakeGenerator(), SAMPLES, SETTINGS, out, FakeScorer(), NullProgress()
    )


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
def test_a_damaged_line_is_named_and_after_repair_the_run_equals_an_undamaged_one(
    tmp_path: Path, name: str, kind: str
) -> None:
    run(tmp_path / "whole")
    run(tmp_path / "hurt")
    journal = tmp_path / "hurt" / name
    lines = journal.read_bytes().splitlines()
    damage, said = DAMAGE[kind]
    lines[5] = damage(lines[5])
    journal.write_bytes(b"\n".join(lines) + b"\n")
    before = journal.read_bytes()
    with pytest.raises(EvaluationError, match=rf"{name}:6: .*{said}.*--repair"):
        run(tmp_path / "hurt")
    assert journal.read_bytes() == before
    assert repair_folder(tmp_path / "hurt", *FILES) == [
        f"{journal}: 1 damaged line moved to {name}.damaged"
    ]
    assert (tmp_path / "hurt" / f"{name}.damaged").read_bytes() == lines[5] + b"\n"
    run(tmp_path / "hurt")
    for file in FILES:
        assert rows(tmp_path / "hurt" / file) == rows(tmp_path / "whole" / file)


def test_a_sound_or_missing_journal_is_left_as_it_is(tmp_path: Path) -> None:
    run(tmp_path)
    journal = tmp_path / "samples.jsonl"
    at = journal.stat().st_mtime_ns
    assert repair_folder(tmp_path, *FILES) == [] and journal.stat().st_mtime_ns == at
    assert repair_journal(tmp_path / "none.jsonl", SAMPLE_FIELDS) == 0
    assert list(tmp_path.glob("*.damaged")) == []


def test_every_line_that_is_written_passes_its_own_check(tmp_path: Path) -> None:
    run(tmp_path)
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
