"""Losses and gradients in OpenRLHF's actor equal the local engine's, and OpenRLHF's where it has the formula."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prorl_training.engine.openrlhf.launch.environment import environment

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
from prorl_training.algorithm.advantages import advantages_of
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.step import mini_batch_rows
from prorl_training.engine.openrlhf.actors.experiences import blank_experience
from prorl_training.policy.update import Policy
from prorl_training.types import Group, Trajectory
from prorl_training.policy.update import build_update
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
advantages = advantages_of(groups, config.advantage)
batch = build_update(groups, advantages, 1, config, lambda sample: prompts[sample.id])
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
policy_loss, *_ = PolicyLoss(**json.loads(sys.argv[2]))(
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


TOKEN_MEAN = {"token_level_loss": True}
CLIP = {"clip_eps_low": 0.2, "clip_eps_high": 0.27}
ICEPOP = {"is_correction_level": "token", "is_correction_mode": "mask"}
TIS = ("loss.mismatch.correction=tis", "loss.mismatch.low=0", "loss.mismatch.high=1.2")
THEIR_TIS = {
    "is_correction_level": "token",
    "is_correction_mode": "clip",
    "is_correction_threshold": (0, 1.2),
}
BY_SEQUENCE = (
    "loss.mismatch.correction=sequence_mask",
    "loss.mismatch.low=0.7",
    "loss.mismatch.high=1.4",
)
THEIR_BY_SEQUENCE = {
    "is_correction_level": "seq",
    "is_correction_mode": "mask",
    "is_correction_threshold": (0.7, 1.4),
}


def program(*words: str) -> Any:
    """Run a Python program in a new process with the CPU layer and return its last output."""
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **environment("cpu", 1)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.parametrize(
    ("settings", "theirs"),
    [
        ((), ICEPOP),
        (TIS, THEIR_TIS),
        (BY_SEQUENCE, THEIR_BY_SEQUENCE),
        (
            ("loss.mismatch.correction=none", "loss.dual_clip=3", "kl.estimator=k3"),
            {"dual_clip": 3.0},
        ),
    ],
    ids=["official", "tis", "sequence_mask", "dual_clip_k3"],
)
def test_advantages_losses_and_gradients_are_openrlhfs(
    settings: tuple[str, ...], theirs: dict[str, Any]
) -> None:
    found = program("-c", PROGRAM, json.dumps(settings), json.dumps(CLIP | TOKEN_MEAN | theirs))
    assert found["spread"] > 1
    assert found["advantages"] < 1e-5
    for name in ("loss", "policy_loss", "kl", "grad_norm"):
        ours, other = found[name]
        assert ours == pytest.approx(other, abs=1e-5, rel=1e-5), name
    if not settings:
        assert 0 < found["masked"] < 1


OUTSIDE = """
from prorl_training import KLSpec, PolicyLossSpec

def loss(logprobs, old_logprobs, advantages, lengths, config):
    length = lengths.repeat_interleave(lengths)
    return -config.options["scale"] * (logprobs - old_logprobs).exp() * advantages / length

LOSS = PolicyLossSpec(name="outside", loss=loss, options={"scale": 1.0})
KL = KLSpec(name="halved", estimate=lambda log_ratio, config: log_ratio.abs() / 2)
"""
"""A loss that uses the lengths of the responses, and a KL estimate."""


def _cases(plugin: str) -> dict[str, dict[str, Any]]:
    """Return every loss, alone and combined: settings, ranks, and OpenRLHF's loss if it has the formula."""
    off = "loss.mismatch.correction=none"
    cases: dict[str, dict[str, Any]] = {
        "official": {"settings": [], "theirs": CLIP | TOKEN_MEAN | ICEPOP},
        "clip": {"settings": [off], "theirs": CLIP | TOKEN_MEAN},
        "tight clip": {
            "settings": [off, "loss.clip_low=0.05", "loss.clip_high=0.01"],
            "theirs": {"clip_eps_low": 0.05, "clip_eps_high": 0.01} | TOKEN_MEAN,
        },
        "dual clip": {
            "settings": [off, "loss.dual_clip=1.1"],
            "theirs": CLIP | TOKEN_MEAN | {"dual_clip": 1.1},
        },
        "on policy": {"settings": ["loss.on_policy_ratio=true"]},
        "tis": {"settings": [*TIS], "theirs": CLIP | TOKEN_MEAN | THEIR_TIS},
        "sequence mask": {
            "settings": [*BY_SEQUENCE],
            "theirs": CLIP | TOKEN_MEAN | THEIR_BY_SEQUENCE,
        },
        "sequence mean": {
            "settings": ["loss.aggregation=sequence_mean"],
            "theirs": CLIP | ICEPOP | {"token_level_loss": False},
        },
        "constant": {"settings": ["loss.aggregation=constant", "rollout.max_tokens=16"]},
        "no kl": {"settings": ["kl.coefficient=0"]},
        "geometric": {
            "settings": [*TIS, "loss.mismatch.level=geometric", "loss.mismatch.veto=0.1"]
        },
        "outside": {
            "plugin": plugin,
            "settings": ["loss.name=outside", "loss.options.scale=0.5", "kl.estimator=halved"],
        },
    }
    for name in ("gspo", "cispo", "dppo_tv", "dppo_kl", "sapo"):
        cases[name] = {"settings": [f"loss.name={name}", "loss.aggregation=sequence_mean"]}
    for words in (
        ["advantage.estimator=gdpo"],
        ["advantage.estimator=pass_at_k", "advantage.k=2"],
        ["advantage.estimator=maxrl"],
    ):
        needs = [*words, "rollout.samples=4", "length_penalty.form=proportional"]
        cases[words[0]] = {"settings": needs, "rewarded": True}
    for estimator in ("k1", "k2", "k3"):
        for clamp in ("input", "output", "both", "none"):
            bounds = ["kl.clamp_value=0.5", "kl.input_clamp_value=1"]
            words = [f"kl.estimator={estimator}", f"kl.clamp={clamp}", *bounds]
            cases[f"{estimator} {clamp}"] = {"settings": words}
        cases[estimator] = {
            "settings": [f"kl.estimator={estimator}"],
            "theirs": CLIP | TOKEN_MEAN | ICEPOP,
        }
    dealt = ("official", "sequence mask", "sequence mean", "constant", "outside")
    return cases | {f"{name} over 3 ranks": cases[name] | {"ranks": 3} for name in dealt}


NAMES = tuple(_cases(""))


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """Return the gaps that ``parity_program`` found for each case."""
    file = tmp_path_factory.mktemp("plugin") / "outside.py"
    file.write_text(OUTSIDE)
    here = Path(__file__).with_name("parity_program.py")
    found: dict[str, dict[str, float]] = program(str(here), json.dumps(_cases(str(file))))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_step_in_openrlhfs_actor_has_the_local_engines_loss_and_gradient(
    gaps: dict[str, dict[str, float]], name: str
) -> None:
    found = gaps[name]
    assert found["size"] > 1e-3, "a gradient that is there to compare"
    measures = ["loss", "policy_loss", "gradient", "entropy", "kl"]
    by_sequence = (
        "sequence mask",
        "geometric",
    )  # shares of the sequences of a pass, and passes differ
    if name not in by_sequence:
        measures.append("shares")
    for measure in measures:
        assert found.get(measure, 0.0) < 1e-5, measure
    for measure in ("their_loss", "their_gradient"):
        assert found.get(measure, 0.0) < 1e-5, measure


def test_the_cases_clip_and_mask_some_tokens_and_not_all(gaps: dict[str, dict[str, float]]) -> None:
    for name in ("official", "clip", "tight clip", "dual clip", "tis", "sequence mean"):
        assert 0 < gaps[name]["clipped"] < 1, name
    for name in ("official", "tis", "sequence mask"):
        assert 0 < gaps[name]["masked"] < 1, name
    assert gaps["on policy"]["clipped"] == 0
    assert gaps["dual clip"]["clipped"] > gaps["clip"]["clipped"]
