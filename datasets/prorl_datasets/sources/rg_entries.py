"""Makes reasoning-gym entries as plain JSON values, in a child process with a fixed hash seed."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from typing import Any

from prorl_common import nearest
from prorl_verifiers.logic.generated import plain

BUILT_WITH_SEED = ("acre", "gsm_symbolic", "list_functions", "composite")
"""Tasks that draw their items when the dataset is created; other datasets are reused with new seeds."""
RUNS_PROGRAMS = ("codeio",)
"""Tasks whose items come from stored programs; some of these use unseeded randomness."""


def reply(made: dict[str, Any], task: str, config: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return {"entry": ...}, or {"error": text} if generation failed."""
    try:
        entry = make_entry(made, task, config, seed)
        again = make_entry(made, task, config, seed) if task in RUNS_PROGRAMS else entry
    except (ValueError, TypeError, KeyError, IndexError, AssertionError, ArithmeticError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    except RuntimeError as error:  # the generator gave up after its own retries
        return {"error": f"{type(error).__name__}: {error}"}
    text = json.dumps({"entry": entry}, default=plain)
    if again is not entry and json.dumps({"entry": again}, default=plain) != text:
        return {"error": "not reproducible: the task's program uses unseeded randomness"}
    plain_reply: dict[str, Any] = json.loads(text)
    return plain_reply


def make_entry(made: dict[str, Any], task: str, config: dict[str, Any], seed: int) -> Any:
    """Return the entry of a task for a 32-bit ``seed``; ``made`` caches datasets."""
    import numpy as np
    from reasoning_gym.factory import create_dataset

    random.seed(seed)
    np.random.seed(seed)
    key = json.dumps([task, config], sort_keys=True)
    if key not in made or task in BUILT_WITH_SEED:
        made[key] = create_dataset(task, size=1, seed=seed, **config)
    dataset = made[key]
    dataset.seed = seed
    dataset.config.seed = seed
    entry = dataset[0]
    metadata = entry["metadata"]
    if str(metadata.get("task_type", "")).startswith("time") and "start_time" in metadata:
        for name in ("start_time", "end_time"):  # time_intervals: remove today's date
            metadata[name] = str(metadata[name]).rpartition(" ")[2]
    return entry


def mistakes(task: str, config: dict[str, Any]) -> list[str]:
    from reasoning_gym.factory import DATASETS, create_dataset

    if task not in DATASETS:
        return [f"unknown reasoning-gym task '{task}'{nearest(task, DATASETS)}"]
    fields = [
        f.name for f in dataclasses.fields(DATASETS[task][1]) if f.name not in ("seed", "size")
    ]
    wrong = [
        f"{task}: unknown config key '{key}'{nearest(key, fields)}"
        for key in config
        if key not in fields
    ]
    if wrong:
        return wrong
    try:
        create_dataset(task, size=1, seed=0, **config)
    except (AssertionError, ValueError, TypeError) as error:
        return [f"{task}: bad config ({error or type(error).__name__})"]
    return []


CURRICULUM_LEVELS = 4
"""Maximum number of curriculum levels in a ladder; higher levels are for large models."""


def curriculum(task: str) -> dict[int, dict[str, Any]]:
    """Return the configuration of each level of a task's curriculum; level 0 is the easiest.

    Levels that the task rejects are omitted.
    """
    from reasoning_gym.coaching.attributes import RangeAttributeDefinition
    from reasoning_gym.coaching.base_curriculum import DefaultCurriculumContext, RangeAttributeMode
    from reasoning_gym.factory import create_curriculum, has_curriculum

    if not has_curriculum(task):
        return {}
    course, levels = create_curriculum(task), {}
    context = DefaultCurriculumContext(RangeAttributeMode.UPPER_BOUND)
    names: list[str] = []
    for attribute in course.attributes.values():
        if isinstance(attribute, RangeAttributeDefinition):
            names += (attribute.lower_field_name, attribute.upper_field_name)
        else:
            names.append(attribute.field_name)
    highest = max((len(a.levels) for a in course.attributes.values()), default=0)
    for level in range(min(highest, CURRICULUM_LEVELS)):
        course.set_global_level(level)
        configuration = course.generate_configuration(context=context)
        sizes = json.loads(json.dumps({n: getattr(configuration, n) for n in names}, default=plain))
        if not mistakes(task, sizes):
            levels[level] = sizes
    return levels


_NOTHING_ELSE = "Put nothing else into the final answer"
_START = r"((?:^|[.?!)]|\n(?:- |\d+\. )?)\s*)"
"""Matches the beginning of a sentence; quoted words and words to be sorted must stay unchanged."""
_REPLY = r"((?:Please )?(?:[Rr]eply|[Rr]espond|[Aa]nswer|[Rr]eturn|[Gg]ive|[Pp]rovide|[Ss]tate)(?: with)?)"
_ALONE = r"(?:only|just)"
_CHANGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<=[.?)])(?=(?:Return|Do not) )"), " "),
    (re.compile(rf"{_START}(?:Only|Just) {_REPLY} "), r"\1Please \2 "),
    (re.compile(rf"{_START}{_REPLY} {_ALONE} "), r"\1\2 "),
    (
        re.compile(rf"\b([Yy]our (?:final answer|output) should) (?:be {_ALONE}|{_ALONE} be) "),
        r"\1 be ",
    ),
    (re.compile(r", only respond with one of them\b"), ", respond with one of them"),
    (re.compile(r"\bDo not include any other text or formatting\b"), _NOTHING_ELSE),
    (re.compile(r", no other text or formatting\b"), ""),
    (
        re.compile(r"\bYou may return all possible palindrome partitioning in any order\b"),
        "Return all possible palindrome partitions, in any order",
    ),
    (re.compile(r"\bunsramble\b"), "unscramble"),
    (re.compile(r"\bYour task is determine\b"), "Your task is to determine"),
    (re.compile(r"\bProvide you answer\b"), "Provide your answer"),
    (re.compile(r" \(rounding down when the 5th decimal place is 5 or greater\)"), ""),
)
"""Patterns and their replacements, applied in order."""


def reworded(question: str) -> str:
    """Return a question without known typos and without demands to write only the answer."""
    for pattern, instead in _CHANGES:
        question = pattern.sub(instead, question)
    return question
