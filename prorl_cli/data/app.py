"""``prorl data``: build a dataset, look at it, check it again, compare two, list the recipes.

Each verb parses, calls one function of the datasets room and shows the result. Tables and JSON go
to stdout, progress and messages to stderr.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, say, stdout_console, warn
from prorl_cli.data.benchmarks import benchmarks_command
from prorl_cli.data.build import build_command
from prorl_cli.data.derive import filter_command, merge_command, show_command
from prorl_cli.data.doctor import doctor_command
from prorl_cli.data.golds import audit_golds_command
from prorl_cli.data.options import Workers, isolated, workers_or_cores
from prorl_cli.data.push import push_command
from prorl_cli.data.tables import counts_table, show_example, table
from prorl_cli.options import JsonNotTables, PluginOption, folder_to_write

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Folder = Annotated[Path, typer.Argument(help="A dataset folder, or one Parquet file of it.")]


@app.callback()
def group() -> None:
    """Build and inspect the training data."""


app.command("build")(build_command)


@app.command("inspect")
def inspect_command(
    folder: Folder,
    n: Annotated[int, typer.Option("--n", min=0, help="Sample prompts to show a domain.")] = 3,
    plugin: PluginOption = None,
    json_out: JsonNotTables = False,
) -> None:
    """Show counts, sources, gold checks and sample prompts."""
    from prorl_datasets import inspect

    summary = inspect(folder, n)
    if json_out:
        print_json(summary)
        return
    counts_table(summary["counts"])
    for domain, lengths in summary["prompt_characters"].items():
        bars = lengths["histogram"]
        total = sum(bars.values())
        drawn = [(edge, str(c), "█" * round(40 * c / total)) for edge, c in bars.items()]
        title = f"{domain}: prompt characters (median {lengths['median']}, largest {lengths['largest']})"
        table(title, ("from", "rows", ""), drawn, words=2)
    for domain, answers in summary["answers"].items():
        total = sum(counts.get(domain, 0) for counts in summary["counts"].values())
        common = answers["commonest"].items()
        shares = [(answer, str(count), f"{count / total:.1%}") for answer, count in common]
        title = f"{domain}: commonest of {answers['different']} answers"
        table(title, ("answer", "rows", "share"), shares)
    for title in ("sources", "gold_check", "licences", "drops"):
        rows = [(key, str(count)) for key, count in summary[title].items()]
        if rows:
            table(title, (title, "rows"), rows)
    for example in summary["examples"]:
        show_example(example["id"], example["prompt"], str(example["gold_response"]))


@app.command("export")
def export_command(
    folder: Folder,
    out: Annotated[
        Path, typer.Option(help="Folder to write (must not exist).", callback=folder_to_write)
    ],
    fmt: Annotated[str, typer.Option("--format", help="openrlhf, verl or trl.")],
    json_out: JsonNotTables = False,
) -> None:
    """Write the dataset in the shape that a trainer reads.

    prorl_verifiers.adapters holds the reward function that each trainer is pointed at.
    """
    from prorl_datasets import export

    written = export(folder, out, fmt)
    if json_out:
        weights = {f"{weight:g}": rows for weight, rows in sorted(written.weights.items())}
        print_json({"path": str(out), "rows": written.rows, "weights": weights})
    else:
        for name, rows in written.rows.items():
            say(f"{out / name}: {rows} rows")
    if written.weighs:
        shares = ", ".join(f"{w:g} ({n} rows)" for w, n in sorted(written.weights.items()))
        warn(
            f"training rows have sampling weights: {shares}. They are in the column weight"
            f"{' of extra_info' if fmt == 'verl' else ''}, which {fmt} does not read by itself: sample by it, or export "
            "each weight's rows (prorl data filter --where 'weight == 2') and blend the files"
        )


@app.command("verify")
def verify_command(
    folder: Folder,
    workers: Workers = None,
    plugin: PluginOption = None,
    json_out: JsonNotTables = False,
) -> None:
    """Check files, rows and gold again.

    File hashes, the form of every row, and every gold response through its verifier.
    """
    from prorl_datasets import verify_dataset

    report = verify_dataset(
        folder, progress=make_progress(), isolated=isolated(), workers=workers_or_cores(workers)
    )
    if report.skipped_code:
        warn(f"{report.skipped_code} code rows skipped: this machine cannot isolate untrusted code")
    if json_out:
        print_json(
            {
                "rows": report.rows,
                "checked": report.checked,
                "skipped_code": report.skipped_code,
                "without_gold": report.without_gold,
                "failed": [{"id": i, "reason": reason} for i, reason in report.failed],
                "malformed": [{"id": i, "reason": reason} for i, reason in report.malformed],
            }
        )
    else:
        for sample_id, reason in (*report.malformed[:20], *report.failed[:20]):
            say(f"{sample_id}: {reason}")
        say(
            f"{report.rows} rows · {report.checked} golds checked · {len(report.failed)} failed · "
            f"{report.without_gold} without gold · {len(report.malformed)} malformed"
        )
    if not report.ok:
        raise typer.Exit(1)


@app.command("diff")
def diff_command(
    before: Annotated[Path, typer.Argument(help="Dataset A.")],
    after: Annotated[Path, typer.Argument(help="Dataset B.")],
    json_out: JsonNotTables = False,
) -> None:
    """Compare two datasets by id.

    In B only (+), in A only (-), changed (~).
    """
    from prorl_datasets import diff

    report = diff(before, after)
    if json_out:
        print_json({"added": report.added, "removed": report.removed, "changed": report.changed})
        return
    for mark, ids in (("+", report.added), ("-", report.removed), ("~", report.changed)):
        for sample_id in ids:
            print(f"{mark} {sample_id}")
    say(
        f"{len(report.added)} added · {len(report.removed)} removed · {len(report.changed)} changed"
    )


@app.command("recipes")
def recipes_command(plugin: PluginOption = None, json_out: JsonNotTables = False) -> None:
    """List the recipes there are by name."""
    from rich.table import Table

    from prorl_datasets import load_recipe, recipe_names

    recipes = [load_recipe(name) for name in recipe_names()]
    if json_out:
        print_json([{"name": r.name, "description": r.description} for r in recipes])
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("recipe", no_wrap=True)
    table.add_column("what it is")
    for recipe in recipes:
        table.add_row(recipe.name, recipe.description)
    stdout_console().print(table, markup=False)


app.command("show")(show_command)
app.command("filter")(filter_command)
app.command("merge")(merge_command)
app.command("audit-golds")(audit_golds_command)
app.command("benchmarks")(benchmarks_command)
app.command("doctor")(doctor_command)
app.command("push")(push_command)
