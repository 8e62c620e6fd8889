"""Make finished candidate rows: the item, its prompt, its keys, what it shares with benchmarks.

Runs in a child process (``rows.process``); everything that costs time and needs no verifier happens
here. Leaves out: the gold check and every comparison between rows.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prorl_common import UserError, derive_seed
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.posed import flaw_of_row
from prorl_datasets.rows.row import BadRow, Drop, Row, digest, normalised, prompt_key
from prorl_datasets.sources import rg_entries
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.sources.sources import row_of
from prorl_datasets.spec import RowSettings
from prorl_datasets.types import DatasetError
from prorl_verifiers import Task, TaskError, load_task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prorl_datasets.text.hashing import Profile
    from prorl_datasets.text.index import BenchmarkIndex, Match

PROBES = 24
"""Items of an entry whose shared n-grams are taken for its template, when one resembles a benchmark."""
LEAST_WORDS = 8
"""Shorter texts are compared as a whole only: a few common words make no near-duplicate."""
DIGITS = 4300
_LONG = re.compile(rf"\d{{{DIGITS + 1}}}")
SHOWN = 400
"""Characters of a text that a report of matches shows."""
MAX_PAIRS = 5
"""Benchmark items named for one offending row."""


class RowMaker:
    """Candidates of the entries of one recipe, as JSON-ready dictionaries.

    A candidate has ``index``, ``columns``, ``gold``, ``box``, ``checked``, ``consistent``, ``key``,
    ``independent``, ``prompt_key``, ``signature``, ``matches`` and ``variant`` (it stays all the same, for its
    other numbers); one that cannot become a row has ``index``, ``drop``, ``detail`` and ``stage``, ``match`` if it is
    an item of a generated benchmark, ``quarantine`` if its source keeps bad rows. ``benchmarks``
    is the text index, ``taken`` gives (benchmark, item) by the keys of generated benchmark items.
    """

    def __init__(
        self,
        recipe: Recipe,
        seed: int,
        benchmarks: BenchmarkIndex | None = None,
        taken: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self._recipe, self._seed = recipe, seed
        self._benchmarks, self._taken = benchmarks, taken or {}
        self._entries = {entry.name: entry for entry in recipe.entries}
        self._memory: dict[str, Any] = {}
        self._templates: dict[str, NDArray[Any]] = {}

    def generate(self, name: str, split: str, start: int, stop: int) -> list[dict[str, Any]]:
        """Return the candidates [start, stop) of a generated entry's stream for ``split``."""
        entry = self._entries[name]
        found = []
        for index in range(start, stop):
            with _place(f"{name} {split} {index}"):
                found.append(self._finish(entry, split, self._row(entry, split, index)))
        return found

    def convert(self, name: str, start: int, rows: Sequence[list[Any]]) -> list[dict[str, Any]]:
        """Return the candidates of raw rows (``RawRow``); the first has the index ``start``.

        A bad row is a drop, with its columns under ``quarantine`` where the source asks for that. Raises
        DatasetError naming file and line where it stops at them.
        """
        entry = self._entries[name]
        policy = entry.source.on_bad_row if isinstance(entry.source, RowSettings) else "stop"
        found, bad = [], []
        for index, (where, raw, *problem) in enumerate(rows, start=start):
            with _place(where):
                try:
                    if problem:
                        raise BadRow(where, problem[0], "the row cannot be read")
                    row = row_of(entry, raw, where, index)
                except DatasetError as error:
                    bad.append((where, error))
                    place = where.rpartition("/")[2]
                    lost = {
                        "index": index,
                        "drop": _reason(error),
                        "detail": str(error).replace(where, place),
                    }
                    if policy == "quarantine":
                        lost["quarantine"] = {"place": place, "columns": raw}
                    found.append(lost)
                    continue
                found.append(self._finish(entry, "", row))
        if bad and policy == "stop":
            raise _stopped(bad, len(rows), isinstance(entry.source, RowSettings))
        return found

    def _row(self, entry: Entry, split: str, index: int) -> Row | Drop:
        assert entry.spec.generate is not None
        seed = derive_seed(self._seed, "data", entry.name, split, index)
        made: Row | Drop = entry.spec.generate(entry, index, seed, self._memory)
        return made

    def _finish(self, entry: Entry, split: str, row: Row | Drop) -> dict[str, Any]:
        if isinstance(row, Drop):
            lost = {"index": row.index, "drop": row.reason, "detail": row.detail}
            return {**lost, "stage": row.stage}
        if entry.generated and (flaw := flaw_of_row(row)) is not None:
            lost = {"index": row.index, "drop": flaw.reason, "detail": flaw.detail}
            return {**lost, "stage": "posed", "text": row.question}
        if entry.reference:
            row = replace(row, task=_with_own(entry, row.task))
        if row.gold is None and entry.generated and entry.verify_fraction > 0:
            lost = {"index": row.index, "drop": "no known answer", "detail": ""}
            return {**lost, "text": row.question}
        if (key := row.key) is not None and digest(key) in self._taken:
            # by its parameters, an item of a generated benchmark
            benchmark, item = self._taken[digest(key)]
            match = {"benchmark": benchmark, "item": item, "rule": "parameters", "score": 1.0}
            match |= {"view": "exact", "numbers": "same", "shared": ""}
            match |= {"text": row.question[:SHOWN]}
            drop = f"item of {benchmark}"
            return {"index": row.index, "drop": drop, "detail": item, "match": match}
        prompt = self._recipe.prompt_for(entry).format(question=row.question)
        metadata = {
            **row.metadata,
            "entry": entry.name,
            "index": row.index,
            "weight": self._recipe.weight_of(entry),
        }
        if row.gold is not None:
            metadata["gold_response"] = row.gold
        with long_integers():
            reference = row.task.reference_json()
        messages = [{"role": "user", "content": prompt}]
        columns = {
            "domain": entry.domain,
            "prompt": messages,
            "verifier": row.task.verifier,
            "reference": reference,
            "source": entry.spec.shown(entry.source),
            "licence": str(row.metadata.get("licence", entry.licence)),
            "metadata": metadata,
            "answer": row.answer,
        }
        if _LONG.search(reference):  # does every Python read it? its own limit is DIGITS digits
            try:
                json.loads(reference)
            except ValueError:
                return {"index": row.index, "drop": "an integer is too long", "detail": ""}
        try:  # JSON may hold halves of surrogate pairs
            json.dumps(columns, ensure_ascii=False, default=rg_entries.plain).encode()
        except UnicodeEncodeError:
            return {"index": row.index, "drop": "not valid Unicode", "detail": ""}
        profile = self._profile(entry, row)
        signature = None  # as text; a short one has no near-duplicates
        compared = entry.compare_texts or not entry.generated
        if compared and profile is not None and len(profile.exact.words) >= LEAST_WORDS:
            packed = profile.exact.signature.astype("<u4").tobytes()
            signature = base64.b64encode(packed).decode("ascii")
        response, task = self._gold(entry, split, row)
        matches = self._matches(entry, profile)
        keeps_variants = self._recipe.decontamination.variants == "keep"
        return {
            "index": row.index,
            "columns": columns,
            "gold": response,
            "box": None if task is None else task.reference_json(),
            "checked": self._is_checked(entry, split, row),
            "consistent": row.consistent,
            "independent": row.independent,
            "key": digest(key if key is not None else normalised(row.question)),
            "prompt_key": prompt_key(messages),
            "signature": signature,
            "matches": [
                {
                    "benchmark": match.benchmark,
                    "item": match.item_id,
                    "rule": match.rule,
                    "view": match.view,
                    "numbers": match.numbers,
                    "score": round(float(match.score), 4),
                    "shared": match.shared,
                }
                for match in matches[:MAX_PAIRS]
            ],
            "variant": keeps_variants and all(match.numbers == "other" for match in matches),
        }

    def _gold(self, entry: Entry, split: str, row: Row) -> tuple[str | None, Task | None]:
        """Return what to run as gold check: the gold response, with another task where all tests
        of a generated code item run in one box.
        """
        one_box = entry.spec.one_box
        if row.gold is None or row.task.verifier != "code" or one_box is None:
            return row.gold, None
        if self._share("full-path", entry, split, row.index) < entry.full_path_fraction:
            return row.gold, None
        return one_box(row.task, row.gold)

    def _is_checked(self, entry: Entry, split: str, row: Row) -> bool:
        if row.gold is None:
            return False
        return self._share("verify", entry, split, row.index) < entry.verify_fraction

    def _share(self, purpose: str, entry: Entry, split: str, index: int) -> float:
        return derive_seed(self._seed, purpose, entry.name, split, index) / 2**63

    def _matches(self, entry: Entry, profile: Profile | None) -> list[Match]:
        """Return what a text shares with benchmarks, its entry's own template apart."""
        if self._benchmarks is None or profile is None:
            return []
        found = self._benchmarks.matches(profile)
        if found and entry.generated:
            found = self._benchmarks.matches(profile, ignore=self._template(entry))
        return found

    def _profile(self, entry: Entry, row: Row) -> Profile | None:
        """Return the hashes of a row's text where they are needed: to compare rows, or benchmarks to check."""
        if entry.generated and not entry.compare_texts and self._benchmarks is None:
            return None
        from prorl_datasets.text.hashing import Profile

        return Profile(row.question if row.core is None else row.core)

    def _template(self, entry: Entry) -> NDArray[Any]:
        if entry.name not in self._templates:
            from prorl_datasets.text.templates import template_ngrams

            rows = [self._row(entry, "probe", index) for index in range(PROBES)]
            texts = [r.core or r.question for r in rows if isinstance(r, Row)]
            self._templates[entry.name] = template_ngrams(sorted(set(texts)))
        return self._templates[entry.name]


def _reason(error: DatasetError) -> str:
    return f"bad row: {error.reason}" if isinstance(error, BadRow) else "bad row: malformed"


def _stopped(bad: Sequence[tuple[str, DatasetError]], looked: int, may_go_on: bool) -> DatasetError:
    """Return the error of the first bad row, with the number of others near it, and the cure."""
    more = ""
    if len(bad) > 1:
        lines = [where.rpartition(":")[2] for where, _ in bad[1:6]]
        dots = ", ..." if len(bad) > 6 else ""
        more = (
            f"; {len(bad) - 1} more of these {looked} rows are bad (lines {', '.join(lines)}{dots})"
        )
    cure = "; mend the data, or leave such rows out with on_bad_row: drop or quarantine"
    return DatasetError(f"{bad[0][1]}{more}{cure if may_go_on else ''}")


def _with_own(entry: Entry, task: Task) -> Task:
    """Return a row's task with what the entry says of all its references. Raises DatasetError."""
    try:
        return load_task(task.verifier, {**task.reference, **entry.reference})
    except TaskError as error:
        raise DatasetError(f"entry '{entry.name}': reference: {error}") from error


@contextmanager
def _place(where: str) -> Iterator[None]:
    """Note on a bug's traceback which row it was; what ``rows.client`` says ends with it."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        error.add_note(f"at {where}")
        raise
