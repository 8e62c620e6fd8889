from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doubles import Messages

from prorl_common import DiskFullError, NullProgress, ServiceError, UserError
from prorl_datasets import BuildOptions, Recipe, diff, load, read_manifest
from prorl_datasets.building import collect
from prorl_datasets.building.builder import build_with
from prorl_datasets.candidate import normalised


class StopAfter(NullProgress):
    """Progress that fails after ``parts`` reports, as a kill would."""

    def __init__(self, parts: int) -> None:
        self.left = parts

    def advance(self, count: int = 1, **fields: str) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def _bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob("*.parquet")}


def test_rows_have_the_agreed_columns_counts_and_gold_checks(
    small: Recipe, tmp_path: Path, accepting: Any
) -> None:
    import pyarrow.parquet

    report = build_with(accepting, small, tmp_path / "d", progress=NullProgress())
    assert pyarrow.parquet.read_schema(tmp_path / "d" / "train.parquet").names == [
        "id", "domain", "split", "prompt", "verifier", "reference", "source", "licence",
        "gold_check", "metadata",
    ]  # fmt: skip
    assert report.manifest["counts"]["train"] == {"code": 20, "math": 30}
    samples = load(tmp_path / "d")
    assert {s.gold_check for s in samples if s.domain == "math"} == {"self-consistent"}
    assert {s.gold_check for s in samples if s.domain == "code"} == {"verified", "self-consistent"}
    assert all(s.metadata["gold_response"] for s in samples)
    assert all("\\boxed{}" in s.prompt[0]["content"] for s in samples if s.domain == "math")
    assert report.manifest["isolation"] == ["fake"]


def test_same_recipe_and_seed_give_the_same_bytes(
    small: Recipe, tmp_path: Path, accepting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_with(accepting, small, tmp_path / "a", progress=NullProgress())
    monkeypatch.setattr(collect, "CHUNK", 7)
    build_with(accepting, small, tmp_path / "b", progress=NullProgress())
    assert _bytes(tmp_path / "a") == _bytes(tmp_path / "b")
    build_with(
        accepting, small, tmp_path / "c", progress=NullProgress(), options=BuildOptions(seed=4)
    )
    assert diff(tmp_path / "a", tmp_path / "b").same
    assert not diff(tmp_path / "a", tmp_path / "c").same


def test_reasoning_gym_items_do_not_depend_on_the_interpreters_hash_seed(
    make_recipe: Callable[[str], Recipe],
    tmp_path: Path,
    accepting: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n  - {name: a, domain: logic, source: {kind: reasoning_gym, task: "
        "isomorphic_strings}, count: {train: 5}}\n"
    )
    for name in ("1", "2"):  # in the building process itself
        monkeypatch.setenv("PYTHONHASHSEED", name)
        build_with(accepting, recipe, tmp_path / name, progress=NullProgress())
    assert _bytes(tmp_path / "1") == _bytes(tmp_path / "2")


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 4])
def test_a_killed_build_continues_without_checking_gold_again(
    small: Recipe, tmp_path: Path, make_scorer: Any, parts: int
) -> None:
    whole, first, second = make_scorer(), make_scorer(), make_scorer()
    build_with(whole, small, tmp_path / "whole", progress=NullProgress())
    with pytest.raises(KeyboardInterrupt):
        build_with(first, small, tmp_path / "out", progress=StopAfter(parts))
    assert not (tmp_path / "out").exists()
    listening = Messages()
    build_with(second, small, tmp_path / "out", progress=listening)
    assert first.seen > 0
    assert first.seen + second.seen == whole.seen
    assert any("continuing" in text for text in listening.lines)
    assert _bytes(tmp_path / "whole") == _bytes(tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "whole"]


def test_building_again_keeps_the_finished_dataset(
    small: Recipe, tmp_path: Path, make_scorer: Any
) -> None:
    build_with(make_scorer(), small, tmp_path / "d", progress=NullProgress())
    again = make_scorer()
    report = build_with(again, small, tmp_path / "d", progress=NullProgress())
    assert report.reused
    assert again.seen == 0


def test_refused_gold_is_dropped_with_its_reason(
    small: Recipe, tmp_path: Path, make_scorer: Any
) -> None:
    scorer = make_scorer(refused=("{7}", "{8}"))
    report = build_with(scorer, small, tmp_path / "d", progress=NullProgress())
    golds = [s.metadata["gold_response"] for s in load(tmp_path / "d") if s.domain == "math"]
    assert len(golds) == 36
    assert not {"\\boxed{7}", "\\boxed{8}"} & set(golds)
    assert report.manifest["drops"]["gold response not accepted"] > 0
    lines = (report.path / "dropped.jsonl").read_text().splitlines()
    refused = [line for line in map(json.loads, lines) if line["stage"] == "gold"]
    assert len(refused) == 2
    assert refused[0]["detail"] == "reward 0: not what was asked"
    assert refused[0]["gold"] in ("\\boxed{7}", "\\boxed{8}") and "boxed" in refused[0]["text"]
    assert report.manifest["files"]["dropped.jsonl"]["rows"] == len(lines)


def test_a_broken_verifier_stops_the_build_and_drops_nothing(
    small: Recipe, tmp_path: Path, make_scorer: Any
) -> None:
    scorer = make_scorer(refused=("boxed",), status="infra_error")
    with pytest.raises(ServiceError, match="the sandbox fell over"):
        build_with(scorer, small, tmp_path / "d", progress=NullProgress())
    assert not (tmp_path / "d").exists()


def test_splits_share_no_prompt_and_evaluation_splits_win(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n  - {name: a, domain: math, source: {kind: procedural, family: multiply},"
        " count: {train: 500, validation: 10, test: 10}}\n"
    )
    report = build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    hashes = [normalised(s.prompt[0]["content"]) for s in load(tmp_path / "d")]
    assert len(set(hashes)) == len(hashes)
    assert report.manifest["counts"]["test"] == {"math": 10}
    kept = report.manifest["counts"]["train"]["math"]
    assert kept <= 44  # 8 x 8 products, 20 of them in the other splits
    assert report.short == {"a": [f"train {kept}/500"]}


def test_without_isolation_code_is_left_out_loudly(
    small: Recipe, tmp_path: Path, accepting: Any
) -> None:
    listening = Messages()
    report = build_with(
        accepting, small, tmp_path / "d", progress=listening, options=BuildOptions(isolated=False)
    )
    assert "code" not in report.manifest["counts"]["train"]
    assert list(report.manifest["left_out"]) == ["code"]
    assert len([text for text in listening.lines if "CODE DOMAIN" in text]) == 1
    assert not report.short


def test_logic_rows_hold_the_entry_and_chance_is_the_commonest_answers_share(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n  - {name: letters, domain: logic, source: {kind: reasoning_gym,"
        " task: letter_counting, config: {min_words: 2, max_words: 4}}, count: {train: 20}}\n"
    )
    build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    entries = {e["name"]: e for e in read_manifest(tmp_path / "d")["entries"]}
    letters = [s for s in load(tmp_path / "d") if s.domain == "logic"]
    answers = [s.task.reference["entry"]["answer"] for s in letters]
    share = max(map(answers.count, answers)) / len(answers)
    assert letters[0].metadata["chance"] == pytest.approx(share, abs=1e-4)
    assert entries["letters"]["commonest_answer_share"] == letters[0].metadata["chance"]


def test_a_path_under_a_file_is_one_line(small: Recipe, tmp_path: Path, accepting: Any) -> None:
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "file", tmp_path / "file" / "d", tmp_path / "file" / "deep" / "d"):
        with pytest.raises(UserError, match="file"):
            build_with(accepting, small, out, progress=NullProgress())
    assert (tmp_path / "file").read_text() == "x"


def test_a_full_or_read_only_disk_is_one_line(
    small: Recipe, tmp_path: Path, accepting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("prorl_common.files.tempfile.mkstemp", full)
    with pytest.raises(DiskFullError, match="the disk is full"):
        build_with(accepting, small, tmp_path / "d", progress=NullProgress())
    assert not (tmp_path / "d").exists()


def test_a_folder_that_is_not_a_dataset_is_never_replaced(
    small: Recipe, tmp_path: Path, accepting: Any
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "thesis.txt").write_text("precious")
    with pytest.raises(UserError, match="not a dataset"):
        build_with(accepting, small, tmp_path / "d", progress=NullProgress())
    assert json.dumps([p.name for p in (tmp_path / "d").iterdir()]) == '["thesis.txt"]'
