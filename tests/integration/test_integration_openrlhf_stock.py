"""Stock OpenRLHF with prorl's ``reward_func`` as remote reward, on prorl's CPU layer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cluster_runs import write_model

from prorl_datasets import Sample
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.launch.arguments import Places, argument_list
from prorl_training.engine.openrlhf.launch.environment import environment
from prorl_training.engine.openrlhf.launch.session import export_prompts
from prorl_verifiers import Task
from prorl_verifiers.adapters import openrlhf as adapter

pytestmark = pytest.mark.usefixtures("openrlhf_stack")

PROGRAM = """
import json, runpy, sys
import ray
ray.init(num_cpus=8, num_gpus=3, include_dashboard=False)
sys.argv = ["train_ppo_ray", *json.loads(sys.argv[1])]
runpy.run_module("openrlhf.cli.train_ppo_ray", run_name="__main__", alter_sys=True)
"""


def test_openrlhf_itself_trains_on_rewards_of_our_reward_func(tmp_path: Path) -> None:
    write_model(tmp_path / "model")
    no_comma = Task(
        "instruction", {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    )
    chats = [({"role": "user", "content": f"Text {i}"},) for i in range(16)]
    samples = [
        Sample(f"{i}", "instruction", chat, no_comma, "test", "none", "train")
        for i, chat in enumerate(chats)
    ]
    export_prompts(samples, tmp_path / "prompts.jsonl")
    settings = [
        "rollout.prompts=8",
        "rollout.samples=4",
        "rollout.max_tokens=48",
        "rollout.temperature=1.0",
        "loss.mini_batches=1",
        "dynamic_sampling.enabled=false",
        "model.device=cpu",
    ]
    places = Places(
        model=str(tmp_path / "model"),
        prompts=str(tmp_path / "prompts.jsonl"),
        checkpoints=str(tmp_path / "checkpoints"),
        output=str(tmp_path / "policy"),
        reward=(str(adapter.__file__),),
        device="cpu",
        context=512,
    )
    arguments = argument_list(load_config("prorl-v2", None, settings), places)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(arguments)],
        env={**os.environ, **environment("cpu", os.cpu_count() or 1)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    log = done.stdout + done.stderr
    assert done.returncode == 0, log[-5000:]
    assert "Failed to fetch reward" not in log
    rewards = [float(value) for value in re.findall(r"'rollout/reward_mean': ([\d.]+)", log)]
    assert len(rewards) == 2, log[-5000:]
    assert all(0 < reward < 1 for reward in rewards)
