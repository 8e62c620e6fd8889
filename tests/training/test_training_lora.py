from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from prorl_common import MissingExtraError, ServiceError, UserError
from prorl_inference.testing import tiny_model
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.policy.model import add_adapters
from prorl_training.policy.packing import PromptGroup, build_pack
from prorl_training.policy.update import Policy, UpdateBatch

A = PromptGroup((1, 2, 3), ((10, 11, 12), (20,), (30, 31)), (0, 1, 2))
needs_peft = pytest.mark.skipif(importlib.util.find_spec("peft") is None, reason="no peft")


def lora_config(**lora: Any) -> TrainConfig:
    return TrainConfig.model_validate(
        {
            "rollout": {"prompts": 1, "samples": 3},
            "loss": {"mini_batches": 1},
            "kl": {"coefficient": 0.1},
            "optimizer": {"lr": 1e-2},
            "model": {"lora": {"rank": 2, **lora}},
        }
    )


def lora_policy(config: TrainConfig | None = None) -> Policy:
    return Policy(tiny_model(seed=1, spread=0.3), config or lora_config(), torch.float32)


def started_policy() -> Policy:
    """Return the policy of a started run; like ``TrainingLoop.start`` it takes its reference first."""
    policy = lora_policy()
    policy.reset_reference(clear_optimizer=True)
    return policy


def batch_for(policy: Policy) -> UpdateBatch:
    sampled = [[-4.0] * len(r) for r in A.responses]
    return UpdateBatch([[A]], torch.tensor([1.0, -1.0, 0.5]), sampled, policy.config)


@needs_peft
def test_only_the_adapters_train_and_the_base_stays_bit_for_bit() -> None:
    policy = lora_policy()
    assert policy.reference is None
    frozen = {n: p.clone() for n, p in policy.model.named_parameters() if not p.requires_grad}
    before = {n: t.clone() for n, t in policy.policy_tensors().items()}
    policy.update(batch_for(policy))
    policy.update(batch_for(policy))
    after = policy.policy_tensors()
    assert after and all("lora_" in name for name in after)
    assert all(not torch.equal(before[n], after[n]) for n in after)
    now = dict(policy.model.named_parameters())
    assert all(torch.equal(p, now[n]) for n, p in frozen.items())


@needs_peft
def test_without_a_warm_start_the_first_reference_has_the_values_of_the_base() -> None:
    policy, base = started_policy(), tiny_model(seed=1, spread=0.3)
    policy.update(batch_for(policy))
    plain = Policy(base, TrainConfig(), torch.float32)
    pack = build_pack([A])
    assert torch.equal(policy.reference_logprobs(pack), plain.logprobs(pack))
    assert not torch.equal(policy.logprobs(pack), plain.logprobs(pack))


@needs_peft
@pytest.mark.parametrize("examples", [0, 20])
def test_a_run_starts_with_the_policy_as_reference_warm_start_included(
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., TrainConfig],
    tmp_path: Path,
    examples: int,
) -> None:
    config = make_config(model={"lora": {"rank": 2}}, warm_start={"examples": examples})
    policy: Any = make_engine(config, tmp_path / "run").parts.policy
    pack = build_pack([A])
    reference = policy.reference_logprobs(pack)
    assert torch.equal(reference, policy.logprobs(pack))
    with policy.model.disable_adapter():
        base = policy.logprobs(pack)
    assert torch.equal(reference, base) is (examples == 0)


@needs_peft
def test_kl_is_zero_at_first_and_right_after_a_reset_and_not_between() -> None:
    policy = started_policy()
    assert policy.update(batch_for(policy)).kl == 0.0
    assert (policy.update(batch_for(policy)).kl or 0) > 0
    policy.reset_reference(clear_optimizer=False)
    assert policy.update(batch_for(policy)).kl == 0.0
    assert (policy.update(batch_for(policy)).kl or 0) > 0


@needs_peft
def test_a_reset_to_an_earlier_policy_moves_the_reference_alone() -> None:
    policy = started_policy()
    policy.update(batch_for(policy))
    best = {name: tensor.clone() for name, tensor in policy.policy_tensors().items()}
    pack = build_pack([A])
    then = policy.logprobs(pack)
    policy.update(batch_for(policy))
    now = policy.logprobs(pack)
    policy.reset_reference(clear_optimizer=False, weights=best)
    assert torch.equal(policy.reference_logprobs(pack), then)
    assert torch.equal(policy.logprobs(pack), now)
    assert (policy.update(batch_for(policy)).kl or 0) > 0


@needs_peft
def test_the_frozen_copy_does_not_move_with_the_policy() -> None:
    policy = lora_policy()
    policy.update(batch_for(policy))
    policy.reset_reference(clear_optimizer=True)
    pack = build_pack([A])
    reference = policy.reference_logprobs(pack)
    assert torch.equal(reference, policy.logprobs(pack))
    policy.update(batch_for(policy))
    assert torch.equal(policy.reference_logprobs(pack), reference)
    assert not torch.equal(policy.logprobs(pack), reference)


@needs_peft
@pytest.mark.parametrize("reset", [False, True])
def test_adapters_reference_and_optimiser_go_on_bit_for_bit(reset: bool) -> None:
    policy = started_policy()
    first = {n: t.clone() for n, t in policy.reference_tensors().items()}
    policy.update(batch_for(policy))
    if reset:
        policy.reset_reference(clear_optimizer=False)
        policy.update(batch_for(policy))
    other = lora_policy()
    other.load_policy_weights(policy.policy_tensors())
    other.load_reference(policy.reference_tensors())
    other.load_optimizer(policy.optimizer_tensors())
    other.updates = policy.updates
    kept = all(torch.equal(t, first[n]) for n, t in policy.reference_tensors().items())
    assert first and kept is not reset
    assert policy.update(batch_for(policy)) == other.update(batch_for(other))
    pairs = zip(policy.policy_tensors().values(), other.policy_tensors().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


@needs_peft
def test_a_damaged_reference_is_refused_and_changes_nothing() -> None:
    policy = started_policy()
    before = policy.reference_tensors()
    name = next(iter(before))
    with pytest.raises(ServiceError, match=f"for the reference lack {name}"):
        policy.load_reference({n: t for n, t in before.items() if n != name})
    with pytest.raises(ServiceError, match=f"reference have a wrong shape for {name}"):
        policy.load_reference({**before, name: torch.zeros(1)})
    assert policy.reference_tensors().keys() == before.keys()


@needs_peft
def test_saved_model_is_a_plain_one_with_the_adapters_in_it(tmp_path: Path) -> None:
    import transformers

    hf: Any = transformers
    policy = lora_policy()
    policy.update(batch_for(policy))
    before = policy.policy_tensors()
    policy.save_model(tmp_path, policy.weights())
    again = hf.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert type(again).__name__ == "LlamaForCausalLM"
    assert not list(tmp_path.glob("adapter*"))
    pack = build_pack([A])
    plain = Policy(again, TrainConfig(), torch.float32)
    assert torch.allclose(plain.logprobs(pack), policy.logprobs(pack), atol=1e-5)
    after = policy.policy_tensors()
    assert all(torch.equal(before[n], after[n]) for n in after)


@needs_peft
def test_the_first_adapters_depend_on_the_seed_alone() -> None:
    torch.manual_seed(1)
    first = lora_policy().policy_tensors()
    state = torch.random.get_rng_state()
    torch.manual_seed(2)
    second = lora_policy().policy_tensors()
    assert all(torch.equal(first[n], second[n]) for n in first)
    torch.manual_seed(1)
    lora_policy()
    assert torch.equal(torch.random.get_rng_state(), state)


@needs_peft
def test_adapters_with_gradient_checkpointing_get_the_same_gradients() -> None:
    ends = []
    for on in (False, True):
        config = lora_config()
        model = config.model.model_copy(update={"gradient_checkpointing": on})
        policy = lora_policy(config.model_copy(update={"model": model}))
        policy.update(batch_for(policy))
        ends.append(policy.policy_tensors())
    assert all(torch.equal(ends[0][n], ends[1][n]) for n in ends[0])


@needs_peft
def test_dropout_works_in_the_gradient_pass_alone() -> None:
    policy = lora_policy(lora_config(dropout=0.5))
    policy.update(batch_for(policy))
    pack = build_pack([A])
    assert torch.equal(policy.logprobs(pack), policy.logprobs(pack))
    assert not any(m.training for m in policy.model.modules())
    plain = lora_policy()
    plain.update(batch_for(plain))
    pairs = zip(policy.policy_tensors().values(), plain.policy_tensors().values(), strict=True)
    assert any(not torch.equal(a, b) for a, b in pairs)


@needs_peft
def test_targets_that_no_layer_has_are_a_users_mistake() -> None:
    with pytest.raises(UserError, match="nothing_proj"):
        lora_policy(lora_config(targets="nothing_proj"))


@needs_peft
def test_named_targets_are_the_only_ones_adapted() -> None:
    policy = lora_policy(lora_config(targets="q_proj, v_proj"))
    assert all("q_proj" in n or "v_proj" in n for n in policy.policy_tensors())


def test_without_peft_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="peft"):
        lora_policy()


@needs_peft
def test_a_model_goes_back_to_its_device_once_its_adapters_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import peft

    model: Any = tiny_model()
    at_home: list[bool] = []
    sent: list[Any] = []
    away = property(lambda self: "cpu" if at_home else "far away")

    def come(self: Any) -> Any:
        at_home.append(True)
        return self

    def go(self: Any, device: Any) -> Any:
        sent.append(device)
        return self

    monkeypatch.setattr(type(model), "device", away)
    monkeypatch.setattr(type(model), "cpu", come)
    monkeypatch.setattr(peft.PeftModel, "to", go)
    add_adapters(model, lora_config().model.lora, 0)
    assert at_home and sent == ["far away"]
