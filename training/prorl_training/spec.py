"""What a part of the objective is, and the doors that it comes through: losses, advantages, KL, penalties.

    # my_loss.py, for `prorl train --plugin my_loss.py --set loss.name=plain`
    from prorl_training import PolicyLossSpec

    def plain(logprobs, old_logprobs, advantages, lengths, config):
        return -(logprobs - old_logprobs).exp() * advantages

    PLAIN = PolicyLossSpec(name="plain", loss=plain)

Shapes: B trajectories, N tokens of all trajectories laid end to end. Importing this needs no torch.
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
    """Loss of each token (N,), and the share of tokens whose gradient a clip removed (scalar)."""

    per_token: Tensor
    clipped_fraction: Tensor


@dataclass(frozen=True, slots=True)
class Response:
    """What a penalty may look at: plain numbers of one response.

    ``raw`` is the verifier's reward, ``correct`` whether that is full marks; ``tokens`` counts the
    response with its end token, ``limit`` is ``rollout.max_tokens``, ``truncated`` whether it cut.
    """

    raw: float
    tokens: int
    limit: int
    truncated: bool
    correct: bool


@dataclass(frozen=True)
class PolicyLossSpec:
    """A policy loss, chosen by ``loss.name``.

    ``loss(logprobs, old_logprobs, advantages, lengths, config)`` returns the loss of each token (N,), or
    a ``PolicyLoss``. The first three are (N,) float, ``lengths`` (B,) int tokens of each trajectory,
    ``config`` the ``LossConfig``. Weights for sampler mismatch and the mean over tokens come after it.
    """

    name: str
    loss: Callable[[Tensor, Tensor, Tensor, Tensor, Any], Tensor | PolicyLoss]
    keys: tuple[str, ...] = ()
    """Dotted config keys that it reads, such as ``loss.clip_low``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keys of its own under ``loss.options``, with their defaults."""


@dataclass(frozen=True)
class AdvantageSpec:
    """From rewards to advantages, chosen by ``advantage.estimator``.

    ``advantages(rewards, groups, lengths, config)`` returns (B,). ``rewards`` (B,) float64, ``groups``
    (B,) int from 0 without gaps, equal for the responses to one prompt, ``lengths`` (B,) int tokens,
    ``config`` the ``AdvantageConfig``.
    """

    name: str
    advantages: Callable[[Tensor, Tensor, Tensor, Any], Tensor]
    keys: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KLSpec:
    """An estimate of KL(policy || reference) at each token, chosen by ``kl.estimator``.

    ``estimate(log_ratio, config)`` returns (N,); ``log_ratio`` (N,) is log pi - log pi_ref at tokens
    sampled from pi, clamped already where ``kl.clamp`` says so; ``config`` is the ``KLConfig``.
    """

    name: str
    estimate: Callable[[Tensor, Any], Tensor]
    keys: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PenaltySpec:
    """Something added to a reward before advantages: never to the raw reward, which filters and counts.

    ``penalty(response, options)`` returns a plain number; ``response`` is a ``Response``, ``options`` a
    mapping with the spec's defaults filled in. Chosen by ``length_penalty.form`` (then it follows
    the schedule and is multiplied by ``length_penalty.weight``) or under ``penalties`` (always on).
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
    """Return the spec's options with those given laid over. Raises PluginError for an unknown one."""
    check_options(spec.name, given, spec.options)
    return {**spec.options, **given}


def check_vector(part: str, value: object, like: Tensor, unit: str) -> None:
    """Raise PluginError (one line) unless ``part`` returned a tensor of the shape of ``like``, a number a ``unit``."""
    from torch import Tensor

    if isinstance(value, Tensor) and value.shape == like.shape:
        return
    got = tuple(value.shape) if isinstance(value, Tensor) else f"{value!r:.80}, no tensor"
    raise PluginError(
        f"{part} must return one number a {unit}, shape {tuple(like.shape)}, and returned {got}"
    )


def check_gradient(door: Door[Any], name: str, value: Tensor, logprobs: Tensor) -> None:
    """Raise PluginError where ``value`` depends on no weight though ``logprobs`` do: nothing would be learned."""
    if logprobs.requires_grad and not value.requires_grad:
        raise PluginError(
            f"the {door.noun} {name!r} ({door.origin(name).source}) returned numbers without a gradient, of which "
            "nothing can be learned: compute them from the log-probs, without detach, item or whole numbers"
        )


def check_options(name: str, given: Iterable[str], known: Mapping[str, Any]) -> None:
    """Raise PluginError (one line, the nearest name in it) for an option that ``name`` does not have."""
    for option in given:
        if option not in known:
            near = difflib.get_close_matches(option, list(known), n=1, cutoff=0.5)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            there = ", ".join(known) if known else "none"
            raise PluginError(f"{name} has no option {option!r}{hint}: there are {there}")


S = TypeVar("S", bound=ObjectiveSpec)


def known_name(door: Door[S], name: str) -> str:
    """Return ``name`` when it is a part of the door. Raises ValueError, one line with the nearest names."""
    try:
        door.origin(name)
    except UserError as error:
        raise ValueError(str(error)) from error
    return name


def known_options(door: Door[S], name: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError (one line) when the part lacks one of ``options``.

    Without options nothing of ours is loaded, so that a config can be checked where torch is not installed.
    """
    try:
        if options:
            check_options(f"{door.noun} {name}", options, door.get(name).options)
    except UserError as error:
        raise ValueError(str(error)) from error
    except ModuleNotFoundError as error:  # of ours: torch is not in the base install
        raise ValueError(str(MissingExtraError("local", error.name or "torch"))) from error
