"""``prorl sandbox session``: talk to a Python interpreter in a box, to try what a model would meet."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from prorl_cli.console import say, stdout_console
from prorl_cli.options import SandboxBackend
from prorl_cli.sandbox.opening import Weak, opened
from prorl_cli.sandbox.outcome import visible

_FIRST, _MORE = ">>> ", "... "


def session_command(
    backend: SandboxBackend = "local",
    environment: Annotated[
        str,
        typer.Option(help="Packages beside the standard library: scientific or one of your own."),
    ] = "stdlib",
    wall: Annotated[float, typer.Option(help="Wall-clock limit a message, seconds.")] = 10.0,
    cpu: Annotated[float, typer.Option(help="Processor-time limit a message, seconds.")] = 5.0,
    memory: Annotated[int, typer.Option(help="Memory limit, MiB.")] = 512,
    output: Annotated[int, typer.Option(help="Limit of a message's output, KiB.")] = 1024,
    allow_weak: Weak = False,
) -> None:
    """Talk to a Python session in a box, one message after another.

    A message is a line, or, where it opens a block, all lines up to an empty one. It ends with the
    input, or when a message breaks a limit or leaves.
    """
    from prorl_sandbox import Limits

    limits = Limits(wall_seconds=wall, cpu_seconds=cpu, memory_mb=memory, output_kb=output)
    with (
        opened(backend, allow_weak) as sandbox,
        sandbox.open_session(limits, environment) as session,
    ):
        console = stdout_console()
        while session.ended is None and (message := _read_message()) is not None:
            outcome = session.run(message)
            for text in (outcome.stdout, outcome.stderr):
                if text:
                    console.print(visible(text).rstrip("\n"), markup=False, soft_wrap=True)
        if session.ended is not None:
            say(f"the session is over: {session.ended}")


def _read_message() -> str | None:
    """Return the next message; None at the end of the input."""
    import codeop

    lines: list[str] = []
    while True:
        prompt = (_MORE if lines else _FIRST) if sys.stdin.isatty() else ""
        try:
            lines.append(input(prompt))
        except EOFError:
            return "\n".join(lines) if lines else None
        text = "\n".join(lines)
        try:
            if codeop.compile_command(text, symbol="exec") is not None and (
                len(lines) == 1 or not lines[-1]
            ):
                return text
        except (SyntaxError, ValueError, OverflowError):
            return text  # the session says what is wrong
