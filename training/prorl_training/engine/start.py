"""What is asked for as a run: its config, folder and engine. The command line and ``prorl.train`` both begin here.

Leaves out: training (``engine.local``, ``engine.openrlhf``), and saying what happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.engine.local import TrainReport, check_start, default_preset, find_dataset
from prorl_training.run.folder import RunFolder, find_run, named_run
from prorl_training.schedule.decisions import Decision

if TYPE_CHECKING:
    from prorl_common import Progress


@dataclass(frozen=True, slots=True)
class Start:
    """A run to begin or to go on with (``resume``); ``decisions`` are its changes of config."""

    config: TrainConfig
    run: RunFolder
    resume: bool = False
    decisions: tuple[Decision, ...] = ()

    def check(self) -> Path:
        """Return the dataset's folder. Raises UserError for what would stop the run at once."""
        return check_start(self.config, None if self.resume else self.run)

    def train(self, progress: Progress, restarts: int = 0) -> TrainReport:
        """Train with the config's engine and return how it ended; see ``engine.restarts`` for ``restarts``."""
        from prorl_training.engine.restarts import train_with_restarts

        trainer: Callable[..., TrainReport]
        match self.config.engine:
            case "openrlhf":
                from prorl_training.engine.openrlhf.launch.session import (
                    train_on_cluster as trainer,
                )
            case "local":
                from prorl_training.engine.local import train as trainer
            case _:
                assert_never(self.config.engine)

        def once(again: bool) -> TrainReport:
            # what a launch has recorded of the changes stands in the run's config
            known = again and self.run.config() == self.config
            decisions = () if known else self.decisions
            return trainer(self.config, self.run.path, progress, self.resume or again, decisions)

        return train_with_restarts(once, self.run, restarts, progress.message)


def new_run(
    preset: str | None, config_file: Path | None, overrides: Sequence[str], name: str | None
) -> Start:
    """Return a new run under runs/; without preset and file the preset is this machine's.

    ``overrides`` are ``section.key=value``; without ``name`` the run is called after preset and time. Raises
    UserError.
    """
    if preset is None and config_file is None and "engine=openrlhf" not in overrides:
        # data first: the preset takes seconds, as loading torch does
        find_dataset(load_config(None, None, overrides))
        preset = default_preset()
    config = load_config(preset, config_file, overrides)
    return Start(config, named_run(name or f"{config.preset}-{time.strftime('%Y%m%d-%H%M%S')}"))


def resumed_run(name: str, overrides: Sequence[str], steps: int | None) -> Start | str:
    """Return the run of that name, to go on with; or why it has nothing to go on with. Raises UserError."""
    from prorl_training.run.resume import nothing_left, resume_config

    run = find_run(name)
    config, decisions = resume_config(run, overrides, steps)
    if not decisions and (why := nothing_left(run, config)) is not None:
        return why
    if config.data.path is not None and not Path(config.data.path).exists():
        raise UserError(
            f"the dataset of {run.name} is no longer at {config.data.path}: say where with --data"
        )
    return Start(config, run, True, tuple(decisions))


def train(
    preset: str | None = None,
    *,
    data: str | Path | None = None,
    model: str | None = None,
    steps: int | None = None,
    name: str | None = None,
    resume: str | None = None,
    restarts: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> TrainReport:
    """Train a run under runs/ and return how it ended: its folder is ``report.run``.

    The same as ``prorl train``, with the same defaults: the machine's preset, the newest dataset under data/, the
    preset's model. ``settings`` are further keys of the config with ``__`` for the dot, as ``optimizer__lr=1e-6``.
    ``resume`` names a run to go on with (or ``latest``), for ``steps`` in all; ``restarts``: so many times it starts
    again from its last checkpoint when a worker or a node died. Ctrl-C finishes the step, saves and
    returns with ``report.interrupted``. Raises UserError, ServiceError.
    """
    from prorl_common import PlainProgress

    given = {"data__path": data, "model__path": model, **settings}
    sets = [
        f"{key.replace('__', '.')}={value}" for key, value in given.items() if value is not None
    ]
    if resume is None:
        sets += [] if steps is None else [f"steps={steps}"]
        start: Start | str = new_run(preset, None, sets, name)
    elif preset or name:
        raise UserError("resume goes on with the run's own preset and name: leave those out")
    else:
        start = resumed_run(resume, sets, steps)
    if isinstance(start, str):
        raise UserError(start)
    start.check()
    return start.train(progress or PlainProgress(), restarts)
