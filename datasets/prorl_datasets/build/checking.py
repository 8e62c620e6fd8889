"""Check a finished dataset again: file hashes, schema and tasks of every row, and its gold.

Leaves out: repairing, and looking at what the rows say (``inspection``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from prorl_common import Progress, UserError
from prorl_datasets.build.gold import Scorer, check_gold, open_scorer
from prorl_datasets.storage import MANIFEST, read_manifest, stream
from prorl_datasets.types import DatasetError, Sample

CHUNK = 256


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Result of ``verify_dataset``: ``failed`` holds (id, what the verifier said), ``malformed``
    (id, what is wrong with the row).
    """

    rows: int
    checked: int
    skipped_code: int
    without_gold: int
    failed: tuple[tuple[str, str], ...]
    malformed: tuple[tuple[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        """True when every row is well formed and every gold that was checked got full marks."""
        return not self.failed and not self.malformed


@dataclass(slots=True)
class _Check:
    isolated: bool
    rows: int = 0
    checked: int = 0
    skipped_code: int = 0
    without_gold: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    malformed: list[tuple[str, str]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)

    def admit(self, sample: Sample) -> bool:
        """Check a row's form; return whether its gold can be run."""
        self.rows += 1
        if (problem := self._problem(sample)) is not None:
            self.malformed.append((sample.id, problem))
            return False
        if sample.domain == "code" and not self.isolated:
            self.skipped_code += 1
            return False
        if not isinstance(sample.metadata.get("gold_response"), str):
            self.without_gold += 1
            return False
        return True

    def _problem(self, sample: Sample) -> str | None:
        from prorl_verifiers import load_task

        if sample.id in self.ids:
            return "its id occurs twice"
        self.ids.add(sample.id)
        if sample.gold_check not in ("verified", "self-consistent", "none"):
            return f"unknown gold_check '{sample.gold_check}'"
        if not any(message.get("content") for message in sample.prompt):
            return "its prompt is empty"
        try:
            load_task(sample.task.verifier, dict(sample.task.reference))
        except UserError as error:
            return str(error)
        return None


def verify_dataset(
    path: str | Path,
    *,
    progress: Progress,
    isolated: bool = True,
    workers: int = 2,
    scorer: Scorer | None = None,
) -> VerifyReport:
    """Check the hashes and every row, then run every gold response through its verifier again.

    Rows that were kept as ``self-consistent`` are run too, if they have a gold response. Where
    ``isolated`` is false code rows are skipped and counted. Raises DatasetError (missing, corrupt,
    hashes), ServiceError (verifiers broke).
    """
    path = Path(path)
    check = _Check(isolated)
    with ExitStack() as stack:
        scorer = stack.enter_context(open_scorer(workers)) if scorer is None else scorer
        progress.start("verifying", _rows(path))
        for chunk in _chunks(stream(path)):
            ready = [sample for sample in chunk if check.admit(sample)]
            _check_golds(check, scorer, ready)
            wrong = len(check.failed) + len(check.malformed)
            progress.advance(len(chunk), failed=str(wrong))
        progress.finish()
    if not check.rows:
        raise DatasetError(f"{path} holds no samples; build the dataset again")
    return VerifyReport(
        rows=check.rows,
        checked=check.checked,
        skipped_code=check.skipped_code,
        without_gold=check.without_gold,
        failed=tuple(check.failed),
        malformed=tuple(check.malformed),
    )


def _check_golds(check: _Check, scorer: Scorer, ready: Sequence[Sample]) -> None:
    results = check_gold(scorer, [(s.metadata["gold_response"], s.task) for s in ready])
    pairs = zip(ready, results, strict=True)
    check.failed += [(s.id, f"{r.reason} ({r.detail})") for s, r in pairs if not r.accepted]
    check.checked += len(ready)


def _chunks(samples: Iterator[Sample]) -> Iterator[list[Sample]]:
    while chunk := list(islice(samples, CHUNK)):
        yield chunk


def _rows(path: Path) -> int | None:
    """Return how many rows the manifest promises, None where there is none."""
    if not (path / MANIFEST).is_file():
        return None
    files = read_manifest(path)["files"].items()
    return sum(int(f["rows"]) for name, f in files if name.endswith(".parquet"))
