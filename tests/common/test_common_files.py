from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from prorl_common import (
    DiskFullError,
    Journal,
    UserError,
    atomic_directory,
    atomic_write_text,
    cache_root,
    check_output,
    derive_seed,
    format_seconds,
    nearest,
    read_jsonl,
)
from prorl_common.markup import printable


def test_failed_directory_leaves_the_old_one_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "data"
    with atomic_directory(target) as work:
        (work / "a").write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_directory(target) as work:
        (work / "a").write_text("new")
        raise ZeroDivisionError
    assert (target / "a").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["data"]


def test_directory_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "data"
    for name in ("a", "b"):
        with atomic_directory(target) as work:
            (work / name).write_text(name)
    assert [p.name for p in target.iterdir()] == ["b"]
    assert [p.name for p in tmp_path.iterdir()] == ["data"]


def test_write_below_a_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="is a file, not a folder"):
        atomic_write_text(tmp_path / "file" / "child.txt", "x")


def test_an_output_that_cannot_be_written_is_found_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    check_output(tmp_path / "new" / "deep.txt")
    check_output(tmp_path / "file")
    check_output(tmp_path / "folder", folder=True)
    with pytest.raises(UserError, match="it is a folder, name a file in it"):
        check_output(tmp_path / "folder")
    with pytest.raises(UserError, match="it is a file, name a folder"):
        check_output(tmp_path / "file", folder=True)
    with pytest.raises(UserError, match="file is a file, not a folder"):
        check_output(tmp_path / "file" / "a" / "b")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def _as_nobody(folder: Path) -> None:
    if os.geteuid() == 0:
        os.setuid(65534)
    with pytest.raises(UserError, match="folder is read-only for you"):
        check_output(folder / "new" / "file.txt")


def test_a_folder_of_somebody_else_is_found_before_any_work(tmp_path: Path) -> None:
    folder = Path(f"/tmp/prorl-test-{os.getpid()}/folder")  # user nobody cannot read tmp_path
    folder.mkdir(mode=0o555, parents=True)
    try:
        child = multiprocessing.get_context("fork").Process(target=_as_nobody, args=(folder,))
        child.start()
        child.join()
        assert child.exitcode == 0
    finally:
        shutil.rmtree(folder.parent)


def test_a_journal_has_one_writer(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "a.jsonl") as journal,
        pytest.raises(UserError, match=r"another process is writing .*a\.jsonl"),
    ):
        journal.append({"a": 1})
        Journal(tmp_path / "a.jsonl")
    Journal(tmp_path / "a.jsonl").close()


def test_a_journal_that_is_removed_while_written_is_one_clear_line(tmp_path: Path) -> None:
    with Journal(tmp_path / "a.jsonl") as journal:
        journal.append({"a": 1})
        (tmp_path / "a.jsonl").unlink()
        with pytest.raises(UserError, match="was removed while it was being written"):
            journal.append({"a": 2})


def test_full_disk_is_one_clear_line() -> None:
    with (
        Journal(Path("/dev/full"), fsync=False) as journal,
        pytest.raises(DiskFullError, match="the disk is full"),
    ):
        journal.append({"a": 1})


def test_journal_drops_a_torn_last_line_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n{"a": ')
    with Journal(path) as journal:
        journal.append({"a": 3})
        assert [row["a"] for row in journal.rows()] == [1, 2, 3]


def test_malformed_line_is_named_with_file_and_number(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n\n{broken\n')
    with pytest.raises(UserError, match=r"rows\.jsonl:3: not valid JSON"):
        list(read_jsonl(path))


def test_line_that_is_no_object_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("[1]\n")
    with pytest.raises(UserError, match=r"rows\.jsonl:1: expected a JSON object, got list"):
        list(read_jsonl(path))


def test_gzip_is_read_and_a_cut_gzip_is_named(tmp_path: Path) -> None:
    whole = tmp_path / "rows.jsonl.gz"
    whole.write_bytes(gzip.compress(json.dumps({"a": "x" * 999}).encode()))
    assert [number for number, _ in read_jsonl(whole)] == [1]
    whole.write_bytes(whole.read_bytes()[:-9])
    with pytest.raises(UserError, match="not a readable JSONL file"):
        list(read_jsonl(whole))


def test_seed_depends_on_every_part_and_its_type() -> None:
    seeds = [
        derive_seed(0, "a", 1, 2),
        derive_seed(1, "a", 1, 2),
        derive_seed(0, "b", 1, 2),
        derive_seed(0, "a", 12),
        derive_seed(0, "a", "1", 2),
    ]
    assert len(set(seeds)) == 5
    assert all(0 <= s < 2**63 for s in seeds)
    assert derive_seed(0, "a", 1, 2) == seeds[0]


@pytest.mark.parametrize(("seconds", "text"), [(12.4, "12s"), (200, "3m 20s"), (18420, "5h 07m")])
def test_durations_are_short(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_nearest_says_nothing_when_nothing_is_near() -> None:
    assert nearest("qickstart", ["quickstart", "cpu"]) == " (did you mean 'quickstart'?)"
    assert nearest("zzz", ["quickstart"]) == ""


def test_the_cache_folder_follows_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PRORL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_root() == tmp_path / "xdg" / "prorl"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "prorl"


def test_text_is_made_safe_and_nothing_else_of_it_changes() -> None:
    assert printable("a\r\nb\tc é 漢 🙂") == "a\nb\tc é 漢 🙂"
    assert printable("\x00\x1b\x85\ufdd0\ud800\U0001ffff") == "\ufffd" * 6
    assert printable("<a>\u202e") == "<a>[U+202E]"
