from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import safetensors
import torch
import transformers

from prorl_common import DiskFullError
from prorl_inference import Completion, load_model
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_training.config import TrainConfig
from prorl_training.policy import files as module
from prorl_training.policy.files import environment, policy_tensors, restore_checkpoint
from prorl_training.policy.update import Policy
from prorl_training.run.checkpoint import (
    ROWS,
    best_checkpoint,
    checkpoint_steps,
    load_buffer,
    mark_best,
    newest_step,
    open_checkpoint,
    prune_checkpoints,
    save_checkpoint,
    verify_checkpoint,
)
from prorl_training.run.resume import environment_decisions
from prorl_training.types import Carried, CheckpointError, Group, LateGroup, Trajectory
from prorl_verifiers import Verdict

STATE = {"controller": {"kl": [0.1, 1 / 3, 1e-308]}, "seed": 2**62 + 1}


def new_policy(config: TrainConfig, seed: int = 0) -> Policy:
    return Policy(tiny_model(seed=seed), config, torch.float32)


def train_a_little(policy: Policy, seed: int = 1) -> None:
    generator = torch.Generator().manual_seed(seed)
    for _ in range(2):
        for parameter in policy.model.parameters():
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        policy.optimizer.step()
    policy.updates += 2


def loaded(path: Path, config: TrainConfig) -> Policy:
    model, _ = load_model(path / "policy", "cpu", torch.float32)
    return Policy(model, config, torch.float32)


def bits(tensors: dict[str, torch.Tensor]) -> dict[str, bytes]:
    return {name: t.contiguous().numpy().tobytes() for name, t in tensors.items()}


def save(root: Path, step: int, policy: Policy, carried: Carried | None = None) -> Path:
    return save_checkpoint(root, step, policy, byte_tokenizer(), STATE, carried)


@pytest.fixture
def config(make_config: Callable[..., TrainConfig]) -> TrainConfig:
    return make_config()


@pytest.fixture
def store(tmp_path: Path, config: TrainConfig) -> Path:
    root, policy = tmp_path / "run" / "checkpoints", new_policy(config)
    for step in (0, 3, 6):
        save(root, step, policy)
    return root


def damage(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


def test_checkpoint_gives_every_bit_back(tmp_path: Path, config: TrainConfig) -> None:
    policy = new_policy(config)
    train_a_little(policy)
    path = save(tmp_path, 7, policy)
    state = verify_checkpoint(path)
    assert (state["step"], state["updates"], state["reference"]) == (7, 2, "own")
    assert {key: state[key] for key in STATE} == STATE
    again = loaded(path, config)
    restore_checkpoint(path, again, state)
    assert again.updates == 2
    assert bits(again.policy_tensors()) == bits(policy.policy_tensors())
    assert bits(again.reference_tensors()) == bits(policy.reference_tensors())
    assert bits(again.reference_tensors()) != bits(again.policy_tensors())
    assert bits(again.optimizer_tensors()) == bits(policy.optimizer_tensors())
    assert bits(policy_tensors(path)) == bits(policy.policy_tensors())


@pytest.mark.parametrize("family", ["tied embeddings", "mixture of experts"])
def test_families_with_names_of_their_own_on_the_disk_come_back(
    tmp_path: Path, config: TrainConfig, family: str
) -> None:
    hf: Any = transformers
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 260}
    ends = {
        "intermediate_size": 64,
        "num_key_value_heads": 2,
        "eos_token_id": 257,
        "bos_token_id": None,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if family == "tied embeddings":
            model = hf.LlamaForCausalLM(hf.LlamaConfig(**shape, **ends, tie_word_embeddings=True))
        else:
            model = hf.MixtralForCausalLM(hf.MixtralConfig(**shape, **ends, num_local_experts=4))
    policy = Policy(model, config, torch.float32)
    train_a_little(policy)
    path = save(tmp_path, 7, policy)
    again = loaded(path, config)
    restore_checkpoint(path, again, verify_checkpoint(path))
    for taken in ("policy_tensors", "reference_tensors", "optimizer_tensors"):
        assert bits(getattr(again, taken)()) == bits(getattr(policy, taken)())
    again.load_policy_weights(again.reference_tensors())
    again.load_policy_weights(policy_tensors(path))
    assert bits(again.policy_tensors()) == bits(policy.policy_tensors())
    tied = again.model.get_input_embeddings().weight is again.model.get_output_embeddings().weight
    assert tied == (family == "tied embeddings")
    (file,) = (path / "policy").glob("*.safetensors")
    with safetensors.safe_open(file, "pt") as on_disk:
        assert ("lm_head.weight" in on_disk.keys()) != tied  # noqa: SIM118


def test_saving_what_was_loaded_writes_the_same_files(tmp_path: Path, config: TrainConfig) -> None:
    first = save(tmp_path / "one", 7, new_policy(config))
    model, tokenizer = load_model(first / "policy", "cpu", torch.float32)
    policy = Policy(model, config, torch.float32)
    second = save_checkpoint(tmp_path / "two", 7, policy, tokenizer, STATE)
    assert (first / "manifest.json").read_text() == (second / "manifest.json").read_text()


def test_only_safetensors_and_json_hold_state(tmp_path: Path, config: TrainConfig) -> None:
    path = save(tmp_path, 7, new_policy(config))
    kinds = {p.suffix for p in path.rglob("*") if p.is_file()}
    assert kinds <= {".safetensors", ".json", ".jinja", ".txt"}


def test_reference_that_is_the_policy_is_not_written_twice(
    tmp_path: Path, config: TrainConfig
) -> None:
    policy = new_policy(config)
    train_a_little(policy)
    policy.reset_reference(clear_optimizer=False)
    path = save(tmp_path, 7, policy)
    assert not (path / "reference.safetensors").exists()
    again = loaded(path, config)
    restore_checkpoint(path, again, verify_checkpoint(path))
    assert bits(again.reference_tensors()) == bits(policy.policy_tensors())


def test_run_without_kl_has_no_reference_in_its_checkpoint(
    tmp_path: Path, make_config: Callable[..., TrainConfig]
) -> None:
    path = save(tmp_path, 7, new_policy(make_config(kl={"coefficient": 0})))
    assert verify_checkpoint(path)["reference"] == "none"
    with_kl = loaded(path, make_config())
    with pytest.raises(CheckpointError, match="has no reference"):
        restore_checkpoint(path, with_kl, verify_checkpoint(path))


def waiting_group(samples: list[Any]) -> Group:
    verdict = Verdict(1 / 3, "scored", "exact", "7", "weak", {"tests": 0.1 + 0.2}, 0.25)
    broken = Verdict(None, "infra_error", "box broke")
    odd = (-0.1, -1e-300, float("-inf"), -0.0)
    first = Trajectory(
        0,
        Completion("é\n", (1, 2, 3, 2**31), odd, "stop"),
        verdict,
        -0.7,
        False,
        ((0, 37), (2, 40)),
    )
    second = Trajectory(3, Completion("", (), (), "length"), broken, 0.0)
    return Group(samples[5], (first, second), 41)


def test_rollout_buffer_comes_back_bit_for_bit(
    tmp_path: Path, config: TrainConfig, digits: list[Any]
) -> None:
    group = waiting_group(digits)
    odd = (-0.1, math.nextafter(-1.0, 0.0))
    late = LateGroup(
        digits[2],
        (Completion("done", (4,), (-1.5,), "stop"), Completion("", (5, 6), odd, "paused")),
        40,
        (((0, 37),), ((0, 38), (1, 39))),
    )
    carried = Carried([group, group], [late])
    path = save(tmp_path, 7, new_policy(config), carried)
    verify_checkpoint(path)
    again, _ = load_buffer(path, {s.id: s for s in digits})
    assert again == carried
    assert [x.hex() for x in again.late[0].completions[1].logprobs] == [x.hex() for x in odd]
    logprobs = again.groups[0].trajectories[0].completion.logprobs
    assert [x.hex() for x in logprobs] == [
        x.hex() for x in group.trajectories[0].completion.logprobs
    ]
    assert load_buffer(save(tmp_path, 8, new_policy(config)), {}) == (Carried(), [])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, ((0, 40),)),  # the policy before the group's step
        ([37, 37], ((0, 37),)),  # the first and the last policy
        ([37, 40], ((0, 37), (4, 40))),
        ([[0, 37], [2, 40]], ((0, 37), (2, 40))),
    ],
)
def test_policies_of_older_checkpoints_are_read(
    tmp_path: Path, config: TrainConfig, digits: list[Any], written: Any, read: Any
) -> None:
    path = save(tmp_path, 7, new_policy(config), Carried([waiting_group(digits)]))
    rows = json.loads((path / ROWS).read_text())
    rows["groups"][0]["trajectories"][0]["policies"] = written
    (path / ROWS).write_text(json.dumps(rows))
    again, _ = load_buffer(path, {s.id: s for s in digits})
    assert again.groups[0].trajectories[0].policies == read


def test_rollout_buffer_keeps_what_json_has_no_word_for(
    tmp_path: Path, config: TrainConfig, digits: list[Any]
) -> None:
    metrics = MappingProxyType(
        {"nan": math.nan, "high": math.inf, "low": -math.inf, "tiny": 5e-324, "zero": -0.0}
    )
    verdict = Verdict(0.1 + 0.2, "scored", "\u2028", None, "é\n", metrics, 1e-9)
    lone = Completion("\ud800 \x00 🙂", (), (), "length")
    other = Completion("x", (2**40,), (math.nan,), "stop")
    two = (Trajectory(0, lone, verdict, -0.0), Trajectory(1, other, verdict, 1.0))
    group = Group(digits[0], two)
    empty = replace(group, trajectories=group.trajectories[:1])
    for number, groups in enumerate(([group, empty], [empty])):
        path = save(tmp_path, number, new_policy(config), Carried(groups))
        again = load_buffer(path, {s.id: s for s in digits})[0].groups
        plain = [
            replace(g, trajectories=tuple(_plain_metrics(t) for t in g.trajectories))
            for g in groups
        ]
        assert repr(again) == repr(plain)  # NaN is not equal to itself, but its text is


def _plain_metrics(t: Trajectory) -> Trajectory:
    return replace(t, verdict=replace(t.verdict, metrics=dict(t.verdict.metrics)))


def test_rollout_buffer_of_another_dataset_is_refused(
    tmp_path: Path, config: TrainConfig, digits: list[Any]
) -> None:
    path = save(tmp_path, 7, new_policy(config), Carried([waiting_group(digits)]))
    with pytest.raises(CheckpointError, match="which is not in the dataset"):
        load_buffer(path, {})


@pytest.fixture
def digits() -> list[Any]:
    from prorl_datasets import Sample
    from prorl_verifiers import Task

    task = Task("math", {"answer": "1"})
    prompt = ({"role": "user", "content": "?"},)
    return [Sample(f"s{i}", "math", prompt, task, "test", "none") for i in range(6)]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda p: damage(p / "optimizer.safetensors"), "hash differs"),
        (lambda p: damage(p / "policy" / "model.safetensors"), "hash differs"),
        (lambda p: (p / "state.json").write_text("{}"), "size differs"),
        (lambda p: (p / "policy" / "config.json").unlink(), "config.json is missing"),
        (lambda p: (p / "manifest.json").unlink(), "no manifest.json"),
        (lambda p: (p / "manifest.json").write_text("[1"), "manifest.json is unreadable"),
        (lambda p: (p / "manifest.json").write_text('{"files": {}}'), "does not list state.json"),
        (lambda p: os.truncate(p / "optimizer.safetensors", 10), "size differs"),
    ],
)
def test_damaged_checkpoint_is_passed_over_with_the_reason(
    store: Path, spoil: Callable[[Path], Any], says: str
) -> None:
    spoil(store / "step_000006")
    path, state, decisions = open_checkpoint(store)
    assert (path.name, state["step"]) == ("step_000003", 3)
    (decision,) = decisions
    assert (decision.kind, decision.step) == ("checkpoint_fallback", 3)
    assert says in decision.reason and "step_000006" in decision.reason
    assert "continuing from step 3" in decision.reason
    assert (store / "latest").read_text() == "step_000003\n"
    assert open_checkpoint(store)[2] == []  # reported once


def test_several_damaged_checkpoints_are_each_named(store: Path) -> None:
    for step in (3, 6):
        damage(store / f"step_{step:06d}" / "state.json")
    path, _, decisions = open_checkpoint(store)
    assert path.name == "step_000000"
    assert [d.evidence["damaged_step"] for d in decisions] == [6, 3]


def test_no_whole_checkpoint_is_one_line_and_touches_nothing(store: Path) -> None:
    for step in (0, 3, 6):
        damage(store / f"step_{step:06d}" / "state.json")
    before = sorted(str(p) for p in store.rglob("*"))
    with pytest.raises(CheckpointError, match="none of its 3 checkpoints is intact") as caught:
        open_checkpoint(store)
    assert "\n" not in str(caught.value)
    assert sorted(str(p) for p in store.rglob("*")) == before


def test_run_without_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="has no checkpoint yet"):
        open_checkpoint(tmp_path / "checkpoints")


def test_pruning_keeps_the_newest_the_best_and_step_0(store: Path, config: TrainConfig) -> None:
    policy = new_policy(config)
    for step in (9, 12):
        save(store, step, policy)
    mark_best(store, 3)
    prune_checkpoints(store, 2, keep_best=True)
    assert checkpoint_steps(store) == [0, 3, 9, 12]
    assert best_checkpoint(store) == (store / "step_000003", "")
    prune_checkpoints(store, 1, keep_best=False)
    assert checkpoint_steps(store) == [0, 12]
    best, trouble = best_checkpoint(store)
    assert best is None and "step_000003 is incomplete" in trouble


def test_pruning_never_deletes_the_last_whole_one(store: Path) -> None:
    shutil.rmtree(store / "step_000000")
    (store / "step_000006" / "optimizer.safetensors").unlink()
    prune_checkpoints(store, 1, keep_best=True)
    assert newest_step(store) == 3
    assert open_checkpoint(store)[0].name == "step_000003"


def test_what_a_kill_left_is_ignored_and_swept_away(store: Path) -> None:
    for name in (".step_000009.abc", ".gone.step_000001"):
        shutil.copytree(store / "step_000006", store / name)
    (store / ".latest.xyz").write_text("half")
    assert open_checkpoint(store)[0].name == "step_000006"
    assert not [p for p in store.iterdir() if p.name.startswith(".")]


def test_damaged_one_is_deleted_once_another_was_written(store: Path, config: TrainConfig) -> None:
    damage(store / "step_000006" / "state.json")
    open_checkpoint(store)
    assert (store / "damaged_000006").is_dir()
    save(store, 4, new_policy(config))
    prune_checkpoints(store, 2, keep_best=True)
    assert sorted(p.name for p in store.iterdir() if p.is_dir()) == [
        "step_000000",
        "step_000003",
        "step_000004",
    ]


def test_best_that_lies_in_the_undone_future_is_forgotten(store: Path) -> None:
    mark_best(store, 6)
    damage(store / "step_000006" / "state.json")
    open_checkpoint(store)
    assert best_checkpoint(store) == (None, "no checkpoint is marked as the best")


def test_full_disk_is_one_line_and_leaves_the_checkpoints_before_it(
    store: Path, config: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors import SafetensorError

    def full(*_: Any) -> None:
        raise SafetensorError('IoError(Os { code: 28, message: "No space left on device" })')

    monkeypatch.setattr(module, "_save", full)
    with pytest.raises(DiskFullError, match="the disk is full; make room"):
        save(store, 9, new_policy(config))
    assert open_checkpoint(store)[0].name == "step_000006"
    assert not list(store.glob(".step*"))


def test_a_writer_that_only_says_it_failed_is_understood_where_the_disk_is_full(
    tmp_path: Path,
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system can only be mounted by root")

    class LikeDeepSpeed:
        """Write with torch.save, whose error on a full disk names a position in the file."""

        def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
            torch.save({"moments": torch.zeros(10**6)}, work / "optimiser.pt")
            return {}

    try:
        with pytest.raises(DiskFullError, match="the disk is full; make room"):
            save_checkpoint(disk / "checkpoints", 3, LikeDeepSpeed(), None, {})
        assert list((disk / "checkpoints").iterdir()) == []
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)  # torch may hold the file open


def test_saving_the_same_step_again_replaces_it(store: Path, config: TrainConfig) -> None:
    policy = new_policy(config)
    train_a_little(policy)
    path = save(store, 6, policy)
    assert verify_checkpoint(path)["updates"] == 2


def test_other_versions_or_threads_are_named_and_the_run_goes_on(
    tmp_path: Path, config: TrainConfig
) -> None:
    policy = new_policy(config)
    state = verify_checkpoint(save(tmp_path, 7, policy))
    assert environment_decisions(state, environment(policy), "so be it") == []
    state["environment"] |= {"torch": "1.0.0", "threads": 999}
    (decision,) = environment_decisions(state, environment(policy), "so be it")
    assert "torch 1.0.0 -> " in decision.reason and "threads 999 -> " in decision.reason
    assert (decision.kind, decision.step) == ("config_changed", 7)
    json.dumps(decision.to_json())
