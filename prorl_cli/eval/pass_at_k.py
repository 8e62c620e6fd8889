"""``prorl eval pass-at-k`` and ``regrade``: sample and judge a model, or judge its answers anew.

Tables and JSON go to stdout, progress and messages to stderr. Leaves out: what is chosen (``choose``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import make_progress, print_json, say, warn
from prorl_cli.eval import server as options
from prorl_cli.eval.settings import (
    INTERRUPTED,
    Backend,
    Batches,
    Checkpoint,
    ConfigFile,
    Device,
    Model,
    Repair,
    RunName,
    Seed,
    Sets,
    config_of,
    models_of,
    settings_of,
)
from prorl_cli.eval.tables import Json, Weak, Workers, print_table, warn_of
from prorl_cli.plugin_option import PluginOption

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_datasets import Sample
    from prorl_evaluation import EvalResult
    from prorl_evaluation.config import ScoringSection
    from prorl_evaluation.sampling.choose import Run
    from prorl_evaluation.sampling.session import Session

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
Limit = Annotated[int | None, typer.Option(min=1, help="Problems, the domains in turn.")]
Out = Annotated[
    Path | None, typer.Option(help="Folder for one model; a parent folder for several.")
]


def pass_at_k_command(
    context: typer.Context,
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
    plugin: PluginOption = None,
    server: options.Url = None,
    server_model: options.Model = None,
    server_api: options.Api = "auto",
    server_key_env: options.KeyEnv = None,
    server_weights: options.Weights = None,
    server_tokenizer: options.Tokenizer = None,
    server_extra: options.Extra = None,
    server_concurrency: options.Concurrency = 32,
    server_timeout: options.Timeout = 1800.0,
    server_patience: options.Patience = 600.0,
    server_rpm: options.Rpm = None,
    server_tpm: options.Tpm = None,
    server_refusals: options.Refusals = "stop",
    server_price: options.Price = None,
    config: ConfigFile = None,
    overrides: Sets = None,
) -> None:
    """Sample n answers a problem and estimate pass@k (bare: of the newest run and its base). Given again
    it goes on where it was cut off; a larger --n adds to what is there."""
    from dataclasses import replace

    from prorl_evaluation.sampling.choose import pick_dataset
    from prorl_evaluation.sampling.session import Session

    asked = config_of(context, config, overrides or [])
    settings = settings_of(asked, None)  # k > n is said before anything is looked for
    progress = make_progress()
    targets, found, named = models_of(asked, progress)
    samples, origin = pick_dataset(asked.data.dataset, asked.data.split, asked.data.limit)
    settings = replace(settings_of(asked, found, named), dataset=origin)
    samples = _without_code(samples, asked.scoring.allow_weak)
    session = Session(
        targets,
        found,
        samples,
        settings,
        asked.data.limit,
        asked.output.out,
        asked.model.device,
        named,
        asked.output.repair,
        config=asked.to_yaml(),
    )
    _show(_run(session, asked.scoring, progress), found, json_out)


def _without_code(samples: list[Sample], allow_weak: bool) -> list[Sample]:
    """Leave code out, loudly, where this machine cannot isolate it."""
    from prorl_evaluation.sampling.job import runs_programs

    kept = [s for s in samples if not runs_programs(s)]
    if allow_weak or len(kept) == len(samples):
        return samples
    from prorl_sandbox import probe

    found = probe()
    if found.strong:
        return samples
    warn(f"{len(samples) - len(kept)} code problems are left out: {found.complaint()}")
    return kept


def _run(session: Session, given: ScoringSection, progress: Progress) -> list[EvalResult]:
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
    plugin: PluginOption = None,
) -> None:
    """Score the sampled answers of a folder anew with today's verifiers; needs no model."""
    from prorl_evaluation import regrade
    from prorl_evaluation.sampling.journal import SAMPLES_FILE, VERDICTS_FILE
    from prorl_evaluation.sampling.repair import repair_folder
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
