"""Turn (response, task) into a verdict that a program decided and anyone can check again."""

from prorl_verifiers.explaining import Explanation, explain
from prorl_verifiers.findings import Finding, note
from prorl_verifiers.libraries import load_library
from prorl_verifiers.logic.spec import logic_datasets
from prorl_verifiers.parts import runs_programs, tasks_in
from prorl_verifiers.pool.aio import AsyncVerifierPool, PoolFullError
from prorl_verifiers.pool.batch import PoolClosedError
from prorl_verifiers.pool.core import WorkerOptions
from prorl_verifiers.pool.stats import PoolStats
from prorl_verifiers.pool.verifier_pool import VerifierPool, verify
from prorl_verifiers.replay import Replay, replay_run
from prorl_verifiers.rows import FileItem, as_test_case, read_items, verdict_row
from prorl_verifiers.spec import (
    VERIFIERS,
    ByService,
    Canary,
    Composition,
    VerifierSpec,
    modes_for,
)
from prorl_verifiers.tasks import (
    check_modes,
    default_backend,
    load_task,
    no_isolation,
    parse_modes,
    part_records,
    renewed_records,
    services_of,
    with_mode,
)
from prorl_verifiers.types import (
    Score,
    Task,
    TaskError,
    TaskPart,
    Verdict,
    VerdictStatus,
    unparsable,
)

__all__ = [
    "VERIFIERS",
    "AsyncVerifierPool",
    "ByService",
    "Canary",
    "Composition",
    "Explanation",
    "FileItem",
    "Finding",
    "PoolClosedError",
    "PoolFullError",
    "PoolStats",
    "Replay",
    "Score",
    "Task",
    "TaskError",
    "TaskPart",
    "Verdict",
    "VerdictStatus",
    "VerifierPool",
    "VerifierSpec",
    "WorkerOptions",
    "as_test_case",
    "check_modes",
    "default_backend",
    "explain",
    "load_library",
    "load_task",
    "logic_datasets",
    "modes_for",
    "no_isolation",
    "note",
    "parse_modes",
    "part_records",
    "read_items",
    "renewed_records",
    "replay_run",
    "runs_programs",
    "services_of",
    "tasks_in",
    "unparsable",
    "verdict_row",
    "verify",
    "with_mode",
]
