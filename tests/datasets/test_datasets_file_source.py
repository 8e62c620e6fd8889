from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress, UserError
from prorl_datasets import BuildOptions, DatasetError, Recipe, build, load
from prorl_datasets.building.builder import build_with

ROWS = [{"q": f"What is {i} + {i}?", "a": 2 * i} for i in range(30)]


def _recipe(make: Callable[[str], Recipe], path: str, count: str, **more: str) -> Recipe:
    domain, columns = more.get("domain", "math"), more.get("columns", "{prompt: q, answer: a}")
    return make(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n"
        f"  - {{name: mine, domain: {domain}, licence: CC0,"
        f" source: {{kind: file, path: {path}, columns: {columns}}}, count: {count}}}\n"
    )


def _write(path: Path, rows: list[Any]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text(text)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "rows.parquet"])
def test_every_format_gives_the_same_rows_split_without_overlap(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any, name: str
) -> None:
    _write(tmp_path / name, ROWS)
    recipe = _recipe(make_recipe, name, "{train: all, validation: 4, test: 5}")
    build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    by_split = {s: load(tmp_path / "d", s) for s in ("train", "validation", "test")}
    assert {s: len(rows) for s, rows in by_split.items()} == {
        "train": 21,
        "validation": 4,
        "test": 5,
    }
    questions = {s.prompt[0]["content"] for rows in by_split.values() for s in rows}
    assert len(questions) == 30
    sample = by_split["test"][0]
    line = int(sample.metadata["line"])
    assert sample.task.reference == {"answer": str(2 * (line - 1))}
    assert sample.licence == "CC0"


COMPOSED = (
    "name: x\ndecontamination: {benchmarks: []}\nentries:\n"
    "  - {name: mine, domain: math, verifier: composite, licence: CC0,"
    " source: {kind: file, path: rows.csv, columns: {prompt: q}}, count: {train: all}}\n"
)


def _composed_csv(path: Path, gate: str) -> None:
    import csv

    parts = [
        {"verifier": "math", "reference": {"answer": "4"}},
        {"verifier": "math", "name": "ours", "reference": {"answer": "4", "mode": "ours"}},
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["q", "parts", "gate"], ["2 + 2?", json.dumps(parts), gate]])


def test_a_table_may_hold_composed_tasks_as_json(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    _composed_csv(tmp_path / "rows.csv", '["ours"]')
    recipe = make_recipe(COMPOSED.replace("prompt: q", "prompt: q, parts: parts, gate: gate"))
    report = build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    (sample,) = load(tmp_path / "d")
    assert [part["verifier"] for part in sample.task.reference["parts"]] == ["math", "math"]
    assert sample.task.reference["gate"] == ["ours"]
    assert sample.metadata["gold_response"] == "\\boxed{4}"
    assert report.manifest["gold_types"] == {"number + number": 1}


def test_a_composed_row_that_is_wrong_is_named_with_its_part(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    _composed_csv(tmp_path / "rows.csv", '["mine"]')
    recipe = make_recipe(COMPOSED.replace("prompt: q", "prompt: q, parts: parts, gate: gate"))
    with pytest.raises(
        DatasetError, match=r"rows.csv:\d+: composite: the gate names 'mine', which is not a part"
    ):
        build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())


def test_without_isolation_composed_tasks_are_left_out_since_a_part_may_be_code(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    _composed_csv(tmp_path / "rows.csv", "true")
    math = (
        "  - {name: sums, domain: math, source: {kind: procedural, family: multiply},"
        " count: {train: 5}}\n"
    )
    options = BuildOptions(isolated=False)
    report = build_with(
        accepting,
        make_recipe(COMPOSED + math),
        tmp_path / "d",
        progress=NullProgress(),
        options=options,
    )
    assert list(report.manifest["left_out"]) == ["composite"]


def test_duplicate_and_refused_rows_make_a_reported_shortfall(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, make_scorer: Any
) -> None:
    _write(tmp_path / "rows.jsonl", [*ROWS, *ROWS[:5]])
    recipe = _recipe(make_recipe, "rows.jsonl", "{train: 100}")
    scorer = make_scorer(refused=("{8}",))
    report = build_with(scorer, recipe, tmp_path / "d", progress=NullProgress())
    assert report.manifest["drops"] == {"duplicate": 4, "gold response not accepted": 2}
    assert report.short == {"mine": ["train 29/100"]}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"qq": "x", "a": "1"}', r"rows.jsonl:31: no column 'q' \(did you mean 'qq'\?\)"),
        ('{"q": "x", "a": ""}', "rows.jsonl:31: column 'a' is empty"),
        ('{"q": 7, "a": "1"}', "rows.jsonl:31: the prompt must be text"),
    ],
)
def test_a_malformed_line_is_named(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any, line: str, said: str
) -> None:
    _write(tmp_path / "rows.jsonl", ROWS)
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write(line + "\n")
    recipe = _recipe(make_recipe, "rows.jsonl", "{train: 5}")
    with pytest.raises(UserError, match=said) as caught:
        build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    assert "\n" not in str(caught.value)


def test_unknown_field_in_columns_offers_the_nearest(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> None:
    _write(tmp_path / "rows.jsonl", ROWS)
    recipe = _recipe(make_recipe, "rows.jsonl", "{train: 5}", columns="{promt: q}")
    with pytest.raises(
        DatasetError, match=r"'promt' is not a field of math \(did you mean 'prompt'"
    ):
        build(recipe, tmp_path / "d", progress=NullProgress())


def test_json_text_columns_and_null_arguments_are_decoded(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    rows = [
        {
            "prompt": [{"role": "user", "content": "Say something short."}],
            "instruction_id_list": '["punctuation:no_comma"]',
            "kwargs": '[{"relation": null}]',
        }
    ]
    _write(tmp_path / "rows.jsonl", rows)
    recipe = _recipe(
        make_recipe, "rows.jsonl", "{train: 1}", domain="instruction", columns="{prompt: prompt}"
    )
    build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    (sample,) = load(tmp_path / "d")
    assert sample.task.reference["kwargs"] == [{}]
    assert sample.gold_check == "none"
    assert sample.prompt[0]["content"] == "Say something short."


def test_an_entry_says_what_the_references_of_its_rows_hold_beside_their_own(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    rows = [{"q": f"Print {i}.", "t": [{"stdout": str(i)}]} for i in range(6)]
    _write(tmp_path / "rows.jsonl", rows)
    text = (
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n"
        "  - {name: mine, domain: code, licence: CC0, count: {train: 6}, reference: REFERENCE,\n"
        "     source: {kind: file, path: rows.jsonl, columns: {prompt: q, tests: t}}}\n"
    )
    recipe = make_recipe(text.replace("REFERENCE", "{environment: scientific}"))
    build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    found = [sample.task.reference for sample in load(tmp_path / "d", "train")]
    assert len(found) == 6 and all(one["environment"] == "scientific" for one in found)
    assert recipe.digest() != make_recipe(text.replace(" reference: REFERENCE,", "")).digest()
    wrong = make_recipe(text.replace("REFERENCE", "{enviroment: scientific}"))
    with pytest.raises(
        DatasetError, match=r"entry 'mine': reference: .*did you mean 'environment'"
    ):
        build_with(accepting, wrong, tmp_path / "e", progress=NullProgress())


def _arrow(path: Path, rows: list[Any]) -> None:
    import pyarrow as pa

    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)


def _saved(folder: Path) -> None:
    """Write what ``datasets.Dataset.save_to_disk`` writes."""
    folder.mkdir(parents=True)
    names = [f"data-0000{i}-of-00002.arrow" for i in range(2)]
    for i, name in enumerate(names):
        _arrow(folder / name, ROWS[i * 15 : (i + 1) * 15])
    state = {"_data_files": [{"filename": name} for name in names], "_split": "train"}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


def _folder(folder: Path) -> None:
    (folder / "deep").mkdir(parents=True)
    (folder / ".cache").mkdir()
    _write(folder / "a.jsonl", ROWS[:10])
    _write(folder / "deep/b.jsonl.gz", ROWS[10:])
    _write(folder / ".cache/c.jsonl", [{"q": "never"}])
    (folder / "README.md").write_text("words")
    (folder / "dataset_infos.json").write_text("{}")


@pytest.mark.parametrize(
    ("path", "make"),
    [("rows", _folder), ("rows/**/*.jsonl*", _folder), ("rows", _saved), ("rows/*.arrow", _saved)],
)
def test_a_folder_a_pattern_and_a_saved_dataset_give_all_rows(
    make_recipe: Callable[[str], Recipe],
    tmp_path: Path,
    accepting: Any,
    path: str,
    make: Callable[[Path], None],
) -> None:
    make(tmp_path / "rows")
    recipe = _recipe(make_recipe, f'"{path}"', "{train: all}")
    report = build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    assert len({s.prompt[0]["content"] for s in load(tmp_path / "d")}) == 30
    assert len(report.manifest["source_files"]) == 2


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none/*.jsonl", "no file matches"),
        ("empty", "holds no file of rows"),
        ("mixed", r"several formats \(.csv, .jsonl\); give a pattern as path"),
        ("splits", r"holds several splits \(test, train\); give the folder of one"),
        ("torn", r"is incomplete: 1 of its files are missing \(data-00001-of-00002.arrow\)"),
        ("shards", r"is incomplete: 2 of its files are missing \(x-00000-of-00003.jsonl, x-00002"),
        ("shards/*.jsonl", "is incomplete: 2 of its files"),
        ("pointer", "is a Git LFS pointer, not the file itself: run git lfs pull"),
        ("mixed/*", "expected .jsonl"),
    ],
)
def test_what_a_path_cannot_give_is_one_line_with_the_cure(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any, path: str, said: str
) -> None:
    for name in ("empty", "mixed", "splits", "shards", "pointer"):
        (tmp_path / name).mkdir()
    for name in ("a.csv", "b.jsonl", "notes.md"):
        (tmp_path / "mixed" / name).write_text("{}")
    _saved(tmp_path / "splits/train")
    _saved(tmp_path / "splits/test")
    (tmp_path / "splits/dataset_dict.json").write_text("{}")
    _saved(tmp_path / "torn")
    (tmp_path / "torn/data-00001-of-00002.arrow").unlink()
    _write(tmp_path / "shards/x-00001-of-00003.jsonl", ROWS)
    (tmp_path / "pointer/a.jsonl").write_text("version https://git-lfs.github.com/spec/v1\n")
    recipe = _recipe(make_recipe, f'"{path}"', "{train: all}")
    with pytest.raises(DatasetError, match=said) as caught:
        build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    assert "\n" not in str(caught.value)


def test_columns_may_be_parts_of_nested_ones(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    rows = [
        {
            "chat": [{"role": "user", "content": f"{i} + {i}?"}],
            "reward": {"truth": str(2 * i)},
            "n": i,
        }
        for i in range(5)
    ]
    _write(tmp_path / "rows.parquet", rows)
    columns = "{prompt: chat.0.content, answer: reward.truth}"
    recipe = _recipe(make_recipe, "rows.parquet", "{train: all}", columns=columns)
    build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    samples = load(tmp_path / "d")
    assert {sample.task.reference["answer"] for sample in samples} == {"0", "2", "4", "6", "8"}
    assert {tuple(sample.metadata["extra"]) for sample in samples} == {("n",)}
    recipe = _recipe(make_recipe, "rows.parquet", "{train: all}", columns="{prompt: chat.9.text}")
    with pytest.raises(DatasetError, match=r"rows.parquet:1: no column 'chat.9.text'"):
        build_with(accepting, recipe, tmp_path / "e", progress=NullProgress())
