"""``prorl push``: put a model on the hub, with a card that says how it was made and what was measured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, warn
from prorl_cli.options import JsonNotTables, PluginOption
from prorl_cli.uploads import show_upload
from prorl_common import UserError


def push(
    model: Annotated[
        str, typer.Argument(metavar="RUN|MODEL", help="A run, or a folder that holds a model.")
    ],
    repo: Annotated[str, typer.Argument(metavar="REPO", help="Where to: owner/name.")],
    checkpoint: Annotated[
        str, typer.Option(metavar="STEP", help="Of a run: latest, best or a step.")
    ] = "latest",
    fall_back: Annotated[
        bool, typer.Option("--fall-back", help="Where the newest is damaged, take an older one.")
    ] = False,
    evaluation: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="A result folder of this model or its base, baseline first; repeatable.",
        ),
    ] = None,
    license: Annotated[
        str | None, typer.Option(help="The base model's licence, where prorl does not know it.")
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository private, where it is made.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show files and card, and ask nobody.")
    ] = False,
    json_out: JsonNotTables = False,
    plugin: PluginOption = None,
) -> None:
    """Put a model on the Hugging Face hub in one commit.

    The model, a card with what was done, decided and measured, and the run's record. No prompts, answers, paths or tokens.
    Needs HF_TOKEN and the extra 'hub'.
    """
    from prorl_common.hub import check_repo
    from prorl_common.private import Private
    from prorl_evaluation import load_result
    from prorl_evaluation.report.card import card_evaluation, results_beside
    from prorl_training.publishing import facts_of_model, facts_of_run, plan_push, with_licence
    from prorl_training.publishing import push as push_model
    from prorl_training.publishing.facts import private_of
    from prorl_training.run.exporting import choose_checkpoint
    from prorl_training.run.folder import RUNS, find_run

    del plugin  # loaded by now
    check_repo(repo)
    results, folder = [load_result(path) for path in evaluation or []], Path(model)
    is_run = any((path / "config.yaml").is_file() for path in (folder, RUNS / model))
    run = None if folder.is_dir() and not is_run else find_run(model)
    if run is None:
        if checkpoint != "latest" or fall_back:
            raise UserError(
                f"{model} is a model's folder: --checkpoint and --fall-back are for runs"
            )
        clean = Private(os.environ, [model])
        facts = facts_of_model(folder, clean)
    else:
        if not checkpoint.isdigit() and checkpoint not in ("latest", "best"):
            raise UserError(f"--checkpoint is '{checkpoint}': use latest, best or a step number")
        step = int(checkpoint) if checkpoint.isdigit() else None
        chosen = choose_checkpoint(run, step, checkpoint == "best", fall_back)
        for trouble in chosen.passed_over:
            warn(f"passed over: {trouble}")
        clean = private_of(run, os.environ)
        facts = facts_of_run(run, chosen, clean)
        results = results or results_beside(run.path)
    if license is not None:
        facts = with_licence(facts, license)
    if evaluation and all(result.model_digest != facts.weights for result in results):
        raise UserError(
            f"none of the results given with --evaluation is of these weights ({facts.weights[:12]}): "
            "evaluate this very model, or leave the option out"
        )
    told = card_evaluation(results, repo, facts.weights, clean, None if run is None else run.path)
    done = plan_push(repo, facts, told, clean)
    if not told.section:
        warn("these weights were not evaluated: the card says so")
    if not dry_run:
        progress = make_progress()
        done = push_model(done, facts, private=private, environment=os.environ, progress=progress)
    card = done.files["README.md"]
    assert isinstance(card, bytes)
    show_upload(done, dry_run, json_out, {"card": card.decode()})
    if dry_run and not json_out:
        print(f"\n{card.decode()}", end="")
