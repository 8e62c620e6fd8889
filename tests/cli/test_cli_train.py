from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from doubles import invoke, write_data, write_model

from prorl_cli.main import main
from prorl_common import UserError

TINY = [
    *("--set", "rollout.prompts=2", "--set", "rollout.samples=2", "--set", "rollout.max_tokens=6"),
    *(
        "--set",
        "warm_start.examples=4",
        "--set",
        "checkpoint.every=1",
        "--set",
        "validation.every=2",
        "--set",
        "dynamic_sampling.enabled=false",  # a random model earns nothing: without it the run fails
    ),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_data(tmp_path_factory.mktemp("train"), train=12, validation=4, test=4)
    write_model(root / "model")
    return root


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


def start(name: str, steps: int, *more: str) -> list[str]:
    return [
        *("train", "--preset", "quickstart", "--model", "model", "--name", name),
        *("--steps", str(steps), *TINY, *more),
    ]


def test_run_resumes_explains_exports_replays_and_is_evaluated(place: Path) -> None:
    invoke(*start("one", 2))
    invoke("train", "--resume", "one", "--steps", "3")
    rows = [json.loads(x) for x in (place / "runs/one/metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3]
    assert "warm start" in invoke("train", "explain", "one", "--step", "0").stdout
    listed = json.loads(invoke("train", "status", "--json").stdout)
    (status,) = (row for row in listed if row["run"] == "one")
    assert (status["run"], status["step"], status["steps"]) == ("one", 3, 3)
    invoke("train", "export", "one", "--out", "exported")
    assert (place / "exported" / "config.json").exists()
    assert invoke("verify", "replay", "one").exit_code == 0
    few = ["--k", "1", "--n", "2", "--set", "sampling.max_tokens=4"]
    invoke("eval", "pass-at-k", "--run", "one", *few)
    assert list((place / "runs/one/eval").glob("*/result.json"))


def test_run_that_exists_is_not_overwritten(place: Path) -> None:
    invoke(*start("two", 1))
    with pytest.raises(UserError, match="already holds a run: continue it with --resume two"):
        invoke(*start("two", 1))


@pytest.fixture
def small_disk(place: Path) -> Iterator[Path]:
    """A run folder on a separate disk of 16 MB."""
    disk = place / "runs" / "full"
    disk.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        disk.rmdir()
        pytest.skip("a small file system can only be mounted by root")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)  # a log may still be open
    disk.rmdir()


def fill(disk: Path, left: int) -> Path:
    """Write a file that leaves ``left`` bytes free on the disk."""
    free = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(free.f_bavail * free.f_frsize - left))
    return filler


@pytest.mark.parametrize("left", [0, 60_000], ids=["not a byte", "too little for a checkpoint"])
def test_a_full_disk_ends_a_run_as_a_broken_service_and_room_lets_it_go_on(
    small_disk: Path, left: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    invoke(*start("full", 1))
    before = sorted(path.name for path in (small_disk / "checkpoints").iterdir())
    filler = fill(small_disk, left)
    words = ["train", "--resume", "full", "--steps", "3", "--restarts", "2"]
    monkeypatch.setattr(sys, "argv", ["prorl", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err.splitlines()
    assert ended.value.code == 1
    assert said[-1].startswith("service error: cannot write") and "disk is full" in said[-1]
    assert not any("starting again" in line for line in said)  # a restart makes no room
    assert sorted(path.name for path in (small_disk / "checkpoints").iterdir()) == before
    filler.unlink()
    invoke("train", "--resume", "full", "--steps", "3")
    rows = [json.loads(x) for x in (small_disk / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3]


def test_damaged_checkpoint_is_passed_over_and_refused_where_none_is_whole(place: Path) -> None:
    invoke(*start("four", 1))
    file = place / "runs/four/checkpoints/step_000001/optimizer.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(bytes(data))
    invoke("train", "--resume", "four", "--steps", "2")
    rows, decided = (
        [json.loads(x) for x in (place / "runs/four" / name).read_text().splitlines()]
        for name in ("metrics.jsonl", "decisions.jsonl")
    )
    assert [row["step"] for row in rows] == [1, 2]
    (fallback,) = (d for d in decided if d["kind"] == "checkpoint_fallback")
    assert "optimizer.safetensors is damaged" in fallback["reason"]
    assert [d["step"] for d in decided if d["kind"] == "config_changed"] == [0]
    for manifest in (place / "runs/four/checkpoints").glob("step_*/manifest.json"):
        manifest.write_text("{")
    with pytest.raises(UserError, match=r"none of its \d checkpoints is intact"):
        invoke("train", "--resume", "four", "--steps", "3")


def test_a_run_that_a_stall_ended_says_so_and_is_no_failure(place: Path) -> None:
    rules = ["validation.every=1", "controller.stall_validations=1", "controller.stall_gain=1000"]
    words = [w for rule in [*rules, "controller.on_stall=[end]"] for w in ("--set", rule)]
    told = invoke(*start("stalled", 9), *words)
    assert "controller.on_stall ended the run: validation stalled" in told.stderr
    rows = (place / "runs/stalled/metrics.jsonl").read_text().splitlines()
    assert len(rows) == 4  # the minimum for the stall test
    shown = invoke("train", "explain", "stalled", "--step", "4").stdout
    assert "run ended - validation stalled" in shown
    assert "next on stall: end" in shown
    invoke("train", "--resume", "stalled")  # until the next stall ends it
    decided = (place / "runs/stalled/decisions.jsonl").read_text().splitlines()
    ends = [d["step"] for d in map(json.loads, decided) if d["kind"] == "run_ended"]
    assert ends == [4, 8]
    simulated = invoke("train", "simulate", "--from", "runs/stalled").stdout
    assert "are the same as in the recorded run" in simulated


def test_resuming_says_what_is_left_to_do_and_where_the_data_was(place: Path) -> None:
    invoke(*start("six", 1))
    assert (
        "has done all its 1 steps: to train longer, add --steps N"
        in invoke("train", "--resume", "six").stderr
    )
    assert (
        "token_budget=1 is spent before step 9"
        in invoke("train", "--resume", "six", "--steps", "9", "--set", "token_budget=1").stderr
    )
    assert "spent its token_budget of 1" in invoke("train", "--resume", "six").stderr
    (place / "data" / "tiny").rename(place / "away")
    try:
        with pytest.raises(UserError, match=r"no longer at .*: give its folder with --data"):
            invoke("train", "--resume", "six", "--set", "token_budget=0")
    finally:
        (place / "away").rename(place / "data" / "tiny")


@pytest.mark.slow
def test_interrupt_saves_and_says_how_to_go_on(place: Path) -> None:
    command = [sys.executable, "-m", "prorl_cli", *start("five", 500)]
    environment = dict(os.environ)
    child = subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, text=True, env=environment)
    metrics = place / "runs/five/metrics.jsonl"
    deadline = time.monotonic() + 120
    while not metrics.exists() or not metrics.read_text():
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=120)
    assert child.returncode == 0
    assert "continue with: prorl train --resume five" in errors
    steps = len(metrics.read_text().splitlines())
    assert (place / "runs/five/checkpoints/latest").read_text() == f"step_{steps:06d}\n"
