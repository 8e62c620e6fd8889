"""What client and service of the remote sandbox say to each other.

``POST /run`` with {"protocol", "id", "jobs": [what is asked, ...]} is answered by lines of JSON. The first is the
service's state (``Hello``); then come the answers of the jobs as they are known, {"job": its place in the
request, and the answer}; empty lines in between say that the service lives. ``POST /cancel`` with {"id",
"jobs": [place, ...]} ends jobs that nobody waits for any more. What is asked and answered: ``asking``.

``POST /session`` opens a session, and is answered by its name, and its end when that comes: the session lives as
long as this request. ``/session/run``, ``/fork`` and ``/close`` name it. ``POST /environment`` with {"name"} is
answered by {} or an error. ``GET /healthz`` is the state, without a token.
"""

from __future__ import annotations

from dataclasses import dataclass

from prorl_sandbox.run.compiling import COMPILE_LIMITS

PROTOCOL = 1
"""Raised with every change of a shape that crosses."""
BEAT_SECONDS = 5.0
"""The service sends something at least so often while it has not answered all."""
SILENCE_SECONDS = 30.0
"""A service that sends nothing for so long is lost."""
MOST_OUTPUT_KB = 64 * 1024
"""The largest output limit that a service takes: an answer is one line."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The state of a service. ``free`` slots have no job, ``queued`` jobs wait, ``queue`` may."""

    protocol: int
    version: str
    status: str
    isolation: str
    slots: int
    free: int
    queued: int
    queue: int


def longest_line(output_kb: int) -> int:
    """Return the bytes of the longest answer to a job with that output limit, or to one that a compiler with
    its own limit has refused.

    Each byte of stdout and of stderr may become a character that JSON writes in six; of a value a number of
    five bytes may become one of twenty. Whatever a program does, its answer is no longer.
    """
    return 20 * 1024 * max(output_kb, COMPILE_LIMITS.output_kb) + 65_536
