"""Groups for the logic verifier's audit, from generated reasoning-gym entries or from a file of tasks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import ServiceError, read_jsonl
from prorl_verifiers.audit_shape import Group, Item
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import TaskError


def logic_groups(datasets: Sequence[str], items: int, seed: int) -> Iterator[Group]:
    """Yield one group per dataset, with ``items`` entries that reasoning-gym generates in a child process.

    Raises ServiceError if the child process fails.
    """
    from prorl_verifiers.logic.witness import right_answer

    request = json.dumps({"datasets": list(datasets), "items": items, "seed": seed})
    with tempfile.TemporaryFile("w+") as log:
        # A child process, because reasoning-gym reseeds the global random generators.
        child = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", __name__, request],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
            start_new_session=True,  # the parent handles Ctrl-C
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        assert child.stdout is not None
        try:
            for line in child.stdout:
                row = json.loads(line)
                dataset, made = row["dataset"], []
                for at, entry in enumerate(row["entries"], start=1):
                    task = load_task("logic", {"dataset": dataset, "entry": entry})
                    gold = None if entry.get("answer") is None else str(entry["answer"])
                    question = str(entry.get("question", ""))
                    right = right_answer(dataset, entry)
                    made.append(Item(f"{dataset} {at}", task, question, gold, right=right))
                yield Group(f"logic: {dataset}", "logic", made)
            if child.wait() != 0:
                log.seek(0)
                words = log.read().strip().splitlines()[-1:] or ["no message"]
                raise ServiceError(f"reasoning-gym failed to generate entries: {words[0][:300]}")
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


def file_groups(path: Path) -> list[Group]:
    """Return the tasks in a file of {"id", "task", "question"?} rows, grouped by verifier and logic dataset.

    Raises TaskError for an empty file or an invalid row.
    """
    grouped: dict[tuple[str, str], list[Item]] = {}
    for number, row in read_jsonl(path):
        try:
            task = row.get("task")
            if (
                "id" not in row
                or not isinstance(task, dict)
                or not {"verifier", "reference"} <= set(task)
            ):
                raise TaskError(
                    'a row must be {"id", "task": {"verifier", "reference"}, "question"?}'
                )
            loaded = load_task(str(task["verifier"]), task["reference"])
            reference = loaded.reference
            entry = reference.get("entry")
            entry_question = entry.get("question") if isinstance(entry, Mapping) else None
            question = row.get("question") or entry_question or ""
            if not isinstance(question, str):
                raise TaskError("'question' must be a string")
            item = Item(
                str(row["id"]),
                loaded,
                question,
                VERIFIERS.get(loaded.verifier).data.answer(reference),
            )
        except TaskError as error:
            raise TaskError(f"{path}:{number}: {error}") from error
        part = str(item.task.reference.get("dataset", path.name))
        grouped.setdefault((item.task.verifier, part), []).append(item)
    if not grouped:
        raise TaskError(f"{path} is empty: write one task per line")
    return [
        Group(f"{verifier}: {part}", verifier, items) for (verifier, part), items in grouped.items()
    ]


def plain(value: Any) -> Any:
    """Convert a numpy number, time or enum to a JSON value."""
    if hasattr(value, "item"):
        return value.item()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def main() -> None:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from reasoning_gym.factory import create_dataset

    request = json.loads(sys.argv[1])
    for name in request["datasets"]:
        dataset = create_dataset(name, size=request["items"], seed=request["seed"])
        entries = [dataset[at] for at in range(request["items"])]
        row = {"dataset": name, "entries": entries}
        print(json.dumps(row, default=plain), file=out, flush=True)


if __name__ == "__main__":
    main()
