"""``prorl data rate``."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import KEPT, make_progress, print_json, say, stoppable, warn
from prorl_cli.eval import options as o
from prorl_cli.eval.showing import print_table
from prorl_cli.options import JsonNotTables, file_to_write, folder_to_write
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_datasets import Sample
    from prorl_evaluation.config import EvalConfig
    from prorl_evaluation.rating.store import Policy, RatingStore, RowSamples

Dataset = Annotated[
    Path | None,
    typer.Argument(help="Dataset folder, or one of its Parquet files (default: newest in data/)."),
]
Samples = Annotated[
    str | None,
    typer.Option(
        "--samples",
        metavar="INTEGER",
        help="Samples per row, including existing ones (default: 8).",
    ),
]
Split = Annotated[str, typer.Option(help="Split: train, validation or test.")]
Limit = Annotated[
    str | None,
    typer.Option(
        metavar="INTEGER", help="Rate at most this many rows, taken from the domains in turn."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the ratings (default: DATASET.ratings).", callback=folder_to_write
    ),
]
FromRun = Annotated[
    str | None,
    typer.Option(
        help="Import the rollouts of this run; of each row, only the newest step is used."
    ),
]
Steps = Annotated[
    str | None, typer.Option(metavar="A-B", help="Import only these steps of --from-run.")
]
FromEval = Annotated[
    list[Path] | None,
    typer.Option(help="Import the verdicts of this evaluation folder; repeatable."),
]
Suggest = Annotated[
    bool,
    typer.Option(
        "--suggest",
        help="Show pass rates by level, and the generator sizes whose pass rates are within --band.",
    ),
]
Band = Annotated[
    str,
    typer.Option(
        metavar="LOW,HIGH",
        help="Lowest and highest suitable pass rate, for --suggest and --recipe-out.",
    ),
]
RecipeOut = Annotated[
    Path | None,
    typer.Option(
        help="For a dataset built from prorl data ladder: write a recipe of the sizes within --band to this file, with 100 train and 10 test rows each.",
        callback=file_to_write,
    ),
]


def rate_command(
    context: typer.Context,
    dataset: Dataset = None,
    model: o.Model = None,
    n: Samples = None,
    split: Split = "train",
    limit: Limit = None,
    from_run: FromRun = None,
    steps: Steps = None,
    from_eval: FromEval = None,
    suggest: Suggest = False,
    band: Band = "0.1,0.9",
    recipe_out: RecipeOut = None,
    out: Out = None,
    json_out: JsonNotTables = False,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Measure how often a model solves each row.

    Example: prorl data rate data/mine --model smollm2-135m --samples 8

    Writes a histogram to the dataset's card, and pass_rates.jsonl, which the key `difficulty` of a recipe reads. If
    interrupted, run the same command to continue. Without --model, --from-run, --from-eval or --set server.url=URL, it
    shows the existing ratings.
    """
    from prorl_datasets import newest_dataset, read_manifest
    from prorl_evaluation.rating.rate import feed_evaluation, feed_run
    from prorl_evaluation.rating.store import STORE_FILE, RatingStore
    from prorl_evaluation.sampling.choose import DATA, find_run, pick_dataset

    eval_config = o.settings(context, config, overrides)
    ends, window = _band(band), None
    if steps is not None:
        match = re.fullmatch(r"(\d+)-(\d+)", steps)
        if match is None:
            raise UserError(
                f"--steps is '{steps}': give the first and the last, for example 100-200"
            )
        window = int(match[1]), int(match[2])
    if window is not None and from_run is None:
        raise UserError("--steps needs --from-run RUN")
    if recipe_out is not None and not suggest:
        raise UserError("--recipe-out needs --suggest")
    chosen = eval_config.data.dataset or newest_dataset(DATA)
    if chosen is None:
        raise UserError(f"no dataset under {DATA}/: make one with prorl data build, or name one")
    manifest = None if recipe_out is None else read_manifest(chosen)
    samples, _ = pick_dataset(chosen, split, eval_config.data.limit)
    folder = eval_config.output.out or chosen.with_name(f"{chosen.name}.ratings")
    sampled = eval_config.model.path is not None or bool(eval_config.server.url)
    if not (sampled or from_eval or from_run is not None or (folder / STORE_FILE).is_file()):
        raise UserError(
            f"{folder} has no ratings: make some with --model or --set server.url=URL, or "
            "import some with --from-run or --from-eval"
        )
    progress = make_progress()
    policies: list[Policy] = []
    with stoppable(KEPT, progress), RatingStore(folder) as store:
        for evaluation in from_eval or ():
            fed = feed_evaluation(store, samples, evaluation)
            say(f"{evaluation}: {fed.words()}")
            policies = fed.policies
        if from_run is not None:
            run = find_run(from_run)
            fed = feed_run(store, samples, run, window)
            say(f"run {run.name}: {fed.words()}")
            policies = fed.policies
        if sampled:
            policies = [_sample(eval_config, samples, store, progress)]
        if not policies:
            policies = store.policies()
            if len(policies) != 1:
                names = "; ".join(policy.words() for policy in policies[:5])
                raise UserError(
                    f"{store.path} has ratings of {len(policies)} policies ({names}): "
                    "choose one with --model or --from-run"
                )
        rated = store.rows(samples, policies)
    _show(chosen, folder, samples, rated, policies, ends if suggest else None, json_out)
    if recipe_out is not None and manifest is not None:
        from prorl_common import atomic_write_text
        from prorl_common.config import write_yaml
        from prorl_datasets.recipe.ladder import rungs_taken
        from prorl_evaluation.rating.summary import entries_in_band, row_rates

        entries = set(entries_in_band(row_rates(samples, rated), ends))
        recipe = rungs_taken(manifest, entries, {"train": 100, "test": 10})
        atomic_write_text(recipe_out, write_yaml(recipe))
        say(f"{len(recipe['entries'])} sizes in the band: {recipe_out}")


def _sample(
    eval_config: EvalConfig, samples: Sequence[Sample], store: RatingStore, progress: Progress
) -> Policy:
    from prorl_evaluation.rating.rate import rate
    from prorl_evaluation.sampling.command import (
        DEFAULT_MAX_TOKENS,
        Protocol,
        models_of,
        session_of,
        settings_of,
    )
    from prorl_evaluation.sampling.conversations import settings_for
    from prorl_inference.models.store import check_model
    from prorl_verifiers import open_pool

    models = models_of(eval_config, progress)
    (target,) = models[0]
    if not eval_config.server.url:
        check_model(target.model)
    protocol = Protocol("", 8, 1, 1.0, 1.0, DEFAULT_MAX_TOKENS)
    settings = settings_of(eval_config, *models[1:], protocol)
    settings = settings_for(samples, settings, k=1, label=target.label)
    session = session_of(eval_config, models, settings)
    say(
        f"{target.label} on {len(samples):,} rows · {settings.n} samples · temperature "
        f"{settings.temperature:g} · top-p {settings.top_p:g} · at most {settings.max_tokens} tokens"
    )
    if (same := settings.repeated_answers()) is not None:
        warn(same)
    who = eval_config.scoring
    with (
        contextlib.closing(session.open(target, progress)) as generator,
        open_pool(who.servers, who.workers, allow_weak=who.allow_weak, say=say) as pool,
    ):
        pool.require(sample.task for sample in samples)
        return rate(generator, samples, settings, store, pool, progress)


def _show(
    dataset: Path,
    folder: Path,
    samples: Sequence[Sample],
    rated: Mapping[str, RowSamples],
    policies: Sequence[Policy],
    band: tuple[float, float] | None,
    json_out: bool,
) -> None:
    from prorl_datasets.card import add_ratings
    from prorl_evaluation.rating.summary import (
        group_rates,
        rate_table,
        row_rates,
        suggest,
        suggestion_table,
        write_pass_rates,
    )

    rows = row_rates(samples, rated)
    if not rows:
        raise UserError(
            f"{folder} has no rating of a row of {dataset} by {policies[-1].words()}: name the dataset that was rated"
        )
    written = write_pass_rates(rows, folder)
    by_domain: dict[str, list[float]] = {}
    for row in rows:
        by_domain.setdefault(row.sample.domain, []).append(row.rate)
    words = policies[-1].words()
    if len(policies) > 1:
        words += ": the newest step of each row up to that step"
    parts = ("all", "domain", "family" if band is None else "level")
    groups = [group for part in parts for group in group_rates(rows, part)]
    advice = [] if band is None else suggest(rows, band)
    if json_out:
        value = {"policy": policies[-1].as_json(), "pass_rates": str(written)}
        details = {
            "groups": [g.as_json() for g in groups],
            "suggestions": [a.as_json() for a in advice],
        }
        print_json({**value, "rows": len(samples), "rated": len(rows), **details})
    else:
        print_table(rate_table(groups, f"{words}: {len(rows):,} of {len(samples):,} rows"))
        if band is not None:
            print_table(suggestion_table(advice, band))
    if dataset.is_dir() and add_ratings(dataset, by_domain, len(samples), words) is not None:
        say(f"histogram added to the card: {dataset / 'README.md'}")
    say(
        f"written: {written}; a recipe selects rows by it with difficulty: {{ratings: {folder}, band: [0.1, 0.9]}}"
    )


def _band(text: str) -> tuple[float, float]:
    with contextlib.suppress(ValueError):
        low, high = (float(part) for part in text.split(","))
        if 0 <= low <= high <= 1:
            return low, high
    raise UserError(f"--band is '{text}': give two pass rates, for example 0.1,0.9")
