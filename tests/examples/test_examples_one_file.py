"""The algorithm in one file computes the same numbers as the engine."""

from __future__ import annotations

import dataclasses
import importlib.util
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.algorithm.shaping import shaped_reward
from prorl_training.config import TrainConfig
from prorl_training.config.loading import check_config
from prorl_training.config.presets import load_preset
from prorl_training.config.tree import merge
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import Policy, UpdateBatch
from prorl_training.schedule.controller import Controller, Measured

FILE = Path(__file__).parents[2] / "examples" / "prorl_in_one_file.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prorl_in_one_file", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


one = load()


def engine_config(example: Any, **over: Any) -> TrainConfig:
    """Return the example's preset at its sizes, at temperature 1 and without importance correction of the sampler."""
    sizes = {
        "loss": {"mismatch": {"correction": "none"}},
        "rollout": {
            "prompts": example.groups,
            "samples": example.samples,
            "max_tokens": example.max_tokens,
            "temperature": 1.0,
        },
    }
    return check_config(merge(merge(load_preset("prorl-v2"), sizes), over))


def test_the_numbers_are_those_of_the_preset() -> None:
    own, c = one.Config(), engine_config(one.Config())
    assert (own.clip_low, own.clip_high) == (c.loss.clip_low, c.loss.clip_high)
    assert own.mini_batches == c.loss.mini_batches
    assert (own.kl_coefficient, own.kl_clamp) == (c.kl.coefficient, c.kl.clamp_value)
    p = c.length_penalty
    assert (own.penalty_weight, own.eta_max, own.eta_min) == (p.weight, p.eta_max, p.eta_min)
    window = (own.penalty_start, own.penalty_on, own.penalty_off)
    assert window == (p.start_step, p.steps_on, p.steps_off)
    assert own.reset_every == c.controller.reset_interval
    assert own.clear_optimizer == (c.controller.optimizer == "clear")
    assert own.max_batches == c.dynamic_sampling.max_batches
    assert (own.lr, own.grad_clip) == (c.optimizer.lr, c.optimizer.grad_clip)


def test_advantages_are_the_engines() -> None:
    rewards_GN = torch.rand(5, 7, generator=torch.Generator().manual_seed(1)).double()
    rewards_GN[2] = 1.0
    groups = torch.arange(5).repeat_interleave(7)
    lengths = torch.ones(35, dtype=torch.long)
    theirs = compute_advantages(
        rewards_GN.flatten(), groups, lengths, engine_config(one.Config()).advantage
    )
    torch.testing.assert_close(one.advantages_of(rewards_GN), theirs, rtol=0, atol=1e-9)


def test_the_penalty_and_its_windows_are_the_engines() -> None:
    own = one.Config(max_tokens=100)
    c = engine_config(own)
    lengths = [0, 1, 37, 50, 99, 100, 130]
    ours = one.length_penalty(torch.tensor([lengths]).double(), own)[0].tolist()
    assert ours == pytest.approx([shaped_reward(c, 0.0, n, False, True) for n in lengths], abs=1e-9)
    controller = Controller(c)
    for step in range(1, 2500):
        assert one.penalty_is_on(step, own) == controller.penalty_is_on(step), step


def test_the_reference_is_reset_when_the_controllers_interval_says() -> None:
    own = one.Config(reset_every=7)
    controller = Controller(engine_config(own, controller={"reset_interval": 7}))
    for step in range(1, 50):
        controller.begin_step(step)
        due = [d for d in controller.end_step(step, Measured(None)) if d.kind == "reference_reset"]
        assert bool(due) == (step % own.reset_every == 0), step


@pytest.mark.parametrize("clear", [False, True])
def test_a_reset_does_what_the_engines_does(clear: bool) -> None:
    own = one.Config(clear_optimizer=clear)
    (model, _), (other, _) = one.tiny(), one.tiny()
    policy = Policy(other, engine_config(own), torch.float32)
    reference, _ = one.tiny()
    optimizer = torch.optim.AdamW(model.parameters())
    for m, o in ((model, optimizer), (policy.model, policy.optimizer)):
        m(torch.tensor([[1, 2, 3]])).logits.square().sum().backward()
        o.step()
        assert len(o.state) > 0
    one.reset(model, reference, optimizer, own)
    policy.reset_reference(clear_optimizer=clear)
    for (name, ours), (_, theirs) in zip(
        reference.named_parameters(), policy.reference.named_parameters(), strict=True
    ):
        assert torch.equal(ours, dict(model.named_parameters())[name])
        assert torch.equal(theirs, dict(policy.model.named_parameters())[name])
    assert (len(optimizer.state) == 0) == (len(policy.optimizer.state) == 0) == clear


PROBLEMS = [("1+2", "3"), ("4+4", "8"), ("0+7", "7"), ("5+0", "5")]
SAMPLED: dict[str, list[list[int]]] = {  # token 0 ends the text, token d + 1 is the digit d
    "1+2": [[4, 0], [5, 6, 0], [4, 4, 4, 4], [11, 11, 9]],
    "4+4": [[9, 11, 0], [1, 2, 3, 4], [9, 0], [9, 9, 9, 0]],
    "0+7": [[3, 0], [3, 3, 0], [3, 4, 5, 6], [3, 1, 0]],  # no variance: dropped
    "5+0": [[6, 0], [0], [7, 7, 7, 7], [12, 6, 0]],
}
OWN = {"groups": 3, "samples": 4, "max_tokens": 4, "mini_batches": 2, "lr": 1e-3}
MORE = {"kl_coefficient": 0.5, "grad_clip": 1e9, "penalty_start": 2, "reset_every": 2}


@pytest.fixture
def gradients(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """Record every gradient before clipping, in the example or the engine."""
    kept: list[Tensor] = []
    clip = torch.nn.utils.clip_grad_norm_

    def keep(parameters: Any, limit: float) -> Tensor:
        own = list(parameters)
        kept.append(torch.cat([p.grad.flatten() for p in own]))
        return clip(own, limit)

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", keep)
    return kept


def test_three_steps_of_the_loop_have_the_engines_losses_and_gradients(
    monkeypatch: pytest.MonkeyPatch, gradients: list[Tensor]
) -> None:
    """Two mini-batches per step, a KL term, the penalty from step 2 on, and a reset after it."""
    own = one.Config(**OWN, **MORE)
    model, tokenizer = one.tiny()
    asked = iter(PROBLEMS * 3)
    monkeypatch.setattr(one, "draw_problem", lambda rng: next(asked))
    monkeypatch.setattr(one, "sample", lambda m, prompt, end, config: SAMPLED[text_of(prompt)])

    def text_of(prompt: list[int]) -> str:
        return str(tokenizer.decode(prompt)).removesuffix("=")

    history = one.train(model, tokenizer, 3, own)
    assert [row["used"] for row in history] == [0.75, 0.75, 0.75]
    ours = list(gradients)
    gradients.clear()

    c = engine_config(
        own,
        loss={"mini_batches": own.mini_batches},
        kl={"coefficient": own.kl_coefficient},
        optimizer={"lr": own.lr, "grad_clip": own.grad_clip},
        length_penalty={"start_step": own.penalty_start},
    )
    policy = Policy(one.tiny()[0], c, torch.float32)
    rng = random.Random(own.seed)
    kls = []
    for step in (1, 2, 3):
        batch = engine_batch(tokenizer, c, rng, penalty_active=step >= own.penalty_start)
        kls.append(policy.update(batch).kl)
        if step % own.reset_every == 0:
            policy.reset_reference(clear_optimizer=False)
    assert len(ours) == len(gradients) == 6
    for number, (mine, theirs) in enumerate(zip(ours, gradients, strict=True)):
        assert float(theirs.abs().max()) > 1e-3
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-5, msg=f"update {number}")
    weights = [torch.cat([p.flatten() for p in m.parameters()]) for m in (model, policy.model)]
    torch.testing.assert_close(*weights, rtol=0, atol=1e-5)
    assert history[1]["kl"] > history[2]["kl"]
    assert all(kl is not None and kl > 0 for kl in kls)


def engine_batch(
    tokenizer: Any, c: TrainConfig, rng: random.Random, penalty_active: bool
) -> UpdateBatch:
    """Return the engine's batch of the sampled responses whose groups have variance."""
    rewards: list[float] = []
    groups: list[PromptGroup] = []
    responses: list[list[int]] = []
    for question, gold in PROBLEMS:
        texts = tokenizer.batch_decode(SAMPLED[question], skip_special_tokens=True)
        raw = [float(next((x for x in text if x.isdigit()), "") == gold) for text in texts]
        if len(set(raw)) == 1:
            continue
        indices = tuple(range(len(rewards), len(rewards) + len(raw)))
        answers = SAMPLED[question]
        prompt = tuple(tokenizer(f"{question}=", add_special_tokens=False)["input_ids"])
        groups.append(PromptGroup(prompt, tuple(map(tuple, answers)), indices))
        responses += answers
        rewards += [
            shaped_reward(c, r, len(ids), ids[-1] != 0, penalty_active)
            for r, ids in zip(raw, answers, strict=True)
        ]
    lengths = torch.tensor([len(ids) for ids in responses])
    owners = torch.tensor([g for g, group in enumerate(groups) for _ in group.indices])
    advantages = compute_advantages(
        torch.tensor(rewards, dtype=torch.float64), owners, lengths, c.advantage
    )
    order = rng.sample(range(len(groups)), len(groups))
    return UpdateBatch(
        mini_batches=[[groups[g] for g in order[i::2]] for i in range(2)],
        advantages=advantages,
        sampler_logprobs=[[0.0] * len(ids) for ids in responses],
        config=c,
    )


def test_the_filter_looks_at_raw_rewards_alone() -> None:
    assert not one.has_spread([1.0, 1.0]) and not one.has_spread([0.5, 0.5])
    assert one.has_spread([0.0, 1.0]) and one.has_spread([0.3, 0.5])


@pytest.mark.slow
def test_it_runs_two_steps_by_its_command() -> None:
    command = [sys.executable, str(FILE), "--tiny", "--steps", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(" · ")[0] for line in lines] == ["step 1", "step 2"]
    assert "grad_norm" in lines[0]


def test_it_needs_nothing_but_torch_and_transformers() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert "import prorl" not in text and "from prorl" not in text
    assert text.count("\n") < 300
    assert dataclasses.is_dataclass(one.Config)
