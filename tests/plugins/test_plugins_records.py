from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl
from doubles import write_model

from prorl_common import NullProgress, sha256_file
from prorl_datasets import ADAPTERS, load_recipe
from prorl_datasets.building.report import parts_that_count
from prorl_datasets.storage import MANIFEST, canonical_json, write_split
from prorl_evaluation.suites.suite import Suite
from prorl_sandbox import LANGUAGES
from prorl_training.config import TrainConfig
from prorl_training.config.loading import check_config
from prorl_training.config.presets import load_preset
from prorl_training.config.tree import merge
from prorl_training.engine.local import train
from prorl_training.engine.openrlhf.launch.session import prepare_run
from prorl_training.run.folder import RunFolder
from prorl_verifiers import VERIFIERS, Task, renewed_records

pytestmark = pytest.mark.usefixtures("lab_parts")

PLUGINS = """
from prorl_datasets import AdapterSpec, Row
from prorl_verifiers import VerifierSpec, load_task

def convert(raw, where, index):
    task = load_task(raw["judge"], {"answer": raw["answer"]})
    return Row(index, raw["ask"], task, raw["answer"], raw["answer"], {})

def score(response, reference):
    return response.strip() == reference["answer"]

ROWS = AdapterSpec(name="by_row", convert=convert)
WORDS = VerifierSpec(name="words", score=score)
"""
ENTRY = (
    "name: mine\ndecontamination: {{benchmarks: []}}\nentries:\n"
    "  - {{name: a, domain: {0}, source: {{kind: file, path: {1}}}, count: {{train: all}}}}\n"
)


@pytest.mark.slow
def test_a_dataset_names_the_verifiers_of_its_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        '{"ask": "Say a", "answer": "a", "judge": "words"}\n'
        '{"ask": "Say 2", "answer": "2", "judge": "exact"}\n'
    )
    (tmp_path / "plugins.py").write_text(PLUGINS)
    (tmp_path / "mine.yaml").write_text(ENTRY.format("math", "rows.jsonl, adapter: by_row"))
    asked = ("--recipe", "mine.yaml", "--out", "data", "--plugin", "plugins.py")
    done = prorl(tmp_path, "data", "build", *asked)
    assert done.returncode == 0, done.stderr
    parts = json.loads((tmp_path / "data" / MANIFEST).read_text())["parts"]
    assert [(part["group"], part["name"]) for part in parts] == [
        ("prorl.sources", "by_row"),
        ("prorl.verifiers", "exact"),
        ("prorl.verifiers", "words"),
    ]


def test_a_build_starts_anew_when_a_part_changes_that_its_rows_may_take(tmp_path: Path) -> None:
    def counted(domain: str, source: str) -> list[dict[str, str]]:
        (tmp_path / "mine.yaml").write_text(ENTRY.format(domain, source))
        return parts_that_count(load_recipe(str(tmp_path / "mine.yaml")))

    languages = LANGUAGES.records(LANGUAGES.names())
    assert "perl" in {part["name"] for part in languages}
    assert counted("math", "rows.jsonl") == []
    assert counted("code", "rows.jsonl") == languages
    assert counted("composite", "rows.jsonl") == [*VERIFIERS.records(VERIFIERS.names()), *languages]
    assert counted("math", "rows.jsonl, adapter: sums") == [  # its rows may name any verifier
        *ADAPTERS.records(["sums"]),
        *VERIFIERS.records(VERIFIERS.names()),
        *languages,
    ]


def test_an_evaluation_names_the_adapter_that_read_its_benchmark(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ntitle: Sums\ndomain: math\nverifier: math\nmetric: mean_of_n\nlicence: MIT\n"
        "prompt: '{question}'\nhub: {repo: lab/sums, files: [sums.jsonl]}\nadapter: sums\n"
    )
    names = ["./mine.yaml", "gpqa_diamond", "rg_acre"]
    suite = Suite.model_validate(
        {"name": "s", "title": "S", "benchmarks": names, "base": str(tmp_path)}
    )
    file, adapter = suite.parts("mine")
    assert (file["group"], file["name"]) == ("prorl.benchmarks", "mine")
    assert (adapter["group"], adapter["name"]) == ("prorl.sources", "sums")
    assert suite.parts("gpqa_diamond") == suite.parts("rg_acre") == ()


def test_judging_anew_renews_what_judges_and_keeps_every_other_record() -> None:
    def part(group: str, name: str) -> dict[str, str]:
        return {"group": f"prorl.{group}", "name": name, "source": "lab-parts", "version": "0.1"}

    others = [part("backends", "canned"), part("benchmarks", "mine"), part("sources", "sums")]
    judges = [part("verifiers", "exact"), part("verifiers", "gone"), part("languages", "gone")]
    now = renewed_records([*judges, *others], [Task("exact", {"answer": "1"})])
    assert now == [*VERIFIERS.records(["exact"]), *others]
    program = Task("code", {"tests": [{"stdin": "", "stdout": ""}], "language": "perl"})
    assert renewed_records(judges, [program]) == LANGUAGES.records(["perl"])


@pytest.fixture
def judged_apart(tmp_path: Path) -> TrainConfig:
    """The config of a one-step run in which only validation problems use the lab's verifier."""
    files = {}
    for split, verifier in (("train", "math"), ("validation", "exact")):
        row = {
            "id": f"{split}-1",
            "domain": "math",
            "split": split,
            "prompt": [{"role": "user", "content": "2?"}],
            "verifier": verifier,
            "reference": canonical_json({"answer": "2"}),
            "source": "test",
            "licence": "none",
            "gold_check": "none",
            "metadata": "{}",
        }
        path = tmp_path / f"{split}.parquet"
        files[path.name] = {"rows": write_split(path, iter([row])), "sha256": sha256_file(path)}
    (tmp_path / MANIFEST).write_text(json.dumps({"files": files}))
    write_model(tmp_path / "model", hidden=16, layers=1)
    toy: dict[str, Any] = {
        "steps": 1,
        "model": {"path": str(tmp_path / "model"), "device": "cpu", "dtype": "fp32"},
        "data": {"path": str(tmp_path)},
        "rollout": {"prompts": 1, "samples": 2, "max_tokens": 4},
        "loss": {"mini_batches": 1},
        "validation": {"every": 0},
        "reward": {"workers": 1},
        "logging": {"tensorboard": False},
    }
    return check_config(merge(load_preset("prorl-v2"), toy))


def test_a_run_is_of_the_verifiers_that_only_validation_uses_too(
    judged_apart: TrainConfig, tmp_path: Path
) -> None:
    train(judged_apart, tmp_path / "run", NullProgress())
    cluster = RunFolder(tmp_path / "cluster")
    prepare_run(judged_apart, cluster, tmp_path, NullProgress(), resume=False)
    for run in (RunFolder(tmp_path / "run"), cluster):
        identity = run.identity()
        assert identity is not None and identity["parts"] == VERIFIERS.records(["exact"])
