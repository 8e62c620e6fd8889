from __future__ import annotations

import json
import sys

import pytest

from prorl_common.frames import MAX_DEPTH, FrameError, read_json


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1, "a": 2}',
        b"[NaN]",
        b"[1e999]",
        b"9" * 4301,
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1),
        b"[" + b"[]," * 1_200_000 + b"[]]",
        b'["' + b'"' * 9_000_000,
        '{"a": 1}'.encode("utf-16"),
        b"\xef\xbb\xbf{}",
        b'"\xed\xa0\x80"',
        b'"' + b"[" * 400,
        b"",
    ],
)  # fmt: skip
def test_json_outside_the_bounds_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        read_json(data)


def test_nesting_is_refused_though_the_recursion_limit_was_raised() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**9)  # the parser alone would overflow the C stack
    try:
        with pytest.raises(FrameError, match="nested deeper"):
            read_json(b"[" * 500_000)
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("text", ["{" * 10_000_000, '"' * 10_000_000, "\\" * 5_000_000 + "["])
def test_megabytes_of_brackets_quotes_or_backslashes_in_one_string_are_read(text: str) -> None:
    assert (
        read_json(json.dumps({"response": text, "deep": [[0]] * 400}).encode())["response"] == text
    )


def test_brackets_inside_strings_are_no_nesting() -> None:
    value = ["[" * 10_000, '\\"[[' * 1000, {"[{": [1]}]
    assert read_json(json.dumps(value).encode()) == value


def test_what_json_has_comes_through() -> None:
    value = [1, -2.5, 10**4299, "\ud800", "é", None, True, {"a": [{}]}]
    assert read_json(json.dumps(value).encode()) == value
    assert repr(read_json(b"[NaN, -Infinity]", nan=True)) == "[nan, -inf]"
