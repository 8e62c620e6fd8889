"""``prorl sandbox run``: run one program in a box and print what happened.

A program that fails is a result (exit code 0); a sandbox that fails is an error.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from prorl_cli.console import print_json, stdout_console, warn
from prorl_cli.options import Json, PluginOption
from prorl_common import UserError

_LARGEST_PRINTED_INT = 1 << 4096

File = Annotated[Path, typer.Argument(help="A program in Python, C++, JavaScript or a plug-in's.")]
LanguageName = Annotated[
    str | None,
    typer.Option(help="python, cpp, javascript or a plug-in's; by FILE's ending if not given."),
]
Weak = Annotated[
    bool, typer.Option("--allow-weak", help="Run code without full isolation. Dangerous.")
]


def run_command(
    file: File,
    stdin: Annotated[Path | None, typer.Option(help="File to feed to standard input.")] = None,
    call: Annotated[
        str | None, typer.Option(help="Function, or Class.method, to call instead of running main.")
    ] = None,
    args: Annotated[str, typer.Option(help="Positional arguments for --call: a JSON list.")] = "[]",
    language: LanguageName = None,
    backend: Annotated[
        str, typer.Option(help="Sandbox: local, docker or docker:RUNTIME.")
    ] = "local",
    wall: Annotated[float, typer.Option(help="Wall-clock limit, seconds.")] = 10.0,
    cpu: Annotated[float, typer.Option(help="Processor-time limit, seconds.")] = 5.0,
    memory: Annotated[int, typer.Option(help="Memory limit, MiB.")] = 512,
    output: Annotated[
        int, typer.Option(help="Limit of stdout, stderr and value each, KiB.")
    ] = 1024,
    environment: Annotated[
        str,
        typer.Option(help="Packages beside the standard library: scientific or one of your own."),
    ] = "stdlib",
    allow_weak: Weak = False,
    plugin: PluginOption = None,
    as_json: Json = False,
) -> None:
    """Run FILE in a fresh box and print what happened."""
    from prorl_sandbox import Limits, Program, open_sandbox

    program = Program(
        source=_read(file),
        stdin=_read(stdin) if stdin is not None else "",
        call=call,
        args=_parse_args(args, call),
        language=_language(file, language),
        environment=environment,
    )
    limits = Limits(wall_seconds=wall, cpu_seconds=cpu, memory_mb=memory, output_kb=output)
    sandbox = open_sandbox(backend, allow_weak=allow_weak)
    if sandbox.isolation.startswith("weak"):
        warn(f"isolation is {sandbox.isolation}: do not run code that you do not trust")
    try:
        sandbox.check_environment(environment)
        outcome = sandbox.run(program, limits)
    finally:
        sandbox.close()
    if as_json:
        print_json(asdict(outcome) | {"value": plain(outcome.value)})
        return
    console = stdout_console()
    limit = f" ({outcome.limit} limit)" if outcome.limit else ""
    facts = f"exit code {outcome.exit_code}, {outcome.wall_seconds:.3f} s"
    console.print(
        f"{outcome.status}{limit}: {facts}, {outcome.peak_mb:.0f} MiB, {outcome.isolation}",
        markup=False,
    )
    for name, text in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        if text:
            # Control characters of a hostile program must not reach the terminal.
            visible = "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
            console.print(f"{name}:\n{visible.rstrip()}", markup=False, soft_wrap=True)
    if outcome.hint:
        warn(outcome.hint)
    if outcome.value is not None:
        shown = json.dumps(plain(outcome.value), ensure_ascii=False)
        console.print(f"value: {shown}", markup=False, soft_wrap=True)


def _language(file: Path, given: str | None) -> str:
    """Return the language asked for, else that of the file's ending; Python where it has none."""
    from prorl_sandbox import LANGUAGES

    if given is not None:
        return LANGUAGES.get(given).name
    if not file.suffix:
        return "python"
    found = [spec.name for spec in LANGUAGES.all() if file.suffix in spec.endings]
    if len(found) != 1:
        what = f"files of {' and '.join(found)}" if found else "no language's files"
        names = ", ".join(found or LANGUAGES.names())
        raise UserError(f"{what} end in {file.suffix}: name it with --language, one of {names}")
    return found[0]


def _read(path: Path) -> str:
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
        raise UserError("--args needs --call NAME: a program run as main takes --stdin")
    return tuple(value)


def plain(value: Any) -> Any:
    """Return a sandbox value in JSON's own types.

    Tuples and sets become lists (sets sorted by their text), keys that JSON lacks become text, as
    do complex numbers, bytes, non-finite floats and integers beyond 4096 bits (hexadecimal). Text
    that UTF-8 cannot carry is escaped.
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
