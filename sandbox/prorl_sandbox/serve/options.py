"""How the sandbox service is started: one dataclass, and what must hold of it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from prorl_common import UserError
from prorl_common.serving.options import ListenOptions, check_listening
from prorl_sandbox.run.session import MOST_SESSIONS

_LEAST_SLOTS = 2  # a check needs two boxes at once


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions(ListenOptions):
    """``slots`` programs run at once; 0: one for each processor, at least two. ``sessions`` may be open
    beside them."""

    port: int = 8422
    queue: int = 1000
    backend: str = "local"
    slots: int = 0
    sessions: int = MOST_SESSIONS
    allow_weak: bool = False

    @property
    def boxes(self) -> int:
        """How many programs run at once."""
        return self.slots or max(_LEAST_SLOTS, len(os.sched_getaffinity(0)))


def check_options(options: ServeOptions) -> None:
    """Raise UserError where the service would be open to others without a token, or could not work."""
    if options.backend.partition(":")[0] == "remote":
        raise UserError("--backend remote would only pass programs on: use local or docker here")
    if options.slots and options.slots < _LEAST_SLOTS:
        raise UserError(f"--slots must be at least {_LEAST_SLOTS}: a check takes two at once")
    if options.sessions < 1:
        raise UserError("--sessions must be at least 1")
    check_listening(options)
