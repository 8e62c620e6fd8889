"""What the verbs that sample share: options, which models, and the settings of the sampling.

Leaves out: a server's own options (``eval_server_options``), and what is chosen (``choose``).
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli import eval_server_options as options
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.sampling.choose import Run, Target
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


def models_of(
    given: SimpleNamespace, progress: Progress
) -> tuple[list[Target], Run | None, Server | None]:
    """Return what is evaluated, its run, and the server that samples it, if one was named."""
    if given.server is None:
        options.check_unused({f"server_{f}": getattr(given, f"server_{f}") for f in options.FIELDS})
        targets, run = _targets(given.model, given.run, given.checkpoint)
        return targets, run, None
    if given.model is not None:
        raise UserError("a server has its own model: name it with --server-model, not --model")
    targets, run = [], None
    if given.run is not None or given.checkpoint:
        targets, run = _targets(None, given.run, given.checkpoint)
    if len(targets) > 1:
        raise UserError("a server serves one model: say which --checkpoint of the run it is")
    target = targets[0] if targets else None
    fields = {f: getattr(given, f"server_{f}") for f in options.FIELDS}
    server = options.server_of(given.server, target.model if target else None, **fields)
    assert server is not None
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
    given: SimpleNamespace, run: Run | None, server: Server | None = None
) -> EvalSettings:
    """Return the protocol's settings under what was asked for, for the backend that will sample."""
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.sampling.protocols import Asked, merge, pick_protocol
    from prorl_inference import pick_backend
    from prorl_inference.models.loading import check_device

    check_device(given.device)
    asked = Asked(given.n, given.k, given.temperature, given.top_p, given.max_tokens)
    how = merge(asked, pick_protocol(given.protocol), run_limit(run))
    backend = pick_backend(given.backend, given.device, given.server)
    backend.check_installed()
    if given.batches is not None and not backend.fixed_batches:
        raise UserError(f"--batches is of --backend transformers: {backend.name} batches by itself")
    return EvalSettings(
        n=how.n,
        k=how.k,
        temperature=how.temperature,
        top_p=how.top_p,
        max_tokens=how.max_tokens,
        seed=given.seed,
        batch_rows=given.server_concurrency if backend.served else backend.rows,
        backend=backend.name if server is None else f"{backend.name}:{server.options.known_api}",
        protocol=how.name,
        batches=given.batches or "fixed",
        extra=dict(server.options.extra) if server is not None else {},
    )


def run_limit(run: Run | None) -> int:
    from prorl_evaluation.sampling.protocols import DEFAULT_MAX_TOKENS

    value = run.setting("rollout", "max_tokens") if run is not None else None
    return value if isinstance(value, int) else DEFAULT_MAX_TOKENS
