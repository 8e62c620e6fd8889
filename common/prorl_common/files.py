"""Writes files atomically, keeps append-only JSONL journals, checks output paths and finds the cache folder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import hashlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from prorl_common.closing import Closing
from prorl_common.errors import DiskFullError, UserError, why_unreadable

_NO_ROOM = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
_FATAL_WRITE = {
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EEXIST: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder",
    errno.ENOENT: "the folder does not exist and cannot be made",
}

_LEAST_ROOM = 1 << 16
"""A disk with fewer free bytes than this counts as full."""


def cache_root() -> Path:
    """Return prorl's cache folder: $PRORL_CACHE, else $XDG_CACHE_HOME/prorl, else ~/.cache/prorl."""
    if folder := os.environ.get("PRORL_CACHE"):
        return Path(folder)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "prorl"
    return Path.home() / ".cache" / "prorl"


@contextlib.contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Convert OSErrors in the ``with`` block to DiskFullError or, if ``path`` is not writable, UserError."""
    try:
        yield
    except OSError as error:
        cure = "choose another path or make room, nothing was half-written"
        if error.errno in _NO_ROOM:
            raise DiskFullError(f"cannot write {path}: {_NO_ROOM[error.errno]}; {cure}") from error
        if error.errno in _FATAL_WRITE:
            raise UserError(f"cannot write {path}: {_FATAL_WRITE[error.errno]}; {cure}") from error
        raise


def says_disk_full(error: BaseException) -> bool:
    """Return whether an exception of any library means that the disk is full."""
    if isinstance(error, DiskFullError) or getattr(error, "errno", None) in _NO_ROOM:
        return True
    return any(words in str(error) for words in ("No space left", "StorageFull", "quota exceeded"))


def is_full(folder: Path) -> bool:
    try:
        stats = os.statvfs(folder)
    except OSError:
        return False
    return stats.f_bavail * stats.f_frsize < _LEAST_ROOM


def check_output(path: Path, folder: bool = False) -> None:
    """Raise UserError if no file (or ``folder``) can be created at ``path``. Missing parent folders are allowed."""
    path = path.expanduser()
    why = None
    if path.name == "-":
        why = (
            "it would be a file called '-'; name a file, or leave the option out to write to stdout"
        )
    elif path.is_dir() and not folder:
        why = "it is a folder, name a file in it"
    elif path.exists() and not path.is_dir() and folder:
        why = "it is a file, name a folder"
    else:
        place = path if path.is_dir() else path.absolute().parent
        above = next(p for p in (place, *place.parents) if os.path.lexists(p))
        if not above.is_dir():
            why = f"{above} is a file, not a folder"
        elif not os.access(above, os.W_OK | os.X_OK):
            why = f"{above} is read-only for you"
    if why is not None:
        raise UserError(f"cannot write {path}: {why}")


def atomic_write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` so that other processes read either the old or the new content."""
    with explain_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
            raise


def atomic_write_text(path: Path, text: str) -> None:
    atomic_write_bytes(path, text.encode())


@contextlib.contextmanager
def atomic_directory(target: Path, within: Path | None = None) -> Iterator[Path]:
    """Yield a temporary folder that replaces ``target`` when the ``with`` block ends without an error.

    The folder is created in ``within`` (default: next to ``target``), which must be on the same disk.
    """
    with explain_write_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        place = target.parent if within is None else within
        place.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=place))
        try:
            yield work
            os.chmod(work, 0o755)
            if target.exists():
                old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=place))
                os.replace(target, old / "old")
                os.replace(work, target)
                shutil.rmtree(old, ignore_errors=True)
            else:
                os.replace(work, target)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def lfs_problem(path: Path) -> str | None:
    """Return an error message if the file is a Git LFS pointer instead of its content, else None."""
    mark = b"version https://git-lfs.github.com/spec/v1"
    try:
        with path.open("rb") as file:
            is_pointer = file.read(len(mark)) == mark
    except OSError:
        is_pointer = False
    if not is_pointer:
        return None
    return f"{path} is a Git LFS pointer, not the file itself: run git lfs pull there, or download it again"


def read_jsonl(
    path: Path, on_bad: Callable[[UserError], None] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number from 1, object) for each non-blank line of a .jsonl or .jsonl.gz file.

    Raises UserError for an unreadable file, or passes it to ``on_bad`` (if given) for a line that is not a JSON object.
    """
    if not path.is_file():
        raise UserError(
            f"{path} is a folder, not a file" if path.is_dir() else f"no such file: {path}"
        )
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    row = _parse_row(line, f"{path}:{number}")
                except UserError as error:
                    if on_bad is None:
                        raise
                    on_bad(error)
                else:
                    yield number, row
    except UnicodeDecodeError as error:
        raise UserError(f"{path} cannot be read: {why_unreadable(error)}") from error
    except (EOFError, gzip.BadGzipFile) as error:
        raise UserError(f"{path}: not a readable JSONL file ({error})") from error


def _parse_row(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: not valid JSON ({error})") from error
    if not isinstance(row, dict):
        raise UserError(f"{place}: expected a JSON object, got {type(row).__name__}")
    return row


_TAIL = 1 << 16


class Journal(Closing):
    """An append-only JSONL file. Complete lines survive if the process is killed.

    Opening it deletes an incomplete last line. Raises UserError if another process has it open. Appends are synced to
    disk unless ``fsync`` is false.
    """

    def __init__(self, path: Path, fsync: bool = True) -> None:
        self.path = path
        self._fsync = fsync
        with explain_write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
        self._lock()
        self._trim_torn_line()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise UserError(
                f"another process is writing {self.path}: wait for it, stop it, or choose "
                "another path"
            ) from error
        except OSError:  # a file system without locks
            pass

    def _trim_torn_line(self) -> None:
        if self.path.stat().st_size == 0:
            return
        with self.path.open("rb+") as file:
            place = file.seek(0, os.SEEK_END)
            file.seek(place - 1)
            if file.read(1) == b"\n":
                return
            while place > 0:
                start = max(0, place - _TAIL)
                file.seek(start)
                newline = file.read(place - start).rfind(b"\n")
                if newline >= 0:
                    file.truncate(start + newline + 1)
                    return
                place = start
            file.truncate(0)

    def append(self, row: Mapping[str, Any]) -> None:
        """Append one object as a line. Raises DiskFullError, or UserError if the file is not writable."""
        self.extend([row])

    def extend(self, rows: list[Mapping[str, Any]] | list[dict[str, Any]]) -> list[int]:
        """Append objects as lines and sync once. Returns the byte offset of each line."""
        lines = [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows]
        with explain_write_errors(self.path):
            start = self._file.seek(0, os.SEEK_END)
            view = memoryview(b"".join(lines))
            while view:
                view = view[self._file.write(view) :]
            if self._fsync:
                os.fsync(self._file.fileno())
        if os.fstat(self._file.fileno()).st_nlink == 0:
            raise UserError(
                f"{self.path} was removed while it was being written: run the command again "
                "to start over"
            )
        return list(itertools.accumulate(map(len, lines[:-1]), initial=start)) if lines else []

    def rows(self) -> Iterator[dict[str, Any]]:
        for _, row in read_jsonl(self.path):
            yield row

    def close(self) -> None:
        """Close the file; further appends fail."""
        self._file.close()
