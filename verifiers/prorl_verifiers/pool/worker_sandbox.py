"""The sandbox for a verifier of others, in the worker that it runs in: the pool's process is asked for each run.

Leaves out the pool's side (``pool.worker_calls``). Imported by workers only, once a verifier runs programs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from prorl_sandbox.remote.asking import AskingSandbox, Submission, pack_asked, read_outcome
from prorl_sandbox.types import Outcome

Exchange = Callable[[dict[str, Any]], dict[str, Any]]
"""Sends a frame to the pool's process and returns its answer."""


class WorkerSandbox(AskingSandbox):
    """Implements ``Sandbox`` inside a worker. ``close`` does nothing: the pool keeps the sandbox."""

    def __init__(self, exchange: Exchange, isolation: str) -> None:
        self._exchange = exchange
        self.isolation = isolation

    def check_environment(self, name: str) -> None:
        """Do nothing: who asks for an environment that is not there hears it from ``run``."""

    def close(self) -> None:
        """Do nothing."""

    def _ask(self, submission: Submission) -> Generator[Outcome, None, None]:
        call: dict[str, Any] = {"submission": pack_asked(submission)}
        for _ in submission.cases:
            yield read_outcome(self._exchange({"event": "sandbox", **call}))
            call = {"submission": None}
