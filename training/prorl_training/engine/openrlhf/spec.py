"""What the processes of a cluster run are told: one JSON file in the run's folder, named by a variable.

Every process of the run, on every node, reads the same file, so the run's folder must lie on a file system
that all of them see.
"""

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
"""File in the launch's folder: changes of config that are in config.yaml and not yet in decisions.jsonl."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One launch of a run. ``arguments`` are OpenRLHF's. ``run`` is absolute.

    ``decisions`` are to be recorded first: a resumed run's changes of config. ``launch`` is another one each
    time, so that a process of an earlier launch that is still dying is not mistaken for one of this.
    """

    run: str
    resume: bool
    device: Literal["cpu", "cuda"]
    arguments: tuple[str, ...]
    decisions: tuple[dict[str, Any], ...] = ()
    launch: str = field(default_factory=lambda: uuid.uuid4().hex)

    def again(self) -> Spec:
        """Return another launch of the same run."""
        return replace(self, launch=uuid.uuid4().hex)

    @property
    def folder(self) -> Path:
        """Return the launch's own folder in the run's."""
        return Path(self.run) / "openrlhf"

    @property
    def path(self) -> Path:
        """Return the file that ``write`` writes."""
        return self.folder / SPEC

    def run_folder(self) -> RunFolder:
        """Return the run's folder."""
        return RunFolder(Path(self.run))

    def config(self) -> TrainConfig:
        """Return the run's config."""
        return self.run_folder().config()

    def write(self) -> Path:
        """Write ``spec.json`` atomically and return its path."""
        self.folder.mkdir(parents=True, exist_ok=True)
        atomic_write_text(self.path, json.dumps(asdict(self), indent=1) + "\n")
        return self.path


def read_spec(path: Path) -> Spec:
    """Return what ``Spec.write`` wrote."""
    values = json.loads(path.read_text(encoding="utf-8"))
    lists = {name: tuple(values[name]) for name in ("arguments", "decisions")}
    return Spec(**{**values, **lists})


def current_spec() -> Spec:
    """Return the spec of the run that this process belongs to. Raises RuntimeError outside of one."""
    path = os.environ.get(VARIABLE)
    if not path:
        raise RuntimeError(f"{VARIABLE} is not set: this process belongs to no cluster run")
    return read_spec(Path(path))
