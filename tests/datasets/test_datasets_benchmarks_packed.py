"""LiveCodeBench's packed tests are read by opcode with limits, and never unpickled."""

from __future__ import annotations

import base64
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from prorl_datasets.benchmarks.code_rows import PackedError, pickled_text, unpack_text


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


class _Evil:
    """An object whose unpickling creates the marker."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.marker,))


@pytest.mark.parametrize("protocol", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("text", ["[]", "ü" * 300, "x" * 70_000, ""])
def test_one_text_is_read_in_every_binary_protocol(protocol: int, text: str) -> None:
    assert unpack_text(_pack(pickle.dumps(text, protocol=protocol))) == text


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_would_run_code_is_refused_and_runs_nothing(
    protocol: int, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    data = pickle.dumps(_Evil(marker), protocol=protocol)
    with pytest.raises(PackedError, match="is not allowed"):
        unpack_text(_pack(data))
    assert not marker.exists()
    pickle.loads(data)
    assert marker.exists()  # the payload works if it is unpickled


def test_code_hidden_behind_a_harmless_text_is_refused(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for value in (["[]", _Evil(marker)], {"input_output": _Evil(marker)}):
        with pytest.raises(PackedError, match="is not allowed"):
            pickled_text(pickle.dumps(value))
    evil = pickle.dumps(_Evil(marker))
    with pytest.raises(PackedError, match="bytes follow"):
        pickled_text(pickle.dumps("[]") + evil)
    assert not marker.exists()


@pytest.mark.parametrize(
    "value", [["a"], 1, b"bytes", None, ("a", "b"), {"other": "a"}, {"a": "b", "c": "d"}]
)
def test_anything_but_one_text_is_refused(value: Any) -> None:
    with pytest.raises(PackedError):
        pickled_text(pickle.dumps(value))


def test_sandboxfusions_pair_is_read() -> None:
    assert pickled_text(pickle.dumps({"input_output": "{}"})) == "{}"


def test_a_stream_that_unpacks_to_more_than_the_limit_is_refused() -> None:
    bomb = _pack(b"0" * 10_000_000)
    assert len(bomb) < 20_000
    with pytest.raises(PackedError, match="more than 1,000,000 bytes"):
        unpack_text(bomb, limit=1_000_000)


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        ("%%%", "not base64"),
        (base64.b64encode(b"plain").decode(), "not a zlib stream"),
        (base64.b64encode(zlib.compress(b"x" * 100)[:-6]).decode(), "cut off"),
        (base64.b64encode(zlib.compress(b"x") + b"more").decode(), "followed by other bytes"),
        (_pack(pickle.dumps("abc" * 100)[:-20]), "not a whole pickle"),
        (_pack(b""), "not a whole pickle"),
    ],
)
def test_damaged_packing_is_refused_with_its_reason(packed: str, message: str) -> None:
    with pytest.raises(PackedError, match=message):
        unpack_text(packed)
