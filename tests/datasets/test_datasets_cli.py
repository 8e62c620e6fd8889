from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.console import print_table
from prorl_cli.main import build_app

RECIPE = """
name: mine
decontamination: {benchmarks: []}
entries:
  - {name: add, domain: math, source: {kind: procedural, family: add}, count: {train: 12, test: 2}}
  - {name: few, domain: math, source: {kind: procedural, family: multiply}, count: {train: %d}}
"""


def _run(*words: str) -> Result:
    return CliRunner().invoke(build_app(), ["data", *words])


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(RECIPE % 5)
    return path


def test_recipes_lists_the_packaged_ones() -> None:
    result = _run("recipes", "--json")
    assert {r["name"] for r in json.loads(result.stdout)} >= {"quickstart", "prorl-136k-procedural"}


@pytest.mark.slow
def test_build_inspect_verify_and_diff_work_together(recipe: Path, tmp_path: Path) -> None:
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    built = _run("build", "--recipe", str(recipe), "--out", a, "--json")
    assert built.exit_code == 0, built.output
    assert json.loads(built.stdout)["counts"]["train"] == {"math": 17}
    assert "recipe mine" in built.stderr
    assert _run("build", "--recipe", str(recipe), "--out", b, "--seed", "5").exit_code == 0
    inspected = _run("inspect", a, "--json", "--n", "1")
    assert json.loads(inspected.stdout)["rows"] == 19
    assert "gold: \\boxed" in _run("inspect", a, "--n", "1").stdout
    verified = _run("verify", a, "--json")
    assert verified.exit_code == 0
    assert json.loads(verified.stdout)["checked"] == 19
    assert _run("diff", a, a).stdout == ""
    assert "~ add-" in _run("diff", a, b).stdout


@pytest.mark.slow
def test_a_shortfall_exits_2_unless_allowed_and_the_dataset_stands(
    recipe: Path, tmp_path: Path
) -> None:
    recipe.write_text(RECIPE % 500)
    words = ("build", "--recipe", str(recipe), "--out", str(tmp_path / "a"))
    short = _run(*words)
    assert short.exit_code == 2
    assert "few is below its min_share: train 64/500" in short.stderr
    assert (tmp_path / "a" / "manifest.json").is_file()
    assert _run(*words, "--allow-short").exit_code == 0


def test_default_folder_is_data_and_the_recipes_name(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run("build", "--recipe", str(recipe)).exit_code == 0
    assert (tmp_path / "data" / "mine" / "train.parquet").is_file()


def test_an_answer_in_brackets_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("commonest", ("answer", "rows"), [("[b]x[/b]", "3")])
    assert "[b]x[/b]" in capsys.readouterr().out
