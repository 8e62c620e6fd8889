"""Golden vectors of OpenRLHF: its own functions, called on random batches.

Empty modules replace third-party packages that OpenRLHF imports but these functions do not use (flash_attn, deepspeed,
vllm, peft), so that the kit needs no GPU. Nothing of OpenRLHF is replaced.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import itertools
import sys
import types
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from conformance_batches import EXTREME_GAPS, Batch, case, draw, family, unpad, usual

ABSENT = ("flash_attn", "deepspeed", "vllm", "peft", "accelerate", "torchdata")
"""Packages that are replaced by empty modules. Any other missing package is an ImportError."""

Family = dict[str, Any]


class _Empty(types.ModuleType):
    """A module whose attributes are all empty classes."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _EmptyModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.split(".")[0] not in ABSENT:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _prepare() -> None:
    """Import the real Transformers, then replace the packages in ABSENT by empty modules."""
    import transformers.modeling_utils
    import transformers.trainer  # noqa: F401

    sys.meta_path.insert(0, _EmptyModules())


def families() -> dict[str, Family]:
    """Return file name -> {function, batches, cases}."""
    _prepare()
    return {
        "policy_loss": _policy_loss(),
        "is_correction": _is_correction(),
        "kl": _kl(),
        "aggregate": _aggregate(),
        "advantages": _advantages(),
        "length_penalties": _length_penalties(),
    }


def _loss_case(batch: Batch, number: int, options: dict[str, Any], sampler: bool) -> dict[str, Any]:
    from openrlhf.models.loss import PolicyLoss

    logprobs = batch.padded("logprobs").requires_grad_()
    loss, clip_ratio, _, _, filtered = PolicyLoss(**options)(
        logprobs,
        batch.padded("old_logprobs"),
        batch.padded("advantages"),
        action_mask=batch.mask(),
        rollout_log_probs=batch.padded("sampler_logprobs") if sampler else None,
    )
    loss.backward()
    outputs = {"loss": loss.item(), "clip_ratio": clip_ratio.item()}
    if filtered is not None:
        outputs["filter_ratio"] = filtered.item()
    gradient = unpad(logprobs.grad, batch.lengths)
    return {"batch": number, "options": options, "outputs": outputs, "gradient": gradient}


def _policy_loss() -> Family:
    batches = usual()
    cases = []
    for (number, batch), high, dual, by_token in itertools.product(
        enumerate(batches), (0.28, 0.4), (None, 3.0), (True, False)
    ):
        options = {
            "clip_eps_low": 0.2,
            "clip_eps_high": high,
            "dual_clip": dual,
            "token_level_loss": by_token,
        }
        cases.append(_loss_case(batch, number, options, sampler=False))
    fields = ("logprobs", "old_logprobs", "advantages")
    return family("openrlhf.models.loss.PolicyLoss", cases, batches, *fields)


def _is_correction() -> Family:
    batches = usual()
    kinds = [
        ("token", "clip", (0.5, 5.0)),
        ("token", "clip", (0.0, 2.0)),
        ("token", "mask", (0.5, 5.0)),
        ("seq", "mask", (0.9, 1.1)),
        ("seq", "mask", (0.2, 5.0)),
    ]
    cases = []
    for (number, batch), (level, mode, threshold) in itertools.product(enumerate(batches), kinds):
        options = {
            "clip_eps_low": 0.2,
            "clip_eps_high": 0.27,
            "is_correction_level": level,
            "is_correction_mode": mode,
            "is_correction_threshold": list(threshold),
        }
        cases.append(_loss_case(batch, number, options, sampler=True))
    fields = ("logprobs", "old_logprobs", "sampler_logprobs", "advantages")
    return family("openrlhf.models.loss.PolicyLoss", cases, batches, *fields)


def _kl() -> Family:
    from openrlhf.models.utils import compute_approx_kl

    gaps = [0.0, 1e-3, -1e-3, *EXTREME_GAPS, 4.4721, 4.4722, -4.4721, -4.4722, 10.0, -10.0]
    cases = []
    for estimator in ("k1", "k2", "k3"):
        logprobs = torch.tensor(gaps, dtype=torch.float32, requires_grad=True)
        value = compute_approx_kl(logprobs, torch.zeros(len(gaps)), kl_estimator=estimator)
        value.sum().backward()
        cases.append(
            case(0, {"kl_estimator": estimator}, {"kl": value.tolist()}, logprobs.grad.tolist())
        )
    batch = {"seed": None, "logprobs": gaps, "ref_logprobs": [0.0] * len(gaps)}
    return family("openrlhf.models.utils.compute_approx_kl", cases, [batch], dtype="float32")


def _aggregate() -> Family:
    from openrlhf.models.loss import aggregate_loss

    batches = [draw(10, 2, 3), draw(11, 4, None), draw(12, 1, 5)]
    cases = []
    for (number, batch), by_token in itertools.product(enumerate(batches), (True, False)):
        loss = aggregate_loss(batch.padded("advantages"), batch.mask(), token_level_loss=by_token)
        outputs = {"loss": loss.item()}
        cases.append(case(number, {"token_level_loss": by_token}, outputs))
    return family("openrlhf.models.loss.aggregate_loss", cases, batches, "advantages")


def _advantages() -> Family:
    batches = [draw(20, 2, 3), draw(21, 4, 4), draw(22, 3, 2), draw(23, 1, 4), draw(24, 5, 8)]
    cases = []
    for (number, batch), estimator in itertools.product(
        enumerate(batches), ("reinforce_baseline", "group_norm", "dr_grpo")
    ):
        outputs = {"advantages": _experience_advantages(batch, estimator)}
        cases.append(case(number, {"estimator": estimator}, outputs))
    maker = "openrlhf.trainer.ppo_utils.experience_maker.RemoteExperienceMaker"
    return family(f"{maker}.compute_advantages_and_returns", cases, batches, "groups", "rewards")


def _experience_advantages(batch: Batch, estimator: str) -> list[float]:
    """Return the experience maker's advantages (B,), computed in two micro-batches."""
    from openrlhf.trainer.ppo_utils.experience import Experience
    from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker

    maker = object.__new__(RemoteExperienceMaker)
    advantage = SimpleNamespace(estimator=estimator, gamma=1.0, lambd=1.0, no_std_norm=False)
    maker.strategy = SimpleNamespace(
        args=SimpleNamespace(
            reward=SimpleNamespace(clip_range=None),
            rollout=SimpleNamespace(n_samples_per_prompt=batch.groups.count(0)),
            algo=SimpleNamespace(advantage=advantage),
        )
    )
    maker.advantage_estimator = estimator
    maker.kl_ctl = SimpleNamespace(value=0.0)
    rows = list(range(len(batch.lengths)))
    mask = batch.mask()
    experiences = [
        Experience(
            index=part,
            rewards=torch.tensor([batch.rewards[i] for i in part], dtype=torch.float64),
            action_mask=mask[part].bool(),
            kl=torch.zeros_like(mask[part]),
            info={},
        )
        for part in (rows[1:], rows[:1])
    ]
    tail, head = maker.compute_advantages_and_returns(experiences)
    return [float(row[0]) for row in torch.cat([head.advantages, tail.advantages])]


def _length_penalties() -> Family:
    from openrlhf.trainer.ppo_utils.length_penalty import (
        apply_overlong_penalty,
        apply_stop_properly_penalty,
    )

    batches = [draw(30, 2, 4), draw(31, 3, 3)]
    cases = []
    for number, batch in enumerate(batches):
        for buffer, factor in ((4, 1.0), (3, 0.5), (8, 2.0)):
            experience = _rewarded(batch)
            apply_overlong_penalty([experience], 8, buffer, factor)
            options = {
                "max_new_tokens": 8,
                "overlong_buffer_len": buffer,
                "overlong_penalty_factor": factor,
            }
            outputs = {"rewards": experience.rewards.tolist()}
            cases.append(case(number, options, outputs))
        for coefficient in (0.0, 0.5, -0.5):
            experience = _rewarded(batch)
            apply_stop_properly_penalty([experience], coefficient)
            options = {"stop_properly_penalty_coef": coefficient}
            outputs = {"rewards": experience.rewards.tolist()}
            cases.append(case(number, options, outputs))
    return family(
        "openrlhf.trainer.ppo_utils.length_penalty.apply_{overlong,stop_properly}_penalty",
        cases,
        batches,
        "rewards",
        "truncated",
    )


def _rewarded(batch: Batch) -> Any:
    """Return OpenRLHF's Experience with the batch's rewards, lengths and truncation flags."""
    from openrlhf.trainer.ppo_utils.experience import Experience

    return Experience(
        rewards=torch.tensor(batch.rewards, dtype=torch.float64),
        response_length=torch.tensor(batch.lengths),
        truncated=torch.tensor(batch.truncated),
    )
