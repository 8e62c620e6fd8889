"""Scores responses to tasks with programs. Names are imported on first use."""

from typing import TYPE_CHECKING

from prorl_common.lazy import load_on_use

if TYPE_CHECKING:
    from prorl_verifiers.audit_shape import AuditShape, Mutation, Probe
    from prorl_verifiers.data_shape import DataShape
    from prorl_verifiers.environment import EnvironmentSpec
    from prorl_verifiers.findings import Finding, note
    from prorl_verifiers.libraries import load_library
    from prorl_verifiers.logic.spec import logic_datasets
    from prorl_verifiers.parts import runs_programs, tasks_in
    from prorl_verifiers.pool.pool import (
        VerifierPool,
        WorkerOptions,
        verify,
    )
    from prorl_verifiers.pool.queue import PoolClosedError
    from prorl_verifiers.pool.stats import PoolStats
    from prorl_verifiers.remote_pool import RemotePool, open_pool
    from prorl_verifiers.replay import Replay, replay_run, responses_of, score_conversations
    from prorl_verifiers.rows import (
        FileItem,
        as_test_case,
        explained_row,
        read_items,
        verdict_row,
    )
    from prorl_verifiers.spec import VERIFIERS, Canary, Composition, Needs, VerifierSpec, modes_for
    from prorl_verifiers.tasks import (
        check_modes,
        default_backend,
        load_task,
        no_isolation,
        parse_modes,
        part_records,
        renewed_records,
        with_mode,
    )
    from prorl_verifiers.types import (
        Score,
        Task,
        TaskError,
        TaskPart,
        Turn,
        Verdict,
        VerdictStatus,
        next_task,
        unparsable,
    )
else:
    __getattr__, __dir__ = load_on_use(__name__, __file__)

__all__ = [
    "VERIFIERS",
    "AuditShape",
    "Canary",
    "Composition",
    "DataShape",
    "EnvironmentSpec",
    "FileItem",
    "Finding",
    "Mutation",
    "Needs",
    "PoolClosedError",
    "PoolStats",
    "Probe",
    "RemotePool",
    "Replay",
    "Score",
    "Task",
    "TaskError",
    "TaskPart",
    "Turn",
    "Verdict",
    "VerdictStatus",
    "VerifierPool",
    "VerifierSpec",
    "WorkerOptions",
    "as_test_case",
    "check_modes",
    "default_backend",
    "explained_row",
    "load_library",
    "load_task",
    "logic_datasets",
    "modes_for",
    "next_task",
    "no_isolation",
    "note",
    "open_pool",
    "parse_modes",
    "part_records",
    "read_items",
    "renewed_records",
    "replay_run",
    "responses_of",
    "runs_programs",
    "score_conversations",
    "tasks_in",
    "unparsable",
    "verdict_row",
    "verify",
    "with_mode",
]
