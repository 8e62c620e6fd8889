"""A hub as ``access`` needs it: listings and files, by way of the cache on this machine.

The hub is the one at HF_ENDPOINT; with HF_HUB_OFFLINE only what is in the cache is found. HF_TOKEN, or the
token that ``hf auth login`` stored, opens gated and private repositories.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from prorl_common import NullProgress, Progress, sha256_file
from prorl_common.hub import hub_address, hub_is_offline, hub_token, is_repo
from prorl_datasets.hub.cache import Cache, Listing, RemoteFile
from prorl_datasets.hub.client import Client, NoHub, Unreachable
from prorl_datasets.hub.download import fetch_body

COMMIT = re.compile(r"[0-9a-f]{40}")
_TRIES = 3
"""Times that a body of the right length and the wrong hash is fetched."""


class Hub(Protocol):
    """The little of a hub that is needed; all methods raise Unreachable."""

    def listing(self, repo: str, revision: str) -> Listing:
        """Return the files at a revision, and which commit that is."""
        ...

    def download(self, listing: Listing, name: str) -> tuple[Path, str]:
        """Return where the file now lies on this machine, and its SHA-256."""
        ...

    def part(self, listing: Listing, name: str, start: int, length: int) -> bytes:
        """Return some bytes of a file, fewer at its end."""
        ...


class CachedHub:
    """The hub that the environment names, behind its cache."""

    def __init__(self, environment: Mapping[str, str], progress: Progress | None = None) -> None:
        self._progress = progress or NullProgress()
        self._cache = Cache(environment)
        self.offline = hub_is_offline(environment)
        self.client = Client(
            hub_address(environment),
            hub_token(environment),
            self._progress.message,
        )

    def listing(self, repo: str, revision: str) -> Listing:
        """Return the files at a revision; those of a commit are asked for once."""
        if not is_repo(repo):
            raise Unreachable(f"not a repository's name (owner/name): '{repo}'")
        cache = self._cache
        is_commit = COMMIT.fullmatch(revision)
        commit = (
            revision if is_commit else cache.commit_of(repo, revision) if self.offline else None
        )
        found = None if commit is None else cache.listing(repo, commit)
        if self.offline:
            here = None if commit is None else cache.fetched(repo, commit)
            if here is None:
                raise NoHub(
                    f"HF_HUB_OFFLINE is set and revision {revision} is not in the hub's cache"
                )
            return here if found is None else found
        if found is None:
            found = self.client.listing(repo, revision)
            cache.keep(repo, revision, found)
            if found.repo != repo:
                self._progress.message(f"{repo} is now called {found.repo} on the hub")
        return found

    def download(self, listing: Listing, name: str) -> tuple[Path, str]:
        """Return a file's place in the cache and its SHA-256; what is not there, or damaged, is fetched."""
        repo, commit, remote = listing.repo, listing.commit, listing.files[name]
        path = self._cache.file(repo, commit, name)
        for _ in range(_TRIES):
            if not path.is_file():
                if self.offline:
                    raise NoHub(f"HF_HUB_OFFLINE is set and {name} is not in the hub's cache")
                part = self._cache.part(repo, commit, name)
                source = (repo, commit, name)
                fetch_body(self.client, source, remote.size, part, path, self._progress)
            sha = sha256_file(path)
            if self.offline or _is_right(path, sha, remote):
                return path, sha
            path.unlink()
        raise Unreachable(f"the body of {name} has another hash than the hub lists, {_TRIES} times")

    def part(self, listing: Listing, name: str, start: int, length: int) -> bytes:
        """Return some bytes of a file, from the cache where it is there."""
        path = self._cache.file(listing.repo, listing.commit, name)
        if path.is_file():
            with path.open("rb") as file:
                file.seek(start)
                return file.read(length)
        if self.offline:
            raise NoHub(f"HF_HUB_OFFLINE is set and {name} is not in the hub's cache")
        return self.client.part(listing.repo, listing.commit, name, start, length)


def _is_right(path: Path, sha: str, remote: RemoteFile) -> bool:
    """Whether a file is the one listed: by SHA-256, or by Git's hash where it is not a large one."""
    if remote.sha256 is not None:
        return sha == remote.sha256
    if remote.git is None:
        return path.stat().st_size == remote.size
    data = path.read_bytes()
    digest = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    return digest.hexdigest() == remote.git
