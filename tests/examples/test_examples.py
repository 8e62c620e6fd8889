from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from doubles import write_model
from pyarrow import parquet

from prorl_common import NullProgress
from prorl_datasets import BuildOptions, build, load, load_recipe
from prorl_inference.backends.openai.testing import FakeServer

EXAMPLES = Path(__file__).parents[2] / "examples"
WORDS = [
    "--set",
    "rollout.prompts=2",
    "--set",
    "rollout.samples=2",
    "--set",
    "rollout.max_tokens=6",
]
QUIET = ["--set", "warm_start.examples=4", "--set", "validation.every=0"]
QUIET += ["--set", "dynamic_sampling.enabled=false"]  # a random model has no usable groups


def run(*words: object, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data") / "own"
    build(load_recipe(str(EXAMPLES / "own_data.yaml")), out, progress=NullProgress())
    return out


def test_every_example_is_listed_and_tested_here() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    for file in EXAMPLES.iterdir():
        if file.is_file() and file.name not in ("README.md", "own_data.jsonl"):
            assert f"[{file.name}]({file.name})" in listed


def test_own_verifier_scores_its_four_answers(tmp_path: Path) -> None:
    said = run(EXAMPLES / "own_verifier.py", cwd=tmp_path).splitlines()
    assert [line.split("' ")[1].split()[0] for line in said] == ["1.0", "0.5", "0.0", "0.0"]
    assert "unparsable" in said[3]


def test_own_environment_answers_until_the_number_is_found(tmp_path: Path) -> None:
    said = run(EXAMPLES / "own_environment.py", cwd=tmp_path).splitlines()
    answers = ["My number is lower.", "That is not a number.", "1.0"]
    assert [line.split(": ")[1] for line in said] == answers


def test_rows_without_a_prompt_become_items_of_an_environment(tmp_path: Path) -> None:
    numbers = [3, 50, 77, 12]
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"answer": {n}}}\n' for n in numbers))
    entry = "{name: guess, domain: logic, verifier: guess-number, count: {train: 4}, source: {kind: file, path: rows.jsonl}}"
    plugin = f"plugins: [{EXAMPLES / 'own_environment.py'}]"
    recipe = f"name: guess\n{plugin}\ndecontamination: {{benchmarks: []}}\nentries:\n  - {entry}\n"
    (tmp_path / "recipe.yaml").write_text(recipe)
    run(
        "-m", "prorl_cli", "data", "build", "--recipe", "recipe.yaml", "--out", "data", cwd=tmp_path
    )
    samples = load(tmp_path / "data")
    assert sorted(s.task.reference["answer"] for s in samples) == sorted(numbers)
    assert {s.prompt[0]["content"][:15] for s in samples} == {"Guess my number"}


@pytest.mark.slow
def test_own_loss_trains_a_step(tmp_path: Path, data: Path) -> None:
    write_model(tmp_path / "model")
    loss = ["--plugin", EXAMPLES / "own_loss.py", "--set", "loss.name=soft_clip"]
    words = ["--preset", "cpu", "--model", "model", "--data", data, "--steps", 1, "--name", "mine"]
    run("-m", "prorl_cli", "train", *words, *loss, *WORDS, *QUIET, cwd=tmp_path)
    config = (tmp_path / "runs" / "mine" / "config.yaml").read_text()
    assert "name: soft_clip" in config


def test_own_loss_is_ppos_gradient_at_ratio_one() -> None:
    import importlib.util

    import torch

    from prorl_training.config.algorithm import LossConfig

    spec: Any = importlib.util.spec_from_file_location("own_loss", EXAMPLES / "own_loss.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    new = torch.zeros(3, requires_grad=True)
    config = LossConfig().model_copy(update={"options": {"sharpness": 1.0}})
    advantages = torch.tensor([1.0, -2.0, 0.5])
    module.soft_clip(new, torch.zeros(3), advantages, torch.tensor([3]), config).sum().backward()
    assert torch.allclose(new.grad if new.grad is not None else new, -advantages)


def test_own_data_builds_with_every_gold_answer_accepted(data: Path) -> None:
    from prorl import load_dataset

    rows = load_dataset(data, "train")
    assert len(rows) == 24 and sum(r.id.startswith("ours") for r in rows) == 4


def test_hub_data_builds_from_a_copy_of_the_set(tmp_path: Path) -> None:
    rows = [
        {
            "question": f"Anna has {i} nuts and buys {j} more. How many?",
            "answer": f"So many.\n#### {i + j}",
        }
        for i in range(3, 9)
        for j in range(2, 6)
    ]
    folder = tmp_path / "mirror" / "openai" / "gsm8k" / "main"
    folder.mkdir(parents=True)
    parquet.write_table(pa.Table.from_pylist(rows), folder / "train-00000-of-00001.parquet")
    options = BuildOptions(mirror=tmp_path / "mirror")
    recipe = load_recipe(str(EXAMPLES / "hub_data.yaml"))
    report = build(recipe, tmp_path / "out", progress=NullProgress(), options=options)
    assert report.manifest["counts"]["train"] == {"math": 20}


def test_a_server_is_evaluated_and_compared(tmp_path: Path, data: Path) -> None:
    words = [EXAMPLES / "evaluate_server.py"]
    with FakeServer() as server:
        first = run(*words, server.url, data, "--out", tmp_path / "a", "--limit", 4, cwd=tmp_path)
        against = ("--out", tmp_path / "b", "--against", tmp_path / "a", "--limit", 4)
        second = run(*words, server.url, data, *against, cwd=tmp_path)
    assert first.startswith("overall") and "pass@1 0.000" in first
    assert "difference +0.000" in second


def scripts(folder: Path, **texts: str) -> None:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(f"#!/bin/bash\n{text}\n")
        (folder / name).chmod(stat.S_IRWXU)


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (
            ["--preset", "prorl-v2", "--steps", "3000"],
            (
                "train --preset prorl-v2 --steps 3000 --engine openrlhf --set openrlhf.nodes=4 "
                "--set openrlhf.ray_address=auto"
            ),
        ),
        (["--resume", "mine"], "train --resume mine"),
    ],
)
def test_the_slurm_script_starts_ray_everywhere_and_the_run_on_the_head(
    tmp_path: Path, words: list[str], sent: str
) -> None:
    log = tmp_path / "log"
    bins = tmp_path / "bin"
    scripts(
        bins,
        scontrol="echo node-1; echo node-2",
        srun='while [ "$1" != ray ] && [ "$1" != prorl ]; do echo "$1" >/dev/null; shift; done; exec "$@"',
        ray=f'echo "ray $*" >> {log}',
        prorl=f'echo "prorl $*" >> {log}',
        sleep="exit 0",
    )
    environment = os.environ | {
        "PATH": f"{bins}:{os.environ['PATH']}",
        "SLURM_JOB_NODELIST": "node-[1-4]",
        "SLURM_JOB_NUM_NODES": "4",
    }
    subprocess.run(["bash", EXAMPLES / "slurm.sh", *words], env=environment, check=True, timeout=60)
    end = time.monotonic() + 30
    while len(log.read_text().splitlines()) < 3 and time.monotonic() < end:
        time.sleep(0.05)  # the script does not wait for the processes it starts on other nodes
    said = sorted(log.read_text().splitlines())
    assert said == [
        f"prorl {sent}",
        "ray start --address node-1:6379 --block",
        "ray start --head --port 6379 --block",
    ]


@pytest.mark.slow
def test_the_notebook_runs_from_its_first_cell_to_its_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    cells = json.loads((EXAMPLES / "prorl.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in cells if "print(" in "".join(cell["source"]))
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "notebook.py"
    script.write_text("import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(code))
    said = run(script, cwd=tmp_path)
    assert "100 held-out problems" in said and "higher: the interval excludes 0" in said
