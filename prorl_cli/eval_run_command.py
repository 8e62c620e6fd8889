"""``prorl eval run``: a suite of benchmarks in the paper's layout, published rows beside the user's.

Tables, Markdown and JSON go to stdout, progress and messages to stderr. Leaves out: what a suite is and
its numbers (``prorl_evaluation.suites``), and drawing (``eval_run_output``).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from prorl_cli.console import make_progress, say, warn
from prorl_cli.eval_pass_at_k_command import (
    INTERRUPTED,
    Checkpoint,
    Model,
    RunName,
    _run_limit,
    _targets,
)
from prorl_cli.eval_run_output import check_kind, list_suites, show_suite
from prorl_cli.eval_shared import Json, Weak, Workers
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_evaluation.session import Session
    from prorl_evaluation.suites import Gathered, Suite, SuiteResult

SuiteName = Annotated[
    str, typer.Option("--suite", help="prorl, quickstart, ood, or the path of your own .yaml.")
]
Benchmarks = Annotated[
    str | None, typer.Option(help="Only these benchmarks of the suite, separated by commas.")
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, help="Problems a benchmark (a generated one: of each task and size)."),
]
Mirror = Annotated[
    Path | None, typer.Option(help="Folder with <owner>/<name>/<file> or <benchmark>.jsonl.")
]
ProtocolName = Annotated[
    str | None, typer.Option(help="prorl or justrl: sample as they did (default: the suite's own).")
]
PublishedRows = Annotated[
    str, typer.Option("--published", help="core (base, v1, v2), all (re-measurements too) or none.")
]
Listed = Annotated[bool, typer.Option("--list", help="List the suites and what they need.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown to stdout.")]
Temperature = Annotated[float | None, typer.Option(min=0.0)]
TopP = Annotated[float | None, typer.Option(min=0.0, max=1.0)]


class Choice(NamedTuple):
    """What of which suite."""

    suite: str
    benchmarks: str | None
    limit: int | None
    mirror: Path | None
    protocol: str | None


def run_command(
    suite: SuiteName = "quickstart",
    model: Model = None,
    run: RunName = None,
    checkpoint: Checkpoint = None,
    benchmarks: Benchmarks = None,
    limit: Limit = None,
    protocol: ProtocolName = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="Samples a problem.")] = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Token limit of an answer.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and intervals.")] = 0,
    mirror: Mirror = None,
    out: Annotated[Path | None, typer.Option(help="Folder for all that is written.")] = None,
    published: PublishedRows = "core",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    workers: Workers = 2,
    allow_weak: Weak = False,
    listed: Listed = False,
    markdown: Markdown = False,
    json_out: Json = False,
) -> None:
    """Evaluate a suite, print the paper's tables; bare: quickstart, the newest run and its base.

    What cannot be had is named with its cure, the rest goes on; the same command takes up what is left.
    """
    if listed:
        list_suites(json_out)
        return
    kind = ("json" if json_out else "markdown" if markdown else "tables", published)
    check_kind(kind)
    choice = Choice(suite, benchmarks, limit, mirror, protocol)
    sampling = (n, temperature, top_p, max_tokens)
    session = _session(choice, (model, run, checkpoint), sampling, seed)
    session = replace(session, out=out, device=device)
    show_suite(_evaluate(choice, session, workers, allow_weak), session, kind)


def _session(
    choice: Choice,
    model: tuple[str | None, str | None, list[str] | None],
    sampling: tuple[int | None, float | None, float | None, int | None],
    seed: int,
) -> Session:
    """Return the session of the models asked for, without problems; the suite's sampling is its default."""
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.protocols import Asked, Protocol, merge, pick_protocol
    from prorl_evaluation.session import Session
    from prorl_evaluation.suites import load_suite

    s = load_suite(choice.suite).sampling
    named = pick_protocol(choice.protocol)
    targets, found = _targets(*model)
    tokens = s.max_tokens or _run_limit(found)
    own = Protocol("", s.n, 1, s.temperature, s.top_p, tokens)
    n, temperature, top_p, max_tokens = sampling
    how = merge(Asked(n, 1, temperature, top_p, max_tokens), named or own)
    settings = EvalSettings(how.n, 1, how.temperature, how.top_p, how.max_tokens, seed)
    return Session(targets, found, (), settings, choice.limit)


def _evaluate(choice: Choice, session: Session, workers: int, allow_weak: bool) -> SuiteResult:
    """Load the problems, say what cannot be had, and evaluate the rest."""
    from prorl_evaluation.suites import load_suite, run_suite
    from prorl_verifiers import VerifierPool

    suite = load_suite(choice.suite)
    progress = make_progress()
    try:
        gathered = _gather(suite, choice, allow_weak, progress)
        _describe(suite, gathered, session)
        shared = _shared(gathered, session, progress)
        with VerifierPool(workers=workers, allow_weak=allow_weak) as pool:
            result = run_suite(suite, gathered, session, pool, progress)
    except KeyboardInterrupt:
        progress.finish()
        say("interrupted; finished batches are kept, give the same command again to go on")
        raise typer.Exit(INTERRUPTED) from None
    return replace(result, shared=shared)


def _gather(suite: Suite, choice: Choice, allow_weak: bool, progress: Progress) -> Gathered:
    from prorl_evaluation.suites import Wanted, gather_benchmarks, without_code

    names = None
    if choice.benchmarks is not None:
        names = [name.strip() for name in choice.benchmarks.split(",") if name.strip()]
    gathered = gather_benchmarks(suite, Wanted(names, choice.limit, choice.mirror), progress)
    code = any(s.task.verifier == "code" for one in gathered.ready for s in one.samples)
    if allow_weak or not code:
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
