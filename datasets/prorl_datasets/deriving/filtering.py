"""Keep the rows of a dataset for which an expression holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prorl_common import nearest
from prorl_datasets.deriving.writing import Derived, Parent, write_derived
from prorl_datasets.expressions import Expression, ExpressionError, condition, parse
from prorl_datasets.storage import stream
from prorl_datasets.types import DatasetError, Sample, Split

REASON = "the condition does not hold"


def filter_dataset(source: Path, where: str, out: Path) -> Derived:
    """Write the rows of the dataset folder ``source`` that meet ``where`` into the folder ``out``.

    Names of the expression are those of ``row_names``; one that this row lacks and others have is null. Raises
    DatasetError: an expression that cannot be read, has no value for a row (named), names what no row has, or keeps
    none; ``out`` there already.
    """
    expression = parse(where)
    work = _Filter(expression, source)
    return write_derived(
        out,
        {"verb": "filter", "where": expression.source},
        [Parent.read(source)],
        work.rows,
        work.left_out,
        work.check_names,
    )


def row_names(sample: Sample) -> dict[str, Any]:
    """Return what a row's expressions may name: its columns (``prompt`` as text, ``reference`` and ``metadata`` as
    objects), ``answer``, then the keys of the metadata and of its ``extra``; of one name the first.
    """
    extra = sample.metadata.get("extra")
    answer = sample.task.reference.get("answer")
    return {
        **(extra if isinstance(extra, Mapping) else {}),
        **sample.metadata,
        **({} if answer is None else {"answer": answer}),
        "id": sample.id,
        "domain": sample.domain,
        "split": sample.split,
        "prompt": "\n".join(message["content"] for message in sample.prompt),
        "verifier": sample.task.verifier,
        "reference": sample.task.reference,
        "source": sample.source,
        "licence": sample.licence,
        "gold_check": sample.gold_check,
        "metadata": sample.metadata,
    }


class _Filter:
    """One pass over a dataset."""

    def __init__(self, expression: Expression, source: Path) -> None:
        self._expression, self._source = expression, source
        self.left_out: dict[str, Counter[str]] = {}
        self._names = expression.names()
        self._missing = set(self._names)
        self._there: set[str] = set()

    def rows(self, split: Split) -> Iterator[Sample]:
        """Yield the rows of a split that stay."""
        if not (self._source / f"{split}.parquet").is_file():
            return
        for sample in stream(self._source, split):
            row = row_names(sample)
            self._note(row)
            try:
                holds = condition(self._expression, {**dict.fromkeys(self._names), **row})
            except ExpressionError as error:
                for other in stream(self._source) if self._missing else ():
                    self._note(row_names(other))
                self.check_names()
                raise DatasetError(f"row '{sample.id}': {error}") from error
            if holds:
                yield sample
            else:
                self.left_out.setdefault(sample.domain, Counter())[REASON] += 1

    def _note(self, row: Mapping[str, Any]) -> None:
        self._there.update(row)
        self._missing.difference_update(row)

    def check_names(self) -> None:
        """Raise DatasetError for a name that no row so far has."""
        for name in sorted(self._missing):
            there = sorted(self._there)
            raise DatasetError(
                f"`{self._expression.source}`: no row has '{name}'{nearest(name, there)}; there are {', '.join(there)}"
            )
