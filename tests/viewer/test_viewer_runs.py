from __future__ import annotations

import json
import math
import os
import shutil
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from prorl_common import UserError
from prorl_common.rollout_files import COLUMNS, schema
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.simulate import rules_at
from prorl_training.types import Decision
from prorl_viewer import NotFoundError, find_subjects
from prorl_viewer.answering import encode
from prorl_viewer.runs.around import Part, split_change
from prorl_viewer.runs.curves import WIDTH, thin
from prorl_viewer.runs.journal import Metrics, TaskTable, task_in_id
from prorl_viewer.runs.subject import RunSubject
from prorl_viewer.runs.testing import BROKEN, made_up_config, made_up_row, write_run, write_steps

FALL = 150
OF_ROLLOUTS = ("rollout", "testcase", "tokens", "group", "prompt")
"""Pages whose answers the tests of rollouts read."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 240 steps whose reward falls at step 150, with the rollouts around it."""
    path = tmp_path_factory.mktemp("runs") / "fallen"
    write_run(path, 240, falls_at=FALL, rollouts=range(FALL - 20, FALL + 20))
    return path


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> RunFolder:
    """A writable copy of the run."""
    return RunFolder(Path(shutil.copytree(folder, tmp_path / "fallen")))


def ask(path: Path, page: str, **query: object) -> Any:
    return RunSubject(path).pages()[page]({key: str(value) for key, value in query.items()})


def lines(path: Path, **query: object) -> Mapping[str, Any]:
    return {line["name"]: line for line in ask(path, "curves", **query)["lines"]}


def test_a_torn_line_is_read_when_its_writer_has_ended_it(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1, "kl": 0.5}\n{"step": 2, "k')
    metrics = Metrics(path)
    metrics.refresh()
    assert metrics.steps == [1]
    with path.open("ab") as file:
        file.write(b'l": 0.25}\n{"step": 3}\n')
    metrics.refresh()
    assert metrics.steps == [1, 2, 3]
    assert metrics.window("kl", 1, 3) == [0.5, 0.25]
    assert path.read_bytes().count(b"\n") == 3


def test_a_run_that_was_cut_back_and_went_on_is_read_anew_though_its_journal_grew(
    copy: RunFolder,
) -> None:
    metrics = Metrics(copy.metrics_path)
    metrics.refresh()
    size = copy.metrics_path.stat().st_size
    copy.truncate_after(239)
    others = [made_up_row(step, seed=9, fallen=False, last_reset=200) for step in (240, 241)]
    for row in others:
        copy.log_metrics(row)
    assert copy.metrics_path.stat().st_size > size
    metrics.refresh()
    assert metrics.steps == list(range(1, 242))
    assert metrics.window("kl", 240, 241) == [row["kl"] for row in others]


def test_a_step_that_was_done_again_counts_once_with_its_newest_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    rows = [(1, 0.1), (2, 0.2), (3, 0.3), (2, 0.5), (3, 0.6)]
    path.write_text("".join(json.dumps({"step": s, "kl": v}) + "\n" for s, v in rows))
    metrics = Metrics(path)
    metrics.refresh()
    assert metrics.steps == [1, 2, 3]
    assert list(metrics.column("kl")) == [0.1, 0.5, 0.6]


def test_a_long_line_is_thinned_and_keeps_every_peak_in_its_place() -> None:
    values = [math.sin(step / 50) for step in range(1, 3001)]
    values[1234], values[2000] = 99.0, -99.0
    found = thin(range(1, 3001), values, 400)
    assert len(found.points) <= 800
    assert [1235, 99.0] in found.points
    assert [2001, -99.0] in found.points
    assert [step for step, _ in found.points] == sorted(step for step, _ in found.points)


def test_a_short_line_is_given_as_it_is_without_what_was_not_measured() -> None:
    found = thin([1, 2, 3], [0.5, math.nan, 0.25], 400)
    assert found.points == [[1, 0.5], [3, 0.25]]


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ([0.0, 0.0, 1.0, 0.0] * 3, [1.0] * 12, "It learned: validation rose"),
        ([1.0] * 12, [0.0, 0.0, 1.0, 0.0] * 3, "It got worse: validation fell"),
        ([0.0, 1.0, 1.0, 0.0] * 3, [1.0, 0.0, 1.0, 1.0] * 3, "No change is shown"),
        ([0.5] * 11 + [None], [0.5] * 11 + [1.0], "from 0.50 at step 1 to 0.50 at step 2"),
        ([0.0] * 9, [1.0] * 9, "There is no interval, so no change is claimed."),
        ([], None, "Not measured yet"),
    ],
)
def test_a_gain_is_claimed_where_its_interval_excludes_zero(
    tmp_path: Path, before: list[float], after: list[float] | None, sentence: str
) -> None:
    run = write_run(tmp_path / "run", 2)
    rows = []
    for step, rewards in enumerate((before, after), start=1):
        mean = statistics.fmean([r for r in rewards if r is not None]) if rewards else math.nan
        row = {"step": step, "validation_reward": mean, "validation_se": 0.0}
        rows.append(row | {"validation_rewards": rewards})
    run.metrics_path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert sentence in ask(run.path, "header")["sentence"]


def test_means_stand_beside_the_line_of_single_steps() -> None:
    found = thin(range(1, 7), [0.0, 3.0, 0.0, 3.0, 0.0, 3.0], 400, mean=3)
    assert found.points[1] == [2, 1.0]
    assert found.raw == [[1, 0], [2, 3], [3, 0], [4, 3], [5, 0], [6, 3]]
    assert max(value for _, value in found.points) < 3


def test_a_chart_is_told_overall_and_by_domain_whatever_the_domain_calls_the_number(
    folder: Path,
) -> None:
    metrics = Metrics(folder / "metrics.jsonl")
    metrics.refresh()
    whole = lines(folder, chart="response_length_mean", mean=1)
    assert whole["Response length"]["points"][0] == [1, metrics.column("response_length_mean")[0]]
    parts = lines(folder, chart="response_length_mean", by="domain", mean=1)
    assert list(parts) == ["code", "logic", "math"]
    assert parts["math"]["points"][9] == [10, metrics.column("domains/math/length_mean")[9]]


@pytest.mark.parametrize("by", ["domain", "task"])
def test_of_many_parts_the_largest_are_drawn_and_any_can_be_asked_for(
    tmp_path: Path, by: str
) -> None:
    run = write_run(tmp_path / "many", 2)
    parts = {f"p{n:02}": {"reward_mean": 0.5, "groups": n, "responses": n} for n in range(30)}
    rows = [row | {"domains": parts, "tasks": parts} for row in run.metrics()]
    run.metrics_path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = ask(run.path, "curves", by=by)
    assert [line["name"] for line in told["lines"]] == [f"p{n}" for n in range(22, 30)]
    assert len(told["parts"]) == 30
    assert told["parts"][0]["name"] == "p29"
    assert list(lines(run.path, by=by, parts="p07,p03,none")) == ["p03", "p07"]


def test_a_stretch_of_a_run_is_drawn_step_by_step_where_it_is_short_enough(tmp_path: Path) -> None:
    path = write_run(tmp_path / "long", 900).path
    whole = ask(path, "curves", chart="entropy")
    part = ask(path, "curves", chart="entropy", **{"from": 200, "to": 250})
    assert (whole["mean"], part["mean"]) == (20, 1)
    assert [step for step, _ in part["lines"][0]["points"]] == list(range(200, 251))


def test_what_jumps_at_a_reset_is_not_drawn_in_means(tmp_path: Path) -> None:
    run = write_run(tmp_path / "long", 900)
    (line,) = lines(run.path, chart="kl").values()
    rows = {row["step"]: row["kl"] for row in run.metrics()}
    assert all(rows[step] == value for step, value in line["points"])


def test_a_validation_has_its_interval(folder: Path) -> None:
    (line,) = lines(folder, chart="validation_reward").values()
    rows = {row["step"]: row for row in RunFolder(folder).metrics() if "validation_reward" in row}
    assert [step for step, _ in line["points"]] == list(rows)
    step, low, high = line["band"][3]
    assert (low + high) / 2 == pytest.approx(rows[step]["validation_reward"])
    assert high - low == pytest.approx(2 * 1.959964 * rows[step]["validation_se"])


def test_any_other_number_that_was_recorded_is_a_chart_and_one_that_was_not_is_not_there(
    folder: Path,
) -> None:
    charts = {chart["name"]: chart for chart in ask(folder, "charts")["charts"]}
    assert charts["groups_kept"]["section"] == "Other"
    assert charts["reward_mean"]["by"] == ["domain", "task"]
    assert "mismatch_ess" not in charts
    assert lines(folder, chart="groups_kept")
    with pytest.raises(NotFoundError, match="recorded 'nothing'"):
        ask(folder, "curves", chart="nothing")


def test_what_is_always_zero_is_not_drawn_before_anyone_asks(tmp_path: Path) -> None:
    run = write_run(tmp_path / "calm", 3)
    rows = [row | {"infra_errors": 0} for row in run.metrics()]
    run.metrics_path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    charts = {chart["name"]: chart["first"] for chart in ask(run.path, "charts")["charts"]}
    assert charts["infra_errors"] is False
    assert charts["reward_mean"] is True


def test_windows_and_phases_are_bands_and_resets_are_marks(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 200)
    run.log_decisions(
        [
            Decision(1, "phase_started", "phase 1 of 2", {"phase": 0, "name": "short"}),
            Decision(90, "phase_started", "phase 2 of 2", {"phase": 1, "name": "long"}),
        ]
    )
    told = ask(run.path, "decisions")
    bands = [(b["kind"], b["from"], b["to"], b["label"]) for b in told["bands"]]
    assert ("penalty", 50, 90, "length penalty on") in bands
    assert ("phase", 1, 90, "short") in bands
    assert ("phase", 90, 201, "long") in bands
    resets = [m["step"] for m in told["marks"] if m["kind"] == "reference_reset"]
    assert resets == [d["step"] for d in run.decisions() if d["kind"] == "reference_reset"]
    assert not any("window" in mark["kind"] for mark in told["marks"])


def test_what_is_decided_at_every_step_is_one_entry_a_stretch_and_no_mark(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 9)
    for step in (2, 3, 4, 8):
        run.log_decisions([Decision(step, "refill_gave_up", f"7 of 8 in {step}", {})])
    told = ask(run.path, "decisions")
    assert [(d["step"], d.get("to")) for d in told["list"]] == [(2, 4), (8, None)]
    assert told["marks"] == []


def test_a_decision_is_told_with_all_its_evidence_nested_and_long_as_it_may_be(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path / "run", 5)
    evidence = {
        "kl": 0.5,
        "odd_key": {"inner": math.inf},
        "sample_ids": [str(n) for n in range(99)],
    }
    run.log_decisions([Decision(3, "update_skipped", "why", evidence)])
    (told,) = ask(run.path, "decision", step=3)["decisions"]
    by = {row["label"]: row["value"] for row in told["evidence"]}
    assert by["KL (nats per token)"] == 0.5
    assert by["odd key"]["rows"][0]["value"] == "inf"
    assert (len(by["sample ids"]["items"]), by["sample ids"]["more"]) == (60, 39)


def test_the_rules_see_what_train_explain_says(folder: Path) -> None:
    run = RunFolder(folder)
    rows = {int(row["step"]): row for row in run.metrics()}
    seen = {row["key"]: row["value"] for row in ask(folder, "rules", step=120)["seen"]}
    expected = rules_at(made_up_config(240), rows, 120)
    assert seen["kl"] == expected["kl"]
    assert list(seen) == list(expected)


def test_the_deepest_fall_of_the_reward_is_offered_and_a_steady_run_has_none(
    folder: Path, tmp_path: Path
) -> None:
    falls = ask(folder, "header")["falls"]
    assert abs(falls[0]["step"] - FALL) <= 2
    assert ask(write_run(tmp_path / "steady", 200).path, "header")["falls"] == []


def test_around_a_fall_the_domain_and_the_task_that_broke_come_first(folder: Path) -> None:
    told = ask(folder, "around", step=FALL)
    assert (told["before"], told["after"]) == ((130, 149), (150, 169))
    assert [m["key"] for m in told["movers"][:2]] == ["truncated_rate", "unparsable_rate"]
    assert told["domains"]["parts"][0]["name"] == "math"
    task = told["tasks"]["parts"][0]
    assert task["name"] == BROKEN
    assert (task["reward_after"], task["rates_after"]["truncated_rate"]) == (0.0, 1.0)
    assert told["rollouts"] == list(range(130, 170))


def test_a_number_before_and_after_is_the_mean_of_its_steps(folder: Path) -> None:
    told = ask(folder, "around", step=FALL, width=5)
    rows = {row["step"]: row["kl"] for row in RunFolder(folder).metrics()}
    (kl,) = [m for m in told["movers"] if m["key"] == "kl"]
    assert kl["before"] == pytest.approx(statistics.fmean(rows[s] for s in range(145, 150)))
    assert kl["after"] == pytest.approx(statistics.fmean(rows[s] for s in range(150, 155)))


def test_what_the_parts_add_is_the_whole_change_of_the_reward() -> None:
    before = {"math": Part(10, 0.8), "code": Part(30, 0.4), "gone": Part(5, 0.1)}
    after = {"math": Part(25, 0.5), "code": Part(10, 0.45), "new": Part(7, 0.9)}
    told = split_change(before, after)
    added = sum(part["within"] + part["mix"] for part in told["parts"])
    assert added == pytest.approx(told["after"] - told["before"])
    assert told["after"] == pytest.approx((25 * 0.5 + 10 * 0.45 + 7 * 0.9) / 42)
    assert {p["name"] for p in told["parts"] if p["within"] == 0} == {"gone", "new"}


def test_tasks_are_told_from_the_journal_and_of_an_older_run_from_its_rollouts(
    copy: RunFolder,
) -> None:
    row = copy.metrics()[129]
    new = lines(copy.path, chart="reward_mean", by="task", mean=1)
    assert len(new[BROKEN]["points"]) == 240
    assert new[BROKEN]["points"][129] == [130, row["tasks"][BROKEN]["reward_mean"]]
    older = [{k: v for k, v in row.items() if k != "tasks"} for row in copy.metrics()]
    copy.metrics_path.write_text("".join(json.dumps(row) + "\n" for row in older))
    old = lines(copy.path, chart="reward_mean", by="task", mean=1)
    assert [step for step, _ in old[BROKEN]["points"]] == list(range(FALL - 20, FALL + 20))
    assert set(old) == set(new)


def test_without_rollouts_the_journal_says_which_task_fell(copy: RunFolder) -> None:
    shutil.rmtree(copy.rollouts)
    told = ask(copy.path, "around", step=FALL)["tasks"]
    assert told["parts"][0]["name"] == BROKEN
    added = sum(part["within"] + part["mix"] for part in told["parts"])
    assert added == pytest.approx(told["after"] - told["before"])


def test_a_task_is_what_an_id_begins_with() -> None:
    assert task_in_id("math-largest-train-000130") == "math-largest"
    assert task_in_id("stem-voltage.l2-train-000000") == "stem-voltage.l2"
    assert task_in_id("train-7") == "train"
    assert task_in_id("x") == "x"


def test_a_task_that_the_rollouts_name_goes_before_the_id_and_carried_rows_count_in_their_own_step(
    tmp_path: Path,
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {"sample_id": "web-train-000001", "domain": "math", "task": "algebra", "tokens": 3}
    row |= {"finish_reason": "stop", "reward": 1.0, "status": "scored", "carried": False}
    rows = [row, row | {"carried": True}, row | {"task": None, "reward": None}]
    (tmp_path / "rollouts").mkdir()
    table = pa.Table.from_pylist(rows, schema())
    parquet.write_table(table, tmp_path / "rollouts" / "step_000004.parquet")
    found, left = TaskTable(tmp_path).read()
    assert left == 0
    assert {task: one.responses for task, one in found[4].items()} == {"algebra": 1, "web": 1}
    assert "reward_mean" not in found[4]["web"].rates()


def test_rollouts_that_were_written_again_are_read_again(copy: RunFolder) -> None:
    table = TaskTable(copy.path)
    table.read()
    shutil.copyfile(copy.rollouts / "step_000165.parquet", copy.rollouts / "step_000135.parquet")
    os.utime(copy.rollouts / "step_000135.parquet", (0, 0))
    found, _ = table.read([135])
    assert found[135][BROKEN].truncated == found[135][BROKEN].responses


def test_the_head_says_how_a_run_stands(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 40, done=30)
    with run.lock():
        head = ask(run.path, "header")
        assert (head["state"], head["step"], head["steps"]) == ("running", 30, 40)
        seconds = [row["seconds"] for row in run.metrics()]
        assert head["eta_seconds"] == pytest.approx(10 * statistics.median(seconds))
    assert ask(run.path, "header")["state"] == "stopped"
    assert ask(run.path, "header")["eta_seconds"] is None
    run.ended_path.unlink()
    assert ask(run.path, "header")["state"] == "killed"
    run.ended_path.write_text(json.dumps({"state": "failed", "reason": "ValueError: no"}))
    assert ask(run.path, "header")["reason"] == "ValueError: no"
    write_steps(run, made_up_config(40), range(31, 41))
    run.ended_path.unlink()
    assert ask(run.path, "summary")["state"] == "finished"


def test_a_run_with_a_damaged_config_is_shown_with_what_is_wrong(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 3)
    run.config_path.write_text("steps: [")
    assert "config.yaml" in ask(run.path, "header")["reason"]
    assert lines(run.path, chart="kl")
    with pytest.raises(UserError):
        ask(run.path, "config")


def test_settings_stand_beside_the_presets_and_no_plugin_is_loaded(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", 3, "optimizer.lr=5e-6")
    mark = tmp_path / "loaded"
    plugin = tmp_path / "plugin.py"
    plugin.write_text(f"open({str(mark)!r}, 'w')")
    written = yaml.safe_load(run.config_path.read_text()) | {"plugins": [str(plugin)]}
    run.config_path.write_text(yaml.safe_dump(written))
    told = ask(run.path, "config")
    by = {row["key"]: row for row in told["settings"]}
    assert by["optimizer.lr"] == {"key": "optimizer.lr", "value": 5e-6, "preset": 2e-6}
    assert by["plugins"]["value"] == [str(plugin)]
    ask(run.path, "rules", step=2)
    assert not mark.exists()


def test_a_step_that_was_not_recorded_is_not_found_and_nonsense_is_a_mistake(folder: Path) -> None:
    for page, step in (("decision", 241), ("around", 0), ("around", 241), ("rules", 0)):
        with pytest.raises(NotFoundError, match="was not recorded"):
            ask(folder, page, step=step)
    for query in ({"step": "x"}, {"step": "3", "width": "0"}):
        with pytest.raises(UserError):
            RunSubject(folder).pages()["around"](query)
    with pytest.raises(UserError, match="by 'planet' is unknown"):
        ask(folder, "curves", by="planet")


def test_new_steps_change_the_version_and_the_next_answer(copy: RunFolder) -> None:
    subject = RunSubject(copy.path)
    before = subject.version()
    assert subject.pages()["header"]({})["step"] == 240
    assert subject.version() == before
    copy.log_metrics(made_up_row(241, 0, True, 200))
    assert subject.version() != before
    assert subject.pages()["header"]({})["step"] == 241


def test_an_exported_page_holds_every_chart_and_the_falls_and_no_number_that_is_none(
    folder: Path,
) -> None:
    subject = RunSubject(folder)
    held = [(page, tuple(query.items())) for page, query in subject.snapshot()]
    pages = subject.pages()
    for page, query in held:
        if page not in OF_ROLLOUTS:
            assert encode(pages[page](dict(query)), share_safe=True)
    charts = [chart["name"] for chart in pages["charts"]({})["charts"]]
    assert [dict(q)["chart"] for p, q in held if p == "curves" and ("by", "overall") in q] == charts
    fall = pages["header"]({})["falls"][0]["step"]
    assert ("around", (("step", str(fall)),)) in held


def test_over_tokens_and_hours_a_step_lies_where_its_journal_says(folder: Path) -> None:
    axes = ask(folder, "header")["axes"]
    rows = RunFolder(folder).metrics()
    place = axes["step"].index(rows[-1]["step"])
    assert axes["tokens"][place] == rows[-1]["tokens_total"]
    assert axes["hours"][place] == pytest.approx(sum(row["seconds"] for row in rows) / 3600)
    assert len(axes["step"]) <= 2 * WIDTH + 2


def test_a_forecast_goes_on_from_the_last_validation_or_says_why_it_cannot(tmp_path: Path) -> None:
    few = ask(write_run(tmp_path / "few", 40).path, "forecast")
    assert few["points"] == []
    assert "2 validations: a curve needs" in few["told"]
    run = write_run(tmp_path / "sure", 200, done=180)
    rows = run.metrics()
    for number, row in enumerate(rows[19::20]):
        level = 0.6 - 0.4 * math.exp(-number)
        row |= {"validation_reward": level, "validation_rewards": [level] * 100}
        row["validation_se"] = 0.001
    run.metrics_path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = ask(run.path, "forecast")
    assert "forecast for step 200" in told["told"]
    step, value, low, high = told["points"][-1]
    assert step == 200
    assert low <= value <= high
    assert all(point[0] >= 180 for point in told["points"])
    assert value == pytest.approx(0.6, abs=0.02)


def test_a_run_of_an_old_prorl_is_found_too(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs" / "old", 3)
    run.identity_path.unlink()
    (subject,) = find_subjects([tmp_path])
    assert (subject.kind, subject.name) == ("run", "old")


def test_a_run_whose_folder_is_removed_meanwhile_is_said_to_be_gone(copy: RunFolder) -> None:
    subject = RunSubject(copy.path)
    assert subject.pages()["summary"]({})
    shutil.rmtree(copy.path)
    with pytest.raises(NotFoundError, match="no longer a run's folder"):
        subject.pages()["header"]({})


def test_the_reward_in_the_head_is_that_of_the_last_20_steps(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    late = statistics.fmean(row["reward_mean"] for row in rows[-20:])
    assert ask(folder, "header")["reward"] == pytest.approx(late)
