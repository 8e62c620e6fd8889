from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_datasets import load

STORED = Path(__file__).parent / "v0.2.0"
REL = 1e-9
COUNTS = ("n", "c", "reward_mean", "infra_errors", "unparsable", "truncated", "tokens", "answers")
VALUES = ("max_tokens=12", "temperature=1", "top_p=1")
SAMPLING = ("--n", "8", "--k", "4", *(w for v in VALUES for w in ("--set", f"sampling.{v}")))


def prorl(*words: str) -> str:
    result = CliRunner().invoke(build_app(), list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def differences(comparison: Any) -> dict[str, Any]:
    """Return the numbers in a comparison's JSON."""
    rows = {}
    for one in comparison["comparisons"]:
        for row in one["differences"]:
            name = f"{one['b']} - {one['a']}, {row['group']}, {row['metric']}"
            rows[name] = {key: row[key] for key in ("a", "b", "interval", "fixed")}
    return rows


def test_an_evaluation_of_a_tiny_model_has_the_numbers_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Any
) -> None:
    for name in ("model", "dataset"):
        shutil.copytree(STORED / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    words = ["--model", "model", "--dataset", "dataset", "--out", "result"]
    for setting in ("model.device=cpu", "model.batches=fixed", "scoring.workers=1"):
        words += ["--set", setting]
    prorl("eval", "pass-at-k", *words, *SAMPLING)
    result = json.loads(Path("result", "result.json").read_text())
    rows: dict[str, Any] = {p["id"]: {k: p[k] for k in COUNTS} for p in result["problems"]}
    for group in result["groups"]:
        for name in ("pass_at_k", "reward"):
            rows[f"group {group['name']}, {name}"] = group[name]
    golden.check("evaluation", rows, rel=REL)


def test_a_comparison_of_stored_evaluations_has_the_numbers_it_had(golden: Any) -> None:
    names = [str(STORED / "evaluations" / name) for name in ("base", "step_000020")]
    rows = differences(json.loads(prorl("eval", "compare", *names, "--json")))
    golden.check("compare", rows, rel=REL)


@pytest.mark.slow
def test_the_recipe_small_builds_the_rows_it_built(
    tmp_path: Path, golden: Any, digest: Any
) -> None:
    prorl("data", "build", "--recipe", "small", "--out", str(tmp_path / "small"))
    splits: dict[str, list[Any]] = {}
    for s in load(tmp_path / "small"):
        row = [s.id, s.domain, list(map(dict, s.prompt)), s.task.verifier, s.task.reference]
        row += [s.source, s.licence, dict(s.metadata)]
        splits.setdefault(s.split, []).append(row)
    golden.check(
        "dataset_small", {name: [len(rows), digest(rows)] for name, rows in splits.items()}
    )
