"""Who else is told a run's numbers: TensorBoard and Weights & Biases.

``metrics.jsonl`` is the record; these are views of it. A resumed run goes on in the same place: TensorBoard
drops what it had of the steps that are done again (``purge_step``); Weights & Biases continues the run whose
id is in ``wandb.json``, where such a step shows twice, under the same number on the ``step`` axis, as it
keeps no way to take a point back."""

from __future__ import annotations

import importlib
import importlib.util
import json
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prorl_common import Closing, MissingExtraError, UserError, atomic_write_text
from prorl_training.config import LoggingConfig

WANDB_ID = "wandb.json"


class Loggers(Closing):
    """Sends every number of a step's metrics on but the tasks' (a panel each would be hundreds); nested keys are
    joined with ``/`` (domains/math/...).

    ``path`` is the run's folder, ``first_step`` the first step that will be written. Raises
    MissingExtraError when Weights & Biases is asked for and not installed, UserError when it cannot start.
    ``wandb`` takes the place of the module in tests.
    """

    def __init__(
        self, path: Path, config: LoggingConfig, first_step: int, wandb: Any = None
    ) -> None:
        self._writer: Any = None
        if config.tensorboard and importlib.util.find_spec("tensorboard") is not None:
            from torch.utils.tensorboard import SummaryWriter

            board = str(path / "tensorboard")
            self._writer = SummaryWriter(board, purge_step=first_step, flush_secs=10)
        self._wandb = None if config.wandb == "off" else _wandb_run(path, config, wandb)

    def write(self, step: int, row: Mapping[str, Any]) -> None:
        """Send one step's numbers."""
        if self._writer is None and self._wandb is None:
            return
        numbers = dict(scalars({key: value for key, value in row.items() if key != "tasks"}))
        if self._writer is not None:
            # one event for all of a step's numbers: a tenth of the cost of one for each
            kinds = importlib.import_module("tensorboard.compat.proto.summary_pb2")
            values = [kinds.Summary.Value(tag=k, simple_value=v) for k, v in numbers.items()]
            self._writer.file_writer.add_summary(kinds.Summary(value=values), step)
        if self._wandb is not None:
            self._wandb.log({**numbers, "step": step})

    def close(self) -> None:
        """End both views."""
        if self._writer is not None:
            self._writer.close()
        if self._wandb is not None:
            self._wandb.finish()
        self._writer = self._wandb = None


def scalars(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield (joined key, number) for every number and truth value in a nested mapping."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from scalars(value, f"{prefix}{key}/")
        elif isinstance(value, int | float):
            yield f"{prefix}{key}", float(value)


def _wandb_run(path: Path, config: LoggingConfig, wandb: Any) -> Any:
    """Start or continue the run's own Weights & Biases run."""
    if wandb is None:
        if importlib.util.find_spec("wandb") is None:
            raise MissingExtraError("wandb", "wandb")
        wandb = importlib.import_module("wandb")
    saved = path / WANDB_ID
    known = json.loads(saved.read_text(encoding="utf-8")) if saved.is_file() else None
    name = known["id"] if known else secrets.token_hex(4)
    try:
        run = wandb.init(
            project=config.wandb_project,
            name=path.name,
            id=name,
            resume="allow",
            dir=str(path),
            mode=config.wandb,
            settings=wandb.Settings(console="off", silent=True),
        )
    except wandb.Error as error:
        raise UserError(
            f"Weights & Biases cannot start ({' '.join(str(error).split())}): log in with `wandb login`, or "
            "set logging.wandb=offline"
        ) from error
    run.define_metric("step")
    run.define_metric("*", step_metric="step")
    if known is None:
        atomic_write_text(saved, json.dumps({"id": name, "project": config.wandb_project}))
    return run
