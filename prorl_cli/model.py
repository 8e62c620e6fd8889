"""``prorl model``: fetch the default model, list what is cached, ask a model one question.

Parses, calls the inference room, prints. The answer and the paths go to stdout, the rest to stderr.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, say, stdout_console
from prorl_cli.options import Json

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Fetch, list and try models."""


@app.command("fetch")
def fetch_command(
    name: Annotated[str, typer.Argument(help="A known model or a hub id.")] = "smollm2-135m",
    force: Annotated[bool, typer.Option(help="Make it anew even if it is cached.")] = False,
) -> None:
    """Download a model into the user cache, once, and print its folder."""
    from prorl_inference import fetch_or_resolve, is_cached

    progress = make_progress()
    if not force and is_cached(name):
        say(f"{name} is in the cache already (--force makes it anew)")
    try:
        path = fetch_or_resolve(name, progress, force=force)
    finally:
        progress.finish()
    print(path)


@app.command("list")
def list_command(json: Json = False) -> None:
    """Show the models that need no hub, and where they are."""
    from rich.table import Table

    from prorl_inference import list_models

    models = list_models()
    if json:
        print_json([asdict(model) for model in models])
        return
    table = Table("name", "model", "licence", "MB", box=None)
    table.add_column("folder", overflow="fold")
    for model in models:
        size = "-" if model.megabytes is None else f"{model.megabytes:.0f}"
        folder = f"not fetched: prorl model fetch {model.name}"
        table.add_row(model.name, model.title, model.licence, size, str(model.path or folder))
    stdout_console().print(table)


@app.command("chat")
def chat_command(
    prompt: Annotated[str, typer.Argument(help="What to ask.")],
    model: Annotated[
        str, typer.Option(help="A known model, a folder or a hub id.")
    ] = "smollm2-135m",
    temperature: Annotated[float, typer.Option(help="0 is greedy.")] = 0.6,
    max_tokens: Annotated[int, typer.Option(help="Longest answer, in tokens.")] = 256,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    json: Json = False,
) -> None:
    """Answer one prompt with a model, or a checkpoint's folder."""
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
