"""Finds and downloads the files of a data set, from a mirror or the hub."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from prorl_common import Progress, sha256_file
from prorl_common.files import lfs_problem
from prorl_datasets.hub.candidates import FileCandidate, NothingFits, choose, missing_shards
from prorl_datasets.hub.hub import CachedHub, Listing, NoHub, NoRevision, Unreachable
from prorl_datasets.types import DatasetError

ADVICE = (
    "give --mirror DIR with its files under DIR/<owner>/<name>/, set HF_ENDPOINT to a reachable "
    "hub, or build prorl-136k-procedural, which downloads nothing"
)


@dataclass(frozen=True, slots=True)
class ResolvedFile:
    """One file on this machine."""

    path: Path
    name: str
    """Path in the repository."""
    sha256: str
    revision: str | None
    """Commit of the file, or None for a mirror."""
    branch: str | None = None
    """Branch of the file, or None for the source's own revision."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The files that a source uses."""

    repo: str
    """Current name of the repository, which may have been renamed."""
    candidates: tuple[str, ...]
    """The alternative chosen for each item of the recipe's ``files``."""
    names: tuple[tuple[str | None, str], ...]
    """(branch, name) of each file."""
    listings: dict[str | None, Listing]
    folder: Path | None = None
    """The repository's folder in the mirror, used instead of ``listings``."""

    def commits(self) -> dict[str | None, str]:
        return {branch: listing.commit for branch, listing in self.listings.items()}

    def size(self) -> int:
        if self.folder is not None:
            return sum(self.path(branch, name).stat().st_size for branch, name in self.names)
        return sum(self.listings[branch].files[name].size for branch, name in self.names)

    def path(self, branch: str | None, name: str) -> Path:
        assert self.folder is not None
        return self.folder / (branch or "") / name


class Access:
    """Finds and opens files of data sets in a mirror folder or on the hub. Methods raise Unreachable."""

    def __init__(self, mirror: Path | None = None, progress: Progress | None = None) -> None:
        self._mirror = mirror
        self._hub = CachedHub(os.environ, progress)
        self._resolved: dict[tuple[str, str | None, str], ResolvedFile] = {}

    def select(
        self,
        repo: str,
        revision: str,
        files: Sequence[str],
        pinned: dict[str | None, str] | None = None,
        locked: Sequence[str] = (),
    ) -> Selection:
        """Select the files that a source uses, in the mirror if it has the repository, else on the hub.

        A mirrored repository is the folder ``MIRROR/<owner>/<name>`` or ``MIRROR/<owner>__<name>``, with other branches
        in ``refs/...``. ``pinned`` maps branches to locked commits. Raises Unreachable if a ``locked`` file or part of
        a numbered set is missing.
        """
        if self._mirror is not None:
            if not self._mirror.is_dir():
                raise Unreachable(f"no such mirror folder: {self._mirror}")
            folder = mirror_folder(self._mirror, repo)
            if folder is not None:
                return _select_in_folder(folder, repo, files, locked)
        listings: dict[str | None, Listing] = {}
        pins = pinned or {}

        def names_of(branch: str | None) -> list[str] | None:
            if branch not in listings:
                at = pins.get(branch) or branch or revision
                try:
                    listings[branch] = self._hub.listing(repo, at)
                except NoRevision:
                    if branch is None:
                        raise
                    return None
            return list(listings[branch].files)

        try:
            names_of(None)
            where = f"revision {listings[None].commit} of the repository"
            taken = choose(files, names_of, where)
            _check_whole(taken, locked, where)
        except (Unreachable, NothingFits) as problem:
            absent = "" if self._mirror is None else f"it is not in the mirror {self._mirror}, and "
            kind = NoHub if isinstance(problem, NoHub) else Unreachable
            raise kind(f"{absent}{problem}") from problem
        names = dict.fromkeys((c.branch, name) for c, hits in taken for name in hits)
        return Selection(
            listings[None].repo,
            tuple(c.text for c, _ in taken),
            tuple(sorted(names, key=str)),
            listings,
        )

    def fetch(self, selection: Selection) -> list[ResolvedFile]:
        """Return the selected files, downloading them if needed."""
        resolved = []
        for branch, name in selection.names:
            key = (selection.repo, branch, name)
            if key not in self._resolved:
                self._resolved[key] = self._fetch(selection, branch, name)
            resolved.append(self._resolved[key])
        return sorted(resolved, key=lambda file: file.name)

    def open(self, selection: Selection, branch: str | None, name: str) -> BinaryIO:
        """Open a file for partial reads, without downloading it."""
        if selection.folder is not None:
            return selection.path(branch, name).open("rb")
        return self._hub.open(selection.listings[branch], name)

    def _fetch(self, selection: Selection, branch: str | None, name: str) -> ResolvedFile:
        if selection.folder is None:
            listing = selection.listings[branch]
            path, sha = self._hub.download(listing, name)
            return ResolvedFile(path, name, sha, listing.commit, branch)
        path = selection.path(branch, name)
        try:
            return ResolvedFile(path, name, sha256_file(path), None, branch)
        except OSError as error:
            raise Unreachable(f"{path} cannot be read ({error.strerror})") from error


def resolve(
    repo: str,
    revision: str,
    files: Sequence[str],
    *,
    mirror: Path | None = None,
) -> list[ResolvedFile]:
    """Return the files of ``repo`` that ``files`` selects, downloading them if needed. Raises DatasetError."""
    access = Access(mirror)
    try:
        return access.fetch(access.select(repo, revision, files))
    except Unreachable as problem:
        raise DatasetError(f"{repo}: {problem}; {ADVICE}") from problem


def mirror_folder(mirror: Path, repo: str) -> Path | None:
    folders = (mirror / repo, mirror / repo.replace("/", "__"))
    return next((folder for folder in folders if folder.is_dir()), None)


def _check_whole(
    taken: Sequence[tuple[FileCandidate, list[str]]], locked: Sequence[str], where: str
) -> None:
    missing = {
        name
        for candidate, hits in taken
        for name in candidate.hits([*missing_shards(hits), *locked])
        if name not in hits
    }
    if missing:
        names = ", ".join(sorted(missing)[:3]) + (", ..." if len(missing) > 3 else "")
        raise Unreachable(
            f"{where} is incomplete: {len(missing)} of its files are missing ({names}); "
            "download them too"
        )


def _select_in_folder(
    folder: Path, repo: str, files: Sequence[str], locked: Sequence[str]
) -> Selection:
    paths = sorted(p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir())
    for path in paths:
        if path.suffix == ".incomplete" or not path.exists():
            raise Unreachable(
                f"the mirror {folder} is incomplete: {path.relative_to(folder)} was not downloaded "
                "completely; run the command that downloaded it again"
            )
    listed = [path.relative_to(folder).as_posix() for path in paths if path.is_file()]

    def names_of(branch: str | None) -> list[str]:
        if branch is None:
            return listed
        return [name[len(branch) + 1 :] for name in listed if name.startswith(f"{branch}/")]

    try:
        taken = choose(files, names_of, f"the mirror {folder}")
    except NothingFits as error:
        raise Unreachable(str(error)) from error
    _check_whole(taken, locked, f"the mirror {folder}")
    names = dict.fromkeys((c.branch, name) for c, hits in taken for name in hits)
    selection = Selection(
        repo, tuple(c.text for c, _ in taken), tuple(sorted(names, key=str)), {}, folder
    )
    for branch, name in selection.names:
        if (problem := lfs_problem(selection.path(branch, name))) is not None:
            raise Unreachable(problem)
    return selection
