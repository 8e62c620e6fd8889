"""``prorl verify audit``: search for wrong answers that earn reward; exits 1 on leaks with ``--fail-on-leak``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from prorl_cli.console import make_progress, print_json, print_table, say, stdout_console
from prorl_cli.options import Json, Modes, SandboxBackend, Timeout, Workers, file_to_write, whole
from prorl_common import UserError, nearest
from prorl_common.seeds import MOST_SEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prorl_verifiers.audit.report import AuditReport
    from prorl_verifiers.audit.search import Family
    from prorl_verifiers.audit_shape import AuditRequest, Group

Verifiers = Annotated[
    list[str] | None,
    typer.Option("--verifier", metavar="NAME", help="Audit only this verifier; repeatable."),
]
Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", metavar="NAME", help="Audit only this reasoning-gym dataset; repeatable."
    ),
]
Items = Annotated[int, whole(low=2, help="Number of items per reasoning-gym dataset.")]
Families = Annotated[
    list[str] | None,
    typer.Option(
        "--family",
        metavar="NAME",
        help="Try only this kind of answer: ignorant (ignores the problem) or spoilt (a right answer made wrong).",
    ),
]
File = Annotated[
    Path | None,
    typer.Option(
        "--file", metavar="ITEMS.jsonl", help='Audit your own tasks: a file of {"id", "task"} rows.'
    ),
]


def audit(
    verifier: Verifiers = None,
    dataset: Datasets = None,
    family: Families = None,
    items: Items = 20,
    seed: Annotated[int, whole(help="Seed of the generated items.", high=MOST_SEED)] = 0,
    rounds: Annotated[int, whole(help="Number of mutation rounds.")] = 2,
    workers: Workers = 2,
    timeout: Timeout = 5.0,
    file: File = None,
    mode: Modes = None,
    backend: SandboxBackend = "local",
    out: Annotated[
        Path | None,
        typer.Option(help="Write the report as JSON to this file.", callback=file_to_write),
    ] = None,
    fail_on_leak: Annotated[bool, typer.Option(help="Exit with 1 if there is a leak.")] = False,
    as_json: Json = False,
) -> None:
    """Search for wrong answers that earn reward.

    Example: prorl verify audit --verifier math

    Tries answers that ignore the problem, and right answers made wrong. A leak is an answer of either kind that
    earns more than chance.
    """
    from prorl_common import atomic_write_text
    from prorl_verifiers import VerifierPool, parse_modes
    from prorl_verifiers.audit.report import (
        as_document,
        fault_lines,
        plain_lines,
        run_audit,
        summary,
        with_modes,
    )
    from prorl_verifiers.audit.search import Settings
    from prorl_verifiers.audit_shape import AuditRequest

    modes = parse_modes(mode or [])
    settings = Settings(rounds, families=_families(family or []))
    groups, total = _groups(file, verifier or [], AuditRequest(tuple(dataset or ()), items, seed))
    with VerifierPool(workers, backend, timeout_seconds=timeout) as pool:
        report = run_audit(pool, with_modes(groups, modes), settings, make_progress(), total)
    facts: dict[str, Any] = {"items": items, "seed": seed, "rounds": rounds, "modes": modes}
    facts["families"] = list(settings.families)
    document = as_document(report, facts | {"file": None if file is None else file.name})
    if out is not None:
        atomic_write_text(out, json.dumps(document, indent=2, ensure_ascii=True) + "\n")
    if as_json:
        print_json(document)
    elif sys.stdout.isatty():
        console = stdout_console()
        _print_tables(report)
        for line in fault_lines(report):
            console.print(line, markup=False, soft_wrap=True)
    else:
        print("\n".join(plain_lines(report)))
    say(summary(report))
    if fail_on_leak and (report.leaks or report.paid):
        raise typer.Exit(1)


def _groups(
    file: Path | None, verifiers: list[str], request: AuditRequest
) -> tuple[Iterable[Group], int | None]:
    from prorl_verifiers import logic_datasets
    from prorl_verifiers.audit.report import audit_groups
    from prorl_verifiers.logic.generated import file_groups

    datasets = request.datasets
    if file is not None:
        if verifiers or datasets:
            raise UserError("--file has its own tasks: omit --verifier and --dataset")
        groups = file_groups(file)
        return groups, len(groups)
    if datasets:
        if verifiers and "logic" not in verifiers:
            raise UserError("--dataset belongs to the logic verifier: add --verifier logic")
        available = logic_datasets()
        for name in datasets:
            if name not in available:
                raise UserError(f"unknown reasoning-gym dataset {name!r}{nearest(name, available)}")
        verifiers = verifiers or ["logic"]
    total = len(datasets or logic_datasets()) if verifiers == ["logic"] else None
    return audit_groups(verifiers, request), total


def _families(names: list[str]) -> Sequence[Family]:
    from prorl_verifiers.audit.search import Family

    available: tuple[Family, ...] = get_args(Family)
    for name in names:
        if name not in available:
            raise UserError(
                f"unknown family {name!r}{nearest(name, available)}: use {' or '.join(available)}"
            )
    return [family for family in available if family in names] or available


def _print_tables(report: AuditReport) -> None:
    from rich.text import Text

    from prorl_verifiers.audit.report import COLUMNS, SPOILT_COLUMNS, cells, printable, spoilt_cells

    styles: dict[str, str] = {"LEAK": "bold red", "fault": "red", "above chance": "yellow"}
    for title, head, rows in (
        ("what ignorant answers earn", COLUMNS, [cells(group) for group in report.groups]),
        (
            "what spoilt right answers earn",
            SPOILT_COLUMNS,
            [spoilt_cells(g) for g in report.spoilt],
        ),
    ):
        if rows:
            texts = [list(map(printable, row)) for row in rows]
            drawn: list[Sequence[str | Text]] = [
                (Text(v, style=styles.get(v, "green")), *values) for v, *values in texts
            ]
            print_table(title, head, drawn, drop=("chance", "excess"))
