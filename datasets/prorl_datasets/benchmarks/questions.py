"""The questions of a benchmark alone, for decontamination: no test unpacked, no date selected.

Rows that cannot be scored count too, their text is published all the same. Leaves out: comparing
texts (``prorl_datasets.text``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from prorl_datasets.benchmarks.catalogue import BenchmarkSpec, load_spec
from prorl_datasets.benchmarks.files import find_files, raw_rows
from prorl_datasets.benchmarks.items import BenchmarkItem
from prorl_datasets.benchmarks.shapes_columns import question_of
from prorl_datasets.sources.readers.plain import odd_value
from prorl_datasets.types import DatasetError, Sample


def benchmark_questions(name: str, *, mirror: Path | None = None) -> Iterator[tuple[str, str]]:
    """Yield (id, question) of every row; ids are those of the samples and depend on no path.

    Raises DatasetError for an unknown name, files that cannot be had and changed columns.
    """
    spec = load_spec(name)
    if spec.hub is None:
        from prorl_datasets.benchmarks.reasoning_gym import generated_items

        for item in generated_items(spec):
            if isinstance(item, BenchmarkItem):
                yield identity(spec, item.key, item.question), item.question
        return
    for where, raw in raw_rows(find_files(spec, spec.hub.files, mirror)):
        identifiers = [raw.get(name) for name in spec.columns.get("id", ())]
        odd = odd_value(identifiers)
        if odd is not None:
            raise DatasetError(f"{where}: {odd} as the row's id")
        found = question_of(spec, raw, where)
        if found is not None:
            key, question = found
            yield identity(spec, key, question), question


def texts(sample: Sample) -> tuple[str, ...]:
    """Return the texts of a benchmark sample that training data must not hold: its question."""
    return (str(sample.metadata["question"]),)


def identity(spec: BenchmarkSpec, key: str | None, question: str) -> str:
    """Return the id of an item: its own key, else a digest of the question's words."""
    if key is None:
        words = " ".join(question.split())
        key = hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{spec.name}-{key.replace('/', '-').replace(' ', '_')}"
