"""What the OpenRLHF engine holds on a GPU: DeepSpeed's policy, the reference, and vLLM, which may take turns.

Read from DeepSpeed 0.19.6 (runtime/zero/stage_1_and_2.py, stage3.py: buckets, partitions) and OpenRLHF 0.11.2.
Leaves out: main memory, and a rank's first step, in which nothing is larger.
"""

from __future__ import annotations

from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.launch.arguments import samples_per_update
from prorl_training.engine.openrlhf.launch.layout import Layout, layout_of
from prorl_training.sizing.estimate import PhaseFit, Stage, longest_prompt, named, reserve
from prorl_training.sizing.passes import Held, PassSize, Precision, forward_peak, peak
from prorl_training.sizing.sampler import ASLEEP_BYTES, engine_share
from prorl_training.sizing.shape import ModelShape

BUCKET = 500_000_000
"""Gradients that DeepSpeed gathers before it reduces them (``reduce_bucket_size``)."""
LIVE = 1_000_000_000
"""Parameters that ZeRO-3 keeps whole at a time (``stage3_max_live_parameters``)."""


def cluster_phases(config: TrainConfig, shape: ModelShape, memory: int) -> tuple[PhaseFit, ...]:
    """Return the stages of every phase on GPUs of ``memory`` bytes."""
    layout = layout_of(config, "cuda")
    return tuple(
        _Phase(name, settings, config, shape, memory, layout).fit()
        for name, settings in named(config)
    )


class _Phase:
    """The reckoning of one phase."""

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
        self.reference = any(phase.kl.coefficient > 0 for _, phase in named(run))
        self.prompt = longest_prompt(settings, shape.context)
        self.longest = self.prompt + settings.rollout.max_tokens

    def fit(self) -> PhaseFit:
        """Return the phase's stages."""
        o, r, layout = self.config.openrlhf, self.config.rollout, self.layout
        context = r.vllm_context or self.longest
        awake, troubles = engine_share(
            self.shape, self.memory, o.vllm_memory, layout.tensor_parallel, context,
            "openrlhf.vllm_memory", self.longest,
        )  # fmt: skip
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
        """Return the largest pass under a limit of tokens: full, or one sequence where that is longer."""
        there = samples_per_update(self.config) // self.ranks * self.longest
        tokens = max(min(limit, there), self.longest)
        checkpointing = self.config.model.gradient_checkpointing
        return PassSize(tokens, tokens, Precision.BF16, checkpointing, masked=False)

    def _gradients(self) -> int:
        """Return the gradients while a pass runs back: a bucket in bf16, and a rank's part, added up in float32."""
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
