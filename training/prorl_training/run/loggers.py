"""Send metrics to TensorBoard, Weights & Biases and trackio.

Steps that a resumed run repeats appear twice in Weights & Biases and trackio, which cannot delete points.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from prorl_common import Closing, MissingExtraError, UserError, atomic_write_text
from prorl_training.config import LoggingConfig

WANDB_ID, TRACKIO_ID = "wandb.json", "trackio.json"

Modules = Mapping[str, Any]
"""Module name -> fake module for tests."""


class Logger(Protocol):
    def write(self, step: int, numbers: Mapping[str, float]) -> None:
        """Log the numbers of one step. Nested keys are joined by ``/``."""

    def close(self) -> None: ...


class Loggers(Closing):
    """Sends the numbers of a step, except per-task numbers, to all configured loggers.

    Raises MissingExtraError for a missing package, and UserError if a logger cannot start.
    """

    def __init__(
        self, path: Path, config: LoggingConfig, first_step: int, modules: Modules | None = None
    ) -> None:
        self._loggers: list[Logger] = []
        try:
            for opener in OPENERS:
                logger = opener(path, config, first_step, modules or {})
                self._loggers += [logger] if logger is not None else []
        except BaseException:
            self.close()
            raise

    def write(self, step: int, row: Mapping[str, Any]) -> None:
        if not self._loggers:
            return
        numbers = dict(scalars({key: value for key, value in row.items() if key != "tasks"}))
        for logger in self._loggers:
            logger.write(step, numbers)

    def close(self) -> None:
        while self._loggers:
            self._loggers.pop().close()


def scalars(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield (key, number) for all numbers and bools in ``row``. Keys of nested mappings are joined by ``/``."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from scalars(value, f"{prefix}{key}/")
        elif isinstance(value, int | float):
            yield f"{prefix}{key}", float(value)


class _TensorBoard:
    def __init__(self, path: Path, first_step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        board = str(path / "tensorboard")
        self._writer: Any = SummaryWriter(board, purge_step=first_step, flush_secs=10)

    def write(self, step: int, numbers: Mapping[str, float]) -> None:
        # one event per step costs a tenth of one event per number
        kinds = importlib.import_module("tensorboard.compat.proto.summary_pb2")
        values = [kinds.Summary.Value(tag=k, simple_value=v) for k, v in numbers.items()]
        self._writer.file_writer.add_summary(kinds.Summary(value=values), step)

    def close(self) -> None:
        self._writer.close()


def _tensorboard(
    path: Path, config: LoggingConfig, first_step: int, modules: Modules
) -> Logger | None:
    del modules
    installed = config.tensorboard and importlib.util.find_spec("tensorboard") is not None
    return _TensorBoard(path, first_step) if installed else None


class _Wandb:
    def __init__(self, run: Any) -> None:
        self._run = run

    def write(self, step: int, numbers: Mapping[str, float]) -> None:
        self._run.log({**numbers, "step": step})

    def close(self) -> None:
        self._run.finish()


def _wandb(path: Path, config: LoggingConfig, first_step: int, modules: Modules) -> Logger | None:
    del first_step
    if config.wandb == "off":
        return None
    wandb = _module("wandb", modules)
    saved = path / WANDB_ID
    record = _saved(saved)
    name = record["id"] if record else secrets.token_hex(4)
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
    if record is None:
        atomic_write_text(saved, json.dumps({"id": name, "project": config.wandb_project}))
    return _Wandb(run)


class _Trackio:
    def __init__(self, module: Any, run: Any) -> None:
        self._module, self._run = module, run

    def write(self, step: int, numbers: Mapping[str, float]) -> None:
        # trackio has its own step axis, and would rename a number called step
        self._run.log({k: v for k, v in numbers.items() if k != "step"}, step=step)

    def close(self) -> None:
        with contextlib.redirect_stdout(sys.stderr):
            self._module.finish()  # the run's own finish would run again at exit


def _trackio(path: Path, config: LoggingConfig, first_step: int, modules: Modules) -> Logger | None:
    del first_step
    if not config.trackio:
        return None
    trackio = _module("trackio", modules)
    saved = path / TRACKIO_ID
    record = _saved(saved)
    place = record or {"name": f"{path.name}-{secrets.token_hex(2)}", "project": config.trackio}
    try:
        with contextlib.redirect_stdout(sys.stderr):  # trackio prints a link; stdout is for data
            run = trackio.init(
                project=place["project"],
                name=place["name"],
                resume="allow",
                embed=False,
                auto_log_cpu=False,
                auto_log_gpu=False,
            )
    except (ValueError, OSError) as error:
        raise UserError(
            f"trackio cannot start ({' '.join(str(error).split())}): set logging.trackio to another project, "
            "or to '' for none"
        ) from error
    if record is None:
        atomic_write_text(saved, json.dumps(place))
    return _Trackio(trackio, run)


OPENERS: tuple[Callable[[Path, LoggingConfig, int, Modules], Logger | None], ...] = (
    _tensorboard,
    _wandb,
    _trackio,
)
"""Functions that open a logger, or return None if the config does not enable it."""


def _module(name: str, modules: Modules) -> Any:
    if name in modules:
        return modules[name]
    if importlib.util.find_spec(name) is None:
        raise MissingExtraError(name, name)
    return importlib.import_module(name)


def _saved(file: Path) -> dict[str, str] | None:
    if not file.is_file():
        return None
    record: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return record
