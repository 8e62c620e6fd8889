from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from prorl_common import DiskFullError, NullProgress, UserError
from prorl_datasets import BuildOptions, Recipe, load
from prorl_datasets.building.builder import build_with
from prorl_datasets.rows.parts import Part, PartStore

ENTRIES = """
name: x
decontamination: {benchmarks: []}
entries:
  - {name: good, domain: math, source: {kind: file, path: good.jsonl}, count: {train: 300}}
  - {name: bad, domain: math, source: {kind: file, path: %s}, count: {train: all}}
"""
MIRRORED = """
name: x
decontamination: {benchmarks: []}
entries:
  - {name: good, domain: math, source: {kind: file, path: good.jsonl}, count: {train: 300}}
  - {name: bad, domain: math, source: {kind: hub, repo: own/set, files: ["%s"], adapter: deepscaler},
     count: {train: all}}
"""


class Listening(NullProgress):
    """Keeps the messages; calls ``act`` after the first finished part of the building stage."""

    def __init__(self, act: Callable[[], None] | None = None) -> None:
        self.said: list[str] = []
        self._act = act
        self._builds = False

    def start(self, label: str, total: int | None, done: int = 0) -> None:
        self._builds = label.startswith("building")

    def message(self, text: str) -> None:
        self.said.append(text)

    def advance(self, count: int = 1, **fields: str) -> None:
        if self._builds and (act := self._act) is not None:
            self._act = None
            act()


def _lines(count: int, question: str = "prompt") -> list[str]:
    return [json.dumps({question: f"What is {i} + {i * i}?", "answer": str(i + i * i)}) for i in range(count)]  # fmt: skip


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _with(lines: list[str], place: int, line: str) -> list[str]:
    return [*lines[: place - 1], line, *lines[place:]]


def _damages(column: str) -> list[tuple[str, bytes, str]]:
    lines = _lines(600, column)
    broken = _with(lines, 301, '{"prompt": "x", ')
    return [
        ("a.jsonl.gz", gzip.compress(_text(lines), mtime=0)[:-40], r"a\.jsonl\.gz: the gzip file is cut off; line \d+"),
        ("a.jsonl", _text(broken), r"a\.jsonl:301: not valid JSON"),
        ("a.jsonl", _text(_with(lines, 500, '{"answer": "1"}')), rf"a\.jsonl:500: no column '{column}'"),
        ("a.parquet", bytes(range(256)) * 40, r"a\.parquet:1: not a readable Parquet file"),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "said"), _damages("prompt"))
def test_a_damaged_file_is_one_line_and_other_entries_keep_their_parts(
    make_recipe: Any, tmp_path: Path, make_scorer: Any, name: str, data: bytes, said: str
) -> None:
    (tmp_path / "good.jsonl").write_bytes(_text(_lines(300)))
    (tmp_path / name).write_bytes(data)
    recipe, first = make_recipe(ENTRIES % name), make_scorer()
    with pytest.raises(UserError, match=said) as caught:
        build_with(first, recipe, tmp_path / "d", progress=NullProgress())
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "d").exists()
    if name == "a.jsonl":
        (tmp_path / name).write_bytes(_text([x.replace("?", " now?") for x in _lines(600)]))
        listening, second = Listening(), make_scorer()
        build_with(second, recipe, tmp_path / "d", progress=listening)
        if first.seen:  # some damage is found while counting rows, before anything is built
            assert any("continuing" in text for text in listening.said)
            assert second.seen < 900
        assert len(load(tmp_path / "d")) == 900


@pytest.mark.slow
@pytest.mark.parametrize(("name", "data", "said"), _damages("problem"))
def test_a_damaged_file_of_a_mirror_is_one_line_and_the_others_are_built(
    make_recipe: Any, tmp_path: Path, accepting: Any, name: str, data: bytes, said: str
) -> None:  # fmt: skip
    (tmp_path / "good.jsonl").write_bytes(_text(_lines(300)))
    folder = tmp_path / "mirror" / "own" / "set"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(data)
    options = BuildOptions(mirror=tmp_path / "mirror")
    recipe = make_recipe(MIRRORED % name)
    report = build_with(accepting, recipe, tmp_path / "d", progress=NullProgress(), options=options)
    assert list(report.failed) == ["bad"] and re.search(said, report.failed["bad"])
    assert "\n" not in report.failed["bad"]
    assert report.manifest["counts"]["train"] == {"math": 300}
    alone = BuildOptions(mirror=tmp_path / "mirror", only=("bad",))
    with pytest.raises(UserError, match=said) as caught:
        build_with(accepting, recipe, tmp_path / "e", progress=NullProgress(), options=alone)
    assert "\n" not in str(caught.value)


def test_a_name_used_twice_is_one_line(make_recipe: Any, tmp_path: Path, accepting: Any) -> None:
    rows = [json.dumps({"id": f"r{i % 40}", "prompt": f"What is {i}?", "answer": "1"}) for i in range(50)]  # fmt: skip
    (tmp_path / "good.jsonl").write_bytes(_text(_lines(3)))
    (tmp_path / "a.jsonl").write_bytes(_text(rows))
    with pytest.raises(UserError, match=r"a\.jsonl:41: 'id' is 'r0', as in line 1; ids of rows"):
        build_with(
            accepting, make_recipe(ENTRIES % "a.jsonl"), tmp_path / "d", progress=NullProgress()
        )


def test_an_empty_file_gives_no_rows_and_the_others_stand(
    make_recipe: Any, tmp_path: Path, accepting: Any
) -> None:
    (tmp_path / "good.jsonl").write_bytes(_text(_lines(30)))
    (tmp_path / "a.jsonl").write_bytes(b"")
    report = build_with(
        accepting, make_recipe(ENTRIES % "a.jsonl"), tmp_path / "d", progress=NullProgress()
    )
    assert report.short == {"good": ["train 30/300"]}


def test_odd_texts_are_drops_and_leave_no_folder_name_in_the_manifest(
    make_recipe: Any, tmp_path: Path, accepting: Any
) -> None:
    (tmp_path / "good.jsonl").write_bytes(
        _text([*_lines(3), '{"id": "\\ud800", "prompt": "x?", "answer": "1"}'])
    )
    folder = tmp_path / "mirror" / "own" / "set"
    folder.mkdir(parents=True)
    rows = [*_lines(3, "problem"), '{"problem": "?", "answer": null}']
    (folder / "a.jsonl").write_bytes(_text(rows))
    options = BuildOptions(mirror=tmp_path / "mirror")
    recipe = make_recipe(MIRRORED % "a.jsonl")
    report = build_with(accepting, recipe, tmp_path / "d", progress=NullProgress(), options=options)
    assert report.manifest["drops"]["not valid Unicode"] == 1
    text = (tmp_path / "d" / "manifest.json").read_text()
    dropped = (tmp_path / "d" / "dropped.jsonl").read_text()
    assert "a.jsonl:4" in dropped
    assert str(tmp_path) not in text + dropped
    stages = report.manifest["stages"]["math"]
    assert stages["candidates"] == sum(n for stage, n in stages.items() if stage != "candidates")


def test_an_integer_too_long_for_python_is_a_drop(
    make_recipe: Any, tmp_path: Path, accepting: Any
) -> None:
    tests = [{"call": "f", "args": [1], "expected": 2}]
    long = json.dumps(tests).replace("2", "7" * 5000)
    rows = [f'{{"prompt": "Double {i}.", "tests": {t}}}' for i, t in enumerate((json.dumps(tests), long))]  # fmt: skip
    (tmp_path / "a.jsonl").write_bytes(_text(rows))
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n"
        "  - {name: c, domain: code, source: {kind: file, path: a.jsonl}, count: {train: all}}\n"
    )
    report = build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    assert report.manifest["drops"] == {"an integer is too long": 1}
    assert len(load(tmp_path / "d")) == 1


def _row_processes() -> list[int]:
    """Return the template process of the row makers, then its forks."""
    found: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat, words = (folder / "stat").read_text(), (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if b"prorl_datasets.rows.maker" in words:
                found[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    templates = {pid for pid, parent in found.items() if parent == os.getpid()}
    return [*templates, *(pid for pid, parent in found.items() if parent in templates)]


@pytest.mark.parametrize("first", [0, 1], ids=["with its template", "alone"])
def test_a_killed_child_is_replaced_and_nothing_is_lost(
    first: int, make_recipe: Any, tmp_path: Path, make_scorer: Any
) -> None:
    (tmp_path / "good.jsonl").write_bytes(_text(_lines(300)))
    (tmp_path / "a.jsonl").write_bytes(_text([x.replace("?", " now?") for x in _lines(900)]))
    recipe = make_recipe(ENTRIES % "a.jsonl")
    killed: list[int] = []

    def kill() -> None:
        killed.extend(_row_processes()[first:])
        for child in killed:
            with suppress(ProcessLookupError):  # ended with its template
                os.kill(child, signal.SIGKILL)

    out = tmp_path / "d"
    report = build_with(make_scorer(), recipe, out, progress=Listening(kill))
    assert killed
    assert report.manifest["counts"]["train"] == {"math": 1200}
    assert _row_processes() == []


def test_parts_removed_meanwhile_are_one_line_or_made_again(
    make_recipe: Any, tmp_path: Path, make_scorer: Any
) -> None:
    (tmp_path / "good.jsonl").write_bytes(_text(_lines(300)))
    (tmp_path / "a.jsonl").write_bytes(_text([x.replace("?", " now?") for x in _lines(600)]))
    recipe, parts = make_recipe(ENTRIES % "a.jsonl"), tmp_path / ".d.build"
    removing = Listening(lambda: shutil.rmtree(parts, ignore_errors=True))
    with pytest.raises(UserError, match=r"is gone from .*\.d\.build.* Run the same command again"):
        build_with(make_scorer(), recipe, tmp_path / "d", progress=removing)
    build_with(make_scorer(), recipe, tmp_path / "d", progress=NullProgress())
    assert len(load(tmp_path / "d")) == 900
    assert not parts.exists()


def test_a_folder_removed_while_a_part_is_written_is_the_same_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PartStore(tmp_path / "d", "f" * 16)
    make = tempfile.mkstemp

    def removed(prefix: str, dir: Path) -> tuple[int, str]:
        shutil.rmtree(dir)
        return make(prefix=prefix, dir=dir)

    monkeypatch.setattr(tempfile, "mkstemp", removed)
    with pytest.raises(UserError, match=r"is gone from .*\.d\.build.* Run the same command again"):
        store.put("rows", Part())
    monkeypatch.undo()
    store.put("rows", Part())
    assert store.get("rows") is not None


def test_two_builds_of_one_folder_do_not_meet(
    make_recipe: Any, tmp_path: Path, make_scorer: Any
) -> None:
    (tmp_path / "good.jsonl").write_bytes(_text(_lines(30)))
    (tmp_path / "a.jsonl").write_bytes(b"")
    recipe: Recipe = make_recipe(ENTRIES % "a.jsonl")
    said: list[str] = []

    def other() -> None:
        with pytest.raises(UserError, match="another build is writing") as caught:
            build_with(make_scorer(), recipe, tmp_path / "d", progress=NullProgress())
        said.append(str(caught.value))

    build_with(make_scorer(), recipe, tmp_path / "d", progress=Listening(other))
    assert len(said) == 1
    assert len(load(tmp_path / "d")) == 30


KILLED_WRITER = """
import os, signal, sys
from pathlib import Path
from prorl_common import NullProgress
from prorl_datasets import load_recipe
from prorl_datasets.building import writing
from prorl_datasets.building.builder import build_with
from prorl_datasets.rows.parts import Part, PartStore
sys.path.insert(0, {tests!r})
from conftest import FakeScorer
write = writing.write_split

def half(path, rows):
    def some():
        for number, row in enumerate(rows):
            yield row
            if number == 200:
                assert path.exists()
                os.kill(os.getpid(), signal.SIGKILL)
    return write(path, some())

writing.write_split = half
build_with(FakeScorer(), load_recipe({recipe!r}), Path({out!r}), progress=NullProgress())
"""


def test_a_killed_writer_leaves_no_half_dataset_and_nothing_behind(
    tmp_path: Path, make_scorer: Any
) -> None:
    from prorl_datasets import load_recipe

    (tmp_path / "good.jsonl").write_bytes(_text(_lines(300)))
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "x.yaml").write_text(ENTRIES % "a.jsonl")
    out = tmp_path / "d"
    program = KILLED_WRITER.format(
        tests=str(Path(__file__).parent), recipe=str(tmp_path / "x.yaml"), out=str(out)
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert not out.exists()
    listening, again = Listening(), make_scorer()
    recipe = load_recipe(tmp_path / "x.yaml")
    build_with(again, recipe, out, progress=listening)
    assert again.seen == 0
    assert any("continuing" in text for text in listening.said)
    assert len(load(out)) == 300
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "d", "good.jsonl", "x.yaml"]


def test_a_full_disk_is_one_line_and_room_lets_the_build_go_on(
    make_recipe: Any, tmp_path: Path, make_scorer: Any
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=500k", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can only be mounted by root")
    try:
        (tmp_path / "good.jsonl").write_bytes(_text(_lines(300)))
        (tmp_path / "a.jsonl").write_bytes(_text([x.replace("?", " now?") for x in _lines(900)]))
        recipe = make_recipe(ENTRIES % "a.jsonl")
        with pytest.raises(DiskFullError, match="the disk is full") as caught:
            build_with(make_scorer(), recipe, disk / "d", progress=NullProgress())
        assert "\n" not in str(caught.value)
        assert not (disk / "d").exists()
        subprocess.run(["mount", "-o", "remount,size=30m", str(disk)], check=True)
        listening, second = Listening(), make_scorer()
        build_with(second, recipe, disk / "d", progress=listening)
        assert any("continuing" in text for text in listening.said)
        assert second.seen < 1200
        assert len(load(disk / "d")) == 1200
    finally:
        subprocess.run(["umount", str(disk)], check=True)
