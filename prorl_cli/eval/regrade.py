"""``prorl eval regrade``: judge the answers of a finished result anew; needs no model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, say
from prorl_cli.eval import options as o
from prorl_cli.eval.tables import print_table
from prorl_cli.options import JsonNotTables, PluginOption


def regrade_command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A result folder.")],
    workers: o.Workers = 2,
    allow_weak: o.Weak = False,
    repair: o.Repair = False,
    json_out: JsonNotTables = False,
    plugin: PluginOption = None,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Score a folder's sampled answers anew; needs no model."""
    from prorl_evaluation import regrade
    from prorl_evaluation.sampling.journal import SAMPLES_FILE, VERDICTS_FILE
    from prorl_evaluation.sampling.repair import repair_folder
    from prorl_evaluation.tables import result_table
    from prorl_verifiers import VerifierPool

    asked = o.settings(context, config, overrides, ("scoring", "output"))
    for line in repair_folder(folder, SAMPLES_FILE, VERDICTS_FILE) if asked.output.repair else ():
        say(line)
    who = asked.scoring
    with VerifierPool(workers=who.workers, allow_weak=who.allow_weak) as pool:
        report = regrade(folder, pool, make_progress())
    if json_out:
        row = {"verdicts": report.verdicts, "changed": report.changed}
        print_json({**row, "result": report.result.to_json()})
        return
    print_table(result_table(report.result))
    say(
        f"{report.changed} of {report.verdicts} verdicts changed; the old ones are kept beside them"
    )
