"""One rollout batch through OpenRLHF's experience maker and losses and through the local engine: the same numbers.

Runs OpenRLHF's own ``Actor``, ``RemoteExperienceMaker`` and ``PolicyLoss`` on a float32 model in this
process, without Ray. Needs the environment of ``make openrlhf-cpu-venv``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from prorl_training.engine.openrlhf.cpu_environment import environment

pytestmark = pytest.mark.usefixtures("openrlhf_stack")

PROGRAM = """
import json, random, sys
from types import SimpleNamespace

import torch
from openrlhf.models import Actor, PolicyLoss
from openrlhf.models.loss import aggregate_loss
from openrlhf.models.utils import compute_approx_kl
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker

from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_inference.testing import tiny_model
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.rows import mini_batch_rows
from prorl_training.engine.openrlhf.stack.experiences import blank_experience
from prorl_training.engine.openrlhf.step_plan import loss_arguments
from prorl_training.policy.policy import Policy
from prorl_training.rollout.types import Group, Trajectory
from prorl_training.policy.batch import build_update
from prorl_verifiers import Task, Verdict

GROUPS, SAMPLES = 5, 4
settings = json.loads(sys.argv[1])
config = load_config("prorl-v2-official", None, [
    "loss.mini_batches=1", f"rollout.samples={SAMPLES}", f"rollout.prompts={GROUPS}",
    "optimizer.schedule=constant", "optimizer.warmup_updates=0", "kl.coefficient=0.05", *settings])
torch.set_num_threads(1)
rng = random.Random(4)
model, reference = tiny_model(seed=1, spread=0.2), tiny_model(seed=2, spread=0.2)


def group(number):
    sample = Sample(str(number), "math", ({"role": "user", "content": "x"},), Task("math", {"answer": "1"}), "t", "none", "train")
    trajectories = []
    for i in range(SAMPLES):
        tokens = tuple(rng.randrange(250) for _ in range(rng.randint(1, 9)))
        completion = Completion("", tokens, tuple(-rng.random() * 6 for _ in tokens), "stop")
        reward = rng.choice([0.0, 0.25, 1.0])
        trajectories.append(Trajectory(i, completion, Verdict(reward, "scored", ""), reward))
    return Group(sample, tuple(trajectories), 1)


groups = [group(number) for number in range(GROUPS)]
prompts = {str(n): tuple(rng.randrange(250) for _ in range(3 + n)) for n in range(GROUPS)}
batch = build_update(groups, 1, config, lambda sample: prompts[sample.id])
rows = sorted((r for part in mini_batch_rows(batch) for r in part), key=lambda r: r.index)

# What the sampler said is near what the policy says, so that the mismatch correction has both kinds of tokens.
actor, frozen = (Actor(m, temperature=config.rollout.temperature) for m in (model, reference))
for a in (actor, frozen):
    a.packing_samples = False
experiences = [blank_experience(row, 0) for row in rows]
merged = Experience.concat_experiences(experiences, 256)
mask, attention = merged.action_mask, merged.attention_mask
with torch.no_grad():
    old = actor(merged.sequences, mask, attention)
    base = frozen(merged.sequences, mask, attention)
    noise = torch.randn(old.shape, generator=torch.Generator().manual_seed(3)) * 0.6
    merged.rollout_log_probs = (old + noise) * mask
sampled = [merged.rollout_log_probs[i][mask[i].bool()].tolist() for i in range(len(rows))]
object.__setattr__(batch, "sampler_logprobs", sampled)

# Theirs.
merged.index = list(range(len(rows)))
merged.rewards = torch.tensor([t.reward for g in groups for t in g.trajectories])
merged.kl = torch.zeros_like(old)
merged.info = {}
maker = object.__new__(RemoteExperienceMaker)
args = SimpleNamespace(
    rollout=SimpleNamespace(n_samples_per_prompt=SAMPLES, max_new_tokens=16),
    algo=SimpleNamespace(advantage=SimpleNamespace(estimator="reinforce_baseline", gamma=1.0, lambd=1.0, no_std_norm=False)),
    reward=SimpleNamespace(clip_range=(-10, 10), overlong_buffer_len=None, overlong_penalty_factor=1, stop_properly_penalty_coef=None))
maker.args, maker.strategy = args, SimpleNamespace(args=args)
maker.advantage_estimator, maker.kl_ctl = "reinforce_baseline", SimpleNamespace(value=0.0)
(made,) = maker.compute_advantages_and_returns([merged])
theirs = [made.advantages[i][mask[i].bool()][0].item() for i in range(len(rows))]
total = mask.sum().float()
model.zero_grad()
now = actor(merged.sequences, mask, attention)
policy_loss, *_ = PolicyLoss(**loss_arguments(config))(
    now, old, made.advantages, action_mask=mask, rollout_log_probs=merged.rollout_log_probs,
    batch_num_tokens=total, global_batch_size=float(len(rows)))
kl = compute_approx_kl(now, base, kl_estimator=config.kl.estimator)
kl_loss = aggregate_loss(kl, mask, batch_num_tokens=total)
loss = policy_loss + config.kl.coefficient * kl_loss
loss.backward()
their_norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item()

# Ours.
model.zero_grad()
policy = Policy(model, config, torch.float32)
policy.load_reference({n: p.detach() for n, p in reference.named_parameters()})
ours = [row.advantage for row in rows]
stats = policy.update(batch)
print(json.dumps({
    "advantages": max(abs(a - b) for a, b in zip(ours, theirs)),
    "loss": [stats.loss, loss.item()], "policy_loss": [stats.policy_loss, policy_loss.item()],
    "kl": [stats.kl, kl_loss.item()], "grad_norm": [stats.grad_norm, their_norm],
    "masked": stats.masked_fraction, "spread": max(ours) - min(ours)}))
"""


def numbers(*settings: str) -> dict[str, Any]:
    """Run the comparison in a fresh process with the CPU layer and return what it found."""
    given = {**os.environ, **environment("cpu", 1)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(settings)],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("loss.mismatch.correction=tis", "loss.mismatch.low=0", "loss.mismatch.high=1.2"),
        (
            "loss.mismatch.correction=sequence_mask",
            "loss.mismatch.low=0.7",
            "loss.mismatch.high=1.4",
        ),
        ("loss.mismatch.correction=none", "loss.dual_clip=3", "kl.estimator=k3"),
    ],
    ids=["official", "tis", "sequence_mask", "dual_clip_k3"],
)
def test_advantages_losses_and_gradients_are_openrlhfs(settings: tuple[str, ...]) -> None:
    found = numbers(*settings)
    assert found["spread"] > 1
    assert found["advantages"] < 1e-5
    for name in ("loss", "policy_loss", "kl", "grad_norm"):
        ours, theirs = found[name]
        assert ours == pytest.approx(theirs, abs=1e-5, rel=1e-5), name
    if not settings:
        assert 0 < found["masked"] < 1
