"""Several ranks of the local engine, as processes over gloo."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import torch
from doubles import InProcess, played
from safetensors.torch import load_file

from prorl_common import NullProgress, ServiceError, UserError
from prorl_common.interrupts import started_processes
from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_inference import Completion, Request, SamplingParams, quiet_transformers
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_inference.types import sampled_at
from prorl_training.config import TrainConfig
from prorl_training.engine.builder import Builder
from prorl_training.engine.local import LocalEngine, check_gpus
from prorl_training.engine.loop import TrainingLoop
from prorl_training.engine.ranks import Member, Team, TeamGenerator, TeamPolicy
from prorl_training.policy.packing import PromptGroup, build_packs
from prorl_training.policy.ranks import Ranks
from prorl_training.policy.update import UpdateBatch
from prorl_training.run.checkpoint import checkpoint_path
from prorl_training.run.folder import RunFolder

LEARNS: dict[str, Any] = {
    "steps": 4,
    "rollout": {"prompts": 4, "samples": 4},
    "dynamic_sampling": {"max_batches": 3, "refill": "expected"},
    "validation": {"every": 2, "problems": 4},
    "checkpoint": {"every": 1, "keep": 9},
    "warm_start": {"examples": 64, "epochs": 20, "lr": 5e-3, "batch": 20},
    "logging": {"tensorboard": False},
}


def drawn_groups(seed: int) -> list[PromptGroup]:
    """Return six prompts of random tokens with four responses each, some with tokens of an environment."""
    draw = random.Random(seed)

    def tokens(most: int) -> tuple[int, ...]:
        return tuple(draw.randrange(256) for _ in range(draw.randint(1, most)))

    groups = []
    for first in range(0, 24, 4):
        responses = tuple(tokens(12) for _ in range(4))
        given = tuple(((1, draw.randint(2, len(r) - 1)),) if len(r) > 2 else () for r in responses)
        indices = tuple(range(first, first + 4))
        groups.append(PromptGroup(tokens(9), responses, indices, given if first % 8 else ()))
    return groups


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 40])
def test_each_pack_counts_on_one_rank_and_sharded_ranks_have_equally_many_passes(
    size: int, sharded: bool
) -> None:
    packs = build_packs(drawn_groups(0), 24)
    shares = [Ranks(rank, size, sharded and size > 1).deal(packs) for rank in range(size)]
    assert sorted(i for share in shares for i, weight in share if weight) == list(range(len(packs)))
    lengths = [packs[i].input_ids.shape[1] for i in range(len(packs))]
    loads = [sum(lengths[i] for i, weight in share if weight) for share in shares]
    assert max(loads) - min(loads) <= max(lengths)
    if sharded:
        assert len({len(share) for share in shares}) == 1


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranks") / "model"
    with quiet_transformers():
        tiny_model(seed=0).save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
    return folder


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def updated(config: TrainConfig, model: Path, work: Path) -> tuple[dict[str, Any], list[Any]]:
    """Update the model five times on fixed rollouts; return the checkpoint's tensors and the stats."""
    work.mkdir()
    with one_thread(), contextlib.closing(Team(config, work)) as team:
        team.run(Member.load, model)
        policy, stats = TeamPolicy(team), []
        for step in range(5):
            groups, draw = drawn_groups(step), random.Random(step)
            advantages = torch.tensor([draw.gauss(0, 1) for _ in range(24)])
            counts = [
                len(sampled_at(len(r), given))
                for g in groups
                for r, given in zip_longest(g.responses, g.given, fillvalue=())
            ]
            sampled = [[-5.5] * count for count in counts]
            mini_batches = [groups[::2], groups[1::2]]
            batch = UpdateBatch(
                mini_batches, advantages, sampled, config, measure_kl_share=step > 0
            )
            stats.append(policy.update(batch))
            if step == 2:
                policy.reset_reference(clear_optimizer=False)
        policy.write_checkpoint(work, team.own.tokenizer)
    return {
        f"{file.name} {name}": tensor
        for file in work.rglob("*.safetensors")
        for name, tensor in load_file(file).items()
    }, stats


@pytest.mark.parametrize(
    ("ranks", "sharding"),
    [
        (2, "none"),
        pytest.param(2, "fsdp", marks=pytest.mark.slow),
        pytest.param(4, "none", marks=pytest.mark.slow),
        pytest.param(4, "fsdp", marks=pytest.mark.slow),
    ],
)
def test_on_fixed_rollouts_several_ranks_give_the_checkpoint_and_stats_of_one(
    ranks: int, sharding: str, make_config: Callable[..., TrainConfig], model: Path, tmp_path: Path
) -> None:
    # Adam divides by the gradient's size plus eps; with a smaller eps, elements whose gradient is only rounding differ
    optimizer = {"lr": 1e-4, "eps": 1e-6}
    settings = {"loss": {"pack_tokens": 24}, "optimizer": optimizer, "kl": {"coefficient": 0.01}}
    expected, stats = updated(make_config(**settings), model, tmp_path / "one")
    config = make_config(**settings, model={"gpus": ranks, "sharding": sharding})
    tensors, others = updated(config, model, tmp_path / "several")
    start = load_file(model / "model.safetensors")
    assert all(not torch.equal(start[n], expected[f"model.safetensors {n}"]) for n in start)
    assert tensors.keys() == expected.keys()
    assert any(name.startswith("reference") for name in tensors)
    for name, tensor in tensors.items():
        torch.testing.assert_close(tensor, expected[name], atol=1e-6, rtol=0, msg=name)
    for ours, one in zip(others, stats, strict=True):
        for value in ("loss", "policy_loss", "kl", "entropy", "grad_norm", "mismatch_kl"):
            assert getattr(ours, value) == pytest.approx(getattr(one, value), abs=1e-5), value
        assert ours.kl_gradient_share == pytest.approx(one.kl_gradient_share, abs=1e-4)
        assert ours.trainer_logprobs.keys() == one.trainer_logprobs.keys()
        for index, values in ours.trainer_logprobs.items():
            torch.testing.assert_close(values, one.trainer_logprobs[index], atol=1e-4, rtol=0)


def test_only_the_samples_that_are_left_of_a_conversation_run(
    make_config: Callable[..., TrainConfig], model: Path, tmp_path: Path
) -> None:
    ended = Completion("x", (1,), (-0.5,), "stop")
    between, asked = ended.answered((5, 6)), [{"role": "user", "content": "x"}]
    with contextlib.closing(Team(make_config(), tmp_path)) as team:
        team.run(Member.load, model)
        team.own.open_sampler(model)
        with TeamGenerator(team).stream(SamplingParams(max_tokens=9)) as stream:
            stream.submit(0, Request(asked, (1, 2), (ended, between)))
            stream.submit(1, Request(asked, (1, 2), (ended, ended)))
            assert stream.running == 1
            assert stream.take() == [(1, [ended, ended])]
            ((key, (first, second)),) = stream.take()
            assert (key, first, stream.running) == (0, ended, 0)
            assert second.given == between.given and second.finish_reason != "paused"
            stream.submit(2, Request(asked, (1, 2), (ended, ended)))
            stream.submit(3, Request(asked, (1, 2), (ended, replace(between))))
            assert dict(stream.stop()) == {2: [ended, ended], 3: [ended, between]}


def train(config: TrainConfig, run: Path, task: Any, break_at: int = 0) -> list[dict[str, Any]]:
    """Start or resume a run on the digit task; return its metrics. Rank 1 is killed in step ``break_at``."""
    folder, (samples, scorer) = RunFolder(run), task
    engine = LocalEngine(config, folder, samples, scorer, NullProgress())
    with one_thread(), folder.lock(), contextlib.closing(engine):
        builder = Builder(engine, config, folder, samples, NullProgress(), lambda: None)
        loop: TrainingLoop = builder.build(folder.config_path.exists(), ())

        def after_step(row: Any) -> bool:
            if row["step"] + 1 == break_at:
                os.kill(engine.team.others[0].process.pid, signal.SIGKILL)
            return True

        loop.after_step = after_step
        loop.run()
    return [
        {k: v for k, v in row.items() if not any(w in k for w in ("second", "idle", "_gb"))}
        for row in folder.metrics()
    ]


def weights(run: Path, step: int) -> dict[str, torch.Tensor]:
    return load_file(checkpoint_path(run / "checkpoints", step) / "policy" / "model.safetensors")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("staleness", "sharding", "environment"),
    [(0, "none", True), (1, "none", False), (1, "fsdp", False)],
)
def test_a_run_whose_second_rank_is_killed_says_so_and_equals_the_unbroken_run_once_resumed(
    staleness: int,
    sharding: str,
    environment: bool,
    make_config: Callable[..., TrainConfig],
    digit_task: Any,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "manifest.json").write_text('{"files": {}}')
    places = {"path": str(model), "gpus": 2, "sharding": sharding}
    settings = {**LEARNS, "rollout": {**LEARNS["rollout"], "staleness": staleness}}

    def config(**over: Any) -> TrainConfig:
        return make_config(**settings, data={"path": str(tmp_path / "data")}, model=places | over)

    if environment:
        samples = [played(part, tmp_path, monkeypatch) for part in digit_task[0]]
        digit_task = (samples, InProcess())
    unbroken = train(config(), tmp_path / "unbroken", digit_task)
    assert any("kl" in row for row in unbroken)
    broken = tmp_path / "broken"
    with pytest.raises(
        ServiceError, match=r"rank 1 ended \(killed by SIGKILL\); its log is .*rank_1.log"
    ):
        train(config(), broken, digit_task, break_at=3)
    assert train(config(), broken, digit_task) == unbroken
    one, two = weights(tmp_path / "unbroken", 4), weights(broken, 4)
    assert all(torch.equal(one[name], two[name]) for name in one)
    # checkpoints do not depend on the number of ranks
    rows = train(config(gpus=1).model_copy(update={"steps": 5}), broken, digit_task)
    assert rows[:4] == unbroken and rows[4]["step"] == 5
    files = rollout_files(tmp_path / "unbroken").values()
    given = [row for file in files for row in read_rollouts(file).to_pylist() if row["given"]]
    assert bool(given) == environment


@pytest.mark.parametrize(
    ("model_settings", "rollout", "words"),
    [
        ({"gpus": 4}, {}, "use --gpus 1, or --device cpu for 4 processes on the CPU"),
        ({"gpus": 2, "device": "cuda:1"}, {}, "use --device cuda"),
        ({"gpus": 2, "device": "cpu"}, {"device": "cuda:1"}, "--set rollout.device=, or --gpus 1"),
    ],
)
def test_ranks_that_cannot_run_here_are_refused_with_the_cure(
    model_settings: dict[str, Any],
    rollout: dict[str, Any],
    words: str,
    make_config: Callable[..., TrainConfig],
) -> None:
    config = make_config(model={"device": "auto"} | model_settings, rollout=rollout)
    with pytest.raises(UserError, match=words):
        check_gpus(config, "cpu")


STORED = Path(__file__).resolve().parents[1] / "golden" / "v0.2.0"
SETTINGS = (
    *("model.path=model", "model.dtype=fp32", "steps=6", "checkpoint.every=1"),
    *("rollout.prompts=4", "rollout.samples=4", "rollout.max_tokens=12", "loss.mini_batches=2"),
    *("dynamic_sampling.max_batches=3", "warm_start.examples=64", "warm_start.epochs=12"),
    *("warm_start.lr=5e-3", "validation.every=3", "validation.problems=4", "reward.workers=1"),
    "logging.tensorboard=false",
)


@pytest.mark.slow
def test_ranks_end_with_a_killed_command_and_the_resumed_run_equals_the_unbroken_one(
    tmp_path: Path,
) -> None:
    for name in ("model", "dataset"):
        shutil.copytree(STORED / name, tmp_path / name)
    sets = [word for setting in SETTINGS for word in ("--set", setting)]

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "prorl_cli", "train", *words]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)

    new = ("--preset", "prorl-v2", "--data", "dataset", "--gpus", "2", "--device", "cpu", *sets)
    whole = start(*new, "--name", "whole")
    assert whole.wait(300) == 0
    killed, metrics = start(*new, "--name", "killed"), tmp_path / "runs" / "killed/metrics.jsonl"
    while not metrics.exists() or metrics.read_bytes().count(b"\n") < 3:
        assert killed.poll() is None
        time.sleep(0.01)
    started = [Path(f"/proc/{pid}/cmdline") for pid in started_processes(killed.pid)]
    (rank,) = [file for file in started if b"engine.ranks" in file.read_bytes()]
    killed.kill()
    killed.wait()
    for _ in range(3000):  # half a minute
        if not rank.exists() or not rank.read_bytes():
            break
        time.sleep(0.01)
    else:
        pytest.fail("the second rank still runs")
    again = start("--resume", "killed")
    assert again.wait(300) == 0
    runs = tmp_path / "runs"
    one, two = weights(runs / "whole", 6), weights(runs / "killed", 6)
    assert all(torch.equal(one[name], two[name]) for name in one)
