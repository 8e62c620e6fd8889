"""Read a request's body within its limits: type, size, time, and memory of all bodies together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.requests import Request

from prorl_common.serving.options import ListenOptions
from prorl_common.serving.refusal import Refusal, busy
from prorl_common.serving.traffic import Held, Traffic

DISCARD_BYTES = 256 * 1024 * 1024
DISCARD_SECONDS = 10.0
"""A body that is too large is read away up to here, so that its sender gets to read the answer."""


async def read_body(
    request: Request, options: ListenOptions, traffic: Traffic, held: Held
) -> bytes:
    """Return the body; its bytes are booked in ``held``.

    Raises Refusal: 415 for another type than JSON, 413 too large (declared or found so while reading), 408
    too slow, 503 while draining and while the requests without an answer hold too much.
    """
    limit = options.max_body
    too_large = Refusal(413, f"the body is larger than {options.max_body_mb:g} MiB")
    if traffic.draining:
        raise await unread(request, busy("the service is shutting down", 5.0))
    # What a foreign web page could post without asking is anything but JSON.
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        json_only = Refusal(415, "send JSON: Content-Type: application/json")
        raise await unread(request, json_only)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        compressed = Refusal(415, "a compressed body is not read: send it plain")
        raise await unread(request, compressed)
    declared = request.headers.get("content-length", "")
    parts: list[bytes] = []
    try:
        async with asyncio.timeout(options.read_seconds):
            stream = request.stream()
            if declared.isdigit() and int(declared) > limit:
                await _discard(request, stream)
                raise too_large
            async for part in stream:
                held.add(len(part))
                parts.append(part)
                if held.bytes <= limit and traffic.held_bytes <= traffic.most_bytes:
                    continue
                problem = too_large if held.bytes > limit else busy("too many large requests", 2.0)
                parts.clear()
                held.release()
                await _discard(request, stream)
                raise problem
    except TimeoutError as error:
        seconds = options.read_seconds
        raise Refusal(408, f"the body did not arrive within {seconds:g} s") from error
    return b"".join(parts)


async def unread(request: Request, refusal: Refusal) -> Refusal:
    """Return the refusal of a request whose body nobody wants, once the body has been thrown away.

    A connection that is closed while its sender still sends is reset, and the answer with it.
    """
    await _discard(request, request.stream())
    return refusal


async def _discard(request: Request, stream: AsyncIterator[bytes]) -> None:
    if "expect" in request.headers:
        return  # the sender waits for a go-ahead that does not come
    thrown = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            async for part in stream:
                thrown += len(part)
                if thrown > DISCARD_BYTES:
                    return
