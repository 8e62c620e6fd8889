from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl as command
from doubles import write_model

from prorl_common import NullProgress
from prorl_datasets import BENCHMARKS, build, load_recipe
from prorl_evaluation.sampling.job import check_same_parts
from prorl_evaluation.types import EvaluationError

pytestmark = pytest.mark.usefixtures("lab_parts")

LETTERS = """
from prorl_verifiers import DataShape, VerifierSpec

def score(response, reference):
    return float(response.strip() == reference["answer"])

SPEC = VerifierSpec(name="letters", score=score, data=DataShape(vote=str.lower))
"""
BACKEND_AND_VERIFIER = ("--set", "model.backend=canned", "--set", "scoring.workers=1")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model and the lab's dataset, half of which the lab's verifier judges."""
    root = tmp_path_factory.mktemp("eval")
    write_model(root / "model", hidden=16, layers=1)
    build(load_recipe("lab_doubles"), root / "data", progress=NullProgress())
    return root


def prorl(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command(place, "eval", *words, CANNED_ANSWER="2")


def eval_file(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "eval.json").read_text())
    return found


@pytest.mark.slow
def test_an_evaluation_is_sampled_and_judged_by_a_distributions_parts_and_keeps_their_versions(
    place: Path,
) -> None:
    asked = ("--model", "model", "--dataset", "data", "--split", "train", *BACKEND_AND_VERIFIER)
    words = ("pass-at-k", *asked, "--k", "1", "--n", "2", "--out", "mine")
    done = prorl(place, *words, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["results"][0]
    assert "exact" in {g["name"] for g in result["groups"]}
    assert result["versions"]["exact (prorl.verifiers)"] == "lab-parts 1.0"
    kept = {(p["group"], p["name"], p["source"]) for p in eval_file(place / "mine")["parts"]}
    assert kept == {
        ("prorl.verifiers", "exact", "lab-parts"),
        ("prorl.backends", "canned", "lab-parts"),
    }

    row = eval_file(place / "mine")
    for part in row["parts"]:
        part["version"] = "0.9" if part["name"] == "exact" else part["version"]
    (place / "mine" / "eval.json").write_text(json.dumps(row))
    other = prorl(place, *words)
    assert other.returncode == 2
    (line,) = [line for line in other.stderr.splitlines() if "lab-parts 0.9" in line]
    assert "exact from lab-parts 0.9, which is now lab-parts 1.0" in line and "regrade" in line
    anew = prorl(place, "regrade", "mine", "--set", "scoring.workers=1", "--json")
    assert anew.returncode == 0 and json.loads(anew.stdout)["changed"] == 0, anew.stderr
    assert prorl(place, *words).returncode == 0
    compared = prorl(place, "compare", "mine", "mine", "--json")
    assert compared.returncode == 0, compared.stderr


@pytest.mark.slow
def test_a_benchmark_by_path_is_evaluated_beside_a_suites_own_and_recorded(place: Path) -> None:
    text = BENCHMARKS.find("lab_gcd")[0].read_text(encoding="utf-8")
    (place / "mine.yaml").write_text(text.replace("lab_gcd", "mine"))
    asked = ("run", "--model", "model", *BACKEND_AND_VERIFIER, "--n", "1", "--limit", "2")
    done = prorl(place, *asked, "--benchmarks", "./mine.yaml", "--out", "suite", "--json")
    assert done.returncode == 0, done.stderr
    (folder,) = (place / "suite").glob("*/mine-*")
    parts = {p["name"]: p for p in eval_file(folder)["parts"]}
    assert parts["mine"]["group"] == "prorl.benchmarks"
    assert parts["mine"]["version"].startswith("sha256:")

    (place / "lab.yaml").write_text(
        "name: lab\ntitle: The lab\nsampling: {n: 1}\nbenchmarks: [lab_gcd, ./mine.yaml]\n"
    )
    whole = prorl(place, *asked, "--suite", "lab.yaml", "--out", "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    folders = {f.parent.name.rpartition("-")[0] for f in (place / "whole").glob("*/*/eval.json")}
    assert folders == {"lab_gcd", "mine"}


@pytest.mark.slow
def test_a_plug_in_files_verifier_votes_as_its_spec_says(place: Path) -> None:
    (place / "letters.py").write_text(LETTERS)
    (place / "rows.jsonl").write_text('{"prompt": "Say 2", "answer": "2"}\n')
    recipe = (
        "name: letters\ndecontamination: {benchmarks: []}\nplugins: [letters.py]\nentries:\n"
        "  - {name: a, domain: letters, source: {kind: file, path: rows.jsonl}, count: {train: all}}\n"
    )
    (place / "letters.yaml").write_text(recipe)
    made = command(place, "data", "build", "--recipe", "letters.yaml", "--out", "letters")
    assert made.returncode == 0, made.stderr
    asked = (
        "pass-at-k",
        "--model",
        "model",
        "--dataset",
        "letters",
        "--split",
        "train",
        *BACKEND_AND_VERIFIER,
    )
    words = (*asked, "--k", "1", "--n", "2", "--out", "voted", "--json")
    unknown = prorl(place, *words)
    assert unknown.returncode == 2 and "unknown verifier 'letters'" in unknown.stderr
    done = prorl(place, *words, "--plugin", "letters.py")
    assert done.returncode == 0, done.stderr
    (problem,) = json.loads(done.stdout)["results"][0]["problems"]
    assert (problem["c"], problem["answers"]) == (2, [])  # nothing was extracted: no vote
    (part, _) = sorted(eval_file(place / "voted")["parts"], key=lambda p: str(p["version"]))[::-1]
    assert part["name"] == "letters" and part["version"].startswith("sha256:")


def test_a_folder_without_records_opens_and_one_with_others_is_refused(tmp_path: Path) -> None:
    part = {"group": "prorl.verifiers", "name": "a", "source": "lab", "version": "1"}
    (tmp_path / "eval.json").write_text("{}")
    assert check_same_parts(tmp_path, [part]) == [part]
    (tmp_path / "eval.json").write_text(json.dumps({"parts": [part]}))
    assert check_same_parts(tmp_path, []) == [part]
    with pytest.raises(EvaluationError, match="a from lab 1, which is now lab 2"):
        check_same_parts(tmp_path, [{**part, "version": "2"}])
