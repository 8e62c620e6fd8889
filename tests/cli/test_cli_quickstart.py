"""``prorl quickstart``: its closing screen and early refusals. CI runs the real thing (``make quickstart``)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from doubles import write_model
from pyarrow import parquet
from rich.console import Console
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_cli.quickstart import screen
from prorl_cli.quickstart.plan import SIZES
from prorl_common import MissingExtraError, NullProgress
from prorl_evaluation import EvalResult, EvalSettings, compare, evaluate
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples

SAMPLES = [*make_samples(13), *make_samples(12, "logic")]


def result(out: Path, percent: int, n: int = 8) -> EvalResult:
    generator = FakeGenerator(model_id=f"m{percent}", model_digest=f"d{percent}", percent=percent)
    settings = EvalSettings(n=n, k=max(1, n // 2), draws=300)
    return evaluate(generator, SAMPLES, settings, out, FakeScorer(), NullProgress())


@pytest.fixture
def low(tmp_path: Path) -> EvalResult:
    return result(tmp_path / "low", 15)


@pytest.fixture
def high(tmp_path: Path) -> EvalResult:
    return result(tmp_path / "high", 60)


def write_steps(run: Path, rewards: Mapping[int, Sequence[Sequence[float | None]]]) -> None:
    """Write one rollouts file per step from lists of groups of rewards."""
    (run / "rollouts").mkdir(parents=True)
    for step, groups in rewards.items():
        rows = [(step, f"p{i}", reward) for i, group in enumerate(groups) for reward in group]
        steps, names, values = zip(*rows, strict=True)
        table = pa.table(
            {"step": steps, "sample_id": names, "reward": pa.array(values, pa.float64())}
        )
        parquet.write_table(table, run / "rollouts" / f"step_{step:06d}.parquet")


def test_training_groups_are_shares_of_right_answers_and_leave_out_what_was_not_judged(
    tmp_path: Path,
) -> None:
    write_steps(tmp_path, {1: [[1.0, 0.5, 0.0, 1.0], [None, None]], 2: [[1.0, None]]})
    assert screen.training_groups(tmp_path) == [(1, [0.5]), (2, [1.0])]


def test_the_curve_has_a_line_a_window_with_the_mean_inside_its_interval(tmp_path: Path) -> None:
    write_steps(tmp_path, {s: [[1.0] * s + [0.0] * (20 - s)] * 6 for s in range(1, 17)})
    head, *rows = screen.curve(tmp_path)
    assert [row.split()[0] for row in rows] == [
        "1-2", "3-4", "5-6", "7-8", "9-10", "11-12", "13-14", "15-16",
    ]  # fmt: skip
    means = []
    for row in rows:
        value, low, high = (float(x) for x in re.findall(r"\d\.\d\d", row)[:3])
        assert low <= value <= high
        bar = row[row.index("├") :]
        assert bar.index("├") <= bar.index("●") <= bar.index("┤")
        means.append(row.index("●") - head.index("0"))
    assert means == sorted(means) and 0 < means[0] < means[-1] <= screen.AXIS


def test_a_run_without_recorded_steps_says_so(tmp_path: Path) -> None:
    assert screen.curve(tmp_path) == ["(no step was recorded)"]


def test_answers_are_chosen_by_place_and_not_by_which_is_right(
    low: EvalResult, high: EvalResult
) -> None:
    pairs = list(zip(low.examples, high.examples, strict=True))
    other = [(a, dataclasses.replace(b, response=f"{a.response}!")) for a, b in pairs]
    same = [(a, a) for a, _ in pairs]
    domains = dict.fromkeys(a.domain for a, _ in pairs)
    first = [next(p for p in other if p[0].domain == d) for d in domains]
    assert screen.one_of_each_domain([*same, *other]) == first
    assert [a.domain for a, _ in screen.one_of_each_domain(same)] == [*domains]


def test_the_screen_fits_eighty_columns_and_names_report_and_next_commands(
    tmp_path: Path, low: EvalResult, high: EvalResult
) -> None:
    run = tmp_path / "quickstart"
    write_steps(run, {s: [[1.0, 0.0]] * 4 for s in range(1, 25)})
    console = Console(width=80, record=True, force_terminal=False)
    page = Path("runs/quickstart/report.html")
    screen.closing_screen(console, run, [low, high], page)
    text = console.export_text()
    assert compare(low, high).headline(4) in text.replace("\n", " ") and str(page) in text
    for command, _ in screen.next_commands("quickstart"):
        assert command in text
    drawn = [line for line in text.splitlines() if "│" in line]
    assert drawn and max(map(len, drawn)) <= 80


def test_missing_packages_are_named_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "scipy" else found(name)
    )
    monkeypatch.chdir(tmp_path)
    outcome = CliRunner().invoke(build_app(), ["quickstart"])
    assert isinstance(outcome.exception, MissingExtraError)
    assert "scipy" in str(outcome.exception) and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_whole_command_runs_and_given_again_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_model(Path("model"))
    words = ["quickstart", "--model", "model", "--steps", "1"]
    monkeypatch.setattr("prorl_cli.quickstart.plan.SIZES", SIZES[3:4])  # 40 problems, not 100
    nothing = (
        "prorl_training.engine.loop.never_usable"  # or the run fails: a random model earns nothing
    )
    monkeypatch.setattr(nothing, lambda *given: None)
    first = CliRunner().invoke(build_app(), words, catch_exceptions=False)
    assert first.exit_code == 0, first.output
    assert "No change was shown" in first.stdout
    assert Path("runs/quickstart/report.html").is_file()
    before = Path("runs/quickstart/metrics.jsonl").read_bytes()
    again = CliRunner().invoke(build_app(), words, catch_exceptions=False)
    assert again.stdout == first.stdout
    assert "kept: quickstart has done its 1 steps" in again.stderr
    assert Path("runs/quickstart/metrics.jsonl").read_bytes() == before
