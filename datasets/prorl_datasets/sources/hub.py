"""Defines the source ``hub``: files of a data set on the hub, pinned to a commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from prorl_datasets.recipe.parts import Entry
from prorl_datasets.sources.row_files import (
    Files,
    RowFileSettings,
    check_rows,
    convert_row,
    read_rows,
)
from prorl_datasets.spec import SourceSpec
from prorl_datasets.types import DatasetError


class HubSource(RowFileSettings):
    """A source that reads files of a data set on the hub."""

    kind: Literal["hub"]
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    """Owner and name, like ``openai/gsm8k``."""
    revision: str = "main"
    """A commit, tag or branch. The first build locks it to a commit."""
    files: Annotated[list[str], Field(min_length=1)]
    """Files to read. Each item is a name, a pattern, or several candidates separated by ``|``, best first: ``parquet |
    jsonl | json | csv | refs/convert/parquet``."""


def check(recipe: object, entries: Sequence[Entry], children: object) -> list[str]:
    del recipe, children
    return [line for entry in entries for line in check_rows(entry)]


def find(
    recipe: object,
    entries: Sequence[Entry],
    files: Files,
    lock: Path,
    mirror: Path | None,
    update_pins: bool,
) -> None:
    """Add the files of all entries to ``files`` and pin them in ``lock``.

    Unavailable entries are recorded in ``files.failed``. Raises DatasetError if no hub is reachable, files differ from
    ``lock``, or one repository is used at two revisions.
    """
    del recipe
    from prorl_datasets.hub.access import ADVICE, Access, Selection
    from prorl_datasets.hub.hub import NoHub, Unreachable
    from prorl_datasets.hub.pins import Pins

    revisions: dict[str, tuple[str, str]] = {}
    for entry in entries:
        source = _settings(entry)
        first, revision = revisions.setdefault(source.repo, (entry.name, source.revision))
        if revision != source.revision:
            raise DatasetError(
                f"entries '{first}' and '{entry.name}' use {source.repo} at two revisions "
                f"({revision}, {source.revision}); a recipe must use one revision of each "
                "repository"
            )
    pins, access = Pins.read(lock), Access(mirror, progress=files.progress)
    if update_pins:
        for repo in revisions:
            pins.forget(repo)
    selected: dict[str, Selection] = {}
    unreachable = 0
    for entry in entries:
        source = _settings(entry)
        pinned = pins.commits(source.repo, source.revision)
        try:
            locked = pins.files(source.repo)
            chosen = access.select(source.repo, source.revision, source.files, pinned, locked)
        except Unreachable as problem:
            note = f" (locked in {lock}; or give --update-pins)" if pinned.get(None) else ""
            files.failed[entry.name] = f"{source.repo}: {problem}{note}; {ADVICE}"
            unreachable += isinstance(problem, NoHub)
            continue
        selected[entry.name] = chosen
        pins.note(source.repo, chosen.commits())
        commit = chosen.commits().get(chosen.names[0][0])
        count, at = len(chosen.names), f" at {commit[:8]}" if commit else ", from the mirror"
        files.progress.message(
            f"{entry.name}: takes {', '.join(chosen.candidates)} of {source.repo}{at} "
            f"({count} file{'s' if count > 1 else ''}, {chosen.size() / 1e6:,.1f} MB, licence {entry.licence})"
        )
    if unreachable == len(entries):
        lines = [f"{files.failed[entry.name]}, or --skip {entry.name}" for entry in entries]
        raise DatasetError("\n".join(lines))
    pins.write()
    wrong: list[str] = []
    for entry in entries:
        if entry.name not in selected:
            continue
        repo, chosen = _settings(entry).repo, selected[entry.name]
        try:
            fetched = access.fetch(chosen)
        except Unreachable as problem:
            files.failed[entry.name] = f"{repo}: {problem}; {ADVICE}"
            continue
        wrong += [line for line in pins.problems(repo, fetched) if line not in wrong]
        if wrong:
            continue
        pins.record(repo, fetched)
        files.paths[entry.name] = [file.path for file in fetched]
        files.contents[entry.name] = [file.sha256 for file in fetched]
        files.taken[entry.name] = {
            "repo": chosen.repo,
            "candidates": list(chosen.candidates),
            "revision": next((file.revision for file in fetched), None),
            "files": [file.name for file in fetched],
        }
        for file in fetched:
            files.hashes[f"{repo}@{file.revision or 'mirror'}/{file.name}"] = file.sha256
    if wrong:
        raise DatasetError("\n".join(wrong))
    pins.write()


def label(settings: HubSource) -> str:
    return settings.repo


def _settings(entry: Entry) -> HubSource:
    assert isinstance(entry.source, HubSource)
    return entry.source


SPEC = SourceSpec(
    name="hub", settings=HubSource, read=read_rows, convert=convert_row, check=check, find=find, label=label,
    may_fail=True,
)  # fmt: skip
