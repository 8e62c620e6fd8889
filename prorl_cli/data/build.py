"""``prorl data build``: choose the recipe, build with a progress bar, say what came of it.

Tables and JSON go to stdout, progress and messages to stderr.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import make_progress, print_json, say, stoppable, warn
from prorl_cli.data.options import Only, Skip, Workers, isolated, workers_or_cores
from prorl_cli.data.tables import counts_table, table
from prorl_cli.options import JsonNotTables, PluginOption

if TYPE_CHECKING:
    from prorl_datasets import BuildReport


def build_command(
    recipe: Annotated[
        str | None,
        typer.Option(help="Name of a recipe or a .yaml file (default: ask the hub once)."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder (default: data/<recipe>).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed (default: the recipe's).")] = None,
    allow_short: Annotated[
        bool, typer.Option("--allow-short", help="Exit 0 even where a source yielded too little.")
    ] = False,
    only: Only = None,
    skip: Skip = None,
    workers: Workers = None,
    mirror: Annotated[
        Path | None,
        typer.Option(help="Folder with copies of hub files: DIR/<owner>/<name>/<file>."),
    ] = None,
    update_pins: Annotated[
        bool, typer.Option("--update-pins", help="Accept changed hub files and lock them anew.")
    ] = False,
    plugin: PluginOption = None,
    json_out: JsonNotTables = False,
) -> None:
    """Build a dataset, or go on with one.

    Run again after an interruption or with more of its entries, it goes on where it was. Exit 1: a source could not be
    had or read, and the others are built. Exit 2: a source yielded too little of its target (min_share of the recipe;
    --allow-short accepts that), or a mistake in recipe, sources or data.

    Files of the hub are locked in <recipe>.lock.json beside the output on the first build and
    checked on the next.
    """
    from prorl_datasets import BuildOptions, build, choose_bare_recipe, load_recipe
    from prorl_datasets.building.builder import check_folders
    from prorl_datasets.building.report import STAGE_NAMES

    options = BuildOptions(
        seed=seed,
        isolated=isolated(),
        workers=workers_or_cores(workers),
        mirror=mirror,
        update_pins=update_pins,
        only=tuple(only or ()),
        skip=tuple(skip or ()),
    )
    if recipe is None:
        recipe, why = choose_bare_recipe()
        warn(why)
    chosen = load_recipe(recipe)
    out = out if out is not None else Path("data") / chosen.name
    seed = chosen.seed if seed is None else seed
    check_folders(out, mirror)
    say(f"recipe {chosen.name} · seed {seed} · {len(chosen.entries)} entries · into {out}")
    progress = make_progress()
    kept = "stopping; finished parts are kept, give the same command again to go on"
    with stoppable(kept, progress):
        report = build(chosen, out, progress=progress, options=options)
    found = report.manifest
    if json_out:
        print_json(
            {
                "path": str(report.path),
                "reused": report.reused,
                **found,
                "failures": dict(report.failed),
            }
        )
    else:
        counts_table(found["counts"])
        stages = found["stages"]
        rows = []
        for stage, label in STAGE_NAMES.items():
            numbers = [row[stage] for row in stages.values()]
            rows.append((label, *map(str, numbers), str(sum(numbers))))
        table("Stages", ("", *stages, "all"), rows)
        if found["drops"]:
            drops = [(reason, str(count)) for reason, count in found["drops"].items()]
            table("Dropped", ("reason", "items"), drops[:20])
        say("gold check: " + " · ".join(f"{k} {n}" for k, n in found["gold_check"].items()))
        if found["gold_types"]:
            table(
                "Gold answers",
                ("type", "rows"),
                [(k, str(n)) for k, n in found["gold_types"].items()],
            )
        if untyped := found["untyped_golds"]:
            warn("golds without a type, which answers can only match as text:")
            for row in untyped[:20]:
                warn(f"  {row['id']}: {row['gold']}")
            if len(untyped) > 20:
                warn(f"  and {len(untyped) - 20} more: see untyped_golds in manifest.json")
        leaks = found["decontamination"]
        if checked := leaks["checked"]:
            like = sum(leaks["rows_like_an_item"].values())
            say(f"decontamination: {len(checked)} benchmarks checked, {like} rows like an item")
        if missing := leaks["not_checked"]:
            warn(f"not checked against {len(missing)} benchmarks: {', '.join(missing)}")
        for verifier, reason in found["left_out"].items():
            warn(f"{verifier} is left out: {reason}")
        if bad := sum(n for reason, n in found["drops"].items() if reason.startswith("bad row: ")):
            held = "quarantine.jsonl" in found["files"]
            warn(f"{bad} bad rows left out{'; see quarantine.jsonl' if held else ''}")
        for entry in found["entries"]:
            _tests(entry)
            if entry["candidates"] and not any(s["kept"] for s in entry["splits"].values()):
                worst = sorted(entry["drops"].items(), key=lambda item: -item[1])[:5]
                reasons = "; ".join(f"{reason} ({count})" for reason, count in worst)
                warn(f"{entry['name']}: none of {entry['candidates']} rows was kept: {reasons}")
    raise typer.Exit(_conclude(report, allow_short))


def _tests(entry: Mapping[str, Any]) -> None:
    """Say how many tests of an entry's rows were left out."""
    if left_out := entry.get("tests_left_out"):
        reasons = ", ".join(f"{reason} {count}" for reason, count in left_out.items())
        say(f"{entry['name']}: tests left out: {reasons}")


def _conclude(report: BuildReport, allow_short: bool) -> int:
    """Say how the build ended, the last line last; return the exit code."""
    for name in report.too_short:
        splits = ", ".join(report.short[name])
        warn(f"{name} fell short: {splits} (kept/target), below its min_share")
    few = [
        f"{name} {', '.join(s)}" for name, s in report.short.items() if name not in report.too_short
    ]
    line = f"dataset {'kept' if report.reused else 'written'}: {report.path}"
    if few:
        line += f"; a little short (kept/target): {'; '.join(few)}"
    if report.failed:
        for name, reason in report.failed.items():
            warn(f"{name} is missing: {reason}")
        say(f"{line}; WITHOUT {', '.join(report.failed)}: the same command goes on with them")
        return 1
    if skipped := report.manifest["skipped"]:
        line += f"; without {', '.join(skipped)} (--only, --skip)"
    if report.too_short:
        line += f"; {', '.join(report.too_short)} fell too short; --allow-short accepts that"
    say(line)
    return 2 if report.too_short and not allow_short else 0
