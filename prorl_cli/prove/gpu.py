"""``prorl prove gpu``: a verdict on a GPU machine within its first half hour, stage by stage."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli import console
from prorl_cli.options import Json, folder_to_write
from prorl_common import MissingExtraError, UserError, format_seconds, nearest

if TYPE_CHECKING:
    from prorl_cli.prove.stage import Place

TINY = "tiny"
"""The name of the random model of two layers."""


def gpu_command(
    minutes: Annotated[float, typer.Option(min=0.1, help="What it may take in all.")] = 30.0,
    model: Annotated[
        str | None,
        typer.Option(
            help=f"Cached name, folder or hub id, or {TINY} (default: prorl-v2's on a GPU, else {TINY})."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    out: Annotated[
        Path, typer.Option(help="Folder of the proof.", callback=folder_to_write)
    ] = Path("proof"),
    only: Annotated[
        list[str] | None, typer.Option("--stage", help="This stage alone; repeatable.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run the stages that have passed, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run every part once and say what passed.

    Stages that passed are kept: cut off and given again, it goes on. Without a GPU it runs on the CPU with a tiny model,
    and says what needs a GPU. Writes proof.json (for prorl plan --measured) and the rows for docs/status.md.
    """
    from prorl_cli.prove.kit import PROOF, ROWS, prove
    from prorl_cli.prove.stages import STAGES

    names = [stage.name for stage in STAGES]
    for name in only or ():
        if name not in names:
            raise UserError(
                f"unknown stage '{name}'{nearest(name, names)}; stages: {', '.join(names)}"
            )
    place = find_place(out, device, model, minutes)
    console.say(f"proof    {out} · {place.device_name} · {place.model}")
    results = []
    with console.stoppable("stopping; the stages that passed are kept", console.make_progress()):
        for result in prove(
            STAGES,
            place,
            only or None,
            again,
            started=lambda stage: console.say(f"...      {stage.name}: {stage.title}"),
        ):
            took = f" ({format_seconds(result.seconds)})" if result.seconds else ""
            console.say(f"{result.status:<8} {result.stage}{took}: {result.said}")
            results.append(result)
    if as_json:
        print((out / PROOF).read_text("utf-8"))
    console.say(f"written: {out / PROOF}, and the rows for docs/status.md in {out / ROWS}")
    failed = [r.stage for r in results if r.status == "fail"]
    if failed:
        console.say(f"failed: {', '.join(failed)}; their logs are in {out}")
        raise typer.Exit(1)


def find_place(out: Path, device: str, model: str | None, minutes: float) -> Place:
    """Return where the proof is made, with a model in place. Raises UserError."""
    for module in ("torch", "transformers"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("local", module)
    import platform

    import torch

    from prorl_cli.prove.stage import Place
    from prorl_inference import fetch_or_resolve, pick_device, quiet_transformers
    from prorl_inference.testing import byte_tokenizer, tiny_model
    from prorl_training.config.loading import load_config

    where = pick_device(device)
    on_gpu = where.startswith("cuda")
    name = torch.cuda.get_device_name(where) if on_gpu else f"CPU ({platform.machine()})"
    chosen = model or (load_config("prorl-v2").model.path if on_gpu else TINY)
    tiny = chosen == TINY
    if tiny:
        path = out / "model"
        with quiet_transformers():
            tiny_model(hidden=128).save_pretrained(path)
            byte_tokenizer().save_pretrained(path)
    else:
        path = fetch_or_resolve(chosen, console.make_progress())
    return Place(out.resolve(), where, name, path.resolve(), tiny, minutes * 60)
