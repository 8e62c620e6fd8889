"""The reasoning_gym source: how an entry of it becomes a row.

Each item's seed is derived from (recipe seed, entry, split, index), cut to the 32 bits that
reasoning-gym takes, so items do not depend on order. Leaves out: scoring (the logic verifier's
work).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_datasets.recipe.parts import Entry, ReasoningGymSource
from prorl_datasets.rows.row import Drop, Row
from prorl_verifiers import Task


def gold_answer(task: str, entry: Mapping[str, Any]) -> str | None:
    """Return a right answer of a reasoning-gym entry, or None where none is known.

    Where the task stores none (or, as intermediate_integration at times, an integral left unevaluated),
    a solver finds one.
    """
    from prorl_verifiers.logic.witness import WITNESSES, by_parts, witness

    stored = entry["answer"]
    if task in WITNESSES and stored is None:
        return witness(task, entry)
    if task == "intermediate_integration" and "Integral(" in str(stored):
        return by_parts(entry) or str(stored)
    return None if stored is None else str(stored)


def row_of(entry: Entry, source: ReasoningGymSource, index: int, reply: Any) -> Row | Drop:
    """Return the row of a generator's reply; one that could not make an item is a Drop."""
    if "error" in reply:
        return Drop(index, "generator failed", reply["error"])
    made = reply["entry"]
    answer = gold_answer(source.task, made)
    metadata = {"family": source.task, "config": source.config}
    question = str(made["question"]).strip()
    key = item_key(source.task, made)
    if entry.domain == "math":
        if answer is None:
            return Drop(index, "no stored answer", source.task)
        text = answer.strip().strip("$")
        task = Task("math", {"answer": text})
        return Row(index, question, task, f"\\boxed{{{text}}}", text, metadata, key)
    task = Task("logic", {"dataset": source.task, "entry": made})
    gold = None if answer is None else f"<answer>{answer}</answer>"
    return Row(index, question, task, gold, answer, metadata, key)


def item_key(task: str, entry: Mapping[str, Any]) -> str:
    """Return what makes two reasoning-gym items the same problem: task and question, spacing and
    case aside.
    """
    return f"{task}\n{' '.join(str(entry['question']).lower().split())}"
