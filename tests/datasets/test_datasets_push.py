from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hub_faults import Status
from hub_server import FakeHub
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import NullProgress, ServiceError, UserError
from prorl_datasets import DatasetError, plan_push, push
from prorl_datasets.hub.access import resolve

# the hub's client passes bytes to its transport in a deprecated way
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


def pushed(folder: Path, repo: str = "me/small", private: bool = False) -> dict[str, bytes]:
    """Push and return the files that are then in the repository."""
    push(folder, repo, private=private, environment=os.environ, progress=NullProgress())
    return {file.name: file.path.read_bytes() for file in resolve(repo, "main", ["*"])}


def test_a_push_has_the_hubs_layout_card_and_manifest(writer: FakeHub, small_dataset: Path) -> None:
    files = pushed(small_dataset, private=True)
    assert sorted(files) == [
        ".gitattributes",
        "README.md",
        "data/test-00000-of-00001.parquet",
        "data/train-00000-of-00001.parquet",
        "data/validation-00000-of-00001.parquet",
        "manifest.json",
    ]
    assert (
        files["data/train-00000-of-00001.parquet"] == (small_dataset / "train.parquet").read_bytes()
    )
    assert files["manifest.json"] == (small_dataset / "manifest.json").read_bytes()
    card = files["README.md"].decode()
    for split in ("train", "validation", "test"):
        assert f"  - split: {split}\n    path: data/{split}-*.parquet\n" in card
    assert 'datasets.load_dataset("me/small")' in card
    assert writer.repos["me/small"].private


def test_a_push_can_be_loaded_by_the_datasets_library(
    writer: FakeHub, small_dataset: Path, tmp_path: Path
) -> None:
    library = pytest.importorskip("datasets")
    files = pushed(small_dataset)
    for name, data in files.items():
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / name).write_bytes(data)
    loaded = library.load_dataset(str(tmp_path / "copy"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == {
        "train": 50,
        "validation": 3,
        "test": 3,
    }


def test_tables_of_an_earlier_push_are_removed_and_other_files_stay(
    writer: FakeHub, small_dataset: Path
) -> None:
    old = {"data/train-00000-of-00002.parquet": b"old", "notes.md": b"mine", "README.md": b"old"}
    writer.put("me/small", old)
    files = pushed(small_dataset)
    assert "data/train-00000-of-00002.parquet" not in files
    assert files["notes.md"] == b"mine" and files["README.md"] != b"old"


def test_texts_of_rows_that_were_left_out_stay_at_home_and_earlier_ones_are_removed(
    writer: FakeHub, small_dataset: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(small_dataset, copy)
    home = ("decontamination.jsonl", "quarantine.jsonl", "dropped.jsonl")
    for name in home[:2]:
        (copy / name).write_text("a question of a benchmark")
    assert all((copy / name).is_file() for name in home)
    writer.put("me/small", dict.fromkeys(home, b"old"))
    assert not {*home} & {*pushed(copy)}


def test_a_dry_run_asks_nobody_and_needs_no_token(hub: FakeHub, small_dataset: Path) -> None:
    result = CliRunner().invoke(
        build_app(), ["push", str(small_dataset), "me/small", "--dry-run", "--json"]
    )
    assert result.exit_code == 0
    shown = json.loads(result.stdout)
    assert shown["rows"] == {"train": 50, "validation": 3, "test": 3}
    assert "data/train-00000-of-00001.parquet" in shown["files"] and not shown["url"]
    assert not hub.seen


def test_without_a_token_one_line_says_how_to_get_one(hub: FakeHub, small_dataset: Path) -> None:
    with pytest.raises(UserError, match="no token: set HF_TOKEN to a token with write access"):
        pushed(small_dataset)
    assert not hub.seen


def test_a_refused_token_and_a_broken_hub_are_one_line_each(
    writer: FakeHub, small_dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.plan.by_path["/api/repos/create"] = [Status(400)]
    with pytest.raises(ServiceError, match=r"the push to me/small failed .*try again"):
        pushed(small_dataset)
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    with pytest.raises(UserError, match=r"refuses the push to me/small \(HTTP 401\)") as caught:
        pushed(small_dataset)
    assert "\n" not in str(caught.value)


def test_what_is_no_whole_dataset_is_not_pushed(small_dataset: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(small_dataset, copy)
    with pytest.raises(UserError, match="is not a repository id: write it as owner/name"):
        plan_push(copy, "small")
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "failed": ["add"]}))
    with pytest.raises(DatasetError, match=r"lacks entries of its recipe \(add\)"):
        plan_push(copy, "me/small")
    (copy / "train.parquet").write_bytes(b"other")
    with pytest.raises(DatasetError, match="is missing or differs from the manifest"):
        plan_push(copy, "me/small")
