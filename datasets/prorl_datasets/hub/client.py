"""Ask a hub for listings and bodies: redirects, refusals in half a line each, and when to ask again.

A request that may pass later (429 with its Retry-After, 5xx, a cut or silent connection) is sent again by
``prorl_common.http``'s retry policy; a hub that has never answered is not waited for. Proxies of the
environment are honoured; a token goes to the hub alone, never to where it redirects. Leaves out: files
on this machine (``cache``, ``download``).
"""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import IO, Any, Protocol, TypeVar

from prorl_common import ServiceError
from prorl_common.http import Reply, RetryPolicy, ServerWatch, TransientError, one_line
from prorl_datasets.hub.cache import Listing, RemoteFile

SILENCE_SECONDS = 30.0
POLICY = RetryPolicy(first=0.5, longest=30.0, longest_asked=600.0, tries=8)
"""Two minutes of waiting at most, unless the hub asks for more: its rate limits count over five minutes."""
FIRST_TRIES = 2
"""Connections that fail before the hub has answered at all."""
_LONGEST = 64 * 2**20
T = TypeVar("T")


class Unreachable(Exception):
    """Why a source gave no files: a half line, without the repository's name and the cure."""


class NoRevision(Unreachable):
    """The repository has no such branch, tag or commit."""


class NoHub(Unreachable):
    """No hub can be asked: it has never answered, or must not be."""


class Answer(Protocol):
    """The little of urllib's response that is used."""

    status: int
    headers: Any

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        ...

    def geturl(self) -> str:
        """Return the address after redirects."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Client:
    """One hub. ``tell`` is told once when it does not answer and once when it is back."""

    def __init__(
        self,
        endpoint: str,
        token: str | None = None,
        tell: Callable[[str], None] = lambda _: None,
        policy: RetryPolicy | None = None,
    ) -> None:
        self.endpoint = endpoint.rstrip("/")
        self.token = token
        self._watch = ServerWatch(
            f"the hub at {self.endpoint}", policy or POLICY, tell, "what is here is kept"
        )
        self._opener = urllib.request.build_opener(_Redirects)
        self._met, self._strikes = False, 0

    def listing(self, repo: str, revision: str) -> Listing:
        """Return commit and files of a revision. Raises Unreachable."""
        base = f"{self.endpoint}/api/datasets"
        quoted = urllib.parse.quote(revision, safe="")
        info, address, _ = self._json(f"{base}/{repo}/revision/{quoted}", repo, revision)
        if not isinstance(info, dict) or not isinstance(info.get("sha"), str):
            raise Unreachable(
                f"{self.endpoint} does not answer as a hub does (no commit in its answer)"
            )
        named = urllib.parse.unquote(urllib.parse.urlsplit(address).path)
        now = named.partition("/api/datasets/")[2].partition("/revision/")[0] or repo
        files: dict[str, RemoteFile] = {}
        page: str | None = f"{base}/{now}/tree/{info['sha']}?recursive=true"
        while page is not None:
            entries, address, headers = self._json(page, repo, revision)
            files.update(_file(entry) for entry in entries if entry.get("type") == "file")
            following = _next(headers.get("Link"))
            page = None if following is None else urllib.parse.urljoin(address, following)
        plain = {
            name: f for name, f in files.items() if ".." not in name.split("/") and name[:1] != "/"
        }
        return Listing(now, info["sha"], dict(sorted(plain.items())))

    def address(self, repo: str, commit: str, name: str) -> str:
        """Return where the body of a file is."""
        return f"{self.endpoint}/datasets/{repo}/resolve/{commit}/{urllib.parse.quote(name)}"

    def until_answered(self, ask: Callable[[], T]) -> T:
        """Return what ``ask`` returns, asked again after each TransientError. Raises Unreachable."""
        try:
            return self._watch.until_answered(ask)
        except ServiceError as error:
            raise Unreachable(str(error)) from error

    def part(self, repo: str, commit: str, name: str, start: int, length: int) -> bytes:
        """Return ``length`` bytes of a file from ``start``, fewer at its end. Raises Unreachable."""

        def ask() -> bytes:
            span = f"bytes={start}-{start + length - 1}"
            with self.open(self.address(repo, commit, name), repo, commit, span) as answer:
                skip = start if answer.status == 200 else 0  # the whole file comes
                body = answer.read(skip + length)[skip:]
                if answer.status == 206 and len(body) < int(answer.headers["Content-Length"] or 0):
                    raise TransientError("a cut answer")
                return body

        return self.until_answered(ask)

    @contextmanager
    def open(
        self, address: str, repo: str, revision: str, span: str | None = None
    ) -> Iterator[Answer]:
        """Yield the answer to one GET, of status 200 or 206 (``span``: a Range header).

        Raises TransientError, from the block too where it reads and the connection breaks; Unreachable
        for a refusal.
        """
        headers = {"User-Agent": "prorl", "Accept-Encoding": "identity"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if span is not None:
            headers["Range"] = span
        try:
            request = urllib.request.Request(address, headers=headers)
            with closing(self._opener.open(request, timeout=SILENCE_SECONDS)) as answer:
                self._met = True
                yield answer
        except urllib.error.HTTPError as error:
            self._met = True
            with error:
                reply = Reply(error.code, dict(error.headers.items()), _start(error))
            trouble = reply.trouble()
            if trouble is not None:
                raise trouble from error
            raise self._refusal(reply, repo, revision) from error
        except (OSError, http.client.HTTPException) as error:
            raise self._broken(error) from error
        except ValueError as error:  # an address that is none
            raise NoHub(f"the hub at {self.endpoint} is not reachable ({error})") from error

    def _json(self, address: str, repo: str, revision: str) -> tuple[Any, str, Any]:
        """Return the JSON at ``address``, where that is after redirects, and the headers."""

        def ask() -> tuple[Any, str, Any]:
            with self.open(address, repo, revision) as answer:
                body = answer.read(_LONGEST)
                try:
                    return json.loads(body), answer.geturl(), answer.headers
                except ValueError as error:
                    start = one_line(body[:80].decode("utf-8", "replace"))
                    raise TransientError(f"an answer that is not JSON ({start})") from error

        return self.until_answered(ask)

    def _broken(self, error: Exception) -> Exception:
        """Return what a connection's failure is: to be tried again, or in vain."""
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        words = one_line(str(cause))[:200] or type(cause).__name__
        self._strikes += 1
        in_vain = isinstance(cause, ssl.SSLCertVerificationError) or not isinstance(
            cause, OSError | http.client.HTTPException
        )
        if in_vain or (not self._met and self._strikes >= FIRST_TRIES):
            return NoHub(f"the hub at {self.endpoint} is not reachable ({words})")
        return TransientError(f"the connection broke ({words})", blames_request=False)

    def _refusal(self, reply: Reply, repo: str, revision: str) -> Unreachable:
        """Return what a refusal is, in half a line, with its cure where it has one of its own."""
        if reply.header("X-Error-Code") == "RevisionNotFound":
            return NoRevision(f"it has no revision '{revision}' at {self.endpoint}")
        return Unreachable(self._words(reply, repo, revision))

    def _words(self, reply: Reply, repo: str, revision: str) -> str:
        code, page = reply.header("X-Error-Code"), f"{self.endpoint}/datasets/{repo}"
        if code == "GatedRepo":
            if self.token and reply.status == 403:
                return (
                    f"this repository is gated and the token's account has no access yet: accept its terms "
                    f"at {page} (a fine-grained token must also allow public gated repositories)"
                )
            return f"this repository is gated: accept its terms at {page} and set HF_TOKEN"
        if code == "EntryNotFound":
            return f"{self.endpoint} lists a file that it does not have at {revision}"
        if code == "RepoNotFound" or reply.status in (401, 404):
            return f"{self.endpoint} has no such repository, or it is private and HF_TOKEN does not open it"
        if reply.status == 403:
            return (
                f"the hub refuses it (HTTP 403): it is gated or private; accept its terms at {page} "
                "and set HF_TOKEN"
            )
        return f"{self.endpoint} answered {reply.line()}"


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects; the token stays with the host that it was meant for."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and following.host != req.host:
            following.remove_header("Authorization")
        return following


def _start(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read(4096)
    except (OSError, http.client.HTTPException):
        return b""


def _file(entry: Mapping[str, Any]) -> tuple[str, RemoteFile]:
    large = entry.get("lfs")
    if isinstance(large, dict):
        return entry["path"], RemoteFile(int(large["size"]), large.get("oid"), None)
    return entry["path"], RemoteFile(int(entry["size"]), None, entry.get("oid"))


def _next(link: str | None) -> str | None:
    """Return the address of the next page from a Link header (RFC 8288)."""
    for part in (link or "").split(","):
        address, _, relation = part.partition(";")
        if 'rel="next"' in relation.replace(" ", ""):
            return address.strip().strip("<>")
    return None
