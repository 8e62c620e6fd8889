"""The sources of a recipe before and while rows are made: their mistakes, files, hashes, streams.

Leaves out: turning what they give into candidates (``rows.maker``, in child processes).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from prorl_common import nearest, sha256_file
from prorl_datasets.procedural import families
from prorl_datasets.recipe.parts import (
    Entry,
    FileSource,
    HubSource,
    ProceduralSource,
    ReasoningGymSource,
)
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.client import Children
from prorl_datasets.sources import file as file_source
from prorl_datasets.types import DatasetError

RawRow = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Files:
    """The files each text entry reads, in order, and their SHA-256: by a public name that holds no
    folder of this machine, and in ``contents`` by entry.
    """

    paths: dict[str, list[Path]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    contents: dict[str, list[str]] = field(default_factory=dict)

    def version(self, entry: str) -> str:
        """Return a short digest of what an entry reads."""
        return hashlib.sha256(" ".join(self.contents[entry]).encode()).hexdigest()[:12]


def check_sources(recipe: Recipe, children: Children) -> None:
    """Raise DatasetError naming every mistake of every source: unknown names, missing files."""
    wrong: list[str] = []
    gym: list[tuple[str, dict[str, Any]]] = []
    known = families()
    for entry in recipe.entries:
        source = entry.source
        if isinstance(source, ProceduralSource):
            wrong += _check_family(entry, source, known)
        elif isinstance(source, ReasoningGymSource):
            gym.append((source.task, source.config))
        else:
            wrong += _check_adapter(entry, source)
            if isinstance(source, FileSource):
                wrong += file_source.check(recipe, entry)
    if gym:
        with children.lend() as child:
            wrong += child.check(gym)
    if wrong:
        raise DatasetError(f"recipe {recipe.name}: {'; '.join(wrong)}")


def _check_family(entry: Entry, source: ProceduralSource, known: dict[str, Any]) -> list[str]:
    family = known.get(source.family)
    if family is None:
        same = [f.name for f in known.values() if f.domain == entry.domain]
        hint = nearest(source.family, known) or f"; {entry.domain} has {', '.join(same)}"
        return [f"entry '{entry.name}': unknown family '{source.family}'{hint}"]
    if family.domain != entry.domain:
        kind = f"family '{family.name}' is {family.domain}, not {entry.domain}"
        return [f"entry '{entry.name}': {kind}"]
    return []


def _check_adapter(entry: Entry, source: FileSource | HubSource) -> list[str]:
    if source.adapter is None:
        return []
    from prorl_datasets.sources.adapters import source_adapters

    known = source_adapters()
    if (adapter := known.get(source.adapter)) is None:
        hint = nearest(source.adapter, known) or f"; known: {', '.join(known)}"
        return [f"entry '{entry.name}': unknown adapter '{source.adapter}'{hint}"]
    if adapter.domain != entry.domain:
        kind = f"adapter '{adapter.name}' gives {adapter.domain}, not {entry.domain}"
        return [f"entry '{entry.name}': {kind}"]
    return []


def find_files(recipe: Recipe, lock: Path, mirror: Path | None, update_pins: bool) -> Files:
    """Return the files of the file and hub entries; hub files are pinned in the file ``lock``.

    A missing local file is left out (``check_sources`` complains of it). Raises DatasetError with a
    line for each hub source that cannot be had or that differs from its pin.
    """
    found = Files()
    for entry in recipe.entries:
        if isinstance(entry.source, FileSource):
            path = file_source.source_path(recipe, entry.source)
            if path.is_file():
                found.paths[entry.name] = [path]
                found.contents[entry.name] = [_hash(path)]
                found.hashes[f"{entry.name}/{path.name}"] = found.contents[entry.name][0]
    hub = {e.name: e.source for e in recipe.entries if isinstance(e.source, HubSource)}
    if hub:
        _find_hub_files(hub, found, lock, mirror, update_pins)
    return found


def _hash(path: Path) -> str:
    try:
        return sha256_file(path)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror})") from error


def _one_revision_each(hub: dict[str, HubSource]) -> None:
    """Refuse a repository asked for at two revisions: its files are pinned by name."""
    asked: dict[str, tuple[str, str]] = {}
    for name, source in hub.items():
        first, revision = asked.setdefault(source.repo, (name, source.revision))
        if revision != source.revision:
            raise DatasetError(
                f"entries '{first}' and '{name}' take {source.repo} at two revisions ({revision}, "
                f"{source.revision}); a recipe takes one of each repository"
            )


def _find_hub_files(
    hub: dict[str, HubSource], found: Files, lock: Path, mirror: Path | None, update_pins: bool
) -> None:
    from prorl_datasets.hub import Pins, check_pins, resolve_all

    _one_revision_each(hub)
    pins = Pins.read(lock)
    wanted = []
    for source in hub.values():
        asked = source.revision
        revision = asked if update_pins else pins.revision_for(source.repo, asked)
        wanted.append(source.model_copy(update={"revision": revision}))
    resolved = resolve_all(wanted, mirror=mirror)
    check_pins(lock, resolved, update=update_pins)
    for name, source in hub.items():
        files = [
            file
            for file in resolved[source.repo]
            if any(file.name == p or fnmatchcase(file.name, p) for p in source.files)
        ]
        found.paths[name] = [file.path for file in files]
        found.contents[name] = [file.sha256 for file in files]
        for file in files:
            found.hashes[f"{source.repo}@{file.revision or 'mirror'}/{file.name}"] = file.sha256


def raw_rows(entry: Entry, files: Files) -> Iterator[RawRow]:
    """Yield (where, row) of a file or hub entry's files, checking columns and the names of rows.

    Raises DatasetError naming file and line: unreadable data, a column that is missing, a row name
    used twice.
    """
    from prorl_datasets.sources.readers import iter_rows

    source = entry.source
    assert isinstance(source, FileSource | HubSource)
    names: dict[int, int] = {}  # by 8 bytes of hash, and the line only: there may be millions
    column = _name_column(source)
    for path in files.paths[entry.name]:
        first = True
        for where, row in iter_rows(path):
            if first and source.adapter is not None:
                _check_columns(source.adapter, row, where)
            first = False
            if column is not None and row.get(column) is not None:
                name = str(row[column])
                data = name.encode("utf-8", "surrogatepass")
                short = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())
                if short in names:
                    raise DatasetError(
                        f"{where}: '{column}' is '{name}', as in line {names[short]}; names of rows "
                        f"must differ: drop one, or map another column with columns: {{id: ...}}"
                    )
                names[short] = int(where.rpartition(":")[2])
            yield where, row


def _name_column(source: FileSource | HubSource) -> str | None:
    """Return the column that names rows in a file of the user's own."""
    if isinstance(source, HubSource) or source.adapter is not None:
        return None
    return source.columns.get(file_source.ID_FIELD, file_source.ID_FIELD)


def _check_columns(name: str, row: dict[str, Any], where: str) -> None:
    from prorl_datasets.sources.adapters import check_columns, source_adapters

    check_columns(source_adapters()[name], row, where)
