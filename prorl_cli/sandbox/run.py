"""``prorl sandbox run``: run one program in a sandbox; exits with 0 even if the program fails."""

from __future__ import annotations

import contextlib
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import print_json, stdout_console, warn
from prorl_cli.options import Json, SandboxBackend, real, whole
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_sandbox import Outcome


File = Annotated[
    Path, typer.Argument(help="Program, in one of the languages that prorl sandbox doctor lists.")
]
LanguageName = Annotated[
    str | None,
    typer.Option(help="Language of the program (default: by the file's extension)."),
]


def run_command(
    file: File,
    stdin: Annotated[
        Path | None, typer.Option(help="File that the program gets as standard input.")
    ] = None,
    call: Annotated[
        str | None,
        typer.Option(help="Function or Class.method to call instead of running the program."),
    ] = None,
    args: Annotated[str, typer.Option(help="Positional arguments for --call: a JSON list.")] = "[]",
    language: LanguageName = None,
    backend: SandboxBackend = "local",
    wall: Annotated[float, real(help="Wall-clock limit in seconds.")] = 10.0,
    cpu: Annotated[float, real(help="CPU time limit in seconds.")] = 5.0,
    memory: Annotated[int, whole(help="Memory limit in MiB.")] = 512,
    output: Annotated[
        int, whole(help="Limit in KiB for each of stdout, stderr and the return value of --call.")
    ] = 1024,
    environment: Annotated[
        str | None,
        typer.Option(
            help="Environment of packages that the program may import: scientific, or one of your own."
        ),
    ] = None,
    allow_weak: Annotated[
        bool, typer.Option("--allow-weak", help="Run untrusted code even without full isolation.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a program in a new sandbox.

    Example: prorl sandbox run solution.py
    """
    from prorl_sandbox import Limits, Program, open_sandbox

    limits = Limits(wall_seconds=wall, cpu_seconds=cpu, memory_mb=memory, output_kb=output)
    program = Program(
        source=_read(file),
        stdin=_read(stdin) if stdin is not None else "",
        call=call,
        args=_parse_args(args, call),
        language=_language(file, language),
        environment=environment or "stdlib",
    )
    with contextlib.closing(open_sandbox(backend, allow_weak=allow_weak)) as sandbox:
        if "weak" in sandbox.isolation:
            warn(f"isolation is {sandbox.isolation}: do not run code that you do not trust")
        sandbox.check_environment(program.environment)
        outcome = sandbox.run(program, limits)
    if as_json:
        print_json(asdict(outcome) | {"value": plain(outcome.value)})
        return
    show_outcome(outcome)


def _language(file: Path, name: str | None) -> str:
    from prorl_sandbox import LANGUAGES

    if name is not None:
        return LANGUAGES.get(name).name
    if not file.suffix:
        return "python"
    matches = [spec.name for spec in LANGUAGES.all() if file.suffix in spec.endings]
    if len(matches) != 1:
        owners = f"files of {' and '.join(matches)}" if matches else "no language's files"
        names = ", ".join(matches or LANGUAGES.names())
        raise UserError(f"{owners} end in {file.suffix}: choose one with --language: {names}")
    return matches[0]


def _read(path: Path) -> str:
    if path.is_dir():
        raise UserError(f"{path} is a folder: give the file of one program")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text") from error


def _parse_args(text: str, call: str | None) -> tuple[Any, ...]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UserError(f"--args is not JSON: {error}") from error
    if not isinstance(value, list):
        raise UserError("--args must be a JSON list of positional arguments, like '[1, \"a\"]'")
    if value and call is None:
        raise UserError("--args needs --call NAME; a program without --call reads --stdin")
    return tuple(value)


_LARGEST_PRINTED_INT = 1 << 4096


def show_outcome(outcome: Outcome) -> None:
    console = stdout_console()
    limit = f" ({outcome.limit} limit)" if outcome.limit else ""
    facts = f"exit code {outcome.exit_code}, {outcome.wall_seconds:.3f} s"
    console.print(
        f"{outcome.status}{limit}: {facts}, {outcome.peak_mb:.0f} MiB, {outcome.isolation}",
        markup=False,
    )
    for stream, text in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        if text:
            console.print(f"{stream}:\n{visible(text).rstrip()}", markup=False, soft_wrap=True)
    if outcome.hint:
        warn(outcome.hint)
    if outcome.value is not None:
        value = json.dumps(plain(outcome.value), ensure_ascii=False)
        console.print(f"value: {value}", markup=False, soft_wrap=True)


def visible(text: str) -> str:
    """Return the text with control characters escaped."""
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def plain(value: Any) -> Any:
    """Convert a program's return value to JSON types.

    Sets become sorted lists. Bytes, complex numbers, non-finite floats, integers over 4096 bits and keys that are not
    strings become text.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, dict):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, bytes | complex):
        return repr(value)
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, int) and abs(value) > _LARGEST_PRINTED_INT:
        return hex(value)
    return value
