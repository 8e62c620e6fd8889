"""The ``--server`` options of the ``prorl eval`` verbs, and what they make.

Leaves out: talking to the server (``prorl_inference``).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from prorl_common import UserError

if TYPE_CHECKING:
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


def _pattern(
    server: Url = None,
    server_model: Model = None,
    server_api: Api = "auto",
    server_key_env: KeyEnv = None,
    server_weights: Weights = None,
    server_tokenizer: Tokenizer = None,
    server_extra: Extra = None,
    server_concurrency: Concurrency = 32,
    server_timeout: Timeout = 1800.0,
    server_patience: Patience = 600.0,
    server_rpm: Rpm = None,
    server_tpm: Tpm = None,
    server_refusals: Refusals = "stop",
    server_price: Price = None,
) -> None:
    """Hold the options and their defaults."""


def with_server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return ``command``, whose last parameter takes any keywords, with these options in its place."""

    @functools.wraps(command)
    def verb(**given: Any) -> None:
        command(**given)

    hints = {**_hints(command), **_hints(_pattern)}
    both = [f.parameters.values() for f in map(inspect.signature, (command, _pattern))]
    known = [p for p in chain(*both) if p.kind is not inspect.Parameter.VAR_KEYWORD]
    found = [p.replace(annotation=hints[p.name]) for p in known]
    verb.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
    verb.__annotations__ = {p.name: p.annotation for p in found}
    return verb


def _hints(function: Callable[..., None]) -> dict[str, Any]:
    return get_type_hints(function, include_extras=True)


FIELDS = tuple(
    name.removeprefix("server_")
    for name in inspect.signature(_pattern).parameters
    if name != "server"
)
"""The options beside ``--server``: each is ``server_<field>`` to the verb."""


def check_unused(given: Mapping[str, Any]) -> None:
    """Raise UserError where an option of a server is given; called where ``--server`` is not."""
    usual = inspect.signature(_pattern).parameters
    named = [
        f"--{name.replace('_', '-')}"
        for name, value in given.items()
        if value != usual[name].default
    ]
    if named:
        verb = "is" if len(named) == 1 else "are"
        raise UserError(
            f"{', '.join(named)} {verb} given without --server: add --server http://host:8000/v1, "
            "or leave out what is of a server"
        )


def server_of(url: str | None, run_weights: str | None = None, **named: Any) -> Server | None:
    """Return the server, None without ``url``; ``named`` are fields of ``ServerOptions``, two as text.

    ``run_weights`` is the model folder of the checkpoint that was asked for, if any. Raises UserError.
    """
    if url is None:
        return None
    from prorl_evaluation.sampling.session import Server
    from prorl_inference import ServerOptions
    from prorl_inference.backends.openai.options import parse_extra, parse_price, server_address

    server_address(url)
    weights = named.pop("weights") or _folder(run_weights)
    if weights is not None and not any(weights.glob("*.safetensors")):
        raise UserError(
            f"--server-weights {weights} holds no .safetensors file: name the model's folder"
        )
    extra, price = parse_extra(named.pop("extra")), parse_price(named.pop("price"))
    return Server(url, ServerOptions(weights=weights, extra=extra, price=price, **named))


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
