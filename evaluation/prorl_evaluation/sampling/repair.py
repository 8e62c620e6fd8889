"""Reading a journal line by line with every fault named, and moving damaged lines aside.

    <journal>.damaged    the lines that :func:`repair_journal` took out, byte for byte

Nothing is thrown away: a line that is taken out is first written there and synced. What is then missing is
sampled (or judged) again under the same seeds. Leaves out: what the lines mean (``journal``), and torn last
lines, which opening a journal drops.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prorl_common.files import explain_write_errors
from prorl_evaluation.types import EvaluationError

Types = tuple[type, ...]
NUMBER: Types = (int, float)
SAMPLE_FIELDS: Mapping[str, Types] = {
    "key": (str,),
    "sample_id": (str,),
    "index": (int,),
    "seed": (int,),
    "text": (str,),
    "tokens": (int,),
    "logprob": (*NUMBER, type(None)),
    "finish_reason": (str,),
    "seconds": NUMBER,
    "model": (str,),
    "temperature": NUMBER,
    "top_p": NUMBER,
    "max_tokens": (int,),
    "prompt": (str,),
}
VERDICT_FIELDS: Mapping[str, Types] = {
    "key": (str,),
    "task": (str,),
    "reward": (*NUMBER, type(None)),
    "status": (str,),
    "reason": (str,),
    "extracted": (str, type(None)),
    "isolation": (str,),
    "metrics": (dict,),
    "seconds": NUMBER,
}
DAMAGED = ".damaged"
BLANK = "the line is blank"
"""What ``scan`` says of a line that is none, which is no fault."""
CURE = "--repair moves such lines aside and goes on, what is missing is made again"


def fault(row: object, fields: Mapping[str, Types]) -> str | None:
    """Return what is wrong with a line's JSON value, None for nothing."""
    if not isinstance(row, dict):
        return "the line is not a JSON object"
    for name, types in fields.items():
        if name not in row:
            return f"the line has no '{name}'"
        value = row[name]
        if not isinstance(value, types) or isinstance(value, bool):
            return f"'{name}' is a {type(value).__name__}"
    return None


def scan(
    path: Path, fields: Mapping[str, Types]
) -> Iterator[tuple[int, bytes, dict[str, Any] | str]]:
    """Yield (line number from 1, the line, its object or what is wrong with it); of a blank line that is ``BLANK``."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                yield number, line, BLANK
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield number, line, f"not valid JSON ({' '.join(str(error).split())[:80]})"
                continue
            yield number, line, fault(row, fields) or row


def read_checked(
    path: Path, fields: Mapping[str, Types]
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (line number, the byte where the line begins, object).

    Raises EvaluationError naming file, line and cure at the first fault.
    """
    place = 0
    for number, line, found in scan(path, fields):
        if not isinstance(found, str):
            yield number, place, found
        elif found != BLANK:
            raise EvaluationError(f"{path}:{number}: {found}: {CURE}")
        place += len(line)


def repair_journal(path: Path, fields: Mapping[str, Types]) -> int:
    """Move the damaged lines of a journal to ``<name>.damaged`` and return how many there were.

    The journal is replaced atomically, after the lines are safe. A torn last line counts as damaged.
    """
    if not path.is_file():
        return 0
    faults = ((line, found) for _, line, found in scan(path, fields) if isinstance(found, str))
    bad = [line for line, found in faults if found != BLANK]
    if not bad:
        return 0
    aside = path.with_name(path.name + DAMAGED)
    with explain_write_errors(aside), aside.open("ab") as file:
        file.write(b"".join(line.rstrip(b"\n") + b"\n" for line in bad))
        file.flush()
        os.fsync(file.fileno())
    with explain_write_errors(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            for _, line, found in scan(path, fields):
                if not isinstance(found, str):
                    file.write(line.rstrip(b"\n") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    return len(bad)


def repair_folder(folder: Path, samples: str, verdicts: str) -> list[str]:
    """Repair both journals of an evaluation folder; return a line for people for each that was damaged."""
    said = []
    for name, fields in ((samples, SAMPLE_FIELDS), (verdicts, VERDICT_FIELDS)):
        if count := repair_journal(folder / name, fields):
            said.append(
                f"{folder / name}: {count} damaged line{'' if count == 1 else 's'} moved to {name}{DAMAGED}"
            )
    return said
