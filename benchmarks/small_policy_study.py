"""Studies of the small policy: arms with settings and seeds, read from YAML, and their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from prorl_common import UserError
from prorl_evaluation import bounded_columns, pass_at_k

Value = str | int | float | bool
Counts = Mapping[str, tuple[int, int]]
"""Held-out problem -> (samples with a verdict, right ones)."""


class Arm(BaseModel):
    """A packaged preset with overrides by ``section.key``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: str
    settings: dict[str, Value] = {}


class Evaluation(BaseModel):
    """How the held-out items are sampled; top-p is 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    n: int = 256
    k: int = 128
    temperature: float = 1.0
    max_tokens: int = 24
    seed: int = 12


class Study(BaseModel):
    """Arms, seeds, and the settings shared by all arms."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seeds: list[int]
    settings: dict[str, Value]
    arms: dict[str, Arm]
    evaluation: Evaluation | None = Evaluation()

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

    ``results`` maps each arm to one evaluation per seed. Seeds are averaged; intervals are 95 % over problems.
    """
    if study.evaluation is None:
        return []
    k = study.evaluation.k
    lines = [
        f"| items | arm | seeds | pass@1 | change | pass@{k} | change |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, ladder in (("trained levels", False), ("ladders", True)):
        first: list[list[float]] | None = None
        for arm, found in results.items():
            if not found:
                continue
            rates = _rates(found, ladder, k)
            first = rates if first is None else first
            cells = [text for column in range(2) for text in _cells(rates, first, column)]
            lines.append(f"| {name} | {arm} | {len(found)} | {' | '.join(cells)} |")
    return lines


def _rates(results: Sequence[Counts], ladder: bool, k: int) -> list[list[float]]:
    """Return (pass@1, pass@k) of each held-out problem, averaged over the seeds."""
    by_problem: dict[str, list[tuple[float, float]]] = {}
    for counts in results:
        for name, (n, correct) in counts.items():
            if ("-ladder" in name) == ladder:
                rates = (pass_at_k(n, correct, 1), pass_at_k(n, correct, k))
                by_problem.setdefault(name, []).append(rates)
    return [
        [fmean(rates[column] for rates in by_problem[name]) for column in range(2)]
        for name in sorted(by_problem)
    ]


def _cells(rates: list[list[float]], first: list[list[float]], column: int) -> tuple[str, str]:
    level = bounded_columns([[row[column]] for row in rates])[0]
    if rates is first:
        return _percent(level), ""
    differences = [[a[column] - b[column]] for a, b in zip(rates, first, strict=True)]
    return _percent(level), _percent(bounded_columns(differences, (-1.0, 1.0))[0], "+")


def _percent(interval: Any, sign: str = "") -> str:
    value, low, high = (100 * x for x in (interval.value, interval.low, interval.high))
    return f"{value:{sign}.1f} [{low:{sign}.1f}, {high:{sign}.1f}]"
