"""Find the files of a benchmark: a mirror folder first, then the hub; and the rows in them.

A mirror holds ``<owner>/<name>/<file>`` or ``<owner>__<name>/<file>`` of the benchmark's own data set
or of an alternate, or one file ``<benchmark>.jsonl[.gz]|.json|.parquet|.csv``. Leaves out: what the
rows mean (``shapes_*``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_datasets.benchmarks.catalogue import BenchmarkSpec, HubSource
from prorl_datasets.hub import resolve
from prorl_datasets.sources.readers import READABLE
from prorl_datasets.types import DatasetError

MAX_ROW_BYTES = 1 << 30
"""LiveCodeBench has rows of hundreds of MiB; no other benchmark comes near the readers' default."""


@dataclass(frozen=True, slots=True)
class BenchmarkFiles:
    """Where the rows lie, in reading order, and where they are from: a repository id or a path."""

    paths: list[Path]
    origin: str
    revision: str | None = None


def find_files(spec: BenchmarkSpec, files: list[str], mirror: Path | None) -> BenchmarkFiles:
    """Return the files of ``spec``, those named ``files`` where its own data set is used.

    Raises DatasetError in one line that names the cure.
    """
    assert spec.hub is not None
    if mirror is not None:
        if not mirror.is_dir():
            raise DatasetError(f"no such mirror folder: {mirror}")
        named = next((p for end in READABLE if (p := mirror / f"{spec.name}{end}").is_file()), None)
        if named is not None:
            return BenchmarkFiles([named], str(named))
    sources = [spec.hub.model_copy(update={"files": files}), *spec.alternates]
    if mirror is not None:
        for source in sources:
            folder = _folder(mirror, source.repo)
            if folder is not None and (len(sources) == 1 or _has_all(folder, source.files)):
                return _resolved(source, mirror)
        for source in sources:
            if _folder(mirror, source.repo) is not None:
                return _resolved(source, mirror)
    own = [source for source in sources if source.repo == spec.hub.repo]
    failure: UserError | None = None
    for source in own:
        try:
            return _resolved(source, None)
        except UserError as error:
            failure = failure or error
            if "has no file" not in str(error):
                break
    assert failure is not None
    why = str(failure).split("; give --mirror", 1)[0]  # the general cure goes, a better one comes
    where = "" if mirror is None else f" ({mirror} holds neither)"
    raise DatasetError(
        f"benchmark {spec.name}: {why}; give --mirror DIR with {spec.hub.repo}/{spec.hub.files[0]} or "
        f"{spec.name}.jsonl in it{where}, or set HF_ENDPOINT to a reachable hub"
    ) from failure


def raw_rows(files: BenchmarkFiles) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield ("<path>:<line or row>", row) of all files in order. Raises DatasetError."""
    from prorl_datasets.sources.readers import iter_rows

    for path in files.paths:
        yield from iter_rows(path, max_row_bytes=MAX_ROW_BYTES)


def _resolved(source: HubSource, mirror: Path | None) -> BenchmarkFiles:
    """Return the files of one source in the order in which the source names them."""
    found = resolve(source.repo, source.revision, source.files, mirror=mirror)
    order = {name: place for place, name in enumerate(source.files)}
    found.sort(key=lambda file: (order.get(file.name, len(order)), file.name))
    revision = found[0].revision if found else None
    return BenchmarkFiles([file.path for file in found], source.repo, revision)


def _folder(mirror: Path, repo: str) -> Path | None:
    folders = (mirror / repo, mirror / repo.replace("/", "__"))
    return next((folder for folder in folders if folder.is_dir()), None)


def _has_all(folder: Path, patterns: list[str]) -> bool:
    names = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    return all(any(fnmatchcase(name, pattern) for name in names) for pattern in patterns)
