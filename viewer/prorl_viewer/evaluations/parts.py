"""Reads the problems, counts and answers of one evaluation folder."""

from __future__ import annotations

import json
import os
import sys
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_evaluation.sampling.job import EVAL_FILE, PROBLEMS_FILE, EvalJob, job_of, problem_of
from prorl_evaluation.sampling.journal import (
    CURE,
    SAMPLE_FIELDS,
    SAMPLES_FILE,
    VERDICT_FIELDS,
    VERDICTS_FILE,
    Keys,
    Problem,
    SampleRecord,
    Types,
    VerdictRecord,
    fault,
    replaces,
    sample_of,
    verdict_of,
)
from prorl_evaluation.summary import counted
from prorl_evaluation.types import (
    RESULT_FILE,
    EvalResult,
    EvaluationError,
    Label,
    ProblemResult,
    load_result,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]


HEAD = b'{"key": "'
"""Start of the lines that prorl writes; other lines are parsed as JSON to find their key."""
DIGITS = 16
"""Number of hex digits of a key (of 32) in the index."""


class KeyedLines:
    """The lines of a JSON-lines file, found by key; each line must have ``fields``."""

    def __init__(self, path: Path, fields: Mapping[str, Types]) -> None:
        self.path, self.fields = path, fields
        self.without_key = 0
        self._file: tuple[int, int] | None = None
        self._read = 0
        self._heads, self._places = array("Q"), array("Q")
        self._index: tuple[Numbers, Numbers] | None = None
        self._lock = threading.Lock()

    def rows(self, keys: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the lines of each key, including new ones. Raises EvaluationError for a damaged line."""
        import numpy as np

        with self._lock:
            if not self._read_new():
                return {}
            heads, places = self._sorted()
        by_key: dict[str, list[dict[str, Any]]] = {}
        with self.path.open("rb") as file:
            for key in keys:
                head = np.uint64(int(key[:DIGITS], 16))
                first, last = (np.searchsorted(heads, head, side) for side in ("left", "right"))
                rows = [self._row(file, int(place)) for place in places[first:last]]
                if rows := [row for row in rows if row["key"] == key]:
                    by_key[key] = rows
        return by_key

    def _row(self, file: Any, place: int) -> dict[str, Any]:
        file.seek(place)
        try:
            row = json.loads(file.readline())
            wrong = fault(row, self.fields)
        except (ValueError, RecursionError) as error:
            wrong = f"not valid JSON ({' '.join(str(error).split())[:80]})"
        if wrong is not None:
            raise EvaluationError(f"{self.path}, byte {place}: {wrong}: {CURE}")
        assert isinstance(row, dict)
        return row

    def _read_new(self) -> bool:
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                identity = (stat.st_dev, stat.st_ino)
                if identity != self._file or stat.st_size < self._read:
                    self._file, self._read, self.without_key = identity, 0, 0
                    self._heads, self._places = array("Q"), array("Q")
                file.seek(self._read)
                for line in file:
                    if not line.endswith(b"\n"):  # still being written
                        break
                    if (head := _head(line)) is not None:
                        self._heads.append(head)
                        self._places.append(self._read)
                        self._index = None
                    elif line.strip():
                        self.without_key += 1
                    self._read += len(line)
        except FileNotFoundError:
            return False
        return True

    def _sorted(self) -> tuple[Numbers, Numbers]:
        import numpy as np

        if self._index is None:
            heads, places = np.array(self._heads, np.uint64), np.array(self._places, np.uint64)
            order = np.argsort(heads, kind="stable")
            self._index = heads[order], places[order]
        return self._index


def _head(line: bytes) -> int | None:
    """Return the first DIGITS hex digits of the key in a JSON line as a number, or None if it has no key."""
    try:
        if line.startswith(HEAD):
            digits = line[len(HEAD) : len(HEAD) + DIGITS].decode()
        else:
            digits = str(json.loads(line)["key"])[:DIGITS]
        return int.from_bytes(bytes.fromhex(digits), "big")
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


FILES = (EVAL_FILE, PROBLEMS_FILE, RESULT_FILE, SAMPLES_FILE, VERDICTS_FILE)
MOST_SAMPLES = 100_000
State = tuple[tuple[int, int, int], ...]
"""(inode, size, modification time) of each of FILES."""


@dataclass(frozen=True, slots=True)
class ListedProblem:
    """A problem as shown in lists; ``place`` is the byte offset of its line."""

    id: str
    domain: str
    verifier: str
    labels: Mapping[str, Label]
    prompt: str
    place: int


@dataclass(frozen=True, slots=True)
class Answer:
    """One sample with its verdict (None until it is scored)."""

    index: int
    sample: SampleRecord
    verdict: VerdictRecord | None


class Part:
    """A model's result folder, as read by the last ``refresh``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.job: EvalJob | None = None
        self.result: EvalResult | None = None
        self.listed: dict[str, ListedProblem] = {}
        self.problems: tuple[ProblemResult, ...] = ()
        self._state: State | None = None
        self._counting: Counting | None = None
        self._samples = KeyedLines(folder / SAMPLES_FILE, SAMPLE_FIELDS)
        self._verdicts = KeyedLines(folder / VERDICTS_FILE, VERDICT_FIELDS)
        self._lock = threading.Lock()

    def state(self) -> State:
        stats = []
        for name in FILES:
            try:
                stat = (self.folder / name).stat()
                stats.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
            except FileNotFoundError:
                stats.append((0, 0, 0))
        return tuple(stats)

    @property
    def finished(self) -> bool:
        """Whether there is a result that was made with the current settings."""
        if self.result is None:
            return False
        job = self.job
        requested = None if job is None else replace(job.settings, label="", dataset={})
        return job is None or requested == replace(self.result.settings, label="", dataset={})

    @property
    def label(self) -> str:
        described = self.job or self.result
        assert described is not None  # ``refresh`` has read one of them
        return described.label

    @property
    def n(self) -> int:
        described = self.job or self.result
        assert described is not None
        return described.settings.n

    @property
    def progress(self) -> tuple[int, int]:
        return sum(p.sampled for p in self.problems), self.n * len(self.problems)

    def refresh(self) -> None:
        """Read the files that changed. Raises EvaluationError for an invalid file."""
        with self._lock:
            state = self.state()
            if state == self._state:
                return
            before = self._state or ((-1, -1, -1),) * len(FILES)
            changed = {
                name for name, was, now in zip(FILES, before, state, strict=True) if was != now
            }
            if EVAL_FILE in changed:
                self.job = _read_job(self.folder)
                self._counting = None
            if PROBLEMS_FILE in changed:
                self.listed = {p.id: p for p in _read_problems(self.folder / PROBLEMS_FILE)}
                self._counting = None
            if RESULT_FILE in changed:
                if (self.folder / RESULT_FILE).is_file():
                    result = load_result(self.folder)
                    problems = tuple(replace(p, answers=None) for p in result.problems)
                    self.result = replace(result, problems=problems)
                else:
                    self.result = None
            if self.finished:
                assert self.result is not None
                self.problems, self._counting = self.result.problems, None
            elif self.job is not None:
                if self._counting is None:
                    self._counting = Counting(
                        self.folder, self.job, [self.problem(i) for i in self.listed]
                    )
                self.problems = self._counting.refresh()
            else:
                raise EvaluationError(
                    f"{self.folder} has neither {EVAL_FILE} nor {RESULT_FILE}: run its pass-at-k command again"
                )
            self._state = state

    def problem(self, problem: str) -> Problem:
        with (self.folder / PROBLEMS_FILE).open("rb") as file:
            file.seek(self.listed[problem].place)
            return problem_of(json.loads(file.readline()))

    def answers(self, problem: str, indices: Sequence[int] | None = None) -> list[Answer]:
        """Return a problem's samples, or those with ``indices``. Raises KeyError, EvaluationError."""
        if self.job is None or problem not in self.listed:
            raise KeyError(problem)
        keys, details = Keys(self.job.model_digest, self.job.settings), self.problem(problem)
        chosen = range(self.job.settings.n) if indices is None else indices
        by_index = {i: keys.key(details.id, details.prompt_sha256, i) for i in chosen}
        samples, verdicts = (
            self._samples.rows(by_index.values()),
            self._verdicts.rows(by_index.values()),
        )
        answers = []
        for index, key in by_index.items():
            sample: SampleRecord | None = None
            for row in samples.get(key, ()):
                if replaces(row, None if sample is None else sample.refused):
                    sample = sample_of(row)
            if sample is not None:
                judged = [
                    verdict_of(v) for v in verdicts.get(key, ()) if v["task"] == details.task_sha256
                ]
                # an infra error is scored again, so any other verdict takes precedence
                final = [v for v in judged if v.status != "infra_error"] or judged
                answers.append(Answer(index, sample, final[-1] if final else None))
        return answers

    @property
    def unreadable(self) -> int:
        return self._samples.without_key + self._verdicts.without_key


def _read_job(folder: Path) -> EvalJob | None:
    file = folder / EVAL_FILE
    if not file.is_file():
        return None
    try:
        job = job_of(json.loads(file.read_text(encoding="utf-8")))
        if job.settings.n > MOST_SAMPLES:
            raise ValueError(f"n is over {MOST_SAMPLES:,}, which is more than the page can show")
        return job
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EvaluationError(
            f"{file} is damaged ({error}): run its pass-at-k command again"
        ) from error


def _read_problems(file: Path) -> Iterator[ListedProblem]:
    if not file.is_file():
        return
    place = 0
    with file.open("rb") as lines:
        for line in lines:
            try:
                row = json.loads(line)
                prompt = "\n\n".join(str(m["content"]) for m in row["prompt"])
                yield ListedProblem(
                    row["id"], row["domain"], row["verifier"], row.get("labels", {}), prompt, place
                )
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise EvaluationError(
                    f"{file} is damaged ({error}): run its pass-at-k command again"
                ) from error
            place += len(line)


class Counting:
    """Counts the samples and verdicts of an unfinished evaluation while its files grow."""

    def __init__(self, folder: Path, job: EvalJob, problems: Sequence[Problem]) -> None:
        self._problems = {p.id: p for p in problems}
        self._files = [folder / SAMPLES_FILE, folder / VERDICTS_FILE]
        self._read = [0, 0]
        self._inodes = [0, 0]
        self._keys = Keys(job.model_digest, job.settings)
        self._n = job.settings.n
        self._samples: dict[str, SampleRecord] = {}
        self._verdicts: dict[tuple[str, str], VerdictRecord] = {}
        self._counts: dict[str, ProblemResult] = {p.id: counted(p, []) for p in problems}

    def refresh(self) -> tuple[ProblemResult, ...]:
        touched: set[str] = set()
        for row in self._added(0, SAMPLE_FIELDS):
            earlier = self._samples.get(row["key"])
            if replaces(row, None if earlier is None else earlier.refused):
                self._samples[row["key"]] = replace(
                    sample_of(row), text="", note="", sample_id=_one(row["sample_id"])
                )
                touched.add(row["sample_id"])
        for row in self._added(1, VERDICT_FIELDS):
            if (sample := self._samples.get(row["key"])) is None:
                continue
            verdict = replace(
                verdict_of(row), extracted=None, reason="", metrics={}, task=_one(row["task"])
            )
            old = self._verdicts.get((verdict.key, verdict.task))
            if verdict.status != "infra_error" or old is None or old.status == "infra_error":
                self._verdicts[verdict.key, verdict.task] = verdict
                touched.add(sample.sample_id)
        for name in touched & self._problems.keys():
            self._counts[name] = counted(self._problems[name], self._graded(self._problems[name]))
        return tuple(self._counts.values())

    def _graded(self, problem: Problem) -> list[tuple[SampleRecord, VerdictRecord]]:
        pairs = []
        for index in range(self._n):
            key = self._keys.key(problem.id, problem.prompt_sha256, index)
            sample, verdict = self._samples.get(key), self._verdicts.get((key, problem.task_sha256))
            if sample is not None and verdict is not None:
                pairs.append((sample, verdict))
        return pairs

    def _added(self, which: int, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            with self._files[which].open("rb") as file:
                inode = self._files[which].stat().st_ino
                if inode != self._inodes[which]:  # replaced, for example by a repair or regrading
                    self._inodes[which], self._read[which] = inode, 0
                file.seek(self._read[which])
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._read[which] += len(line)
                    try:
                        row = json.loads(line)
                    except (ValueError, RecursionError):
                        continue
                    if fault(row, fields) is None:
                        yield row
        except FileNotFoundError:
            return


def _one(text: str) -> str:
    return sys.intern(text)
