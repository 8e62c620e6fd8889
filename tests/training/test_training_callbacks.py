"""ProRL's controller inside fakes of other trainers; tests/integration/test_integration_adapters.py has the real ones."""

from __future__ import annotations

import importlib.metadata
import json
import math
import random
import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from prorl_common import UserError
from prorl_training.algorithm.shaping import shaped_reward
from prorl_training.callbacks import trl
from prorl_training.callbacks.controlled import trainer_config
from prorl_training.callbacks.trl import ProRLCallback
from prorl_training.config import TrainConfig
from prorl_training.run.folder import ResumeError, RunFolder, run_status
from prorl_training.run.resume import check_identity
from prorl_training.schedule.simulate import simulate
from prorl_viewer.finding import find_subjects

EXAMPLE = Path(__file__).parents[2] / "examples" / "prorl_in_verl.py"
VERL = SimpleNamespace(**runpy.run_path(str(EXAMPLE)))
STEPS = 180
PROBLEMS = [f"{number:02}" for number in range(40)]
SETTINGS = [
    "controller.reset_interval=40",
    "controller.kl_window=10",
    "controller.cool_down=5",
    "controller.stall_validations=2",
    "length_penalty.start_step=5",
    "length_penalty.steps_on=10",
    "length_penalty.steps_off=20",
    "safety.bad_updates=4",
    "safety.explode_factor=0",
    "safety.entropy_floor=0.1",
    "safety.entropy_steps=3",
    "safety.mismatch_limit=0.01",
    "safety.mismatch_steps=2",
    "phases=[{name: a, steps: 60, until: stall}, {name: b, steps: 90, reset: true}]",
]


def recorded(seed: int) -> dict[int, dict[str, Any]]:
    """Return the metrics of steps with every kind of trouble."""
    rng = random.Random(seed)
    rows: dict[int, dict[str, Any]] = {}
    for step in range(1, STEPS + 1):
        row: dict[str, Any] = {"groups_kept": rng.choice([0, 4, 4, 4])}
        row["kl"] = 1e-3 * math.exp(rng.gauss(0, 0.3)) * rng.choice([1] * 20 + [40])
        row["loss"] = rng.choice([0.1] * 10 + [math.nan])
        row["grad_norm"] = math.exp(rng.gauss(0, 0.3)) * rng.choice([1] * 30 + [100])
        row["entropy"] = rng.uniform(0.0, 0.4)
        row["mismatch_kl"] = rng.uniform(0.0, 0.02)
        if step % 3 == 0:
            level = 0.5 if (step // 40) % 2 else 0.2
            row["validation_rewards"] = [float(rng.random() < level) for _ in PROBLEMS]
            row["validation_reward"] = sum(row["validation_rewards"]) / len(PROBLEMS)
        rows[step] = row
    return rows


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "1.0")


class Trl:
    """A fake GRPOTrainer with Transformers' order of callback events."""

    def __init__(self, callback: ProRLCallback, **args: Any) -> None:
        def strategy(name: str) -> SimpleNamespace:
            return SimpleNamespace(value=name)

        defaults = {
            "logging_steps": 1,
            "logging_strategy": strategy("steps"),
            "eval_strategy": strategy("steps"),
            "sync_ref_model": False,
            "multi_objective_aggregation": "sum_then_normalize",
            "generation_batch_size": 32,
            "num_generations": 8,
            "max_completion_length": 64,
            "temperature": 1.0,
            "learning_rate": 1e-3,
            "eval_steps": 3,
            "beta": 1e-3,
            "deepspeed": None,
        }
        self.args = SimpleNamespace(**(defaults | args))
        self.model = torch.nn.Linear(2, 1)
        self.model.config = SimpleNamespace(_name_or_path="tiny")  # type: ignore[assignment]
        self.ref_model = torch.nn.Linear(2, 1) if self.args.beta else None
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        kind = SimpleNamespace(value="NO")
        clip = torch.nn.utils.clip_grad_norm_
        self.accelerator = SimpleNamespace(
            distributed_type=kind, clip_grad_norm_=clip, unwrap_model=lambda model: model
        )
        self.max_completion_length, self.eos_token_ids = 64, [1]
        self.rewards = callback.rewards(lambda prompts, answers, **_: answers)
        self.callback: TrainerCallback = callback
        self.resets: list[int] = []

    def add_callback(self, callback: TrainerCallback) -> None:
        assert callback is self.callback

    def train(self, rows: Mapping[int, Mapping[str, Any]], first: int = 1) -> None:
        state = SimpleNamespace(max_steps=STEPS, global_step=first - 1, is_world_process_zero=True)
        control = SimpleNamespace(should_evaluate=False, should_training_stop=False)
        self.callback.on_train_begin(self.args, state, control)  # type: ignore[arg-type]
        names = {ours: theirs for theirs, ours in trl.KEYS.items()}
        names["mismatch_kl"] = names["sampler_gap"]
        for step in range(first, len(rows) + 1):
            row = rows[step]
            self.callback.on_step_begin(self.args, state, control)  # type: ignore[arg-type]
            self.optimizer.step()
            state.global_step, control.should_evaluate = step, "validation_rewards" in row
            logs = {names[key]: value for key, value in row.items() if key in names}
            logs["frac_reward_zero_std"] = 1 - row["groups_kept"] / 4
            self.callback.on_log(self.args, state, control, logs=logs)  # type: ignore[arg-type]
            if control.should_evaluate:
                self.model.eval()
                self.rewards[0](PROBLEMS, answers=row["validation_rewards"])
                self.model.train()
                self.callback.on_evaluate(self.args, state, control)  # type: ignore[arg-type]
            if control.should_training_stop:
                break
        self.callback.on_train_end(self.args, state, control)  # type: ignore[arg-type]


def attached(path: Path, settings: Sequence[str] = SETTINGS, **args: Any) -> Trl:
    callback = ProRLCallback(path, settings=settings)
    trainer = Trl(callback, **args)
    callback.attach(trainer)
    return trainer


def train_verl(path: Path, rows: Mapping[int, Mapping[str, Any]]) -> None:
    """Train by a fake of verl's PPOTrainer, with its hooks in the order of ``fit``."""

    class Base:
        def __init__(self, config: Any) -> None:
            self.config, self.use_reference_policy = config, True
            self.actor_rollout_wg = SimpleNamespace(
                reset_reference=lambda *_: None, scale_learning_rate=lambda _: None
            )

        def _hook(self, *_: Any, **__: Any) -> None: ...

        on_train_begin = on_step_begin = _compute_metrics = _maybe_log_val_generations = _hook

    names = {ours: theirs for theirs, ours in VERL.KEYS.items() if "reward_kl" not in theirs}
    trainer = VERL.controlled(Base, "sync", RunFolder(path), "prorl-v2", SETTINGS)(verl_settings())
    trainer.global_steps, trainer.total_training_steps = 1, STEPS
    trainer.on_train_begin()
    while trainer.global_steps <= trainer.total_training_steps:
        row = rows[trainer.global_steps]
        trainer.on_step_begin()
        trainer._raw = {str(group): [0.0, 1.0] for group in range(row["groups_kept"])} or {"": [0]}
        if "validation_rewards" in row:
            scores = row["validation_rewards"]
            trainer._maybe_log_val_generations(inputs=PROBLEMS, outputs=PROBLEMS, scores=scores)
        metrics = {names[key]: value for key, value in row.items() if key in names}
        trainer._compute_metrics(None, metrics, {}, global_steps=0, epoch=0)
        trainer.global_steps += 1


def verl_settings(**actor: Any) -> Any:
    values = {"use_kl_loss": True, "kl_loss_coef": 1e-3, "optim": {"lr": 1e-3}} | actor
    config = {
        "actor_rollout_ref": {
            "model": {"path": "tiny"},
            "actor": values,
            "rollout": {"n": 8, "temperature": 1.0},
        },
        "algorithm": {"use_kl_in_reward": False},
        "data": {"train_batch_size": 4, "max_response_length": 64},
        "trainer": {"test_freq": 3, "v1": {}},
    }
    return json.loads(json.dumps(config), object_hook=lambda values: SimpleNamespace(**values))


def decided(path: Path) -> list[dict[str, Any]]:
    return RunFolder(path).decisions()


@pytest.mark.parametrize("seed", range(4))
def test_both_trainers_and_our_loop_decide_alike_on_the_same_metrics(
    tmp_path: Path, seed: int
) -> None:
    rows = recorded(seed)
    attached(tmp_path / "trl").train(rows)
    train_verl(tmp_path / "verl", rows)
    config = RunFolder(tmp_path / "trl").config()
    assert config.model_copy(update={"model": None}) == RunFolder(
        tmp_path / "verl"
    ).config().model_copy(update={"model": None})
    ours = [json.loads(json.dumps(d.to_json())) for d in simulate(config, STEPS, rows)]
    assert decided(tmp_path / "trl") == decided(tmp_path / "verl") == ours
    kinds = {d["kind"] for d in ours}
    assert {"reference_reset", "penalty_window_opened", "mismatch_high"} < kinds


def test_a_reset_copies_the_policy_and_the_run_opens_in_the_viewer(tmp_path: Path) -> None:
    trainer = attached(tmp_path / "run", ["controller.reset_interval=10"])
    rows = {step: row | {"loss": 0.1} for step, row in recorded(0).items()}
    trainer.train({step: rows[step] for step in range(1, 13)})
    assert trainer.ref_model and torch.equal(trainer.ref_model.weight, trainer.model.weight)
    (subject,) = find_subjects([tmp_path / "run"])
    pages = {name: page({}) for name, page in subject.pages().items() if name == "charts"}
    assert "kl" in json.dumps(pages["charts"]) and subject.kind == "run"
    status = run_status(RunFolder(tmp_path / "run"))
    assert (status.step, status.last_reset, status.steps) == (12, 10, STEPS)
    with pytest.raises(ResumeError, match=r"trained by trl 1\.0: resume it with that trainer"):
        check_identity(RunFolder(tmp_path / "run"), tmp_path)
    with pytest.raises(UserError, match="already holds a run"):
        attached(tmp_path / "run").train(rows)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("step", [4, 5])
def test_the_second_reward_function_adds_what_our_shaping_adds(
    tmp_path: Path, step: int, training: bool
) -> None:
    trainer = attached(tmp_path / "run", [*SETTINGS, "overlong.buffer_tokens=16"])
    trainer.train({s: row | {"loss": 0.1} for s, row in recorded(0).items() if s < step})
    run = trainer.callback.run  # type: ignore[attr-defined]
    run.begin_step(step)
    trainer.model.train(training)
    ids, raw = [[5] * 64, [5] * 63 + [1], [5, 1], [5]], [1.0, 0.0, 0.5, None]
    assert trainer.rewards[0](["p"] * 4, answers=raw) == raw
    got = trainer.rewards[1](completion_ids=ids, prompts=["p"] * 4)
    for value, tokens, reward in zip(got, ids, raw, strict=True):
        if reward is None or not training:
            assert value is None if reward is None else value == 0
            continue
        cut = len(tokens) == 64 and tokens[-1] != 1
        shaped = shaped_reward(run.config, reward, len(tokens), cut, step == 5)
        assert value == pytest.approx(shaped - reward)


def test_an_exploding_update_is_not_applied_and_the_learning_rate_backs_off(tmp_path: Path) -> None:
    settings = ["safety.explode_window=5", "safety.back_off=0.5", "controller.kl_zscore=0"]
    trainer = attached(tmp_path / "run", settings)
    rows = {step: {"groups_kept": 4, "loss": 0.1, "grad_norm": 1.0} for step in range(1, 7)}
    trainer.train(rows)
    run, weight = trainer.callback.run, trainer.model.weight  # type: ignore[attr-defined]
    run.begin_step(7)
    for norm, moved in ((1.0, True), (100.0, False), (math.nan, False)):
        before = weight.detach().clone()
        trainer.model.zero_grad()
        weight.grad = torch.full_like(weight, norm / math.sqrt(2))
        trainer.accelerator.clip_grad_norm_(trainer.model.parameters(), 1.0)
        trainer.optimizer.step()
        assert torch.equal(before, weight) != moved
    run.end_step({"groups_kept": 4, "loss": 0.1, "grad_norm": 100.0}, {})
    run.begin_step(8)
    rates: list[float] = []
    trainer.optimizer.register_step_pre_hook(
        lambda optimizer, *_: rates.append(optimizer.param_groups[0]["lr"])
    )
    trainer.optimizer.step()
    assert (rates, trainer.optimizer.param_groups[0]["lr"]) == ([0.5e-3], 1e-3)


def test_what_cannot_work_is_refused_with_its_cure(tmp_path: Path) -> None:
    for args, cure in (
        ({"logging_steps": 10}, r"GRPOConfig\(logging_steps=1\)"),
        ({"sync_ref_model": True}, "sync_ref_model=False"),
        ({"beta": 0.0}, "no reference to reset with beta=0 or LoRA"),
    ):
        with pytest.raises(UserError, match=cure):
            attached(tmp_path, **args)
    with pytest.raises(UserError, match="use_kl_loss=true"):
        VERL.verl_config(verl_settings(use_kl_loss=False), "prorl-v2", SETTINGS)
    for setting, name in (
        ("controller.reset_to=best", "reset_to"),
        ("phases=[{name: a, steps: 9, set: {rollout: {samples: 4}}}]", "a phase's rollout"),
        ("controller.on_stall=[raise_samples]", "on_stall raise_samples"),
    ):
        with pytest.raises(UserError, match=f"only prorl train supports .*{name}"):
            trainer_config("prorl-v2", [setting], {})
    assert isinstance(trainer_config("no-kl", [], {"rollout.samples": 4}), TrainConfig)
