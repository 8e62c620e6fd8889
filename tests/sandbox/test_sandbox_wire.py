"""The wire format refuses what a hostile box could send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prorl_sandbox.box import wire

COLLIDING = [{"t": "int", "v": format(i * (2**61 - 1), "x")} for i in range(100)]


@pytest.mark.parametrize(
    "value",
    [
        {"t": "tuple"},
        {"t": "tuple", "v": 1},
        {"t": "nope", "v": "1"},
        {"t": "int", "v": "zz"},
        {"t": "float", "v": "1.5"},
        {"t": "bytes", "v": "0"},
        {"t": "complex", "v": [1.0]},
        {"t": "dict", "v": [[1]]},
        {"t": "dict", "v": [[[1], 2]]},
        {"t": "dict", "v": [[1, "a"], [True, "b"]]},
        {"t": "set", "v": [1, 1.0]},
        {"t": "set", "v": [{"t": "set", "v": []}]},
        {"t": "set", "v": COLLIDING},
        {"t": "dict", "v": [[key, 1] for key in COLLIDING]},
        {"a": 1},
    ],
)
def test_malformed_values_are_refused(value: Any) -> None:
    with pytest.raises(wire.MalformedFrame):
        wire.decode(value)


def test_depth_and_number_of_parts_are_limited() -> None:
    deep: Any = 1
    for _ in range(wire.MAX_DEPTH + 2):
        deep = [deep]
    with pytest.raises(wire.MalformedFrame):
        wire.decode(deep)
    with pytest.raises(wire.MalformedFrame):
        wire.decode([0] * (wire.MAX_NODES + 1))


@pytest.mark.parametrize(
    "body", [b"[1]", b'{"k":1}', b"\xff", b'{"k":"v","v":NaN}', b'{"k":"v","v":' + b"9" * 30 + b"}"]
)
def test_bodies_that_are_not_messages_are_refused(body: bytes) -> None:
    with pytest.raises(wire.MalformedFrame):
        wire.unpack(body)


def test_frames_are_split_where_they_end() -> None:
    one, two = wire.pack({"k": "a"}), wire.pack({"k": "b", "v": [1]})
    buffer = bytearray(one + two[:-1])
    assert wire.split_frame(buffer, 100) == {"k": "a"}
    assert wire.split_frame(buffer, 100) is None
    buffer += two[-1:]
    assert wire.split_frame(buffer, 100) == {"k": "b", "v": [1]}
    assert not buffer


def test_a_frame_longer_than_the_cap_is_refused_from_its_head() -> None:
    with pytest.raises(OverflowError):
        wire.split_frame(bytearray(b"\x00\x00\x01\x00"), 255)


def test_encoded_values_are_plain_json() -> None:
    value = {"a": (1, {2.5}), 3: [10**30, float("nan")]}
    text = json.dumps(wire.encode(value), allow_nan=False)
    assert repr(wire.decode(json.loads(text))) == repr(value)
