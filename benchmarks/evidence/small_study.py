"""What makes a study of a small policy: its arms, its sizes, its items and where its results lie.

The studies themselves are ``small_three_thousand`` and ``chain_study``; carrying one out is the same for
both (``small_run``). Leaves out: how a run goes (``small_legs``).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from small_model import Shown, StartPlan
from small_tasks import Item

from prorl_common import UserError
from prorl_datasets import Sample

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ROOT / "docs" / "evidence"
BEGIN, END = "<!-- results -->", "<!-- end of results -->"
Groups = Mapping[str, Sequence[Item]]
"""Items to solve: a group's name -> its items. The name of a ladder's level is ``task/level``."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A packaged preset, what is set on top of it beside the common settings, and the runs' seeds."""

    preset: str
    over: tuple[str, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How held-out items are sampled; ``top_p`` is 1."""

    seed: int
    samples: int
    temperature: float
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Ends:
    """Where a run is evaluated: when ``tokens`` responses' tokens are sampled (``budget``), and at step
    ``steps`` (``end``; 0: nowhere). A run that is short of tokens goes on to ``most_steps``."""

    tokens: int
    steps: int
    most_steps: int


@dataclass(frozen=True, slots=True)
class Start:
    """The base: a random policy of ``hidden`` width, taught by demonstrations; its weights file and the SHA-256 of that."""

    hidden: int
    plan: StartPlan
    draw: Callable[[random.Random], Sequence[Shown]]
    weights: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class Study:
    """One protocol, as its document states it."""

    name: str
    arms: Mapping[str, Arm]
    settings: Callable[[Path, Path, int], list[str]]
    """Model folder, dataset folder and seed -> the settings that every arm shares."""
    ends: Ends
    start: Start
    sampling: Sampling
    base_samplings: Mapping[str, Sampling]
    """The base's own evaluations: a result file's name -> how it is sampled."""
    held_out: Callable[[], dict[str, list[Item]]]
    training: Callable[[], list[Sample]]
    """The samples of the splits ``train`` and ``validation``."""

    @property
    def results(self) -> Path:
        """The folder of the runs' data files."""
        return EVIDENCE / "data" / self.name

    @property
    def document(self) -> Path:
        """The page that holds the protocol and, between two markers, the results."""
        return EVIDENCE / f"{self.name}.md"

    def result_path(self, name: str) -> Path:
        """Return the file of a run (``<arm>-seed<n>``) or of an evaluation of the base."""
        return self.results / f"{name}.json"

    def protocol_digest(self) -> str:
        """Return the SHA-256 of the protocol: the document up to its results."""
        head = self.document.read_text(encoding="utf-8").split(BEGIN)[0]
        return hashlib.sha256(head.encode()).hexdigest()

    def run_names(self) -> list[str]:
        """Return the names of all runs, seed by seed, so that early results compare whole sets of arms."""
        seeds = sorted({seed for arm in self.arms.values() for seed in arm.seeds})
        return [f"{a}-seed{s}" for s in seeds for a, arm in self.arms.items() if s in arm.seeds]

    def parse_run(self, name: str) -> tuple[str, int]:
        """Split ``v2-kl-seed3`` into its arm and seed. Raises UserError for one that the protocol lacks."""
        arm, _, seed = name.rpartition("-seed")
        if name not in self.run_names():
            raise UserError(f"no run '{name}' in the protocol: {', '.join(self.run_names())}")
        return arm, int(seed)

    def config(
        self, arm: str, seed: int, model: Path, data: Path, extra: tuple[str, ...] = ()
    ) -> Any:
        """Return the checked TrainConfig of one run; ``extra`` is a leg's end, or a pilot's settings."""
        from prorl_training.config.loading import load_config

        chosen = self.arms[arm]
        settings = [*self.settings(model, data, seed), *chosen.over, *extra]
        return load_config(chosen.preset, None, settings)
