"""``prorl eval pass-at-k`` and ``regrade``: sample and judge a model, or judge its answers anew.

Tables and JSON go to stdout, progress and messages to stderr. Leaves out: what is chosen (``choose``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli import eval_server_options as options
from prorl_cli.console import make_progress, print_json, say, warn
from prorl_cli.eval_shared import Json, Weak, Workers, print_table, warn_of
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_datasets import Sample
    from prorl_evaluation import EvalResult, EvalSettings
    from prorl_evaluation.choose import Run, Target
    from prorl_evaluation.session import Server, Session

INTERRUPTED = 130

Model = Annotated[str | None, typer.Option(help="A model's name, path or hub id, without a run.")]
RunName = Annotated[str | None, typer.Option("--run", help="A run (default: the newest).")]
Checkpoint = Annotated[
    list[str] | None,
    typer.Option(help="base, latest or a step; repeatable (default: base and latest)."),
]
Dataset = Annotated[Path | None, typer.Option(help="Dataset folder (default: newest in data/).")]
Split = Annotated[str, typer.Option(help="train, validation or test.")]
K = Annotated[int | None, typer.Option("--k", min=1, help="The largest k of interest (128).")]
N = Annotated[int | None, typer.Option("--n", min=1, help="Samples a problem (default: 2k).")]
Temperature = Annotated[float | None, typer.Option(min=0.0, help="Default 0.6.")]
TopP = Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Default 0.95.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Token limit of an answer (default: the run's, else 512).")
]
ProtocolName = Annotated[
    str | None,
    typer.Option(help="prorl, boundary or justrl: n, k, temperature, top-p and token limit."),
]
Backend = Annotated[
    str, typer.Option(help="transformers, vllm or server; auto takes vllm on a GPU.")
]
Batches = Annotated[
    str | None,
    typer.Option(help="Of transformers: fixed (repeatable bit for bit) or bucketed by length."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Problems, the domains in turn.")]
Seed = Annotated[int, typer.Option(help="Seed of samples and intervals.")]
Out = Annotated[
    Path | None, typer.Option(help="Folder for one model; a parent folder for several.")
]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Repair = Annotated[
    bool, typer.Option("--repair", help="Move damaged journal lines to a .damaged file first.")
]


@options.with_server_options
def pass_at_k_command(
    model: Model = None,
    run: RunName = None,
    checkpoint: Checkpoint = None,
    dataset: Dataset = None,
    split: Split = "test",
    k: K = None,
    n: N = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    protocol: ProtocolName = None,
    backend: Backend = "auto",
    batches: Batches = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = None,
    device: Device = "auto",
    repair: Repair = False,
    workers: Workers = 2,
    allow_weak: Weak = False,
    json_out: Json = False,
    **server: Any,
) -> None:
    """Sample n answers a problem and estimate pass@k (bare: of the newest run and its base). Given again
    it goes on where it was cut off; a larger --n adds to what is there."""
    given = locals()
    _pass_at_k(SimpleNamespace(**given.pop("server"), **given))


def _pass_at_k(given: SimpleNamespace) -> None:
    """Do what the options in ``given`` say."""
    from dataclasses import replace

    from prorl_evaluation.choose import pick_dataset
    from prorl_evaluation.session import Session

    settings = _settings(given, None)  # k > n is said before anything is looked for
    progress = make_progress()
    targets, found, server = _models(given, progress)
    samples, origin = pick_dataset(given.dataset, given.split, given.limit)
    settings = replace(_settings(given, found, server), dataset=origin)
    samples = _without_code(samples, given.allow_weak)
    session = Session(
        targets,
        found,
        samples,
        settings,
        given.limit,
        given.out,
        given.device,
        server,
        given.repair,
    )
    _show(_run(session, given, progress), found, given.json_out)


def _settings(
    given: SimpleNamespace, run: Run | None, server: Server | None = None
) -> EvalSettings:
    """Return the protocol's settings under what was asked for, for the backend that will sample."""
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.lazy import ROWS, pick_backend
    from prorl_evaluation.protocols import Asked, merge, pick_protocol

    asked = Asked(given.n, given.k, given.temperature, given.top_p, given.max_tokens)
    how = merge(asked, pick_protocol(given.protocol), _run_limit(run))
    backend = pick_backend(given.backend, given.device, given.server)
    if given.batches is not None and backend != "transformers":
        raise UserError(f"--batches is of --backend transformers: {backend} batches by itself")
    rows = given.server_concurrency if backend == "server" else ROWS[backend]
    return EvalSettings(
        n=how.n,
        k=how.k,
        temperature=how.temperature,
        top_p=how.top_p,
        max_tokens=how.max_tokens,
        seed=given.seed,
        batch_rows=rows,
        backend=f"server:{server.options.known_api}" if server is not None else backend,
        protocol=how.name,
        batches=given.batches or "fixed",
        extra=dict(server.options.extra) if server is not None else {},
    )


def _models(
    given: SimpleNamespace, progress: Progress
) -> tuple[list[Target], Run | None, Server | None]:
    """Return what is evaluated, its run, and the server that samples it, if one was named."""
    if given.server is None:
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
    from prorl_evaluation.choose import find_run, model_target, run_target

    if model is not None:
        if run is not None or checkpoints:
            raise UserError("give --model, or --run with --checkpoint, not both")
        return [model_target(model)], None
    found = find_run(run)
    wanted = dict.fromkeys(checkpoints or ["base", "latest"])
    return [run_target(found, which) for which in wanted], found


def _run_limit(run: Run | None) -> int:
    from prorl_evaluation.protocols import DEFAULT_MAX_TOKENS

    value = run.setting("rollout", "max_tokens") if run is not None else None
    return value if isinstance(value, int) else DEFAULT_MAX_TOKENS


def _without_code(samples: list[Sample], allow_weak: bool) -> list[Sample]:
    """Leave code out, loudly, where this machine cannot isolate it."""
    kept = [s for s in samples if s.task.verifier != "code"]
    if allow_weak or len(kept) == len(samples):
        return samples
    from prorl_sandbox import probe

    found = probe()
    if found.strong:
        return samples
    warn(f"{len(samples) - len(kept)} code problems are left out: {found.complaint()}")
    return kept


def _run(session: Session, given: SimpleNamespace, progress: Progress) -> list[EvalResult]:
    """Say what was chosen, evaluate, and say how to go on when interrupted."""
    from prorl_verifiers import VerifierPool

    for line in session.description():
        say(line)
    for line in session.warnings():
        warn(line)
    try:
        with VerifierPool(workers=given.workers, allow_weak=given.allow_weak) as pool:
            return session.evaluate(pool, progress)
    except KeyboardInterrupt:
        progress.finish()
        say("interrupted; finished batches are kept, give the same command again to go on")
        raise typer.Exit(INTERRUPTED) from None


def _show(results: Sequence[EvalResult], run: Run | None, json_out: bool) -> None:
    from prorl_evaluation.compare import against_baseline
    from prorl_evaluation.tables import comparison_table, result_table
    from prorl_evaluation.types import shown_ks

    comparison = against_baseline(results)
    if json_out:
        found = comparison.to_json() if comparison is not None else None
        print_json({"results": [r.to_json() for r in results], "comparison": found})
        return
    for result in results:
        print_table(result_table(result))
    if comparison is not None:
        metrics = [*(f"pass@{k}" for k in shown_ks(results)), "reward"]
        print_table(comparison_table(comparison, metrics))
        warn_of(comparison)
    if run is not None:
        say(f"write the report with: prorl eval report {run.path}")


def regrade_command(
    folder: Annotated[Path, typer.Argument(help="A result folder.")],
    workers: Workers = 2,
    allow_weak: Weak = False,
    repair: Repair = False,
    json_out: Json = False,
) -> None:
    """Score the sampled answers of a folder anew with today's verifiers; needs no model."""
    from prorl_evaluation import regrade
    from prorl_evaluation.journal import SAMPLES_FILE, VERDICTS_FILE
    from prorl_evaluation.repair import repair_folder
    from prorl_evaluation.tables import result_table
    from prorl_verifiers import VerifierPool

    for line in repair_folder(folder, SAMPLES_FILE, VERDICTS_FILE) if repair else ():
        say(line)
    with VerifierPool(workers=workers, allow_weak=allow_weak) as pool:
        report = regrade(folder, pool, make_progress())
    if json_out:
        row = {"verdicts": report.verdicts, "changed": report.changed}
        print_json({**row, "result": report.result.to_json()})
        return
    print_table(result_table(report.result))
    say(
        f"{report.changed} of {report.verdicts} verdicts changed; the old ones are kept beside them"
    )
