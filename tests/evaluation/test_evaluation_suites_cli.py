"""``prorl eval run`` from end to end with a tiny real model, and its complaints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import UserError
from prorl_evaluation.testing import FakeGenerator

SMALL = ["--limit", "1", "--n", "2", "--max-tokens", "2", "--device", "cpu"]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["eval", "run", *arguments])


def fails(*arguments: str) -> str:
    error = call(*arguments).exception
    assert isinstance(error, UserError), repr(error)
    assert "\n" not in str(error)
    return str(error)


@pytest.fixture
def faked(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workplace, every model a fake."""
    monkeypatch.setattr(
        "prorl_evaluation.sampling.session.LazyGenerator", lambda *_: FakeGenerator()
    )
    return workplace


@pytest.mark.slow
def test_bare_runs_the_whole_quickstart_on_the_newest_run_and_its_base(workplace: Path) -> None:
    done = call(*SMALL, "--benchmarks", "quick_math,quick_stem,quick_instruction,quick_logic")
    assert done.exit_code == 0, done.output
    assert "models: base tiny0, demo step 12" in done.stderr
    assert "demo step 12 minus base tiny0" in " ".join(done.stdout.replace("│", " ").split())
    root = workplace / "runs" / "demo" / "suites"
    assert len(list(root.glob("*/*/result.json"))) == 8
    (saved,) = root.glob("suite-quickstart-*.json")
    journals = {p: p.read_bytes() for p in root.rglob("samples.jsonl")}

    names = "quick_math,quick_stem,quick_instruction,quick_logic"
    again = call(*SMALL, "--benchmarks", names, "--html", "suite.html")
    assert again.exit_code == 0 and "report written: suite.html" in again.stderr
    page = Path("suite.html").read_text()
    assert "quick_math/" in page and "prorl eval run --suite quickstart --model" in page
    assert {p: p.read_bytes() for p in root.rglob("samples.jsonl")} == journals
    assert list(root.glob("suite-quickstart-*.json")) == [saved]


def test_a_missing_column_and_a_missing_file_leave_dashes_with_their_cure(
    faked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(faked / "empty"))
    mirror = faked / "mirror"
    mirror.mkdir()
    rows = [{"id": i, "problem": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(3)]
    text = "".join(json.dumps(r) + "\n" for r in rows)
    (mirror / "aime_2024.jsonl").write_text(text)
    (mirror / "amc.jsonl").write_text(text.replace('"answer"', '"gold"'))
    names = "aime_2024,amc,aime_2025"
    options = ["--suite", "prorl", "--benchmarks", names, "--mirror", str(mirror), "--markdown"]
    done = call(*options, "--model", "tiny", *SMALL, "--out", "mine")
    if isinstance(done.exception, UserError):  # a model's folder must be there for the fake, too
        done = call(*options, *SMALL, "--out", "mine")
    assert done.exit_code == 2, done.output
    assert "| base (card) | 28.54 | 22.71 | 62.58 |" in done.stdout
    assert "finds no column for 'answer'" in done.stdout and "columns here" in done.stderr
    assert "aime_2025" in done.stdout and "give --mirror DIR" in done.stderr
    assert "your sampling is not that of (card): n 2 where they had 16" in done.stdout
    assert len(list((faked / "mine").glob("*/aime_2024-*/result.json"))) == 2
    assert "2 benchmarks were not done" in done.stderr


def test_a_suite_of_ones_own_takes_its_sampling_from_its_file(faked: Path) -> None:
    Path("own.yaml").write_text(
        "name: own\ntitle: Own\nsampling: {n: 3, max_tokens: 5}\n"
        "benchmarks: [{name: sums, domain: math, families: [add], count: 2}]\n"
    )
    done = call("--suite", "own.yaml", "--json", "--device", "cpu")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert value["settings"]["n"] == 3 and value["settings"]["max_tokens"] == 5
    assert value["benchmarks"] == ["sums"] and value["published"] == []
    named = call("--suite", "own.yaml", "--json", "--protocol", "justrl", "--n", "1")
    assert json.loads(named.stdout)["settings"]["temperature"] == 0.7


def test_an_interruption_says_how_to_go_on_and_exits_130(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> FakeGenerator:
        return FakeGenerator(interrupt_at=1)

    monkeypatch.setattr("prorl_evaluation.sampling.session.LazyGenerator", interrupted)
    done = call(*SMALL, "--benchmarks", "quick_math")
    assert done.exit_code == 130 and "give the same command again" in done.stderr


def test_the_list_says_what_each_benchmark_needs() -> None:
    rows = json.loads(call("--list", "--json").stdout)
    needs = {(r["suite"], r["benchmark"]): r["needs"] for r in rows}
    assert needs["prorl", "gpqa_diamond"] == "the hub and its terms"
    assert needs["prorl", "aime_2024"] == "the hub or --mirror"
    assert {n for (suite, _), n in needs.items() if suite != "prorl"} == {"nothing"}
    assert "ladder_boxnet" in call("--list").stdout


def test_mistakes_are_one_line_with_the_cure(workplace: Path) -> None:
    assert "did you mean 'prorl'?" in fails("--suite", "prorll")
    assert "core, all, none" in fails("--published", "some")
    assert "has no benchmark 'quick_maths'" in fails("--benchmarks", "quick_maths", *SMALL)
    assert "there are prorl, boundary, justrl" in fails("--protocol", "nobody")
    own = ("--benchmarks", " , ", *SMALL)
    assert "no benchmark is named; suite quickstart has quick_math" in fails(*own)
    assert "use auto, cpu, cuda" in fails("--benchmarks", "quick_math", "--device", "gpu")
    assert "--server-model is given without --server" in fails("--server-model", "tiny")
