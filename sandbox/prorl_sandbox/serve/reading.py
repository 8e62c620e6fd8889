"""Bodies of requests into what they ask for. Raises Refusal 400 (not JSON, another protocol) or 422 (which part, why)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from prorl_common.serving.refusal import Refusal
from prorl_sandbox.remote.asking import Asked, read_asked
from prorl_sandbox.remote.codec import MalformedError
from prorl_sandbox.remote.protocol import MOST_OUTPUT_KB, PROTOCOL
from prorl_sandbox.types import Limits

_LONGEST_NAME = 64
T = TypeVar("T")


def json_object(body: bytes, *names: str) -> dict[str, Any]:
    """Return the JSON object with exactly these keys."""
    try:
        found = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"the body is not valid JSON ({str(error)[:200]})") from error
    if not isinstance(found, dict) or set(found) != set(names):
        raise Refusal(422, f"the body must be a JSON object of {', '.join(sorted(names))}")
    return found


def read_run(body: bytes) -> tuple[str, list[Asked]]:
    """Return the name and the jobs of a request."""
    found = json_object(body, "protocol", "id", "jobs")
    require_protocol(found["protocol"])
    name, jobs = found["id"], found["jobs"]
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        raise Refusal(422, f"'id' must be a text of at most {_LONGEST_NAME} characters")
    if not isinstance(jobs, list):
        raise Refusal(422, "'jobs' must be a list")
    asked = []
    for at, job in enumerate(jobs):
        try:
            asked.append(read_asked(job))
            check_output(asked[-1].limits)
        except MalformedError as error:
            raise Refusal(422, f"job {at}: {str(error)[:500]}", job=at) from error
    return name, asked


def require_protocol(spoken: object) -> None:
    """Raise Refusal 400 for a client of another protocol."""
    if spoken != PROTOCOL:
        raise Refusal(
            400,
            f"this service speaks protocol {PROTOCOL}, the client {str(spoken)[:20]}: "
            "install the same version of prorl on both sides",
        )


def check_output(limits: Limits) -> None:
    """Raise MalformedError for more output than an answer may hold."""
    if limits.output_kb > MOST_OUTPUT_KB:
        raise MalformedError(f"limit output_kb must be at most {MOST_OUTPUT_KB}")


def strictly(name: str, read: Callable[[], T]) -> T:
    """Return what ``read`` returns; what it finds malformed becomes Refusal 422."""
    try:
        return read()
    except MalformedError as error:
        raise Refusal(422, f"{name}: {str(error)[:500]}") from error


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
