"""``prorl eval compare|table|novelty``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import make_progress, print_json, say, stdout_console, warn
from prorl_cli.eval import options as o
from prorl_cli.eval.showing import print_table, warn_of, write_page
from prorl_cli.options import JsonNotTables, Sets, file_to_write
from prorl_common import UserError, atomic_write_text, prorl_command

if TYPE_CHECKING:
    from prorl_evaluation.config import ComparisonSection
    from prorl_evaluation.novelty.corpus import Corpus
    from prorl_evaluation.report.data import ReportOptions
    from prorl_evaluation.tables import TextTable


def compare_command(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Result folders or runs, the baseline first.")],
    html: Annotated[
        Path | None,
        typer.Option(
            help="Also write an HTML page with numbers, curves, claims and answers to this file.",
            callback=file_to_write,
        ),
    ] = None,
    md: o.MarkdownFile = None,
    k: o.ClaimK = None,
    json_out: JsonNotTables = False,
    overrides: Sets = None,
) -> None:
    """Compare evaluations on the problems they share.

    Example: prorl eval compare evals/base evals/final --html report.html

    Compares every result with the first. Shows paired differences, and claims about which groups of problems became
    solvable or unsolvable at pass@k (boundary claims). The claims are corrected together for multiple testing. Settings
    for --set: comparison.alpha, comparison.margin, comparison.cluster, comparison.false_positive_rate, and
    comparison.any_sampling=true to compare results that were sampled differently.
    """
    from prorl_evaluation import boundary_report, compare
    from prorl_evaluation.boundary.tables import (
        boundary_tables,
        suspicion_table,
        suspicions,
    )
    from prorl_evaluation.compare import baseline_place, check_alike
    from prorl_evaluation.report.data import report_data
    from prorl_evaluation.sampling.choose import gather
    from prorl_evaluation.tables import comparison_table, interval_table, near_n_lines, result_table
    from prorl_evaluation.types import finite, shown_ks

    section = o.settings(context, None, overrides, ("comparison",)).comparison
    stored = gather(names)
    # The results of one run begin with its base model, which a warm start precedes.
    first = 0 if len(names) > 1 else baseline_place([r.label for r in stored.results])
    results = stored.results[first:]
    check_alike(results, any_sampling=section.any_sampling)
    options = report_options(names, section)
    report = boundary_report(results, options.boundary)
    comparisons = [compare(results[0], later, cluster=section.cluster) for later in results[1:]]
    extra: dict[str, Any] = {}
    extra_tables: list[TextTable] = []
    if (rate := section.false_positive_rate) > 0:
        suspect = suspicions(results, rate)
        extra_tables.append(suspicion_table(suspect, rate))
        extra["false_positives"] = [
            {"label": label, "rows": [finite(dataclasses.asdict(s)) for s in rows]}
            for label, rows in suspect
        ]
    if html is not None:
        write_page(stored.folders(), options, html, stored.run)
        say(f"page written: {html}")
    if md is not None:
        from prorl_evaluation.report.markdown import write_markdown

        data = report_data(stored.results, stored.run, options, report)
        say(f"tables written: {write_markdown(data, md)}")
    if json_out:
        values = [c.to_json() for c in comparisons]
        print_json({"comparisons": values, "boundary": report.to_json(), **extra})
        return
    metrics = [*(f"pass@{k}" for k in shown_ks(results)), "reward"]
    tables = [result_table(r) for r in results]
    tables += [comparison_table(c, metrics) for c in comparisons]
    tables.append(interval_table(results, comparisons))
    for table in [*tables, *boundary_tables(report), *extra_tables]:
        print_table(table)
    for line in dict.fromkeys([*near_n_lines(results), *report.near_n, *report.warnings]):
        warn(line)
    for comparison in comparisons:
        warn_of(comparison)


def report_options(names: Sequence[str], section: ComparisonSection) -> ReportOptions:
    from prorl_evaluation import BoundaryOptions
    from prorl_evaluation.report.data import ReportOptions

    options = BoundaryOptions(
        k=section.k, alpha=section.alpha, margin=section.margin, cluster=section.cluster
    )
    rate = section.false_positive_rate
    usual, values = dataclasses.asdict(BoundaryOptions()), dataclasses.asdict(options)
    words: list[object] = ["eval", "compare", *names]
    changed = {name: value for name, value in values.items() if value != usual[name]}
    changed |= {"false_positive_rate": f"{rate:g}"} if rate else {}
    for name, value in changed.items():
        words += ["--k", value] if name == "k" else ["--set", f"comparison.{name}={value}"]
    words += ["--html", "report.html"]
    return ReportOptions(options, len(names) > 1, rate, prorl_command(*words))


def table_command(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            help="Result folders, folders that contain them, or runs; the baseline first."
        ),
    ],
    md: o.MarkdownFile = None,
    json_out: JsonNotTables = False,
    overrides: Sets = None,
) -> None:
    """Show many models in one table.

    Example: prorl eval table evals/suites

    Shows pass@1 and pass@k by benchmark or domain, on the problems that all models share. A difference from the
    baseline is marked only if it is significant after a correction for the whole table. Settings for --set:
    comparison.k, comparison.alpha, comparison.cluster, and comparison.any_sampling=true to show results that were
    sampled differently.
    """
    from prorl_evaluation.model_table import (
        below,
        claims_table,
        gather_models,
        model_table,
        table_markdown,
        value_table,
    )

    section = o.settings(context, None, overrides, ("comparison",)).comparison
    results, notes = gather_models(names, section.any_sampling)
    table = model_table(
        results, k=section.k, alpha=section.alpha, cluster=section.cluster, notes=notes
    )
    if md is not None:
        atomic_write_text(md, table_markdown(table))
        say(f"table written: {md}")
    if json_out:
        print_json(table.to_json())
        return
    print_table(value_table(table))
    claims = claims_table(table)
    if claims.rows:
        print_table(claims)
    for line in below(table):
        stdout_console().print(line, markup=False, soft_wrap=True)


Results = Annotated[
    list[Path],
    typer.Argument(
        help="Result folders or .jsonl files; the later ones are compared with the first."
    ),
]
CorpusPaths = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="Corpus file or folder: text, JSON lines, CSV or Parquet; repeatable.",
    ),
]
AgainstPath = Annotated[
    Path | None,
    typer.Option("--against", help="Result folder of the base model, used instead of a corpus."),
]


def novelty_command(
    context: typer.Context,
    results: Results,
    corpus: CorpusPaths = None,
    against: AgainstPath = None,
    json_out: JsonNotTables = False,
    overrides: Sets = None,
) -> None:
    """Measure what share of the answers is absent from a corpus.

    Example: prorl eval novelty evals/final --against evals/base

    A word counts as absent if it is not part of any n-gram that also occurs in the corpus, as in the creativity index.
    Give --corpus, or --against with the base model's results. Nothing is downloaded. Settings for --set:
    novelty.lengths, novelty.samples, novelty.column and novelty.seed.
    """
    from prorl_evaluation.novelty.corpus import FileCorpus
    from prorl_evaluation.novelty.coverage import measure
    from prorl_evaluation.novelty.responses import against_base, read_responses
    from prorl_evaluation.novelty.summary import (
        change_table,
        changes,
        novelty_table,
        summarise,
        to_json,
    )
    from prorl_evaluation.stats.intervals import Resampling

    section = o.settings(context, None, overrides, ("novelty",)).novelty
    sizes = _sizes(section.lengths)
    if (section.corpus is None) == (section.against is None):
        raise UserError("give either --corpus FILE_OR_FOLDER or --against RESULT_FOLDER")
    models = [read_responses(path, section.samples) for path in results]
    held: Corpus
    if section.against is None:
        paths = section.corpus or []
        held = FileCorpus(paths, section.column)
        count = len(held.files())
        called = paths[0].name if len(paths) == 1 else f"{len(paths)} corpora"
        called += f" ({count} file{'' if count == 1 else 's'})"
    else:
        base = read_responses(section.against)
        held, control = against_base(base, models)
        called = f"{len(held.texts):,} responses of {base.label}"
        if control is None:
            warn(f"{base.label} has one sample per problem, so no control can be split off")
        else:
            models = [control, *models]
    responses = [r for m in models for r in m.responses]
    measured, read = measure(responses, held, sizes, make_progress())
    say(f"corpus: {read.documents:,} documents, {read.words:,} words, {read.bytes / 1e6:,.1f} MB")
    if not read.words:
        warn("the corpus contains no words, so every word counts as new")
    resampling = Resampling(seed=section.seed)
    rows = iter(measured)
    scored = [(m.label, [next(rows) for _ in m.responses]) for m in models]
    groups = [g for label, values in scored for g in summarise(label, values, sizes, resampling)]
    differences = changes(scored, sizes, resampling)
    if json_out:
        print_json(
            {
                "corpus": called,
                "read": {"documents": read.documents, "words": read.words},
                "lengths": list(sizes),
                "groups": [to_json(g) for g in groups],
                "changes": [to_json(c) for c in differences],
            }
        )
        return
    print_table(novelty_table(groups, called))
    if differences:
        print_table(change_table(differences))
    for g in groups:
        if g.short:
            warn(
                f"{g.label}, {g.group}: {g.short} of {g.responses} responses have fewer than "
                f"{sizes[-1]} words and do not count"
            )


def _sizes(lengths: str) -> tuple[int, ...]:
    first, _, last = lengths.partition("-")
    if not (first.isdigit() and (last or first).isdigit()):
        raise UserError(
            f"novelty.lengths is '{lengths}': give the smallest and the largest n-gram length, such as 5-12"
        )
    low, high = int(first), int(last or first)
    if not 1 <= low <= high <= 64:
        raise UserError(
            f"novelty.lengths is '{lengths}': give two ascending numbers between 1 and 64"
        )
    return tuple(range(low, high + 1))
