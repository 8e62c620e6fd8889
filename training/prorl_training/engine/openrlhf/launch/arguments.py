"""Translate a config to the arguments of OpenRLHF 0.11.2 (docs/reference/openrlhf.md)."""

from __future__ import annotations

import importlib.util
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.launch.understood import check_supported
from prorl_training.engine.openrlhf.versions import installed_version
from prorl_training.planning.gpus import Device, device_of, layout_of, samples_per_update

PROMPT_ROOM = 2048
"""Prompt tokens assumed if neither the config nor the model's context gives a limit."""


@dataclass(frozen=True, slots=True)
class Places:
    """The paths, reward addresses and device of a run.

    ``reward`` holds server addresses or the path of a Python file. ``context`` is the model's maximum sequence length
    (0: unknown).
    """

    model: str
    prompts: str
    checkpoints: str
    output: str
    reward: tuple[str, ...]
    device: Device
    context: int = 0


def argument_list(config: TrainConfig, places: Places, phase: int = 0) -> list[str]:
    """Return the arguments of ``openrlhf.cli.train_ppo_ray`` for the stage that contains ``phase``."""
    first, o = config.in_phase(config.first_of_stage(phase)), config.openrlhf
    r, adam = first.rollout, first.optimizer
    layout, on_gpu = layout_of(config, places.device), places.device == "cuda"
    flash = on_gpu and installed_version("flash-attn") is not None
    return [
        # model and data
        *_flag("actor.model_name_or_path", places.model),
        *_flag("data.prompt_dataset", places.prompts),
        *_flag("data.input_key", "prompt"),
        *_flag("data.label_key", "label"),
        *_switches([("data.apply_chat_template", True)]),
        *_flag("data.max_len", sequence_limit(config, places.context)),
        *_flag("train.seed", config.seed),
        # machines
        *_flag("actor.num_nodes", layout.nodes),
        *_flag("actor.num_gpus_per_node", layout.gpus_per_node),
        *_flag("ref.num_nodes", layout.nodes),
        *_flag("ref.num_gpus_per_node", layout.gpus_per_node),
        "--train.colocate_all" if layout.colocated else "--train.colocate_actor_ref",
        *_flag("vllm.num_engines", layout.engines),
        *_flag("vllm.tensor_parallel_size", layout.tensor_parallel),
        *_flag("vllm.gpu_memory_utilization", o.vllm_memory if on_gpu else 0.1),
        *_flag("vllm.sync_backend", "nccl" if on_gpu else "gloo"),
        *_switches(
            [
                ("vllm.enable_sleep", on_gpu and layout.colocated and o.vllm_sleep),
                ("vllm.enforce_eager", o.vllm_eager or not on_gpu),
            ]
        ),
        # memory
        *_flag("ds.zero_stage", o.zero_stage),
        *_flag("ds.param_dtype", "bf16"),
        *_flag("ds.grad_accum_dtype", "fp32"),
        *_flag("ds.attn_implementation", o.attention if flash else "sdpa"),
        *_switches(
            [
                ("ds.packing_samples", True),
                ("ds.adam_offload", o.adam_offload),
                ("ref.offload", o.reference_offload),
                ("actor.gradient_checkpointing_enable", config.model.gradient_checkpointing),
                ("train.dynamic_batch_enable", True),
            ]
        ),
        *_flag("train.max_tokens_per_gpu", o.train_tokens_per_gpu),
        *_flag("rollout.max_tokens_per_gpu", o.rollout_tokens_per_gpu),
        # sampling
        *_flag("rollout.batch_size", r.prompts),
        *_flag("rollout.n_samples_per_prompt", r.samples),
        *_flag("rollout.max_new_tokens", r.max_tokens),
        *_flag("rollout.temperature", r.temperature),
        *_flag("rollout.top_p", r.top_p),
        # processes: a reward address instead of a model, no critic, a reference if needed
        *_flag("reward.remote_url", ",".join(places.reward)),
        *_flag("train.batch_size", samples_per_update(first)),
        *_flag("algo.advantage.estimator", "reinforce_baseline"),  # any estimator without a critic
        "--algo.kl.use_loss",  # OpenRLHF puts no KL into rewards
        *_flag("algo.kl.init_coef", first.kl.coefficient or reference_coefficient(config)),
        # the optimiser; the loop sets the learning rate of each update
        *_flag("actor.adam.lr", adam.lr),
        *_flag("actor.adam.betas", adam.beta1, adam.beta2),
        *_flag("actor.adam.eps", adam.eps),
        *_flag("actor.adam.weight_decay", adam.weight_decay),
        *_flag("actor.max_norm", adam.grad_clip),
        *_flag("actor.lr_scheduler", "constant"),
        *_flag("actor.lr_warmup_ratio", 0),
        # disable OpenRLHF's own evaluation and checkpoints
        *_flag("eval.steps", -1),
        *_flag("eval.temperature", config.validation.temperature),
        *_flag("eval.n_samples_per_prompt", config.validation.samples),
        *_flag("ckpt.path", places.checkpoints),
        *_flag("ckpt.output_dir", places.output),
        *_flag("ckpt.save_steps", -1),
        *_flag("ckpt.max_num", config.checkpoint.keep),
        *_flag("ckpt.best_metric_key", "none"),
    ]


def reward_places(config: TrainConfig) -> tuple[str, ...]:
    """Return the reward servers' addresses or, without servers, the path of prorl's reward function for OpenRLHF."""
    if config.reward.servers:
        return tuple(f"{server.rstrip('/')}/openrlhf" for server in config.reward.servers)
    spec = importlib.util.find_spec("prorl_verifiers.adapters.openrlhf")
    assert spec is not None and spec.origin is not None
    return (spec.origin,)


def sequence_limit(config: TrainConfig, context: int = 0) -> int:
    """Return the maximum length in tokens of prompt and response together, over all phases.

    This is ``rollout.vllm_context`` if set, else the longest that the phases allow, at most ``context`` (0: unknown).
    """
    if config.rollout.vllm_context:
        return config.rollout.vllm_context
    longest = 0
    for settings in config.phase_configs:
        r = settings.rollout
        room = r.max_prompt_tokens or (max(context - r.max_tokens, 0) or PROMPT_ROOM)
        longest = max(longest, r.max_tokens + room)
    return min(longest, context) if context else longest


def reference_coefficient(config: TrainConfig) -> float:
    """Return the first positive KL coefficient of any phase, else 0, so that no reference is loaded."""
    coefficients = [settings.kl.coefficient for settings in config.phase_configs]
    return next((value for value in coefficients if value > 0), 0.0)


def _flag(name: str, *values: float | str) -> list[str]:
    """Return a flag and its values. A single negative number is joined to the flag by "=", as argparse requires."""
    words = [value if isinstance(value, str) else repr(value) for value in values]
    if len(words) == 1 and words[0].startswith("-"):
        return [f"--{name}={words[0]}"]
    return [f"--{name}", *words]


def _switches(pairs: Iterable[tuple[str, bool]]) -> list[str]:
    return [f"--{name}" for name, on in pairs if on]


COMMAND = ("python", "-m", "openrlhf.cli.train_ppo_ray")


def dry_run(config: TrainConfig, name: str = "RUN") -> str:
    """Return OpenRLHF's command, quoted for a shell. Raises UserError for an unsupported config."""
    if config.engine != "openrlhf":
        raise UserError(
            f"--dry-run prints OpenRLHF's command, but this run's engine is {config.engine}: use --engine openrlhf"
        )
    check_supported(config)
    return command_text(argument_list(config, dry_run_places(config, name)))


def command_text(arguments: Sequence[str]) -> str:
    lines = [" ".join(COMMAND)]
    for word in arguments:
        quoted = shlex.quote(word)
        if word.startswith("--"):
            lines.append(f"    {quoted}")
        else:
            lines[-1] += f" {quoted}"
    return " \\\n".join(lines)


def dry_run_places(config: TrainConfig, name: str) -> Places:
    folder = Path("runs") / name
    return Places(
        model=config.model.path,
        prompts=str(folder / "openrlhf" / "prompts.jsonl"),
        checkpoints=str(folder / "openrlhf" / "checkpoints"),
        output=str(folder / "openrlhf" / "final"),
        reward=reward_places(config),
        device=device_of(config),
        context=local_context(config.model.path),
    )


def local_context(model: str) -> int:
    """Return the maximum sequence length in a model folder's config, or 0 if it is unknown."""
    path = Path(model).expanduser() / "config.json"
    if not path.is_file():
        return 0
    try:
        context = json.loads(path.read_text("utf-8")).get("max_position_embeddings", 0)
    except (ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a model's config: {error}") from error
    return context if isinstance(context, int) else 0


def unsaid(config: TrainConfig) -> list[str]:
    """Return notes on what OpenRLHF's command does not show about a run."""
    notes = [
        f"steps={config.steps}: OpenRLHF counts episodes over its prompts; the loop of prorl counts steps",
        "validation, checkpoints, metrics: written by the loop of prorl, so OpenRLHF's own are off",
        "dynamic_sampling, overlong, stop_properly, penalties, advantage: done by the loop of prorl",
        "loss, kl: computed by prorl's own functions inside OpenRLHF's actor",
    ]
    if config.model.device == "auto":
        notes.append("model.device=auto: shown for GPUs; --device cpu shows a run without them")
    unlimited = not config.rollout.vllm_context and not config.rollout.max_prompt_tokens
    if unlimited and not local_context(config.model.path):
        notes.append(
            f"--data.max_len {sequence_limit(config)}: the model's context is unknown here; the "
            "run uses all of it"
        )
    if config.phases:
        names = ", ".join(phase.name for phase in config.phases)
        notes.append(f"phases: the command shows {config.phases[0].name} of {names}")
    for c in config.phase_configs:
        rules = c.controller
        conditions = {
            "controller: OpenRLHF has no reference reset": rules.reset_interval
            or rules.kl_threshold
            or rules.kl_zscore
            or rules.stall_validations,
            "length_penalty: OpenRLHF has no cosine length reward and no schedule for one": (
                c.length_penalty.weight and c.length_penalty.steps_on
            ),
            "data.domain_weights: OpenRLHF draws its prompts as the file has them": (
                c.data.domain_weights
            ),
            "optimizer.schedule, warmup_updates: the loop of prorl sets the learning rate of each update": (
                c.optimizer.schedule != "constant" or c.optimizer.warmup_updates
            ),
        }
        notes += [line for line, applies in conditions.items() if applies and line not in notes]
    return notes
