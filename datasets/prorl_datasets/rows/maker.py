"""Makes candidates in a child process: draws or converts rows, adds prompts and keys, and finds benchmark matches.

The process is separate because some reasoning-gym tasks need PYTHONHASHSEED=0 or reseed numpy globally.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import UserError, derive_seed
from prorl_common.forks import serve_forks
from prorl_common.frames import FrameError, Reader, frame, write
from prorl_datasets.candidate import (
    BadRow,
    BenchmarkMatch,
    Candidate,
    Drop,
    Row,
    digest,
    encode,
    normalised,
    prompt_key,
)
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.sources import rg_entries
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.sources.sources import row_of
from prorl_datasets.sources.well_posed import Flaw
from prorl_datasets.spec import RowSettings
from prorl_datasets.types import DatasetError
from prorl_verifiers import VERIFIERS, Task, TaskError, load_task
from prorl_verifiers.environment import opening_of
from prorl_verifiers.logic.generated import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prorl_datasets.text.hashing import Profile
    from prorl_datasets.text.index import BenchmarkIndex, Match

PROBES = 24
"""Number of generated items that are compared to find an entry's template if a row resembles a benchmark item. N-grams
that two of the items share belong to the template."""
LEAST_WORDS = 8
"""Texts with fewer words are compared only as a whole, because a few common words do not make a near-duplicate."""
DIGITS = 4300
_LONG = re.compile(rf"\d{{{DIGITS + 1}}}")
LEAST_GOLD = 20
"""An item is trivial if its question contains a gold response of at least this many characters."""
_NUMBER = re.compile(r"\$?(-?\d+(?:\.\d+)?)(?:\s*\\times\s*10\^\{(-?\d+)\})?\$?(.*)", re.DOTALL)
SHOWN = 400
"""Maximum number of characters of a text in a report of matches."""
MAX_PAIRS = 5
"""Maximum number of benchmark items listed for one row."""


class RowMaker:
    """Makes the candidate rows of a recipe's entries.

    ``taken`` maps the digest of each benchmark item that is forbidden to (benchmark, item).
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

    def generate(self, name: str, split: str, start: int, stop: int) -> list[Candidate | Drop]:
        entry = self._entries[name]
        candidates = []
        for index in range(start, stop):
            with _place(f"{name} {split} {index}"):
                candidates.append(self._finish(entry, split, self._row(entry, split, index)))
        return candidates

    def convert(self, name: str, rows: Sequence[Sequence[Any]]) -> list[Candidate | Drop]:
        """Convert raw rows, each preceded by its index, to candidates.

        A bad row becomes a Drop, or raises DatasetError with file and line if the source stops at bad rows.
        """
        entry = self._entries[name]
        policy = entry.source.on_bad_row if isinstance(entry.source, RowSettings) else "stop"
        candidates: list[Candidate | Drop] = []
        bad: list[tuple[str, DatasetError]] = []
        for index, where, raw, *problem in rows:
            with _place(where):
                try:
                    if problem:
                        raise BadRow(where, problem[0], "the row cannot be read")
                    row = row_of(entry, raw, where, index)
                except DatasetError as error:
                    bad.append((where, error))
                    place = where.rpartition("/")[2]
                    reason = error.reason if isinstance(error, BadRow) else "malformed"
                    quarantine = (
                        {"place": place, "columns": raw} if policy == "quarantine" else None
                    )
                    detail = str(error).replace(where, place)
                    drop = Drop(index, f"bad row: {reason}", detail, quarantine=quarantine)
                    candidates.append(drop)
                    continue
                candidates.append(self._finish(entry, "", row))
        if bad and policy == "stop":
            message = str(bad[0][1])
            if len(bad) > 1:
                lines = ", ".join(where.rpartition(":")[2] for where, _ in bad[1:6])
                dots = ", ..." if len(bad) > 6 else ""
                message += (
                    f"; {len(bad) - 1} more of these {len(rows)} rows are bad (lines {lines}{dots})"
                )
            if isinstance(entry.source, RowSettings):
                message += (
                    "; fix the data, or leave such rows out with on_bad_row: drop or quarantine"
                )
            raise DatasetError(message)
        return candidates

    def _row(self, entry: Entry, split: str, index: int) -> Row | Drop:
        assert entry.spec.generate is not None
        seed = derive_seed(self._seed, "data", entry.name, split, index)
        made: Row | Drop = entry.spec.generate(entry, index, seed, self._memory)
        return made

    def _finish(self, entry: Entry, split: str, row: Row | Drop) -> Candidate | Drop:
        if isinstance(row, Drop):
            return row
        if entry.generated and (flaw := flaw_of_row(row)) is not None:
            return Drop(row.index, flaw.reason, flaw.detail, "posed", row.question)
        spec = VERIFIERS.get(entry.verifier or row.task.verifier)
        if (
            spec.is_environment
        ):  # it plays the items of another verifier whose references it accepts
            row = replace(row, task=replace(row.task, verifier=spec.name))
        if entry.verifier not in (None, row.task.verifier):
            raise DatasetError(
                f"entry '{entry.name}': its source makes rows for the verifier {row.task.verifier}, not for "
                f"{entry.verifier}; remove the key 'verifier'"
            )
        if entry.reference or spec.is_environment:
            row = replace(row, task=_merge_reference(entry, row.task))
        if row.gold is None and entry.generated and entry.verify_fraction > 0:
            return Drop(row.index, "no known answer", text=row.question)
        if (key := row.key) is not None and digest(key) in self._taken:
            # an item of a generated benchmark has the same parameters
            match = BenchmarkMatch(*self._taken[digest(key)], rule="parameters")
            reason, text = f"item of {match.benchmark}", row.question[:SHOWN]
            return Drop(row.index, reason, match.item, "decontamination", text, match)
        template = self._recipe.prompt_for(entry, row.task.verifier)
        prompt = template.format(question=row.question)
        if opening := opening_of(row.task):
            prompt = opening
            # items with the same opening differ by their references
            key = key or f"{row.question}\n{row.task.reference_json()}"
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
        if _LONG.search(reference):  # Python's default limit on integers is DIGITS digits
            try:
                json.loads(reference)
            except ValueError:
                return Drop(row.index, "an integer is too long")
        try:  # JSON may contain unpaired surrogates
            texts = [prompt, reference, metadata, row.answer]
            json.dumps(texts, ensure_ascii=False, default=plain).encode()
        except UnicodeEncodeError:
            return Drop(row.index, "not valid Unicode")
        profile = self._profile(entry, row)
        signature = None  # None for a short text, which has no near-duplicates
        compared = entry.compare_texts or not (entry.generated or opening)
        if compared and profile is not None and len(profile.exact.words) >= LEAST_WORDS:
            packed = profile.exact.signature.astype("<u4").tobytes()
            signature = base64.b64encode(packed).decode("ascii")
        response, task = self._gold(entry, split, row)
        matches = self._matches(entry, profile)
        keeps_variants = self._recipe.decontamination.variants == "keep"
        return Candidate(
            index=row.index,
            domain=entry.domain,
            prompt=prompt,
            verifier=row.task.verifier,
            reference=reference,
            source=entry.spec.source_name(entry.source),
            licence=str(row.metadata.get("licence", entry.licence)),
            metadata=metadata,
            key=digest(key if key is not None else normalised(row.question)),
            prompt_key=prompt_key([{"content": key if opening and key else prompt}]),
            signature=signature,
            answer=row.answer,
            gold=response,
            box=None if task is None else task.reference_json(),
            checked=self._is_checked(entry, split, row),
            consistent=row.consistent,
            independent=row.independent,
            matches=tuple(
                BenchmarkMatch(
                    match.benchmark,
                    match.item_id,
                    match.rule,
                    round(float(match.score), 4),
                    match.view,
                    match.numbers,
                    match.shared,
                )
                for match in matches[:MAX_PAIRS]
            ),
            variant=keeps_variants and all(match.numbers == "other" for match in matches),
        )

    def _gold(self, entry: Entry, split: str, row: Row) -> tuple[str | None, Task | None]:
        """Return (gold response, task); the task runs all tests at once, or is None for the row's own task."""
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
        if self._benchmarks is None or profile is None:
            return []
        matches = self._benchmarks.matches(profile)
        if matches and entry.generated:
            matches = self._benchmarks.matches(profile, ignore=self._template(entry))
        return matches

    def _profile(self, entry: Entry, row: Row) -> Profile | None:
        if entry.generated and not entry.compare_texts and self._benchmarks is None:
            return None
        from prorl_datasets.text.hashing import Profile

        return Profile(row.question if row.core is None else row.core)

    def _template(self, entry: Entry) -> NDArray[Any]:
        if entry.name not in self._templates:
            from prorl_datasets.text.hashing import template_ngrams

            rows = [self._row(entry, "probe", index) for index in range(PROBES)]
            texts = [r.core or r.question for r in rows if isinstance(r, Row)]
            self._templates[entry.name] = template_ngrams(sorted(set(texts)))
        return self._templates[entry.name]


def _merge_reference(entry: Entry, task: Task) -> Task:
    try:
        return load_task(task.verifier, {**task.reference, **entry.reference})
    except TaskError as error:
        raise DatasetError(f"entry '{entry.name}': reference: {error}") from error


@contextmanager
def _place(where: str) -> Iterator[None]:
    """Add the row's position to the traceback of an unexpected exception."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        error.add_note(f"at {where}")
        raise


def flaw_of_row(row: Row) -> Flaw | None:
    """Return why a row is ill-posed, or None."""
    if not row.question.strip():
        return Flaw("impossible", "the question is empty")
    gold = (row.gold or "").strip()
    if len(gold) >= LEAST_GOLD and gold in row.question:
        return Flaw("trivial", "the question contains the gold response")
    choices = row.task.reference.get("choices")
    if isinstance(choices, Sequence) and not isinstance(choices, str):
        return _options_flaw([str(choice) for choice in choices], str(row.task.reference["answer"]))
    return None


def _options_flaw(options: list[str], letter: str) -> Flaw | None:
    texts = [normalised(option) for option in options]
    if len(set(texts)) < len(texts):
        return Flaw("ambiguous", f"two options are alike: {options}")
    place = ord(letter[:1].upper()) - ord("A") if letter else -1
    if not 0 <= place < len(options):
        return Flaw("impossible", f"no option {letter!r}")
    right = _number(options[place])
    for at, option in enumerate(options):
        other = _number(option)
        if at == place or right is None or other is None or right[1] != other[1]:
            continue
        coarse = max(_last_place(right[0]), _last_place(other[0]))
        if right[0].quantize(coarse, ROUND_HALF_UP) == other[0].quantize(coarse, ROUND_HALF_UP):
            return Flaw("ambiguous", f"{options[place]} and {option} are one number, rounded")
    return None


def _number(option: str) -> tuple[Decimal, str] | None:
    read = _NUMBER.fullmatch(option.strip())
    if read is None:
        return None
    number, power, unit = read.groups()
    return Decimal(f"{number}e{power or 0}"), unit.strip()


def _last_place(number: Decimal) -> Decimal:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # the number was written in digits
    return Decimal(1).scaleb(exponent)


def make_rows(order: dict[str, Any], requests: int, replies: int) -> None:
    """Answer requests of the pipe ``requests`` on the pipe ``replies`` until the build closes it."""
    os.setsid()  # Linux shares CPU time between sessions
    os.chdir(order["folder"])  # some reasoning-gym tasks run programs that write files
    reader = Reader(requests)
    maker: RowMaker | None = None
    reply: Any
    made: dict[str, Any] = {}
    while True:
        try:
            body = reader.receive_body()
        except FrameError:
            return
        with long_integers():  # published code tests contain long integers, which adapters drop
            request = json.loads(body)
        if "recipe" in request:
            maker, reply = _maker(request), True
        elif "check" in request:
            reply = [m for t, c in request["check"] for m in rg_entries.mistakes(t, c)]
        elif "entries" in request:
            task, config, seeds = request["entries"]
            reply = [rg_entries.reply(made, task, config, seed) for seed in seeds]
        else:
            assert maker is not None
            try:
                if "generate" in request:
                    candidates = maker.generate(*request["generate"])
                else:
                    candidates = maker.convert(*request["rows"])
                reply = {"candidates": [encode(candidate) for candidate in candidates]}
            except UserError as error:
                reply = {"user_error": str(error)}
        write(replies, frame(json.dumps(reply, default=plain).encode()))


def _maker(request: dict[str, Any]) -> RowMaker:
    index = None
    if request["index"] is not None:
        from prorl_datasets.text.index import BenchmarkIndex

        index = BenchmarkIndex.load(Path(request["index"]))
    taken: dict[str, tuple[str, str]] = {}
    if request["taken"] is not None:
        for entry in Path(request["taken"]).read_text(encoding="utf-8").splitlines():
            key, benchmark, item = entry.split(" ")
            taken[key] = (benchmark, item)
    return RowMaker(Recipe.model_validate(request["recipe"]), request["seed"], index, taken)


def main() -> None:
    serve_forks(dict, make_rows)
