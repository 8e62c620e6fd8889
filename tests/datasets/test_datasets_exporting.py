from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.data.app import app
from prorl_common import NullProgress
from prorl_datasets import DatasetError, Recipe, diff, export, inspect, load, verify_dataset
from prorl_datasets.building.builder import build_with
from prorl_datasets.storage import COLUMNS, _schema
from prorl_verifiers import load_task
from prorl_verifiers.adapters.openrlhf import rollout_item
from prorl_verifiers.adapters.verl import verl_task
from prorl_verifiers.tasks import task_of


@pytest.fixture
def hub_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The library ``datasets``, offline and with its own cache."""
    library = pytest.importorskip("datasets")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    cache = str(tmp_path / "cache")
    return lambda *words, **more: library.load_dataset(*words, cache_dir=cache, **more)


def test_the_folder_loads_as_a_dataset_with_its_splits(
    small_dataset: Path, hub_library: Callable[..., Any]
) -> None:
    found = hub_library(str(small_dataset))
    assert {name: len(rows) for name, rows in found.items()} == {
        "train": 50,
        "validation": 3,
        "test": 3,
    }
    assert tuple(found["train"].column_names) == tuple(COLUMNS)
    row = found["train"][0]
    assert row["prompt"] == [dict(m) for m in load(small_dataset, "train")[0].prompt]
    assert load_task(row["verifier"], json.loads(row["reference"]))


@pytest.mark.parametrize("fmt", ["openrlhf", "verl", "trl"])
def test_every_export_loads_back_as_the_same_tasks(
    small_dataset: Path, tmp_path: Path, hub_library: Callable[..., Any], fmt: str
) -> None:
    out = tmp_path / fmt
    assert sum(export(small_dataset, out, fmt).rows.values()) == 56
    kind = "json" if fmt == "openrlhf" else "parquet"
    files = {p.stem: str(p) for p in sorted(out.iterdir())}
    found = hub_library(kind, data_files=files)
    for split in ("train", "validation", "test"):
        samples = load(small_dataset, split)
        rows = list(found[split])
        assert [_task(fmt, row) for row in rows] == [sample.task for sample in samples]
        chat = [row["input" if fmt == "openrlhf" else "prompt"] for row in rows]
        assert chat == [[dict(m) for m in sample.prompt] for sample in samples]


@pytest.mark.parametrize("fmt", ["openrlhf", "verl", "trl"])
def test_sampling_weights_travel_and_the_command_says_who_does_not_read_them(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any, fmt: str
) -> None:
    import pyarrow.parquet

    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nweights: {stem: 3}\nentries:\n"
        "  - {name: a, domain: math, source: {kind: procedural, family: add}, count: {train: 4}}\n"
        "  - {name: b, domain: stem, source: {kind: procedural, family: planet}, count: {train: 2}}\n"
    )
    build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    words = ["export", str(tmp_path / "d"), "--format", fmt, "--out", str(tmp_path / "e")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    said = " ".join(done.stderr.split())
    assert (
        "sampling weights: 1 (4 rows), 3 (2 rows)" in said and f"which {fmt} does not read" in said
    )
    file = tmp_path / "e" / ("train.jsonl" if fmt == "openrlhf" else "train.parquet")
    if fmt == "openrlhf":
        rows = [json.loads(line) for line in file.read_text().splitlines()]
    else:
        rows = pyarrow.parquet.read_table(file).to_pylist()
    found = [row["extra_info"]["weight"] if fmt == "verl" else row["weight"] for row in rows]
    assert sorted(found) == [1.0] * 4 + [3.0] * 2


def _task(fmt: str, row: dict[str, Any]) -> Any:
    if fmt == "verl":
        truth = row["reward_model"]["ground_truth"]
        return verl_task(row["data_source"], truth, row["extra_info"])
    if fmt == "trl":
        return task_of({"verifier": row["verifier"], "reference": row["reference"]})
    response, task = rollout_item("ask me: 4", "ask me:", row["task"])
    assert response.strip() == "4"
    return task


def _odd(tmp_path: Path, **changes: Any) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    row = {
        "id": "a", "domain": "math", "split": "train", "verifier": "math", "source": "s",
        "prompt": [{"role": "user", "content": "hi"}], "reference": '{"answer": "1"}',
        "licence": "x", "gold_check": "none", "metadata": "{}",
    }  # fmt: skip
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
    parquet.write_table(pa.Table.from_pylist([{**row, **changes}], schema=_schema()), path)
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"reference": "[1]"},
        {"metadata": "null"},
        {"reference": None},
        {"prompt": [{"role": "user", "content": None}]},
        {"prompt": []},
        {"split": "dev"},
    ],
)
def test_an_odd_row_is_one_line_everywhere(tmp_path: Path, changes: dict[str, Any]) -> None:
    path, good = _odd(tmp_path, **changes), _odd(tmp_path)
    for look in (
        lambda: inspect(path),
        lambda: diff(good, path),
        lambda: verify_dataset(path, progress=NullProgress(), workers=1),
        lambda: export(path, tmp_path / "out", "trl"),
    ):
        with pytest.raises(DatasetError, match="row 'a' is malformed") as caught:
            look()
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_row_whose_task_lacks_its_answer_is_shown_and_fails_verify(tmp_path: Path) -> None:
    for changes in (
        {"reference": "{}"},
        {"domain": "logic", "verifier": "logic", "reference": '{"entry": []}'},
        {"domain": "instruction", "reference": "{}", "verifier": "instruction"},
    ):
        path = _odd(tmp_path, **changes)
        assert inspect(path)["rows"] == 1
        report = verify_dataset(path, progress=NullProgress(), workers=1)
        assert [name for name, _ in report.malformed] == ["a"]
        assert not report.ok
