"""From a config to the argument list of OpenRLHF 0.11.2 (cli/train_ppo_ray.py).

The list says what OpenRLHF itself does in a run: models, machines, memory, sizes, optimiser; of a run with phases,
what holds in the first one of the stage. Rewards, filtering, advantages, loss, KL and the schedule are prorl's (``dry_run.unsaid``), so
no flag speaks of them. docs/reference/openrlhf.md has the table. Imports nothing of the stack.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass

from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.launch.layout import Device, layout_of

PROMPT_ROOM = 2048
"""Tokens left for the prompt where neither the config nor the model's context is known."""


@dataclass(frozen=True, slots=True)
class Places:
    """What a run's list needs beside the config: paths, reward addresses, the device.

    ``reward`` holds addresses of services or the path of a Python file. ``context`` is the longest sequence
    of the model in tokens, 0: not known.
    """

    model: str
    prompts: str
    checkpoints: str
    output: str
    reward: tuple[str, ...]
    device: Device
    context: int = 0


def argument_list(config: TrainConfig, places: Places, phase: int = 0) -> list[str]:
    """Return the arguments of ``openrlhf.cli.train_ppo_ray``, in a fixed order, for the stage of ``phase``."""
    first, o = config.in_phase(config.first_of_stage(phase)), config.openrlhf
    r, adam = first.rollout, first.optimizer
    layout, on_gpu = layout_of(config, places.device), places.device == "cuda"
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
        *_flag("ds.attn_implementation", o.attention if on_gpu else "sdpa"),
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
        # which processes there are: a reward's address instead of a model, no critic, a reference or none
        *_flag("reward.remote_url", ",".join(places.reward)),
        *_flag("train.batch_size", samples_per_update(first)),
        *_flag("algo.advantage.estimator", "reinforce_baseline"),  # one of those without a critic
        "--algo.kl.use_loss",  # OpenRLHF puts no KL into rewards
        *_flag("algo.kl.init_coef", first.kl.coefficient or reference_coefficient(config)),
        # the optimiser; the learning rate of each update is set by the loop
        *_flag("actor.adam.lr", adam.lr),
        *_flag("actor.adam.betas", adam.beta1, adam.beta2),
        *_flag("actor.adam.eps", adam.eps),
        *_flag("actor.adam.weight_decay", adam.weight_decay),
        *_flag("actor.max_norm", adam.grad_clip),
        *_flag("actor.lr_scheduler", "constant"),
        *_flag("actor.lr_warmup_ratio", 0),
        # OpenRLHF's own evaluation and checkpoints are off
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
    """Return what the command names as its reward: the services' addresses, else the Python file of the adapter.

    A run of prorl asks its own replicas; the command alone would use these.
    """
    urls = [url.rstrip("/") for url in config.openrlhf.reward_urls]
    if urls:
        return tuple(url if url.endswith("/openrlhf") else f"{url}/openrlhf" for url in urls)
    spec = importlib.util.find_spec("prorl_verifiers.adapters.openrlhf")
    assert spec is not None and spec.origin is not None
    return (spec.origin,)


def sequence_limit(config: TrainConfig, context: int = 0) -> int:
    """Return the longest sequence in tokens, prompt and response, over all phases.

    ``rollout.vllm_context`` where it is set; else the longest prompt and response that the phases allow,
    at most ``context``; a phase without a prompt limit allows all of ``context``, or ``PROMPT_ROOM`` tokens
    of prompt where that is 0 (not known).
    """
    if config.rollout.vllm_context:
        return config.rollout.vllm_context
    longest = 0
    for number in range(max(len(config.phases), 1)):
        r = config.in_phase(number).rollout
        room = r.max_prompt_tokens or (max(context - r.max_tokens, 0) or PROMPT_ROOM)
        longest = max(longest, r.max_tokens + room)
    return min(longest, context) if context else longest


def samples_per_update(config: TrainConfig) -> int:
    """Return the responses in one gradient update of this phase's config, rounded down."""
    return config.rollout.prompts // config.loss.mini_batches * config.rollout.samples


def reference_coefficient(config: TrainConfig) -> float:
    """Return the KL coefficient of the first phase that has one, 0 when none has.

    OpenRLHF loads a reference only where this is above 0.
    """
    phases = (config.in_phase(n) for n in range(max(len(config.phases), 1)))
    return next((c.kl.coefficient for c in phases if c.kl.coefficient > 0), 0.0)


def _flag(name: str, *values: float | str) -> list[str]:
    """Return a flag and its values; a lone negative number is joined to it, as argparse wants it."""
    words = [value if isinstance(value, str) else repr(value) for value in values]
    if len(words) == 1 and words[0].startswith("-"):
        return [f"--{name}={words[0]}"]
    return [f"--{name}", *words]


def _switches(pairs: Iterable[tuple[str, bool]]) -> list[str]:
    return [f"--{name}" for name, on in pairs if on]
