"""Which problems of a suite does the run's training data also hold?

Exact matches only: the questions' words, without the packaged prompt sentences, case and punctuation
(``prorl_datasets.text``). Leaves out n-grams and near copies, which ``prorl data build`` checks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prorl_common import Progress
from prorl_datasets import Sample, stream
from prorl_evaluation.sampling.choose import Run
from prorl_evaluation.suites.sources import Ready


def training_data(run: Run | None) -> Path | None:
    """Return the folder of the run's dataset where the run names one and it is at hand."""
    path = run.setting("data", "path") if run is not None else None
    found = Path(path) if isinstance(path, str) and path else None
    return found if found is not None and found.exists() else None


def shared_with(
    ready: Sequence[Ready], data: Path, progress: Progress
) -> dict[str, tuple[str, ...]]:
    """Return the ids of problems that also occur in the train split of ``data``, by benchmark.

    Reads the split once. Raises DatasetError when it cannot be read.
    """
    wanted: dict[bytes, list[tuple[str, str]]] = {}
    for one in ready:
        for sample in one.samples:
            for key in set(_keys(sample)):
                wanted.setdefault(key, []).append((one.name, sample.id))
    hits: dict[str, set[str]] = {one.name: set() for one in ready}
    progress.start("look for the problems in the training data", None)
    for sample in stream(data, "train"):
        for key in _keys(sample):
            for name, problem in wanted.get(key, ()):
                hits[name].add(problem)
        progress.advance()
    progress.finish()
    return {name: tuple(sorted(ids)) for name, ids in hits.items() if ids}


def shared_lines(shared: dict[str, tuple[str, ...]], ready: Sequence[Ready]) -> list[str]:
    """Return a line for each benchmark of which training saw problems."""
    sizes = {one.name: len(one.samples) for one in ready}
    return [
        f"{name}: {len(ids)} of {sizes[name]} problems also occur in the run's training data "
        f"({', '.join(ids[:3])}{', ...' if len(ids) > 3 else ''}): its number says less"
        for name, ids in shared.items()
    ]


def _keys(sample: Sample) -> Iterator[bytes]:
    """Yield digests of the question and of the whole prompt in normal form, where they have words."""
    from prorl_datasets.text.words import normalise_question

    question: Any = sample.metadata.get("question")
    user = [m["content"] for m in sample.prompt if m["role"] == "user"]
    for text in (question, user[-1] if user else None):
        if isinstance(text, str) and (normal := normalise_question(text)):
            yield hashlib.sha256(normal.encode("utf-8", "surrogatepass")).digest()[:16]
