"""What the local engine holds on its device: policy, reference, optimiser and sampler in one process.

The order of a step is ``policy.update``'s: sampling; log-probs before the update, without gradient; one gradient
update a mini-batch. Leaves out: other processes on the device.
"""

from __future__ import annotations

from prorl_training.config import TrainConfig
from prorl_training.sizing.estimate import (
    TORCH_BYTES,
    PhaseFit,
    Stage,
    longest_prompt,
    named,
    reserve,
)
from prorl_training.sizing.passes import (
    CPU_CHUNK_BYTES,
    Held,
    PassSize,
    Precision,
    forward_peak,
    peak,
)
from prorl_training.sizing.sampler import engine_share
from prorl_training.sizing.shape import ModelShape

CACHE_ROOM = 1.25
"""The Transformers backend's cache grows by a quarter at a time."""
PACKED_BYTES = 2 << 30
"""On a CPU in float32 the Transformers backend samples with copies of so many bytes of weights."""


def local_phases(
    config: TrainConfig, shape: ModelShape, device: str, memory: int, precision: Precision
) -> tuple[PhaseFit, ...]:
    """Return the stages of every phase on a ``device`` (``cuda`` or ``cpu``) of ``memory`` bytes."""
    return tuple(
        _Phase(name, settings, config, shape, device, memory, precision).fit()
        for name, settings in named(config)
    )


def trained_parameters(config: TrainConfig, shape: ModelShape) -> int:
    """Return how many parameters are trained: all, or those of the adapters (of all linear layers)."""
    rank, h, m = config.model.lora.rank, shape.hidden, shape.intermediate
    if not rank:
        return shape.parameters
    q, kv = shape.query_width, shape.kv_width
    widths = 2 * (h + q) + 2 * (h + kv) + 3 * (h + m)
    return shape.layers * rank * widths


class _Phase:
    """The reckoning of one phase."""

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
        self.reference = any(phase.kl.coefficient > 0 for _, phase in named(run))
        self.own_sampler = device == "cuda" and settings.rollout.backend != "transformers"
        self.prompt = longest_prompt(settings, shape.context)

    def fit(self) -> PhaseFit:
        """Return the phase's stages."""
        r, loss = self.config.rollout, self.config.loss
        troubles: tuple[str, ...] = ()
        if self.own_sampler:
            context = r.vllm_context or self.shape.context or self.prompt + r.max_tokens
            sampler, troubles = engine_share(
                self.shape, self.memory, r.vllm_memory, 1, context, "rollout.vllm_memory",
                self.prompt + r.max_tokens, self.precision.product,
            )  # fmt: skip
        else:
            sampler = {}
        stages = [self._sampling(sampler)]
        if self.config.kl.coefficient > 0 or loss.mini_batches > 1:
            before = forward_peak(self.shape, self._size(), trained=True)
            stages.append(self._stage("log-probs", sampler, 0, before))
        # now and then the KL term's own gradient is held beside the whole one
        copies = 2 if self.config.kl.coefficient > 0 and self.config.kl.measure_share_every else 1
        held = peak(self.shape, self._size())
        stages.append(self._stage("update", sampler, copies * 4 * self.trained, held))
        sizes = {
            "prompts": r.prompts,
            "samples": r.samples,
            "prompt tokens": self.prompt,
            "response tokens": r.max_tokens,
            "tokens a pass": self._size().tokens,
        }
        return PhaseFit(self.name, sizes, tuple(stages), troubles)

    def _size(self) -> PassSize:
        """Return the largest pass: a full pack, or the longest response with its prompt where that is longer."""
        r, loss = self.config.rollout, self.config.loss
        longest = self.prompt + r.max_tokens
        groups = -(-r.prompts // loss.mini_batches)
        there = groups * (self.prompt + r.samples * r.max_tokens)
        tokens = max(min(loss.pack_tokens, there), longest)
        return PassSize(
            tokens,
            tokens,
            self.precision,
            self.config.model.gradient_checkpointing,
            masked=True,
            chunk_bytes=CPU_CHUNK_BYTES if self.device == "cpu" else 0,
        )

    def _stage(self, name: str, sampler: dict[str, int], gradients: int, held: Held) -> Stage:
        n, rank = self._size().tokens, self.config.model.lora.rank
        activations = held.activations + n * n  # and the pack's mask, a byte a pair of tokens
        if rank:
            activations += self._adapters(n)
        logits = held.logits
        made = held.weights + activations + logits
        return Stage(name, self._resident(sampler, gradients, held.weights, activations, logits, made))

    def _adapters(self, tokens: int) -> int:
        """Return what the adapters keep in a pass: their own copy of each layer's input."""
        s, c = self.shape, self.precision.product
        layers = 1 if self.config.model.gradient_checkpointing else s.layers
        return layers * tokens * c * (5 * s.hidden + s.query_width + s.intermediate)

    def _sampling(self, sampler: dict[str, int]) -> Stage:
        if sampler:
            return Stage("sampling", self._resident(sampler, 0, 0, 0, 0, 0))
        r, s, p = self.config.rollout, self.shape, self.precision
        rows = min(r.batch_rows, r.prompts * r.samples)
        length = self.prompt + r.max_tokens
        # keys come out of their rotation in float32 under autocast, values as the products make them
        token = s.layers * s.kv_width * (p.residual + p.product)
        cache = int(CACHE_ROOM * rows * length * token)
        prompts = -(-rows // r.samples) * self.prompt
        working = prompts * (3 * s.intermediate * p.product + 3 * s.hidden * p.residual)
        packed = 0
        if self.device == "cpu" and p is Precision.FLOAT32:
            packed = min(PACKED_BYTES, 4 * s.parameters)
        logits = 2 * 4 * rows * s.vocab
        found = self._resident({}, 0, 0, working, logits, working + logits)
        return Stage("sampling", {**found, "KV cache": cache, "sampler weights": packed})

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
        return {
            "weights": weights + copies,
            "gradients": gradients,
            "optimiser": 8 * self.trained,
            "reference": reference,
            "sampler weights": sampler.get("sampler weights", 0),
            "KV cache": sampler.get("KV cache", 0),
            "logits": logits,
            "activations": activations,
            "reserve": TORCH_BYTES if self.device == "cpu" else reserve(1, made),
        }
