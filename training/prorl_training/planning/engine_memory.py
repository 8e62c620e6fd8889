"""Estimates the GPU memory that each engine holds in the stages of a step.

Sources: ``policy.update``, DeepSpeed 0.19.6 (runtime/zero/stage_1_and_2.py, stage3.py) and OpenRLHF 0.11.2.
"""

from __future__ import annotations

from prorl_training.config import TrainConfig
from prorl_training.planning.gpus import Layout, layout_of, samples_per_update
from prorl_training.planning.memory import (
    ASLEEP_BYTES,
    TORCH_BYTES,
    Held,
    PassSize,
    PhaseFit,
    Precision,
    Stage,
    engine_share,
    forward_peak,
    longest_prompt,
    named,
    peak,
    reserve,
)
from prorl_training.planning.model_shape import ModelShape
from prorl_training.types import CPU_CHUNK_BYTES

CACHE_ROOM = 1.25
"""Allocated size of the Transformers backend's KV cache divided by its content."""
PACKED_BYTES = 2 << 30
"""Maximum bytes of packed weight copies for sampling in float32 on a CPU."""


def local_phases(
    config: TrainConfig, shape: ModelShape, device: str, memory: int, precision: Precision
) -> tuple[PhaseFit, ...]:
    """Return the memory that each phase needs on a ``cuda`` or ``cpu`` device of ``memory`` bytes."""
    return tuple(
        _LocalPhase(name, settings, config, shape, device, memory, precision).fit()
        for name, settings in named(config)
    )


def trained_parameters(config: TrainConfig, shape: ModelShape) -> int:
    """Return the number of trained parameters. With LoRA, adapters on all linear layers are counted."""
    rank, h, m = config.model.lora.rank, shape.hidden, shape.intermediate
    if not rank:
        return shape.parameters
    q, kv = shape.query_width, shape.kv_width
    widths = 2 * (h + q) + 2 * (h + kv) + 3 * (h + m)
    return shape.layers * rank * widths


class _LocalPhase:
    def __init__(
        self,
        name: str,
        settings: TrainConfig,
        run: TrainConfig,
        shape: ModelShape,
        device: str,
        memory: int,
        precision: Precision,
    ) -> None:
        self.name, self.config, self.shape = name, settings, shape
        self.device, self.memory, self.precision = device, memory, precision
        self.trained = trained_parameters(run, shape)
        self.reference = any(c.kl.coefficient > 0 for c in run.phase_configs)
        elsewhere = settings.rollout.backend in ("transformers", "vllm-server")
        self.own_sampler = device == "cuda" and not elsewhere
        self.prompt = longest_prompt(settings, shape.context)

    def fit(self) -> PhaseFit:
        r, loss = self.config.rollout, self.config.loss
        troubles: tuple[str, ...] = ()
        if self.own_sampler:
            context = r.vllm_context or self.shape.context or self.prompt + r.max_tokens
            sampler, troubles = engine_share(
                self.shape, self.memory, r.vllm_memory, context, number=self.precision.product
            )
        else:
            sampler = {}
        stages = [self._sampling(sampler)]
        asleep = {"reserve": ASLEEP_BYTES} if sampler and not r.staleness else sampler
        if self.config.kl.coefficient > 0 or loss.mini_batches > 1:
            before = forward_peak(self.shape, self._size(), trained=True)
            stages.append(self._stage("log-probs", asleep, 0, before))
        # some steps hold the KL term's own gradient beside the total one
        copies = 2 if self.config.kl.coefficient > 0 and self.config.kl.measure_share_every else 1
        held = peak(self.shape, self._size())
        stages.append(self._stage("update", asleep, copies * 4 * self.trained, held))
        sizes = {
            "prompts": r.prompts,
            "samples": r.samples,
            "prompt tokens": self.prompt,
            "response tokens": r.max_tokens,
            "tokens a pass": self._size().tokens,
        }
        return PhaseFit(self.name, sizes, tuple(stages), troubles)

    def _size(self) -> PassSize:
        r, loss = self.config.rollout, self.config.loss
        longest = self.prompt + r.max_tokens
        groups = -(-r.prompts // loss.mini_batches)
        available = groups * (self.prompt + r.samples * r.max_tokens)
        tokens = max(min(loss.pack_tokens, available), longest)
        return PassSize(
            tokens,
            tokens,
            self.precision,
            self.config.model.gradient_checkpointing,
            packed=True,
            chunk_bytes=CPU_CHUNK_BYTES if self.device == "cpu" else 0,
            tables_trained=not self.config.model.lora.rank,
        )

    def _stage(self, name: str, sampler: dict[str, int], gradients: int, held: Held) -> Stage:
        weights, activations, logits = held.weights, held.activations, held.logits
        resident = self._resident(sampler, gradients, weights, activations, logits, held.total)
        return Stage(name, resident)

    def _sampling(self, sampler: dict[str, int]) -> Stage:
        if sampler:
            return Stage("sampling", self._resident(sampler, 0, 0, 0, 0, 0))
        r, s, p = self.config.rollout, self.shape, self.precision
        rows = 0 if r.servers else min(r.batch_rows, r.prompts * r.samples)
        length = self.prompt + r.max_tokens
        # under autocast keys are float32 after their rotary embedding, values have the product type
        token = s.layers * s.kv_width * (p.residual + p.product)
        cache = int(CACHE_ROOM * rows * length * token)
        prompts = -(-rows // r.samples) * self.prompt
        working = prompts * (3 * s.intermediate * p.product + 3 * s.hidden * p.residual)
        packed = 0
        if self.device == "cpu" and p is Precision.FLOAT32:
            packed = min(PACKED_BYTES, 4 * s.parameters)
        logits = 2 * 4 * rows * s.vocab
        resident = self._resident({}, 0, 0, working, logits, working + logits)
        return Stage("sampling", {**resident, "KV cache": cache, "sampler weights": packed})

    def _resident(
        self,
        sampler: dict[str, int],
        gradients: int,
        copies: int,
        activations: int,
        logits: int,
        made: int,
    ) -> dict[str, int]:
        lora = self.config.model.lora.rank
        weights = 4 * self.shape.parameters + (4 * self.trained if lora else 0)
        reference = 4 * (self.trained if lora else self.shape.parameters) if self.reference else 0
        ranks = self.config.model.gpus if self.config.model.sharding == "fsdp" else 1
        # embeddings and one layer are gathered at a time, in a pass
        gathered = (
            4 * (self.shape.embedding_parameters + weights // 4 // self.shape.layers)
            if made and ranks > 1
            else 0
        )
        return {
            "weights": weights // ranks + gathered + copies,
            "gradients": gradients // ranks,
            "optimiser": 8 * self.trained // ranks,
            "reference": reference // ranks,
            "sampler weights": sampler.get("sampler weights", 0),
            "KV cache": sampler.get("KV cache", 0),
            "logits": logits,
            "activations": activations,
            "reserve": sampler.get("reserve", 0)
            + (TORCH_BYTES if self.device == "cpu" else reserve(1, made)),
        }


BUCKET = 500_000_000
"""Number of gradient values that DeepSpeed reduces at a time (``reduce_bucket_size``)."""
LIVE = 1_000_000_000
"""Maximum number of parameters that ZeRO-3 keeps gathered (``stage3_max_live_parameters``)."""


def cluster_phases(config: TrainConfig, shape: ModelShape, memory: int) -> tuple[PhaseFit, ...]:
    layout = layout_of(config, "cuda")
    return tuple(
        _ClusterPhase(name, settings, config, shape, memory, layout).fit()
        for name, settings in named(config)
    )


class _ClusterPhase:
    def __init__(
        self,
        name: str,
        settings: TrainConfig,
        run: TrainConfig,
        shape: ModelShape,
        memory: int,
        layout: Layout,
    ) -> None:
        self.name, self.config, self.shape, self.memory = name, settings, shape, memory
        self.layout, self.ranks = layout, max(layout.policy_ranks, 1)
        self.sharded = settings.openrlhf.zero_stage == 3
        self.reference = any(c.kl.coefficient > 0 for c in run.phase_configs)
        self.prompt = longest_prompt(settings, shape.context)
        self.longest = self.prompt + settings.rollout.max_tokens

    def fit(self) -> PhaseFit:
        o, r, layout = self.config.openrlhf, self.config.rollout, self.layout
        context = r.vllm_context or self.longest
        awake, troubles = engine_share(
            self.shape, self.memory, o.vllm_memory, context, layout.tensor_parallel
        )
        asleep = {"reserve": ASLEEP_BYTES} if o.vllm_sleep else awake
        beside = asleep if layout.colocated else {}
        where = "" if layout.colocated else "policy"
        before, update = self._size(o.rollout_tokens_per_gpu), self._size(o.train_tokens_per_gpu)
        p, ranks = self.shape.parameters, self.ranks
        step = 4 * p // ranks * (1 if self.sharded or o.adam_offload else 2)
        stages = (
            self._sampling(awake),
            self._stage("log-probs", where, 0, forward_peak(self.shape, before, True), beside),
            self._stage("update", where, self._gradients(), peak(self.shape, update), beside),
            self._stage("optimiser step", where, step, Held(0, 0, 0), beside),
        )
        sizes = {
            "prompts": r.prompts,
            "samples": r.samples,
            "prompt tokens": self.prompt,
            "response tokens": r.max_tokens,
            "tokens a pass": update.tokens,
            "policy ranks": ranks,
        }
        return PhaseFit(self.name, sizes, stages, troubles)

    def _size(self, limit: int) -> PassSize:
        available = samples_per_update(self.config) // self.ranks * self.longest
        tokens = max(min(limit, available), self.longest)
        checkpointing = self.config.model.gradient_checkpointing
        return PassSize(tokens, tokens, Precision.BF16, checkpointing, packed=False)

    def _gradients(self) -> int:
        part = self.shape.parameters // self.ranks
        if self.sharded:
            return 2 * BUCKET + 4 * part
        return 2 * BUCKET + (0 if self.config.openrlhf.adam_offload else (4 + 2) * part)

    def _sampling(self, awake: dict[str, int]) -> Stage:
        if self.layout.colocated:
            return self._stage("sampling", "", 0, Held(0, 0, 0), awake, passing=False)
        return Stage("sampling", {**awake, "reserve": reserve(1, 0)}, "sampler")

    def _stage(
        self,
        name: str,
        where: str,
        gradients: int,
        held: Held,
        beside: dict[str, int],
        passing: bool = True,
    ) -> Stage:
        o, p, ranks = self.config.openrlhf, self.shape.parameters, self.ranks
        gathered = 2 * min(p, LIVE) if self.sharded and passing and ranks > 1 else 0
        weights = 2 * p // ranks if self.sharded else 2 * p
        reference = 0
        if self.reference:
            reference = 0 if o.reference_offload else weights
            reference += gathered if name == "log-probs" else 0
        processes = 1 + self.reference + self.layout.colocated
        return Stage(
            name,
            {
                "weights": weights + gathered + held.weights,
                "gradients": gradients,
                "optimiser": 0 if o.adam_offload else 12 * p // ranks,
                "reference": reference,
                "sampler weights": beside.get("sampler weights", 0),
                "KV cache": beside.get("KV cache", 0),
                "logits": held.logits,
                "activations": held.activations,
                "reserve": reserve(processes, held.total) + beside.get("reserve", 0),
            },
            where,
        )
