"""``prorl model``: fetch the default model, list cached models, ask a model one question."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, print_table, say
from prorl_cli.options import Json, real, whole
from prorl_common import prorl_command
from prorl_common.seeds import MOST_SEED, MOST_TEMPERATURE

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Download, list and try models."""


@app.command("fetch")
def fetch_command(
    name: Annotated[
        str, typer.Argument(help="Model: a name from prorl model list, or a hub id.")
    ] = "smollm2-135m",
    force: Annotated[bool, typer.Option(help="Download again even if it is cached.")] = False,
) -> None:
    """Download a model into the user cache and print its folder.

    Example: prorl model fetch smollm2-135m
    """
    from prorl_inference import fetch_or_resolve, is_cached

    progress = make_progress()
    if not force and is_cached(name):
        say(f"{name} is already in the cache (--force downloads it again)")
    try:
        path = fetch_or_resolve(name, progress, force=force)
    finally:
        progress.finish()
    print(path)


@app.command("list")
def list_command(json: Json = False) -> None:
    """List the models that load without the hub, and their folders.

    Example: prorl model list
    """
    from prorl_inference import list_models

    models = list_models()
    if json:
        print_json([asdict(model) for model in models])
        return
    rows = []
    for model in models:
        size = "-" if model.megabytes is None else f"{model.megabytes:.0f}"
        folder = f"not fetched: {prorl_command('model', 'fetch', model.name)}"
        rows.append((model.name, model.title, model.licence, size, str(model.path or folder)))
    print_table("", ("name", "model", "licence", "MB", "folder"), rows, drop=("licence", "model"))


@app.command("chat")
def chat_command(
    prompt: Annotated[str, typer.Argument(help="Prompt to answer.")],
    model: Annotated[str, typer.Option(help="Model: name, folder or hub id.")] = "smollm2-135m",
    temperature: Annotated[
        float, real(high=MOST_TEMPERATURE, help="Sampling temperature; 0 is greedy.")
    ] = 0.6,
    max_tokens: Annotated[int, whole(low=1, help="Maximum tokens of the answer.")] = 256,
    seed: Annotated[int, whole(help="Seed of sampling.", high=MOST_SEED)] = 0,
    json: Json = False,
) -> None:
    """Answer one prompt with a model or a checkpoint.

    Example: prorl model chat "What is 17 + 25?" --model smollm2-135m
    """
    from prorl_inference import Request, SamplingParams, load_generator

    params = SamplingParams(temperature=temperature, top_p=1.0, max_tokens=max_tokens)
    generator = load_generator(model)
    try:
        request = Request([{"role": "user", "content": prompt}], (seed,))
        answer = generator.generate([request], params)[0][0]
    finally:
        generator.close()
    if json:
        print_json(asdict(answer))
        return
    print(answer.text)
    if answer.finish_reason == "length":
        say(f"(cut at {len(answer.token_ids)} tokens: --max-tokens allows more)")
