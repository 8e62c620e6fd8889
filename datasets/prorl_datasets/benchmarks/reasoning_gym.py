"""Generated benchmarks: pinned items of reasoning-gym tasks, the same on every machine.

The seed of item i of a task (and rung) is derived from ("benchmark", task, rung, i), so it shares
nothing with the seeds of training and validation data. Leaves out: the generators, and scoring.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from prorl_common import derive_seed
from prorl_datasets.benchmarks.catalogue import BenchmarkSpec, Generated
from prorl_datasets.benchmarks.items import BenchmarkItem, Converted, LeftOut
from prorl_datasets.rows.client import RowClient
from prorl_datasets.sources.reasoning_gym import gold_answer

_SHOWN = 120


def benchmark_seeds(name: str, task: str, rung: int | None = None) -> list[int]:
    """Return the 32-bit seeds that benchmark ``name`` gives to a task (and rung), in item order."""
    from prorl_datasets.benchmarks.catalogue import load_spec

    made = load_spec(name).generated
    return [] if made is None else _seeds(made, name, task, rung)


def _seeds(made: Generated, name: str, task: str, rung: int | None) -> list[int]:
    parts: tuple[str | int, ...] = (name, task) if rung is None else (name, task, rung)
    return [derive_seed(made.seed, "benchmark", *parts, i) & 0xFFFF_FFFF for i in range(made.count)]


def generated_items(
    spec: BenchmarkSpec, limit: int | None = None, worker: RowClient | None = None
) -> Iterator[Converted]:
    """Yield the items in order of task, rung and number; at most ``limit`` of each task (rung).

    ``worker`` is used and left open; without one a process is started and ended.
    """
    made = spec.generated
    assert made is not None
    used = worker or RowClient()
    rungs: list[int | None] = [*made.rungs] or [None]
    try:
        for task in made.tasks:
            for rung in rungs:
                config = {**made.configs.get(task, {}), **dict.fromkeys(made.ladder, rung)}
                seeds = _seeds(made, spec.name, task, rung)[:limit]
                for number, reply in enumerate(used.entries(task, config, seeds)):
                    key = f"{task}-{number}" if rung is None else f"{task}-{rung}-{number}"
                    if "error" in reply:
                        yield LeftOut(key, f"generator failed: {reply['error']:.{_SHOWN}}")
                        continue
                    entry = reply["entry"]
                    answer = gold_answer(task, entry)
                    metadata: dict[str, Any] = {"family": task, "config": config}
                    if rung is not None:
                        metadata["rung"] = rung
                    yield BenchmarkItem(
                        str(entry["question"]).strip(),
                        {"dataset": task, "entry": json.loads(json.dumps(entry))},
                        key=key,
                        gold=None if answer is None else f"<answer>{answer}</answer>",
                        metadata=metadata,
                    )
    finally:
        if worker is None:
            used.close()
