"""Files in which a cluster run's processes and ``prorl train`` exchange progress, outcome and stop requests."""

from __future__ import annotations

import contextlib
import errno
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

from prorl_common import Progress, UserError, atomic_write_text
from prorl_training.engine.openrlhf.spec import Spec, current_spec

EVENTS, OUTCOME, STOP = "events.jsonl", "outcome.json", "stop"


class EventProgress:
    """Writes progress as JSON lines; implements ``Progress``."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = path.open("a", encoding="utf-8")

    def start(self, label: str, total: int | None, done: int = 0) -> None:
        self._write({"kind": "start", "label": label, "total": total, "done": done})

    def advance(self, count: int = 1, **fields: str) -> None:
        self._write({"kind": "advance", "count": count, "fields": fields})

    def message(self, text: str) -> None:
        self._write({"kind": "message", "text": text})

    def finish(self) -> None:
        self._write({"kind": "finish"})

    def close(self) -> None:
        self._file.close()

    def _write(self, event: dict[str, Any]) -> None:
        self._file.write(json.dumps(event) + "\n")
        self._file.flush()


class EventReader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0

    def new(self) -> Iterator[dict[str, Any]]:
        if not self._path.is_file():
            return
        with self._path.open("rb") as file:
            file.seek(self._position)
            data = file.read()
        complete = data[: data.rfind(b"\n") + 1]
        self._position += len(complete)
        for line in complete.splitlines():
            yield json.loads(line)


def replay(event: dict[str, Any], progress: Progress) -> None:
    calls: dict[str, Callable[[], None]] = {
        "start": lambda: progress.start(event["label"], event["total"], event["done"]),
        "advance": lambda: progress.advance(event["count"], **event["fields"]),
        "message": lambda: progress.message(event["text"]),
        "finish": progress.finish,
    }
    calls[event["kind"]]()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. ``error`` is one line for the user. ``address_in_use``: a port was in use."""

    last_step: int
    stopped: str | None = None
    interrupted: bool = False
    error: str | None = None
    fault: Literal["user", "service", "disk", "bug"] | None = None
    address_in_use: bool = False


def write_outcome(spec: Spec, outcome: Outcome) -> None:
    atomic_write_text(_outcome_path(spec), json.dumps(asdict(outcome)) + "\n")


def read_outcome(spec: Spec) -> Outcome | None:
    path = _outcome_path(spec)
    return Outcome(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def _outcome_path(spec: Spec) -> Path:
    return spec.folder / f"{OUTCOME}-{spec.launch}.json"


def write_message(spec: Spec, line: str) -> None:
    progress = EventProgress(spec.folder / EVENTS)
    progress.message(line)
    progress.close()


def report_failure(spec: Spec, what: str, error: BaseException) -> None:
    """Write the outcome that ``what`` could not start because of ``error``. An existing outcome is kept."""
    if read_outcome(spec) is not None:
        return
    text = " ".join(str(error).strip().splitlines())[:1000]
    if isinstance(error, UserError):  # such as a plug-in that this node cannot read
        write_outcome(spec, Outcome(0, error=f"{what} could not start: {text}", fault="user"))
        return
    line = f"{what} could not start: {type(error).__name__}: {text}"
    taken = is_address_in_use(error)
    write_outcome(spec, Outcome(0, error=line, fault="service", address_in_use=taken))


@contextlib.contextmanager
def report_failures(what: str) -> Iterator[None]:
    """Write an error in the block as the run's outcome and raise it again. ``what`` names the part being started."""
    try:
        yield
    except Exception as error:
        report_failure(current_spec(), what, error)
        raise


def is_address_in_use(error: BaseException) -> bool:
    """Return whether an error of the operating system, torch or Ray means that a port is in use."""
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return True
    text = str(error)
    return "EADDRINUSE" in text or "address already in use" in text.lower()


def request_stop(folder: Path) -> None:
    (folder / STOP).touch()


def stop_is_requested(folder: Path) -> bool:
    return (folder / STOP).exists()


def clear(folder: Path) -> None:
    for path in (folder / EVENTS, folder / STOP, *folder.glob(f"{OUTCOME}-*.json")):
        path.unlink(missing_ok=True)
