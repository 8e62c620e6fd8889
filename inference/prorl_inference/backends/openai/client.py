"""One HTTP connection to an OpenAI-compatible server, and what its errors mean.

    Transient   try again: no connection, a torn or foreign answer, 5xx, 429 (with its Retry-After)
    Refused     this one request is turned down (too long, filtered): others may pass
    UserError   key, address, chat template: the user's to mend
    ServiceError  the server is there but cannot go on: model gone, quota spent

Standard library only; connections are kept open. Leaves out: proxies of the environment, redirects,
streaming, and trying again (``retry``, ``generator``).
"""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import json
import socket
import time
import urllib.parse
from collections.abc import Mapping
from typing import Any

from prorl_common import Closing, ServiceError, UserError
from prorl_inference.backends.openai.options import Address

CONNECT_SECONDS = 10.0
LONGEST_ANSWER = 256 * 2**20
"""Bytes; more is not an answer."""
NOT_THE_SAMPLE = (429, 502, 503, 504, 529)
"""Statuses that say something of the server and nothing of the sample."""


class Transient(ServiceError):
    """The request may pass later. ``wait``: seconds the server asks for; ``blames_sample``: whether
    the same failure over and over may be this sample's doing; ``alive``: the server itself says that it
    takes no more for now."""

    def __init__(
        self,
        reason: str,
        wait: float | None = None,
        blames_sample: bool = True,
        alive: bool = False,
    ) -> None:
        super().__init__(reason)
        self.wait, self.blames_sample, self.alive = wait, blames_sample, alive


class Refused(ServiceError):
    """The server turned this one sample down."""


class Connection(Closing):
    """One kept-open connection, of one thread; ``cut`` may be called from another."""

    def __init__(self, address: Address, key: str | None, timeout: float) -> None:
        self._address, self._key, self._timeout = address, key, timeout
        self._secrets = _spellings(key)
        self._http: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self._cut = False

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at ``path``; see the module's docstring for what is raised."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a JSON object and return the answer."""
        return self._ask("POST", path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, data: bytes | None) -> dict[str, Any]:
        headers = {"Accept": "application/json", "User-Agent": "prorl"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        reused = self._http is not None
        try:
            return self._read(*self._exchange(method, path, data, headers))
        except (ConnectionError, http.client.HTTPException) as error:
            self.close()
            if not reused:
                raise self._lost(error) from error
        except OSError as error:
            self.close()
            raise self._lost(error) from error
        # A connection that was kept open may have been closed since: once more on a new one.
        try:
            return self._read(*self._exchange(method, path, data, headers))
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._lost(error) from error

    def _exchange(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of one answer."""
        connection = self._connected()
        connection.request(method, self._address.base + path, data, headers)
        with connection.getresponse() as response:
            body = response.read(LONGEST_ANSWER)
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
            if response.will_close:
                self.close()
            return response.status, dict(response.headers.items()), body

    def _connected(self) -> http.client.HTTPConnection:
        if self._cut:
            raise ConnectionAbortedError("cut")
        if self._http is None:
            kind = (
                http.client.HTTPSConnection if self._address.secure else http.client.HTTPConnection
            )
            made = kind(self._address.host, self._address.port, timeout=CONNECT_SECONDS)
            try:
                made.connect()
            except ConnectionRefusedError as error:
                raise Transient("connection refused", blames_sample=False) from error
            except socket.gaierror as error:
                raise Transient(
                    f"unknown host {self._address.host}", blames_sample=False
                ) from error
            except (OSError, http.client.HTTPException) as error:
                reason = f"no connection ({self._words(error)})"
                raise Transient(reason, blames_sample=False) from error
            made.sock.settimeout(self._timeout)
            _notice_a_vanished_host(made.sock)
            self._http, self._socket = made, made.sock
        return self._http

    def _lost(self, error: Exception) -> Transient:
        if isinstance(error, TimeoutError):
            return Transient(f"no answer within {self._timeout:g} s")
        return Transient(f"the connection broke ({self._words(error)})")

    def _read(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        if status != 200:
            raise self._refusal(status, headers, body)
        try:
            value = json.loads(body)
        except ValueError as error:
            raise Transient(f"an answer that is not JSON ({self._start(body)})") from error
        if not isinstance(value, dict):
            raise Transient(f"an answer that is no JSON object ({self._start(body)})")
        return value

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        """Return what an HTTP status other than 200 means."""
        said = self._message(body)
        line = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        if status == 402 or "insufficient_quota" in said or b'"insufficient_quota"' in body:
            return ServiceError(f"the server's quota is spent ({line})")
        if status in (401, 403):
            return UserError(
                f"the server turns the key down ({line}): name the right one's variable"
            )
        if 300 <= status < 400:
            place = headers.get("Location", headers.get("location", ""))
            place = one_line(self._without_key(place))[:300]
            return UserError(f"the server is elsewhere ({line}): give its address {place}".rstrip())
        if status in (408, 409, 425, 429) or status >= 500:
            wait = retry_after(headers)
            alive = status == 429 or (status in (503, 529) and wait is not None)
            return Transient(line, wait, status not in NOT_THE_SAMPLE, alive)
        if status in (404, 405):
            return ServiceError(f"the server answers, but does not know what is asked ({line})")
        if "chat template" in said.lower() or "chat_template" in said:
            return UserError(
                f"the server cannot render chat messages ({line}): give it a chat template, or name "
                "the model's tokenizer and use the completions api"
            )
        return Refused(line)

    def _without_key(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _message(self, body: bytes) -> str:
        """Return what an error's body says, in one short line without the key."""
        try:
            value = json.loads(body)
        except ValueError:
            return self._start(body)
        for name in ("error", "message", "detail"):
            if isinstance(value, dict) and name in value:
                value = value[name]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return one_line(self._without_key(text))[:300]

    def _start(self, body: bytes) -> str:
        return one_line(self._without_key(body.decode("utf-8", "replace")))[:120]

    def _words(self, error: Exception) -> str:
        return one_line(self._without_key(str(error)))[:120] or type(error).__name__

    def cut(self) -> None:
        """End what the connection's thread waits for; it cannot be used again."""
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


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header (a number or a date, RFC 9110 section 10.2.3)."""
    value = next((v for name, v in headers.items() if name.lower() == "retry-after"), None)
    if value is None:
        return None
    with contextlib.suppress(ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return None


def _notice_a_vanished_host(sock: socket.socket) -> None:
    """Have the kernel probe an idle connection: a host that lost power sends no reset."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def one_line(text: str) -> str:
    """Return the text in one line that can be written as UTF-8: halves of a UTF-16 pair are replaced."""
    return " ".join(whole_characters(text).split())


def whole_characters(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD; JSON may hold them, UTF-8 may not."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _spellings(key: str | None) -> tuple[str, ...]:
    """Return how the key may be written in a body, the longest first."""
    if not key:
        return ()
    quoted = json.dumps(key)[1:-1]
    found = {key, quoted, quoted.replace("/", "\\/"), urllib.parse.quote(key, safe="")}
    return tuple(sorted(found, key=len, reverse=True))
