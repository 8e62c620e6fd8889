"""The data doors: source, recipe and benchmark of an installed distribution, and by path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prorl_datasets import BENCHMARKS, RECIPES, SOURCES, DatasetError, load, load_recipe
from prorl_datasets.benchmarks import load_spec

pytestmark = pytest.mark.usefixtures("lab_parts")

RECIPE = """
name: mine
decontamination: {benchmarks: []}
plugins: [mine.py]
entries:
  - name: mine
    domain: math
    source: {kind: triples, options: {count: 6}, columns: {prompt: ask}}
    count: {train: all}
"""
PLUGIN = """
from prorl_datasets import SourceSpec

def rows(options):
    for n in range(options["count"]):
        yield {"ask": f"What is three times {n}?", "answer": 3 * n}

TRIPLES = SourceSpec(name="triples", rows=rows, options={"count": 4})
"""


def prorl(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "prorl_cli", *words]
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=cwd, env=environment
    )


def test_the_source_recipe_and_benchmark_doors_list_them_beside_our_own() -> None:
    assert {"doubles", "file", "hub", "procedural", "reasoning_gym"} <= {*SOURCES.names()}
    assert {"lab_doubles", "quickstart"} <= {*RECIPES.names()}
    assert {"lab_gcd", "math_500"} <= {*BENCHMARKS.names()}


def test_data_build_takes_an_outside_recipe_source_and_verifier(tmp_path: Path) -> None:
    done = prorl("data", "build", "--recipe", "lab_doubles", "--out", "data", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    samples = list(load(tmp_path / "data"))
    by_words = [s for s in samples if s.task.verifier == "exact"]
    assert (len(by_words), {s.domain for s in by_words}) == (12, {"exact"})
    assert {s.gold_check for s in samples} == {"verified"}
    assert {s.source for s in samples} == {"doubles"}
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text())
    assert [(p["group"], p["name"], p["source"]) for p in manifest["parts"]] == [
        ("prorl.sources", "doubles", "lab-parts"),
        ("prorl.verifiers", "exact", "lab-parts"),
    ]
    again = prorl("data", "build", "--recipe", "lab_doubles", "--out", "data", cwd=tmp_path)
    assert "nothing to do" in again.stderr
    checked = prorl("data", "verify", "data", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert prorl("data", "inspect", "data", cwd=tmp_path).returncode == 0


def test_a_plugin_file_named_in_a_recipe_is_loaded_and_a_changed_one_builds_anew(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.yaml").write_text(RECIPE)
    (tmp_path / "mine.py").write_text(PLUGIN)
    words = ("data", "build", "--recipe", "mine.yaml", "--out", "data")
    done = prorl(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(list(load(tmp_path / "data"))) == 6
    (part,) = json.loads((tmp_path / "data" / "manifest.json").read_text())["parts"]
    assert part["version"].startswith("sha256:")
    assert "nothing to do" in prorl(*words, cwd=tmp_path).stderr
    (tmp_path / "mine.py").write_text(PLUGIN.replace("three times", "thrice"))
    assert "nothing to do" not in prorl(*words, cwd=tmp_path).stderr
    assert "thrice" in next(iter(load(tmp_path / "data"))).prompt[0]["content"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("kind: triples", "kind: tripels", "unknown source 'tripels' (did you mean 'triples'"),
        ("count: 6", "cuont: 6", "unknown option 'cuont' (did you mean 'count'?)"),
        ("domain: math", "domain: maths", "unknown verifier 'maths' (did you mean 'math'"),
        ("prompt: ask", "prompt: aks", "no column 'aks' (did you mean 'ask'?)"),
        ("prompt: ask", "promt: ask", "'promt' is not a field of math (did you mean 'prompt'?)"),
    ],
)
def test_a_name_that_is_none_is_one_line_with_the_nearest(
    old: str, new: str, line: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_text(RECIPE.replace(old, new))
    (tmp_path / "mine.py").write_text(PLUGIN)
    done = prorl("data", "build", "--recipe", "mine.yaml", "--out", "data", cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert line in done.stderr.splitlines()[-1]


def test_a_benchmark_by_path_is_checked_and_shown(tmp_path: Path) -> None:
    text = (BENCHMARKS.find("lab_gcd")[0]).read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(text.replace("lab_gcd", "mine"))
    done = prorl("data", "benchmarks", "./mine.yaml", "--n", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "golds accepted: 1 of 1" in done.stderr
    assert "greatest common divisor" in done.stdout.lower()
    (tmp_path / "mine.yaml").write_text(
        text.replace("lab_gcd", "mine").replace("verifier: logic", "verifier: logik")
    )
    wrong = prorl("data", "benchmarks", "./mine.yaml", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "unknown verifier 'logik' (did you mean 'logic'" in wrong.stderr


def test_unknown_recipes_and_benchmarks_name_the_nearest_and_their_sources() -> None:
    with pytest.raises(DatasetError, match=r"did you mean 'lab_doubles'.*of lab-parts"):
        load_recipe("lab_double")
    with pytest.raises(DatasetError, match="did you mean 'lab_gcd'"):
        load_spec("lab_gdc")
