"""What the OpenRLHF engine cannot do, said before anything is started: every setting at once, with the cure.

Read from OpenRLHF 0.11.2 (models/loss.py, trainer/ray/ppo_actor.py, cli/train_ppo_ray.py) and DeepSpeed's
checks of batch sizes. Leaves out: what is possible but not said by a flag (``dry_run.unsaid``), and what is
missing on this machine (``prorl doctor --engine openrlhf``).
"""

from __future__ import annotations

from collections.abc import Iterator

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.arguments import AGGREGATIONS, samples_per_update
from prorl_training.engine.openrlhf.layout import Device, Layout, device_of, layout_of
from prorl_training.rollout.sampler_logprobs import lost_logprobs

LOCAL = "or take engine=local"


def check_supported(config: TrainConfig, device: Device | None = None) -> None:
    """Raise UserError listing every setting, in any phase, that this engine cannot do, a line each.

    ``device``: what ``model.device`` came to; None takes it from the config, with ``auto`` for GPUs.
    """
    found = unsupported(config, device)
    if not found:
        return
    if len(found) == 1:
        raise UserError(f"engine openrlhf: {found[0]}")
    lines = "".join(f"\n  - {line}" for line in found)
    raise UserError(f"engine openrlhf cannot do {len(found)} of these settings:{lines}")


def unsupported(config: TrainConfig, device: Device | None = None) -> list[str]:
    """Return what :func:`check_supported` complains of: the setting, why, and the cure."""
    device = device or device_of(config)
    layout = layout_of(config, device)
    found = [*_of_the_run(config, device), *_of_the_layout(config, layout, device)]
    whole: dict[str, str] = {}  # the same complaint of several phases is made once
    for number in range(max(len(config.phases), 1)):
        settings = config.in_phase(number)
        name = f"phase {config.phases[number].name}: " if config.phases else ""
        complaints = [*_of_a_phase(settings), *_of_the_batch(settings, layout)]
        if number:
            complaints += _of_the_optimiser(config.in_phase(0), settings)
        for line in complaints:
            whole.setdefault(line, f"{name}{line}")
    return [*found, *whole.values()]


def _of_the_run(config: TrainConfig, device: Device) -> Iterator[str]:
    model = config.model
    if model.lora.rank:
        yield (
            f"model.lora.rank={model.lora.rank}: all weights are trained and sent to vLLM, adapters are not: "
            f"set model.lora.rank=0, {LOCAL}"
        )
    if config.warm_start.examples:
        yield (
            f"warm_start.examples={config.warm_start.examples}: there are no supervised steps: set "
            "warm_start.examples=0, or train a warm start with engine=local, prorl train export it and "
            "start from that folder with --model"
        )
    if model.dtype == "fp32" and device == "cuda":
        yield "model.dtype=fp32: weights are bf16 with float32 master copies: set model.dtype=auto"
    if model.device.startswith("cuda:"):
        yield (
            f"model.device={model.device}: Ray hands out the GPUs: set model.device=cuda, and "
            "CUDA_VISIBLE_DEVICES for those it may take"
        )
    if config.rollout.backend == "transformers":
        yield "rollout.backend=transformers: vLLM samples here: set rollout.backend=auto"
    attention = config.openrlhf.attention
    if device == "cuda" and "flash_attention" not in attention:
        yield (
            f"openrlhf.attention={attention}: sequences are packed, for which OpenRLHF takes only "
            "flash_attention implementations: set openrlhf.attention=flash_attention_2"
        )


def _of_the_layout(config: TrainConfig, layout: Layout, device: Device) -> Iterator[str]:
    o = config.openrlhf
    if o.reference_offload and o.zero_stage < 3:
        yield (
            f"openrlhf.reference_offload with openrlhf.zero_stage={o.zero_stage}: DeepSpeed offloads a model that is "
            "not trained in stage 3 only: set openrlhf.reference_offload=false or openrlhf.zero_stage=3"
        )
    if device == "cpu":
        return
    if o.verify_sync and layout.tensor_parallel > 1:
        yield (
            f"openrlhf.verify_sync with openrlhf.vllm_tensor_parallel={layout.tensor_parallel}: each of vLLM's "
            "processes holds a part of the weights: set openrlhf.verify_sync=false"
        )
    gpus, taken = o.nodes * o.gpus_per_node, layout.engines * layout.tensor_parallel
    shown = f"{o.nodes} x {o.gpus_per_node} GPUs"
    if o.vllm_tensor_parallel > o.gpus_per_node:
        yield (
            f"openrlhf.vllm_tensor_parallel={o.vllm_tensor_parallel}: an engine stays within one machine, "
            f"which has openrlhf.gpus_per_node={o.gpus_per_node}: lower it"
        )
    elif o.colocate and taken != gpus:
        yield (
            f"openrlhf.vllm_engines={o.vllm_engines}: colocated engines fill the GPUs exactly, and {layout.engines} "
            f"of {layout.tensor_parallel} do not fill {shown}: set openrlhf.vllm_engines=0 and a "
            "vllm_tensor_parallel that divides them, or openrlhf.colocate=false"
        )
    elif not o.colocate and taken >= gpus:
        yield (
            f"openrlhf.colocate=false: vLLM's {taken} of {shown} leave none for the policy: set "
            "openrlhf.colocate=true or fewer openrlhf.vllm_engines"
        )
    elif not o.colocate and (gpus - taken) % o.nodes:
        yield (
            f"openrlhf.vllm_engines={layout.engines}: the {gpus - taken} GPUs they leave do not divide "
            f"among {o.nodes} nodes: choose another openrlhf.vllm_engines"
        )


def _of_a_phase(config: TrainConfig) -> Iterator[str]:
    loss, rollout = config.loss, config.rollout
    if loss.aggregation not in AGGREGATIONS:
        yield (
            f"loss.aggregation={loss.aggregation}: OpenRLHF averages over tokens or over sequences: set "
            f"loss.aggregation=token_mean, {LOCAL}"
        )
    if loss.aggregation == "sequence_mean" and config.kl.coefficient > 0:
        yield (
            "loss.aggregation=sequence_mean: OpenRLHF averages the KL term over tokens all the same: set "
            f"loss.aggregation=token_mean or kl.coefficient=0, {LOCAL}"
        )
    if loss.on_policy_ratio and loss.mini_batches > 1:
        yield (
            f"loss.on_policy_ratio with loss.mini_batches={loss.mini_batches}: OpenRLHF always takes the "
            f"ratio to the policy before the step: set loss.mini_batches=1, {LOCAL}"
        )
    if (lost := lost_logprobs(config)) is not None:
        yield lost
    if config.controller.reset_to == "best" and config.openrlhf.zero_stage == 3:
        yield (
            "controller.reset_to=best with openrlhf.zero_stage=3: DeepSpeed cannot load weights into an optimiser of "
            "stage 3 that has trained: set openrlhf.zero_stage=2 or controller.reset_to=current"
        )
    if 0 < rollout.vllm_context <= rollout.max_tokens:
        yield (
            f"rollout.vllm_context={rollout.vllm_context}: leaves no room for a prompt beside "
            f"rollout.max_tokens={rollout.max_tokens}: raise it, or set it to 0"
        )


def _of_the_batch(config: TrainConfig, layout: Layout) -> Iterator[str]:
    prompts, count = config.rollout.prompts, config.loss.mini_batches
    if prompts % count:
        yield (
            f"rollout.prompts={prompts}: OpenRLHF's updates are of one size, and {prompts} prompts do not "
            f"divide into loss.mini_batches={count}: choose a multiple"
        )
        return
    size, ranks = samples_per_update(config), layout.policy_ranks
    if ranks and size % ranks:
        yield (
            f"rollout.samples={config.rollout.samples}: {size} responses an update do not divide among the "
            f"policy's {ranks} GPUs: choose rollout.prompts, rollout.samples, loss.mini_batches or the GPUs so "
            "that they do"
        )


FIXED_IN_THE_OPTIMISER = ("beta1", "beta2", "eps", "weight_decay", "grad_clip")
"""Settings that DeepSpeed's optimiser is built with; the learning rate alone is ours to move."""


def _of_the_optimiser(first: TrainConfig, phase: TrainConfig) -> Iterator[str]:
    for key in FIXED_IN_THE_OPTIMISER:
        before, after = getattr(first.optimizer, key), getattr(phase.optimizer, key)
        if before != after:
            yield (
                f"optimizer.{key} {before} -> {after}: DeepSpeed's optimiser keeps what it was built with; "
                "only the learning rate may change in a phase: take the setting out"
            )
