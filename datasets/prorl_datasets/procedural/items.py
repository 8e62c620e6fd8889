"""Families: named generators of items, deterministic in (rng, level)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from prorl_datasets.types import Domain
from prorl_verifiers import Task


@dataclass(frozen=True, slots=True)
class Item:
    """One generated problem; ``gold`` is a full response with reward 1, ``answer`` the bare answer.

    ``chance``: mean reward of a constant guess, if the form fixes it (1/choices). ``parameters``: JSON values that
    identify the problem in its family, however it is worded; None uses the question's text. ``core``: the text that may
    match a published problem (without template, form and constraint sentences). ``independent``: see ``candidate.Row``.
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
    """A named generator; ``generate(rng, level)`` returns one item of level 1 (easiest) to 3."""

    name: str
    domain: Domain
    generate: Callable[[Random, int], Item]
    summary: str = ""


def by_level(level: int, easy: int, middle: int, hard: int) -> int:
    """Return the value for ``level`` (1, 2 or 3)."""
    return (easy, middle, hard)[level - 1]
