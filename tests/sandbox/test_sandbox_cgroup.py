"""Control groups of both versions; a folder stands in for version 2, whose controllers many machines lack."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prorl_sandbox.box import cgroup

FILES = {
    1: ("memory.limit_in_bytes", "memory.oom_control", "memory.usage_in_bytes", "pids.max"),
    2: ("memory.max", "memory.events", "memory.current", "pids.max", "cgroup.subtree_control"),
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree in place of /sys/fs/cgroup, where every new group gets its files."""
    real = os.mkdir

    def mkdir(path: str, mode: int = 0o777) -> None:
        real(path, mode)
        for name in {*FILES[1], *FILES[2], "cgroup.procs", "memory.swap.max"}:
            (Path(path) / name).write_text("0\n" if "oom" not in name else "oom_kill 3\n")

    monkeypatch.setattr(cgroup, "_V1", str(tmp_path))
    monkeypatch.setattr(os, "mkdir", mkdir)
    monkeypatch.setattr(cgroup, "_try_folder", lambda parent: "")
    return tmp_path


def unified(root: Path, offered: str, passed_on: str) -> None:
    folder = root / "user.slice"
    Path.mkdir(folder)
    (folder / "cgroup.controllers").write_text(offered)
    (folder / "cgroup.subtree_control").write_text(passed_on)


def test_version_one_is_found_below_the_processs_own_groups(root: Path) -> None:
    for name in ("memory/job", "pids"):
        (root / name).mkdir(parents=True)
    lines = ["4:memory:/job\n", "8:pids:/\n", "0::/\n"]
    assert cgroup.find(lines) == (1, [f"{root}/memory/job", f"{root}/pids"], "")


def test_version_two_is_found_where_memory_and_pids_are_passed_on(root: Path) -> None:
    unified(root, "cpu memory pids", "memory pids")
    assert cgroup.find(["0::/user.slice\n"]) == (2, [f"{root}/user.slice"], "")


def test_version_two_is_asked_to_pass_the_controllers_on(root: Path) -> None:
    unified(root, "memory pids", "")
    assert cgroup.find(["0::/user.slice\n"])[0] == 2
    assert (root / "user.slice/cgroup.subtree_control").read_text() == "+memory +pids"


def test_version_two_is_taken_above_a_session_that_holds_processes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unified(root, "memory pids", "memory pids")
    scope = root / "user.slice/session-1.scope"
    Path.mkdir(scope)
    (scope / "cgroup.controllers").write_text("memory pids")
    (scope / "cgroup.subtree_control").write_text("")

    def refuse(path: str, text: str) -> None:
        raise OSError(16, "Device or resource busy")

    # a group with processes cannot enable controllers for its children
    monkeypatch.setattr(cgroup, "write", refuse)
    lines = ["0::/user.slice/session-1.scope\n"]
    assert cgroup.find(lines) == (2, [f"{root}/user.slice"], "")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["0::/user.slice\n"], "offers no memory and pids"),
        (["9:name=systemd:/\n"], "no memory and pids controllers are mounted"),
    ],
)
def test_no_groups_come_with_the_reason(root: Path, lines: list[str], reason: str) -> None:
    unified(root, "cpu io", "")
    version, folders, why = cgroup.find(lines)
    assert (version, folders) == (0, [])
    assert reason in why


@pytest.mark.parametrize("version", [1, 2])
def test_limits_are_written_on_top_of_what_the_slot_uses(root: Path, version: int) -> None:
    group = cgroup.Group(version, [f"{root}/slot"])
    limit, _, usage, *_ = FILES[version]
    (root / "slot" / usage).write_text(str(10 * 1024 * 1024))
    group.take_base()
    group.set_limits(100, 16)
    assert int((root / "slot" / limit).read_text()) == (100 + 10 + 16) * 1024 * 1024
    assert (root / "slot/pids.max").read_text().strip() == "17"
    group.join()
    assert (root / "slot/cgroup.procs").read_text().startswith("0")
    group.close()


@pytest.mark.parametrize("version", [1, 2])
def test_kills_for_memory_are_read(root: Path, version: int) -> None:
    group = cgroup.Group(version, [f"{root}/slot"])
    text = (
        "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n" if version == 1 else "oom 9\noom_kill 7\n"
    )
    (root / "slot" / FILES[version][1]).write_text(text)
    assert group.oom_kills() == 7
    group.close()


def test_groups_of_a_dead_template_are_swept_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    start = cgroup.start_time(str(os.getpid()))
    dead = tmp_path / "prorl-999999999-123" / "1"
    alive = tmp_path / f"prorl-{os.getpid()}-{start}"
    reused = tmp_path / f"prorl-{os.getpid()}-{int(start) - 1}"
    others = tmp_path / "prorl-trial"
    for folder in (dead, alive, reused, others):
        folder.mkdir(parents=True)
    cgroup.sweep([str(tmp_path)])
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([alive.name, others.name])
