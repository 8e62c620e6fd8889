"""``prorl train --engine openrlhf --dry-run``: OpenRLHF's command, and what it leaves unsaid.

Needs neither the stack nor a model, a dataset or a run: what is not known yet stands as a placeholder.
Leaves out: starting anything.
"""

from __future__ import annotations

import importlib.util
import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.launch.arguments import (
    Places,
    argument_list,
    reward_endpoint,
    sequence_limit,
)
from prorl_training.engine.openrlhf.launch.layout import device_of
from prorl_training.engine.openrlhf.launch.understood import check_supported

COMMAND = ("python", "-m", "openrlhf.cli.train_ppo_ray")
FIRST_PORT = 8421
"""Port shown for the first of the run's own reward services."""


def dry_run(config: TrainConfig, name: str = "RUN") -> str:
    """Return OpenRLHF's command for a run called ``name``, one flag a line, quoted for a shell.

    Raises UserError for a config of another engine, and like ``check_supported``.
    """
    if config.engine != "openrlhf":
        raise UserError(
            f"--dry-run prints OpenRLHF's command, and this is engine {config.engine}: say --engine openrlhf"
        )
    check_supported(config)
    return command_text(argument_list(config, shown_places(config, name)))


def command_text(arguments: Sequence[str]) -> str:
    """Return the command with these arguments, one flag with its values a line."""
    lines = [" ".join(COMMAND)]
    for word in arguments:
        quoted = shlex.quote(word)
        if word.startswith("--"):
            lines.append(f"    {quoted}")
        else:
            lines[-1] += f" {quoted}"
    return " \\\n".join(lines)


def shown_places(config: TrainConfig, name: str) -> Places:
    """Return the places of a run that has not begun: model and services as named, files where they will be."""
    folder = Path("runs") / name
    return Places(
        model=config.model.path,
        prompts=str(folder / "openrlhf" / "prompts.jsonl"),
        checkpoints=str(folder / "openrlhf" / "checkpoints"),
        output=str(folder / "openrlhf" / "final"),
        reward=_shown_reward(config),
        device=device_of(config),
        context=local_context(config.model.path),
    )


def _shown_reward(config: TrainConfig) -> tuple[str, ...]:
    o = config.openrlhf
    if o.reward == "function":
        return (reward_file(),)
    ports = range(FIRST_PORT, FIRST_PORT + o.reward_replicas)
    urls = o.reward_urls or tuple(f"http://127.0.0.1:{port}" for port in ports)
    return tuple(reward_endpoint(url) for url in urls)


def reward_file() -> str:
    """Return the path of the Python file with ``reward_func``, for ``openrlhf.reward=function``."""
    spec = importlib.util.find_spec("prorl_verifiers.adapters.openrlhf")
    assert spec is not None and spec.origin is not None
    return spec.origin


def local_context(model: str) -> int:
    """Return the longest sequence of the model in the folder ``model``, 0 where that is not known."""
    path = Path(model).expanduser() / "config.json"
    if not path.is_file():
        return 0
    try:
        found = json.loads(path.read_text("utf-8")).get("max_position_embeddings", 0)
    except (ValueError, AttributeError) as error:
        raise UserError(f"{path} is not the config of a model: {error}") from error
    return found if isinstance(found, int) else 0


def unsaid(config: TrainConfig) -> list[str]:
    """Return what the config asks for and the command does not say, a line each.

    ``prorl train`` does these itself; a run of the bare command would lack them.
    """
    found = [
        f"steps={config.steps}: OpenRLHF counts episodes over its prompts; the loop of prorl counts steps",
        "validation, checkpoints, metrics: written by the loop of prorl, so OpenRLHF's own are off",
        "dynamic_sampling, overlong, stop_properly, penalties, advantage: done by the loop of prorl",
        "loss, kl: computed by prorl's own functions inside OpenRLHF's actor",
    ]
    found += _unsaid_of_the_run(config)
    phases = [config.in_phase(number) for number in range(max(len(config.phases), 1))]
    lines = dict.fromkeys(line for phase in phases for line in _unsaid_of_a_phase(phase))
    return [*found, *lines]


def _unsaid_of_the_run(config: TrainConfig) -> Iterator[str]:
    if config.model.device == "auto":
        yield "model.device=auto: shown for GPUs; --device cpu shows a run without them"
    context = local_context(config.model.path)
    unlimited = not config.rollout.vllm_context and not config.rollout.max_prompt_tokens
    if unlimited and not context:
        yield (
            f"--data.max_len {sequence_limit(config)}: the model's context is not known here; the run takes "
            "all of it"
        )
    if config.phases:
        names = ", ".join(phase.name for phase in config.phases)
        yield f"phases: the command shows {config.phases[0].name} of {names}"


def _unsaid_of_a_phase(config: TrainConfig) -> Iterator[str]:
    control, penalty, lr = config.controller, config.length_penalty, config.optimizer
    if (
        control.reset_interval
        or control.kl_threshold
        or control.kl_zscore
        or control.stall_validations
    ):
        yield "controller: OpenRLHF has no reference reset"
    if penalty.weight and penalty.steps_on:
        yield "length_penalty: OpenRLHF has no cosine length reward and no schedule for one"
    if config.data.domain_weights:
        yield "data.domain_weights: OpenRLHF draws its prompts as the file has them"
    if lr.schedule != "constant" or lr.warmup_updates:
        yield "optimizer.schedule, warmup_updates: the loop of prorl sets the learning rate of each update"
