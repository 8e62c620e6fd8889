"""Specs of policy losses, advantages, KL estimates and penalties, which plug-ins can add, without torch.

In shapes, B is the number of trajectories and N the number of their tokens.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from prorl_common import Door, MissingExtraError, PluginError, UserError

if TYPE_CHECKING:
    from torch import Tensor


GROUP = "prorl.objectives"


class PolicyLoss(NamedTuple):
    """Losses ``per_token`` (N,), and the fraction of tokens whose gradient was clipped (scalar)."""

    per_token: Tensor
    clipped_fraction: Tensor


@dataclass(frozen=True, slots=True)
class Response:
    """A response for which a penalty is computed.

    ``correct`` means that the raw reward ``raw`` is 1. ``tokens`` includes the end token. ``limit`` is
    ``rollout.max_tokens``.
    """

    raw: float
    tokens: int
    limit: int
    truncated: bool
    correct: bool


@dataclass(frozen=True)
class PolicyLossSpec:
    """A policy loss, selected with ``loss.name``.

    ``loss(logprobs, old_logprobs, advantages, lengths, config)`` returns the loss of each token (N,) or a
    ``PolicyLoss``. The first three arguments are (N,) float, ``lengths`` (B,) are in tokens, and ``config`` is the
    ``LossConfig``. prorl applies mismatch weights and the mean over tokens afterwards.
    """

    name: str
    loss: Callable[[Tensor, Tensor, Tensor, Tensor, Any], Tensor | PolicyLoss]
    keys: tuple[str, ...] = ()
    """Dotted config keys that the loss reads, such as ``loss.clip_low``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options under ``loss.options`` with their defaults."""


@dataclass(frozen=True)
class AdvantageSpec:
    """An advantage estimator, selected with ``advantage.estimator``.

    ``advantages(rewards, groups, lengths, config)`` returns (B,). ``rewards`` are (B,) float64, or if ``several``, (B,
    R) with a column per entry of ``advantage.rewards``. ``groups`` (B,) number the prompts from 0, ``lengths`` (B,) are
    in tokens, and ``config`` is the ``AdvantageConfig``.
    """

    name: str
    advantages: Callable[[Tensor, Tensor, Tensor, Any], Tensor]
    keys: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    several: bool = False


@dataclass(frozen=True)
class KLSpec:
    """An estimate of KL(policy || reference) per token, selected with ``kl.estimator``.

    ``estimate(log_ratio, config)`` returns (N,). ``log_ratio`` (N,) is log pi - log pi_ref of tokens sampled from pi,
    clamped if ``kl.clamp`` is set. ``config`` is the ``KLConfig``.
    """

    name: str
    estimate: Callable[[Tensor, Any], Tensor]
    keys: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PenaltySpec:
    """A number added to the reward before advantages. Filters and metrics use the raw reward.

    ``penalty(response, options)`` returns the number; ``options`` includes the defaults. The penalty named by
    ``length_penalty.form`` is multiplied by its weight and follows its schedule. Those in ``penalties`` are always on.
    """

    name: str
    penalty: Callable[[Response, Mapping[str, Any]], float]
    keys: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


POLICY_LOSSES = Door(GROUP, PolicyLossSpec, "policy loss")
ADVANTAGES = Door(GROUP, AdvantageSpec, "advantage")
KL_ESTIMATORS = Door(GROUP, KLSpec, "kl")
PENALTIES = Door(GROUP, PenaltySpec, "penalty")

ObjectiveSpec = PolicyLossSpec | AdvantageSpec | KLSpec | PenaltySpec


def with_defaults(spec: ObjectiveSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default options updated with ``given``. Raises PluginError for an unknown option."""
    check_options(spec.name, given, spec.options)
    return {**spec.options, **given}


def check_vector(part: str, value: object, like: Tensor, unit: str) -> None:
    """Raise PluginError if ``value`` is not a tensor with the shape of ``like``."""
    from torch import Tensor

    if isinstance(value, Tensor) and value.shape == like.shape:
        return
    got = tuple(value.shape) if isinstance(value, Tensor) else f"{value!r:.80}, no tensor"
    raise PluginError(
        f"{part} must return one number per {unit}, shape {tuple(like.shape)}, but returned {got}"
    )


def check_gradient(door: Door[Any], name: str, value: Tensor, logprobs: Tensor) -> None:
    """Raise PluginError if ``value`` has no gradient although ``logprobs`` has one."""
    if logprobs.requires_grad and not value.requires_grad:
        raise PluginError(
            f"the {door.noun} {name!r} ({door.origin(name).source}) returned numbers without a "
            "gradient: compute them from the log-probs, without detach, item or conversion to "
            "integers"
        )


def check_options(name: str, given: Iterable[str], known: Mapping[str, Any]) -> None:
    """Raise PluginError, with the closest name, for an unknown option."""
    for option in given:
        if option not in known:
            near = difflib.get_close_matches(option, list(known), n=1, cutoff=0.5)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            there = ", ".join(known) if known else "none"
            raise PluginError(f"{name} has no option {option!r}{hint}; its options: {there}")


S = TypeVar("S", bound=ObjectiveSpec)


def check_part_name(door: Door[S], name: str) -> str:
    """Return ``name``. Raises ValueError, with the closest names, if ``door`` has nothing of this name."""
    try:
        door.origin(name)
    except UserError as error:
        raise ValueError(str(error)) from error
    return name


def check_part_options(door: Door[S], name: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError unless the object ``name`` in ``door`` has all of ``options``."""
    try:
        if options:
            check_options(f"{door.noun} {name}", options, door.get(name).options)
    except UserError as error:
        raise ValueError(str(error)) from error
    except ModuleNotFoundError as error:  # torch is an extra
        raise ValueError(str(MissingExtraError("local", error.name or "torch"))) from error
