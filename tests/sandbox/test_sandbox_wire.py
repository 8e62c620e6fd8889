from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prorl_common.frames import FrameError, FrameTooLong, take_frame
from prorl_sandbox.box import columns, wire
from prorl_sandbox.run import decoding

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
    with pytest.raises(FrameError):
        decoding.decode(value)


NODE = ["ListNode", "val", "next"]
LONG = [{"t": "o", "v": 0}] * 100_000


@pytest.mark.parametrize(
    "value",
    [
        {"t": "held", "v": 0},
        {"t": "o", "v": 0},
        {"t": "graph", "v": [{"t": "o", "v": 1}, [NODE], [[0, 1, None]]]},
        {"t": "graph", "v": [{"t": "o", "v": 0}, [["Node", "val"]], [[0, 1]]]},
        {"t": "graph", "v": [{"t": "o", "v": 0}, [[*NODE, "more"]], [[0, 1, None, 2]]]},
        {"t": "graph", "v": [{"t": "o", "v": 0}, [NODE], [[1, 1, None]]]},
        {"t": "graph", "v": [{"t": "o", "v": 0}, [NODE], [[0, 1, {"t": "held", "v": 0}]]]},
    ],
)
def test_a_submission_cannot_forge_objects(value: Any) -> None:
    for read in (decoding.decode, decoding.decode_for_box):
        with pytest.raises(FrameError):
            read(value)


@pytest.mark.parametrize(
    ("value", "val"),
    [
        ({"t": "o", "v": 0}, [{"t": "o", "v": 0}]),
        (LONG, [0] * 300_000),
        (LONG, "x" * 300_000),
        (LONG, {"t": "int", "v": "f" * 40_000}),
    ],
)
def test_a_decoded_list_holds_no_nodes_and_is_no_larger_than_a_value(value: Any, val: Any) -> None:
    with pytest.raises(FrameError):
        decoding.decode({"t": "graph", "v": [value, [NODE], [[0, val, None]]]})


def test_depth_and_number_of_parts_are_limited() -> None:
    deep: Any = 1
    for _ in range(wire.MAX_DEPTH + 2):
        deep = [deep]
    with pytest.raises(FrameError):
        decoding.decode(deep)
    with pytest.raises(FrameError):
        decoding.decode([0] * (wire.MAX_NODES + 1))


@pytest.mark.parametrize(
    "body",
    [b"[1]", b'{"k":1}', b"\xff", b'{"k":"v","v":NaN}', b'{"k":"v","v":' + b"9" * 5000 + b"}"],
)
def test_bodies_that_are_not_messages_are_refused(body: bytes) -> None:
    with pytest.raises(FrameError):
        decoding.read_message(body)


def test_frames_are_split_where_they_end() -> None:
    one, two = wire.pack({"k": "a"}), wire.pack({"k": "b", "v": [1]})
    buffer = bytearray(one + two[:-1])
    assert take_frame(buffer, 100) == b'{"k":"a"}'
    assert take_frame(buffer, 100) is None
    buffer += two[-1:]
    assert decoding.read_message(take_frame(buffer, 100) or b"") == {"k": "b", "v": [1]}
    assert not buffer


def test_a_frame_longer_than_the_cap_is_refused_from_its_head() -> None:
    with pytest.raises(FrameTooLong):
        take_frame(bytearray(b"\x00\x00\x01\x00"), 255)


def test_encoded_values_are_plain_json() -> None:
    value = {"a": (1, {2.5}), 3: [10**30, float("nan")]}
    text = json.dumps(wire.encode(value), allow_nan=False)
    assert repr(decoding.decode(json.loads(text))) == repr(value)


_ODD_PARTS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2_000_000) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["<f8", "|O", "str", "M8[ns]", "<U999999999", "x"]),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.sampled_from(columns.TAGS), st.lists(_ODD_PARTS, max_size=5))
def test_forged_arrays_and_frames_are_malformed_or_values(tag: str, parts: list[Any]) -> None:
    for read in (decoding.decode, decoding.decode_for_box):
        try:
            read({"t": tag, "v": parts})
        except FrameError:
            continue


def test_columns_whose_names_collide_are_refused_at_once() -> None:
    names = COLLIDING * 1000
    parts = [names, [["<f8", []]] * len(names), []]
    with pytest.raises(FrameError, match="equal hashes"):
        decoding.decode({"t": "frame", "v": parts})


@pytest.mark.parametrize(
    "parts",
    [
        ["<f8", [1.0], [2]],
        ["<f8", [1.0], [-1, -1]],
        ["<U999999999", ["a"], [1]],
        ["<f8", [1.0], [True]],
        ["<f8", 1.0, [1]],
        ["<f8", [1.0]],
    ],
)
def test_an_array_that_is_none_is_refused(parts: list[Any]) -> None:
    with pytest.raises(FrameError):
        decoding.decode({"t": "array", "v": parts})


@pytest.mark.parametrize(
    "value",
    [
        {"t": "array", "v": ["<f8", [], [1_000_000, 1_000_000, 0]]},
        [{"t": "array", "v": ["<f8", [], [1000, 1000, 0]]}] * 1000,
        [{"t": "array", "v": ["<f8", [], [1000, 0]]}] * 101,
        {"t": "array", "v": ["<f8", [1.0], [1] * 60 + [1_000_000, 0]]},
    ],
)
def test_an_array_without_values_cannot_hold_more_lists_than_a_frame_may(value: Any) -> None:
    for read in (decoding.decode, decoding.decode_for_box):
        with pytest.raises(FrameError):
            read(value)
    assert decoding.decode({"t": "array", "v": ["<f8", [], [2, 3, 0]]}) == [[[], [], []]] * 2
