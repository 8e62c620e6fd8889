from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from prorl_common import ServiceError, UserError
from prorl_inference.testing import tiny_model
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.objective import mismatch_weights, token_weights
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.config import TrainConfig
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import AcceptAll, Policy, UpdateBatch
from prorl_training.types import UpdateStats

A = PromptGroup((1, 2, 3), ((10, 11, 12), (20,), (30, 31)), (0, 1, 2))
B = PromptGroup((7, 8), ((40, 41), (10, 11, 12)), (3, 4))
ADVANTAGES = torch.tensor([1.0, -1.0, 0.5, -0.5, 2.0])


class Judge(AcceptAll):
    """A judge that records its arguments and answers from a list."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[float, float]] = []

    def accept_update(self, loss: float, grad_norm: float) -> bool:
        self.asked.append((loss, grad_norm))
        return self.answers.pop(0) if self.answers else True


def toy(**over: dict[str, Any]) -> TrainConfig:
    base: dict[str, Any] = {
        "steps": 10,
        "rollout": {"prompts": 2, "samples": 3, "temperature": 1.3, "max_tokens": 6},
        "loss": {"mini_batches": 2, "pack_tokens": 8},
        "optimizer": {"lr": 1e-2, "grad_clip": 1e9},
        "kl": {"coefficient": 0.1},
    }
    for section, values in over.items():
        base[section] = {**base.get(section, {}), **values}
    return TrainConfig.model_validate(base)


def new_policy(config: TrainConfig, seed: int = 1) -> Policy:
    return Policy(tiny_model(seed=seed, spread=0.3), config, torch.float32)


def moved(config: TrainConfig, seed: int = 1) -> Policy:
    policy = new_policy(config, seed)
    policy.load_policy_weights({n: t * 1.05 for n, t in policy.policy_tensors().items()})
    return policy


def sampled(policy: Policy, offset: float = 0.0) -> list[list[float]]:
    """Return the policy's log-probs as the sampler's, shifted by ``offset``."""
    temperature = policy.config.rollout.temperature
    with torch.no_grad():
        return [
            (plain(policy.model, g.prompt, r, temperature) + offset).tolist()
            for g in (A, B)
            for r in g.responses
        ]


def plain(model: Any, prompt: Sequence[int], response: Sequence[int], temperature: float) -> Tensor:
    """Return the log-probs (n,) of one response in the simplest way."""
    ids = torch.tensor([[*prompt, *response]])
    logp = (model(ids).logits[0, :-1] / temperature).log_softmax(-1)
    chosen: Tensor = logp.gather(-1, ids[0, 1:, None])[len(prompt) - 1 :, 0]
    return chosen


def weights(policy: Policy) -> Tensor:
    return torch.cat([p.detach().flatten() for p in policy.model.parameters()])


def gradient_of(policy: Policy, groups: Sequence[PromptGroup], batch: UpdateBatch) -> Tensor:
    """Return the gradient of the loss in the simplest way, one response at a time."""
    c = batch.config
    policy.model.zero_grad()
    total = torch.zeros(())
    pairs = [(g.prompt, r, i) for g in groups for r, i in zip(g.responses, g.indices, strict=True)]
    lengths = torch.tensor([len(r) for _, r, _ in pairs])
    token = token_weights(lengths, c.loss.aggregation, c.rollout.max_tokens)
    for (prompt, response, i), weight in zip(
        pairs, torch.split(token, lengths.tolist()), strict=True
    ):
        logprobs = plain(policy.model, prompt, response, c.rollout.temperature)
        sampler = torch.tensor(batch.sampler_logprobs[i])
        stale = c.loss.old_logprobs == "sampler" or (
            c.loss.old_logprobs == "by_age" and i in batch.stale
        )
        old = sampler if stale else logprobs.detach()
        n = torch.tensor([len(response)])
        advantages = batch.advantages[i].expand(len(response))
        surrogate = policy_loss(logprobs, old, advantages, n, c.loss)
        correction = mismatch_weights(old, sampler, n, c.loss.mismatch).weights
        loss = surrogate.per_token * correction
        if policy.reference is not None:
            with torch.no_grad():
                ref = plain(policy.reference, prompt, response, c.rollout.temperature)
            loss = loss + c.kl.coefficient * kl_penalty(logprobs, ref, c.kl)
        total = total + (loss * weight).sum()
    total.backward()  # type: ignore[no-untyped-call]
    gradient = torch.cat([p.grad.flatten() for p in policy.trained if p.grad is not None])
    policy.model.zero_grad()
    return gradient


class Capture(Judge):
    """A judge that rejects every update and keeps its gradient."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = policy
        self.gradients: list[Tensor] = []

    def accept_update(self, loss: float, grad_norm: float) -> bool:
        super().accept_update(loss, grad_norm)
        grads = [p.grad.flatten() for p in self.policy.trained if p.grad is not None]
        self.gradients.append(torch.cat(grads))
        return False


@pytest.mark.parametrize(
    "loss",
    [
        {},
        {"aggregation": "sequence_mean"},
        {"aggregation": "constant", "pack_tokens": 1000},
        {"dual_clip": 3.0},
        {"on_policy_ratio": True},
        {"mismatch": {"correction": "tis", "low": 0.0, "high": 1.2}},
        {"mismatch": {"correction": "icepop", "low": 0.5, "high": 1.5}},
        {"mismatch": {"correction": "sequence_mask", "low": 0.5, "high": 1.5}},
        {"mismatch": {"correction": "tis", "level": "sequence", "low": 0.0, "high": 3.0}},
        {"old_logprobs": "trainer", "mismatch": {"correction": "tis", "low": 0.0, "high": 1.2}},
        {"old_logprobs": "sampler", "name": "dppo_tv"},
        {"name": "gspo", "aggregation": "sequence_mean"},
        {"name": "cispo"},
        {"name": "sapo"},
    ],
)
def test_gradient_equals_the_loss_written_down_plainly(loss: dict[str, Any]) -> None:
    config = toy(loss={"mini_batches": 1, **loss})
    policy = moved(config)
    batch = UpdateBatch([[A, B]], ADVANTAGES, sampled(policy, -0.3), config, frozenset({1, 3}))
    expected = gradient_of(policy, [A, B], batch)
    capture = Capture(policy)
    policy.update(batch, capture)
    assert torch.allclose(capture.gradients[0], expected, atol=2e-6)


def test_gradient_is_exact_in_double_precision() -> None:
    config = toy(loss={"mini_batches": 1})
    policy = moved(config)
    policy.model.double()
    policy.reference.double()
    batch = UpdateBatch([[A, B]], ADVANTAGES.double(), sampled(policy), config)
    expected = gradient_of(policy, [A, B], batch)
    capture = Capture(policy)
    policy.update(batch, capture)
    assert float((capture.gradients[0] - expected).abs().max()) < 1e-7  # rotary angles are float32


@pytest.mark.parametrize("over", [{}, {"model": {"lora": {"rank": 2, "dropout": 0.2}}}])
def test_two_updates_from_equal_state_are_bitwise_equal(over: dict[str, Any]) -> None:
    pytest.importorskip("peft")
    config = toy(**over)
    ends, reports = [], []
    for _ in range(2):
        policy = new_policy(config)
        batch = UpdateBatch([[A], [B]], ADVANTAGES, sampled(policy), config)
        torch.randn(7)  # the global generator has no effect
        reports.append([policy.update(batch), policy.update(batch)])
        ends.append(weights(policy))
    assert torch.equal(ends[0], ends[1])
    assert reports[0] == reports[1]


def test_with_one_mini_batch_no_further_pass_over_the_policy_is_made() -> None:
    config = toy(loss={"mini_batches": 1, "pack_tokens": 100}, kl={"coefficient": 0.0})
    policy = new_policy(config)
    passes: list[bool] = []
    hook = policy.model.get_decoder().register_forward_hook(
        lambda *_: passes.append(torch.is_grad_enabled())
    )
    policy.update(UpdateBatch([[A, B]], ADVANTAGES, sampled(policy), config))
    hook.remove()
    del passes[:5]  # those of ``sampled``
    assert passes == [True]


def test_old_logprobs_are_from_before_the_first_update() -> None:
    config = toy(loss={"clip_low": 0.001, "clip_high": 0.001}, kl={"coefficient": 0.0})
    policy = new_policy(config)
    batch = UpdateBatch([[A], [A]], ADVANTAGES, sampled(policy), config)
    stats = policy.update(batch)
    # the second mini-batch's ratio is against the policy before the first: most of its tokens are clipped
    assert stats.clipped_fraction > 0.3
    assert stats.mismatch_kl is not None and stats.mismatch_kl < 1e-9


def test_forced_on_policy_ratio_never_clips() -> None:
    loss = {"clip_low": 0.001, "clip_high": 0.001, "on_policy_ratio": True}
    config = toy(loss=loss)
    policy = new_policy(config)
    stats = policy.update(UpdateBatch([[A], [A]], ADVANTAGES, sampled(policy), config))
    assert stats.clipped_fraction == 0
    assert stats.mismatch_kl is not None and stats.mismatch_kl < 1e-9


def test_stale_trajectories_take_the_samplers_logprobs_as_old_ones() -> None:
    loss = {"mini_batches": 1, "clip_low": 0.1, "clip_high": 0.1}
    config = toy(loss=loss)
    policy = new_policy(config)
    shifted = sampled(policy, -1.0)  # ratio e for stale trajectories: clipped where A > 0
    fresh = policy.update(UpdateBatch([[A, B]], ADVANTAGES, shifted, config), Judge(False))
    everything = frozenset(range(5))
    stale = policy.update(
        UpdateBatch([[A, B]], ADVANTAGES, shifted, config, everything), Judge(False)
    )
    assert fresh.clipped_fraction == 0
    assert fresh.mismatch_kl == pytest.approx(math.e - 2, abs=1e-4)  # k3 of a log-ratio of 1
    assert fresh.mismatch_ess == pytest.approx(1)  # all ratios are equal
    assert stale.clipped_fraction == pytest.approx(8 / 11)  # trajectories 0, 2, 4
    assert stale.mismatch_kl is None


@pytest.mark.parametrize(("old", "clipped", "passes"), [("trainer", 0, 2), ("sampler", 8 / 11, 1)])
def test_old_logprobs_come_from_one_policy_whatever_the_age(
    old: Any, clipped: float, passes: int
) -> None:
    loss = {"clip_low": 0.1, "clip_high": 0.1, "old_logprobs": old, "pack_tokens": 100}
    config = toy(loss=loss, kl={"coefficient": 0.0})
    policy = new_policy(config)
    shifted = sampled(policy, -1.0)
    without_gradient: list[bool] = []
    hook = policy.model.get_decoder().register_forward_hook(
        lambda *_: without_gradient.append(not torch.is_grad_enabled())
    )
    batch = UpdateBatch([[A], [B]], ADVANTAGES, shifted, config, frozenset({1}))
    stats = policy.update(batch, Judge(False, False))
    hook.remove()
    assert stats.clipped_fraction == pytest.approx(clipped)
    assert sum(without_gradient) == passes - 1  # the sampler's need no further pass
    assert stats.mismatch_kl == pytest.approx(math.e - 2, abs=1e-4)


def test_stale_old_logprobs_hold_in_later_mini_batches_too() -> None:
    config = toy(loss={"clip_low": 0.1, "clip_high": 0.1})
    policy = new_policy(config)
    shifted = sampled(policy, -1.0)
    batch = UpdateBatch([[A], [B]], ADVANTAGES, shifted, config, frozenset({4}))
    stats = policy.update(batch, Judge(False, False))
    assert stats.clipped_fraction == pytest.approx(3 / 11)
    assert stats.mismatch_kl == pytest.approx(math.e - 2, abs=1e-4)


def test_mismatch_correction_drops_what_the_sampler_saw_otherwise() -> None:
    mismatch = {"correction": "icepop", "low": 0.9, "high": 1.1}
    config = toy(loss={"mini_batches": 1, "mismatch": mismatch}, kl={"coefficient": 0.0})
    policy = new_policy(config)
    values = sampled(policy)
    values[4] = [x - 1 for x in values[4]]
    stats = policy.update(UpdateBatch([[A, B]], ADVANTAGES, values, config), Judge(False))
    assert stats.masked_fraction == pytest.approx(3 / 11)
    everything = [[x - 1 for x in row] for row in values[:4]] + [values[4]]
    stats = policy.update(UpdateBatch([[A, B]], ADVANTAGES, everything, config), Judge(False))
    assert stats.masked_fraction == 1.0
    assert stats.grad_norm == 0.0


def test_a_refused_update_leaves_weights_and_optimiser_as_they_were() -> None:
    config = toy()
    policy = new_policy(config)
    before = weights(policy)
    batch = UpdateBatch([[A], [B]], ADVANTAGES, sampled(policy), config)
    judge = Judge(False, False)
    stats = policy.update(batch, judge)
    assert torch.equal(weights(policy), before)
    assert (stats.skipped, policy.updates, policy.optimizer_tensors()) == (2, 0, {})
    assert len(judge.asked) == 2 and all(norm > 0 for _, norm in judge.asked)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nothing_that_is_not_finite_reaches_the_weights(bad: float) -> None:
    config = toy()
    policy = new_policy(config)
    advantages = ADVANTAGES.clone()
    advantages[0] = bad
    judge = Judge(True, True)
    stats = policy.update(UpdateBatch([[A], [B]], advantages, sampled(policy), config), judge)
    assert stats.skipped == 1
    assert policy.updates == 1  # the second mini-batch is valid
    assert torch.isfinite(weights(policy)).all()
    assert not math.isfinite(judge.asked[0][0])


def test_statistics_are_means_over_tokens_and_kl_starts_at_zero() -> None:
    config = toy(loss={"mini_batches": 1})
    policy = new_policy(config)
    batch = UpdateBatch([[A, B]], ADVANTAGES, sampled(policy), config)
    stats = policy.update(batch, Judge(False))
    mean = float((ADVANTAGES * torch.tensor([3, 1, 2, 2, 3])).sum() / 11)
    assert stats.policy_loss == pytest.approx(-mean, abs=1e-5)
    assert stats.kl == 0.0
    assert 0 < stats.entropy < math.log(260)


def test_without_a_kl_term_in_any_phase_there_is_no_reference() -> None:
    config = toy(kl={"coefficient": 0.0})
    policy = new_policy(config)
    stats = policy.update(UpdateBatch([[A], [B]], ADVANTAGES, sampled(policy), config))
    assert policy.reference is None and stats.kl is None
    assert policy.reference_tensors() == {}
    with pytest.raises(ServiceError, match="no reference"):
        policy.reference_logprobs(policy_pack())


def policy_pack() -> Any:
    from prorl_training.policy.packing import build_pack

    return build_pack([A])


def test_a_later_phase_with_a_kl_term_keeps_a_reference_from_the_start() -> None:
    values = toy(kl={"coefficient": 0.0}).model_dump()
    values["phases"] = [
        {"name": "a", "steps": 2},
        {"name": "b", "steps": 2, "set": {"kl": {"coefficient": 0.1}}},
    ]
    config = TrainConfig.model_validate(values)
    policy = new_policy(config)
    first = UpdateBatch([[A], [B]], ADVANTAGES, sampled(policy), config.in_phase(0))
    second = UpdateBatch([[A], [B]], ADVANTAGES, sampled(policy), config.in_phase(1))
    assert policy.update(first).kl is None
    assert (policy.update(second).kl or 0) > 0


def test_kl_reads_zero_after_a_reset_and_the_optimiser_is_kept_or_cleared() -> None:
    config = toy()
    policy = new_policy(config)
    batch = UpdateBatch([[A], [B]], ADVANTAGES, sampled(policy), config)
    policy.update(batch)
    assert (policy.update(batch, Judge(False, False)).kl or 0) > 1e-3
    moments = policy.optimizer_tensors()
    policy.reset_reference(clear_optimizer=False)
    assert policy.update(batch, Judge(False, False)).kl == 0.0
    assert policy.optimizer_tensors().keys() == moments.keys() != set()
    policy.reset_reference(clear_optimizer=True)
    assert policy.optimizer_tensors() == {}


def test_measuring_the_kl_share_changes_nothing_and_the_share_is_right() -> None:
    config = toy(loss={"mini_batches": 1})
    reports: list[UpdateStats] = []
    ends = []
    for measure in (False, True):
        policy = moved(config)
        batch = UpdateBatch([[A, B]], ADVANTAGES, sampled(policy), config, measure_kl_share=measure)
        reports.append(policy.update(batch))
        ends.append(weights(policy))
    assert torch.equal(ends[0], ends[1])
    assert reports[0].kl_gradient_share is None
    policy = moved(config)
    zero = UpdateBatch([[A, B]], torch.zeros(5), sampled(policy), config)
    kl = float(gradient_of(policy, [A, B], zero).norm())
    no_kl = toy(loss={"mini_batches": 1}, kl={"coefficient": 0.0})
    without = UpdateBatch([[A, B]], ADVANTAGES, sampled(policy), no_kl)
    expected = kl / (kl + float(gradient_of(policy, [A, B], without).norm()))
    assert reports[1].kl_gradient_share == pytest.approx(expected, rel=1e-4)
    assert 0 < expected < 1


def test_gradient_checkpointing_gives_the_same_gradients_and_leaves_evaluation_mode() -> None:
    ends = []
    for on in (False, True):
        config = toy(model={"gradient_checkpointing": on})
        policy = new_policy(config)
        batch = UpdateBatch([[A], [B]], ADVANTAGES, sampled(policy), config)
        policy.update(batch)
        assert not any(m.training for m in policy.model.modules())
        ends.append(weights(policy))
    assert torch.equal(ends[0], ends[1])


def test_gradient_checkpointing_recomputes_the_layers() -> None:
    config = toy(
        model={"gradient_checkpointing": True}, loss={"mini_batches": 1, "pack_tokens": 99}
    )
    config = config.model_copy(update={"kl": config.kl.model_copy(update={"coefficient": 0.0})})
    policy = new_policy(config)
    batch = UpdateBatch([[A, B]], ADVANTAGES, sampled(policy), config)
    calls: list[int] = []
    policy.model.get_decoder().layers[0].mlp.register_forward_pre_hook(lambda *_: calls.append(1))
    policy.update(batch)
    assert len(calls) == 2


def test_dropout_of_a_checkpointed_model_stays_off() -> None:
    import transformers

    hf: Any = transformers
    config = hf.GPT2Config(vocab_size=64, n_embd=16, n_layer=1, n_head=2, n_positions=32)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = hf.GPT2LMHeadModel(config)
    plan = toy(model={"gradient_checkpointing": True}, loss={"mini_batches": 1})
    policy = Policy(model, plan, torch.float32)
    batch = UpdateBatch([[A, B]], ADVANTAGES, [[0.0] * n for n in (3, 1, 2, 2, 3)], plan)
    expected = gradient_of(policy, [A, B], batch)
    capture = Capture(policy)
    policy.update(batch, capture)
    assert torch.allclose(capture.gradients[0], expected, atol=2e-6)


def test_a_family_that_cannot_recompute_is_a_users_mistake() -> None:
    model: Any = tiny_model()
    model.supports_gradient_checkpointing = False
    with pytest.raises(UserError, match="gradient_checkpointing=false"):
        Policy(model, toy(model={"gradient_checkpointing": True}), torch.float32)


def test_state_taken_out_and_put_back_goes_on_bit_for_bit() -> None:
    config = toy()
    policy = new_policy(config)
    batch = UpdateBatch([[A], [B]], ADVANTAGES, sampled(policy), config)
    policy.update(batch)
    other = new_policy(config, seed=2)
    other.load_policy_weights(policy.policy_tensors())
    other.load_reference(policy.reference_tensors())
    other.load_optimizer(policy.optimizer_tensors())
    other.updates = policy.updates
    assert policy.update(batch) == other.update(batch)
    assert torch.equal(weights(policy), weights(other))


def test_weights_that_do_not_fit_are_refused() -> None:
    policy = new_policy(toy())
    tensors = policy.policy_tensors()
    name = next(iter(tensors))
    with pytest.raises(ServiceError, match=name):
        policy.load_policy_weights({n: t for n, t in tensors.items() if n != name})
    with pytest.raises(ServiceError, match="wrong shape"):
        policy.load_policy_weights({**tensors, name: torch.zeros(1)})


def test_saved_model_loads_without_prorl(tmp_path: Path) -> None:
    import transformers

    hf: Any = transformers
    policy = new_policy(toy())
    policy.save_model(tmp_path, policy.weights())
    again = hf.AutoModelForCausalLM.from_pretrained(tmp_path)
    pairs = zip(again.parameters(), policy.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_a_phases_learning_rate_and_the_scale_are_used() -> None:
    config = toy(loss={"mini_batches": 1})
    phase = toy(loss={"mini_batches": 1}, optimizer={"lr": 4e-3})
    policy = new_policy(config)
    batch = UpdateBatch([[A, B]], ADVANTAGES, sampled(policy), phase)
    assert policy.update(batch, None, 0.5).lr == pytest.approx(2e-3)
    assert policy.optimizer.param_groups[0]["lr"] == pytest.approx(2e-3)


def test_bfloat16_compute_keeps_float32_weights_and_kl_zero() -> None:
    config = toy(loss={"mini_batches": 1})
    policy = Policy(tiny_model(seed=1, spread=0.3), config, torch.bfloat16)
    with policy.compute():
        values = sampled(policy)
    stats = policy.update(UpdateBatch([[A, B]], ADVANTAGES, values, config))
    assert stats.kl == 0.0
    assert all(p.dtype == torch.float32 for p in policy.model.parameters())
    assert stats.skipped == 0
