"""The hub source: files of a data set on the hub, pinned to a commit, read by an adapter or by columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from prorl_datasets.recipe.parts import Entry
from prorl_datasets.sources.files import Files
from prorl_datasets.sources.row_files import RowFileSettings, check_rows, convert_row, read_rows
from prorl_datasets.spec import RawRow, SourceSpec
from prorl_datasets.types import DatasetError


class HubSource(RowFileSettings):
    """Files of a data set on the hub."""

    kind: Literal["hub"]
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    """Owner and name, ``openai/gsm8k``."""
    revision: str = "main"
    """A commit, tag or branch; locked as a commit on the first build."""
    files: Annotated[list[str], Field(min_length=1)]
    """Names or patterns; each must match a file."""


def check(recipe: object, entries: Sequence[Entry], children: object) -> list[str]:
    """Return a line for each unknown adapter or field."""
    del recipe, children
    return [line for entry in entries for line in check_rows(entry)]


def find(
    recipe: object,
    entries: Sequence[Entry],
    found: Files,
    lock: Path,
    mirror: Path | None,
    update_pins: bool,
) -> None:
    """Put the files of all entries into ``found``; they are pinned in the file ``lock``.

    Raises DatasetError with a line for each source that cannot be had or that differs from its pin,
    and for a repository asked for at two revisions: its files are pinned by name.
    """
    del recipe
    from prorl_datasets.hub import Pins, check_pins, resolve_all

    asked: dict[str, tuple[str, str]] = {}
    for entry in entries:
        source = _settings(entry)
        first, revision = asked.setdefault(source.repo, (entry.name, source.revision))
        if revision != source.revision:
            raise DatasetError(
                f"entries '{first}' and '{entry.name}' take {source.repo} at two revisions ({revision}, "
                f"{source.revision}); a recipe takes one of each repository"
            )
    pins = Pins.read(lock)
    wanted = []
    for entry in entries:
        source = _settings(entry)
        pinned = source.revision
        if not update_pins:
            pinned = pins.revision_for(source.repo, source.revision)
        wanted.append(source.model_copy(update={"revision": pinned}))
    resolved = resolve_all(wanted, mirror=mirror)
    check_pins(lock, resolved, update=update_pins)
    for entry in entries:
        source = _settings(entry)
        files = [
            file
            for file in resolved[source.repo]
            if any(file.name == p or fnmatchcase(file.name, p) for p in source.files)
        ]
        found.paths[entry.name] = [file.path for file in files]
        found.contents[entry.name] = [file.sha256 for file in files]
        for file in files:
            found.hashes[f"{source.repo}@{file.revision or 'mirror'}/{file.name}"] = file.sha256


def read(entry: Entry, files: Files) -> Iterator[RawRow]:
    """Yield the raw rows of the entry's files. Raises DatasetError naming file and line."""
    yield from read_rows(entry, files.paths[entry.name])


def label(settings: HubSource) -> str:
    """Return the repository."""
    return settings.repo


def _settings(entry: Entry) -> HubSource:
    assert isinstance(entry.source, HubSource)
    return entry.source


SPEC = SourceSpec(
    name="hub",
    settings=HubSource,
    read=read,
    convert=convert_row,
    check=check,
    find=find,
    label=label,
)
