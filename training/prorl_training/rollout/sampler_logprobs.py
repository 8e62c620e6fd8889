"""Check that the sampler returns the log-probs that the settings need.

With ``rollout.top_p`` below 1, vLLM's log-probs are those of the truncated distribution, so they are replaced by NaN.
"""

from __future__ import annotations

from prorl_common import UserError
from prorl_inference import BACKENDS, BackendSpec
from prorl_training.config import TrainConfig


def refuse_lost_logprobs(config: TrainConfig, sampler: BackendSpec) -> None:
    """Raise UserError with a fix if ``sampler`` does not return log-probs that a phase needs."""
    for number, settings in enumerate(config.phase_configs):
        reason = lost_logprobs(settings, sampler)
        if reason:
            where = f"phase {config.phases[number].name}: " if config.phases else ""
            raise UserError(where + reason)


def lost_logprobs(config: TrainConfig, sampler: BackendSpec | None = None) -> str | None:
    """Return why ``sampler`` (default: vLLM) does not return log-probs that ``config`` needs, with a fix, or None."""
    sampler = sampler or BACKENDS.get("vllm")
    sampling, loss = config.dynamic_sampling, config.loss
    correction = loss.mismatch.correction
    surplus = sampling.refill == "expected" or sampling.oversample > 1
    late = sampling.enabled and sampling.late == "carry"
    carries = sampling.enabled and sampling.surplus == "carry" and (surplus or late)
    # OpenRLHF has no on_policy_ratio: its carried groups always use the sampler's log-probs
    own = loss.on_policy_ratio or loss.old_logprobs == "trainer"
    without = own and correction == "none" and config.engine == "local"
    users = []  # (setting, replacement)
    if late and not without:
        users.append(("dynamic_sampling.late=carry", "dynamic_sampling.late=wait"))
    if carries and not without:
        users.append(("dynamic_sampling.surplus=carry", "dynamic_sampling.surplus=drop"))
    if config.rollout.staleness and not without:
        users.append((f"rollout.staleness={config.rollout.staleness}", "rollout.staleness=0"))
    if loss.old_logprobs == "sampler":
        users.append(("loss.old_logprobs=sampler", "loss.old_logprobs=trainer"))
    if correction != "none":
        users.append((f"loss.mismatch.correction={correction}", "loss.mismatch.correction=none"))
    if sampler.keeps_logprobs(config.rollout.top_p) or not users:
        return None
    named = " and ".join(setting for setting, _ in users)
    cure = " and ".join(instead for _, instead in users)
    wider = "set rollout.top_p=1, or " if sampler.logprobs else ""
    return (
        f"rollout.top_p={config.rollout.top_p} with {sampler.title or sampler.name} as sampler "
        f"leaves no log-probs of the whole distribution, which {named} needs: {wider}{cure}, or "
        "use engine=local with rollout.backend=transformers"
    )
