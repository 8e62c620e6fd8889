"""``prorl eval table``: many models in one table, differences to a baseline claimed with care for their number.

Tables, Markdown and JSON go to stdout, messages to stderr. Leaves out: the numbers (``prorl_evaluation.model_table``).
"""

from __future__ import annotations

from typing import Annotated, cast

import typer

from prorl_cli.console import print_json, stdout_console
from prorl_cli.eval import options as o
from prorl_cli.eval.tables import print_table
from prorl_cli.options import JsonNotTables, PluginOption


def table_command(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            help="Result folders, folders of them (a suite's), or runs; the baseline first."
        ),
    ],
    baseline: Annotated[
        str | None,
        typer.Option(help="A model of the table, or one more result (default: the first)."),
    ] = None,
    by: Annotated[
        str, typer.Option(help="Columns: benchmark, domain, task, overall, or auto.")
    ] = "auto",
    k: o.ClaimK = None,
    alpha: o.Alpha = 0.05,
    cluster: o.Cluster = "problem",
    any_sampling: Annotated[
        bool,
        typer.Option("--any-sampling", help="Also compare results that were sampled otherwise."),
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown to stdout.")] = False,
    json_out: JsonNotTables = False,
    plugin: PluginOption = None,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Put many models in one table.

    pass@1 and pass@K by benchmark or domain on the problems that all share. Differences to the baseline are claimed
    only where they stand after a correction for the whole table.
    """
    from prorl_evaluation.model_table.gathering import gather_models
    from prorl_evaluation.model_table.shown import below, claims_table, table_markdown, value_table
    from prorl_evaluation.model_table.table import By, model_table

    asked = o.settings(context, config, overrides, ("comparison",)).comparison
    results, notes = gather_models(names, baseline, any_sampling=any_sampling)
    table = model_table(
        results,
        k=asked.k,
        alpha=asked.alpha,
        by=cast("By", by),
        cluster=asked.cluster,
        notes=notes,
    )
    if json_out:
        print_json(table.to_json())
        return
    if markdown:
        print(table_markdown(table), end="")
        return
    print_table(value_table(table))
    if table.claimed:
        print_table(claims_table(table))
    for line in below(table):
        stdout_console().print(line, markup=False, soft_wrap=True)
