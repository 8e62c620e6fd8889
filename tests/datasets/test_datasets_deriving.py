"""Filter, merge and show: whole datasets out of datasets, with their parents named, in the same bytes each time."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.data.app import app
from prorl_common import NullProgress
from prorl_datasets import (
    DatasetError,
    diff,
    export,
    filter_dataset,
    inspect,
    load,
    merge_datasets,
    read_manifest,
    show,
    verify_dataset,
)
from prorl_datasets.storage import _schema
from prorl_verifiers import VerifierPool


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def make(folder: Path, **rows: list[tuple[str, str, str]]) -> Path:
    """A dataset of (id, question, answer) by split."""
    import pyarrow as pa
    from pyarrow import parquet

    from prorl_common import sha256_file

    folder.mkdir()
    files = {}
    for split, members in rows.items():
        columns = [
            {
                "id": name, "domain": "math", "split": split, "verifier": "math", "source": "s",
                "prompt": [{"role": "user", "content": question}], "reference": json.dumps({"answer": answer}),
                "licence": "x", "gold_check": "none", "metadata": json.dumps({"entry": "e", "weight": 2.0}),
            }
            for name, question, answer in members
        ]  # fmt: skip
        path = folder / f"{split}.parquet"
        parquet.write_table(pa.Table.from_pylist(columns, schema=_schema()), path)
        files[path.name] = {"rows": len(columns), "sha256": sha256_file(path)}
    (folder / "manifest.json").write_text(
        json.dumps({"recipe": folder.name, "seed": 1, "files": files})
    )
    return folder


def test_a_filtered_dataset_is_a_whole_one(
    small_dataset: Path, tmp_path: Path, pool: VerifierPool
) -> None:
    where = 'domain == "math" and split == "train" and number(answer) > 9 and level == 1'
    derived = filter_dataset(small_dataset, where, tmp_path / "f")
    before = {s.id: s for s in load(small_dataset)}
    after = load(tmp_path / "f")
    expected = [
        s.id for s in before.values()
        if s.domain == "math" and s.split == "train" and float(s.task.reference["answer"]) > 9
    ]  # fmt: skip
    assert 0 < len(after) == derived.rows["train"] and [s.id for s in after] == expected
    assert all(sample == before[sample.id] for sample in after)
    assert sum(derived.left_out.values()) == len(before) - len(after)
    manifest = read_manifest(tmp_path / "f")
    said = manifest["derived"]
    assert (said["verb"], said["where"]) == ("filter", where)
    assert said["parents"][0]["recipe"] == "small" and str(tmp_path) not in json.dumps(manifest)
    assert verify_dataset(tmp_path / "f", progress=NullProgress(), scorer=pool).ok
    assert inspect(tmp_path / "f")["rows"] == len(after)
    assert export(tmp_path / "f", tmp_path / "x", "trl").rows == {"train.parquet": len(after)}
    filter_dataset(small_dataset, where, tmp_path / "g" / "f")
    assert contents(tmp_path / "g" / "f") == contents(tmp_path / "f")
    again = filter_dataset(tmp_path / "f", "true", tmp_path / "h")
    assert again.left_out == {} and diff(tmp_path / "f", tmp_path / "h").same
    assert (tmp_path / "h" / "train.parquet").read_bytes() == (
        tmp_path / "f" / "train.parquet"
    ).read_bytes()


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("levle == 1", r"no row has 'levle' \(did you mean 'level'\?\)"),
        ("form == 3", "no row has 'form'"),
        ("level", r"row 'add-train-000000': `level`, character 1: a condition is true or false"),
        ("level >", "not an expression"),
        ("level > 99", "no row is left, so nothing was written"),
        ('metadata["nope"] == 1', "row 'add-train-000000': .*no 'nope'"),
    ],
)
def test_a_filter_that_cannot_be_is_one_line_and_writes_nothing(
    small_dataset: Path, tmp_path: Path, where: str, said: str
) -> None:
    with pytest.raises(DatasetError, match=said) as caught:
        filter_dataset(small_dataset, where, tmp_path / "f")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "f").exists() and not [*tmp_path.iterdir()]


def test_names_that_some_rows_lack_are_null_there(small_dataset: Path, tmp_path: Path) -> None:
    filter_dataset(small_dataset, "verified_by is not null", tmp_path / "f")
    assert {s.gold_check for s in load(tmp_path / "f")} == {"verified"}
    filter_dataset(small_dataset, "answer is null", tmp_path / "g")
    assert {s.domain for s in load(tmp_path / "g")} == {"code"}


def test_a_merge_keeps_each_text_once_and_evaluation_texts_out_of_train(tmp_path: Path) -> None:
    a = make(
        tmp_path / "a", train=[("e-1", "One?", "1"), ("e-2", "Two?", "2"), ("e-3", "Shared?", "3")]
    )
    b = make(
        tmp_path / "b",
        train=[
            ("e-1", "Other?", "9"),
            ("e-10", "Ten?", "10"),
            ("e-2", "two? ", "2"),
            ("e-4", "One?", "7"),
        ],
        validation=[("e-3", "New?", "4"), ("v-1", "shared?", "3")],
    )
    derived, renamed = merge_datasets([a, b], tmp_path / "m")
    rows = {
        s.id: (s.split, s.prompt[0]["content"], s.task.reference["answer"])
        for s in load(tmp_path / "m")
    }
    assert rows == {
        "e-1": ("train", "One?", "1"),
        "e-1~2": ("train", "Other?", "9"),
        "e-10": ("train", "Ten?", "10"),
        "e-2": ("train", "Two?", "2"),
        "v-1": ("validation", "shared?", "3"),
        "e-3": ("validation", "New?", "4"),
    }
    assert renamed == 1
    assert derived.left_out == {
        "the same text, kept once": 1,
        "the same text with another reference, the first kept": 1,
        "the text is in an evaluation split": 1,
    }
    for split in ("train", "validation"):
        ids = [s.id for s in load(tmp_path / "m", split)]
        assert ids == sorted(ids)
    texts = Counter(" ".join(text.lower().split()) for _, text, _ in rows.values())
    assert max(texts.values()) == 1
    manifest = read_manifest(tmp_path / "m")
    assert [p["name"] for p in manifest["derived"]["parents"]] == ["a", "b"]
    assert manifest["stages"]["math"]["duplicate"] == 3
    merge_datasets([a, b], tmp_path / "n" / "m")
    assert contents(tmp_path / "n" / "m") == contents(tmp_path / "m")
    assert verify_dataset(tmp_path / "m", progress=NullProgress(), workers=1).ok


def test_benchmarks_count_as_checked_only_where_all_parents_were(tmp_path: Path) -> None:
    a, b = (
        make(tmp_path / "a", train=[("e-1", "One?", "1")]),
        make(tmp_path / "b", train=[("f-1", "Two?", "2")]),
    )
    for folder, checked in ((a, {"gsm8k": 9, "math_500": 5}), (b, {"gsm8k": 9})):
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["decontamination"] = {
            "checked": checked,
            "not_checked": {},
            "rows_like_an_item": {},
        }
        (folder / "manifest.json").write_text(json.dumps(manifest))
    merge_datasets([a, b], tmp_path / "m")
    found = read_manifest(tmp_path / "m")["decontamination"]
    assert found["checked"] == {"gsm8k": 9}
    assert found["not_checked"] == {
        "math_500": "only some of the merged datasets were compared with it"
    }


def test_a_merge_of_what_is_none_is_one_line(small_dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="two datasets or more, each named once"):
        merge_datasets([small_dataset, small_dataset], tmp_path / "m")
    with pytest.raises(DatasetError, match="no such dataset folder"):
        merge_datasets([small_dataset, tmp_path / "none"], tmp_path / "m")
    with pytest.raises(DatasetError, match="is there already"):
        merge_datasets(
            [small_dataset, make(tmp_path / "a", train=[("e-1", "One?", "1")])], tmp_path / "a"
        )


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


def test_the_verbs_print_json_and_words(small_dataset: Path, tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(app, [*words])

    half = run(
        "filter",
        str(small_dataset),
        "--where",
        'domain == "math"',
        "--out",
        str(tmp_path / "f"),
        "--json",
    )
    assert json.loads(half.stdout)["rows"] == {"train": 30, "validation": 3, "test": 3}
    both = run(
        "merge", str(small_dataset), str(tmp_path / "f"), "--out", str(tmp_path / "m"), "--json"
    )
    assert json.loads(both.stdout)["left_out"] == {"the same text, kept once": 36}
    name = load(tmp_path / "m", "validation")[0].id
    shown = run("show", str(tmp_path / "m"), name)
    assert f"\n{name}\n" in shown.stdout and "gold_check: self-consistent" in shown.stdout
    assert json.loads(run("show", str(tmp_path / "m"), name, "--json").stdout)["id"] == name
    wrong = run("filter", str(small_dataset), "--where", "domain = 1", "--out", str(tmp_path / "g"))
    assert isinstance(wrong.exception, DatasetError)


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
