"""``prorl data inspect|verify|diff|export``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, print_table, say, stdout_console, warn
from prorl_cli.data.options import Workers, counts_table, isolated, show_example, workers_or_cores
from prorl_cli.options import JsonNotTables, RewardServers, folder_to_write, whole

Folder = Annotated[Path, typer.Argument(help="Dataset folder, or one of its Parquet files.")]


def inspect_command(
    folder: Folder,
    row: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Id of a row or a dropped item, to show it in full."),
    ] = None,
    n: Annotated[int, whole("--n", help="Number of sample prompts to show per domain.")] = 3,
    json_out: JsonNotTables = False,
) -> None:
    """Show counts, sources, gold checks and sample prompts.

    Example: prorl data inspect data/quickstart

    With the id of a row, shows its prompt, gold answer, verifier and source, or why the build dropped it.
    """
    from prorl_datasets import inspect

    if row is not None:
        _show_row(folder, row, json_out)
        return
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
        print_table(title, ("from", "rows", ""), drawn)
    for domain, answers in summary["answers"].items():
        total = sum(counts.get(domain, 0) for counts in summary["counts"].values())
        common = answers["commonest"].items()
        shares = [(answer, str(count), f"{count / total:.1%}") for answer, count in common]
        title = f"{domain}: commonest of {answers['different']} answers"
        print_table(title, ("answer", "rows", "share"), shares)
    for title in ("sources", "gold_check", "licences", "drops"):
        rows = [(key, str(count)) for key, count in summary[title].items()]
        if rows:
            print_table(title, (title, "rows"), rows)
    for example in summary["examples"]:
        show_example(example["id"], example["prompt"], str(example["gold_response"]))


def _show_row(folder: Path, row: str, json_out: bool) -> None:
    from prorl_datasets import show

    record = show(folder, row)
    if json_out:
        print_json(record)
        return
    console = stdout_console()
    if record["kept"]:
        show_example(record["id"], record["prompt"], record["gold_response"])
    facts = {k: v for k, v in record.items() if k not in ("prompt", "gold_response", "id")}
    for name, value in facts.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        console.print(f"{name}: {text}", markup=False, soft_wrap=True)


def export_command(
    folder: Folder,
    out: Annotated[
        Path, typer.Option(help="Folder to write; it must not exist.", callback=folder_to_write)
    ],
    fmt: Annotated[str, typer.Option("--format", help="Trainer: openrlhf, verl or trl.")],
    json_out: JsonNotTables = False,
) -> None:
    """Write the dataset in a trainer's format.

    Example: prorl data export data/quickstart --format trl --out trl

    prorl_verifiers.adapters has the reward function for each trainer.
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
            f"{' of extra_info' if fmt == 'verl' else ''}, which {fmt} does not read by itself: sample by it, or "
            "split the written files by it"
        )


def verify_command(
    folder: Folder,
    workers: Workers = None,
    reward_server: RewardServers = None,
    json_out: JsonNotTables = False,
) -> None:
    """Check a dataset's files, rows and gold answers.

    Example: prorl data verify data/quickstart

    Checks the file hashes, the form of every row, and every gold response with its verifier.
    """
    from prorl_datasets import verify_dataset

    report = verify_dataset(
        folder,
        progress=make_progress(),
        isolated=isolated(reward_server or ()),
        workers=workers_or_cores(workers),
        reward_servers=reward_server or (),
    )
    if report.skipped_code:
        warn(f"{report.skipped_code} code rows skipped: this machine cannot isolate untrusted code")
    for entry, unpaid in report.unpaid.items():
        warn(unpaid.warning(entry))
    if json_out:
        print_json(
            {
                "rows": report.rows,
                "checked": report.checked,
                "skipped_code": report.skipped_code,
                "without_gold": report.without_gold,
                "unpaid": {entry: unpaid.rows for entry, unpaid in report.unpaid.items()},
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


def diff_command(
    before: Annotated[
        Path, typer.Argument(help="First dataset: a folder, or one of its Parquet files.")
    ],
    after: Annotated[
        Path, typer.Argument(help="Second dataset: a folder, or one of its Parquet files.")
    ],
    json_out: JsonNotTables = False,
) -> None:
    """Compare two datasets by id.

    Example: prorl data diff data/before data/after

    Marks rows that are only in AFTER (+), only in BEFORE (-), or changed (~).
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
