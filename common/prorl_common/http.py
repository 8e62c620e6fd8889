"""A small HTTP client with retries. It ignores redirects and proxy environment variables."""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import json
import math
import os
import random
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from prorl_common.closing import Closing
from prorl_common.errors import ServiceError, UserError
from prorl_common.progress import format_seconds

T = TypeVar("T")

CONNECT_SECONDS = 10.0
LONGEST_ANSWER = 256 * 2**20
"""Maximum size of a response body in bytes."""
NOT_THE_REQUEST = (429, 502, 503, 504, 529)
"""Statuses that are never caused by the request itself."""
BUSY_SECONDS = 60.0
"""Seconds without an accepted request before the user sees a warning."""
_CANCELLED = "closed on our side, to cancel the request"
GONE_AFTER = 3
"""Number of consecutive failures after which a warning says that the server does not answer."""


class TransientError(ServiceError):
    """Raised if a request failed but may succeed later.

    ``wait`` is the delay in seconds that the server requested. ``blames_request`` says whether this request may have
    caused the failure, ``alive`` whether the server is only busy.
    """

    def __init__(
        self,
        reason: str,
        wait: float | None = None,
        blames_request: bool = True,
        alive: bool = False,
    ) -> None:
        super().__init__(reason)
        self.wait, self.blames_request, self.alive = wait, blames_request, alive


class StoppedError(Exception):
    """Raised in waiting threads after :meth:`ServerWatch.stop`."""


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a server. ``base`` is prepended to every path. ``socket`` is the path of a Unix socket, or ""."""

    secure: bool
    host: str
    port: int
    base: str
    socket: str = ""

    def __str__(self) -> str:
        if self.socket:
            return f"unix:{self.socket}"
        return f"{'https' if self.secure else 'http'}://{self.host}:{self.port}{self.base}"


def parse_address(url: str, name: str, example: str, base: str = "") -> Address:
    """Parse ``http(s)://host[:port][/path]`` or ``unix:/path``. A URL's default path is ``base``.

    Raises UserError for any other URL, or one with a password; the message calls it ``name`` and shows ``example``.
    """
    if url.startswith("unix:/"):
        return Address(False, "localhost", 0, base, url.removeprefix("unix:"))
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError as error:
        reason = "" if "@" in url else f" ({error})"
        raise UserError(f"{name} is not a URL{reason}: write it as {example}") from (
            None if "@" in url else error
        )
    if parts.username is not None or parts.password is not None or parts.query:
        raise UserError(
            f"{name} must not contain a key or password: put it in an environment variable"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"{name} is '{url}': write it as {example}")
    try:
        parts.hostname.encode("idna")
    except UnicodeError as error:
        raise UserError(f"{name} is '{url}': '{parts.hostname}' is not a host name") from error
    secure = parts.scheme == "https"
    path = parts.path.rstrip("/") or base
    return Address(secure, parts.hostname, port or (443 if secure else 80), path)


def bearer_token(explicit: str | None) -> str:
    """Return ``explicit``, or PRORL_TOKEN if that is None, or "". Raises UserError for an invalid token."""
    token = (explicit if explicit is not None else os.environ.get("PRORL_TOKEN", "")).strip()
    if not token.isascii() or not token.isprintable():
        raise UserError("the token (PRORL_TOKEN) must consist of printable ASCII characters")
    return token


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response with any status. ``hide`` removes the bearer token from a text."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    hide: Callable[[str], str] = str

    def object(self) -> dict[str, Any]:
        """Return the JSON object in the body. Raises TransientError if the body is anything else."""
        try:
            value = json.loads(self.body)
        except ValueError as error:
            raise TransientError(f"the response is not JSON ({self._body_start()})") from error
        if not isinstance(value, dict):
            raise TransientError(f"the response is not a JSON object ({self._body_start()})")
        return value

    def message(self) -> str:
        """Return the error message in the body, shortened to one line without the bearer token."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return self._body_start()
        for name in ("error", "message", "detail"):
            if isinstance(value, dict) and name in value:
                value = value[name]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return one_line(self.hide(text))[:300]

    def line(self) -> str:
        message = self.message()
        return f"HTTP {self.status}: {message}" if message else f"HTTP {self.status}"

    def trouble(self) -> TransientError | None:
        """Return a TransientError if the status means that the request may succeed later, else None."""
        if self.status not in (408, 409, 425, 429) and self.status < 500:
            return None
        wait = self.retry_after()
        alive = self.status == 429 or (self.status in (503, 529) and wait is not None)
        return TransientError(self.line(), wait, self.status not in NOT_THE_REQUEST, alive)

    def header(self, name: str) -> str | None:
        """Return a header's value, or None. Case does not matter."""
        return next((v for n, v in self.headers.items() if n.lower() == name.lower()), None)

    def retry_after(self) -> float | None:
        """Return the delay in seconds that the Retry-After header requests, or None."""
        value = self.header("Retry-After")
        if value is None:
            return None
        with contextlib.suppress(ValueError):
            return max(0.0, float(value))
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
        return None

    def _body_start(self) -> str:
        return one_line(self.hide(self.body.decode("utf-8", "replace")))[:120]


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Connection(Closing):
    """A keep-alive HTTP connection for one thread. Only :meth:`cut` may be called from other threads.

    ``key`` is sent as a bearer token and removed from error messages. ``timeout`` is in seconds per response. If a
    reused connection breaks, ``at_return`` is called and the request is sent once more.
    """

    def __init__(
        self,
        address: Address,
        key: str | None,
        timeout: float,
        headers: Mapping[str, str] | None = None,
        at_return: Callable[[Connection], None] | None = None,
    ) -> None:
        self._address, self._timeout, self._at_return = address, timeout, at_return
        self._headers = {"Accept": "application/json", "User-Agent": "prorl", **(headers or {})}
        spellings = set()
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
            quoted = json.dumps(key)[1:-1]
            spellings = {key, quoted, quoted.replace("/", "\\/"), urllib.parse.quote(key, safe="")}
        self._secrets = sorted(spellings, key=len, reverse=True)
        self._http: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self._cut = False

    def get(self, path: str) -> Reply:
        """Send a GET request. Raises TransientError."""
        return self._ask("GET", path, None, self._headers)

    def post(self, path: str, value: Mapping[str, Any]) -> Reply:
        """Send a POST request with ``value`` as JSON. Raises TransientError."""
        headers = {**self._headers, "Content-Type": "application/json"}
        return self._ask("POST", path, json.dumps(value).encode(), headers)

    def _ask(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> Reply:
        reused = self._http is not None
        while True:
            try:
                connection = self._connected()
                connection.request(method, self._address.base + path, data, headers)
                return self._read_reply(connection.getresponse())
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # The server may have closed the kept-open connection: retry once on a new one.
                if reused and isinstance(error, (ConnectionError, http.client.HTTPException)):
                    reused = False
                    if self._at_return is not None:
                        self._at_return(self)
                    continue
                raise self._broken(error) from error

    def _broken(self, error: Exception) -> TransientError:
        if isinstance(error, TimeoutError):
            return TransientError(f"no answer within {self._timeout:g} s")
        return TransientError(f"the connection broke ({self._describe(error)})")

    def _read_reply(self, response: http.client.HTTPResponse) -> Reply:
        with response:
            body = response.read(LONGEST_ANSWER)
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
            if response.will_close:
                self.close()
            return Reply(response.status, dict(response.headers.items()), body, self._without_key)

    def _connected(self) -> http.client.HTTPConnection:
        if self._cut:
            raise ConnectionAbortedError(_CANCELLED)
        if self._http is None:
            made = self._new_connection(min(CONNECT_SECONDS, self._timeout))
            try:
                made.connect()
            except (OSError, http.client.HTTPException) as error:
                made.close()
                reason = f"no connection ({self._describe(error)})"
                if isinstance(error, ConnectionRefusedError):
                    reason = "connection refused"
                elif isinstance(error, socket.gaierror):
                    reason = f"unknown host {self._address.host}"
                raise TransientError(reason, blames_request=False) from error
            made.sock.settimeout(self._timeout)
            if not self._address.socket:
                enable_keepalive(made.sock)
            self._http, self._socket = made, made.sock
            if self._cut:  # cut while connecting, before there was a socket to shut down
                raise ConnectionAbortedError(_CANCELLED)
        return self._http

    def _new_connection(self, timeout: float) -> http.client.HTTPConnection:
        address = self._address
        if address.socket:
            return _UnixConnection(address.socket, timeout)
        if address.secure:
            return http.client.HTTPSConnection(address.host, address.port, timeout=timeout)
        return http.client.HTTPConnection(address.host, address.port, timeout=timeout)

    def _without_key(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _describe(self, error: Exception) -> str:
        return one_line(self._without_key(str(error)))[:120] or type(error).__name__

    def cut(self) -> None:
        """Abort the running request and reject later ones."""
        self._cut = True
        held = self._socket
        if held is not None:
            with contextlib.suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._http is not None:
            self._http.close()
        if self._socket is not None:
            self._socket.close()
        self._http = self._socket = None


def enable_keepalive(sock: socket.socket) -> None:
    """Detect within a minute that the peer's machine is gone. Also applies to connections accepted by ``sock``."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    probes = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
    for name, value in (*probes, ("TCP_USER_TIMEOUT", 60_000)):  # the last one is in ms
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Delays between retries and limits of retries, in seconds.

    The delay doubles from ``first`` to ``longest``, plus a random part. A longer delay requested by the server is used,
    up to ``longest_asked``. ``tries`` limits the failures of one request, ``patience`` the time without an answer.
    """

    first: float = 0.5
    longest: float = 30.0
    longest_asked: float = 86400.0
    tries: float = math.inf
    patience: float = math.inf

    def wait(self, failures: int, asked: float | None) -> float:
        backoff = min(self.longest, self.first * 2.0 ** min(failures - 1, 10))
        seconds = max(backoff, min(asked or 0.0, self.longest_asked))
        return seconds * (1.0 + 0.25 * random.random())


class ServerWatch:
    """Tracks for all threads whether a server answers, and reports changes through ``tell``."""

    def __init__(
        self,
        where: str,
        policy: RetryPolicy,
        tell: Callable[[str], None] = lambda _: None,
        assurance: str = "nothing is lost",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.policy = policy
        self.last_answer = 0.0
        self.retries = 0
        self._where, self._tell, self._assurance, self._clock = where, tell, assurance, clock
        self._changed = threading.Condition()
        self._failing_since: float | None = None
        self._streak = 0
        self._reported_gone = False
        self._gone_since = self._busy_since = 0.0
        self._reported_busy = False
        self._stopped = False

    def until_answered(self, ask: Callable[[], T]) -> T:
        """Call ``ask`` until it raises no TransientError; return its result.

        Raises ServiceError when the limits of the ``RetryPolicy`` are reached, StoppedError after :meth:`stop`.
        """
        failures = 0
        while True:
            try:
                result = ask()
            except TransientError as failure:
                failures += 1
                if failures >= self.policy.tries:
                    times = "once" if failures == 1 else f"{failures} times"
                    raise ServiceError(f"{self._where} failed {times} ({failure})") from failure
                self.failed(failure)
                self.wait(self.policy.wait(failures, failure.wait), failure.alive)
            else:
                self.answered()
                return result

    def answered(self) -> None:
        """Record that the server answered a request, also with an error status."""
        with self._changed:
            self.last_answer = self._clock()
            was_told, self._reported_gone = self._reported_gone, False
            self._failing_since, self._streak = None, 0
            self._busy_since, self._reported_busy = 0.0, False
            if was_told:
                took = format_seconds(self.last_answer - self._gone_since)
                self._tell(f"{self._where} is back after {took}: continuing")
                self._changed.notify_all()

    def failed(self, failure: TransientError, began: float = math.inf) -> None:
        """Record a failed attempt that began at the time ``began`` (``time.monotonic``).

        Raises ServiceError after ``patience`` seconds without an answer, StoppedError after :meth:`stop`.
        """
        with self._changed:
            if self._stopped:
                raise StoppedError
            now = self._clock()
            self.retries += 1
            if failure.alive:
                self._busy(now, failure)
                return
            self._streak += began >= self.last_answer
            if self._failing_since is None:
                self._failing_since = now
            if not self._reported_gone:
                self._gone_since = self._failing_since
            lasted = now - self._failing_since
            if lasted >= self.policy.patience:
                raise ServiceError(
                    f"{self._where} has not answered for {format_seconds(lasted)} ({failure}): "
                    f"{self._assurance}; once it answers, run the same command again"
                ) from failure
            if not self._reported_gone and self._streak >= GONE_AFTER:
                self._reported_gone = True
                most = self.policy.patience - lasted
                limit = f", {format_seconds(most)} at most" if math.isfinite(most) else ""
                self._tell(
                    f"{self._where} does not answer ({failure}): waiting for it{limit}; {self._assurance}"
                )

    def _busy(self, now: float, failure: TransientError) -> None:
        self._failing_since, self._streak = None, 0
        self._busy_since = self._busy_since or now
        until = now + (failure.wait or 0.0)
        if not self._reported_busy and until - self._busy_since > BUSY_SECONDS:
            self._reported_busy = True
            self._tell(
                f"{self._where} answers, but accepts no requests for now ({failure}): waiting as it asks; "
                f"{self._assurance}"
            )

    def wait(self, seconds: float, asked: bool = False) -> None:
        """Sleep for ``seconds``. Unless the server ``asked`` for the delay, wake up when it answers another thread.

        Raises StoppedError after :meth:`stop`.
        """
        with self._changed:
            if asked:
                self._changed.wait_for(lambda: self._stopped, seconds)
            elif not self._stopped:
                if self._failing_since is not None:
                    left = self._failing_since + self.policy.patience - self._clock()
                    seconds = min(seconds, max(0.05, left))
                self._changed.wait(seconds)
            if self._stopped:
                raise StoppedError

    def stop(self) -> None:
        """Make all waiting threads raise StoppedError."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def start(self) -> None:
        with self._changed:
            self._stopped = False
            self._failing_since, self._streak, self._reported_gone = None, 0, False
            self._busy_since, self._reported_busy = 0.0, False


def one_line(text: str) -> str:
    return " ".join(whole_characters(text).split())


def whole_characters(text: str) -> str:
    """Replace lone surrogates in ``text`` by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
