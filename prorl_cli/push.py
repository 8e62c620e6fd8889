"""``prorl push``: upload a run, model or dataset to the hub, with its card."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import make_progress, print_json, say, warn
from prorl_cli.options import CheckpointStep, JsonNotTables
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common.hub import Upload

MANIFEST = "manifest.json"
"""File that marks a folder as a dataset."""


def push(
    model: Annotated[
        str,
        typer.Argument(
            metavar="RUN|MODEL|DATASET", help="A run, or the folder of a model or a dataset."
        ),
    ],
    repo: Annotated[str, typer.Argument(metavar="REPO", help="Repository on the hub: owner/name.")],
    checkpoint: CheckpointStep = "latest",
    evaluation: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Result folder of an evaluation of this model; repeatable. Give the base model's first, if any.",
        ),
    ] = None,
    license: Annotated[
        str | None, typer.Option(help="Licence of the base model, if prorl does not know it.")
    ] = None,
    private: Annotated[
        bool,
        typer.Option("--private", help="Create the repository as private if it does not exist."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the files and the card without uploading them.")
    ] = False,
    json_out: JsonNotTables = False,
) -> None:
    """Upload a model or a dataset to the Hugging Face hub.

    Example: prorl push mine owner/name --private

    Needs HF_TOKEN. A model is uploaded with a card and the run's settings and decisions, but without prompts, answers,
    paths or access tokens. A dataset is uploaded in the form that load_dataset reads, without the texts of dropped
    rows.
    """
    if (Path(model) / MANIFEST).is_file():
        if checkpoint != "latest" or evaluation or license is not None:
            raise UserError(
                f"{model} is a dataset: --checkpoint, --evaluation and --license are for models"
            )
        from prorl_datasets import plan_push as plan_dataset
        from prorl_datasets import push as push_dataset
        from prorl_datasets import rows_by_split

        dataset = Path(model)
        upload = (
            plan_dataset(dataset, repo)
            if dry_run
            else push_dataset(
                dataset, repo, private=private, environment=os.environ, progress=make_progress()
            )
        )
        show_upload(upload, dry_run, json_out, {"rows": rows_by_split(dataset)})
        return
    from prorl_common.hub import check_repo
    from prorl_common.private import Private
    from prorl_evaluation import load_result
    from prorl_evaluation.report.card import card_evaluation, results_beside
    from prorl_training.publishing.facts import facts_of_model, facts_of_run, private_of
    from prorl_training.publishing.plan import plan_push
    from prorl_training.publishing.plan import push as push_model
    from prorl_training.run.exporting import choose_checkpoint
    from prorl_training.run.folder import RUNS, find_run

    check_repo(repo)
    results, folder = [load_result(path) for path in evaluation or []], Path(model)
    is_run = (folder / "config.yaml").is_file()
    if folder.is_dir() and not is_run and "/" not in model and (RUNS / model).is_dir():
        raise UserError(
            f"{model} is both a folder here and a run: give ./{model} or {RUNS / model}"
        )
    run = None if folder.is_dir() and not is_run else find_run(model)
    if run is None:
        if checkpoint != "latest":
            raise UserError(f"{model} is a model's folder: --checkpoint is for runs")
        clean = Private(os.environ, [model])
        facts = facts_of_model(folder, clean)
    else:
        chosen = choose_checkpoint(run, checkpoint)
        clean = private_of(run, os.environ)
        facts = facts_of_run(run, chosen, clean)
        results = results or results_beside(run.path)
    if license is not None:
        facts = replace(facts, base=replace(facts.base, licence=license))
    if evaluation and all(result.model_digest != facts.weights for result in results):
        raise UserError(
            f"none of the results given with --evaluation belongs to these weights ({facts.weights[:12]}): "
            "give a result of this model, or remove the option"
        )
    evaluated = card_evaluation(
        results, repo, facts.weights, clean, None if run is None else run.path
    )
    upload = plan_push(repo, facts, evaluated, clean)
    if not evaluated.section:
        warn("these weights were not evaluated, and the card says so")
    if not dry_run:
        upload = push_model(upload, facts, private, os.environ, make_progress())
    card = upload.files["README.md"]
    assert isinstance(card, bytes)
    show_upload(upload, dry_run, json_out, {"card": card.decode()})
    if dry_run and not json_out:
        print(f"\n{card.decode()}", end="")


def show_upload(upload: Upload, dry_run: bool, json_out: bool, more: Mapping[str, Any]) -> None:
    """Print a planned or finished upload; ``more`` is added to the JSON."""
    if json_out:
        print_json({**upload.to_json(), **more})
        return
    for name, size in upload.sizes().items():
        print(f"{size:12,}  {name}")
    for name in upload.removed:
        print(f"     removed  {name}")
    say(
        f"dry run: nothing was sent to {upload.repo}"
        if dry_run
        else f"pushed: {upload.url} at {upload.commit[:8]}"
    )
