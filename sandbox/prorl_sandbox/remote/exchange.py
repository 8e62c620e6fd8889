"""One request to a service, as its thread sees it: jobs go out, the service's state and their answers come in."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any

from prorl_common.http import Connection, Reply
from prorl_sandbox.remote import codec
from prorl_sandbox.remote.codec import MalformedError
from prorl_sandbox.remote.job import WAIT_SECONDS, Job
from prorl_sandbox.remote.protocol import PROTOCOL, Hello
from prorl_sandbox.remote.servers import Server

_LONGEST_HELLO = 65_536
_PROBE_SECONDS = 60.0


class RefusedError(Exception):
    """The service answered something else than 200."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.line())
        self.reply = reply


class Exchange:
    """Jobs for a server, at places of their own; without jobs it asks for the server's state alone.

    ``open`` are the places that are not settled, ``dropped`` those whose jobs nobody waits for any more, of
    which the server is yet to be told.
    """

    def __init__(self, server: Server, jobs: list[Job], connection: Connection) -> None:
        self.server, self.jobs, self.connection = server, jobs, connection
        self.name = secrets.token_hex(8)
        self.open = set(range(len(jobs)))
        self.dropped: list[int] = []

    def answers(self) -> Iterator[Hello | tuple[int, dict[str, Any]]]:
        """Send the request; yield the server's state, then places and answers as they come.

        Raises RefusedError, TransientError, and MalformedError for answers that are none.
        """
        head = f'{{"protocol":{PROTOCOL},"id":"{self.name}","jobs":['.encode()
        body = head + b",".join(job.data for job in self.jobs) + b"]}"
        longest = max([_LONGEST_HELLO, *(job.longest for job in self.jobs)])
        seconds = _PROBE_SECONDS
        if self.jobs:  # at worst one after the other, after all that others have sent before
            seconds += WAIT_SECONDS + sum(job.longest_run for job in self.jobs)
        greeted = False
        for found in json_objects(self.connection, "/run", body, longest, seconds):
            if not greeted:
                greeted = True
                yield codec.read(Hello, found)
                continue
            place = found.pop("job", None)
            if type(place) is not int or place not in self.open:
                raise MalformedError("an answer to no job")
            yield place, found
        if not greeted:
            raise MalformedError("an answer without the service's state")


def json_objects(
    connection: Connection,
    path: str,
    asked: bytes | Mapping[str, Any],
    longest: int,
    seconds: float,
) -> Iterator[dict[str, Any]]:
    """Send a JSON object; yield those of the answer as they come.

    ``longest``: bytes of one; ``seconds``: for all of them. Raises RefusedError, TransientError, and
    MalformedError for what is none, and for an answer that is too late.
    """
    last = time.monotonic() + seconds
    data = asked if isinstance(asked, bytes) else json.dumps(asked, allow_nan=False).encode()
    lines = connection.lines(path, data, longest)
    if isinstance(lines, Reply):
        raise RefusedError(lines)
    for line in lines:
        if time.monotonic() > last:
            raise MalformedError("it has not answered in time")
        if line:
            yield _read_object(line)


def _read_object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"an answer that is not JSON ({str(error)[:100]})") from error
    if not isinstance(found, dict):
        raise MalformedError("an answer that is no JSON object")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
