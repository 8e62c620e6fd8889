"""Defines the Sample: one prompt with its verification task and origin."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from prorl_common import UserError
from prorl_verifiers import Task

Domain = str
"""Kind of problem: one of ``DOMAINS``, or the name of a plug-in's verifier."""
DOMAINS: tuple[Domain, ...] = ("math", "code", "stem", "logic", "instruction")
"""The five domains of ProRL; each has a verifier of the same name."""
Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
GoldCheck = Literal["verified", "self-consistent", "none"]
ChatMessage = Mapping[str, str]
"""One chat message: {"role": "system" | "user" | "assistant", "content": text}."""


def in_order(domains: Iterable[str]) -> list[str]:
    """Return the distinct domains in the order of DOMAINS; domains of plug-ins come last."""
    present = {*domains}
    return [*(d for d in DOMAINS if d in present), *sorted(present - {*DOMAINS})]


class DatasetError(UserError):
    """Raised if a dataset, recipe or source file is missing, malformed or empty."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One item of a dataset; ``id`` is unique in the dataset."""

    id: str
    domain: Domain
    prompt: tuple[ChatMessage, ...]
    task: Task
    source: str
    licence: str
    split: Split = "train"
    gold_check: GoldCheck = "none"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The family in the row's metadata, or else the row's source."""
        return str(self.metadata.get("family") or self.source)

    @property
    def rung(self) -> str:
        """The size of the problem within its family: ``level N``, a configuration as JSON, or "" if unknown."""
        if (level := self.metadata.get("level")) is not None:
            return f"level {level}"
        config = self.metadata.get("config")
        return json.dumps(config, sort_keys=True) if isinstance(config, Mapping) else ""
