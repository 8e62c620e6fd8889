"""``prorl data``: build a dataset, look at it, check it again, compare two, list the recipes.

Each verb parses, calls one function of the datasets room and shows the result. Tables and JSON go
to stdout, progress and messages to stderr.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import make_progress, print_json, say, stdout_console, warn
from prorl_cli.data_benchmarks_command import benchmarks_command

if TYPE_CHECKING:
    from prorl_datasets import BuildOptions, BuildReport

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout instead of tables.")]
Folder = Annotated[Path, typer.Argument(help="A dataset folder, or one Parquet file of it.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes that work; the result is the same.")]
Mirror = Annotated[
    Path | None, typer.Option(help="Folder with copies of hub files: DIR/<owner>/<name>/<file>.")
]


@app.callback()
def group() -> None:
    """Build and inspect the training data."""


@app.command("build")
def build_command(
    recipe: Annotated[
        str | None, typer.Option(help="Packaged recipe or .yaml file (default: ask the hub once).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder (default: data/<recipe>).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Replace the recipe's seed.")] = None,
    allow_short: Annotated[
        bool, typer.Option("--allow-short", help="Exit 0 even where a target was not reached.")
    ] = False,
    workers: Workers = 2,
    mirror: Mirror = None,
    update_pins: Annotated[
        bool, typer.Option("--update-pins", help="Lock the hub files as they are now.")
    ] = False,
    json_out: Json = False,
) -> None:
    """Build a dataset; run again after an interruption, it goes on where it was.

    Files of the hub are locked in <recipe>.lock.json beside the output on the first build and
    checked on the next.
    """
    from prorl_datasets import BuildOptions

    isolated = _isolated()
    options = BuildOptions(
        seed=seed, isolated=isolated, workers=workers, mirror=mirror, update_pins=update_pins
    )
    report = _build(recipe, out, options)
    if json_out:
        print_json({"path": str(report.path), "reused": report.reused, **report.manifest})
    else:
        _show_manifest(report.manifest)
        say(f"dataset {'kept' if report.reused else 'written'}: {report.path}")
    if report.short:
        _say_short(report.short)
        if not allow_short:
            raise typer.Exit(2)


def _build(recipe: str | None, out: Path | None, options: BuildOptions) -> BuildReport:
    """Choose the recipe, say what was chosen, build with a progress bar."""
    from prorl_datasets import build, choose_bare_recipe, load_recipe

    if recipe is None:
        recipe, why = choose_bare_recipe()
        warn(why)
    chosen = load_recipe(recipe)
    out = out if out is not None else Path("data") / chosen.name
    seed = chosen.seed if options.seed is None else options.seed
    say(f"recipe {chosen.name} · seed {seed} · {len(chosen.entries)} entries · into {out}")
    progress = make_progress()
    try:
        return build(chosen, out, progress=progress, options=options)
    except KeyboardInterrupt:
        progress.finish()
        say("interrupted; finished parts are kept, run the same command to go on")
        raise


def _isolated() -> bool:
    """Return whether this machine can isolate untrusted code."""
    from prorl_sandbox import probe

    return bool(probe().strong)


def _show_manifest(manifest: Mapping[str, Any]) -> None:
    from prorl_datasets.report import STAGE_NAMES

    _counts_table(manifest["counts"])
    stages = manifest["stages"]
    rows = []
    for stage, label in STAGE_NAMES.items():
        numbers = [row[stage] for row in stages.values()]
        rows.append((label, *map(str, numbers), str(sum(numbers))))
    _table("Stages", ("", *stages, "all"), rows)
    if manifest["drops"]:
        drops = [(reason, str(count)) for reason, count in manifest["drops"].items()]
        _table("Dropped", ("reason", "items"), drops[:20])
    checks = " · ".join(f"{k} {n}" for k, n in manifest["gold_check"].items())
    say(f"gold check: {checks}")
    _say_benchmarks(manifest["decontamination"])
    for domain, reason in manifest["left_out"].items():
        warn(f"domain {domain} is left out: {reason}")


def _say_benchmarks(found: Mapping[str, Any]) -> None:
    if found["checked"]:
        like = sum(found["rows_like_an_item"].values())
        say(
            f"decontamination: {len(found['checked'])} benchmarks checked, {like} rows like an item"
        )
    if found["not_checked"]:
        names = ", ".join(found["not_checked"])
        warn(f"not checked against {len(found['not_checked'])} benchmarks: {names}")


def _counts_table(counts: Mapping[str, Mapping[str, int]]) -> None:
    splits = [s for s in counts if counts[s]]
    domains = list(dict.fromkeys(d for s in splits for d in counts[s]))
    rows = [(d, *(str(counts[s].get(d, 0)) for s in splits)) for d in domains]
    rows.append(("all", *(str(sum(counts[s].values())) for s in splits)))
    _table("Rows", ("domain", *splits), rows)


def _table(
    title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], words: int = 0
) -> None:
    """Print a table; the first column and the one numbered ``words`` hold text, the others numbers."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for place, name in enumerate(head):
        table.add_column(name, justify="left" if place in (0, words) else "right")
    for row in rows:
        table.add_row(*row)
    stdout_console().print(table)


def _say_short(short: Mapping[str, list[str]]) -> None:
    for name, splits in short.items():
        warn(f"{name} fell short: {', '.join(splits)} (kept/target)")
    say("the dataset is complete but for these; --allow-short accepts that")


@app.command("inspect")
def inspect_command(
    folder: Folder,
    n: Annotated[int, typer.Option("--n", min=0, help="Sample prompts to show a domain.")] = 3,
    json_out: Json = False,
) -> None:
    """Show counts, sources, gold checks and sample prompts."""
    from prorl_datasets import inspect

    summary = inspect(folder, n)
    if json_out:
        print_json(summary)
        return
    _counts_table(summary["counts"])
    _show_histograms(summary)
    for title in ("sources", "gold_check", "licences", "drops"):
        rows = [(key, str(count)) for key, count in summary[title].items()]
        if rows:
            _table(title, (title, "rows"), rows)
    for example in summary["examples"]:
        console = stdout_console()
        console.print(f"\n{example['id']}", style="bold", markup=False)
        for message in example["prompt"]:
            console.print(f"{message['role']}: {message['content']}", markup=False)
        console.print(f"gold: {example['gold_response']}", style="dim", markup=False)


def _show_histograms(summary: Mapping[str, Any]) -> None:
    """Show prompt lengths as bars, and the commonest answers, by domain."""
    for domain, lengths in summary["prompt_characters"].items():
        total = sum(lengths["histogram"].values())
        rows = [
            (edge, str(count), "█" * round(40 * count / total))
            for edge, count in lengths["histogram"].items()
        ]
        title = f"{domain}: prompt characters (median {lengths['median']}, largest {lengths['largest']})"
        _table(title, ("from", "rows", ""), rows, words=2)
    for domain, answers in summary["answers"].items():
        total = summary["rows"] and sum(
            counts.get(domain, 0) for counts in summary["counts"].values()
        )
        rows = [
            (answer, str(count), f"{count / total:.1%}")
            for answer, count in answers["commonest"].items()
        ]
        _table(
            f"{domain}: commonest of {answers['different']} answers",
            ("answer", "rows", "share"),
            rows,
        )


@app.command("export")
def export_command(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="Folder to write (must not exist).")],
    fmt: Annotated[str, typer.Option("--format", help="openrlhf, verl or trl.")],
    json_out: Json = False,
) -> None:
    """Write the dataset in the shape that a trainer reads."""
    from prorl_datasets import export

    written = export(folder, out, fmt)
    if json_out:
        print_json({"path": str(out), "rows": written})
        return
    for name, rows in written.items():
        say(f"{out / name}: {rows} rows")


@app.command("verify")
def verify_command(folder: Folder, workers: Workers = 2, json_out: Json = False) -> None:
    """Check file hashes and every row's form, and run every gold response through its verifier again."""
    from prorl_datasets import verify_dataset

    report = verify_dataset(folder, progress=make_progress(), isolated=_isolated(), workers=workers)
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
    json_out: Json = False,
) -> None:
    """List the ids that are in B only (+), in A only (-), or differ (~)."""
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
def recipes_command(json_out: Json = False) -> None:
    """List the packaged recipes."""
    from prorl_datasets import load_recipe, recipe_names

    recipes = [load_recipe(name) for name in recipe_names()]
    if json_out:
        print_json([{"name": r.name, "description": r.description} for r in recipes])
        return
    for recipe in recipes:
        print(f"{recipe.name}\n    {recipe.description}")


app.command("benchmarks")(benchmarks_command)
