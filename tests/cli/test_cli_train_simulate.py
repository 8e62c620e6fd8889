from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from prorl_cli.train.controller import explain, simulate
from prorl_common import UserError
from prorl_training.config.loading import load_config, save_config
from prorl_training.schedule.simulate import simulate as run_simulation


def prorl(*words: str) -> Any:
    app = typer.Typer()
    app.command()(simulate)
    app.command()(explain)
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recorded run of 120 steps with a KL spike at step 90."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "recorded"
    folder.mkdir(parents=True)
    config = load_config("prorl-v2", overrides=["length_penalty.start_step=20", "steps=120"])
    save_config(config, folder / "config.yaml")
    rows: list[dict[str, Any]] = [
        {"step": s, "kl": 0.5 if s == 90 else 1e-4 * s, "reward_mean": 0.4} for s in range(1, 121)
    ]
    for row in rows[19::20]:
        row |= {"validation_reward": 0.3, "validation_se": 0.02, "validation_rewards": [0.3] * 250}
    decisions = run_simulation(config, 120, {r["step"]: r for r in rows})
    write(folder / "metrics.jsonl", rows)
    write(folder / "decisions.jsonl", [d.to_json() for d in decisions])
    return folder


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_json_is_the_list_of_decisions() -> None:
    words = ("simulate", "--preset", "prorl-v2", "--steps", "700", "--json")
    got = json.loads(prorl(*words).stdout)
    expected = run_simulation(load_config("prorl-v2"), 700)
    assert got == [d.to_json() for d in expected]


def test_text_shows_lanes_of_equal_width_and_a_row_a_decision() -> None:
    out = prorl("simulate", "--preset", "prorl-v2", "--steps", "3000").stdout
    lanes = [x for x in out.splitlines() if x.startswith(("penalty ", "reset  ", "step     1"))]
    assert len({len(x) for x in lanes}) == 1
    assert lanes[1].count("R") == 10
    assert "\n 401  penalty window opened  schedule: on for 100 steps" in out


def test_config_file_is_simulated(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("controller: {reset_interval: 7}\nsteps: 20\n")
    got = json.loads(prorl("simulate", "--config", str(file), "--json").stdout)
    assert [d["step"] for d in got] == [7, 14]


def test_recorded_run_under_its_own_config_decides_the_same(run: Path) -> None:
    out = prorl("simulate", "--from", str(run)).stdout
    assert "the same as in the recorded run" in out
    assert "KL 0.5 is" in out


def test_recorded_run_under_other_rules_says_where_it_differs(run: Path) -> None:
    out = prorl("simulate", "--from", str(run), "--set", "controller.kl_zscore=0").stdout
    assert "differs from the recorded run in 1 decisions" in out
    assert "90  only recorded  reference reset" in out


def test_explain_shows_evidence_what_the_rules_saw_and_the_metrics_around(run: Path) -> None:
    out = prorl("explain", "recorded", "--step", "90").stdout
    for fact in ("rule: kl_zscore", "kl median: ", "kl z: ", "kl history: 50 of 50 steps"):
        assert fact in out
    assert [x.split()[0] for x in out.splitlines()[-11:]] == [str(s) for s in range(85, 96)]


def test_explain_of_a_step_without_decisions_still_says_what_the_rules_saw(run: Path) -> None:
    out = prorl("explain", "recorded", "--step", "60").stdout
    assert "nothing was decided" in out
    assert "steps since reset: 60" in out


def test_explain_without_a_step_is_a_summary(run: Path) -> None:
    out = prorl("explain", "recorded").stdout
    assert "1 x penalty window opened" in out
    assert "reference reset" in out


def test_explain_json_holds_decisions_rules_and_metrics(run: Path) -> None:
    got = json.loads(prorl("explain", "recorded", "--step", "90", "--json").stdout)
    assert got["decisions"][0]["evidence"]["rule"] == "kl_zscore"
    assert got["rules"]["kl_z"] == pytest.approx(got["decisions"][0]["evidence"]["z"])
    assert len(got["metrics"]) == 11


def test_explain_shows_the_paired_tests_that_the_step_was_held_to(run: Path) -> None:
    changed = ["controller.stall_validations=1", "length_penalty.start_step=20", "steps=120"]
    save_config(load_config("prorl-v2", overrides=changed), run / "config.yaml")
    out = prorl("explain", "recorded", "--step", "100").stdout
    assert "validations kept: 5" in out
    assert "stall test: before 0.3, after 0.3, gain 0, " in out
    assert "degradation tests: before 0.3, after 0.3, gain 0, " in out


def test_a_record_without_rewards_by_problem_is_told_and_not_tested(run: Path) -> None:
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    for row in rows:
        row.pop("validation_rewards", None)
    write(run / "metrics.jsonl", rows)
    result = prorl("simulate", "--from", str(run))
    assert "no rewards by problem: stall" in result.output
    assert "the same as in the recorded run" in result.stdout


def test_step_that_was_never_recorded_is_one_line(run: Path) -> None:
    with pytest.raises(UserError, match="the run's steps are 0 to 120"):
        prorl("explain", "recorded", "--step", "500")


def test_foreign_metrics_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(UserError, match="not a line of metrics"):
        prorl("simulate", "--from", str(tmp_path / "other.jsonl"))


def test_recorded_value_that_is_no_number_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    write(file, [{"step": 1, "kl": 0.1}, {"step": 2, "kl": "high"}])
    with pytest.raises(UserError, match="step 2 has kl = 'high'"):
        prorl("simulate", "--from", str(file))


def test_schedule_without_decisions_has_no_empty_table() -> None:
    text = prorl("simulate", "--preset", "justrl", "--steps", "50").stdout
    assert "nothing is decided" in text
    assert "why" not in text
