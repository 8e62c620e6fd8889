from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from prorl_evaluation.types import EvaluationError
from prorl_viewer.evaluations.parts import KeyedLines

FIELDS = {"key": (str,), "value": (int,)}


def key(number: int) -> str:
    """Return a key of 32 hex digits."""
    return f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}{number:016x}"


def line(number: int, value: int) -> bytes:
    """Return a line as prorl writes it."""
    return json.dumps({"key": key(number), "value": value}).encode() + b"\n"


def values(found: Mapping[str, list[dict[str, int]]], number: int) -> list[int]:
    """Return the values of a key's lines."""
    return [row["value"] for row in found.get(key(number), [])]


def test_every_line_of_a_key_is_found_in_order(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(b"".join(line(i % 50, i) for i in range(200)))
    found = KeyedLines(file, FIELDS).rows([key(7), key(49), key(99)])
    assert values(found, 7) == [7, 57, 107, 157]
    assert values(found, 49) == [49, 99, 149, 199]
    assert key(99) not in found


def test_lines_that_begin_in_another_way_are_found(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(json.dumps({"value": 5, "key": key(5)}).encode() + b"\n\n" + line(6, 6))
    lines = KeyedLines(file, FIELDS)
    assert values(lines.rows([key(5)]), 5) == [5]
    assert lines.without_key == 0


def test_what_is_added_is_taken_up_and_a_torn_line_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    lines = KeyedLines(file, FIELDS)
    assert lines.rows([key(1)]) == {}
    file.write_bytes(line(1, 1) + line(2, 2)[:20])
    assert values(lines.rows([key(1), key(2)]), 1) == [1]
    assert lines.rows([key(2)]) == {}
    file.write_bytes(line(1, 1) + line(2, 2) + line(1, 10))
    assert values(lines.rows([key(1), key(2)]), 2) == [2]
    assert values(lines.rows([key(1)]), 1) == [1, 10]


def test_another_file_of_the_name_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(line(1, 1) + line(2, 2))
    lines = KeyedLines(file, FIELDS)
    lines.rows([])
    fresh = tmp_path / "fresh"
    fresh.write_bytes(line(3, 3) + line(1, 11) + line(4, 4))
    fresh.replace(file)
    assert values(lines.rows([key(1)]), 1) == [11]
    assert values(lines.rows([key(2)]), 2) == []


def test_a_damaged_line_is_named_when_it_is_asked_for_and_counted_when_it_has_no_key(
    tmp_path: Path,
) -> None:
    file = tmp_path / "journal.jsonl"
    broken = line(2, 2).replace(b'"value": 2', b'"value": "two"')
    file.write_bytes(line(1, 1) + broken + b"not json\n" + line(3, 3))
    lines = KeyedLines(file, FIELDS)
    assert values(lines.rows([key(1), key(3)]), 3) == [3]
    assert lines.without_key == 1
    with pytest.raises(EvaluationError, match=r"journal\.jsonl.*'value' is a str.*remove the line"):
        lines.rows([key(2)])
