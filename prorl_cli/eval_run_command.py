"""``prorl eval run``: a suite of benchmarks in the paper's layout, published rows beside the user's.

Tables, Markdown and JSON go to stdout, progress and messages to stderr. Leaves out: what a suite is and
its numbers (``prorl_evaluation.suites``), and drawing (``eval_run_output``).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli import eval_server_options as options
from prorl_cli.console import make_progress, say, warn
from prorl_cli.eval_run_output import check_kind, list_suites, show_suite
from prorl_cli.eval_sampling import (
    INTERRUPTED,
    Backend,
    Batches,
    Checkpoint,
    Device,
    Model,
    Repair,
    RunName,
    Seed,
    models_of,
    run_limit,
    settings_of,
)
from prorl_cli.eval_shared import Json, Weak, Workers
from prorl_cli.plugin_option import PluginOption
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.sampling.choose import Run
    from prorl_evaluation.sampling.session import Server, Session
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


@options.with_server_options
def run_command(
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
    **server: Any,
) -> None:
    """Evaluate a suite and print the paper's tables (bare: quickstart, the newest run and its base). What
    cannot be had is named with its cure, the rest goes on; the same command takes up what is left."""
    given = locals()
    _eval_run(SimpleNamespace(**given.pop("server"), **given))


def _eval_run(given: SimpleNamespace) -> None:
    """Do what the options in ``given`` say."""
    if given.listed:
        list_suites(given.json_out)
        return
    from prorl_evaluation.sampling.session import Session
    from prorl_evaluation.suites import load_suite

    check_kind(given.published)
    asked = [name for name in _names(given.benchmarks) or () if name.endswith((".yaml", ".yml"))]
    suite = load_suite(given.suite).adding(asked)
    progress = make_progress()
    targets, run, server = models_of(given, progress)
    settings = _suite_settings(given, suite, run, server)
    session = Session(
        targets, run, (), settings, given.limit, given.out, given.device, server, given.repair
    )
    result = _evaluate(suite, session, given, progress)
    how = "json" if given.json_out else "markdown" if given.markdown else "tables"
    show_suite(result, session, how, given.published, given.html)


def _suite_settings(
    given: SimpleNamespace, suite: Suite, run: Run | None, server: Server | None
) -> EvalSettings:
    """Return what was asked for, else the named protocol's, else the suite's own sampling."""
    from prorl_evaluation.sampling.protocols import Asked, Protocol, merge, pick_protocol

    s = suite.sampling
    own = Protocol("", s.n, 1, s.temperature, s.top_p, s.max_tokens or run_limit(run))
    asked = Asked(given.n, None, given.temperature, given.top_p, given.max_tokens)
    how = merge(asked, pick_protocol(given.protocol) or own)
    fields = {"n": how.n, "k": how.k, "temperature": how.temperature, "top_p": how.top_p}
    whole = {**vars(given), **fields, "max_tokens": how.max_tokens}
    return settings_of(SimpleNamespace(**whole), run, server)


def _evaluate(
    suite: Suite, session: Session, given: SimpleNamespace, progress: Progress
) -> SuiteResult:
    """Load the problems, say what cannot be had, and evaluate the rest."""
    from prorl_evaluation.suites import run_suite
    from prorl_verifiers import VerifierPool

    try:
        gathered = _gather(suite, given, progress)
        _describe(suite, gathered, session)
        shared = _shared(gathered, session, progress)
        with VerifierPool(workers=given.workers, allow_weak=given.allow_weak) as pool:
            result = run_suite(suite, gathered, session, pool, progress)
    except KeyboardInterrupt:
        progress.finish()
        say("interrupted; finished batches are kept, give the same command again to go on")
        raise typer.Exit(INTERRUPTED) from None
    return replace(result, shared=shared)


def _names(benchmarks: str | None) -> list[str] | None:
    if benchmarks is None:
        return None
    return [name.strip() for name in benchmarks.split(",") if name.strip()]


def _gather(suite: Suite, given: SimpleNamespace, progress: Progress) -> Gathered:
    from prorl_evaluation.sampling.job import runs_programs
    from prorl_evaluation.suites import Wanted, gather_benchmarks, without_code

    names = _names(given.benchmarks)
    gathered = gather_benchmarks(suite, Wanted(names, given.limit, given.mirror), progress)
    code = any(runs_programs(s) for one in gathered.ready for s in one.samples)
    if given.allow_weak or not code:
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
