"""Which settings need the sampler's log-probs, and why vLLM cannot give them with a nucleus.

With ``rollout.top_p`` below 1 vLLM reports the log-probs of the cut distribution; ours are then NaN, so that
no loss uses them unseen.
"""

from __future__ import annotations

from prorl_common import UserError
from prorl_inference import BACKENDS, BackendSpec
from prorl_training.config import TrainConfig


def refuse_lost_logprobs(config: TrainConfig, sampler: BackendSpec) -> None:
    """Raise UserError, one line with the cure, where ``sampler`` would sample what a phase cannot train on."""
    for number in range(max(len(config.phases), 1)):
        found = lost_logprobs(config.in_phase(number), sampler)
        if found:
            where = f"phase {config.phases[number].name}: " if config.phases else ""
            raise UserError(where + found)


def lost_logprobs(config: TrainConfig, sampler: BackendSpec | None = None) -> str | None:
    """Return what is wrong with one phase's settings where ``sampler`` (default: vLLM) samples, and the cure;
    None when nothing is."""
    sampler = sampler or BACKENDS.get("vllm")
    sampling, loss = config.dynamic_sampling, config.loss
    correction = loss.mismatch.correction
    surplus = sampling.refill == "expected" or sampling.oversample > 1
    late = sampling.enabled and sampling.late == "carry"
    carries = sampling.enabled and sampling.surplus == "carry" and (surplus or late)
    # OpenRLHF has no ratio held at 1: its carried groups always take their sampler's log-probs
    without = loss.on_policy_ratio and correction == "none" and config.engine == "local"
    users = []  # setting, what to set instead
    if late and not without:
        users.append(("dynamic_sampling.late=carry", "dynamic_sampling.late=wait"))
    if carries and not without:
        users.append(("dynamic_sampling.surplus=carry", "dynamic_sampling.surplus=drop"))
    if correction != "none":
        users.append((f"loss.mismatch.correction={correction}", "loss.mismatch.correction=none"))
    if sampler.keeps_logprobs(config.rollout.top_p) or not users:
        return None
    named = " and ".join(setting for setting, _ in users)
    cure = " and ".join(instead for _, instead in users)
    wider = "set rollout.top_p=1, or " if sampler.logprobs else ""
    return (
        f"rollout.top_p={config.rollout.top_p} with {sampler.title or sampler.name} as sampler leaves "
        f"no log-probs of the whole distribution, which {named} needs: {wider}{cure}, or let "
        "engine=local sample with rollout.backend=transformers"
    )
