"""``prorl data audit-golds``: golds that are no answers, by rule and by a model's votes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import KEPT, make_progress, print_json, say, stoppable
from prorl_cli.data.tables import table
from prorl_cli.options import JsonNotTables, PluginOption, folder_to_write
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_datasets.golds.audit import GoldItem


def audit_golds_command(
    target: Annotated[
        str, typer.Argument(help="A dataset, a recipe (its sources are read), or a file of rows.")
    ],
    prompt: Annotated[str | None, typer.Option(help="Of a file: the column of questions.")] = None,
    answer: Annotated[str | None, typer.Option(help="Of a file: the column of golds.")] = None,
    verifier: Annotated[str, typer.Option(help="Of a file: what scores it.")] = "math",
    votes: Annotated[
        list[Path] | None,
        typer.Option(
            help="Sampled responses (JSONL or Parquet: id or prompt, and response); repeatable."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Sample these votes now: a model's name, folder or hub id.")
    ] = None,
    samples: Annotated[int, typer.Option(min=3, help="With --model: answers a row.")] = 8,
    split: Annotated[str, typer.Option(help="With --model: train, validation or test.")] = "train",
    limit: Annotated[
        int | None, typer.Option(min=1, help="With --model: rows, the domains in turn.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="With --model: folder of the samples (default: DATASET.votes).",
            callback=folder_to_write,
        ),
    ] = None,
    mirror: Annotated[
        Path | None, typer.Option(help="Of a recipe: folder with copies of hub files.")
    ] = None,
    n: Annotated[int, typer.Option("--n", min=0, help="Examples of each rule.")] = 5,
    plugin: PluginOption = None,
    json_out: JsonNotTables = False,
) -> None:
    """Find golds that are no answers.

    By rule, and with --votes or --model where most responses of a model agree with each other against the gold. Exit 1:
    some were found.
    """
    from prorl_datasets.building.gold import open_scorer
    from prorl_datasets.golds.audit import MEANINGS, audit_golds
    from prorl_datasets.golds.items import gold_items
    from prorl_datasets.golds.votes import add_votes

    def items() -> Iterator[GoldItem]:
        return gold_items(target, prompt=prompt, answer=answer, verifier=verifier, mirror=mirror)

    files = list(votes or ())
    if model is not None:
        files.append(_sampled(model, Path(target), split, samples, limit, out))
    with open_scorer(1) as scorer:
        audit = audit_golds(items(), examples=n, scorer=scorer)
        if files:
            add_votes(audit, items(), files, scorer, n)
    if json_out:
        print_json(audit.as_json())
    elif audit.found:
        rows = [(rule, str(count), MEANINGS.get(rule, "")) for rule, count in audit.found.items()]
        table("Golds that are no answers", ("rule", "rows", "what it finds"), rows, words=2)
        for found in (f for held in audit.examples.values() for f in held):
            say(
                f"{found.place}: {found.rule}: {' · '.join(filter(None, (found.gold, found.detail)))}"
            )
    if audit.votes:
        say(
            "votes of {rows} rows: {agree} agree with the gold, {against} against, {undecided} undecided".format_map(
                audit.votes
            )
        )
    say(f"{audit.rows} rows · {audit.judged} golds judged · {audit.found.total()} found")
    if audit.found:
        raise typer.Exit(1)


def _sampled(
    model: str, dataset: Path, split: str, samples: int, limit: int | None, out: Path | None
) -> Path:
    """Sample a model on a dataset, or go on with that, as ``prorl eval pass-at-k`` does; return the file of samples."""
    from prorl_evaluation.sampling.asked import evaluate_models
    from prorl_evaluation.sampling.journal import SAMPLES_FILE

    if not dataset.is_dir():
        raise UserError(
            f"--model samples a dataset: build {dataset} first, or bring its responses with --votes"
        )
    folder = dataset.with_name(f"{dataset.name}.votes") if out is None else out
    settings: dict[str, Any] = {"data__split": split, "output__out": str(folder)}
    if limit is not None:
        settings["data__limit"] = limit
    progress = make_progress()
    with stoppable(KEPT, progress):
        evaluate_models(
            model,
            dataset=dataset,
            k=1,
            n=samples,
            progress=progress,
            **settings,
        )
    return folder / SAMPLES_FILE
