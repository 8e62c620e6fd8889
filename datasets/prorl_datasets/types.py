"""The Sample: one prompt with the task that checks its answer, and where it came from.

Holds no input or output; see ``storage`` for Parquet and ``build`` for recipes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from prorl_common import UserError
from prorl_verifiers import Task

Domain = str
"""What kind of problem it is: one of ``DOMAINS``, or the name of a plug-in's verifier."""
DOMAINS: tuple[Domain, ...] = ("math", "code", "stem", "logic", "instruction")
"""ProRL's five; each has a verifier of its name."""
Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
GoldCheck = Literal["verified", "self-consistent", "none"]
ChatMessage = Mapping[str, str]
"""One chat message: {"role": "system" | "user" | "assistant", "content": text}."""


class DatasetError(UserError):
    """A dataset, recipe or source file is missing, malformed or empty."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One item of a dataset. ``prompt`` is a list of chat messages; ``id`` is unique in the dataset."""

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
        """What its metadata call the family, else its source."""
        return str(self.metadata.get("family") or self.source)

    @property
    def rung(self) -> str:
        """Its size in its family: ``level N``, or a configuration as JSON; nothing where it has none."""
        if (level := self.metadata.get("level")) is not None:
            return f"level {level}"
        config = self.metadata.get("config")
        return json.dumps(config, sort_keys=True) if isinstance(config, Mapping) else ""
