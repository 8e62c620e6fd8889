"""Draws a step's prompts, which depend only on seed, step and item records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, assert_never

import numpy as np

from prorl_common import UserError, derive_seed, nearest
from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.rollout.item_records import Floats, ItemRecords, Ladders
from prorl_verifiers.parts import parts_of


def chance_to_teach(right: Floats, wrong: Floats, samples: int) -> Floats:
    """Return for each item the chance of both right and wrong answers among ``samples`` more responses."""
    a, b = 1 + right, 1 + wrong
    all_right, all_wrong = np.ones_like(a), np.ones_like(a)
    for j in range(samples):
        all_right *= (a + j) / (a + b + j)
        all_wrong *= (b + j) / (a + b + j)
    return np.maximum(1 - all_right - all_wrong, 0.0)


def weights_by_chance(
    base: Floats, chance: Floats, floor: float, strata: Sequence[object] | None = None
) -> Floats:
    """Return ``floor`` x ``base`` + (1 - ``floor``) x weights proportional to ``base`` x ``chance``.

    Both terms keep the total of each stratum, such as a domain.
    """
    labels = np.zeros(len(base), dtype=np.int64)
    if strata is not None:
        labels = np.unique(np.array([str(s) for s in strata]), return_inverse=True)[1]
    valued = base * chance
    total, worth = np.bincount(labels, base), np.bincount(labels, valued)
    scale = np.divide(total, worth, out=np.zeros_like(total), where=worth > 0)
    by_value = np.where(worth[labels] > 0, valued * scale[labels], base)
    return floor * base + (1 - floor) * by_value


PART = "part."
"""Prefix of the metrics that hold the rewards of a composite task's parts."""
CACHED_PROMPTS = 50_000
"""Number of encoded prompts to cache."""


class PromptSource:
    """Draws prompts that fit the model's ``context``.

    ``dropped`` are the ids of all prompts found too long, ``passed_over`` counts those found in the latest draw.
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        encode: Callable[[Sample], Sequence[int]],
        context: int | None,
    ) -> None:
        self.samples = samples
        self.context = context
        self.dropped: set[str] = set()
        self.passed_over = 0
        self.records = ItemRecords(samples)
        self._ladders = Ladders(samples)
        self._encode = encode
        self._token_ids: dict[str, tuple[int, ...]] = {}
        self._domains = [s.domain for s in samples]
        self._weights = [float(s.metadata.get("weight", 1.0)) for s in samples]

    def encode(self, sample: Sample) -> tuple[int, ...]:
        tokens = self._token_ids.get(sample.id)
        if tokens is None:
            if len(self._token_ids) >= CACHED_PROMPTS:
                self._token_ids.clear()
            tokens = self._token_ids[sample.id] = tuple(self._encode(sample))
        return tokens

    def draw(self, step: int, config: TrainConfig) -> Iterator[Sample]:
        """Yield the samples of ``step`` in order, without prompts that are too long.

        Raises UserError if no prompt fits, or if a prompt is too long and ``rollout.overlong_prompts`` is ``error``.
        """
        self.passed_over = 0
        return self._drawn(
            self._order(step, config), config
        )  # ordered now, not when first advanced

    def _drawn(self, order: Sequence[int], config: TrainConfig) -> Iterator[Sample]:
        count = 0
        for index in order:
            sample = self.samples[index]
            if self.fits(sample, config):
                count += 1
                yield sample
            else:
                self.passed_over += 1
        if count == 0:
            raise UserError(self._nothing_fits(config))

    def check(self, config: TrainConfig) -> None:
        """Raise UserError if ``draw`` would fail in any phase."""
        for settings in config.phase_configs:
            weights = settings.data.domain_weights
            if weights:
                check_domains(self._domains, weights)
            ladder = settings.data.levels == "ladder"
            if ladder and not self._ladders.can_climb(self._drawn_domains(settings)):
                raise UserError(
                    "data.levels=ladder needs a family with items of at least two levels, but no "
                    "family in the drawn domains has them: set data.levels=all, or build such a "
                    "dataset (prorl data ladder)"
                )
            self._check_parts(settings)
            fit = (self.fits(s, settings) for s in self.eligible(settings))
            every = settings.rollout.overlong_prompts == "error"  # then ``fits`` raises
            if not (list(fit) if every else any(fit)):
                raise UserError(self._nothing_fits(settings))

    def _check_parts(self, config: TrainConfig) -> None:
        wanted = [name for name in config.advantage.rewards if name.startswith(PART)]
        if not wanted:
            return
        parts = {PART + part.name for s in self.eligible(config) for part in parts_of(s.task)}
        for name in wanted:
            if name not in parts:
                raise UserError(
                    f"advantage.rewards names '{name}', but no task has this part"
                    f"{nearest(name, parts)}; parts: {', '.join(sorted(parts)) or 'none'}"
                )

    def eligible(self, config: TrainConfig) -> list[Sample]:
        """Return the samples of all domains that are drawn, including prompts that are too long."""
        domains = self._drawn_domains(config)
        return [s for s in self.samples if s.domain in domains]

    def _drawn_domains(self, config: TrainConfig) -> set[str]:
        weights = config.data.domain_weights
        return {d for d in set(self._domains) if not weights or weights.get(d, 0.0) > 0}

    def limit(self, config: TrainConfig) -> float:
        """Return the maximum prompt length in tokens, or infinity."""
        r = config.rollout
        room = math.inf if self.context is None else self.context - r.max_tokens
        return min(room, r.max_prompt_tokens or math.inf)

    def _nothing_fits(self, config: TrainConfig) -> str:
        r = config.rollout
        if r.max_prompt_tokens and (
            self.context is None or r.max_prompt_tokens < self.context - r.max_tokens
        ):
            return (
                f"every prompt is longer than rollout.max_prompt_tokens={r.max_prompt_tokens}: raise it, or "
                "set it to 0 to use the model's whole context"
            )
        return (
            f"no prompt leaves room for rollout.max_tokens={r.max_tokens} in the model's context "
            f"of {self.context} tokens: lower it or use a model with a longer context"
        )

    def fits(self, sample: Sample, config: TrainConfig) -> bool:
        """Return whether the prompt leaves room for the response. Raises UserError like ``draw``."""
        r, limit = config.rollout, self.limit(config)
        if limit == math.inf or (length := len(self.encode(sample))) <= limit:
            return True
        if r.overlong_prompts == "error":
            raise UserError(
                f"prompt {sample.id} has {length} tokens, but at most {limit} are allowed (rollout.max_tokens="
                f"{r.max_tokens}, context {self.context}): lower max_tokens, raise "
                "max_prompt_tokens, or leave such prompts out with rollout.overlong_prompts=drop"
            )
        self.dropped.add(sample.id)
        return False

    def by_weight(self, config: TrainConfig) -> bool:
        data = config.data
        by_records = data.sampling == "posterior" or data.levels == "ladder"
        return by_records or bool(config.data.domain_weights) or len(set(self._weights)) > 1

    def _order(self, step: int, config: TrainConfig) -> list[int]:
        if not self.by_weight(config):
            return step_order(len(self.samples), config.seed, step, config.rollout.prompts)
        return item_order(self.drawing_weights(config), config.seed, step)

    def drawing_weights(self, config: TrainConfig) -> Sequence[float]:
        """Return each item's weight in the draw. Raises UserError for an unknown domain."""
        data = config.data
        by_domain = data.domain_weights
        opened: Sequence[bool] = [True] * len(self.samples)
        if data.levels == "ladder":
            opened = self._ladders.open_items(self.open_levels(config)).tolist()
        if by_domain:
            base = per_item(self._domains, by_domain, opened)
        else:
            base = [w if o else 0.0 for w, o in zip(self._weights, opened, strict=True)]
        match data.sampling:
            case "uniform":
                return base
            case "posterior":
                records = self.records
                chance = chance_to_teach(records.right, records.wrong, config.rollout.samples)
                strata = self._domains if by_domain else None
                weights = weights_by_chance(np.array(base), chance, data.floor, strata)
                return [float(w) for w in weights]
            case _:
                assert_never(data.sampling)

    def levels(self, config: TrainConfig) -> tuple[int, int]:
        return self._ladders.count(self.open_levels(config), self._drawn_domains(config))

    def level_changes(self, before: Sequence[int], config: TrainConfig) -> list[dict[str, Any]]:
        records = self.records
        return self._ladders.changes(before, self.open_levels(config), records.right, records.wrong)

    def open_levels(self, config: TrainConfig) -> list[int]:
        data, records = config.data, self.records
        return self._ladders.open_levels(
            records.right, records.wrong, data.open_at, data.levels_ahead
        )


def check_context(config: TrainConfig, context: int | None) -> None:
    """Raise UserError if a phase's ``rollout.max_tokens`` leaves no room for a prompt in the model's context."""
    for number, settings in enumerate(config.phase_configs):
        limit = settings.rollout.max_tokens
        if context is not None and limit >= context:
            where = f" in phase {config.phases[number].name}" if config.phases else ""
            raise UserError(
                f"rollout.max_tokens={limit}{where} leaves no room for a prompt in the model's "
                f"context of {context} tokens: lower it or use a model with a longer context"
            )


def step_order(count: int, seed: int, step: int, batch: int) -> list[int]:
    """Return all ``count`` prompt indices in the order in which ``step`` (from 1) uses them.

    The first ``batch`` indices continue the epoch's permutation. The others, for replacements, are in random order.
    """
    first: list[int] = []
    drawn: set[int] = set()
    epochs = range((step - 1) * batch // count, (step * batch - 1) // count + 1)
    permutations = {
        epoch: np.random.default_rng(derive_seed(seed, "epoch", epoch)).permutation(count)
        for epoch in epochs
    }
    for slot in range((step - 1) * batch, step * batch):
        epoch, place = divmod(slot, count)
        index = int(permutations[epoch][place])
        if index not in drawn:
            drawn.add(index)
            first.append(index)
    rng = np.random.default_rng(derive_seed(seed, "refill", step))
    remaining = [int(i) for i in rng.permutation(count) if int(i) not in drawn]
    return first + remaining


def per_item(
    domains: Sequence[str], weights: Mapping[str, float], opened: Sequence[bool]
) -> list[float]:
    """Return the weight of each item: its domain's weight, divided evenly among the domain's ``opened`` items.

    Raises UserError for an unknown domain.
    """
    check_domains(domains, weights)
    sizes = Counter(d for d, is_open in zip(domains, opened, strict=True) if is_open)
    return [
        max(weights.get(d, 0.0), 0.0) / sizes[d] if is_open else 0.0
        for d, is_open in zip(domains, opened, strict=True)
    ]


def check_domains(domains: Sequence[str], weights: Mapping[str, float]) -> None:
    """Raise UserError if a domain with positive weight is not in the dataset."""
    present = set(domains)
    for name, weight in weights.items():
        if weight > 0 and name not in present:
            raise UserError(
                f"data.domain_weights names '{name}', which is not in the dataset"
                f"{nearest(name, present)}; domains: {', '.join(sorted(present))}. Set its weight to 0 (in "
                "each phase that names it), or build a dataset that has it"
            )


def item_order(weights: Sequence[float], seed: int, step: int) -> list[int]:
    """Return item indices in weighted random order (Efraimidis and Spirakis 2006), without weight 0."""
    per_item = np.array(weights)
    rng = np.random.default_rng(derive_seed(seed, "weighted", step))
    keys = np.log(rng.random(len(per_item)))
    usable = np.flatnonzero(per_item > 0)
    order = np.argsort(-(keys[usable] / per_item[usable]), kind="stable")
    return [int(i) for i in usable[order]]
