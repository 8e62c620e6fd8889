"""Choosing runs, checkpoints, datasets and folders, and the one clear line when there is none."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from prorl_common import NullProgress, UserError
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
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples

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


def test_a_missing_dataset_names_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EvaluationError, match="prorl data build"):
        pick_dataset(None, "test")
    with pytest.raises(UserError, match="no such dataset"):
        pick_dataset(tmp_path / "nowhere", "test")


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
    results, folder = gather(["r"], tmp_path)
    assert [r.label for r in results] == ["base-aa", "step_000003-aa", "step_000012-aa"]
    assert folder == run
    results, folder = gather([str(run / "eval" / "base-bb"), str(run / "eval" / "base-aa")])
    assert [r.label for r in results] == ["base-bb", "base-aa"] and folder is None
    (tmp_path / "empty").mkdir()
    with pytest.raises(EvaluationError, match=r"no result\.json"):
        gather([str(tmp_path / "empty")])
