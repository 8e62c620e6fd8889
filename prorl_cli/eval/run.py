"""``prorl eval run``: a suite of benchmarks in the paper's layout, published rows beside the user's.

Tables, Markdown and JSON go to stdout, progress and messages to stderr. Leaves out: what a suite is and
its numbers (``prorl_evaluation.suites``).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from prorl_cli.console import KEPT, make_progress, print_json, say, stdout_console, stoppable, warn
from prorl_cli.eval import options as o
from prorl_cli.eval.tables import print_table
from prorl_cli.options import JsonNotTables, PluginOption, file_to_write, folder_to_write
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_evaluation.sampling.session import Session
    from prorl_evaluation.suites import Gathered, SuiteResult
    from prorl_evaluation.suites.published import Shown

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
    Path | None,
    typer.Option(
        help="Also write the report over all benchmarks to this file.", callback=file_to_write
    ),
]
N = Annotated[int | None, typer.Option("--n", min=1, help="Samples a problem (the suite's own).")]
Temperature = Annotated[float | None, typer.Option(min=0.0, help="Default: the suite's own.")]
TopP = Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Default: the suite's own.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Token limit (the suite's own, else the run's, else 512).")
]
Out = Annotated[
    Path | None, typer.Option(help="Folder for all that is written.", callback=folder_to_write)
]
PUBLISHED = ("core", "all", "none")


def run_command(
    context: typer.Context,
    suite: SuiteName = "quickstart",
    model: o.Model = None,
    run: o.RunName = None,
    checkpoint: o.Checkpoint = None,
    benchmarks: Benchmarks = None,
    limit: Limit = None,
    n: N = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: MaxTokens = None,
    protocol: ProtocolName = None,
    backend: o.Backend = "auto",
    batches: o.Batches = None,
    seed: o.Seed = 0,
    mirror: Mirror = None,
    out: Out = None,
    published: PublishedRows = "core",
    device: o.Device = "auto",
    repair: o.Repair = False,
    workers: o.Workers = 2,
    allow_weak: o.Weak = False,
    listed: Listed = False,
    markdown: Markdown = False,
    html: Html = None,
    json_out: JsonNotTables = False,
    plugin: PluginOption = None,
    server: o.ServerUrl = None,
    server_model: o.ServerModel = None,
    server_api: o.ServerApi = "auto",
    server_key_env: o.ServerKeyEnv = None,
    server_weights: o.ServerWeights = None,
    server_tokenizer: o.ServerTokenizer = None,
    server_extra: o.ServerExtra = None,
    server_concurrency: o.ServerConcurrency = 32,
    server_timeout: o.ServerTimeout = 1800.0,
    server_patience: o.ServerPatience = 600.0,
    server_rpm: o.ServerRpm = None,
    server_tpm: o.ServerTpm = None,
    server_refusals: o.ServerRefusals = "stop",
    server_price: o.ServerPrice = None,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Evaluate a suite and print the paper's tables.

    Bare: suite quickstart, the newest run and its base. What cannot be had is named with its cure, the rest
    goes on; the same command takes up what is left.
    """
    if listed:
        _list_suites(json_out)
        return
    from prorl_evaluation.sampling.asked import models_of, run_limit, session_of, settings_of
    from prorl_evaluation.sampling.protocols import Protocol
    from prorl_evaluation.suites import (
        Wanted,
        gather_benchmarks,
        load_suite,
        run_suite,
        without_code,
    )
    from prorl_verifiers import VerifierPool, no_isolation, runs_programs

    asked = o.settings(context, config, overrides)
    rows = asked.suite.published
    if rows not in PUBLISHED:
        raise UserError(f"--published is '{rows}': use {', '.join(PUBLISHED)}")
    files = [n for n in asked.suite.benchmarks or () if n.endswith((".yaml", ".yml"))]
    wanted = load_suite(asked.suite.name).adding(files)
    progress = make_progress()
    models = models_of(asked, progress)
    s = wanted.sampling
    own = Protocol("", s.n, 1, s.temperature, s.top_p, s.max_tokens or run_limit(models[1]))
    session = session_of(asked, models, settings_of(asked, *models[1:], own))
    which = Wanted(asked.suite.benchmarks, asked.data.limit, asked.suite.mirror)
    weak = asked.scoring.allow_weak
    with stoppable(KEPT, progress):
        gathered = gather_benchmarks(wanted, which, progress)
        if not weak and any(runs_programs(s.task) for one in gathered.ready for s in one.samples):
            why = no_isolation()
            gathered = gathered if why is None else without_code(gathered, why)
        how = session.settings
        problems = sum(len(one.samples) for one in gathered.ready)
        say(f"suite {wanted.name}: {wanted.title}")
        say(f"models: {', '.join(t.label for t in session.targets)}")
        say(
            f"{len(gathered.ready)} benchmarks, {problems:,} problems · n {how.n} · temperature "
            f"{how.temperature:g} · top-p {how.top_p:g} · at most {how.max_tokens} tokens · "
            f"{problems * how.n * len(session.targets):,} samples in all"
        )
        for failure in gathered.failures:
            warn(f"{failure.benchmark} cannot be had: {failure.reason}")
        for one in gathered.ready:
            for note in one.notes:
                warn(note)
        for line in _poor(gathered, how.n):
            warn(line)
        for note in wanted.notes:
            say(f"note: {note}")
        if not gathered.ready:
            warn("no benchmark of the suite could be had: nothing is sampled")
        shared = _shared(gathered, session, progress)
        with VerifierPool(workers=asked.scoring.workers, allow_weak=weak) as pool:
            pool.require(sample.task for one in gathered.ready for sample in one.samples)
            result = run_suite(wanted, gathered, session, pool, progress)
    form = "json" if json_out else "markdown" if markdown else "tables"
    _show(replace(result, shared=shared), session, form, cast("Shown", rows), html)


def _poor(gathered: Gathered, n: int) -> list[str]:
    """Return what is to be said of a suite, or of benchmarks of it, that are too small to show a gain."""
    from prorl_evaluation.stats.power import WORTH_SEEING, poor_power

    whole = poor_power(sum(len(one.samples) for one in gathered.ready), n)
    if whole is not None:
        return [whole]
    alone = [one.name for one in gathered.ready if poor_power(len(one.samples), n) is not None]
    if not alone:
        return []
    names = ", ".join(alone)
    return [
        f"too few problems alone to show a gain of {WORTH_SEEING:g} in pass@1: {names} (see prorl eval plan)"
    ]


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


def _show(result: SuiteResult, session: Session, how: str, shown: Shown, html: Path | None) -> None:
    """Save and print the outcome (``how``: tables, markdown or json; the report to ``html``), then exit
    with its code where that is not 0."""
    from prorl_evaluation.suites import joined, markdown, save_suite, suite_json, suite_tables
    from prorl_evaluation.suites.runner import suites_root

    page = save_suite(result, suites_root(session.run, session.out), shown)
    tables = suite_tables(result, shown)
    if how == "json":
        print_json(suite_json(result))
    elif how == "markdown":
        print(markdown(tables), end="")
    else:
        for table in tables:
            for line in table.before:
                stdout_console().print(line, markup=False, soft_wrap=True)
            print_table(table.table)
            for line in table.below:
                stdout_console().print(line, markup=False, soft_wrap=True)
    say(
        f"written: {page} and .json beside it; each benchmark's folder works with prorl eval compare"
    )
    if html is not None:
        from prorl_evaluation import EvaluationError
        from prorl_evaluation.report.data import report_data
        from prorl_evaluation.report.html import write_html

        try:
            results, left = joined(result.models, result.suite.name)
        except EvaluationError as error:
            warn(str(error))  # the failures' own exit code stands
        else:
            for name in left:
                warn(f"{name} is not in the report: not every model has finished it")
            data = report_data(results, session.run.path if session.run is not None else None)
            say(f"report written: {write_html(data, html)}")
    if result.failures:
        say(f"{len(result.failures)} benchmarks were not done, the same command tries them again")
        raise typer.Exit(result.exit_code)


def _list_suites(json_out: bool) -> None:
    """Print the packaged suites with their benchmarks and where those come from."""
    from rich.table import Table
    from rich.text import Text

    from prorl_evaluation.suites import load_suite, suite_names
    from prorl_evaluation.suites.suite import DatasetSpec, ProceduralSpec

    suites = [load_suite(name) for name in suite_names()]
    rows: list[dict[str, Any]] = []
    for suite in suites:
        for name, source in suite.sources.items():
            if isinstance(source, DatasetSpec):
                where, need = source.dataset, "the folder"
            elif isinstance(source, ProceduralSpec) or source.hub is None:
                where, need = "generated", "nothing"
            else:
                where = source.hub.repo
                need = "the hub and its terms" if source.gated else "the hub or --mirror"
            metric = "pass@1" if suite.metric(name) == "mean_of_n" else "mean reward"
            row = {"suite": suite.name, "benchmark": name, "metric": metric, "from": where}
            rows.append({**row, "needs": need})
    if json_out:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    for title in ("suite", "benchmark", "metric", "from", "needs"):
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(v)) for v in row.values()))
    stdout_console().print(table)
    say("run one: prorl eval run --suite NAME (or the path of a .yaml of your own)")
