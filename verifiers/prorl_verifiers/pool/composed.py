"""Batches with composed tasks, each part of which is scored as a separate item."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from prorl_common import what_failed
from prorl_verifiers.findings import Finding, bounded, noting
from prorl_verifiers.parts import parts_of, without_modes
from prorl_verifiers.pool.protocol import MAX_EXTRACTED, read_reply, result_frame
from prorl_verifiers.pool.queue import Batch
from prorl_verifiers.pool.stats import Counters
from prorl_verifiers.spec import VERIFIERS, plugin_label
from prorl_verifiers.types import Item, OnDone, Task, TaskPart, Verdict, VerdictStatus

_STATUSES: Sequence[VerdictStatus] = ("scored", "timeout", "unparsable")
"""Possible statuses of a composed verdict; the first one that a part has is chosen."""


class ComposedBatch(Batch):
    """A batch that scores each part of a composed task as a separate item. Raises TaskError."""

    def __init__(
        self,
        items: Sequence[Item],
        on_item: OnDone | None = None,
        explain: bool = False,
        *,
        counters: Counters,
    ) -> None:
        super().__init__(items, on_item, explain)  # one verdict for each of the caller's items
        self._places: list[tuple[int, int]] = []
        """Per part: the index of the caller's item, and of the part within it."""
        self._wholes: dict[int, _Whole] = {}
        flat: list[Item] = []
        for index, (response, task) in enumerate(items):
            if VERIFIERS.get(task.verifier).compose is not None:
                whole = self._wholes[index] = _Whole(response, task, counters)
                flat += [(response, part.task) for part in whole.parts]
                self._places += [(index, at) for at in range(len(whole.parts))]
            else:
                flat.append((response, task))
                self._places.append((index, 0))
        self.items = flat

    def deliver(self, index: int, verdict: Verdict) -> None:
        at, place = self._places[index]
        whole = self._wholes.get(at)
        if whole is None:
            super().deliver(at, verdict)
        elif whole.add(place, verdict):
            super().deliver(at, whole.verdict(self.explain))


class _Whole:
    def __init__(self, response: str, task: Task, counters: Counters) -> None:
        self._response, self._task, self._counters = response, task, counters
        self.parts: Sequence[TaskPart] = parts_of(task)
        self._verdicts: dict[int, Verdict] = {}
        self._lock = threading.Lock()

    def add(self, place: int, verdict: Verdict) -> bool:
        with self._lock:
            self._verdicts[place] = verdict
            return len(self._verdicts) == len(self.parts)

    def verdict(self, explain: bool) -> Verdict:
        verdicts = {part.name: self._verdicts[at] for at, part in enumerate(self.parts)}
        with noting(explain) as notes:
            verdict = put_together(self._task, verdicts, self._response, self._counters)
        if not explain:
            return verdict
        parts = [
            Finding(
                f"{part.name} ({part.task.verifier})",
                one.outcome,
                (("reward", str(one.reward)), ("status", one.status), ("reason", one.reason)),
                parts=one.explained(),
            )
            for part, one in zip(self.parts, verdicts.values(), strict=True)
        ]
        whole = Finding("parts", verdict.outcome, (("reason", verdict.reason),), parts=tuple(parts))
        return replace(verdict, findings=bounded([whole, *notes]))


def put_together(
    task: Task,
    verdicts: dict[str, Verdict],
    response: str = "",
    counters: Counters | None = None,
) -> Verdict:
    """Combine the verdicts of a task's parts into the task's verdict.

    ``verdicts`` maps part names to verdicts. If a part is ``infra_error``, so is the task.
    """
    metrics: dict[str, float | str] = {}
    for name, verdict in verdicts.items():
        if verdict.reward is not None:
            metrics[f"part.{name}"] = verdict.reward
        metrics |= {f"part.{name}.{key}": value for key, value in verdict.metrics.items()}
    label = plugin_label(VERIFIERS.origin(task.verifier))
    if label is not None:
        metrics["plugin"] = label
    isolation = ", ".join(sorted({v.isolation for v in verdicts.values() if v.isolation}))
    whole = _combine(task, verdicts, isolation, response, counters or Counters())
    texts = (v.extracted for v in (whole, *verdicts.values()) if v.extracted is not None)
    return replace(
        whole,
        extracted=next(texts, None),
        metrics={**metrics, **whole.metrics},
        seconds=sum(v.seconds for v in verdicts.values()),
    )


def _combine(
    task: Task, verdicts: dict[str, Verdict], isolation: str, response: str, counters: Counters
) -> Verdict:
    # Otherwise an outage would bias rewards downwards.
    missing = [f"part {n}: {v.reason}" for n, v in verdicts.items() if v.is_infra_error]
    if missing:
        reason = "; ".join(missing)[:MAX_EXTRACTED]
        return Verdict(None, "infra_error", reason, isolation=isolation)
    verdict = _combined(task, verdicts, isolation)
    if verdict.is_infra_error:
        right = {n: replace(v, reward=1.0, status="scored") for n, v in verdicts.items()}
        if not _combined(task, right, isolation).is_infra_error:
            return counters.blame(response, task, verdict)
    if verdict.status != "scored":
        return verdict
    of_parts = {v.status for v in verdicts.values()}
    return replace(verdict, status=next(s for s in _STATUSES if s in of_parts))


def _combined(task: Task, verdicts: dict[str, Verdict], isolation: str) -> Verdict:
    compose = VERIFIERS.get(task.verifier).compose
    assert compose is not None
    try:
        frame = result_frame(compose.combine(without_modes(task.reference), verdicts))
    except Exception as error:  # noqa: BLE001 - the caller finds out whether the answer is to blame
        frame = {"bug": what_failed(error)}
    return read_reply(frame, isolation)[0]
