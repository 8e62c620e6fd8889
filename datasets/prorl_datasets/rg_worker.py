"""A child process that makes reasoning-gym entries: JSON lines in on stdin, JSON lines out on
stdout.

A process of its own because four tasks depend on the hash seed of the interpreter
(isomorphic_strings, polynomial_multiplication, ransom_note, word_ladder) and one reseeds numpy's
global generator; the parent starts it with PYTHONHASHSEED=0. Requests: {"check": [[task, config],
...]} answers one line with a list of mistakes; {"task", "config", "seeds"} answers one line a seed,
{"entry"} or {"error"}. Leaves out scoring.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from typing import Any

from prorl_common import nearest

BUILT_WITH_SEED = ("acre", "gsm_symbolic", "list_functions", "composite")
"""Tasks that draw their items when constructed; the others take a new seed on a live object."""


def main() -> None:
    """Answer requests until stdin closes. Prints of the library go to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    made: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "check" in request:
            print(json.dumps([m for t, c in request["check"] for m in mistakes(t, c)]), file=out)
        else:
            for seed in request["seeds"]:
                print(_answer(made, request["task"], request["config"], seed), file=out)
        out.flush()


def _answer(made: dict[str, Any], task: str, config: dict[str, Any], seed: int) -> str:
    try:
        entry = make_entry(made, task, config, seed)
    except (ValueError, TypeError, KeyError, IndexError, AssertionError, ArithmeticError) as error:
        return json.dumps({"error": f"{type(error).__name__}: {error}"})
    except RuntimeError as error:  # a generator that gave up after its own retries
        return json.dumps({"error": f"{type(error).__name__}: {error}"})
    return json.dumps({"entry": entry}, default=_plain, ensure_ascii=True)


def make_entry(made: dict[str, Any], task: str, config: dict[str, Any], seed: int) -> Any:
    """Return the entry of ``task`` for a 32-bit ``seed``; ``made`` keeps live objects between
    calls.
    """
    from reasoning_gym.factory import create_dataset

    key = json.dumps([task, config], sort_keys=True)
    if key not in made or task in BUILT_WITH_SEED:
        made[key] = create_dataset(task, size=1, seed=seed, **config)
    dataset = made[key]
    dataset.seed = seed
    dataset.config.seed = seed
    return dataset[0]


def mistakes(task: str, config: dict[str, Any]) -> list[str]:
    """Return what is wrong with a task name and its configuration, nearest names offered."""
    from reasoning_gym.factory import DATASETS, create_dataset

    if task not in DATASETS:
        return [f"unknown reasoning-gym task '{task}'{nearest(task, DATASETS)}"]
    known = [
        f.name for f in dataclasses.fields(DATASETS[task][1]) if f.name not in ("seed", "size")
    ]
    wrong = [
        f"{task}: unknown config key '{key}'{nearest(key, known)}"
        for key in config
        if key not in known
    ]
    if wrong:
        return wrong
    try:
        create_dataset(task, size=1, seed=0, **config)
    except (AssertionError, ValueError, TypeError) as error:
        return [f"{task}: bad config ({error or type(error).__name__})"]
    return []


def _plain(value: Any) -> Any:
    """Return a JSON value for what RG entries hold beside JSON: numpy numbers, times, enums."""
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)


if __name__ == "__main__":
    main()
