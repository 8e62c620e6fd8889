from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from prorl_common import DiskFullError, NullProgress, UserError
from prorl_evaluation import EvalSettings, EvaluationError, evaluate
from prorl_evaluation.sampling.choose import (
    find_run,
    gather,
    in_turn,
    model_target,
    out_folder,
    pick_dataset,
    run_target,
    settings_hash,
)
from prorl_evaluation.sampling.journal import Records
from prorl_evaluation.sampling.stored import Stored, chosen, spooled, stored_rows
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_verifiers import Task

SETTINGS = EvalSettings(n=4, k=2, draws=50, dataset={"manifest_sha256": "m", "path": "p"})


def make_run(path: Path, text: str = "model: {path: some/base}\n") -> Path:
    path.mkdir(parents=True)
    (path / "config.yaml").write_text(text)
    return path


def test_the_newest_run_is_the_one_whose_journal_was_written_last(tmp_path: Path) -> None:
    for name, age in (("old", 100), ("new", 10), ("older", 200)):
        run = make_run(tmp_path / name)
        (run / "metrics.jsonl").write_text("")
        os.utime(run / "metrics.jsonl", (1e9 - age, 1e9 - age))
    assert find_run(None, tmp_path).name == "new"
    assert find_run("older", tmp_path).name == "older"
    assert find_run(str(tmp_path / "old"), tmp_path).name == "old"


def test_a_missing_run_names_the_cure(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="start one with prorl train"):
        find_run(None, tmp_path / "runs")
    make_run(tmp_path / "quickstart-1")
    with pytest.raises(EvaluationError, match="did you mean 'quickstart-1'"):
        find_run("quickstart1", tmp_path)


@pytest.mark.parametrize("text", ["a: [", "- 1\n"])
def test_a_damaged_config_is_one_clear_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(EvaluationError, match=r"config\.yaml"):
        find_run(str(make_run(tmp_path / "r", text)), tmp_path)


def test_checkpoints_are_found_by_latest_step_and_base(tmp_path: Path) -> None:
    run = find_run(str(make_run(tmp_path / "r")), tmp_path)
    for step in (0, 6, 12):
        policy = run.path / "checkpoints" / f"step_{step:06d}" / "policy"
        policy.mkdir(parents=True)
        (policy / "config.json").write_text("{}")
    (run.path / "checkpoints" / "latest").write_text("step_000012\n")
    assert run_target(run, "latest").slug == "step_000012"
    assert run_target(run, "6").label == "r step 6"
    assert run_target(run, "0").label == "r step 0 (before RL)"
    base = run_target(run, "base")
    assert (base.model, base.slug, base.label) == ("some/base", "base", "base base")
    with pytest.raises(EvaluationError, match="it has step_000000, step_000006, step_000012"):
        run_target(run, "7")
    with pytest.raises(EvaluationError, match="use base, latest or a step"):
        run_target(run, "newest")


def test_a_latest_marker_cannot_lead_out_of_the_run(tmp_path: Path) -> None:
    run = find_run(str(make_run(tmp_path / "r")), tmp_path)
    (run.path / "checkpoints").mkdir()
    (run.path / "checkpoints" / "latest").write_text("../../elsewhere")
    with pytest.raises(EvaluationError, match="has no checkpoint 'latest'; it has none yet"):
        run_target(run, "latest")


def test_the_newest_dataset_is_taken_and_its_manifest_hashed(workplace: Path) -> None:
    samples, origin = pick_dataset(None, "test", limit=4)
    assert [s.domain for s in samples] == ["math", "math", "stem", "stem"]
    assert origin["path"] == "data/small" and len(origin["manifest_sha256"]) == 64
    with pytest.raises(UserError, match="unknown split 'tset'"):
        pick_dataset(None, "tset")


def test_a_limit_takes_the_domains_in_turn() -> None:
    samples = [*make_samples(4), *make_samples(1, "stem"), *make_samples(3, "logic")]
    chosen = [s.id for s in in_turn(samples, 5)]
    assert chosen == ["math-0", "math-1", "stem-0", "logic-0", "logic-1"]
    assert in_turn(samples, 99) == samples


def test_the_folder_hash_knows_sampling_and_data_but_not_n_and_k() -> None:
    def changed(**values: object) -> str:
        return settings_hash(dataclasses.replace(SETTINGS, **values))  # type: ignore[arg-type]

    same = settings_hash(SETTINGS)
    assert changed(n=64, k=32, label="x") == same
    assert changed(dataset={"manifest_sha256": "m", "path": "moved"}) == same
    others = [changed(temperature=1.0), changed(seed=1), changed(max_tokens=9)]
    others += [changed(dataset={"manifest_sha256": "z"}), settings_hash(SETTINGS, limit=3)]
    assert len({same, *others}) == 6


def test_a_models_name_makes_a_plain_folder_name() -> None:
    assert out_folder(model_target("/x/../my model"), None, "ab") == Path("evals/my-model-ab")
    assert out_folder(model_target(".."), None, "ab") == Path("evals/model-ab")


def test_a_runs_results_come_base_first_and_with_one_set_of_settings(tmp_path: Path) -> None:
    run = make_run(tmp_path / "r")
    with pytest.raises(EvaluationError, match="prorl eval pass-at-k --run r"):
        gather(["r"], tmp_path)
    for slug in ("step_000012-aa", "base-aa", "step_000003-aa", "base-bb"):
        settings = dataclasses.replace(SETTINGS, label=slug)
        out = run / "eval" / slug
        result = evaluate(
            FakeGenerator(), make_samples(2), settings, out, FakeScorer(), NullProgress()
        )
        created = "2026-01-01" if slug.endswith("bb") else "2026-01-02"
        dataclasses.replace(result, created=created).save(out)
    stored = gather(["r"], tmp_path)
    slugs = ["base-aa", "step_000003-aa", "step_000012-aa"]
    assert [r.label for r in stored.results] == slugs and stored.run == run
    assert stored.folders() == [run / "eval" / slug for slug in slugs]
    two = gather([str(run / "eval" / "base-bb"), str(run / "eval" / "base-aa")])
    assert [r.label for r in two.results] == ["base-bb", "base-aa"] and two.run is None
    (run / "eval" / "base-aa" / "result.json").rename(tmp_path / "moved.json")
    with pytest.raises(EvaluationError, match=r"moved\.json is not named result\.json"):
        gather([str(tmp_path / "moved.json")]).folders()
    (tmp_path / "empty").mkdir()
    with pytest.raises(EvaluationError, match=r"no result\.json"):
        gather([str(tmp_path / "empty")])


# Samples and journals that are read from files on demand


LONG = dataclasses.replace(
    make_samples(1)[0],
    id="long \ud800 é\n",
    prompt=({"role": "user", "content": "x" * (3 << 20)},),
    task=Task("math", {"answer": "1", "list": [1, None, {"a": 2.5}]}),
    metadata={"chance": 0.25, "family": "é"},
)
SAMPLES = [*make_samples(3), LONG, *make_samples(2, "stem")]


def test_spooled_samples_are_the_samples_pass_after_pass_and_in_any_order() -> None:
    stored = spooled(iter(SAMPLES))
    assert isinstance(stored, Stored) and len(stored) == 6
    assert list(stored) == SAMPLES and list(stored) == SAMPLES
    assert [stored[3], stored[-1]] == [SAMPLES[3], SAMPLES[-1]]
    assert list(stored[2:5]) == SAMPLES[2:5]
    assert list(chosen(stored, [4, 0, 3])) == list(chosen(SAMPLES, [4, 0, 3]))
    assert list(in_turn(stored, 4)) == in_turn(SAMPLES, 4)
    assert not spooled([])


def test_what_a_dataset_holds_is_on_disk_and_not_in_memory(workplace: Path) -> None:
    samples, _ = pick_dataset(None, "test", limit=4)
    assert isinstance(samples, Stored)
    assert [s.domain for s in samples] == ["math", "math", "stem", "stem"]


def test_blank_lines_are_no_rows_and_a_damaged_one_is_an_error_where_it_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n{"a": \n')
    rows: Stored[Any] = stored_rows(path, dict)
    assert len(rows) == 3 and rows[1] == {"a": 2}
    with pytest.raises(ValueError):
        list(rows)


def test_a_record_is_read_from_its_line_however_long(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = [json.dumps({"n": n, "text": "y" * n}) + "\n" for n in (1, 5000, 100_000)]
    path.write_text("".join(lines))

    def make(row: Mapping[str, Any]) -> int:
        assert len(row["text"]) == row["n"]
        return int(row["n"])

    records = Records(path, make)
    places = [0, len(lines[0]), len(lines[0]) + len(lines[1])]
    for key, place in zip((("a", "t"), "b", "c"), places, strict=True):
        records.put(key, place)
    assert [records["a", "t"], records["b"], records.get("c")] == [1, 5000, 100_000]
    assert ("a", "u") not in records and records.get("d") is None and len(records) == 3
    records.drop("b")
    assert list(records.values()) == [1, 100_000]


def test_a_full_folder_for_temporary_files_is_said_with_its_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Path("/dev/full").open("wb"))  # noqa: SIM115
    with pytest.raises(DiskFullError, match="TMPDIR"):
        spooled(make_samples(3))
