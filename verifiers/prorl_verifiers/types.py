"""The words of the verifiers: Task and response in, Verdict out.

Holds no scoring. A wrong answer is reward 0; a broken verifier or sandbox is ``infra_error`` and has no
reward at all; a malformed task is a TaskError when it is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from prorl_common import UserError

VerdictStatus = Literal["scored", "unparsable", "timeout", "infra_error"]
VERIFIER_NAMES = ("math", "stem", "code", "logic", "instruction")


class TaskError(UserError):
    """The task itself is malformed: unknown verifier, missing gold, empty test list, unknown id."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to check against. ``reference`` is JSON-serialisable and never pickled.

    Shapes: ``math`` {"answer"} · ``stem`` {"answer", "choices"?, "unit"?, "tolerance"?} ·
    ``code`` {"tests": [...], "language"?, "entry_point"?, "limits"?, "judge"?} ·
    ``logic`` {"dataset", "entry"} · ``instruction`` {"instruction_id_list", "kwargs"}.
    """

    verifier: str
    reference: Mapping[str, Any]

    def reference_json(self) -> str:
        """Return the reference as canonical JSON (sorted keys, no spaces)."""
        return json.dumps(self.reference, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verifier found. ``reward`` is in [0, 1], or None when status is ``infra_error``."""

    reward: float | None
    status: VerdictStatus
    reason: str
    extracted: str | None = None
    isolation: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_infra_error(self) -> bool:
        """True when the verdict says nothing about the answer and must be masked out of its group."""
        return self.status == "infra_error"
