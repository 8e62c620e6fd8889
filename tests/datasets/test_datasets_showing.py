from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.data.app import app
from prorl_datasets import DatasetError, load, show


def test_show_tells_all_of_a_row(small_dataset: Path) -> None:
    found = show(small_dataset, "last-train-000003")
    assert (
        found["kept"]
        and found["verifier"] == "code"
        and found["gold_response"].startswith("```python")
    )
    assert found["dataset"]["entry_kept"] == {"train": 20, "validation": 0, "test": 0}
    assert json.loads(json.dumps(found)) == found
    first = load(small_dataset, "train")[0].id
    assert show(small_dataset / "train.parquet", first)["kept"]
    with pytest.raises(
        DatasetError, match=r"no row 'last-train-00003' \(did you mean 'last-train-0000"
    ):
        show(small_dataset, "last-train-00003")


def test_the_command_prints_words_and_json(small_dataset: Path) -> None:
    name = load(small_dataset, "validation")[0].id
    words = CliRunner().invoke(app, ["inspect", str(small_dataset), name])
    assert f"\n{name}\n" in words.stdout and "gold_check: self-consistent" in words.stdout
    as_json = CliRunner().invoke(app, ["inspect", str(small_dataset), name, "--json"])
    assert json.loads(as_json.stdout)["id"] == name


def test_show_tells_why_a_row_was_dropped(small_dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "d"
    shutil.copytree(small_dataset, out)
    manifest: dict[str, Any] = json.loads((out / "manifest.json").read_text())
    repeated = {"row": "add-train-90", "stage": "duplicate", "reason": "duplicate", "like": "add"}
    for name, line in (
        ("decontamination.jsonl", {"row": "mine-7", "benchmark": "math_500", "item": "3"}),
        (
            "quarantine.jsonl",
            {"row": "mine-8", "reason": "bad row: x", "detail": "y", "columns": {}},
        ),
        ("dropped.jsonl", repeated),
    ):
        (out / name).write_text(json.dumps(line) + "\n")
        manifest["files"][name] = {"rows": 1, "sha256": "-"}
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert show(out, "mine-train-000007")["drops"][0]["benchmark"] == "math_500"
    assert show(out, "mine-000008")["drops"][0]["kind"] == "bad row"
    assert show(out, "add-train-000090")["drops"] == [{"kind": "dropped", **repeated}]
