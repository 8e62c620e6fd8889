"""Refuse settings that the OpenRLHF engine does not support, before anything starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.config.schedule import PHASE_SECTIONS
from prorl_training.engine.local import require_local
from prorl_training.planning.gpus import Device, Layout, device_of, layout_of, samples_per_update
from prorl_training.rollout.staleness import lost_logprobs
from prorl_training.spec import ADVANTAGES, KL_ESTIMATORS, PENALTIES, POLICY_LOSSES, ObjectiveSpec

SHARED = (
    "advantage",
    "checkpoint",
    "controller",
    "data",
    "dynamic_sampling",
    "length_penalty",
    "logging",
    "overlong",
    "safety",
    "stop_properly",
    "validation",
)
"""Sections that the loop handles for both engines."""

UNDERSTOOD = {
    "": "preset steps token_budget seed plugins engine phases stages penalties",
    "model": "path device dtype gradient_checkpointing liger gpu_gb check_fit",
    "rollout": "prompts samples temperature top_p max_tokens backend overlong_prompts max_prompt_tokens vllm_context "
    "request_seeds",
    "reward": "servers workers timeout_seconds backend allow_weak faithful overlap modes",
    "loss": "name options mini_batches aggregation on_policy_ratio",
    "loss.mismatch": "correction level veto low high",
    "kl": "coefficient estimator options clamp clamp_value input_clamp_value",
    "optimizer": "lr schedule warmup_updates decay_updates min_ratio beta1 beta2 eps weight_decay grad_clip",
    "openrlhf": (
        "nodes gpus_per_node colocate vllm_engines vllm_tensor_parallel vllm_memory vllm_sleep vllm_eager zero_stage "
        "adam_offload reference_offload train_tokens_per_gpu rollout_tokens_per_gpu attention ray_address "
        "reward_replicas verify_sync cpu_ranks node_wait_seconds object_store_gib"
    ),
}
"""Section -> settings that this engine supports, besides the ``keys`` of the losses and estimators in use."""

ELSEWHERE = {
    "model.gpus": "openrlhf.gpus_per_node",
    "model.sharding": "openrlhf.zero_stage",
    "loss.pack_tokens": "openrlhf.train_tokens_per_gpu",
    "rollout.batch_rows": "",
    "rollout.batching": "",
    "rollout.vllm_memory": "openrlhf.vllm_memory",
    "rollout.turns": "",
    "rollout.history": "",
    "rollout.new_weights": "",
}
"""Ignored setting of the local engine -> the setting to use instead. These settings do not affect results."""

CURES = {
    "model.lora.rank": "adapters are not supported, all weights are trained: set model.lora.rank=0",
    "rollout.staleness": (
        "OpenRLHF's asynchronous queue is not part of its checkpoints, so sampling and training take turns: set "
        "rollout.staleness=0"
    ),
    "rollout.device": "Ray places the sampler: set openrlhf.vllm_engines instead",
    "rollout.servers": "Ray starts the samplers: set rollout.servers=[] and rollout.backend=auto",
    "rollout.weights_folder": "weights go to the samplers without files: leave rollout.weights_folder empty",
    "warm_start.examples": (
        "supervised steps are not supported: set warm_start.examples=0, or train a warm start with engine=local, prorl "
        "train export it and start from that folder with --model"
    ),
    "loss.old_logprobs": (
        "old log-probs are the sampler's for stale trajectories, else the trainer's: set loss.old_logprobs=by_age"
    ),
    "kl.measure_share_every": "this engine does not measure the KL term's share of the gradient: remove it",
}
"""Refused setting -> the reason and what to do."""

ONLY_WITH = {"model.lora": "model.lora.rank", "warm_start": "warm_start.examples"}
"""Section -> the setting that enables it. If the section is enabled, only this setting is refused."""

LOCAL = "or use engine=local"
FIXED_IN_THE_OPTIMISER = ("beta1", "beta2", "eps", "weight_decay", "grad_clip")
"""Settings that cannot change after DeepSpeed's optimiser is built."""


def check_supported(config: TrainConfig, device: Device | None = None) -> None:
    """Raise UserError listing the unsupported settings of all phases. ``device`` is by default the config's."""
    problems = unsupported(config, device)
    if not problems:
        return
    if len(problems) == 1:
        raise UserError(f"engine openrlhf: {problems[0]}")
    lines = "".join(f"\n  - {line}" for line in problems)
    raise UserError(
        f"engine openrlhf does not support {len(problems)} settings of this run:{lines}"
    )


def unsupported(config: TrainConfig, device: Device | None = None) -> list[str]:
    device = device or device_of(config)
    layout = layout_of(config, device)
    problems = [*_of_the_run(config, device), *_of_the_layout(config, layout, device)]
    preset = load_config(config.preset)
    warm_elsewhere = bool(config.stages) and config.in_phase(0).engine == "local"
    by_phase: dict[str, str] = {}  # the same complaint about several phases is listed once
    for number, settings in enumerate(config.phase_configs):
        if config.stages and settings.engine != "openrlhf":
            continue  # the phase belongs to another engine
        name = f"phase {config.phases[number].name}: " if config.phases else ""
        for path, line in not_understood(settings, preset):
            if warm_elsewhere and path.startswith("warm_start."):
                continue
            ours = path.partition(".")[0] in PHASE_SECTIONS  # other settings apply to the whole run
            by_phase.setdefault(line, f"{name if ours else ''}{line}")
        first = config.in_phase(config.first_of_stage(number))
        for line in _of_a_phase(settings, first, layout):
            by_phase.setdefault(line, f"{name}{line}")
    return [*problems, *by_phase.values()]


def not_understood(config: TrainConfig, preset: TrainConfig) -> Iterator[tuple[str, str]]:
    """Yield (path, message with the cure) for each unsupported setting whose value is not the default.

    A setting that only an unused loss or KL estimate reads may also have the preset's value.
    """
    supported = {f"{section}.{key}" for section, keys in UNDERSTOOD.items() for key in keys.split()}
    supported |= {*UNDERSTOOD[""].split(), *ELSEWHERE}
    changed = {
        path: (value, default)
        for path, value, default in settings_of(config)
        if path not in supported and path.partition(".")[0] not in SHARED and value != default
    }
    if not changed:
        return
    in_use, readers = keys_in_use(config), readers_of_keys()
    in_preset = [
        {path: value for path, value, _ in settings_of(settings)}
        for settings in preset.phase_configs
    ]
    for path, (value, default) in changed.items():
        neutral = path in readers and any(value == settings[path] for settings in in_preset)
        never = path == "kl.measure_share_every" and not value  # 0: never measured
        section = path.rpartition(".")[0]
        off = ONLY_WITH.get(section, path) != path
        if path in in_use or neutral or never or off:
            continue
        if path in CURES:
            why = CURES[path]
        elif path in readers:
            why = f"only {readers[path]} reads it, but the run uses another: remove it"
        else:
            why = f"this engine does not support it: remove it (default: {_shown(default)})"
        yield path, f"{path}={_shown(value)}: {why}, {LOCAL}"


def settings_of(section: BaseModel, before: tuple[str, ...] = ()) -> Iterator[tuple[str, Any, Any]]:
    """Yield (dotted path, value, default) of every setting."""
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from settings_of(value, (*before, name))
        else:
            yield ".".join((*before, name)), value, field.get_default(call_default_factory=True)


def keys_in_use(config: TrainConfig) -> set[str]:
    require_local()
    specs: list[ObjectiveSpec] = [
        POLICY_LOSSES.get(config.loss.name),
        KL_ESTIMATORS.get(config.kl.estimator),
        ADVANTAGES.get(config.advantage.estimator),
        *(PENALTIES.get(name) for name in (config.length_penalty.form, *config.penalties)),
    ]
    return {key for spec in specs for key in spec.keys}


def readers_of_keys() -> dict[str, str]:
    """Return a mapping from config key to the policy losses or KL estimates that read it."""
    readers: dict[str, str] = {}
    specs: list[tuple[str, ObjectiveSpec]] = [("policy loss", s) for s in POLICY_LOSSES.all()]
    specs += [("KL estimate", s) for s in KL_ESTIMATORS.all()]
    for kind, spec in specs:
        for key in spec.keys:
            before = readers.get(key)
            readers[key] = f"{before} or {spec.name}" if before else f"the {kind} {spec.name}"
    return readers


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_the_run(config: TrainConfig, device: Device) -> Iterator[str]:
    model = config.model
    if model.dtype == "fp32" and device == "cuda":
        yield "model.dtype=fp32: weights are bf16 with float32 master copies: set model.dtype=auto"
    if model.liger and device == "cpu":
        yield "model.liger=true: Liger's kernel needs a CUDA GPU: set model.liger=false"
    if model.device.startswith("cuda:"):
        yield (
            f"model.device={model.device}: Ray assigns the GPUs: set model.device=cuda, and "
            "CUDA_VISIBLE_DEVICES to those it may use"
        )
    if config.rollout.backend == "transformers":
        yield "rollout.backend=transformers: vLLM samples here: set rollout.backend=auto"
    attention = config.openrlhf.attention
    if device == "cuda" and "flash_attention" not in attention:
        yield (
            f"openrlhf.attention={attention}: name a flash_attention implementation; SDPA is used if "
            "flash-attn is not installed: set openrlhf.attention=flash_attention_2"
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
    machines = f"{o.nodes} x {o.gpus_per_node} GPUs"
    if o.vllm_tensor_parallel > o.gpus_per_node:
        yield (
            f"openrlhf.vllm_tensor_parallel={o.vllm_tensor_parallel}: an engine stays within one machine, "
            f"which has openrlhf.gpus_per_node={o.gpus_per_node}: lower it"
        )
    elif o.colocate and taken != gpus:
        yield (
            f"openrlhf.vllm_engines={o.vllm_engines}: colocated engines fill the GPUs exactly, and {layout.engines} "
            f"of {layout.tensor_parallel} do not fill {machines}: set openrlhf.vllm_engines=0 and a "
            "vllm_tensor_parallel that divides them, or openrlhf.colocate=false"
        )
    elif not o.colocate and taken >= gpus:
        yield (
            f"openrlhf.colocate=false: vLLM's {taken} of {machines} leave none for the policy: set "
            "openrlhf.colocate=true or fewer openrlhf.vllm_engines"
        )
    elif not o.colocate and (gpus - taken) % o.nodes:
        yield (
            f"openrlhf.vllm_engines={layout.engines}: the {gpus - taken} GPUs they leave do not divide "
            f"among {o.nodes} nodes: choose another openrlhf.vllm_engines"
        )


def _of_a_phase(config: TrainConfig, first: TrainConfig, layout: Layout) -> Iterator[str]:
    rollout = config.rollout
    if (lost := lost_logprobs(config)) is not None:
        yield lost
    if config.controller.reset_to == "best" and config.openrlhf.zero_stage == 3:
        yield (
            "controller.reset_to=best with openrlhf.zero_stage=3: DeepSpeed cannot load weights into an optimiser of "
            "stage 3 that has trained: set openrlhf.zero_stage=2, or controller.reset_to=best_reference or current"
        )
    if 0 < rollout.vllm_context <= rollout.max_tokens:
        yield (
            f"rollout.vllm_context={rollout.vllm_context}: leaves no room for a prompt beside "
            f"rollout.max_tokens={rollout.max_tokens}: raise it, or set it to 0"
        )
    prompts, count, ranks = rollout.prompts, config.loss.mini_batches, layout.policy_ranks
    if prompts % count:
        yield (
            f"rollout.prompts={prompts}: OpenRLHF's updates are of one size, and {prompts} prompts do not "
            f"divide into loss.mini_batches={count}: choose a multiple"
        )
    elif ranks and (size := samples_per_update(config)) % ranks:
        yield (
            f"rollout.samples={rollout.samples}: {size} responses an update do not divide among the "
            f"policy's {ranks} ranks: choose rollout.prompts, rollout.samples, loss.mini_batches or the ranks so "
            "that they do"
        )
    for key in FIXED_IN_THE_OPTIMISER:
        before, after = getattr(first.optimizer, key), getattr(config.optimizer, key)
        if before != after:
            yield (
                f"optimizer.{key} {before} -> {after}: DeepSpeed's optimiser keeps what it was "
                "built with; only the learning rate may change in a phase: remove the setting"
            )
