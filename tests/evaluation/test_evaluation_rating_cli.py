"""``prorl data rate`` from end to end with a tiny real model, and its complaints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import UserError
from prorl_evaluation.testing import FakeGenerator

SMALL = ["--split", "test", "--max-tokens", "4", "--device", "cpu"]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["data", "rate", *arguments])


def fails(*arguments: str) -> str:
    """The message of the user's mistake that the call is."""
    error = call(*arguments).exception
    assert isinstance(error, UserError), repr(error)
    assert "\n" not in str(error)
    return str(error)


@pytest.fixture
def model(tiny_models: tuple[Path, Path]) -> str:
    return str(tiny_models[0])


def test_a_dataset_is_rated_and_shown_again_without_the_model(workplace: Path, model: str) -> None:
    card = workplace / "data" / "small" / "README.md"
    card.write_text("# small\n")
    done = call("data/small", "--model", model, "--samples", "2", *SMALL, "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert (value["rows"], value["rated"]) == (5, 5)
    assert [g["name"] for g in value["groups"]] == [
        ["overall"],
        ["math"],
        ["stem"],
        ["math", "test"],
        ["stem", "test"],
    ]
    assert "5 rows · 2 samples · temperature 1 · top-p 1 · at most 4 tokens" in done.stderr
    folder = workplace / "data" / "small.ratings"
    rates = [json.loads(line) for line in (folder / "pass_rates.jsonl").read_text().splitlines()]
    assert [(r["id"], r["n"]) for r in rates] == [(f"math-{i}", 2) for i in range(3)] + [
        (f"stem-{i}", 2) for i in range(2)
    ]
    assert "Pass rates of 5 of 5 rows" in card.read_text()

    shown = call("--split", "test", "--suggest", "--by", "domain")
    assert shown.exit_code == 0, shown.output
    assert "overall" in shown.stdout and "Sizes for a pass rate from 0.1 to 0.9" in shown.stdout
    further = call("data/small", "--model", model, "--samples", "2", *SMALL, "--temperature", "0.5")
    assert further.exit_code == 0, further.output
    assert "holds ratings of 2 policies" in fails("--split", "test")


def test_an_evaluation_of_the_same_model_leaves_nothing_to_sample(
    workplace: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = ["--max-tokens", "4", "--device", "cpu", "--temperature", "1", "--top-p", "1"]
    evaluated = CliRunner().invoke(
        build_app(),
        ["eval", "pass-at-k", "--model", model, "--k", "1", "--n", "2", "--out", "e", *how],
    )
    assert evaluated.exit_code == 0, evaluated.output
    monkeypatch.setattr(
        "prorl_evaluation.sampling.lazy.LazyGenerator.prepare",
        lambda self: pytest.fail("the model was loaded"),
    )
    done = call("--from-eval", "e", "--model", model, "--samples", "2", *SMALL)
    assert done.exit_code == 0, done.output
    assert "e: 10 samples" in done.stderr
    assert "5 of 5 rows have 2 samples already" in done.stderr


def test_an_interruption_says_how_to_go_on_and_the_same_call_does(
    workplace: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> FakeGenerator:
        return FakeGenerator(interrupt_at=1)

    with monkeypatch.context() as patched:
        patched.setattr("prorl_evaluation.sampling.session.LazyGenerator", interrupted)
        done = call("--model", model, "--samples", "1", *SMALL)
        assert done.exit_code == 130
        assert "give the same command again" in done.stderr
    done = call("--model", model, "--samples", "1", *SMALL)
    assert done.exit_code == 0, done.output


def test_mistakes_are_one_line_with_the_cure(workplace: Path) -> None:
    assert "holds no ratings: make some with --model" in fails("--split", "test")
    assert not (workplace / "data" / "small.ratings").exists()
    recipe = ("--recipe-out", "tuned.yaml", "--split", "test")
    assert "what --suggest takes: give both" in fails(*recipe)
    assert "no such dataset folder: nowhere" in fails("nowhere", "--suggest", *recipe)
    assert "--by is 'task'" in fails("--by", "task", "--split", "test")
    assert "--band is '0.9'" in fails("--band", "0.9", "--split", "test")
    assert "--band is '0.9,0.1'" in fails("--band", "0.9,0.1", "--split", "test")
    assert "--steps is of --from-run" in fails("--steps", "1-2", "--split", "test")
    assert "--steps is '12'" in fails("--from-run", "demo", "--steps", "12", "--split", "test")
    assert "demo has no rollouts" in fails("--from-run", "demo", "--split", "test")
    assert "not an evaluation folder" in fails("--from-eval", "runs", "--split", "test")
    assert "holds no train" in fails("data/small")
