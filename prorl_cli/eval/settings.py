"""What the verbs that sample share: options, which models, and the settings of the sampling.

Leaves out: a server's own options (``eval_server_options``), and what is chosen (``choose``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.eval import server as options
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.config import EvalConfig
    from prorl_evaluation.sampling.choose import Run, Target
    from prorl_evaluation.sampling.protocols import Protocol
    from prorl_evaluation.sampling.session import Server

INTERRUPTED = 130

Model = Annotated[str | None, typer.Option(help="A model's name, path or hub id, without a run.")]
RunName = Annotated[str | None, typer.Option("--run", help="A run (default: the newest).")]
Checkpoint = Annotated[
    list[str] | None,
    typer.Option(help="base, latest or a step; repeatable (default: base and latest)."),
]
Backend = Annotated[
    str,
    typer.Option(help="transformers, vllm, server or a plug-in's; auto takes vllm on a GPU."),
]
Batches = Annotated[
    str | None,
    typer.Option(help="Of transformers: fixed (repeatable bit for bit) or bucketed by length."),
]
Seed = Annotated[int, typer.Option(help="Seed of samples and intervals.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:1.")]
Repair = Annotated[
    bool, typer.Option("--repair", help="Move damaged journal lines to a .damaged file first.")
]


ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="YAML file of settings; options win over it.")
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SECTION.KEY=VALUE", help="Set one key; repeatable, wins over all."
    ),
]


def option_keys() -> dict[str, str]:
    """Return option -> the key that it writes; options of display (--json, --html) stand in no config."""
    from prorl_evaluation.config import EvalConfig

    other = {"model.path": "model", "model.checkpoints": "checkpoint", "suite.name": "suite"}
    keys = {}
    for section, values in EvalConfig():
        for name in type(values).model_fields if section != "plugins" else ():
            key = f"{section}.{name}"
            option = "server" if key == "server.url" else name
            option = f"server_{name}" if section == "server" and name != "url" else option
            keys[other.get(key, option)] = key
    return keys


def config_of(context: typer.Context, file: Path | None, overrides: Sequence[str]) -> EvalConfig:
    """Return the settings of the file, of the options that the command line gave, and of ``--set``."""
    from prorl_evaluation.config import load_eval_config

    keys = option_keys()
    given = {
        keys[name]: value
        for name, value in context.params.items()
        if name in keys and getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return load_eval_config(file, given, overrides)


def models_of(
    config: EvalConfig, progress: Progress
) -> tuple[list[Target], Run | None, Server | None]:
    """Return what is evaluated, its run, and the server that samples it, if one was named."""
    asked = config.model
    if config.server.url is None:
        options.check_unused(config.server)
        targets, run = _targets(asked.path, asked.run, asked.checkpoints)
        return targets, run, None
    if asked.path is not None:
        raise UserError("a server has its own model: name it with --server-model, not --model")
    targets, run = [], None
    if asked.run is not None or asked.checkpoints:
        targets, run = _targets(None, asked.run, asked.checkpoints)
    if len(targets) > 1:
        raise UserError("a server serves one model: say which --checkpoint of the run it is")
    target = targets[0] if targets else None
    weights = target.model if target else None
    server = options.server_of(config.server.url, config.server, weights)
    server, target = options.named_server(server, target, progress.message)
    return [target], run, server


def _targets(
    model: str | None, run: str | None, checkpoints: Sequence[str] | None
) -> tuple[list[Target], Run | None]:
    from prorl_evaluation.sampling.choose import find_run, model_target, run_target

    if model is not None:
        if run is not None or checkpoints:
            raise UserError("give --model, or --run with --checkpoint, not both")
        return [model_target(model)], None
    found = find_run(run)
    wanted = dict.fromkeys(checkpoints or ["base", "latest"])
    return [run_target(found, which) for which in wanted], found


def settings_of(
    config: EvalConfig, run: Run | None, server: Server | None = None, own: Protocol | None = None
) -> EvalSettings:
    """Return the settings for the backend that will sample: what was asked for, else the named protocol's,
    else ``own`` (a suite's), else the defaults."""
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.sampling.protocols import Asked, merge, pick_protocol
    from prorl_inference import BACKENDS, pick_backend
    from prorl_inference.models.loading import check_device

    given, s = config.model, config.sampling
    check_device(given.device)
    asked = Asked(s.n, s.k, s.temperature, s.top_p, s.max_tokens)
    how = merge(asked, pick_protocol(s.protocol) or own, run_limit(run))
    backend = pick_backend(given.backend, given.device, config.server.url)
    backend.check_installed()
    if given.batches is not None and not backend.fixed_batches:
        raise UserError(f"--batches is of --backend transformers: {backend.name} batches by itself")
    origin = BACKENDS.origin(backend.name)
    # of a plug-in: in each sample's key, so that samples of two versions are never mixed
    plugin = {} if origin.is_ours else {"plugin": f"{origin.source} {origin.version}"}
    return EvalSettings(
        n=how.n,
        k=how.k,
        temperature=how.temperature,
        top_p=how.top_p,
        max_tokens=how.max_tokens,
        seed=s.seed,
        batch_rows=config.server.concurrency if backend.served else backend.rows,
        backend=backend.name if server is None else f"{backend.name}:{server.options.known_api}",
        protocol=how.name,
        batches=given.batches or "fixed",
        extra={**plugin, **(server.options.extra if server is not None else {})},
    )


def run_limit(run: Run | None) -> int:
    from prorl_evaluation.sampling.protocols import DEFAULT_MAX_TOKENS

    value = run.setting("rollout", "max_tokens") if run is not None else None
    return value if isinstance(value, int) else DEFAULT_MAX_TOKENS
