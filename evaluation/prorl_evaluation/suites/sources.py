"""Loads the problems of a suite."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, assert_never

from prorl_common import Progress, ServiceError, UserError, derive_seed, nearest
from prorl_datasets import Sample, stream
from prorl_datasets.benchmarks import BenchmarkSpec, Loaded, stream_spec
from prorl_evaluation.sampling.choose import Run, read_split
from prorl_evaluation.sampling.journal import prompt_digest, task_digest
from prorl_evaluation.sampling.stored import spooled
from prorl_evaluation.suites.suite import (
    GENERATED_LICENCE,
    PLACE,
    DatasetSpec,
    ProceduralSpec,
    Source,
    Suite,
)
from prorl_evaluation.types import EvaluationError

TRIES = 20
"""Maximum number of attempts to generate a procedural problem that differs from the others."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed benchmark, for one ``model`` ("" means all); ``service`` tells whether a service such as the hub failed."""

    benchmark: str
    reason: str
    service: bool
    model: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """A loaded benchmark; ``manifest`` is a hash of its problems."""

    name: str
    samples: Sequence[Sample]
    manifest: str
    notes: tuple[str, ...] = ()
    parts: tuple[Mapping[str, str], ...] = ()


@dataclass(slots=True)
class Gathered:
    ready: list[Ready] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Selection:
    """The benchmarks to load (None: all), a limit on their problems, and the folder of local copies of files."""

    names: Sequence[str] | None = None
    limit: int | None = None
    mirror: Path | None = None


def pick_names(suite: Suite, names: Sequence[str] | None) -> list[str]:
    """Return the requested benchmarks (None: all), in the suite's order.

    Raises EvaluationError for an unknown name, or if ``names`` is empty.
    """
    options = list(suite.sources)
    if names is None:
        return options
    names = [Path(n).stem if n.endswith((".yaml", ".yml")) else n for n in names]
    if not names:
        raise EvaluationError(
            f"--benchmarks names no benchmark; suite {suite.name} has {', '.join(options)}"
        )
    for name in names:
        if name not in options:
            raise EvaluationError(
                f"suite {suite.name} has no benchmark '{name}'{nearest(name, options)}; "
                f"it has {', '.join(options)}"
            )
    return [name for name in options if name in names]


def gather_benchmarks(suite: Suite, selection: Selection, progress: Progress) -> Gathered:
    """Load every requested benchmark. Raises EvaluationError like ``pick_names``."""
    gathered = Gathered()
    names = pick_names(suite, selection.names)
    progress.start(f"load suite {suite.name}", len(names))
    for name in names:
        try:
            gathered.ready.append(_load(suite, suite.sources[name], selection))
        except (UserError, ServiceError) as error:
            gathered.failures.append(Failure(name, one_line(error), is_service(error)))
        progress.advance(1, benchmark=name)
    progress.finish()
    return gathered


def _load(suite: Suite, source: Source, selection: Selection) -> Ready:
    notes: list[str] = []
    samples: Sequence[Sample]
    if isinstance(source, ProceduralSpec):
        samples = spooled(_procedural(source, selection.limit))
    elif isinstance(source, DatasetSpec):
        samples = read_split(suite.base / source.dataset, source.split, selection.limit)
    elif isinstance(source, BenchmarkSpec):
        loaded = Loaded(source)
        samples = spooled(stream_spec(loaded, mirror=selection.mirror, limit=selection.limit))
        if loaded.note is not None:
            notes.append(loaded.note)
        if loaded.unusable:
            count, first = len(loaded.unusable), loaded.unusable[0]
            notes.append(
                f"{source.name}: {count} rows left out; the first, {first.where}: {first.reason}"
            )
    else:
        assert_never(source)
    lines = [[s.id, prompt_digest(s.prompt), task_digest(s.task)] for s in samples]
    text = json.dumps(lines, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Ready(source.name, samples, digest, tuple(notes), suite.parts(source.name))


def _procedural(spec: ProceduralSpec, limit: int | None) -> Iterator[Sample]:
    """Yield distinct problems of each family, from seeds that training never uses."""
    from prorl_datasets.procedural import families

    generators = families()
    for name in spec.families:
        family = generators.get(name)
        if family is None or family.domain != spec.domain:
            same = [f.name for f in generators.values() if f.domain == spec.domain]
            raise EvaluationError(
                f"{spec.name}: no {spec.domain} family '{name}'{nearest(name, same)}"
            )
    for name in spec.families:
        questions: set[str] = set()
        for number in range(min(spec.count, limit or spec.count)):
            level = spec.levels[number % len(spec.levels)]
            for attempt in range(TRIES):
                rng = Random(derive_seed(spec.seed, "suite", spec.name, name, number, attempt))
                item = generators[name].generate(rng, level)
                if item.question not in questions:
                    break
            else:
                raise EvaluationError(
                    f"{spec.name}: family '{name}' has fewer than {number + 1} different problems: "
                    f"lower the count of {spec.name}"
                )
            questions.add(item.question)
            prompt = spec.template.replace(PLACE, item.question)
            metadata = {"benchmark": spec.name, "family": name, "question": item.question}
            chance = {} if item.chance is None else {"chance": item.chance}
            yield Sample(
                id=f"{spec.name}-{name}-{number}",
                domain=spec.domain,
                prompt=({"role": "user", "content": prompt},),
                task=item.task,
                source="procedural",
                licence=GENERATED_LICENCE,
                split="test",
                metadata={**item.metadata, **metadata, **chance, "level": level},
            )


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def is_service(error: BaseException) -> bool:
    """Return whether a service caused the error, such as an unreachable hub.

    A refusal by the hub (gated, file not found) does not count.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ServiceError):
            return True
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if isinstance(status, int):
            return status >= 500 or status == 429
        # a failed connection, unlike a missing or unreadable local file
        library = type(cause).__module__.partition(".")[0]
        clients = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")
        if isinstance(cause, ConnectionError | TimeoutError) or library in clients:
            return True
        cause = cause.__cause__
    return False


def training_data(run: Run | None) -> Path | None:
    path = run.setting("data", "path") if run is not None else None
    folder = Path(path) if isinstance(path, str) and path else None
    return folder if folder is not None and folder.exists() else None


def shared_with(
    ready: Sequence[Ready], data: Path, progress: Progress
) -> dict[str, tuple[str, ...]]:
    """Return {benchmark: ids of problems that also occur in the train split of ``data``}. Raises DatasetError."""
    problems_by_key: dict[bytes, list[tuple[str, str]]] = {}
    for one in ready:
        for sample in one.samples:
            for key in set(_keys(sample)):
                problems_by_key.setdefault(key, []).append((one.name, sample.id))
    hits: dict[str, set[str]] = {one.name: set() for one in ready}
    progress.start("look for the problems in the training data", None)
    for sample in stream(data, "train"):
        for key in _keys(sample):
            for name, problem in problems_by_key.get(key, ()):
                hits[name].add(problem)
        progress.advance()
    progress.finish()
    return {name: tuple(sorted(ids)) for name, ids in hits.items() if ids}


def shared_lines(shared: dict[str, tuple[str, ...]], ready: Sequence[Ready]) -> list[str]:
    sizes = {one.name: len(one.samples) for one in ready}
    return [
        f"{name}: {len(ids)} of {sizes[name]} problems also occur in the run's training data "
        f"({', '.join(ids[:3])}{', ...' if len(ids) > 3 else ''}): its score is less reliable"
        for name, ids in shared.items()
    ]


def _keys(sample: Sample) -> Iterator[bytes]:
    from prorl_datasets.text.words import normalise_question

    question: Any = sample.metadata.get("question")
    user = [m["content"] for m in sample.prompt if m["role"] == "user"]
    for text in (question, user[-1] if user else None):
        if isinstance(text, str) and (normal := normalise_question(text)):
            yield hashlib.sha256(normal.encode("utf-8", "surrogatepass")).digest()[:16]
