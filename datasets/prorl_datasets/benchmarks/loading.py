"""Load a benchmark: files or generators in, Samples with split ``test`` out, nothing left unsaid.

Rows that cannot be scored are counted with their reasons; more of them than the benchmark allows is
an error. Leaves out: sampling and scoring responses (the evaluation room).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from prorl_datasets.benchmarks.catalogue import BenchmarkSpec, load_spec
from prorl_datasets.benchmarks.files import find_files, raw_rows
from prorl_datasets.benchmarks.items import BenchmarkItem, Converted, LeftOut
from prorl_datasets.benchmarks.livecodebench import contest_day
from prorl_datasets.benchmarks.questions import identity
from prorl_datasets.benchmarks.shapes_columns import convert
from prorl_datasets.sources.readers.plain import odd_value, one_line
from prorl_datasets.types import DatasetError, Sample
from prorl_verifiers import TaskError, load_task, runs_programs


@dataclass(slots=True)
class Loaded:
    """A benchmark as loaded: samples, what could not be used, and where it came from.

    ``expected`` is the number of rows that the published benchmark has, or None for a part of it.
    """

    spec: BenchmarkSpec
    samples: list[Sample] = field(default_factory=list)
    usable: int = 0
    unusable: list[LeftOut] = field(default_factory=list)
    origin: str = ""
    revision: str | None = None
    expected: int | None = None

    @property
    def note(self) -> str | None:
        """Return one line where the rows are not as many as expected, else None."""
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
    """Return the samples of a benchmark. See ``read_benchmark`` for arguments and errors."""
    return read_benchmark(name, mirror=mirror, window=window, limit=limit).samples


def read_benchmark(
    name: str,
    *,
    mirror: Path | None = None,
    window: tuple[str, str] | None = None,
    limit: int | None = None,
) -> Loaded:
    """Return the samples of a benchmark with what there is to say about them.

    ``mirror`` is a folder with the files; ``window`` (first day, last day) selects dated problems
    by contest date, both days included, None takes the benchmark's own window; ``limit`` ends after
    that many samples (generated benchmarks: that many of each task). Raises DatasetError, one line,
    for an unknown name, files that cannot be had, changed columns, and too many unusable rows.
    """
    return read_spec(load_spec(name), mirror=mirror, window=window, limit=limit)


def read_spec(
    spec: BenchmarkSpec,
    *,
    mirror: Path | None = None,
    window: tuple[str, str] | None = None,
    limit: int | None = None,
) -> Loaded:
    """Return the samples of a benchmark that need not be packaged; else as ``read_benchmark``."""
    loaded = Loaded(spec)
    loaded.samples += stream_spec(loaded, mirror=mirror, window=window, limit=limit)
    return loaded


def stream_spec(
    loaded: Loaded,
    *,
    mirror: Path | None = None,
    window: tuple[str, str] | None = None,
    limit: int | None = None,
) -> Iterator[Sample]:
    """Yield the samples of ``loaded.spec`` without holding them; what there is to say of them is in ``loaded`` at the end.

    Raises as ``read_spec`` does, too many unusable rows at the end.
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
    for found in _stream(spec, loaded, mirror, days, limit):
        made = _sample(spec, found) if isinstance(found, BenchmarkItem) else found
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
        raise DatasetError(f"benchmark {spec.name}: no row of it in {loaded.origin}")
    # the share is one of all rows: of a few first ones nothing follows, where any may be left out
    if bad > spec.unusable_max * rows and not (cut_short and spec.unusable_max):
        first = loaded.unusable[0]
        raise DatasetError(
            f"benchmark {spec.name}: {bad} of {rows} rows cannot be used, "
            f"{spec.unusable_max:.0%} are allowed; the first, {first.where}: {one_line(first.reason)}"
        )


def _stream(
    spec: BenchmarkSpec,
    loaded: Loaded,
    mirror: Path | None,
    days: tuple[date, date] | None,
    limit: int | None,
) -> Iterator[Converted]:
    if spec.generated is not None:
        from prorl_datasets.benchmarks.reasoning_gym import generated_items

        loaded.origin = "generated"
        yield from generated_items(spec, limit)
        return
    assert spec.hub is not None
    wanted = spec.hub.files
    if days is not None:  # version files that end before the window are left out
        old = {v.file for v in spec.versions if v.until < days[0]}
        wanted = [name for name in wanted if name not in old] or wanted[-1:]
    files = find_files(spec, wanted, mirror)
    loaded.origin, loaded.revision = files.origin, files.revision
    for where, raw in raw_rows(files):
        if days is not None:
            day = contest_day(spec, raw, where)
            if day is not None and not days[0] <= day <= days[1]:
                continue
        odd = odd_value(raw)
        found = convert(spec, raw, where) if odd is None else LeftOut(where, odd)
        if found is not None:
            yield found


def _sample(spec: BenchmarkSpec, item: BenchmarkItem) -> Sample | LeftOut:
    verifier = item.verifier or spec.verifier
    extra = spec.reference if verifier == spec.verifier else {}
    name = identity(spec, item.key, item.question)
    try:
        task = load_task(verifier, {**item.reference, **extra})
    except TaskError as error:
        return LeftOut(name, str(error))
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
        return LeftOut(name, odd)
    has_tests = runs_programs(task)  # no verifier runs here
    return Sample(
        id=name,
        domain=spec.domain,
        prompt=({"role": "user", "content": prompt},),
        task=task,
        source=spec.hub.repo if spec.hub is not None else "reasoning-gym",
        licence=spec.licence,
        split="test",
        gold_check="self-consistent" if item.gold is not None or has_tests else "none",
        metadata=metadata,
    )
