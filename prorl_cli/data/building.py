"""``prorl data recipes|benchmarks|build|ladder``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import KEPT, make_progress, print_json, print_table, say, stoppable, warn
from prorl_cli.data.options import (
    Only,
    Skip,
    Workers,
    counts_table,
    isolated,
    show_example,
    workers_or_cores,
)
from prorl_cli.options import Json, JsonNotTables, RewardServers, file_to_write, whole
from prorl_common.seeds import MOST_SEED

if TYPE_CHECKING:
    from prorl_datasets import BuildOptions, BuildReport, Recipe
    from prorl_datasets.benchmarks import Loaded
    from prorl_datasets.types import Sample


def recipes_command(json_out: JsonNotTables = False) -> None:
    """List the available recipes.

    Example: prorl data recipes
    """
    from prorl_datasets import load_recipe, recipe_names

    recipes = [load_recipe(name) for name in recipe_names()]
    if json_out:
        print_json([{"name": r.name, "description": r.description} for r in recipes])
        return
    print_table("", ("recipe", "what it is"), [(r.name, r.description) for r in recipes])


_METRICS = {"mean_of_n": "pass@1", "mean_reward": "reward"}
"""Short names of metrics in tables."""
GOLDS = 200
"""Maximum number of gold answers of a benchmark that are checked."""


def benchmarks_command(
    name: Annotated[
        str | None,
        typer.Argument(help="Benchmark to load: a name or a YAML file (default: list all)."),
    ] = None,
    mirror: Annotated[
        Path | None,
        typer.Option(help="Folder with local copies: <owner>/<name>/<file> or <benchmark>.jsonl."),
    ] = None,
    n: Annotated[int, whole("--n", help="Number of samples to show.")] = 2,
    start: Annotated[
        str | None, typer.Option(help="Omit problems dated before this day (YYYY-MM-DD).")
    ] = None,
    end: Annotated[
        str | None, typer.Option(help="Omit problems dated after this day (YYYY-MM-DD).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write all samples to this .jsonl file.", callback=file_to_write),
    ] = None,
    json_out: Json = False,
) -> None:
    """List the benchmarks, or load one and check its gold answers.

    Example: prorl data benchmarks aime_2024
    """
    if name is None:
        _list(json_out)
        return
    from prorl_common import atomic_write_text
    from prorl_datasets import DatasetError
    from prorl_datasets.benchmarks import load_spec, read_benchmark

    spec = load_spec(name)
    window = None
    if start is not None or end is not None:
        if spec.window is None:
            raise DatasetError(f"benchmark {name} has no dates: remove --start and --end")
        first, last = spec.window
        window = (start or first.isoformat(), end or last.isoformat())
    few = max(n, 1) if spec.generated is not None and out is None else None
    loaded = read_benchmark(name, mirror=mirror, window=window, limit=few)
    if few is not None:
        say(f"generated only the first {few} samples of each task and size; --out generates all")
    if loaded.note is not None:
        warn(loaded.note)
    for row in loaded.unusable[:5]:
        warn(f"omitted: {row.where}: {row.reason}")
    if len(loaded.unusable) > 5:
        warn(f"omitted: {len(loaded.unusable) - 5} more rows")
    if out is not None:
        lines = [json.dumps(_plain(s), ensure_ascii=False) for s in loaded.samples]
        atomic_write_text(out, "".join(line + "\n" for line in lines))
        say(f"{len(lines)} samples written: {out}")
    examples = [] if loaded.spec.gated else loaded.samples[:n]
    if json_out:
        print_json(
            {
                "name": loaded.spec.name,
                "samples": len(loaded.samples),
                "expected": loaded.expected,
                "unusable": [{"where": u.where, "reason": u.reason} for u in loaded.unusable],
                "origin": loaded.origin,
                "revision": loaded.revision,
                "gated": loaded.spec.gated,
                "examples": [_plain(s) for s in examples],
            }
        )
    else:
        for sample in examples:
            gold = sample.metadata.get("gold_response")
            show_example(sample.id, sample.prompt, gold)
        if loaded.spec.gated and n:
            say(
                "no rows are shown, because they must not be published; --out writes them to a file"
            )
        say(f"{loaded.spec.name}: {len(loaded.samples)} samples from {loaded.origin}")
    _check_golds(loaded, n)


def _check_golds(loaded: Loaded, n: int) -> None:
    from prorl_verifiers import VerifierPool, runs_programs

    step = max(1, len(loaded.samples) // GOLDS)
    checked = [s for s in loaded.samples[::step] if s.metadata.get("gold_response") is not None]
    checked = [s for s in checked if not runs_programs(s.task)]
    if not checked or not n:
        return
    with VerifierPool() as pool:
        verdicts = pool.score([(str(s.metadata["gold_response"]), s.task) for s in checked])
    accepted = sum(verdict.reward == 1 for verdict in verdicts)
    say(f"golds accepted: {accepted} of {len(checked)}")
    for sample, verdict in zip(checked, verdicts, strict=True):
        if verdict.reward != 1:
            warn(f"{sample.id}: gold not accepted: {verdict.reason}")
            break


def _list(json_out: bool) -> None:
    from prorl_datasets.benchmarks import benchmark_names, load_spec

    specs = [load_spec(name) for name in benchmark_names()]
    if json_out:
        print_json([s.model_dump(mode="json", exclude_none=True) for s in specs])
        return
    rows = []
    for spec in specs:
        source = "generated" if spec.hub is None else spec.hub.repo
        items = "-" if spec.expected_rows is None else str(spec.expected_rows)
        rows.append((spec.name, items, _METRICS[spec.metric], source))
    print_table("", ("benchmark", "items", "metric", "source"), rows)
    say("licences, revisions, columns and notes: --json")


def _plain(sample: Sample) -> dict[str, Any]:
    return {
        "id": sample.id,
        "domain": sample.domain,
        "split": sample.split,
        "prompt": [dict(message) for message in sample.prompt],
        "task": {"verifier": sample.task.verifier, "reference": sample.task.reference},
        "source": sample.source,
        "licence": sample.licence,
        "gold_check": sample.gold_check,
        "metadata": dict(sample.metadata),
    }


def build_command(
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Recipe: a name or a .yaml file (default: prorl-136k, or prorl-136k-procedural if the hub cannot be reached)."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder (default: data/<recipe>).")
    ] = None,
    seed: Annotated[int | None, whole(help="Seed (default: the recipe's).", high=MOST_SEED)] = None,
    allow_short: Annotated[
        bool,
        typer.Option(
            "--allow-short", help="Exit with 0 even if a source yielded less than its min_share."
        ),
    ] = False,
    limit: Annotated[
        int | None,
        whole(
            low=1, help="Build only about this many rows, proportionally from each entry and split."
        ),
    ] = None,
    only: Only = None,
    skip: Skip = None,
    workers: Workers = None,
    mirror: Annotated[
        Path | None,
        typer.Option(help="Folder with local copies of hub files: <owner>/<name>/<file>."),
    ] = None,
    update_pins: Annotated[
        bool,
        typer.Option("--update-pins", help="Accept changed hub files and update the lock file."),
    ] = False,
    reward_server: RewardServers = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check that every source can be read; build nothing.")
    ] = False,
    json_out: JsonNotTables = False,
) -> None:
    """Build a dataset, or continue a build.

    Example: prorl data build --recipe quickstart

    If interrupted, or after entries are added to the recipe, run the same command to continue. Exits with 1 if a source
    could not be loaded (the others are built). Exits with 2 if the recipe, a source or the data is invalid, or if a
    source yielded less than its min_share of the rows asked for.

    The first build records the hashes of hub files in <recipe>.lock.json beside the output, and later builds check
    them.
    """
    from prorl_datasets import BuildOptions, build, choose_bare_recipe, load_recipe
    from prorl_datasets.building.builder import check_folders
    from prorl_datasets.candidate import STAGE_NAMES
    from prorl_datasets.hub.reach import HUB_RECIPE

    options = BuildOptions(
        seed=seed,
        isolated=isolated(reward_server or ()),
        workers=workers_or_cores(workers),
        reward_servers=tuple(reward_server or ()),
        mirror=mirror,
        update_pins=update_pins,
        only=tuple(only or ()),
        skip=tuple(skip or ()),
        limit=limit,
    )
    if recipe is None and check:
        recipe = HUB_RECIPE
    if recipe is None:
        recipe, why = choose_bare_recipe()
        warn(why)
    chosen = load_recipe(recipe)
    if check:
        _check_sources(chosen, options, json_out)
        return
    name = chosen.name if limit is None else f"{chosen.name}-limit-{limit}"
    out = out if out is not None else Path("data") / name
    seed = chosen.seed if seed is None else seed
    check_folders(out, mirror)
    say(f"recipe {chosen.name} · seed {seed} · {len(chosen.entries)} entries · into {out}")
    progress = make_progress()
    with stoppable(KEPT, progress):
        report = build(chosen, out, progress=progress, options=options)
    manifest = report.manifest
    if json_out:
        print_json(
            {
                "path": str(report.path),
                "reused": report.reused,
                **manifest,
                "failures": dict(report.failed),
            }
        )
    else:
        counts_table(manifest["counts"])
        stages = manifest["stages"]
        rows = []
        for stage, label in STAGE_NAMES.items():
            numbers = [row[stage] for row in stages.values()]
            rows.append((label, *map(str, numbers), str(sum(numbers))))
        print_table("Stages", ("", *stages, "all"), rows)
        if manifest["drops"]:
            drops = [(reason, str(count)) for reason, count in manifest["drops"].items()]
            print_table("Dropped", ("reason", "items"), drops[:20])
        say("gold check: " + " · ".join(f"{k} {n}" for k, n in manifest["gold_check"].items()))
        if manifest["gold_types"]:
            print_table(
                "Gold answers",
                ("type", "rows"),
                [(k, str(n)) for k, n in manifest["gold_types"].items()],
            )
        if untyped := manifest["untyped_golds"]:
            warn(
                f"{len(untyped)} golds have no type, so answers can only match them as text: see untyped_golds in "
                "manifest.json"
            )
        leaks = manifest["decontamination"]
        if checked := leaks["checked"]:
            like = sum(leaks["rows_like_an_item"].values())
            say(
                f"decontamination: {len(checked)} benchmarks checked, {like} rows similar to an item"
            )
        if missing := leaks["not_checked"]:
            warn(f"not checked against {len(missing)} benchmarks: {', '.join(missing)}")
        for verifier, reason in manifest["left_out"].items():
            warn(f"{verifier} is left out: {reason}")
        if bad := sum(
            n for reason, n in manifest["drops"].items() if reason.startswith("bad row: ")
        ):
            held = "quarantine.jsonl" in manifest["files"]
            warn(f"{bad} bad rows left out{'; see quarantine.jsonl' if held else ''}")
        for entry in manifest["entries"]:
            if left_out := entry.get("tests_left_out"):
                reasons = ", ".join(f"{reason} {count}" for reason, count in left_out.items())
                say(f"{entry['name']}: tests left out: {reasons}")
            if entry["candidates"] and not any(s["kept"] for s in entry["splits"].values()):
                worst = sorted(entry["drops"].items(), key=lambda item: -item[1])[:5]
                reasons = "; ".join(f"{reason} ({count})" for reason, count in worst)
                warn(f"{entry['name']}: none of {entry['candidates']} rows was kept: {reasons}")
    raise typer.Exit(_report_end(report, allow_short))


def _check_sources(recipe: Recipe, options: BuildOptions, json_out: bool) -> None:
    from prorl_datasets import examine_sources

    checked = examine_sources(recipe, options.only, options.skip, options.mirror, make_progress())
    sources = list(checked)
    entries = {entry.name for entry in recipe.select(options.only, options.skip)}
    if not any(source.name in entries for source in sources):
        warn(f"no source of {recipe.name} is on the hub, so none was checked")
    for source in [] if json_out else sources:
        if source.problem:
            state = "FAILED " if source.name in entries else "skipped"
            print(f"{state} {source.name}: {source.repo}: {source.problem}")
            continue
        revision = f" at {source.revision[:8]}" if source.revision else ""
        print(
            f"ok      {source.name}: {source.repo}{revision}: {', '.join(source.candidates)} "
            f"({len(source.files)} files, {source.size / 1e6:,.1f} MB; columns {', '.join(source.columns)})"
        )
    if json_out:
        print_json([{"ok": not source.problem, **asdict(source)} for source in sources])
    if any(source.problem for source in sources if source.name in entries):
        raise typer.Exit(1)


def _report_end(report: BuildReport, allow_short: bool) -> int:
    for name in report.too_short:
        splits = ", ".join(report.short[name])
        warn(f"{name} is below its min_share: {splits} (kept/target)")
    few = [
        f"{name} {', '.join(s)}" for name, s in report.short.items() if name not in report.too_short
    ]
    line = f"dataset {'kept' if report.reused else 'written'}: {report.path}"
    if few:
        line += f"; below target (kept/target): {'; '.join(few)}"
    if report.failed:
        for name, reason in report.failed.items():
            warn(f"{name} is missing: {reason}")
        say(f"{line}; WITHOUT {', '.join(report.failed)}: the same command continues with them")
        return 1
    if skipped := report.manifest["skipped"]:
        line += f"; without {', '.join(skipped)} (--only, --skip)"
    if report.too_short:
        line += f"; {', '.join(report.too_short)} are below min_share; --allow-short accepts that"
    say(line)
    return 2 if report.too_short and not allow_short else 0


def ladder_command(
    recipe: Annotated[str, typer.Argument(help="Recipe: a name or a .yaml file.")],
    out: Annotated[
        Path, typer.Option(help="Recipe file to write (.yaml).", callback=file_to_write)
    ],
    items: Annotated[int, whole(low=1, help="Number of rows of each generator at each size.")] = 8,
    split: Annotated[str, typer.Option(help="Split: train, validation or test.")] = "train",
    only: Annotated[
        list[str] | None,
        typer.Option(help="Use only this entry of the recipe; repeatable (default: all)."),
    ] = None,
) -> None:
    """Write a recipe with every generator at each size.

    Example: prorl data ladder quickstart --out ladder.yaml

    The sizes of a problem family are its levels. Those of a reasoning-gym task are its configuration in the recipe and
    the first levels of its curriculum. Build the new recipe, then run prorl data rate --suggest to see which sizes suit
    a model.
    """
    from prorl_common import UserError, atomic_write_text, nearest, prorl_command
    from prorl_common.config import write_yaml
    from prorl_datasets import SPLITS, load_recipe
    from prorl_datasets.recipe.ladder import ladder

    if split not in SPLITS:
        raise UserError(
            f"unknown split '{split}'{nearest(split, SPLITS)}; known: {', '.join(SPLITS)}"
        )
    ladder_recipe = ladder(load_recipe(recipe), items, split, only or [], make_progress())
    atomic_write_text(out, write_yaml(ladder_recipe))
    say(
        f"{len(ladder_recipe['entries'])} entries of {items} rows: {out}; build it with "
        f"{prorl_command('data', 'build', '--recipe', out)}"
    )
