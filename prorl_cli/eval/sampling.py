"""``prorl eval plan|pass-at-k|run|regrade``."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from prorl_cli import console
from prorl_cli.console import KEPT, make_progress, print_json, say, stdout_console, stoppable, warn
from prorl_cli.eval import options as o
from prorl_cli.eval.showing import print_table, warn_of, write_page
from prorl_cli.options import Json, JsonNotTables, Sets, file_to_write, real, whole
from prorl_common import UserError, prorl_command
from prorl_common.seeds import MOST_SAMPLES

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_evaluation.sampling.session import Session
    from prorl_evaluation.suites.published import RowChoice
    from prorl_evaluation.suites.runner import SuiteResult
    from prorl_evaluation.suites.sources import Gathered


def plan_command(
    problems: Annotated[int, whole(low=2, high=MOST_SAMPLES, help="Number of problems.")] = 100,
    n: Annotated[
        int,
        whole(
            "--n", low=1, high=MOST_SAMPLES, help="Samples per problem, before and after training."
        ),
    ] = 16,
    gain: Annotated[
        float | None, real(high=1.0, help="Gain in pass@1 to detect, e.g. 0.05.")
    ] = None,
    rate: Annotated[float, real(high=1.0, help="pass@1 before training.")] = 0.4,
    base: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Take the pass@1 of each problem from this result folder instead of --rate.",
        ),
    ] = None,
    target: Annotated[
        float,
        real(
            "--power",
            low=0.01,
            high=0.999,
            help="Probability of detecting the gain that the plan must reach.",
        ),
    ] = 0.9,
    json_out: Json = False,
) -> None:
    """Estimate the smallest gain in pass@1 an evaluation can detect.

    Example: prorl eval plan --problems 200 --n 16 --gain 0.05

    Simulates the test of prorl eval compare: whether the 95% interval of the paired difference excludes 0. With --gain,
    it also prints the chance of detecting that gain (the power), and how many problems or samples per problem would
    reach --power.
    """
    from prorl_evaluation.stats.power import (
        MOST_PROBLEMS,
        MOST_SAMPLES,
        Rates,
        fit_rates,
        needed_problems,
        needed_samples,
        power,
        smallest_gain,
    )
    from prorl_evaluation.types import load_result

    rates = fit_rates(load_result(base).problems) if base is not None else Rates(rate)
    chance = None if gain is None else power(problems, n, gain, rates)
    more = needed_problems(n, gain, rates, target=target) if gain else None
    samples = needed_samples(problems, gain, rates, target=target) if gain else None
    smallest = smallest_gain(problems, n, rates, target=target)
    if json_out:
        row = {"problems": problems, "n": n, "gain": gain, "power": chance}
        rounded = None if math.isnan(smallest) else round(smallest, 3)
        needed = {"needed_problems": more, "needed_n": samples}
        spread = {"rate": rates.mean, "concentration": rates.concentration}
        print_json({**row, **spread, "wanted_power": target, "smallest_gain": rounded, **needed})
        return
    print(f"{problems} problems, {n} samples each, pass@1 {rates.mean:.3f} before")
    if chance is not None:
        print(f"a true gain of {gain:g} is detected in {100 * chance:.0f}% of evaluations")
    if gain:
        if more is None:
            print(
                f"power {100 * target:g}% needs more than {MOST_PROBLEMS:,} problems with {n} samples each"
            )
        else:
            print(f"power {100 * target:g}% needs {more} problems with {n} samples each")
        if samples is None:
            print(f"or more than {MOST_SAMPLES:,} samples each of these {problems} problems")
        else:
            print(f"or {samples} samples each of these {problems} problems")
    if math.isnan(smallest):
        print(f"no gain would be detected in {100 * target:g}% of evaluations: use more problems")
    else:
        print(f"smallest gain that is detected in {100 * target:g}%: {smallest:.3f}")


Dataset = Annotated[Path | None, typer.Option(help="Dataset folder (default: newest in data/).")]
Split = Annotated[
    str | None, typer.Option(help="Split: train, validation or test (default: test).")
]
K = Annotated[str | None, typer.Option("--k", metavar="INTEGER", help="Largest k (default: 128).")]
N = Annotated[
    str | None,
    typer.Option("--n", metavar="INTEGER", help="Samples per problem (default: twice k)."),
]


def pass_at_k_command(
    context: typer.Context,
    model: o.Model = None,
    run: o.RunName = None,
    checkpoint: o.Checkpoint = None,
    dataset: Dataset = None,
    split: Split = None,
    k: K = None,
    n: N = None,
    limit: o.Limit = None,
    out: o.Out = None,
    json_out: JsonNotTables = False,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Sample n answers to each problem and estimate pass@k.

    Example: prorl eval pass-at-k --run mine --k 8 --n 16

    By default, evaluates the newest run and its base model. If interrupted, run the same command to continue; with a
    larger --n it adds samples. Use --set for any other setting, e.g. sampling.max_tokens=512.
    """
    from prorl_evaluation.compare import against_baseline
    from prorl_evaluation.sampling.command import open_session
    from prorl_evaluation.tables import comparison_table, interval_table, result_table
    from prorl_evaluation.types import shown_ks
    from prorl_verifiers import open_pool

    eval_config = o.settings(context, config, overrides)
    progress = make_progress()
    session, complaints = open_session(eval_config, progress)
    for line in session.description():
        say(line)
    for line in complaints:
        warn(line)
    who = eval_config.scoring
    with (
        stoppable(KEPT, progress),
        open_pool(who.servers, who.workers, allow_weak=who.allow_weak, say=say) as pool,
    ):
        pool.require(sample.task for sample in session.samples)
        results = session.evaluate(pool, progress)

    comparison = against_baseline(results)
    if json_out:
        against = comparison.to_json() if comparison is not None else None
        print_json({"results": [r.to_json() for r in results], "comparison": against})
        return
    for result in results:
        print_table(result_table(result))
    if comparison is not None:
        metrics = [*(f"pass@{k}" for k in shown_ks(results)), "reward"]
        print_table(comparison_table(comparison, metrics))
        warn_of(comparison)
    print_table(interval_table(results, [comparison] if comparison is not None else []))
    if session.run is not None:
        show = ("view",) if comparison is None else ("eval", "compare")
        words = (*show, session.run.path, "--html", "report.html")
        say(f"write the report with: {prorl_command(*words)}")


SuiteName = Annotated[
    str | None,
    typer.Option(
        "--suite",
        help="Suite: prorl, quickstart (default), ood, or the path of your own .yaml file.",
    ),
]
Benchmarks = Annotated[
    str | None,
    typer.Option(
        help="Evaluate only these benchmarks, separated by commas: names in the suite, or .yaml files."
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        metavar="INTEGER",
        help="Maximum number of problems of each benchmark (of a generated one: of each task at each level).",
    ),
]
Mirror = Annotated[
    Path | None,
    typer.Option(help="Folder with local copies: <owner>/<name>/<file> or <benchmark>.jsonl."),
]
Listed = Annotated[
    bool, typer.Option("--list", help="List the suites and what they need, and exit.")
]
Html = Annotated[
    Path | None,
    typer.Option(
        help="Also write an HTML page with all benchmarks to this file.", callback=file_to_write
    ),
]
SuiteN = Annotated[
    str | None,
    typer.Option("--n", metavar="INTEGER", help="Samples per problem (default: the suite's)."),
]
PUBLISHED = ("core", "all", "none")


def run_command(
    context: typer.Context,
    suite: SuiteName = None,
    model: o.Model = None,
    run: o.RunName = None,
    checkpoint: o.Checkpoint = None,
    benchmarks: Benchmarks = None,
    limit: Limit = None,
    n: SuiteN = None,
    mirror: Mirror = None,
    out: o.Out = None,
    listed: Listed = False,
    html: Html = None,
    json_out: JsonNotTables = False,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Evaluate a suite of benchmarks.

    Example: prorl eval run --suite prorl --run mine

    Prints tables like those of the ProRL paper. By default, evaluates the newest run and its base model on the suite
    quickstart. Benchmarks that cannot be loaded are skipped with a warning that says how to fix them. After the fix,
    run the same command again to evaluate them.
    """
    if listed:
        _list_suites(json_out)
        return
    from prorl_evaluation.sampling.command import (
        Protocol,
        models_of,
        run_limit,
        session_of,
        settings_of,
    )
    from prorl_evaluation.suites.runner import run_suite, without_code
    from prorl_evaluation.suites.sources import Selection, gather_benchmarks
    from prorl_evaluation.suites.suite import load_suite
    from prorl_verifiers import no_isolation, open_pool, runs_programs

    eval_config = o.settings(context, config, overrides)
    rows = eval_config.suite.published
    if rows not in PUBLISHED:
        raise UserError(f"suite.published is '{rows}': use {', '.join(PUBLISHED)}")
    files = [n for n in eval_config.suite.benchmarks or () if n.endswith((".yaml", ".yml"))]
    chosen = load_suite(eval_config.suite.name).adding(files)
    progress = make_progress()
    models = models_of(eval_config, progress)
    s = chosen.sampling
    protocol = Protocol("", s.n, 1, s.temperature, s.top_p, s.max_tokens or run_limit(models[1]))
    session = session_of(eval_config, models, settings_of(eval_config, *models[1:], protocol))
    selection = Selection(
        eval_config.suite.benchmarks, eval_config.data.limit, eval_config.suite.mirror
    )
    who = eval_config.scoring
    with stoppable(KEPT, progress):
        gathered = gather_benchmarks(chosen, selection, progress)
        is_checked_here = not (who.allow_weak or who.servers)
        if is_checked_here and any(
            runs_programs(s.task) for one in gathered.ready for s in one.samples
        ):
            why = no_isolation()
            gathered = gathered if why is None else without_code(gathered, why)
        settings = session.settings
        problems = sum(len(one.samples) for one in gathered.ready)
        say(f"suite {chosen.name}: {chosen.title}")
        say(f"models: {', '.join(t.label for t in session.targets)}")
        say(
            f"{len(gathered.ready)} benchmarks, {problems:,} problems · n {settings.n} · temperature "
            f"{settings.temperature:g} · top-p {settings.top_p:g} · at most {settings.max_tokens} tokens · "
            f"{problems * settings.n * len(session.targets):,} samples in all"
        )
        for failure in gathered.failures:
            warn(f"{failure.benchmark} cannot be loaded: {failure.reason}")
        for one in gathered.ready:
            for note in one.notes:
                warn(note)
        same = settings.repeated_answers()
        for line in [*([] if same is None else [same]), *_power_warnings(gathered, settings.n)]:
            warn(line)
        for note in chosen.notes:
            say(f"note: {note}")
        if not gathered.ready:
            warn("no benchmark of the suite could be loaded: nothing is sampled")
        shared = _find_shared_problems(gathered, session, progress)
        with open_pool(who.servers, who.workers, allow_weak=who.allow_weak, say=say) as pool:
            pool.require(sample.task for one in gathered.ready for sample in one.samples)
            result = run_suite(chosen, gathered, session, pool, progress)
    _show(replace(result, shared=shared), session, cast("RowChoice", rows), html, json_out)


def _power_warnings(gathered: Gathered, n: int) -> list[str]:
    from prorl_evaluation.stats.power import GAIN_OF_INTEREST, poor_power

    suite_warning = poor_power(sum(len(one.samples) for one in gathered.ready), n)
    if suite_warning is not None:
        return [suite_warning]
    alone = [one.name for one in gathered.ready if poor_power(len(one.samples), n) is not None]
    if not alone:
        return []
    names = ", ".join(alone)
    return [
        f"these benchmarks have too few problems to show a gain of {GAIN_OF_INTEREST:g} in pass@1: {names} (see prorl eval plan)"
    ]


def _find_shared_problems(
    gathered: Gathered, session: Session, progress: Progress
) -> dict[str, tuple[str, ...]]:
    from prorl_evaluation.suites.sources import shared_lines, shared_with, training_data

    data = training_data(session.run)
    if data is None or not gathered.ready:
        return {}
    try:
        shared = shared_with(gathered.ready, data, progress)
    except UserError as error:
        warn(f"cannot check whether the training data contains these problems: {error}")
        return {}
    for line in shared_lines(shared, gathered.ready):
        warn(line)
    return shared


def _show(
    result: SuiteResult, session: Session, choice: RowChoice, html: Path | None, json_out: bool
) -> None:
    from prorl_evaluation.suites.runner import suites_root
    from prorl_evaluation.suites.tables import save_suite, suite_json, suite_tables

    page = save_suite(result, suites_root(session.run, session.out), choice)
    tables = suite_tables(result, choice)
    if json_out:
        print_json(suite_json(result))
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
        from prorl_evaluation.report.data import ReportOptions
        from prorl_evaluation.suites.runner import finished_by_all

        finished, unfinished = finished_by_all(result.models)
        for name in unfinished:
            warn(f"{name} is not in the page, because not every model has finished it")
        if finished:
            folders = [m.folders[name] for m in result.models for name in finished]
            run = session.run.path if session.run is not None else None
            write_page(folders, ReportOptions(), html, run)
            say(f"page written: {html}")
        else:  # the exit code already reports the failures
            warn(
                "no page was written, because no benchmark is finished by all models; run "
                "the same command again to continue"
            )
    if result.failures:
        say(f"{len(result.failures)} benchmarks failed; run the same command again to retry them")
        raise typer.Exit(result.exit_code)


def _list_suites(json_out: bool) -> None:
    from prorl_evaluation.suites.suite import DatasetSpec, ProceduralSpec, load_suite, suite_names

    suites = [load_suite(name) for name in suite_names()]
    rows: list[dict[str, Any]] = []
    for suite in suites:
        for name, source in suite.sources.items():
            if isinstance(source, DatasetSpec):
                origin, need = source.dataset, "the folder"
            elif isinstance(source, ProceduralSpec) or source.hub is None:
                origin, need = "generated", "nothing"
            else:
                origin = source.hub.repo
                need = "the hub and its terms" if source.gated else "the hub or --mirror"
            metric = "pass@1" if suite.metric(name) == "mean_of_n" else "mean reward"
            row = {"suite": suite.name, "benchmark": name, "metric": metric, "from": origin}
            rows.append({**row, "needs": need})
    if json_out:
        print_json(rows)
        return
    head = ("suite", "benchmark", "metric", "from", "needs")
    console.print_table("", head, [tuple(row.values()) for row in rows], drop=("from",))
    say("run one: prorl eval run --suite NAME (or the path of a .yaml of your own)")


def regrade_command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A result folder.")],
    json_out: JsonNotTables = False,
    overrides: Sets = None,
) -> None:
    """Score an evaluation's answers again, without its model.

    Example: prorl eval regrade evals/final

    Settings for --set: scoring.servers, scoring.workers and scoring.allow_weak.
    """
    from prorl_evaluation import regrade
    from prorl_evaluation.tables import result_table
    from prorl_verifiers import open_pool

    who = o.settings(context, None, overrides, ("scoring",)).scoring
    with open_pool(who.servers, who.workers, allow_weak=who.allow_weak, say=say) as pool:
        report = regrade(folder, pool, make_progress())
    if json_out:
        row = {"verdicts": report.verdicts, "changed": report.changed}
        print_json({**row, "result": report.result.to_json()})
        return
    print_table(result_table(report.result))
    say(
        f"{report.changed} of {report.verdicts} verdicts changed; the old ones are kept beside them"
    )
