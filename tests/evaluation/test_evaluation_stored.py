"""Samples and journals that are read from files when they are asked for."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from prorl_common import DiskFullError
from prorl_evaluation.sampling.choose import in_turn, pick_dataset
from prorl_evaluation.sampling.journal import Records, digest
from prorl_evaluation.sampling.stored import Stored, chosen, spooled, stored_rows
from prorl_evaluation.suites.sources import _digest
from prorl_evaluation.testing import make_samples
from prorl_verifiers import Task

LONG = dataclasses.replace(
    make_samples(1)[0],
    id="long \ud800 é\n",
    prompt=({"role": "user", "content": "x" * (3 << 20)},),
    task=Task("math", {"answer": "1", "list": [1, None, {"a": 2.5}]}),
    metadata={"chance": 0.25, "family": "é"},
)
SAMPLES = [*make_samples(3), LONG, *make_samples(2, "stem")]


def test_spooled_samples_are_the_samples_pass_after_pass_and_in_any_order() -> None:
    stored = spooled(iter(SAMPLES))
    assert isinstance(stored, Stored) and len(stored) == 6
    assert list(stored) == SAMPLES and list(stored) == SAMPLES
    assert [stored[3], stored[-1]] == [SAMPLES[3], SAMPLES[-1]]
    assert list(stored[2:5]) == SAMPLES[2:5]
    assert list(chosen(stored, [4, 0, 3])) == list(chosen(SAMPLES, [4, 0, 3]))
    assert list(in_turn(stored, 4)) == in_turn(SAMPLES, 4)
    assert not spooled([])


def test_what_a_dataset_holds_is_on_disk_and_not_in_memory(workplace: Path) -> None:
    samples, _ = pick_dataset(None, "test", limit=4)
    assert isinstance(samples, Stored)
    assert [s.domain for s in samples] == ["math", "math", "stem", "stem"]


def test_blank_lines_are_no_rows_and_a_damaged_one_is_an_error_where_it_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n{"a": \n')
    rows: Stored[Any] = stored_rows(path, dict)
    assert len(rows) == 3 and rows[1] == {"a": 2}
    with pytest.raises(ValueError):
        list(rows)


def test_a_record_is_read_from_its_line_however_long(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = [json.dumps({"n": n, "text": "y" * n}) + "\n" for n in (1, 5000, 100_000)]
    path.write_text("".join(lines))

    def make(row: Mapping[str, Any]) -> int:
        assert len(row["text"]) == row["n"]
        return int(row["n"])

    records = Records(path, make)
    places = [0, len(lines[0]), len(lines[0]) + len(lines[1])]
    for key, place in zip((("a", "t"), "b", "c"), places, strict=True):
        records.put(key, place)
    assert [records["a", "t"], records["b"], records.get("c")] == [1, 5000, 100_000]
    assert ("a", "u") not in records and records.get("d") is None and len(records) == 3
    records.drop("b")
    assert list(records.values()) == [1, 100_000]


def test_a_benchmarks_digest_is_that_of_its_lines_together() -> None:
    lines = [["é", "1", "2"], ["b", "3", "4"]]
    assert _digest(iter(lines)) == digest(lines) and _digest([]) == digest([])


def test_a_full_folder_for_temporary_files_is_said_with_its_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Path("/dev/full").open("wb"))  # noqa: SIM115
    with pytest.raises(DiskFullError, match="TMPDIR"):
        spooled(make_samples(3))
