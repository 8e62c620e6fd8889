"""Every decoder of the host ends soon, with a value or a FrameError, for any bytes."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("fuzz_frames")


@pytest.mark.parametrize("frames", [100, pytest.param(2000, marks=pytest.mark.nightly)])
def test_hostile_frames_end_in_time_and_memory(fuzz: Any, frames: int) -> None:
    report = fuzz.Report()
    for number in range(frames):
        fuzz.try_frame(1, number, report)
    assert report.frames == frames
    assert report.faults == []
    assert min(report.read.values()) > frames // 10
    assert min(report.refused[name] for name in ("message", "for a box", "session")) > frames // 10


def _raise(body: bytes) -> None:
    raise KeyError("a fault")


def _take_memory(body: bytes) -> None:
    bytearray(80 * 1024 * 1024 + 64 * len(body))


def _take_time(body: bytes) -> None:
    end = time.thread_time() + 0.6
    while time.thread_time() < end:
        pass


@pytest.mark.parametrize(
    ("reader", "fault"), [(_raise, "KeyError"), (_take_memory, "bytes"), (_take_time, " s")]
)
def test_a_reader_that_breaks_a_bound_is_a_fault(
    fuzz: Any, monkeypatch: pytest.MonkeyPatch, reader: Any, fault: str
) -> None:
    monkeypatch.setattr(fuzz, "READERS", {"one": reader})
    report = fuzz.Report()
    fuzz.try_frame(1, 0, report)
    assert fault in report.faults[0]
