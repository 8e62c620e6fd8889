"""Defines families: named generators of items, deterministic in (rng, level)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from prorl_datasets.types import Domain
from prorl_verifiers import Task


@dataclass(frozen=True, slots=True)
class Item:
    """One generated problem."""

    question: str
    task: Task
    gold: str
    """A full response with reward 1."""
    answer: str | None = None
    """The bare correct answer."""
    chance: float | None = None
    """Mean reward of a constant guess (1/choices), if known."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] | None = None
    """JSON values that identify the problem in its family, regardless of wording. If None, the question's text
    identifies it."""
    core: str | None = None
    """The text that may match a published problem (without template, form and constraint sentences)."""
    independent: str = ""
    """Name of an independent result that agrees with the gold response."""


@dataclass(frozen=True, slots=True)
class Family:
    """A named generator; ``generate(rng, level)`` returns one item of level 1 (easiest) to 3."""

    name: str
    domain: Domain
    generate: Callable[[Random, int], Item]
    summary: str = ""


def by_level(level: int, easy: int, middle: int, hard: int) -> int:
    return (easy, middle, hard)[level - 1]
