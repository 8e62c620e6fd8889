from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress
from prorl_datasets import (
    BuildOptions,
    DatasetError,
    Recipe,
    diff,
    inspect,
    load,
    newest_dataset,
    verify_dataset,
)
from prorl_datasets.building.builder import build_with


@pytest.fixture
def dataset(small_dataset: Path, tmp_path: Path) -> Path:
    shutil.copytree(small_dataset, tmp_path / "data" / "small")
    return tmp_path / "data" / "small"


def test_folder_file_and_split_agree(dataset: Path) -> None:
    train = load(dataset, "train")
    assert train == load(dataset / "train.parquet")
    assert len(load(dataset)) == len(train) + len(load(dataset, "validation")) + 3
    assert [s.id for s in train] == sorted(s.id for s in train)
    assert train[0].prompt[0]["role"] == "user"


@pytest.mark.parametrize("split", ["trian", ""])
def test_unknown_split_is_named(dataset: Path, split: str) -> None:
    with pytest.raises(DatasetError, match="unknown split"):
        load(dataset, split)


def test_a_changed_file_does_not_pass_for_the_one_in_the_manifest(dataset: Path) -> None:
    os.replace(dataset / "test.parquet", dataset / "train.parquet")
    for path in (dataset, dataset / "train.parquet"):
        with pytest.raises(DatasetError, match="hash differs"):
            load(path)
    with pytest.raises(DatasetError, match="missing though the manifest lists it"):
        load(dataset, "test")


def test_corrupt_parquet_is_one_line(dataset: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.parquet"
    torn.write_bytes((dataset / "train.parquet").read_bytes()[:-100])
    with pytest.raises(DatasetError, match="not a readable Parquet file") as caught:
        load(torn)
    assert "\n" not in str(caught.value)


def test_corrupt_manifest_is_one_line(dataset: Path) -> None:
    for text in ("{", "[]", "{}"):
        (dataset / "manifest.json").write_text(text)
        with pytest.raises(DatasetError, match="corrupt"):
            load(dataset)


def test_wrong_columns_are_named_with_the_nearest(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"id": ["a"], "promt": ["b"]}), tmp_path / "x.parquet")
    with pytest.raises(DatasetError, match=r"'prompt' \(did you mean 'promt'\?\)"):
        load(tmp_path / "x.parquet")


def test_malformed_row_is_named(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    from prorl_datasets.storage import COLUMNS, _schema

    row: dict[str, Any] = dict.fromkeys(COLUMNS, "x") | {
        "prompt": [{"role": "user", "content": "hi"}],
        "reference": "{",
        "metadata": "{}",
    }
    parquet.write_table(pa.Table.from_pylist([row], schema=_schema()), tmp_path / "x.parquet")
    with pytest.raises(DatasetError, match="row 'x' is malformed"):
        load(tmp_path / "x.parquet")


def test_empty_dataset_is_one_line(tmp_path: Path) -> None:
    from pyarrow import parquet

    from prorl_datasets.storage import _schema

    parquet.write_table(_schema().empty_table(), tmp_path / "x.parquet")
    with pytest.raises(DatasetError, match="holds no samples"):
        load(tmp_path / "x.parquet")


def test_newest_dataset_is_the_one_written_last(dataset: Path, tmp_path: Path) -> None:
    assert newest_dataset(tmp_path / "nowhere") is None
    assert newest_dataset(tmp_path / "data") == dataset
    other = tmp_path / "data" / "other"
    other.mkdir()
    (other / "manifest.json").write_text("{}")
    os.utime(dataset / "manifest.json", ns=(1, 1))
    assert newest_dataset(tmp_path / "data") == other


def test_inspect_counts_and_shows_examples(dataset: Path) -> None:
    summary = inspect(dataset, examples=2)
    assert summary["counts"]["train"] == {"math": 30, "code": 20}
    assert [e["domain"] for e in summary["examples"]] == ["math", "math", "code", "code"]
    json.dumps(summary)


def test_verify_names_gold_that_fails_now(dataset: Path, make_scorer: Any) -> None:
    assert verify_dataset(dataset, progress=NullProgress(), scorer=make_scorer()).ok
    report = verify_dataset(
        dataset, progress=NullProgress(), scorer=make_scorer(refused=("def",)), isolated=True
    )
    assert len(report.failed) == 20
    weak = verify_dataset(
        dataset, progress=NullProgress(), scorer=make_scorer(refused=("def",)), isolated=False
    )
    assert weak.ok
    assert weak.skipped_code == 20


def test_diff_tells_added_removed_and_changed(
    small: Recipe, dataset: Path, tmp_path: Path, accepting: Any
) -> None:
    options = BuildOptions(seed=9, isolated=False)
    build_with(accepting, small, tmp_path / "b", progress=NullProgress(), options=options)
    report = diff(dataset, tmp_path / "b")
    assert any(i.startswith("last-train") for i in report.removed)
    assert report.changed
    assert all(i.startswith("add-") for i in report.changed + report.added)
