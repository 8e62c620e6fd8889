from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from prorl_cli.data.building import benchmarks_command
from prorl_datasets import BENCHMARKS
from prorl_datasets.benchmarks import benchmark_names, load_benchmark, read_benchmark, texts
from prorl_datasets.types import DatasetError

ROWS = Path(__file__).parents[1] / "data" / "benchmark_rows"


def _put(mirror: Path, place: str, source: str) -> Path:
    path = mirror / place
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROWS / source, path)
    return mirror


@pytest.mark.parametrize(
    "place",
    ["Idavidrein/gpqa/gpqa_diamond.csv", "Idavidrein__gpqa/gpqa_diamond.csv", "gpqa_diamond.csv"],
)
def test_a_mirror_may_lie_in_any_of_the_layouts(tmp_path: Path, place: str) -> None:
    assert (
        len(load_benchmark("gpqa_diamond", mirror=_put(tmp_path, place, "gpqa_diamond.csv"))) == 3
    )


def test_json_gzip_and_parquet_hold_the_same_benchmark(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    rows = [json.loads(x) for x in (ROWS / "aime_2024.jsonl").read_text().splitlines()]
    folders = [tmp_path / kind for kind in ("json", "gz", "parquet")]
    for folder in folders:
        folder.mkdir()
    (folders[0] / "aime_2024.json").write_text(json.dumps(rows))
    with gzip.open(folders[1] / "aime_2024.jsonl.gz", "wt") as file:
        file.write("".join(json.dumps(r) + "\n" for r in rows))
    parquet.write_table(pyarrow.Table.from_pylist(rows), folders[2] / "aime_2024.parquet")
    found = [load_benchmark("aime_2024", mirror=folder) for folder in folders]
    assert found[0] == found[1] == found[2]


def test_files_of_an_alternate_data_set_do_as_well(tmp_path: Path) -> None:
    mirror = tmp_path / "Maxwell-Jia__AIME_2024"
    mirror.mkdir()
    import pyarrow
    from pyarrow import parquet

    rows = [{"ID": "2024-I-1", "Problem": "What is 2+2?", "Solution": "4", "Answer": 4}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), mirror / "aime_2024_problems.parquet")
    loaded = read_benchmark("aime_2024", mirror=tmp_path)
    assert loaded.samples[0].task.reference == {"answer": "4"}
    assert loaded.origin == "Maxwell-Jia/AIME_2024"
    assert loaded.note is not None and "1 rows where 30 were expected" in loaded.note


def test_two_part_sets_are_read_in_their_order(tmp_path: Path) -> None:
    folder = tmp_path / "opencompass" / "AIME2025"
    folder.mkdir(parents=True)
    for name, text in (("aime2025-I", "One?"), ("aime2025-II", "Two?")):
        (folder / f"{name}.jsonl").write_text(json.dumps({"question": text, "answer": "1"}) + "\n")
    samples = load_benchmark("aime_2025", mirror=tmp_path)
    assert [s.metadata["question"] for s in samples] == ["One?", "Two?"]


def test_ids_do_not_depend_on_the_copy_or_the_order(tmp_path: Path) -> None:
    lines = (ROWS / "aime_2024.jsonl").read_text().splitlines()
    for name, order in (("a", lines), ("b", lines[::-1])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "aime_2024.jsonl").write_text("\n".join(order) + "\n")
    a, b = (load_benchmark("aime_2024", mirror=tmp_path / name) for name in "ab")
    assert [s.id for s in a] == [s.id for s in b][::-1]
    assert all(s.id.startswith("aime_2024-") and s.split == "test" for s in a)


def test_files_that_cannot_be_had_are_one_line_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for mirror in (None, tmp_path):
        with pytest.raises(
            DatasetError, match=r"benchmark ifeval: .*--mirror DIR.*HF_ENDPOINT"
        ) as caught:
            load_benchmark("ifeval", mirror=mirror)
        assert "\n" not in str(caught.value)
    with pytest.raises(DatasetError, match="no such mirror folder"):
        load_benchmark("ifeval", mirror=tmp_path / "absent")


def test_a_repeated_question_is_an_error_where_none_is_allowed(tmp_path: Path) -> None:
    line = (ROWS / "aime_2024.jsonl").read_text().splitlines()[0]
    (tmp_path / "aime_2024.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(DatasetError, match="same id"):
        load_benchmark("aime_2024", mirror=tmp_path)


def test_limit_ends_early_and_an_empty_file_is_an_error(tmp_path: Path) -> None:
    _put(tmp_path, "gpqa_diamond.csv", "gpqa_diamond.csv")
    loaded = read_benchmark("gpqa_diamond", mirror=tmp_path, limit=2)
    assert len(loaded.samples) == 2 and loaded.note is None
    (tmp_path / "ifeval.jsonl").write_text("")
    with pytest.raises(DatasetError, match="contains no rows of benchmark"):
        load_benchmark("ifeval", mirror=tmp_path)


def test_gpqa_options_are_shuffled_for_ever_and_the_letter_names_the_answer(tmp_path: Path) -> None:
    samples = load_benchmark(
        "gpqa_diamond", mirror=_put(tmp_path, "gpqa_diamond.csv", "gpqa_diamond.csv")
    )
    for sample, right in zip(samples, ("Argon", "7", "Mars"), strict=True):
        reference = sample.task.reference
        assert reference["choices"]["ABCD".index(reference["answer"])] == right
        assert f"{reference['answer']}) {right}" in sample.prompt[0]["content"]
        assert all(option == option.strip() for option in reference["choices"])
    assert [s.metadata["order"] for s in samples] == GPQA_ORDERS


GPQA_ORDERS = [[3, 1, 0, 2], [3, 1, 2, 0], [2, 1, 0, 3]]


def _gpqa(tmp_path: Path, changes: dict[str, Any], drop: tuple[str, ...] = ()) -> Path:
    row = {
        "Question": "Q?", "Correct Answer": "a", "Incorrect Answer 1": "b",
        "Incorrect Answer 2": "c", "Incorrect Answer 3": "d", "Record ID": "r",
    } | changes  # fmt: skip
    row = {k: v for k, v in row.items() if k not in drop}
    (tmp_path / "gpqa_diamond.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


def test_a_gpqa_distractor_equal_to_the_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="two options are the same"):
        load_benchmark("gpqa_diamond", mirror=_gpqa(tmp_path, {"Incorrect Answer 2": " a\n"}))


def test_a_gpqa_copy_without_options_is_refused_with_the_cure(tmp_path: Path) -> None:
    row = {"record_id": "r", "question": "Q?", "correct_answer": "a", "metadata": {}}
    (tmp_path / "gpqa_diamond.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DatasetError, match=r"no options .*Idavidrein/gpqa"):
        load_benchmark("gpqa_diamond", mirror=tmp_path)


def test_ifeval_drops_nulls_keeps_zero_and_reads_json_texts(tmp_path: Path) -> None:
    first, second = load_benchmark("ifeval", mirror=_put(tmp_path, "ifeval.jsonl", "ifeval.jsonl"))
    assert first.task.reference["kwargs"] == [{}, {"num_words": 0, "relation": "at least"}]
    assert second.task.reference == {
        "instruction_id_list": ["detectable_format:number_bullet_lists"],
        "kwargs": [{"num_bullets": 2}],
    }
    assert first.id == "ifeval-1" and first.gold_check == "none"


def test_ifeval_nulls_as_parquet_fills_them_give_the_same_samples(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    rows = [json.loads((ROWS / "ifeval.jsonl").read_text().splitlines()[0])]
    (tmp_path / "a").mkdir()
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a" / "ifeval.parquet")
    _put(tmp_path, "ifeval.jsonl", "ifeval.jsonl")
    assert (
        load_benchmark("ifeval", mirror=tmp_path / "a")
        == load_benchmark("ifeval", mirror=tmp_path)[:1]
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kwargs": [{}]}, "kwargs differ: 2 and 1"),
        ({"kwargs": "[{"}, "not valid JSON"),
        ({"prompt": None}, "the prompt must be text"),
        ({"kwargs": [{}, 3]}, "the kwargs has an unknown shape"),
    ],
)
def test_malformed_ifeval_rows_name_file_and_line(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    row = json.loads((ROWS / "ifeval.jsonl").read_text().splitlines()[0]) | changes
    (tmp_path / "ifeval.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DatasetError, match=rf"ifeval.jsonl:1: .*{message}"):
        load_benchmark("ifeval", mirror=tmp_path)


def test_the_text_for_decontamination_is_the_question_without_options_or_suffix(
    tmp_path: Path,
) -> None:
    sample = load_benchmark(
        "gpqa_diamond", mirror=_put(tmp_path, "gpqa_diamond.csv", "gpqa_diamond.csv")
    )[1]
    assert texts(sample) == ("Which of these is a prime (made-up row)?",)


def _run(*words: str) -> Result:
    app = typer.Typer()
    app.command("benchmarks")(benchmarks_command)
    return CliRunner().invoke(app, [*words])


def test_the_command_lists_every_benchmark() -> None:
    listed = json.loads(_run("--json").stdout)
    assert [b["name"] for b in listed] == benchmark_names()
    shown = _run().stdout
    lines = shown.splitlines()
    assert "9600" in shown and all(len(line.rstrip()) <= 80 for line in lines)
    listed = [n for n in benchmark_names() if any(x.startswith(n + " ") for x in lines)]
    assert len([name for name in listed if BENCHMARKS.find(name)[1].is_ours]) == 19


def test_the_command_writes_samples_and_prints_examples(tmp_path: Path) -> None:
    _put(tmp_path, "ifeval.jsonl", "ifeval.jsonl")
    out = tmp_path / "out.jsonl"
    result = _run("ifeval", "--mirror", str(tmp_path), "--n", "1", "--json", "--out", str(out))
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout[result.stdout.index("{") :])
    assert report["samples"] == 2 and len(report["examples"]) == 1
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert lines[0]["task"]["verifier"] == "instruction" and len(lines) == 2


def test_the_command_shows_no_row_of_a_gated_benchmark(tmp_path: Path) -> None:
    _put(tmp_path, "gpqa_diamond.csv", "gpqa_diamond.csv")
    for words in ((), ("--json",)):
        result = _run("gpqa_diamond", "--mirror", str(tmp_path), *words)
        assert result.exit_code == 0 and "prime" not in result.output
