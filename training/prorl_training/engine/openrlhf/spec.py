"""The JSON file that all processes of a cluster run read, on a file system that all nodes share."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from prorl_common import atomic_write_text
from prorl_training.config import TrainConfig
from prorl_training.run.folder import RunFolder

VARIABLE = "PRORL_OPENRLHF_SPEC"
SPEC = "spec.json"
PENDING = "changes.json"
"""Name of the file with config changes that are not yet in decisions.jsonl."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One launch of a run: OpenRLHF's command line ``arguments``, and ``decisions`` to log at the start.

    ``launch`` is a unique id that separates its outcome from those of other launches.
    """

    run: str
    resume: bool
    device: Literal["cpu", "cuda"]
    arguments: tuple[str, ...]
    decisions: tuple[dict[str, Any], ...] = ()
    launch: str = field(default_factory=lambda: uuid.uuid4().hex)

    def again(self) -> Spec:
        return replace(self, launch=uuid.uuid4().hex)

    @property
    def folder(self) -> Path:
        return Path(self.run) / "openrlhf"

    @property
    def path(self) -> Path:
        return self.folder / SPEC

    def run_folder(self) -> RunFolder:
        return RunFolder(Path(self.run))

    def config(self) -> TrainConfig:
        return self.run_folder().config()

    def write(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        atomic_write_text(self.path, json.dumps(asdict(self), indent=1) + "\n")
        return self.path


def read_spec(path: Path) -> Spec:
    values = json.loads(path.read_text(encoding="utf-8"))
    lists = {name: tuple(values[name]) for name in ("arguments", "decisions")}
    return Spec(**{**values, **lists})


def current_spec() -> Spec:
    """Return the launch that this process belongs to. Raises RuntimeError outside a run."""
    path = os.environ.get(VARIABLE)
    if not path:
        raise RuntimeError(f"{VARIABLE} is not set: this process belongs to no cluster run")
    return read_spec(Path(path))
