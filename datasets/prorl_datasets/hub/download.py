"""Fetch one body: go on where a cut left it, notice a wrong length, keep nothing that is not whole.

The unfinished body stays on the disk, so a killed build goes on with it. Leaves out: whether the bytes
are the right ones (``access`` compares their hash).
"""

from __future__ import annotations

import fcntl
import http.client
import os
from pathlib import Path
from typing import BinaryIO

from prorl_common import Progress
from prorl_common.files import explain_write_errors
from prorl_common.http import TransientError
from prorl_datasets.hub.client import Answer, Client

BLOCK = 1 << 20
SHOWN = 8 << 20
"""Bytes of a file from which its progress is shown."""
ENOUGH = 1 << 16
"""Bytes that an answer must bring before it was cut, for the next to be asked for at once."""


def fetch_body(
    client: Client,
    source: tuple[str, str, str],
    size: int,
    part: Path,
    whole: Path,
    progress: Progress,
) -> None:
    """Fetch ``source`` (repository, commit, name), ``size`` bytes, by way of ``part`` to ``whole``.

    Raises Unreachable, UserError (disk).
    """
    repo, commit, name = source
    address = client.address(repo, commit, name)
    with explain_write_errors(whole):
        part.parent.mkdir(parents=True, exist_ok=True)
        whole.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as out:
            fcntl.flock(out, fcntl.LOCK_EX)  # another build may fetch the same
            if whole.is_file():
                return
            if shown := size >= SHOWN:
                progress.start(f"fetching {repo}/{name} (MiB)", size >> 20)
                progress.advance(_position(out, size) >> 20)

            def ask() -> None:
                have = _position(out, size)
                if have < size:
                    span = f"bytes={have}-" if have else None
                    with client.open(address, repo, commit, span) as answer:
                        _receive(answer, out, have, size, progress if shown else None)

            while _position(out, size) < size:
                client.until_answered(ask)
            out.flush()
            os.fsync(out.fileno())
            if shown:
                progress.finish()
        os.replace(part, whole)


def _position(out: BinaryIO, size: int) -> int:
    """Return how many bytes are there; more than there should be are thrown away."""
    have = out.seek(0, os.SEEK_END)
    if have > size:
        out.truncate(0)
        have = 0
    return have


def _receive(
    answer: Answer, out: BinaryIO, have: int, size: int, progress: Progress | None
) -> None:
    """Append an answer's bytes. Raises TransientError where it is another file, or cut too soon."""
    if answer.status != 206 and have:  # the whole body comes, whatever was asked for
        out.truncate(0)
        have = 0
    if (length := _promised(answer, have)) is not None and have + length != size:
        out.truncate(0)
        raise TransientError(
            f"it sends {have + length:,} bytes of a file that it lists with {size:,}"
        )
    begin = have
    cut: Exception | None = None
    while have < size:
        try:
            block = answer.read(min(BLOCK, size - have))
        except (OSError, ValueError, http.client.HTTPException) as error:
            cut = error
            break
        if not block:
            break
        with explain_write_errors(Path(out.name)):
            out.write(block)
            out.flush()
        have += len(block)
        if progress is not None:
            progress.advance((have >> 20) - ((have - len(block)) >> 20))
    if have < size and have - begin < ENOUGH:
        raise TransientError(
            f"the body was cut at {have:,} of {size:,} bytes", blames_request=False
        ) from cut


def _promised(answer: Answer, have: int) -> int | None:
    """Return how many bytes an answer says that it has from ``have`` on, None where it says nothing.

    Raises TransientError where it begins elsewhere.
    """
    if answer.status == 206:
        span, _, total = (
            (answer.headers["Content-Range"] or "").removeprefix("bytes ").partition("/")
        )
        first = span.partition("-")[0]
        if first != str(have):
            raise TransientError(f"asked for byte {have:,} on, it sends byte {first or '?'} on")
        if total.isdigit():
            return int(total) - have
    length = answer.headers["Content-Length"]
    return int(length) if length is not None and length.isdigit() else None
