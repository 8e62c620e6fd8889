"""Studies of the small policy: arms with settings and seeds, read from YAML, and their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from prorl_common import UserError
from prorl_evaluation import pass_at_k

Value = str | int | float | bool
Counts = Mapping[str, tuple[int, int]]
"""Held-out problem -> (samples with a verdict, right ones)."""


class Arm(BaseModel):
    """A packaged preset with overrides by ``section.key``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: str
    settings: dict[str, Value] = {}
    train: str | None = None
    """A JSON file, relative to the repository, with the ids of the training items; None: all."""


class Evaluation(BaseModel):
    """How the held-out items are sampled; top-p is 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    n: int = 256
    k: int = 128
    temperature: float = 1.0
    max_tokens: int = 24
    seed: int = 12
    turns: int = 8
    only: str | None = None
    """A JSON file, relative to the repository, with the ids of the problems; None: all."""
    checkpoints: list[str] = ["latest"]
    """Steps or ``latest``. The last one is what tables compare."""


class Study(BaseModel):
    """Arms, seeds, and the settings shared by all arms."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    policy: Literal["tasks", "chains", "chains-2", "calculator"] | None = "tasks"
    """The base and its tasks (``small_policy_base.POLICIES``); None: ``model.path`` and ``data.path`` of the settings."""
    records: str | None = None
    """Folder, relative to the repository, of one JSON file for each finished run, whose own folder is then removed.
    None: runs are kept whole."""
    seeds: list[int]
    settings: dict[str, Value]
    arms: dict[str, Arm]
    evaluations: list[Evaluation] = [Evaluation()]
    """The first one is what ``table`` shows."""

    @property
    def runs(self) -> list[tuple[str, int]]:
        """All runs as (arm, seed), ordered by seed, so that early results compare all arms."""
        return [(arm, seed) for seed in self.seeds for arm in self.arms]

    def overrides(self, arm: str, seed: int, model: Path, data: Path) -> list[str]:
        """Return the settings of one run as ``section.key=value``."""
        places: dict[str, Value] = {"seed": seed, "model.path": str(model), "data.path": str(data)}
        merged: dict[str, Value] = {**places, **self.settings, **self.arms[arm].settings}
        return [f"{key}={_text(value)}" for key, value in merged.items()]


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_study(path: Path) -> Study:
    """Read a study's YAML file. Raises UserError for invalid content."""
    try:
        return Study.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (ValidationError, yaml.YAMLError) as error:
        raise UserError(f"{path}: {error}") from error


def table(study: Study, results: Mapping[str, Sequence[Counts]]) -> list[str]:
    """Return a Markdown table of each arm's pass@1 and pass@k, and their change from the first arm, in %.

    ``results`` maps each arm to the evaluations of the first seeds. Intervals are 95 % over seeds and problems; changes
    are paired by both.
    """
    if not study.evaluations:
        return []
    k = study.evaluations[0].k
    lines = [
        f"| items | arm | seeds | pass@1 | change | pass@{k} | change |",
        "|---|---|---|---|---|---|---|",
    ]
    kinds = {"-ladder" in name for runs in results.values() for counts in runs for name in counts}
    for ladder in sorted(kinds):
        name = "ladders" if ladder else "trained levels"
        for arm, found in results.items():
            cells: list[str] = []
            for samples in (1, k) if found else ():
                rates = rates_of(found, ladder, samples)
                first = rates_of(next(iter(results.values())), ladder, samples)
                shared = min(len(rates), len(first))
                cells += [_percent(rates), _percent(rates[:shared] - first[:shared], "+")]
            lines.append(f"| {name} | {arm} | {len(found)} | {' | '.join(cells)} |")
    return lines


def rates_of(results: Sequence[Counts], ladder: bool, k: int) -> Any:
    """Return pass@k of each seed and held-out problem, an array [seeds, problems]."""
    import numpy as np

    rates = [
        [pass_at_k(*counts[name], k) for name in sorted(counts) if ("-ladder" in name) == ladder]
        for counts in results
    ]
    return np.array(rates)


def interval(values: Any, draws: int = 4000) -> tuple[float, float, float]:
    """Return mean and 95 % bootstrap interval of an array [seeds, problems], resampling both."""
    import numpy as np

    rng = np.random.default_rng(0)
    seeds, problems = (rng.integers(size, size=(draws, size)) for size in values.shape)
    means = [values[np.ix_(a, b)].mean() for a, b in zip(seeds, problems, strict=True)]
    low, high = np.quantile(means, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)


def _percent(values: Any, sign: str = "") -> str:
    value, low, high = (100 * x for x in interval(values))
    return f"{value:{sign}.1f} [{low:{sign}.1f}, {high:{sign}.1f}]"
