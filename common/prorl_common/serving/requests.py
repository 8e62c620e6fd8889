"""Check requests to a service before they are handled."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from prorl_common.serving.options import ListenOptions, is_loopback

DISCARD_BYTES = 256 * 1024 * 1024
DISCARD_SECONDS = 10.0
"""Maximum seconds for reading the body of a refused request."""
LINGER = 0.5
BODIES_AT_ONCE = 8
BODY_BYTES = 512 * 1024 * 1024
"""Maximum total size of all current bodies, but at least ``BODIES_AT_ONCE`` of the maximum size each."""


class Refusal(Exception):
    """An error answer to an HTTP request, with the body ``{"error": message, ...facts}``."""

    def __init__(self, status: int, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.status = status
        self.facts = facts
        self.headers: dict[str, str] = {}


def busy(message: str, seconds: float) -> Refusal:
    refusal = Refusal(503, message)
    refusal.headers["Retry-After"] = str(min(60, max(1, math.ceil(seconds))))
    return refusal


def json_response(value: object, status: int = 200) -> Response:
    data = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    return Response(data, status, media_type="application/json")


def refused(refusal: Refusal) -> Response:
    response = json_response({"error": str(refusal), **refusal.facts}, refusal.status)
    response.headers.update(refusal.headers)
    return response


def unknown_route(routes: str) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return a handler for unknown paths and methods. Its error message names the valid ``routes``."""

    async def handle(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        response = json_response({"error": f"{error}: use {routes}"}, status)
        if isinstance(error, HTTPException):
            response.headers.update(error.headers or {})  # such as Allow for a 405
        return response

    return handle


class Gate:
    """ASGI application that passes valid requests to ``app`` and refuses others.

    - 401: no valid token (not required for ``/healthz``).
    - 403: sent by a web page of another site.
    - 421: addressed to an unknown host name, unless the service has a token or a Unix socket.
    """

    def __init__(self, app: ASGIApp, options: ListenOptions) -> None:
        self._app = app
        self._token = options.token.encode()
        self._allowed = {options.host.strip("[]").lower(), *map(str.lower, options.hosts)}
        self._any_host = bool(options.token) or options.uds is not None
        self._in_flight = 0
        self._last_request = 0.0
        self._is_ending = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._last_request = time.monotonic()
        if (refusal := self._refusal(scope)) is not None:
            answer = refused(await discard_body(Request(scope, receive), refusal))
            await answer(scope, receive, send)
            return
        self._in_flight += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_flight -= 1

    async def end(self, seconds: float) -> bool:
        """Refuse new requests and wait for running ones. Returns False if some did not finish in ``seconds``."""
        self._is_ending, started = True, time.monotonic()
        while self._in_flight or time.monotonic() - self._last_request < LINGER:
            if time.monotonic() - started >= seconds:
                return not self._in_flight
            await asyncio.sleep(0.02)
        return True

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        _, name = _split(f"//{host}")
        # Browsers always send a host; some load balancer probes do not.
        if host and not (self._any_host or is_loopback(name) or name in self._allowed):
            cure = f"if it is, start it with --allow-host {name or 'NAME'}"
            return Refusal(421, f"this service is not known as {host}: {cure}")
        if origin is not None:
            address, hostname = _split(origin)
            if not address or (address != host and hostname not in self._allowed):
                cure = f"to allow it, start the service with --allow-host {hostname or 'NAME'}"
                return Refusal(403, f"a page of {origin} sent this request: {cure}")
        if self._is_ending:
            return busy("the service is shutting down", 5.0)
        if scope["path"] != "/healthz" and not self._authorised(headers):
            refusal = Refusal(401, "a token is required: Authorization: Bearer TOKEN")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        return None

    def _authorised(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        is_right = hmac.compare_digest(token.strip().encode(), self._token)
        return not self._token or (is_right and scheme.lower() == "bearer")


def _split(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
        return parts.netloc.lower(), parts.hostname or ""
    except ValueError:
        return "", ""


class Bodies:
    """Reads request bodies within limits of size and time. ``held`` counts the bytes of all current requests."""

    def __init__(self, options: ListenOptions) -> None:
        self._options = options
        self._most = max(BODIES_AT_ONCE * options.max_body, BODY_BYTES)
        self.held = 0

    @contextlib.asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a JSON request. It counts towards ``held`` until the ``with`` block ends.

        Raises Refusal: 415 (not JSON), 413 (too large), 408 (too slow), 503 (too many bytes held).
        """
        headers = request.headers
        # A page of another site can post anything but JSON without a preflight request.
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            json_only = Refusal(415, "send JSON: Content-Type: application/json")
            raise await discard_body(request, json_only)
        if headers.get("content-encoding", "identity").lower() != "identity":
            compressed = Refusal(415, "a compressed body is not supported: send it uncompressed")
            raise await discard_body(request, compressed)
        body = bytearray()
        try:
            async with asyncio.timeout(self._options.read_seconds):
                await self._fill(body, request)
        except TimeoutError as error:
            self.held -= len(body)
            seconds = self._options.read_seconds
            raise Refusal(408, f"the body did not arrive within {seconds:g} s") from error
        except BaseException:
            self.held -= len(body)
            raise
        try:
            yield bytes(body)
        finally:
            self.held -= len(body)

    async def _fill(self, body: bytearray, request: Request) -> None:
        limit = self._options.max_body
        too_large = Refusal(413, f"the body is larger than {self._options.max_body_mb:g} MiB")
        declared = request.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > limit:
            raise await discard_body(request, too_large)
        stream = request.stream()
        async for part in stream:
            body += part
            self.held += len(part)
            if len(body) > limit or self.held > self._most:
                refusal = too_large if len(body) > limit else busy("too many large requests", 2.0)
                self.held -= len(body)
                body.clear()
                await _discard(request, stream)
                raise refusal


async def discard_body(request: Request, refusal: Refusal) -> Refusal:
    """Read and discard the body, then return ``refusal``. The sender reads no answer before it has sent the body."""
    await _discard(request, request.stream())
    return refusal


async def _discard(request: Request, stream: AsyncIterator[bytes]) -> None:
    if "expect" in request.headers:
        return  # the sender waits for "100 Continue" and sends nothing
    discarded = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            async for part in stream:
                discarded += len(part)
                if discarded > DISCARD_BYTES:
                    return
