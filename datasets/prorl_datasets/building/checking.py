"""Checks a finished dataset again: hashes, tasks and gold responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from prorl_common import Progress, UserError
from prorl_datasets.building.gold import (
    PromptedRow,
    Scorer,
    Unpaid,
    check_gold,
    check_prompted,
    open_scorer,
)
from prorl_datasets.storage import MANIFEST, read_manifest, stream
from prorl_datasets.types import DatasetError, Sample
from prorl_verifiers import load_task, runs_programs

CHUNK = 256


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Result of ``verify_dataset``. ``failed`` and ``malformed`` contain (row id, reason)."""

    rows: int
    checked: int
    skipped_code: int
    without_gold: int
    failed: tuple[tuple[str, str], ...]
    malformed: tuple[tuple[str, str], ...] = ()
    unpaid: Mapping[str, Unpaid] = field(default_factory=dict)
    """Rows of each entry whose verifier rejects the right answer in the form that the prompt requests."""

    @property
    def ok(self) -> bool:
        """Whether every row is valid and every gold response got reward 1."""
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
    unpaid: dict[str, Unpaid] = field(default_factory=dict)

    def admit(self, sample: Sample) -> bool:
        self.rows += 1
        if (problem := self._problem(sample)) is not None:
            self.malformed.append((sample.id, problem))
            return False
        if runs_programs(sample.task) and not self.isolated:
            self.skipped_code += 1
            return False
        return True

    def score(self, scorer: Scorer, samples: list[Sample]) -> None:
        golds = {
            s.id: gold for s in samples if isinstance(gold := s.metadata.get("gold_response"), str)
        }
        checked = [sample for sample in samples if sample.id in golds]
        results = check_gold(scorer, [(golds[s.id], s.task) for s in checked])
        for s, result in zip(checked, results, strict=True):
            if not result.accepted:
                self.failed.append((s.id, f"{result.reason} ({result.detail})"))
        self.checked += len(checked)
        self.without_gold += len(samples) - len(checked)
        refused = {identity for identity, _ in self.failed}
        entries: dict[str, list[PromptedRow]] = {}
        for s in samples:
            if s.id not in refused:
                prompt = "\n".join(message["content"] for message in s.prompt)
                row = PromptedRow(s.id, prompt, golds.get(s.id), s.task)
                entries.setdefault(str(s.metadata.get("entry", s.source)), []).append(row)
        for entry, rows in entries.items():
            unpaid = check_prompted(scorer, rows)
            if unpaid.rows:
                self.unpaid.setdefault(entry, Unpaid()).add(unpaid.rows, unpaid.example)

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
    reward_servers: Sequence[str] = (),
    scorer: Scorer | None = None,
) -> VerifyReport:
    """Check the hashes and rows of a dataset, and score every gold response again.

    If ``isolated`` is False, rows whose verifiers run programs are skipped and counted. Raises DatasetError for missing
    or corrupt data, ServiceError if verifiers fail.
    """
    path = Path(path)
    check = _Check(isolated)
    promised = None
    if (path / MANIFEST).is_file():
        files = read_manifest(path)["files"].items()
        promised = sum(int(f["rows"]) for name, f in files if name.endswith(".parquet"))
    with ExitStack() as stack:
        scorer = (
            stack.enter_context(open_scorer(workers, reward_servers)) if scorer is None else scorer
        )
        progress.start("verifying", promised)
        samples = stream(path)
        while chunk := list(islice(samples, CHUNK)):
            check.score(scorer, [sample for sample in chunk if check.admit(sample)])
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
        unpaid=check.unpaid,
    )
