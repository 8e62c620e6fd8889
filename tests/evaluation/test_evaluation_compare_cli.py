"""``prorl eval compare``: several results, claims, extras, Markdown and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import NullProgress, UserError
from prorl_evaluation import EvalSettings, evaluate
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three results of one model that gets better: 5%, 30% and 80% right."""
    root = tmp_path_factory.mktemp("results")
    samples = [*make_samples(15), *make_samples(12, "stem")]
    for percent in (5, 30, 80):
        settings = EvalSettings(n=16, k=8, draws=400, label=f"m{percent}")
        generator = FakeGenerator(model_digest=f"d{percent}", percent=percent)
        out = root / f"m{percent}"
        evaluate(generator, samples, settings, out, FakeScorer(), NullProgress())
    return [str(root / f"m{percent}") for percent in (5, 30, 80)]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", "compare", *arguments])


def test_three_results_are_compared_with_the_first_and_claims_are_made(folders: list[str]) -> None:
    done = call(*folders)
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert "m30 against m5, 27 paired problems" in text
    assert "m80 against m5, 27 paired problems" in text
    assert "Boundary against m5: Holm over 21 candidate claims at 0.05" in text
    assert "sustained" in text and "Generated tokens an answer" in text and "by luck" in text


def test_json_holds_comparisons_claims_and_what_was_asked_for(folders: list[str]) -> None:
    done = call(*folders, "--json", "--beta", "--false-positive-rate", "0.005")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert [c["b"] for c in value["comparisons"]] == ["m30", "m80"]
    assert value["boundary"]["labels"] == ["m5", "m30", "m80"]
    assert value["boundary"]["groups"][0]["claims"][0]["regime"] == "sustained"
    assert [p["label"] for p in value["posterior"]] == ["m5", "m30", "m80"]
    assert value["false_positives"][0]["rows"][-1]["unsolvable_reads"] == pytest.approx(
        0.0393, abs=1e-4
    )


def test_markdown_holds_every_table(folders: list[str], tmp_path: Path) -> None:
    done = call(*folders[:2], "--md", str(tmp_path / "t.md"), "--beta", "--k", "4")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "t.md").read_text()
    for words in ("**m5, n = 16", "| claim |", "Jeffreys", "pass@4"):
        assert words in page, words


def test_a_k_near_n_is_warned_of_beside_the_tables(folders: list[str]) -> None:
    done = call(*folders[:2], "--k", "12")
    assert "WARNING: pass@12 from n = 16 samples is little more than" in " ".join(
        done.stderr.split()
    )


def test_mistakes_are_one_line_with_the_cure(folders: list[str]) -> None:
    for arguments, words in (
        ((folders[0],), "two or more results"),
        ((*folders[:2], "--cluster", "domain"), "use problem or task"),
        ((*folders[:2], "--k", "99"), "use 1 to 16"),
    ):
        error = call(*arguments).exception
        assert isinstance(error, UserError) and words in str(error)
        assert "\n" not in str(error)


def test_file_options_and_set_make_the_settings_of_a_comparison(
    folders: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "eval.yaml"
    file.write_text("comparison: {alpha: 0.01, margin: 0.2, beta: true}\nsampling: {n: 4}\n")
    words = ["--config", str(file), "--alpha", "0.02", "--set", "comparison.k=4", "--json"]
    done = call(*folders[:2], *words)
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    claims = value["boundary"]
    assert (claims["alpha"], claims["margin"], claims["k"]) == (0.02, 0.2, 4)
    assert "posterior" in value
    wrong = call(*folders[:2], "--set", "comparison.aplha=0.1").exception
    assert isinstance(wrong, UserError) and "did you mean 'comparison.alpha'" in str(wrong)
