"""Records where a run's weights come from, as *legs*: parts of the training with one preset and engine each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text
from prorl_training.config import TrainConfig
from prorl_training.run.checkpoint import has_checkpoint, newest_whole
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.controller import Controller

FILE = "prorl_lineage.json"
"""File in an exported model's folder with the run, the exported step and the legs up to that step."""

Leg = dict[str, Any]
"""Keys: ``after_step`` (last step before the leg), ``stage`` (or None), ``preset``, ``engine``, ``source`` (a model
or checkpoint), ``weights`` (SHA-256 of the source, or None), and ``run`` in legs of an earlier run."""


def next_phase(config: TrainConfig, state: Mapping[str, Any]) -> tuple[int, bool]:
    """Return (number of the phase after a checkpoint, whether it begins a new stage)."""
    controller = Controller(config)
    controller.restore(state["controller"])
    begins = controller.begins_stage(int(state["step"]) + 1)
    return controller.phase + begins, begins


def place(run: RunFolder, config: TrainConfig) -> tuple[Path | None, int, bool]:
    """Return (newest intact checkpoint, next phase, whether it begins a stage) of a run with stages.

    Returns (None, 0, False) without stages or checkpoints. Raises CheckpointError if none is intact.
    """
    if not config.stages or not has_checkpoint(run.checkpoints):
        return None, 0, False
    path, state, _ = newest_whole(run.checkpoints)
    return path, *next_phase(config, state)


def first_legs(config: TrainConfig, identity: Mapping[str, Any] | None) -> list[Leg]:
    """Return a new run's lineage, after that of the run that its model was exported from, if any."""
    recorded = identity or {}
    source, earlier = config.model.path, recorded.get("came_from")
    legs: list[Leg] = []
    if earlier is not None:
        source = f"{earlier['run']} after step {earlier['step']}"
        legs = [{"run": earlier["run"], **leg} for leg in earlier["lineage"]]
    return [*legs, _leg(config, 0, 0, source, recorded.get("model"))]


def next_leg(config: TrainConfig, number: int, checkpoint: Path, step: int) -> Leg:
    from prorl_inference import model_digest

    return _leg(config, number, step, checkpoint.name, model_digest(checkpoint / "policy"))


def _leg(config: TrainConfig, number: int, step: int, source: str, weights: str | None) -> Leg:
    stage = config.stage_of(number)
    return {
        "after_step": step,
        "stage": None if stage is None else stage.name,
        "preset": config.preset if stage is None else stage.preset,
        "engine": config.in_phase(number).engine,
        "source": source,
        "weights": weights,
    }


def write_lineage(folder: Path, run: str, state: Mapping[str, Any]) -> None:
    values = {"run": run, "step": state["step"], "lineage": state.get("lineage", [])}
    atomic_write_text(folder / FILE, json.dumps(values, indent=1) + "\n")


def read_lineage(folder: Path) -> dict[str, Any] | None:
    if not (folder / FILE).is_file():
        return None
    lineage: dict[str, Any] = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return lineage


def lines(lineage: Sequence[Leg]) -> list[str]:
    texts = []
    for leg in lineage:
        where = f"{leg['run']}: " if "run" in leg else ""
        stage = f"stage {leg['stage']}, " if leg["stage"] and leg["stage"] != leg["preset"] else ""
        weights = f" ({leg['weights'][:12]})" if leg["weights"] else ""
        texts.append(
            f"{where}from step {leg['after_step'] + 1}: {stage}preset {leg['preset']}, engine {leg['engine']}, "
            f"from {leg['source']}{weights}"
        )
    return texts
