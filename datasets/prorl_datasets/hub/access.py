"""Find the files of a published data set: in a mirror folder, else on the hub.

The hub is reached through huggingface_hub, which honours HF_ENDPOINT, HF_HUB_OFFLINE and HF_TOKEN.
Every source is tried before anything is reported, with one line for each that failed. Leaves out:
checking that they are the same as last time (``pins``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from prorl_common import nearest, sha256_file
from prorl_datasets.hub.huggingface import Hub, HuggingFaceHub, Unreachable
from prorl_datasets.types import DatasetError

CURE = (
    "give --mirror DIR with its files under DIR/<owner>/<name>/, set HF_ENDPOINT to a reachable "
    "hub, or build prorl-136k-procedural, which downloads nothing"
)


@dataclass(frozen=True, slots=True)
class ResolvedFile:
    """One file that lies on this machine. ``name`` is its path in the repository; ``revision`` the
    commit it is of, or None from a mirror, which does not say.
    """

    path: Path
    name: str
    sha256: str
    revision: str | None


class Wanted(Protocol):
    """What a recipe's hub source says: repository, revision, file names or globs."""

    @property
    def repo(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def files(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class _Listing:
    """The files wanted of one source: name -> path, None where ``hub`` must fetch it at ``commit``."""

    repo: str
    kind: str
    names: Mapping[str, Path | None]
    hub: Hub | None = None
    commit: str | None = None


def resolve(
    repo: str,
    revision: str,
    files: Sequence[str],
    *,
    mirror: Path | None = None,
    kind: str = "dataset",
    hub: Hub | None = None,
) -> list[ResolvedFile]:
    """Return the files of ``repo`` that match ``files`` (names or globs), sorted by name.

    A mirror is looked in first: ``MIRROR/<owner>/<name>/<file>`` or ``MIRROR/<owner>__<name>/<file>``.
    Raises DatasetError with one line that names the cure, MissingExtraError when the hub is needed and
    huggingface_hub is not installed.
    """
    try:
        return _fetched(_listed((repo, revision, kind), files, mirror, hub))
    except Unreachable as problem:
        raise DatasetError(f"{repo}: {problem}; {CURE}") from problem


def resolve_all(
    sources: Iterable[Wanted], *, mirror: Path | None = None, hub: Hub | None = None
) -> Mapping[str, list[ResolvedFile]]:
    """Return the files of all ``sources`` by repository, those named by several sources once.

    Raises DatasetError with one line for each source that failed; no download begins before every
    source has been listed.
    """
    wanted: dict[tuple[str, str], dict[str, None]] = {}
    for source in sources:
        wanted.setdefault((source.repo, source.revision), {}).update(dict.fromkeys(source.files))
    wrong: list[str] = []
    listed: list[_Listing] = []
    for (repo, revision), files in wanted.items():
        try:
            listed.append(_listed((repo, revision, "dataset"), list(files), mirror, hub))
        except Unreachable as problem:
            wrong.append(f"{repo}: {problem}; {CURE}")
    if wrong:
        raise DatasetError("\n".join(wrong))
    found: dict[str, dict[str, ResolvedFile]] = {}
    for listing in listed:
        try:
            found.setdefault(listing.repo, {}).update({f.name: f for f in _fetched(listing)})
        except Unreachable as problem:
            wrong.append(f"{listing.repo}: {problem}; {CURE}")
    if wrong:
        raise DatasetError("\n".join(wrong))
    return {repo: [files[name] for name in sorted(files)] for repo, files in found.items()}


def _listed(
    source: tuple[str, str, str], files: Sequence[str], mirror: Path | None, hub: Hub | None
) -> _Listing:
    """Return what ``source`` (repository, revision, kind) has of ``files``. Raises Unreachable."""
    repo, revision, kind = source
    if mirror is not None:
        if not mirror.is_dir():
            raise Unreachable(f"no such mirror folder: {mirror}")
        folders = (mirror / repo, mirror / repo.replace("/", "__"))
        folder = next((folder for folder in folders if folder.is_dir()), None)
        if folder is not None:
            paths = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
            names = _matching(files, sorted(paths), f"the mirror {folder}")
            return _Listing(repo, kind, {name: paths[name] for name in names})
    if hub is None:
        hub = HuggingFaceHub(os.environ)
    try:
        commit, there = hub.listing(repo, revision, kind)
        names = _matching(files, sorted(there), f"revision {commit} of it")
    except Unreachable as problem:
        absent = "" if mirror is None else f"it is not in the mirror {mirror}, and "
        raise Unreachable(f"{absent}{problem}") from problem
    return _Listing(repo, kind, dict.fromkeys(names), hub, commit)


def _matching(files: Sequence[str], there: Sequence[str], where: str) -> list[str]:
    """Return the names of ``there`` that match any of ``files``; each must match at least one."""
    names: dict[str, None] = {}
    for pattern in files:
        hits = [name for name in there if name == pattern or fnmatchcase(name, pattern)]
        if not hits:
            some = ", ".join(there[:8]) or "no file at all"
            raise Unreachable(
                f"{where} has no file '{pattern}'{nearest(pattern, there)}; it has {some}"
            )
        names.update(dict.fromkeys(hits))
    return sorted(names)


def _fetched(listing: _Listing) -> list[ResolvedFile]:
    found = []
    for name, path in listing.names.items():
        if path is None:
            assert listing.hub is not None and listing.commit is not None
            path = listing.hub.download(listing.repo, listing.commit, name, listing.kind)
        try:
            found.append(ResolvedFile(path, name, sha256_file(path), listing.commit))
        except OSError as error:
            raise Unreachable(f"{path} cannot be read ({error.strerror})") from error
    return found
