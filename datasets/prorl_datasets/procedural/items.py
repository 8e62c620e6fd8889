"""What a procedural family is: a named generator of items, deterministic in (rng, level).

Holds no family. Families are plain data; ``prorl_datasets.procedural.families()`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from prorl_datasets.types import Domain
from prorl_verifiers import Task


@dataclass(frozen=True, slots=True)
class Item:
    """One generated problem: ``gold`` is a full response with reward 1; ``answer`` the bare answer
    or None.

    ``chance`` is what a blind constant answer earns on average, where the form fixes it
    (1/choices). ``parameters`` (JSON values) are the canonical ones: equal family and parameters are
    the same problem, however it is worded; None takes the question's text. ``core`` is the text
    that could coincide with a published problem (no template, form or constraint sentences).
    ``independent``: as ``candidate.Row`` has it.
    """

    question: str
    task: Task
    gold: str
    answer: str | None = None
    chance: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] | None = None
    core: str | None = None
    independent: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """A generator. ``generate(rng, level)`` takes a level from 1 (easiest) to 3 and returns one
    item. ``summary`` says what its problems are about, where the name does not.
    """

    name: str
    domain: Domain
    generate: Callable[[Random, int], Item]
    summary: str = ""


def by_level(level: int, easy: int, middle: int, hard: int) -> int:
    """Return the value for ``level`` (1, 2 or 3)."""
    return (easy, middle, hard)[level - 1]
