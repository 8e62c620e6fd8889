"""Reads and writes a dataset's lock file, which has the revision and hash of every published file.

Its JSON is ``{repo: {"revision": ..., "files": {name: sha256}}}``; the key of another branch is ``repo@branch``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prorl_common import atomic_write_text
from prorl_datasets.hub.access import ResolvedFile
from prorl_datasets.hub.hub import COMMIT
from prorl_datasets.types import DatasetError


@dataclass(slots=True)
class RepoPin:
    """Locked revision and files of one repository; ``revision`` is None for a mirror."""

    revision: str | None = None
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, pin: Mapping[str, object]) -> RepoPin:
        """Parse a repository's entry in the lock file. Raises KeyError or TypeError."""
        revision, files = pin["revision"], pin["files"]
        if not isinstance(revision, str | None) or not isinstance(files, dict):
            raise TypeError("an entry needs 'revision' and 'files'")
        return cls(revision, {str(name): str(sha) for name, sha in files.items()})


@dataclass(slots=True)
class Pins:
    """The contents of a lock file."""

    path: Path
    repos: dict[str, RepoPin] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Pins:
        """Read the lock file, or return an empty one if the file is missing. Raises DatasetError."""
        if not path.exists():
            return cls(path)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            repos = {str(repo): RepoPin.of(pin) for repo, pin in data.items()}
        except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
            raise DatasetError(
                f"{path}: not a prorl lock file ({error}); delete it to lock the files again"
            ) from error
        return cls(path, repos)

    def commits(self, repo: str, revision: str) -> dict[str | None, str]:
        """Return a repository's locked commits by branch.

        The key None means the source's own revision. It is omitted if ``revision`` is a commit.
        """
        commits: dict[str | None, str] = {}
        for name, pin in self.repos.items():
            pinned, _, branch = name.partition("@")
            moves = bool(branch) or not COMMIT.fullmatch(revision)
            if pinned == repo and pin.revision is not None and moves:
                commits[branch or None] = pin.revision
        return commits

    def files(self, repo: str) -> list[str]:
        return sorted(self.repos[repo].files) if repo in self.repos else []

    def problems(self, repo: str, files: Sequence[ResolvedFile]) -> list[str]:
        """Return a line for each file or revision that differs from the lock file."""
        wrong = []
        for name, of in _by_branch(repo, files).items():
            pin = self.repos.get(name)
            if pin is None:
                continue
            cure = f"delete the entry '{name}' in {self.path} or give --update-pins"
            for file in of:
                locked = pin.files.get(file.name)
                if locked is not None and locked != file.sha256:
                    wrong.append(
                        f"{repo}: {file.name} has changed: locked sha256 {locked}, "
                        f"now {file.sha256}; if that is wanted, {cure}"
                    )
            revisions = sorted({f.revision for f in of if f.revision is not None})
            if pin.revision is not None and revisions and revisions != [pin.revision]:
                wrong.append(
                    f"{repo}: the revision has changed: locked {pin.revision}, "
                    f"now {', '.join(revisions)}; if that is wanted, {cure}"
                )
        return wrong

    def note(self, repo: str, commits: Mapping[str | None, str]) -> None:
        """Record the commits of branches that are not locked yet."""
        for branch, commit in commits.items():
            pin = self.repos.setdefault(_name(repo, branch), RepoPin())
            pin.revision = pin.revision or commit

    def forget(self, repo: str) -> None:
        for name in [name for name in self.repos if name.partition("@")[0] == repo]:
            del self.repos[name]

    def record(self, repo: str, files: Sequence[ResolvedFile]) -> None:
        for name, of in _by_branch(repo, files).items():
            pin = self.repos.setdefault(name, RepoPin())
            for file in of:
                pin.files[file.name] = file.sha256
                pin.revision = file.revision or pin.revision

    def text(self) -> str:
        data = {
            repo: {"revision": pin.revision, "files": pin.files} for repo, pin in self.repos.items()
        }
        return json.dumps(data, indent=1, sort_keys=True) + "\n"

    def write(self) -> None:
        text = self.text()
        if not self.path.exists() or self.path.read_text(encoding="utf-8") != text:
            atomic_write_text(self.path, text)


def _name(repo: str, branch: str | None) -> str:
    return repo if branch is None else f"{repo}@{branch}"


def _by_branch(repo: str, files: Sequence[ResolvedFile]) -> dict[str, list[ResolvedFile]]:
    groups: dict[str, list[ResolvedFile]] = {}
    for file in files:
        groups.setdefault(_name(repo, file.branch), []).append(file)
    return groups
