"""The ``--server`` options of the ``prorl eval`` verbs, and what they make.

Leaves out: talking to the server (``prorl_inference``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_evaluation.config import ServerSection
    from prorl_evaluation.sampling.choose import Target
    from prorl_evaluation.sampling.session import Server

Url = Annotated[
    str | None,
    typer.Option(
        "--server", help="Sample from this OpenAI-compatible server, http://host:8000/v1."
    ),
]
Model = Annotated[
    str | None, typer.Option("--server-model", help="Its name there (default: the only one).")
]
Api = Annotated[
    str,
    typer.Option(
        "--server-api",
        help="completions (prompts as token ids), chat, or auto: the former with a tokenizer.",
    ),
]
KeyEnv = Annotated[
    str | None,
    typer.Option("--server-key-env", help="Environment variable that holds the server's key."),
]
Weights = Annotated[
    Path | None,
    typer.Option("--server-weights", help="Folder with the very weights that are served."),
]
Tokenizer = Annotated[
    str | None, typer.Option("--server-tokenizer", help="The model's tokenizer, if not there.")
]
Extra = Annotated[
    str | None,
    typer.Option("--server-extra", help="More request fields, JSON; part of the samples' key."),
]
Concurrency = Annotated[int, typer.Option("--server-concurrency", min=1, help="Requests at once.")]
Timeout = Annotated[
    float, typer.Option("--server-timeout", min=1.0, help="Seconds an answer may take.")
]
Patience = Annotated[
    float,
    typer.Option("--server-patience", min=1.0, help="Seconds to wait for a server that is gone."),
]
Rpm = Annotated[float | None, typer.Option("--server-rpm", help="Most requests a minute.")]
Tpm = Annotated[float | None, typer.Option("--server-tpm", help="Most tokens a minute.")]
Refusals = Annotated[
    str,
    typer.Option(
        "--server-refusals",
        help="stop at a sample that the server refuses, or record it (counted, never scored).",
    ),
]
Price = Annotated[
    str | None,
    typer.Option("--server-price", help="in,out per million tokens: shows the cost."),
]


def check_unused(server: ServerSection) -> None:
    """Raise UserError where an option of a server is given; called where ``--server`` is not."""
    named = [f"--server-{name.replace('_', '-')}" for name in server.changed()]
    if named:
        verb = "is" if len(named) == 1 else "are"
        raise UserError(
            f"{', '.join(named)} {verb} given without --server: add --server http://host:8000/v1, "
            "or leave out what is of a server"
        )


def server_of(url: str, given: ServerSection, run_weights: str | None = None) -> Server:
    """Return the server at ``url``.

    ``run_weights`` is the model folder of the checkpoint that was asked for, if any. Raises UserError.
    """
    import json

    from prorl_evaluation.sampling.session import Server
    from prorl_inference import ServerOptions
    from prorl_inference.backends.openai.options import parse_extra, parse_price, server_address

    server_address(url)
    weights = given.weights or _folder(run_weights)
    if weights is not None and not any(weights.glob("*.safetensors")):
        raise UserError(
            f"--server-weights {weights} holds no .safetensors file: name the model's folder"
        )
    extra = json.dumps(given.extra) if isinstance(given.extra, dict) else given.extra
    options = ServerOptions(
        model=given.model,
        api=given.api,
        key_env=given.key_env,
        weights=weights,
        tokenizer=given.tokenizer,
        extra=parse_extra(extra),
        concurrency=given.concurrency,
        timeout=given.timeout,
        patience=given.patience,
        rpm=given.rpm,
        tpm=given.tpm,
        refusals=given.refusals,
        price=parse_price(given.price),
    )
    return Server(url, options)


def _folder(name: str | None) -> Path | None:
    path = Path(name) if name is not None else None
    return path if path is not None and path.is_dir() else None


def named_server(
    server: Server, target: Target | None, tell: Callable[[str], None]
) -> tuple[Server, Target]:
    """Return the server with its model's name settled, and what is evaluated: ``target``, else that model.

    Asks the server where the name is not given.
    """
    from dataclasses import replace

    from prorl_evaluation.sampling.choose import model_target
    from prorl_inference import OpenAIGenerator

    name = server.options.model
    if name is None:
        name = OpenAIGenerator(server.url, server.options, tell).model_id
        server = replace(server, options=replace(server.options, model=name))
    return server, target or model_target(name)
