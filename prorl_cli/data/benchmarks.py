"""``prorl data benchmarks``: list the benchmarks, or load one and show or write its samples.

Leaves out: sampling and scoring (``prorl eval``). Rows of gated benchmarks are never printed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import print_json, say, stdout_console, warn
from prorl_cli.data.tables import show_example
from prorl_cli.options import Json, PluginOption, file_to_write

if TYPE_CHECKING:
    from prorl_datasets.benchmarks import Loaded
    from prorl_datasets.types import Sample

_METRICS = {"mean_of_n": "pass@1", "mean_reward": "reward"}
"""Both are means over the samples of an item; the full names are in --json and in the docs."""
GOLDS = 200
"""Gold answers checked at most, spread over a benchmark; the rest is `prorl data verify`'s."""


def benchmarks_command(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Benchmark to load, by name or by the path of its YAML file; without it all are listed."
        ),
    ] = None,
    mirror: Annotated[
        Path | None, typer.Option(help="Folder with <owner>/<name>/<file> or <benchmark>.jsonl.")
    ] = None,
    n: Annotated[int, typer.Option("--n", min=0, help="Samples to show.")] = 2,
    start: Annotated[str | None, typer.Option(help="First contest day (YYYY-MM-DD).")] = None,
    end: Annotated[str | None, typer.Option(help="Last contest day (YYYY-MM-DD).")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write all samples to this .jsonl.", callback=file_to_write)
    ] = None,
    json_out: Json = False,
    plugin: PluginOption = None,
) -> None:
    """List the benchmarks, or load one and check its gold answers."""
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
            raise DatasetError(f"benchmark {name} has no dates; leave out --start and --end")
        first, last = spec.window
        window = (start or first.isoformat(), end or last.isoformat())
    few = max(n, 1) if spec.generated is not None and out is None else None
    loaded = read_benchmark(name, mirror=mirror, window=window, limit=few)
    if few is not None:
        say(f"generated: the first {few} of each task (and rung) only; --out makes all")
    if loaded.note is not None:
        warn(loaded.note)
    for row in loaded.unusable[:5]:
        warn(f"left out: {row.where}: {row.reason}")
    if len(loaded.unusable) > 5:
        warn(f"left out: {len(loaded.unusable) - 5} more rows")
    if out is not None:
        lines = [json.dumps(_plain(s), ensure_ascii=False) for s in loaded.samples]
        atomic_write_text(out, "".join(line + "\n" for line in lines))
        say(f"{len(lines)} samples written: {out}")
    shown = [] if loaded.spec.gated else loaded.samples[:n]
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
                "examples": [_plain(s) for s in shown],
            }
        )
    else:
        for sample in shown:
            gold = sample.metadata.get("gold_response")
            show_example(sample.id, sample.prompt, gold)
        if loaded.spec.gated and n:
            say("its rows must not be published, so none is shown; --out writes them to a file")
        say(f"{loaded.spec.name}: {len(loaded.samples)} samples from {loaded.origin}")
    _check_golds(loaded, n)


def _check_golds(loaded: Loaded, n: int) -> None:
    """Say how many gold responses the benchmark's own verifier accepts. Code is not run here."""
    from prorl_verifiers import VerifierPool, runs_programs

    step = max(1, len(loaded.samples) // GOLDS)
    known = [s for s in loaded.samples[::step] if s.metadata.get("gold_response") is not None]
    known = [s for s in known if not runs_programs(s.task)]
    if not known or not n:
        return
    with VerifierPool() as pool:
        verdicts = pool.score([(str(s.metadata["gold_response"]), s.task) for s in known])
    accepted = sum(verdict.reward == 1 for verdict in verdicts)
    say(f"golds accepted: {accepted} of {len(known)}")
    for sample, verdict in zip(known, verdicts, strict=True):
        if verdict.reward != 1:
            warn(f"{sample.id}: gold not accepted: {verdict.reason}")
            break


def _list(json_out: bool) -> None:
    from rich.table import Table

    from prorl_datasets.benchmarks import benchmark_names, load_spec

    specs = [load_spec(name) for name in benchmark_names()]
    if json_out:
        print_json([s.model_dump(mode="json", exclude_none=True) for s in specs])
        return
    table = Table(box=None, pad_edge=False)
    for title in ("benchmark", "items", "metric", "source"):
        table.add_column(title, justify="right" if title == "items" else "left", overflow="fold")
    for spec in specs:
        source = "generated" if spec.hub is None else spec.hub.repo
        items = "-" if spec.expected_rows is None else str(spec.expected_rows)
        table.add_row(spec.name, items, _METRICS[spec.metric], source)
    stdout_console().print(table)
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
