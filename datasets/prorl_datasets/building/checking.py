"""Check a finished dataset again: file hashes, schema and tasks of every row, and its gold."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from prorl_common import Progress, UserError
from prorl_datasets.building.gold import Scorer, check_gold, open_scorer
from prorl_datasets.storage import MANIFEST, read_manifest, stream
from prorl_datasets.types import DatasetError, Sample
from prorl_verifiers import load_task, runs_programs

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
        if runs_programs(sample.task) and not self.isolated:
            self.skipped_code += 1
            return False
        if not isinstance(sample.metadata.get("gold_response"), str):
            self.without_gold += 1
            return False
        return True

    def _problem(self, sample: Sample) -> str | None:
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
    ``isolated`` is false the rows of verifiers that run programs are skipped and counted. Raises DatasetError (missing, corrupt,
    hashes), ServiceError (verifiers broke).
    """
    path = Path(path)
    check = _Check(isolated)
    promised = None
    if (path / MANIFEST).is_file():
        files = read_manifest(path)["files"].items()
        promised = sum(int(f["rows"]) for name, f in files if name.endswith(".parquet"))
    with ExitStack() as stack:
        scorer = stack.enter_context(open_scorer(workers)) if scorer is None else scorer
        progress.start("verifying", promised)
        samples = stream(path)
        while chunk := list(islice(samples, CHUNK)):
            ready = [sample for sample in chunk if check.admit(sample)]
            golds = [(s.metadata["gold_response"], s.task) for s in ready]
            for s, result in zip(ready, check_gold(scorer, golds), strict=True):
                if not result.accepted:
                    check.failed.append((s.id, f"{result.reason} ({result.detail})"))
            check.checked += len(ready)
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
