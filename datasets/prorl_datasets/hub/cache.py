"""The hub's cache on this machine, in the layout that huggingface_hub and datasets share.

``datasets--<owner>--<name>/snapshots/<commit>/<file>`` and ``refs/<revision>``, which holds a commit.
What only we keep (listings of commits, bodies that are not whole) lies in ``.prorl`` beside them.
Leaves out: what is in the files, and asking the hub.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from prorl_common import atomic_write_text
from prorl_common.hub import hub_home

_LAYOUT_OF_LISTINGS = 1


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as the hub lists it: bytes, and its SHA-256 (large files) or Git's hash (the others)."""

    size: int
    sha256: str | None = None
    git: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of a repository at one commit. ``repo`` is its name now, after renames."""

    repo: str
    commit: str
    files: Mapping[str, RemoteFile] = field(default_factory=dict)


class Cache:
    """The cache folder that the environment names."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        named = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE")
        self._root = Path(named).expanduser() if named else hub_home(environment) / "hub"

    def file(self, repo: str, commit: str, name: str) -> Path:
        """Return where a file lies, or would lie."""
        return self._folder(repo) / "snapshots" / commit / name

    def part(self, repo: str, commit: str, name: str) -> Path:
        """Return where a body lies that is not whole yet."""
        return self._folder(repo) / ".prorl" / commit / f"{name}.part"

    def commit_of(self, repo: str, revision: str) -> str | None:
        """Return the commit that a branch or tag was at when it was last asked for."""
        with suppress(OSError, UnicodeDecodeError):
            return (self._folder(repo) / "refs" / revision).read_text(encoding="utf-8").strip()
        return None

    def listing(self, repo: str, commit: str) -> Listing | None:
        """Return the files of a commit, if it was listed before."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            data = json.loads(self._listing_path(repo, commit).read_text(encoding="utf-8"))
            if data["layout"] == _LAYOUT_OF_LISTINGS:
                files = {str(name): RemoteFile(**file) for name, file in data["files"].items()}
                return Listing(str(data["repo"]), commit, files)
        return None

    def fetched(self, repo: str, commit: str) -> Listing | None:
        """Return the files of a commit that are here, whoever fetched them."""
        folder = self._folder(repo) / "snapshots" / commit
        paths = [p for p in folder.rglob("*") if p.is_file()] if folder.is_dir() else []
        files = {p.relative_to(folder).as_posix(): RemoteFile(p.stat().st_size) for p in paths}
        return Listing(repo, commit, files) if files else None

    def keep(self, repo: str, revision: str, listing: Listing) -> None:
        """Note which commit ``revision`` is at, and the files of that commit. Raises UserError (disk)."""
        files = {name: asdict(file) for name, file in listing.files.items()}
        data = {"layout": _LAYOUT_OF_LISTINGS, "repo": listing.repo, "files": files}
        atomic_write_text(self._listing_path(repo, listing.commit), json.dumps(data))
        if revision != listing.commit:
            atomic_write_text(self._folder(repo) / "refs" / revision, listing.commit)

    def _listing_path(self, repo: str, commit: str) -> Path:
        return self._folder(repo) / ".prorl" / f"{commit}.json"

    def _folder(self, repo: str) -> Path:
        return self._root / f"datasets--{repo.replace('/', '--')}"
