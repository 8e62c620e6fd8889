"""Options shared by all command groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from prorl_cli.console import say
from prorl_common import check_output, plain_words
from prorl_common.seeds import MOST, MOST_WORKERS

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from prorl_training.run.folder import RunFolder


T = TypeVar("T", int, float)


def file_to_write(path: Path | None) -> Path | None:
    if path is not None:
        check_output(path)
    return path


def folder_to_write(path: Path | None) -> Path | None:
    if path is not None:
        check_output(path, folder=True)
    return path


def whole(*names: str, low: int = 0, high: int = MOST, help: str) -> Any:
    """Return an option for an integer from ``low`` to ``high``."""

    def parse(value: str | int) -> int:
        from pydantic import Field, TypeAdapter

        return _checked(TypeAdapter(Annotated[int, Field(ge=low, le=high)]), value)

    return typer.Option(*names, parser=parse, help=help, metavar="INTEGER")


def real(*names: str, low: float = 0.0, high: float = MOST, help: str) -> Any:
    """Return an option for a finite number from ``low`` to ``high``."""

    def parse(value: str | float) -> float:
        from pydantic import Field, TypeAdapter

        bounds = Field(ge=low, le=high, allow_inf_nan=False)
        return _checked(TypeAdapter(Annotated[float, bounds]), value)

    return typer.Option(*names, parser=parse, help=help, metavar="FLOAT")


def _checked(numbers: TypeAdapter[T], value: object) -> T:
    """Validate ``value`` like a setting."""
    from pydantic import ValidationError

    try:
        return numbers.validate_python(value)
    except ValidationError as error:
        raise typer.BadParameter(plain_words(error.errors()[0]["msg"])) from error


SandboxBackend = Annotated[
    str,
    typer.Option(
        "--backend",
        envvar="PRORL_BACKEND",
        help="Sandbox backend: local, docker or docker:RUNTIME.",
    ),
]
RewardServers = Annotated[
    list[str] | None,
    typer.Option(
        "--reward-server",
        metavar="URL",
        help="URL of a running `prorl verify serve` that scores instead of this machine; repeatable.",
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        help="File with the token that clients must send (default: the token in the environment variable PRORL_TOKEN)."
    ),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Also accept requests for this host name, e.g. that of a proxy; repeatable.",
    ),
]
ReadyFile = Annotated[
    Path | None,
    typer.Option(
        help="Write the address to this file when the service is ready.", callback=file_to_write
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")]
JsonNotTables = Annotated[
    bool, typer.Option("--json", help="Print JSON to stdout instead of tables.")
]

Preset = Annotated[str | None, typer.Option(help="Preset of settings (list: prorl train presets).")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a setting; repeatable."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="YAML file of settings.")]
CheckpointStep = Annotated[
    str,
    typer.Option(
        "--checkpoint", metavar="STEP", help="Checkpoint of the run: latest, best or a step number."
    ),
]
RunArgument = Annotated[
    str | None, typer.Argument(help="Run: a name or a folder (default: newest).")
]


def run_or_newest(name: str | None) -> RunFolder:
    """Return the run with this name or path (None: the newest, whose name is printed on stderr)."""
    from prorl_training.run.folder import find_run

    run = find_run(name)
    if name is None:
        say(f"run      {run.path} (the newest)")
    return run


AllowWeak = Annotated[bool, typer.Option(help="Run untrusted code even without full isolation.")]
Workers = Annotated[int, whole(low=1, high=MOST_WORKERS, help="Number of worker processes.")]
Timeout = Annotated[float, real(low=0.1, help="Time limit per response in seconds.")]
ThinkOpen = Annotated[
    bool,
    typer.Option(
        help="Treat each response as beginning inside <think>, for chat templates that already write the opening tag."
    ),
]
Modes = Annotated[
    list[str] | None,
    typer.Option(
        "--mode",
        metavar="VERIFIER=MODE",
        help="Mode of a verifier, e.g. math=either; repeatable. A task's own mode has priority.",
    ),
]
