"""Lists and downloads data set files with huggingface_hub, in the cache that it shares with ``datasets``.

HF_ENDPOINT names the hub, HF_HUB_OFFLINE limits it to cached files, and HF_TOKEN or the token of ``hf auth login``
opens gated repositories.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

from prorl_common import NullProgress, Progress, ServiceError, atomic_write_text, sha256_file
from prorl_common.files import explain_write_errors
from prorl_common.http import Reply, RetryPolicy, ServerWatch, TransientError, one_line
from prorl_common.hub import (
    broken_library,
    http_error,
    hub_address,
    hub_home,
    hub_is_offline,
    hub_token,
    is_repo,
)

COMMIT = re.compile(r"[0-9a-f]{40}")
POLICY = RetryPolicy(first=0.5, longest=30.0, longest_asked=600.0, tries=8)
"""Retries for up to two minutes, or longer if the hub asks for it, because its rate limits span five minutes."""
FIRST_TRIES = 2
"""Number of failed connections after which a hub that has never answered counts as unreachable."""
HASH_TRIES = 3
"""Maximum number of downloads of a file whose hash is wrong."""
MAX_FILES = 1_000_000
PROGRESS_BYTES = 8 << 20
"""Downloads of at least this size in bytes show progress."""
PART = 256 * 1024
"""Block size in bytes for partial reads."""
_LAYOUT_OF_LISTINGS = 1
T = TypeVar("T")


class Unreachable(Exception):
    """Raised if a source cannot provide its files; the message says why."""


class NoRevision(Unreachable):
    """Raised if the repository has no such revision."""


class NoHub(Unreachable):
    """Raised if the hub never answered, or HF_HUB_OFFLINE forbids requests."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A listed file: its size in bytes, and its SHA-256 or Git hash."""

    size: int
    sha256: str | None = None
    git: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of a repository at one commit."""

    repo: str
    commit: str
    files: Mapping[str, RemoteFile] = field(default_factory=dict)


class CachedHub:
    """Client of the hub with a local cache. Methods raise Unreachable, or UserError for disk errors."""

    def __init__(self, environment: Mapping[str, str], progress: Progress | None = None) -> None:
        configured = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE")
        self._cache = Path(configured).expanduser() if configured else hub_home(environment) / "hub"
        self._endpoint = hub_address(environment).rstrip("/")
        self._token = hub_token(environment)
        self._offline = hub_is_offline(environment)
        self._progress = progress or NullProgress()
        self._has_answered = False
        self._failures = 0
        self._watch = ServerWatch(
            f"the hub at {self._endpoint}", POLICY, self._progress.message, "what is here is kept"
        )

    def listing(self, repo: str, revision: str) -> Listing:
        """Return the files and commit of a revision."""
        if not is_repo(repo):
            raise Unreachable(f"'{repo}' is not a repository name (owner/name)")
        commit = revision if COMMIT.fullmatch(revision) else None
        if self._offline:
            return self._listing_offline(repo, revision, commit or self._commit_of(repo, revision))
        if commit is not None and (cached := self._stored_listing(repo, commit)) is not None:
            return cached
        listed = self._ask(lambda: self._remote_listing(repo, revision), repo, revision)
        files = {name: asdict(file) for name, file in listed.files.items()}
        stored = {"layout": _LAYOUT_OF_LISTINGS, "repo": listed.repo, "files": files}
        atomic_write_text(self._listing_path(repo, listed.commit), json.dumps(stored))
        if revision != listed.commit:
            atomic_write_text(self._folder(repo) / "refs" / revision, listed.commit)
        if listed.repo != repo:
            self._progress.message(f"{repo} is now called {listed.repo} on the hub")
        return listed

    def download(self, listing: Listing, name: str) -> tuple[Path, str]:
        """Return the cached path and SHA-256 of a file, downloading it if needed."""
        remote, path = listing.files[name], self._path(listing, name)
        for _ in range(HASH_TRIES):
            if not path.is_file():
                self._refuse_offline(name)
                with explain_write_errors(path):
                    self._fetch(listing, name, path)
            sha = sha256_file(path)
            if self._offline or _matches(path, sha, remote):
                return path, sha
            path.unlink()
        raise Unreachable(
            f"{HASH_TRIES} downloads of {name} did not have the hash that the hub lists"
        )

    def open(self, listing: Listing, name: str) -> BinaryIO:
        """Open a file for partial reads."""
        path = self._path(listing, name)
        if path.is_file():
            return path.open("rb")
        self._refuse_offline(name)
        from huggingface_hub import HfFileSystem

        files = HfFileSystem(endpoint=self._endpoint, token=self._token or False)
        place = f"datasets/{listing.repo}@{listing.commit}/{name}"

        def start() -> BinaryIO:
            opened: BinaryIO = files.open(place, "rb", block_size=PART)
            opened.read(1)  # the hub refuses a file only when it is read
            opened.seek(0)
            return opened

        return self._ask(start, listing.repo, listing.commit)

    def _refuse_offline(self, name: str) -> None:
        if self._offline:
            raise NoHub(f"HF_HUB_OFFLINE is set and {name} is not in the hub's cache")

    def _remote_listing(self, repo: str, revision: str) -> Listing:
        from huggingface_hub import HfApi
        from huggingface_hub.hf_api import RepoFile

        api = HfApi(endpoint=self._endpoint, token=self._token or False)
        about = api.dataset_info(repo, revision=revision)
        name, commit = about.id, about.sha
        if not is_repo(name) or not COMMIT.fullmatch(commit or ""):
            raise ValueError(f"it describes repository '{name}' at '{commit}' instead of {repo}")
        files: dict[str, RemoteFile] = {}
        paths: set[str] = set()
        for entry in api.list_repo_tree(name, recursive=True, revision=commit, repo_type="dataset"):
            if entry.path in paths or len(paths) >= MAX_FILES:
                raise ValueError("the list of files repeats a path or is too long")
            paths.add(entry.path)
            if (
                isinstance(entry, RepoFile)
                and entry.path[:1] != "/"
                and ".." not in entry.path.split("/")
            ):
                files[entry.path] = _remote_file(entry)
        if not paths:
            raise ValueError("it lists no files")
        return Listing(name, str(commit), dict(sorted(files.items())))

    def _fetch(self, listing: Listing, name: str, path: Path) -> None:
        size = listing.files[name].size
        part = self._folder(listing.repo) / ".prorl" / listing.commit / f"{name}.part"
        part.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as out:
            fcntl.flock(out, fcntl.LOCK_EX)  # another build may download the same file
            if path.is_file():
                return
            self._ask(lambda: self._resume(listing, name, out), listing.repo, listing.commit)
            os.fsync(out.fileno())
            if size >= PROGRESS_BYTES:
                self._progress.finish()
        os.replace(part, path)

    def _resume(self, listing: Listing, name: str, out: BinaryIO) -> None:
        from huggingface_hub import hf_hub_url
        from huggingface_hub.file_download import http_get

        headers = {"Accept-Encoding": "identity"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        size, offset = listing.files[name].size, out.seek(0, os.SEEK_END)
        if offset > size:
            out.truncate(0)
            offset = 0
        if size >= PROGRESS_BYTES:
            label = f"fetching {listing.repo}/{name} (MiB)"
            self._progress.start(label, size >> 20, offset >> 20)
        url = hf_hub_url(
            listing.repo,
            name,
            repo_type="dataset",
            revision=listing.commit,
            endpoint=self._endpoint,
        )
        bar: Any = _progress_bar(
            self._progress if size >= PROGRESS_BYTES else NullProgress(), offset
        )
        if offset < size:
            http_get(
                url,
                out,
                resume_size=offset,
                headers=headers,
                displayed_filename=name,
                tqdm_class=bar,
            )
            out.flush()
        if out.tell() != size:
            sent = out.tell()
            out.truncate(0)
            raise TransientError(f"it sent {sent:,} bytes, but lists the file with {size:,}")

    def _ask(self, ask: Callable[[], T], repo: str, revision: str) -> T:
        """Return the result of ``ask``, retrying transient errors. Raises Unreachable."""
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # ServerWatch reports failures
        broken: tuple[type[Exception], ...] = (ValueError, *broken_library())

        def ask_once() -> T:
            try:
                answer = ask()
            except broken as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # a disk error
                raise self._explain(error, repo, revision) from error
            self._has_answered = True
            return answer

        try:
            return self._watch.until_answered(ask_once)
        except ServiceError as error:
            raise Unreachable(str(error)) from error

    def _explain(self, error: Exception, repo: str, revision: str) -> Exception:
        """Return TransientError if a retry may help, else Unreachable with advice."""
        from huggingface_hub import errors

        response = getattr(error, "response", None)
        if response is None:
            return self._broken(error)
        self._has_answered = True
        status, page = response.status_code, f"{self._endpoint}/datasets/{repo}"
        message = getattr(error, "server_message", None) or ""
        reply = Reply(status, dict(response.headers), message.encode())
        if (trouble := reply.trouble()) is not None:
            return trouble
        match error:
            case errors.GatedRepoError() if self._token and status == 403:
                return Unreachable(
                    "this repository is gated and the token's account has no access yet: accept its terms at "
                    f"{page} (a fine-grained token must also allow public gated repositories)"
                )
            case errors.GatedRepoError():
                return Unreachable(
                    f"this repository is gated: accept its terms at {page} and set HF_TOKEN"
                )
            case errors.RevisionNotFoundError():
                return NoRevision(f"it has no revision '{revision}' at {self._endpoint}")
            case errors.EntryNotFoundError():
                return Unreachable(
                    f"{self._endpoint} lists a file that it does not have at {revision}"
                )
            case _ if isinstance(error, errors.RepositoryNotFoundError) or status in (401, 404):
                return Unreachable(
                    f"{self._endpoint} has no such repository, or it is private and HF_TOKEN does not open it"
                )
            case _ if status == 403:
                return Unreachable(
                    f"the hub refuses it (HTTP 403): it is gated or private; accept its terms at {page} and set "
                    "HF_TOKEN"
                )
            case _:
                return Unreachable(f"{self._endpoint} answered {reply.line()}")

    def _broken(self, error: Exception) -> Exception:
        from huggingface_hub.errors import HFValidationError

        words = one_line(str(error))[:200] or type(error).__name__
        if isinstance(error, HFValidationError):
            return Unreachable(f"not a repository name ({words})")
        if not isinstance(error, http_error() | OSError):
            return Unreachable(f"{self._endpoint} does not answer as a hub does ({words})")
        self._failures += 1
        if not self._has_answered and self._failures >= FIRST_TRIES:
            return NoHub(f"the hub at {self._endpoint} is not reachable ({words})")
        return TransientError(f"the connection broke ({words})", blames_request=False)

    def _listing_offline(self, repo: str, revision: str, commit: str | None) -> Listing:
        """Return the cached files of a commit, even if another program downloaded them."""
        cached = None if commit is None else self._stored_listing(repo, commit)
        if cached is not None:
            return cached
        folder = self._folder(repo) / "snapshots" / (commit or "none")
        paths = [p for p in folder.rglob("*") if p.is_symlink() or p.is_file()]
        unfinished = any((self._folder(repo) / "blobs").glob("*.incomplete"))
        if commit is not None and (unfinished or not all(path.exists() for path in paths)):
            raise NoHub(
                f"HF_HUB_OFFLINE is set and the hub's cache is incomplete ({folder} was not "
                "downloaded completely): build once without HF_HUB_OFFLINE, or run hf download again"
            )
        if not paths:
            raise NoHub(f"HF_HUB_OFFLINE is set and revision {revision} is not in the hub's cache")
        files = {p.relative_to(folder).as_posix(): RemoteFile(p.stat().st_size) for p in paths}
        return Listing(repo, str(commit), files)

    def _commit_of(self, repo: str, revision: str) -> str | None:
        with suppress(OSError, UnicodeDecodeError):
            return (self._folder(repo) / "refs" / revision).read_text(encoding="utf-8").strip()
        return None

    def _stored_listing(self, repo: str, commit: str) -> Listing | None:
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            stored = json.loads(self._listing_path(repo, commit).read_text(encoding="utf-8"))
            if stored["layout"] == _LAYOUT_OF_LISTINGS:
                files = {str(n): RemoteFile(**file) for n, file in stored["files"].items()}
                return Listing(str(stored["repo"]), commit, files)
        return None

    def _listing_path(self, repo: str, commit: str) -> Path:
        return self._folder(repo) / ".prorl" / f"{commit}.json"

    def _path(self, listing: Listing, name: str) -> Path:
        return self._folder(listing.repo) / "snapshots" / listing.commit / name

    def _folder(self, repo: str) -> Path:
        return self._cache / f"datasets--{repo.replace('/', '--')}"


def _remote_file(entry: Any) -> RemoteFile:
    large = entry.lfs
    size, oid = (entry.size, entry.blob_id) if large is None else (large.size, large.sha256)
    if not isinstance(entry.path, str) or not isinstance(oid, str) or not isinstance(size, int):
        raise TypeError("a file must have a path, a size and a hash")
    if size < 0:
        raise ValueError(f"a file has a negative size: {size} bytes")
    return RemoteFile(size, None, oid) if large is None else RemoteFile(size, oid, None)


def _progress_bar(progress: Progress, offset: int) -> type:
    class Bar:
        def __init__(self, **_: Any) -> None:
            self._bytes = offset

        def update(self, more: int) -> None:
            before, self._bytes = self._bytes, self._bytes + more
            if (mebibytes := (self._bytes >> 20) - (before >> 20)) > 0:
                progress.advance(mebibytes)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            return None

    return Bar


def _matches(path: Path, sha: str, remote: RemoteFile) -> bool:
    if remote.sha256 is not None:
        return sha == remote.sha256
    if remote.git is None:
        return path.stat().st_size == remote.size
    data = path.read_bytes()
    digest = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    return digest.hexdigest() == remote.git
