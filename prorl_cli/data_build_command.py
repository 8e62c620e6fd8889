"""``prorl data build``: choose the recipe, build with a progress bar, say what came of it.

Tables and JSON go to stdout, progress and messages to stderr. Leaves out: building (the datasets room).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import make_progress, print_json, say, warn
from prorl_cli.data_shared import (
    Json,
    Mirror,
    Workers,
    counts_table,
    isolated,
    table,
    workers_or_cores,
)
from prorl_cli.plugin_option import PluginOption

if TYPE_CHECKING:
    from prorl_datasets import BuildOptions, BuildReport


def build_command(
    recipe: Annotated[
        str | None,
        typer.Option(help="Recipe by name, or a .yaml file (default: ask the hub once)."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder (default: data/<recipe>).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed (default: the recipe's).")] = None,
    allow_short: Annotated[
        bool, typer.Option("--allow-short", help="Exit 0 even where a target was not reached.")
    ] = False,
    workers: Workers = None,
    mirror: Mirror = None,
    update_pins: Annotated[
        bool, typer.Option("--update-pins", help="Accept changed hub files and lock them anew.")
    ] = False,
    plugin: PluginOption = None,
    json_out: Json = False,
) -> None:
    """Build a dataset, or go on with one.

    Run again after an interruption, it goes on where it was. Exit 2: a target was not reached
    (--allow-short accepts that) or a mistake in recipe, sources or data.

    Files of the hub are locked in <recipe>.lock.json beside the output on the first build and
    checked on the next.
    """
    from prorl_datasets import BuildOptions

    options = BuildOptions(
        seed=seed,
        isolated=isolated(),
        workers=workers_or_cores(workers),
        mirror=mirror,
        update_pins=update_pins,
    )
    _show(_build(recipe, out, options), allow_short, json_out)


def _show(report: BuildReport, allow_short: bool, json_out: bool) -> None:
    """Print what came of a build; a shortfall exits 2 unless it is allowed."""
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


def _show_manifest(manifest: Mapping[str, Any]) -> None:
    from prorl_datasets.build.report import STAGE_NAMES

    counts_table(manifest["counts"])
    stages = manifest["stages"]
    rows = []
    for stage, label in STAGE_NAMES.items():
        numbers = [row[stage] for row in stages.values()]
        rows.append((label, *map(str, numbers), str(sum(numbers))))
    table("Stages", ("", *stages, "all"), rows)
    if manifest["drops"]:
        drops = [(reason, str(count)) for reason, count in manifest["drops"].items()]
        table("Dropped", ("reason", "items"), drops[:20])
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


def _say_short(short: Mapping[str, list[str]]) -> None:
    for name, splits in short.items():
        warn(f"{name} fell short: {', '.join(splits)} (kept/target)")
    say("the dataset is complete but for these; --allow-short accepts that")
