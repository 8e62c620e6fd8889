"""What a stage of a proof is, where it runs, and what it hands back. Leaves out: which there are, and their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Status = Literal["pass", "fail", "needs"]
"""``needs``: something is missing here, so nothing was tried."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a proof is made: its folder, the device (``cpu``, ``cuda``) and the folder of the model.

    ``tiny``: a random model of two layers, which shows that parts work and nothing of speed. ``device_name`` is the
    machine's own; ``seconds`` are what a stage may take.
    """

    folder: Path
    device: str
    device_name: str
    model: Path
    tiny: bool
    seconds: float

    @property
    def on_gpu(self) -> bool:
        """Return whether the device is a GPU."""
        return self.device.startswith("cuda")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**asdict(self), "folder": str(self.folder), "model": str(self.model)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Place:
        """Return what ``to_json`` gave."""
        paths = {name: Path(values[name]) for name in ("folder", "model")}
        return cls(**{**values, **paths})


@dataclass(frozen=True, slots=True)
class Finding:
    """What a stage found: whether all it checks holds, in a sentence, with figures.

    ``ratios`` and ``card`` go to ``prorl plan --measured``.
    """

    passed: bool
    said: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)
    card: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of the proof, run in a process of its own.

    ``needs`` returns what is missing at a place, with the cure, or nothing; it imports nothing heavy. ``after`` names
    stages whose results it reads. ``minutes``: with less left it is not begun.
    """

    name: str
    title: str
    run: Callable[[Place], Finding]
    needs: Callable[[Place], str] = lambda place: ""
    after: tuple[str, ...] = ()
    minutes: float = 1.0
    """What it takes on a GPU, guessed."""


@dataclass(frozen=True, slots=True)
class Result:
    """A stage's outcome as it is kept: the finding, the time, and what it was made with."""

    stage: str
    status: Status
    said: str
    seconds: float = 0.0
    figures: Mapping[str, Any] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)
    card: Mapping[str, Any] | None = None
    made_with: Mapping[str, Any] = field(default_factory=dict)
    """prorl's version, the device and the model; a result of others is not taken over."""
