"""What is asked for as a run: its config, folder and engine. The command line and ``prorl.train`` both begin here.

Leaves out: training (``engine.local``, ``engine.openrlhf``), and saying what happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_never

from prorl_common import UserError
from prorl_common.config import read_config_file
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.config.presets import load_preset
from prorl_training.engine.local import TrainReport, check_start, default_preset, find_dataset
from prorl_training.engine.pick import Choice, Machine, look, pick_engine
from prorl_training.run.folder import RunFolder, find_run, named_run
from prorl_training.run.lineage import place
from prorl_training.run.resume import nothing_left
from prorl_training.schedule.decisions import Decision

if TYPE_CHECKING:
    from prorl_common import Progress


Trainers = Callable[[Literal["local", "openrlhf"]], Callable[..., TrainReport]]


@dataclass(frozen=True, slots=True)
class Start:
    """A run to begin or to go on with (``resume``); ``decisions`` are its changes of config.

    ``chosen`` says which engine was taken, and why, where the user named none.
    """

    config: TrainConfig
    run: RunFolder
    resume: bool = False
    decisions: tuple[Decision, ...] = ()
    chosen: str = ""

    def check(self) -> Path:
        """Return the dataset's folder. Raises UserError for what would stop the run at once."""
        dataset = check_start(self.config, None if self.resume else self.run)
        later = [self.config.in_phase(n).engine for n in range(1, len(self.config.phases))]
        if self.config.stages and "openrlhf" in later:  # now, not when the stages before are done
            from prorl_training.engine.openrlhf.launch.session import check_cluster

            check_cluster(self.config)
        return dataset

    def check_memory(self) -> str | None:
        """Return what is worth saying of the run's memory. Raises UserError where it does not fit this machine."""
        from prorl_training.sizing.here import check_fit, memory_here

        return check_fit(self.config, memory_here(self.config))

    def train(
        self, progress: Progress, restarts: int = 0, trainers: Trainers | None = None
    ) -> TrainReport:
        """Train to the end, each stage with its engine (``trainers``: engine -> what trains with it), and return
        how it ended. See ``engine.restarts`` for ``restarts``."""
        from prorl_training.engine.restarts import train_with_restarts

        def once(again: bool) -> TrainReport:
            return self._train(progress, trainers or trainer_of, again)

        return train_with_restarts(once, self.run, restarts, progress.message)

    def _train(self, progress: Progress, trainers: Trainers, again: bool) -> TrainReport:
        """Train to the end, or until something dies; ``again``: after that.

        A stage begins from the checkpoint that the one before ended with, never from memory: so it may be another
        engine's, and a run that was killed between two goes on as one that was not.
        """
        # what a launch has recorded of the changes stands in the run's config
        known = again and self.run.config() == self.config
        config, resume = self.config, self.resume or again
        decisions = () if known else self.decisions
        while True:
            checkpoint, phase, begins_stage = place(self.run, config)
            if begins_stage and checkpoint is not None:
                progress.message(
                    f"stage {config.phases[phase].stage}: from {checkpoint.name}, "
                    f"engine {config.in_phase(phase).engine}"
                )
            trainer = trainers(config.in_phase(phase).engine)
            report = trainer(config, self.run.path, progress, resume, decisions)
            ended = report.interrupted or report.stopped is not None
            if ended or report.last_step >= report.steps or not config.stages:
                return report
            config, resume, decisions = self.run.config(), True, ()
            if not place(self.run, config)[2] or nothing_left(self.run, config) is not None:
                return report


def trainer_of(engine: Literal["local", "openrlhf"]) -> Callable[..., TrainReport]:
    """Return the function that trains with an engine; OpenRLHF's is imported here."""
    match engine:
        case "openrlhf":
            from prorl_training.engine.openrlhf.launch.session import train_on_cluster

            return train_on_cluster
        case "local":
            from prorl_training.engine.local import train as train_here

            return train_here
        case _:
            assert_never(engine)


def new_run(
    preset: str | None,
    config_file: Path | None,
    overrides: Sequence[str],
    name: str | None,
    machine: Callable[[], Machine] = look,
) -> Start:
    """Return a new run under runs/; without preset and file the preset is this machine's, and so is an engine that
    neither of them nor ``overrides`` names.

    ``overrides`` are ``section.key=value``; without ``name`` the run is called after preset and time. Raises
    UserError.
    """
    if preset is None and config_file is None and "engine=openrlhf" not in overrides:
        # data first: the preset takes seconds, as loading torch does
        find_dataset(load_config(None, None, overrides))
        preset = default_preset()
    chosen = Choice()
    if not _names_engine(preset, config_file, overrides):
        chosen = pick_engine(
            lambda more: load_config(preset, config_file, [*overrides, *more]), machine
        )
    config = load_config(preset, config_file, [*overrides, *chosen.settings])
    run = named_run(name or f"{config.preset}-{time.strftime('%Y%m%d-%H%M%S')}")
    return Start(config, run, chosen=chosen.said)


def _names_engine(preset: str | None, file: Path | None, overrides: Sequence[str]) -> bool:
    """Return whether preset, file or overrides say who trains."""
    from_file = read_config_file(file) if file is not None else {}
    if "engine" in from_file or any(o.partition("=")[0].strip() == "engine" for o in overrides):
        return True
    known = preset or from_file.get("preset")
    return known is not None and "engine" in load_preset(str(known))


def resumed_run(name: str, overrides: Sequence[str], steps: int | None) -> Start | str:
    """Return the run of that name, to go on with; or why it has nothing to go on with. Raises UserError."""
    from prorl_training.run.resume import resume_config

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
    progress = progress or PlainProgress()
    if start.chosen:
        progress.message(f"engine {start.chosen}")
    if (memory := start.check_memory()) is not None:
        progress.message(f"memory: {memory}")
    return start.train(progress, restarts)
