"""How long a step of a run takes, stage by stage: a model on paper.

Each stage is its operations or bytes (``work``, ``decoding``) over the part of the cards' peak that ``ratios`` says a run
gets. Policy, reference and sampler take turns. Assumed: sampling goes on as one stream until enough usable groups are
there (one tail a step), work divides evenly over the cards, and every response has one length distribution for the whole
run. Left out: start-up, restarts, waiting for a cluster, evaluation beside validation.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, fields

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.launch.layout import Layout
from prorl_training.sizing.cards import Card
from prorl_training.sizing.decoding import Sampler
from prorl_training.sizing.lengths import Lengths
from prorl_training.sizing.ratios import Ratios
from prorl_training.sizing.shape import ModelShape
from prorl_training.sizing.work import (
    OPTIMIZER_BYTES,
    Tokens,
    cache_bytes,
    forward_flops,
    update_flops,
)

CHECKPOINT_BYTES = 16
"""Bytes a parameter in a checkpoint: weights, master weights, two moments, reference."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Cards in a layout, and what a run gets out of them. ``width``: bytes of a number that is computed with."""

    card: Card
    layout: Layout
    ratios: Ratios
    width: int = 2

    @property
    def cards(self) -> int:
        """Return how many cards the policy has."""
        return self.layout.policy_ranks

    @property
    def link(self) -> float:
        """Return the bytes/s that a card sends to the others at the slowest place."""
        c = self.card
        return (c.network if self.layout.nodes > 1 else c.link) * self.ratios.link.value


@dataclass(frozen=True, slots=True)
class Workload:
    """What the responses are like: their lengths, the prompts' tokens, the share of groups that teach something."""

    lengths: Lengths
    prompt: int
    usable: float

    def __post_init__(self) -> None:
        if self.prompt < 1:
            raise UserError(f"a prompt of {self.prompt} tokens does not exist: at least 1")
        if not 0 < self.usable <= 1:
            raise UserError(
                f"a share of usable groups of {self.usable:g} does not exist: above 0, at most 1"
            )


@dataclass(frozen=True, slots=True)
class StageSeconds:
    """Seconds of a step by stage; validation and checkpoints spread over the steps between them."""

    sampling: float
    """Until the slowest engine is done."""
    reward_tail: float
    logprobs: float
    """Old log-probs of the policy, and the reference's."""
    gradients: float
    """Forward and backward passes."""
    optimizer: float
    """Its steps, and gradients and weights between the cards."""
    weight_sync: float
    """New weights to the samplers."""
    validation: float
    checkpoint: float
    rest: float

    @property
    def total(self) -> float:
        """Return the seconds of a step."""
        return math.fsum(self.by_stage().values())

    def by_stage(self) -> dict[str, float]:
        """Return stage -> seconds."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class StepTime:
    """One step on paper. ``waiting``: share of the engines' time while they wait for the slowest; tokens are responses'."""

    stages: StageSeconds
    sampled: int
    trained: int
    waiting: float
    rows: int
    """Sequences that an engine runs at once at most."""

    @property
    def tokens_per_second(self) -> float:
        """Return the sampled tokens over the whole step's time."""
        return self.sampled / self.stages.total


def step_time(
    config: TrainConfig, shape: ModelShape, machine: Machine, workload: Workload
) -> StepTime:
    """Return what a step under ``config``, which has no phases of its own, takes.

    Raises UserError where the weights leave a sampler no room for one response.
    """
    r = config.rollout
    usable = workload.usable if config.dynamic_sampling.enabled else 1.0
    lengths = workload.lengths.draw(math.ceil(r.prompts / usable) * r.samples, r.max_tokens)
    rows = sampler_rows(config, shape, machine, workload, lengths)
    sampler = Sampler(
        shape, machine.card, machine.ratios, rows, machine.layout.tensor_parallel, machine.width
    )
    prompts = len(lengths) / r.samples
    engines = _engine_seconds(sampler, lengths, workload.prompt, machine.layout.engines)
    prefill = _over_cards(
        forward_flops(shape, _whole(workload.prompt, 1, prompts)),
        machine,
        machine.ratios.score_flops.value,
        machine.layout.engines * machine.layout.tensor_parallel,
    )
    kept = workload.lengths.draw(r.prompts * r.samples, r.max_tokens)
    stages = StageSeconds(
        sampling=max(engines) + prefill,
        reward_tail=machine.ratios.score_tail_seconds.value,
        logprobs=_logprob_seconds(config, shape, machine, workload.prompt, kept),
        gradients=_over_cards(
            update_flops(
                shape, _trained(workload.prompt, kept), config.model.gradient_checkpointing
            ),
            machine,
            machine.ratios.update_flops.value,
        ),
        optimizer=_optimizer_seconds(config, shape, machine),
        weight_sync=_sync_seconds(shape, machine),
        validation=_validation_seconds(config, sampler, machine, workload),
        checkpoint=shape.parameters
        * CHECKPOINT_BYTES
        / machine.ratios.disk_bytes.value
        / config.checkpoint.every,
        rest=machine.ratios.step_seconds.value,
    )
    waiting = 1 - math.fsum(engines) / len(engines) / max(engines)
    return StepTime(stages, sum(lengths), sum(kept), waiting, rows)


def sampler_rows(
    config: TrainConfig,
    shape: ModelShape,
    machine: Machine,
    workload: Workload,
    lengths: list[int],
) -> int:
    """Return how many sequences an engine runs at once: ``rollout.batch_rows``, or fewer where the cache is smaller.

    A running sequence has, averaged over time, the prompt and E[L^2] / (2 E[L]) tokens of its response in the cache.
    Raises UserError where not one of the longest has room.
    """
    most = config.rollout.batch_rows
    if not machine.card.memory:
        return most
    width, parallel = machine.width, machine.layout.tensor_parallel
    share = config.openrlhf.vllm_memory if machine.cards > 1 else config.rollout.vllm_memory
    room = machine.card.memory * parallel * share - shape.parameters * width
    longest = workload.prompt + config.rollout.max_tokens
    if room < longest * cache_bytes(shape, width):
        raise UserError(
            f"{share:.0%} of the card's {machine.card.memory / 1e9:.0f} GB, less the weights, has no room for one response "
            f"of {longest} tokens: more memory for vLLM (openrlhf.vllm_memory, on one card rollout.vllm_memory), a larger "
            "openrlhf.vllm_tensor_parallel, or a larger card"
        )
    average = workload.prompt + sum(n * n for n in lengths) / (2 * sum(lengths))
    return max(1, min(most, int(room / (average * cache_bytes(shape, width)))))


def _whole(length: int, samples: int, prompts: float) -> Tokens:
    """Return a pass over whole sequences of one length whose last token alone is predicted from."""
    count = prompts * samples
    return Tokens(count * length, count * length * (length + 1) / 2, count)


def _trained(prompt: int, lengths: list[int]) -> Tokens:
    """Return a pass over prompt and response of each trajectory, on its own, that predicts the response."""
    tokens = [prompt + length for length in lengths]
    return Tokens(sum(tokens), sum(n * (n + 1) / 2 for n in tokens), sum(lengths))


def _over_cards(flops: float, machine: Machine, share: float, cards: int | None = None) -> float:
    return flops / (machine.card.flops * share * (cards or machine.cards))


def _engine_seconds(sampler: Sampler, lengths: list[int], prompt: int, engines: int) -> list[float]:
    """Return the seconds of each engine, the responses dealt out by chance."""
    shuffled = list(lengths)
    random.Random(0).shuffle(shuffled)
    parts = [shuffled[number::engines] for number in range(engines)]
    return [sampler.seconds(part, prompt) for part in parts]


def _logprob_seconds(
    config: TrainConfig, shape: ModelShape, machine: Machine, prompt: int, kept: list[int]
) -> float:
    """Return the seconds of the passes without gradient: the reference's with a KL term, and the old log-probs.

    On several cards all old log-probs are computed; the local engine takes the first mini-batch's from its gradient pass.
    """
    parts = config.loss.mini_batches
    old = 1.0 if machine.cards > 1 else (parts - 1) / parts
    passes = old + (config.kl.coefficient > 0)
    flops = forward_flops(shape, _trained(prompt, kept)) * passes
    return _over_cards(flops, machine, machine.ratios.score_flops.value)


def _optimizer_seconds(config: TrainConfig, shape: ModelShape, machine: Machine) -> float:
    """Return the seconds of a step's gradient updates after their backward passes.

    ZeRO: a card's share of gradients (float32) is summed over all, its share of new weights (bf16) goes to all.
    """
    cards, ratios = machine.cards, machine.ratios
    moved = shape.parameters * OPTIMIZER_BYTES / cards
    seconds = moved / (machine.card.bandwidth * ratios.optimizer_bandwidth.value)
    if cards > 1:
        seconds += shape.parameters * (4 + machine.width) * (cards - 1) / cards / machine.link
    return seconds * config.loss.mini_batches


def _sync_seconds(shape: ModelShape, machine: Machine) -> float:
    """Return the seconds in which every engine gets the weights, inside a card where it shares it."""
    weights = shape.parameters * machine.width
    if machine.cards == 1 or machine.layout.colocated:
        return 2 * weights / (machine.card.bandwidth * machine.ratios.optimizer_bandwidth.value)
    return weights / machine.link


def _validation_seconds(
    config: TrainConfig, sampler: Sampler, machine: Machine, workload: Workload
) -> float:
    v = config.validation
    if not v.every:
        return 0.0
    lengths = workload.lengths.draw(v.problems * v.samples, config.rollout.max_tokens)
    engines = min(machine.layout.engines, len(lengths))
    return max(_engine_seconds(sampler, lengths, workload.prompt, engines)) / v.every
