"""Loads benchmarks: all samples, or only the questions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from prorl_common import UserError, derive_seed
from prorl_datasets.benchmarks.catalogue import (
    BenchmarkItem,
    BenchmarkSpec,
    Converted,
    Generated,
    HubSource,
    LeftOut,
    load_spec,
)
from prorl_datasets.benchmarks.code_rows import contest_day
from prorl_datasets.benchmarks.shapes import convert, question_of
from prorl_datasets.hub.access import mirror_folder, resolve
from prorl_datasets.rows.client import RowClient
from prorl_datasets.sources.readers import READABLE
from prorl_datasets.sources.readers.decode import odd_value, one_line
from prorl_datasets.sources.reasoning_gym import gold_answer
from prorl_datasets.types import DatasetError, Sample
from prorl_verifiers import TaskError, load_task, runs_programs

MAX_ROW_BYTES = 1 << 30
"""LiveCodeBench has rows of hundreds of MiB; all other benchmarks stay below the readers' default."""
_ERROR_SIZE = 120
"""Number of characters of a generator's error that are reported."""


@dataclass(frozen=True, slots=True)
class BenchmarkFiles:
    """Files of a benchmark in reading order; ``origin`` is a repository id or a path."""

    paths: list[Path]
    origin: str
    revision: str | None = None


def benchmark_files(spec: BenchmarkSpec, files: list[str], mirror: Path | None) -> BenchmarkFiles:
    """Find a benchmark's files in ``mirror`` or on the hub; ``files`` are their names in ``spec.hub``."""
    assert spec.hub is not None
    if mirror is not None:
        if not mirror.is_dir():
            raise DatasetError(f"no such mirror folder: {mirror}")
        file = next((p for end in READABLE if (p := mirror / f"{spec.name}{end}").is_file()), None)
        if file is not None:
            return BenchmarkFiles([file], str(file))
    sources = [spec.hub.model_copy(update={"files": files}), *spec.alternates]
    if mirror is not None:
        copies = [source for source in sources if mirror_folder(mirror, source.repo) is not None]
        if copies:
            return _first_resolved(copies, mirror)
    try:
        return _first_resolved([s for s in sources if s.repo == spec.hub.repo], None)
    except UserError as error:
        failure = error
    why = str(failure).split("; give --mirror", 1)[0]  # replace the general advice
    where = "" if mirror is None else f" ({mirror} holds neither)"
    raise DatasetError(
        f"benchmark {spec.name}: {why}; give --mirror DIR with {spec.hub.repo}/{spec.hub.files[0]} or "
        f"{spec.name}.jsonl in it{where}, or set HF_ENDPOINT to a reachable hub"
    ) from failure


def _first_resolved(sources: Sequence[HubSource], mirror: Path | None) -> BenchmarkFiles:
    errors: list[UserError] = []
    for source in sources:
        try:
            return _resolved(source, mirror)
        except UserError as error:
            errors.append(error)
    raise errors[0]


def benchmark_rows(files: BenchmarkFiles) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield ("<path>:<line or row>", row) of all files. Raises DatasetError."""
    from prorl_datasets.sources.readers import iter_rows

    for path in files.paths:
        yield from iter_rows(path, max_row_bytes=MAX_ROW_BYTES)


def _resolved(source: HubSource, mirror: Path | None) -> BenchmarkFiles:
    resolved = resolve(source.repo, source.revision, source.files, mirror=mirror)
    rank = {name: place for place, name in enumerate(source.files)}
    resolved.sort(key=lambda file: (rank.get(file.name, len(rank)), file.name))
    revision = resolved[0].revision if resolved else None
    return BenchmarkFiles([file.path for file in resolved], source.repo, revision)


def benchmark_seeds(name: str, task: str, rung: int | None = None) -> list[int]:
    """Return the 32-bit seeds from which benchmark ``name`` generates the items of ``task`` at difficulty ``rung``."""
    plan = load_spec(name).generated
    return [] if plan is None else _seeds(plan, name, task, rung)


def _seeds(plan: Generated, name: str, task: str, rung: int | None) -> list[int]:
    parts: tuple[str | int, ...] = (name, task) if rung is None else (name, task, rung)
    return [derive_seed(plan.seed, "benchmark", *parts, i) & 0xFFFF_FFFF for i in range(plan.count)]


def generated_items(
    spec: BenchmarkSpec, limit: int | None = None, worker: RowClient | None = None
) -> Iterator[Converted]:
    """Yield up to ``limit`` items for each task and difficulty. The caller closes a ``worker`` that it passes."""
    plan = spec.generated
    assert plan is not None
    client = worker or RowClient()
    rungs: list[int | None] = [*plan.rungs] or [None]
    try:
        for task in plan.tasks:
            for rung in rungs:
                config = {**plan.configs.get(task, {}), **dict.fromkeys(plan.ladder, rung)}
                seeds = _seeds(plan, spec.name, task, rung)[:limit]
                for number, reply in enumerate(client.entries(task, config, seeds)):
                    key = f"{task}-{number}" if rung is None else f"{task}-{rung}-{number}"
                    if "error" in reply:
                        yield LeftOut(key, f"generator failed: {reply['error']:.{_ERROR_SIZE}}")
                        continue
                    entry = reply["entry"]
                    answer = gold_answer(task, entry)
                    metadata: dict[str, Any] = {"family": task, "config": config}
                    if rung is not None:
                        metadata["rung"] = rung
                    yield BenchmarkItem(
                        str(entry["question"]).strip(),
                        {"dataset": task, "entry": json.loads(json.dumps(entry))},
                        key=key,
                        gold=None if answer is None else f"<answer>{answer}</answer>",
                        metadata=metadata,
                    )
    finally:
        if worker is None:
            client.close()


def benchmark_questions(name: str, *, mirror: Path | None = None) -> Iterator[tuple[str, str]]:
    """Yield (sample id, question) of every row. Raises DatasetError like ``read_benchmark``."""
    spec = load_spec(name)
    if spec.hub is None:
        for item in generated_items(spec):
            if isinstance(item, BenchmarkItem):
                yield identity(spec, item.key, item.question), item.question
        return
    for where, raw in benchmark_rows(benchmark_files(spec, spec.hub.files, mirror)):
        identifiers = [raw.get(name) for name in spec.columns.get("id", ())]
        odd = odd_value(identifiers)
        if odd is not None:
            raise DatasetError(f"{where}: the row's id must not be {odd}")
        identified = question_of(spec, raw, where)
        if identified is not None:
            key, question = identified
            yield identity(spec, key, question), question


def texts(sample: Sample) -> tuple[str, ...]:
    """Return the texts of a benchmark's sample that training data must not contain."""
    return (str(sample.metadata["question"]),)


def identity(spec: BenchmarkSpec, key: str | None, question: str) -> str:
    """Return an item's id: its key, or else a digest of the question."""
    if key is None:
        words = " ".join(question.split())
        key = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{spec.name}-{key.replace('/', '-').replace(' ', '_')}"


@dataclass(slots=True)
class Loaded:
    """A loaded benchmark; ``expected`` is the published number of rows, or None if only a part is loaded."""

    spec: BenchmarkSpec
    samples: list[Sample] = field(default_factory=list)
    usable: int = 0
    unusable: list[LeftOut] = field(default_factory=list)
    origin: str = ""
    revision: str | None = None
    expected: int | None = None

    @property
    def note(self) -> str | None:
        """A warning if the number of rows is unexpected, else None."""
        rows = self.usable + len(self.unusable)
        if self.expected is None or rows == self.expected:
            return None
        return f"{self.spec.name}: {rows} rows where {self.expected} were expected ({self.origin})"


def load_benchmark(
    name: str,
    *,
    mirror: Path | None = None,
    window: tuple[str, str] | None = None,
    limit: int | None = None,
) -> list[Sample]:
    """Return the samples of a benchmark; see ``read_benchmark``."""
    return read_benchmark(name, mirror=mirror, window=window, limit=limit).samples


def read_benchmark(
    name: str,
    *,
    mirror: Path | None = None,
    window: tuple[str, str] | None = None,
    limit: int | None = None,
) -> Loaded:
    """Load a benchmark.

    ``mirror`` is a folder with the files. ``window`` (first and last day, inclusive) selects problems by contest date;
    default: ``window`` of the specification. ``limit`` is the number of samples (for generated benchmarks, of each
    task). Raises DatasetError for an unknown name, unavailable files, changed columns or too many unusable rows.
    """
    loaded = Loaded(load_spec(name))
    loaded.samples += stream_spec(loaded, mirror=mirror, window=window, limit=limit)
    return loaded


def stream_spec(
    loaded: Loaded,
    *,
    mirror: Path | None = None,
    window: tuple[str, str] | None = None,
    limit: int | None = None,
) -> Iterator[Sample]:
    """Yield the samples of ``loaded.spec``, and fill the other fields of ``loaded``.

    Raises DatasetError like ``read_benchmark``. The share of unusable rows is checked after the last sample.
    """
    spec = loaded.spec
    days = spec.window
    if window is not None:
        if spec.window is None:
            raise DatasetError(f"benchmark {spec.name} has no dates; leave the window out")
        try:
            first_day, last_day = date.fromisoformat(window[0]), date.fromisoformat(window[1])
        except ValueError as error:
            raise DatasetError(
                f"the window is {window[0]} to {window[1]}: write its days as YYYY-MM-DD"
            ) from error
        if last_day < first_day:
            raise DatasetError(f"the window ends ({last_day}) before it begins ({first_day})")
        days = first_day, last_day
    if limit is None and (window is None or spec.window is None):
        loaded.expected = spec.expected_rows
    ids: set[str] = set()
    cut_short = False
    for item in _stream(spec, loaded, mirror, days, limit):
        made = _sample(spec, item) if isinstance(item, BenchmarkItem) else item
        if isinstance(made, Sample) and made.id in ids:
            made = LeftOut(made.id, "the same id (or question) as an earlier row")
        if isinstance(made, LeftOut):
            loaded.unusable.append(made)
            continue
        ids.add(made.id)
        loaded.usable += 1
        yield made
        if limit is not None and spec.generated is None and loaded.usable >= limit:
            cut_short = True
            break
    bad, rows = len(loaded.unusable), len(loaded.unusable) + loaded.usable
    if not rows:
        raise DatasetError(f"{loaded.origin} contains no rows of benchmark {spec.name}")
    # The limit is a share of all rows, so the first few rows prove nothing.
    if bad > spec.unusable_max * rows and not (cut_short and spec.unusable_max):
        first = loaded.unusable[0]
        raise DatasetError(
            f"benchmark {spec.name}: {bad} of {rows} rows cannot be used, more than "
            f"unusable_max ({spec.unusable_max:.0%}); the first, {first.where}: {one_line(first.reason)}"
        )


def _stream(
    spec: BenchmarkSpec,
    loaded: Loaded,
    mirror: Path | None,
    days: tuple[date, date] | None,
    limit: int | None,
) -> Iterator[Converted]:
    if spec.generated is not None:
        loaded.origin = "generated"
        yield from generated_items(spec, limit)
        return
    assert spec.hub is not None
    names = spec.hub.files
    if days is not None:  # skip version files that end before the window
        old = {v.file for v in spec.versions if v.until < days[0]}
        names = [name for name in names if name not in old] or names[-1:]
    files = benchmark_files(spec, names, mirror)
    loaded.origin, loaded.revision = files.origin, files.revision
    for where, raw in benchmark_rows(files):
        if days is not None:
            day = contest_day(spec, raw, where)
            if day is not None and not days[0] <= day <= days[1]:
                continue
        odd = odd_value(raw)
        converted = convert(spec, raw, where) if odd is None else LeftOut(where, odd)
        if converted is not None:
            yield converted


def _sample(spec: BenchmarkSpec, item: BenchmarkItem) -> Sample | LeftOut:
    verifier = item.verifier or spec.verifier
    extra = spec.reference if verifier == spec.verifier else {}
    identifier = identity(spec, item.key, item.question)
    try:
        task = load_task(verifier, {**item.reference, **extra})
    except TaskError as error:
        return LeftOut(identifier, str(error))
    prompt = spec.prompt.format(question=item.shown if item.shown is not None else item.question)
    metadata: dict[str, Any] = {
        "benchmark": spec.name,
        "metric": spec.metric,
        "samples": spec.samples,
        "question": item.question,
        **item.metadata,
    }
    if item.gold is not None:
        metadata["gold_response"] = item.gold
    odd = odd_value([prompt, metadata, task.reference])
    if odd is not None:
        return LeftOut(identifier, odd)
    has_tests = runs_programs(task)  # tests are trusted here without running a verifier
    return Sample(
        id=identifier,
        domain=spec.domain,
        prompt=({"role": "user", "content": prompt},),
        task=task,
        source=spec.hub.repo if spec.hub is not None else "reasoning-gym",
        licence=spec.licence,
        split="test",
        gold_check="self-consistent" if item.gold is not None or has_tests else "none",
        metadata=metadata,
    )
