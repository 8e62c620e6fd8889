"""Print an Outcome, and convert its value to JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from prorl_cli.console import stdout_console, warn

if TYPE_CHECKING:
    from prorl_sandbox import Outcome

_LARGEST_PRINTED_INT = 1 << 4096


def show_outcome(outcome: Outcome) -> None:
    """Print the outcome of a program."""
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
    """Return the text with control characters escaped, so that they cannot reach the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def plain(value: Any) -> Any:
    """Return a sandbox value as JSON types.

    Tuples and sets become lists (sets sorted by their text); other keys, complex numbers, bytes, non-finite floats and
    integers beyond 4096 bits (hexadecimal) become text. Text that UTF-8 lacks is escaped.
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
