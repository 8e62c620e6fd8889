"""``prorl train --engine openrlhf --dry-run``: OpenRLHF's command, and what it leaves unsaid.

Needs neither the stack nor a model, a dataset or a run: what is not known yet stands as a placeholder.
Leaves out: starting anything.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.launch.arguments import (
    Places,
    argument_list,
    reward_places,
    sequence_limit,
)
from prorl_training.engine.openrlhf.launch.layout import device_of
from prorl_training.engine.openrlhf.launch.understood import check_supported

COMMAND = ("python", "-m", "openrlhf.cli.train_ppo_ray")


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
    """Return the places of a run that has not begun: model and rewards as named, files where they will be."""
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
    if config.model.device == "auto":
        found.append("model.device=auto: shown for GPUs; --device cpu shows a run without them")
    unlimited = not config.rollout.vllm_context and not config.rollout.max_prompt_tokens
    if unlimited and not local_context(config.model.path):
        found.append(
            f"--data.max_len {sequence_limit(config)}: the model's context is not known here; the run takes "
            "all of it"
        )
    if config.phases:
        names = ", ".join(phase.name for phase in config.phases)
        found.append(f"phases: the command shows {config.phases[0].name} of {names}")
    for number in range(max(len(config.phases), 1)):
        c = config.in_phase(number)
        rules = c.controller
        said = {
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
        found += [line for line, there in said.items() if there and line not in found]
    return found
