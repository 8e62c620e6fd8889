"""The pool's side of the sandbox that a verifier of others has in its worker: reads what is asked and runs it.

Frames from the worker: {"event": "sandbox", "submission": ... or null for the next answer of the last one};
the answers are those of ``prorl_sandbox.remote.asking``. Nothing that the worker asks for is believed: it
has read model text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prorl_sandbox import Limits, Sandbox

LONGEST_RUN = 600.0
"""Seconds that one item's programs may run together; waiting for a box and compiling do not count."""


class WorkerCalls:
    """Answers what the worker asks during one item."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._answers: Iterator[dict[str, Any]] = iter(())

    def __call__(self, call: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the next answer; a case may run for at most ``seconds``.

        Raises ValueError for what is no call.
        """
        from prorl_sandbox.remote.asking import answers_of_cases, pack_error, read_submission

        if set(call) != {"event", "submission"}:
            raise ValueError("a call is a submission, or null for the next answer")
        if call["submission"] is not None:
            asked = read_submission(call["submission"])
            self._answers = answers_of_cases(
                self._sandbox, replace(asked, limits=_bounded(asked.limits, seconds))
            )
        try:
            answer = next(self._answers, None)
        except Exception as error:  # noqa: BLE001 - the verifier gets it; the item ends as infra_error
            return pack_error(error)
        if answer is None:
            raise ValueError("there is no further answer")
        return answer


def _bounded(limits: Limits, seconds: float) -> Limits:
    from prorl_sandbox import Limits

    most = Limits(seconds, seconds, 8192, 65536, 256, 1024)
    names = [field.name for field in fields(Limits)]
    return Limits(**{name: min(getattr(limits, name), getattr(most, name)) for name in names})
