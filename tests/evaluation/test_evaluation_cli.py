"""``prorl eval`` from end to end with a tiny real model, and its complaints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import UserError
from prorl_evaluation.testing import FakeGenerator

SMALL = ["--k", "2", "--n", "4", "--max-tokens", "4", "--device", "cpu"]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", *arguments])


def fails(*arguments: str) -> str:
    """The message of the user's mistake that the call is."""
    error = call(*arguments).exception
    assert isinstance(error, UserError), repr(error)
    assert "\n" not in str(error)
    return str(error)


def test_bare_evaluates_the_newest_run_and_its_base_then_compares_regrades_and_reports(
    workplace: Path,
) -> None:
    done = call("pass-at-k", *SMALL, "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert [r["settings"]["label"] for r in value["results"]] == ["base tiny0", "demo step 12"]
    assert value["comparison"]["paired"] == 5
    assert "models: base tiny0, demo step 12" in done.stderr
    assert "samples: 40 in all" in done.stderr
    assert "trained on another dataset" in done.stderr
    base, step = sorted((workplace / "runs" / "demo" / "eval").iterdir())
    assert base.name.startswith("base-") and step.name.startswith("step_000012-")

    before = (base / "samples.jsonl").read_bytes()
    assert call("pass-at-k", *SMALL).exit_code == 0
    assert (base / "samples.jsonl").read_bytes() == before

    compared = call("compare", str(base), str(step), "--html", "c.html")
    assert compared.exit_code == 0 and "too few to say" in " ".join(compared.stdout.split())
    assert Path("c.html").is_file()
    regraded = call("regrade", str(step), "--json")
    assert json.loads(regraded.stdout)["changed"] == 0
    report = call("report", "demo")
    assert report.exit_code == 0, report.output
    page = Path(report.stdout.strip())
    assert page == Path("runs/demo/report.html") and "Training" in page.read_text()


def test_one_model_goes_to_evals_and_out_names_the_folder(workplace: Path) -> None:
    base = str((workplace / "runs/demo/checkpoints/step_000012/policy").resolve())
    done = call("pass-at-k", "--model", base, *SMALL, "--limit", "2", "--out", "mine")
    assert done.exit_code == 0, done.output
    assert "pass@2" in done.stdout and "difference" not in done.stdout
    assert (
        json.loads(Path("mine/result.json").read_text())["settings"]["dataset"]["split"] == "test"
    )


def test_an_interruption_says_how_to_go_on_and_exits_130(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> FakeGenerator:
        return FakeGenerator(interrupt_at=1)

    monkeypatch.setattr("prorl_evaluation.sampling.session.LazyGenerator", interrupted)
    done = call("pass-at-k", *SMALL)
    assert done.exit_code == 130
    assert "give the same command again" in done.stderr


def test_k_above_n_is_said_before_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fails("pass-at-k", "--k", "8", "--n", "4").startswith("k > n")


def test_an_evaluation_too_small_for_a_gain_says_so_before_it_samples(workplace: Path) -> None:
    outcome = call("pass-at-k", "--checkpoint", "base", *SMALL, "--limit", "4")
    assert outcome.exit_code == 0, outcome.output
    said = " ".join(outcome.stderr.split())
    assert "4 problems with n = 4: a true gain of 0.1 in pass@1 would be seen in" in said
    assert said.index("a true gain of 0.1") < said.index("written to")
    assert "these very problems, sampled again" in " ".join(outcome.stdout.split())


def test_k_near_n_is_warned_of_loudly_and_once(workplace: Path) -> None:
    done = call("pass-at-k", "--k", "4", "--n", "4", "--max-tokens", "2", "--limit", "1")
    assert done.stderr.count("WARNING: k = 4 is more than half of n = 4") == 1


def test_nothing_to_evaluate_names_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "prorl train" in fails("pass-at-k")
    assert "prorl data build" in fails("pass-at-k", "--model", "x")
    assert "not both" in fails("pass-at-k", "--model", "x", "--run", "y")
    assert "pass-at-k" in fails("compare", "a", "b")
    assert "not an evaluation folder" in fails("regrade", "a")
    assert "start one with prorl train" in fails("report", "a")


def test_a_device_that_torch_does_not_know_names_those_there_are(workplace: Path) -> None:
    for device in ("gpu", "cuda:", "cuda:x", ""):
        said = fails("pass-at-k", "--device", device)
        assert f"device '{device}'" in said and "auto, cpu, cuda or cuda:1" in said


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (
            ["--server-model", "tiny", "--server-key-env", "NOPE"],
            "--server-model, --server-key-env",
        ),
        (["--server-concurrency", "4"], "--server-concurrency"),
        (["--server-price", "1,2"], "--server-price"),
    ],
)
def test_options_of_a_server_without_its_address_are_a_mistake(
    workplace: Path, given: list[str], named: str
) -> None:
    said = fails("pass-at-k", *SMALL, *given)
    verb = "are" if "," in named else "is"
    assert said.startswith(f"{named} {verb} given without --server: add --server http://")
    assert not list(workplace.rglob("samples.jsonl"))
