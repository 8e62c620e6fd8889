"""Compare losses and gradients of OpenRLHF's actor with the local engine's, without Ray and DeepSpeed.

python parity_program.py '{"case": {"settings": [...], "plugin": null, "ranks": 2}}' prints a JSON object case -> gaps.
"""

from __future__ import annotations

import json
import random
import sys
from types import SimpleNamespace
from typing import Any

import torch
from openrlhf.models import Actor
from openrlhf.models import PolicyLoss as TheirLoss
from openrlhf.models.loss import aggregate_loss
from openrlhf.models.utils import compute_approx_kl
from openrlhf.trainer.ppo_utils.experience import Experience, make_experience_batch
from openrlhf.trainer.ppo_utils.experience import split_experience_batch as split
from torch import Tensor

from prorl_common import use_plugins
from prorl_inference.testing import tiny_model
from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.actors.experiences import blank_experience, trained_experience
from prorl_training.engine.openrlhf.actors.scoring import TokenScoring
from prorl_training.engine.openrlhf.actors.updates import Updates
from prorl_training.engine.openrlhf.step import Share, TrainingRow, deal, mini_batch_rows, step_plan
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import Policy, UpdateBatch
from prorl_training.spec import ADVANTAGES

GROUPS, SAMPLES, MINI_BATCHES = 6, 4, 2
CUT = 3
"""Micro-batches of a rank's part of a mini-batch."""
BASE = (
    "optimizer.grad_clip=1000000000",
    "kl.coefficient=0.05",
    f"loss.mini_batches={MINI_BATCHES}",
)


def batch_of(config: TrainConfig, actor: Any, rewarded: bool = False) -> UpdateBatch:
    """Return groups of random responses, half by an earlier policy; advantages are random unless `rewarded`."""
    rng, noise = random.Random(4), torch.Generator().manual_seed(3)
    groups, sampled, stale = [], [], set()
    for number in range(GROUPS):
        prompt = tuple(rng.randrange(250) for _ in range(3 + number))
        responses = tuple(
            tuple(rng.randrange(250) for _ in range(rng.randint(1, 9))) for _ in range(SAMPLES)
        )
        indices = tuple(range(number * SAMPLES, (number + 1) * SAMPLES))
        groups.append(PromptGroup(prompt, responses, indices))
        for response, index in zip(responses, indices, strict=True):
            ids = torch.tensor([[*prompt, *response]])
            mask = torch.ones(1, ids.shape[1] - 1)
            with torch.no_grad():
                own = actor(ids, mask, torch.ones_like(ids))[0, len(prompt) - 1 :]
            # some ratios are within bounds, some not
            gap = torch.randn(own.shape, generator=noise) * 0.6
            sampled.append((own + gap).tolist())
            if number % 2:
                stale.add(index)
    advantages = torch.randn(GROUPS * SAMPLES, generator=noise)
    if rewarded:
        lengths = torch.tensor([len(sampler) for sampler in sampled])
        of_group = torch.arange(GROUPS).repeat_interleave(SAMPLES)
        right = (torch.rand(GROUPS * SAMPLES, generator=noise) < 0.3).float()
        if ADVANTAGES.get(config.advantage.estimator).several:
            right = right[:, None].repeat(1, len(config.advantage.reward_weights))
        advantages = compute_advantages(right, of_group, lengths, config.advantage)
        assert advantages.abs().max() > 0
    parts = [groups[i::MINI_BATCHES] for i in range(MINI_BATCHES)]
    return UpdateBatch(parts, advantages, sampled, config, frozenset(stale))


def flat_gradient(model: Any) -> Tensor:
    return torch.cat([p.grad.flatten() for p in model.parameters()]).clone()


class Watch:
    """A judge that keeps the loss and gradient of every mini-batch and applies none."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.losses: list[float] = []
        self.gradients: list[Tensor] = []

    def accept_update(self, loss: float, grad_norm: float) -> bool:
        self.losses.append(loss)
        self.gradients.append(flat_gradient(self.model))
        return False

    def norm_limit(self) -> float:
        return float("inf")

    def record_update(self, loss: float, grad_norm: float, applied: bool) -> None:
        raise AssertionError


class Strategy:
    """Differentiate and keep the gradients instead of applying them; one rank."""

    ring_attn_group = None

    def __init__(self) -> None:
        self.gradients: list[Tensor] = []
        self.boundaries: list[bool] = []
        self.optimizer = SimpleNamespace(param_groups=[{}])

    def set_gradient_accumulation_boundary(self, last: bool) -> None:
        self.boundaries.append(last)

    def backward(self, loss: Tensor, model: Any, optimizer: Any) -> None:
        loss.backward()  # type: ignore[no-untyped-call]

    def optimizer_step(self, optimizer: Any, model: Any, scheduler: Any, name: str) -> None:
        self.gradients.append(flat_gradient(model.model))
        model.model.zero_grad()

    def all_reduce(self, table: Tensor, op: str) -> Tensor:
        assert op == "sum"
        return table


def experiences_of(share: Share, actor: Any, frozen: Any) -> list[Any]:
    """Return the experience of each row, with log-probs computed by OpenRLHF's actors."""
    found = []
    for row in share:
        blank = blank_experience(row, 0)
        with torch.no_grad():
            seen = [
                a(blank.sequences, blank.action_mask, blank.attention_mask)[0]
                for a in (actor, frozen)
            ]
        found += split(trained_experience(row, (seen[0], seen[1]), 0))
    return found


def by_cluster(batch: UpdateBatch, actor: Any, frozen: Any, ranks: int) -> tuple[Any, Tensor, Any]:
    """Return each mini-batch's losses and gradient as DeepSpeed would sum and average them, and a report."""
    dealt = deal(mini_batch_rows(batch), ranks)
    plan = step_plan(batch.config, 0, (1e-6,) * MINI_BATCHES, float("inf"))
    gate = SimpleNamespace(limit=0.0, norm=0.0, applied=False)
    gradients, reports = [], []
    for shares in dealt:
        strategy = Strategy()
        micro, last = [], []
        for share in shares:
            rows = experiences_of(share, actor, frozen)
            cut = [rows[i::CUT] for i in range(CUT) if rows[i::CUT]]
            micro += [make_experience_batch(part) for part in cut]
            last += [0] * (len(cut) - 1) + [1]
        trainer = SimpleNamespace(
            actor=actor,
            actor_optim=None,
            actor_scheduler=None,
            replay_buffer=SimpleNamespace(dynamic_optimizer_step=last),
            training_step=None,
        )
        policy = SimpleNamespace(
            trainer=trainer, strategy=strategy, actor=SimpleNamespace(model=strategy)
        )
        actor.model.zero_grad()
        with Updates(policy, plan, gate, ranks).in_place() as updates:  # type: ignore[arg-type]
            for step, experience in enumerate(micro):
                trainer.training_step(experience, 123.0, step)
        assert strategy.boundaries == [bool(flag) for flag in last]
        gradients.append(torch.stack(strategy.gradients))
        reports.append(updates.report())
    losses = [
        (sum(r.updates[m].loss for r in reports), sum(r.updates[m].policy_loss for r in reports))
        for m in range(MINI_BATCHES)
    ]
    return losses, torch.stack(gradients).mean(dim=0), reports[0]


def by_openrlhf(
    batch: UpdateBatch, actor: Any, frozen: Any, theirs: dict[str, Any]
) -> tuple[list[float], Tensor]:
    """Return each mini-batch's loss and gradient by OpenRLHF's own functions, all rows in one pass."""
    losses, gradients, kl = [], [], batch.config.kl
    for rows in mini_batch_rows(batch):
        share: list[TrainingRow | None] = [*rows]
        merged: Experience = make_experience_batch(experiences_of(share, actor, frozen))
        mask = merged.action_mask
        totals = {"batch_num_tokens": mask.sum().float(), "global_batch_size": float(len(rows))}
        actor.model.zero_grad()
        now = actor(merged.sequences, mask, merged.attention_mask)
        loss, *_ = TheirLoss(**theirs)(
            now,
            merged.action_log_probs,
            merged.advantages,
            action_mask=mask,
            rollout_log_probs=merged.rollout_log_probs,
            **totals,
        )
        estimate = compute_approx_kl(now, merged.base_action_log_probs, kl_estimator=kl.estimator)
        loss = loss + kl.coefficient * aggregate_loss(
            estimate, mask, token_level_loss=theirs["token_level_loss"], **totals
        )
        loss.backward()
        losses.append(loss.item())
        gradients.append(flat_gradient(actor.model))
    return losses, torch.stack(gradients)


def actors(config: TrainConfig, *models: Any) -> tuple[list[Any], list[Any]]:
    """Return the models' actors as a run has them, which score in blocks, and as OpenRLHF makes them."""
    ours, theirs = [], []
    for model in models:
        model.config.use_cache = False  # as OpenRLHF sets it
        plain, scored = (Actor(model, temperature=config.rollout.temperature) for _ in range(2))
        plain.packing_samples = scored.packing_samples = False
        TokenScoring(scored).install()
        ours.append(scored)
        theirs.append(plain)
    return ours, theirs


def compare(case: dict[str, Any]) -> dict[str, float]:
    """Return the largest gaps of a case, and evidence that the case has an effect."""
    if case.get("plugin"):
        use_plugins([case["plugin"]])
    config = load_config("prorl-v2-official", None, [*BASE, *case["settings"]])
    model, reference = tiny_model(seed=1, spread=0.2), tiny_model(seed=2, spread=0.2)
    (actor, frozen), (theirs, their_frozen) = actors(config, model, reference)
    batch = batch_of(config, theirs, case.get("rewarded", False))
    losses, gradients, report = by_cluster(batch, actor, frozen, case.get("ranks", 1))
    policy = Policy(model, config, torch.float32)
    policy.load_reference({n: p.detach() for n, p in reference.named_parameters()})
    watch = Watch(model)
    stats = policy.update(batch, watch)
    local = torch.stack(watch.gradients)
    found = {
        "loss": max(abs(a - b) for (a, _), b in zip(losses, watch.losses, strict=True)),
        "policy_loss": abs(sum(p for _, p in losses) / MINI_BATCHES - stats.policy_loss),
        "gradient": float((gradients - local).abs().max() / local.norm()),
        "size": float(local.norm()),
        "clipped": stats.clipped_fraction,
        "masked": stats.masked_fraction,
    }
    if case.get("ranks", 1) == 1:
        found["entropy"] = abs(report.entropy - stats.entropy)
        found["shares"] = abs(report.clipped_fraction - stats.clipped_fraction) + abs(
            report.masked_fraction - stats.masked_fraction
        )
        if stats.kl is not None:
            found["kl"] = abs(report.kl - stats.kl)
    if "theirs" in case:
        their_losses, their_gradients = by_openrlhf(batch, theirs, their_frozen, case["theirs"])
        found["their_loss"] = max(
            abs(a - b) for (a, _), b in zip(losses, their_losses, strict=True)
        )
        found["their_gradient"] = float(
            (gradients - their_gradients).abs().max() / their_gradients.norm()
        )
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    cases: dict[str, dict[str, Any]] = json.loads(sys.argv[1])
    print(json.dumps({name: compare(case) for name, case in cases.items()}))
