"""``prorl eval run``: a suite of benchmarks in the paper's layout, published rows beside the user's.

Tables, Markdown and JSON go to stdout, progress and messages to stderr. Leaves out: what a suite is and
its numbers (``prorl_evaluation.suites``), and drawing (``eval_run_output``).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import make_progress, say, warn
from prorl_cli.eval import server as options
from prorl_cli.eval.run_output import check_kind, list_suites, show_suite
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
    run_limit,
    settings_of,
)
from prorl_cli.eval.tables import Json, Weak, Workers
from prorl_cli.plugin_option import PluginOption
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_evaluation.config import EvalConfig
    from prorl_evaluation.sampling.session import Session
    from prorl_evaluation.suites import Gathered, Suite, SuiteResult

SuiteName = Annotated[
    str, typer.Option("--suite", help="prorl, quickstart, ood, or the path of your own .yaml.")
]
Benchmarks = Annotated[
    str | None,
    typer.Option(
        help="Only these benchmarks of the suite, or files (NAME.yaml), separated by commas."
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="Problems a benchmark (a generated one: of each task and size)."),
]
Mirror = Annotated[
    Path | None, typer.Option(help="Folder with <owner>/<name>/<file> or <benchmark>.jsonl.")
]
ProtocolName = Annotated[
    str | None, typer.Option(help="prorl, boundary or justrl: sample as they did.")
]
PublishedRows = Annotated[
    str, typer.Option("--published", help="core (base, v1, v2), all (re-measurements too) or none.")
]
Listed = Annotated[bool, typer.Option("--list", help="List the suites and what they need.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown to stdout.")]
Html = Annotated[
    Path | None, typer.Option(help="Also write the report over all benchmarks to this file.")
]
N = Annotated[int | None, typer.Option("--n", min=1, help="Samples a problem (the suite's own).")]
Temperature = Annotated[float | None, typer.Option(min=0.0, help="Default: the suite's own.")]
TopP = Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Default: the suite's own.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Token limit (the suite's own, else the run's, else 512).")
]
Out = Annotated[Path | None, typer.Option(help="Folder for all that is written.")]


def run_command(
    context: typer.Context,
    suite: SuiteName = "quickstart",
    model: Model = None,
    run: RunName = None,
    checkpoint: Checkpoint = None,
    benchmarks: Benchmarks = None,
    limit: Limit = None,
    n: N = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    protocol: ProtocolName = None,
    backend: Backend = "auto",
    batches: Batches = None,
    seed: Seed = 0,
    mirror: Mirror = None,
    out: Out = None,
    published: PublishedRows = "core",
    device: Device = "auto",
    repair: Repair = False,
    workers: Workers = 2,
    allow_weak: Weak = False,
    listed: Listed = False,
    markdown: Markdown = False,
    html: Html = None,
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
    """Evaluate a suite and print the paper's tables (bare: quickstart, the newest run and its base). What
    cannot be had is named with its cure, the rest goes on; the same command takes up what is left."""
    if listed:
        list_suites(json_out)
        return
    from prorl_evaluation.sampling.protocols import Protocol
    from prorl_evaluation.sampling.session import Session
    from prorl_evaluation.suites import load_suite

    asked = config_of(context, config, overrides or [])
    check_kind(asked.suite.published)
    files = [n for n in asked.suite.benchmarks or () if n.endswith((".yaml", ".yml"))]
    wanted = load_suite(asked.suite.name).adding(files)
    progress = make_progress()
    targets, found, named = models_of(asked, progress)
    s = wanted.sampling
    own = Protocol("", s.n, 1, s.temperature, s.top_p, s.max_tokens or run_limit(found))
    session = Session(
        targets,
        found,
        (),
        settings_of(asked, found, named, own),
        asked.data.limit,
        asked.output.out,
        asked.model.device,
        named,
        asked.output.repair,
        config=asked.to_yaml(),
    )
    result = _evaluate(wanted, session, asked, progress)
    how = "json" if json_out else "markdown" if markdown else "tables"
    show_suite(result, session, how, asked.suite.published, html)


def _evaluate(
    suite: Suite, session: Session, config: EvalConfig, progress: Progress
) -> SuiteResult:
    """Load the problems, say what cannot be had, and evaluate the rest."""
    from prorl_evaluation.suites import run_suite
    from prorl_verifiers import VerifierPool

    try:
        gathered = _gather(suite, config, progress)
        _describe(suite, gathered, session)
        shared = _shared(gathered, session, progress)
        with VerifierPool(
            workers=config.scoring.workers, allow_weak=config.scoring.allow_weak
        ) as pool:
            result = run_suite(suite, gathered, session, pool, progress)
    except KeyboardInterrupt:
        progress.finish()
        say("interrupted; finished batches are kept, give the same command again to go on")
        raise typer.Exit(INTERRUPTED) from None
    return replace(result, shared=shared)


def _gather(suite: Suite, config: EvalConfig, progress: Progress) -> Gathered:
    from prorl_evaluation.sampling.job import runs_programs
    from prorl_evaluation.suites import Wanted, gather_benchmarks, without_code

    gathered = gather_benchmarks(
        suite, Wanted(config.suite.benchmarks, config.data.limit, config.suite.mirror), progress
    )
    code = any(runs_programs(s) for one in gathered.ready for s in one.samples)
    if config.scoring.allow_weak or not code:
        return gathered
    from prorl_sandbox import probe

    found = probe()
    return gathered if found.strong else without_code(gathered, found.complaint())


def _describe(suite: Suite, gathered: Gathered, session: Session) -> None:
    s = session.settings
    problems = sum(len(one.samples) for one in gathered.ready)
    say(f"suite {suite.name}: {suite.title}")
    say(f"models: {', '.join(t.label for t in session.targets)}")
    say(
        f"{len(gathered.ready)} benchmarks, {problems:,} problems · n {s.n} · temperature "
        f"{s.temperature:g} · top-p {s.top_p:g} · at most {s.max_tokens} tokens · "
        f"{problems * s.n * len(session.targets):,} samples in all"
    )
    for failure in gathered.failures:
        warn(f"{failure.benchmark} cannot be had: {failure.reason}")
    for one in gathered.ready:
        for note in one.notes:
            warn(note)
    for note in suite.notes:
        say(f"note: {note}")
    if not gathered.ready:
        warn("no benchmark of the suite could be had: nothing is sampled")


def _shared(gathered: Gathered, session: Session, progress: Progress) -> dict[str, tuple[str, ...]]:
    """Return what the run's training data shares with the suite, and say it."""
    from prorl_evaluation.suites.shared import shared_lines, shared_with, training_data

    data = training_data(session.run)
    if data is None or not gathered.ready:
        return {}
    try:
        shared = shared_with(gathered.ready, data, progress)
    except UserError as error:
        warn(f"whether the training data holds these problems is not known: {error}")
        return {}
    for line in shared_lines(shared, gathered.ready):
        warn(line)
    return shared
