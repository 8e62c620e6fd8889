"""Start or resume a run, for the command line and ``prorl.train``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_never

from prorl_common import DiskFullError, MissingExtraError, ServiceError, UserError
from prorl_common.config import read_config_file
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.config.presets import load_preset
from prorl_training.engine.local import TrainReport, check_start, default_preset, find_dataset
from prorl_training.run.checkpoint import newest_step
from prorl_training.run.folder import RunFolder, find_run, named_run
from prorl_training.run.lineage import place
from prorl_training.run.resume import nothing_left
from prorl_training.types import Decision

if TYPE_CHECKING:
    from prorl_common import Progress


OVERRIDE = "--engine local overrides"


@dataclass(frozen=True, slots=True)
class Machine:
    """The number of GPUs that torch sees, and why OpenRLHF cannot run here (``missing``; "" if it can)."""

    gpus: int
    missing: str = ""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    settings: tuple[str, ...] = ()
    message: str = ""


def look() -> Machine:
    """Return the GPUs and packages of this machine, without importing OpenRLHF."""
    from prorl_training.engine.openrlhf.versions import require_stack
    from prorl_training.planning.gpus import visible_gpus

    try:
        require_stack()
    except (MissingExtraError, UserError) as error:
        return Machine(len(visible_gpus()), str(error))
    return Machine(len(visible_gpus()))


def pick_engine(
    load: Callable[[Sequence[str]], TrainConfig], machine: Callable[[], Machine] = look
) -> EngineChoice:
    """Choose the engine of a run if the user named none.

    OpenRLHF is chosen if this machine has at least two GPUs and OpenRLHF supports the config on them; otherwise the
    local engine. ``load`` returns the config with additional settings.
    """
    from prorl_training.engine.openrlhf.launch.understood import unsupported

    plain = load(())
    if plain.model.device not in ("auto", "cuda") or any(stage.engine for stage in plain.stages):
        return EngineChoice()
    if plain.model.gpus > 1:
        return EngineChoice()
    here = machine()
    if here.gpus < 2:
        return EngineChoice()
    if here.missing:
        return EngineChoice((), f"local, on one of {here.gpus} GPUs; for all: --gpus {here.gpus}")
    reasons: list[str] = []
    named = _gpus(plain) != _gpus(TrainConfig())
    for gpus in (here.gpus,) if named else range(here.gpus, 1, -1):
        settings = ("engine=openrlhf", *(() if named else (f"openrlhf.gpus_per_node={gpus}",)))
        reasons = unsupported(load(settings), "cuda")
        if not reasons:
            count = f"{gpus} GPUs" if gpus == here.gpus else f"{gpus} of {here.gpus} GPUs"
            return EngineChoice(
                settings, f"openrlhf, because its packages and {count} are available; {OVERRIDE}"
            )
    return EngineChoice(
        (),
        f"local, on one of {here.gpus} GPUs (for all: --gpus {here.gpus}); openrlhf does not support {reasons[0]}",
    )


def _gpus(config: TrainConfig) -> tuple[int, int]:
    return config.openrlhf.nodes, config.openrlhf.gpus_per_node


PAUSE = 10.0
"""Seconds before a restart, because Ray needs time to notice that a node died."""


def train_with_restarts(
    train: Callable[[bool], TrainReport],
    run: RunFolder,
    restarts: int,
    say: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> TrainReport:
    """Call ``train(False)``. After a ServiceError call ``train(True)``, at most ``restarts`` times.

    There is no restart after other errors, a full disk, or errors before the run has a config.
    """
    restart = 0
    while True:
        try:
            return train(restart > 0)
        except DiskFullError:
            raise
        except ServiceError as error:
            if restart == restarts or not run.config_path.is_file():
                raise
            trouble = str(error).partition("\n")[0]
        restart += 1
        step = newest_step(run.checkpoints)
        place = "at the beginning" if step is None else f"after step {step}"
        say(f"{trouble}; starting again {place} (restart {restart} of {restarts})")
        sleep(PAUSE)


Trainers = Callable[[Literal["local", "openrlhf"]], Callable[..., TrainReport]]


@dataclass(frozen=True, slots=True)
class Start:
    """A run to start or resume. ``chosen`` explains the engine if prorl chose it."""

    config: TrainConfig
    run: RunFolder
    resume: bool = False
    decisions: tuple[Decision, ...] = ()
    chosen: str = ""

    def check(self) -> Path:
        """Check that the run can start, and return the dataset's folder. Raises UserError."""
        dataset = check_start(self.config, None if self.resume else self.run)
        later = [self.config.in_phase(n).engine for n in range(1, len(self.config.phases))]
        if self.config.stages and "openrlhf" in later:  # now rather than after earlier stages
            from prorl_training.engine.openrlhf.launch.session import check_cluster

            check_cluster(self.config)
        return dataset

    def check_memory(self) -> str | None:
        """Return a note on the memory that the run needs, or None. Raises UserError if it does not fit."""
        from prorl_training.planning.fit import check_fit, memory_here

        return check_fit(self.config, memory_here(self.config))

    def train(
        self, progress: Progress, restarts: int = 0, trainers: Trainers | None = None
    ) -> TrainReport:
        """Train to the end. ``trainers(engine)`` returns an engine's training function."""

        def once(again: bool) -> TrainReport:
            return self._train(progress, trainers or trainer_of, again)

        return train_with_restarts(once, self.run, restarts, progress.message)

    def _train(self, progress: Progress, trainers: Trainers, again: bool) -> TrainReport:
        # an earlier launch has already written the changes to the run's config
        changes_recorded = again and self.run.config() == self.config
        config, resume = self.config, self.resume or again
        decisions = () if changes_recorded else self.decisions
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
    """Return a new run under runs/. Raises UserError.

    ``overrides`` have the form ``section.key=value``. Preset and engine depend on this machine unless they are given.
    """
    if preset is None and config_file is None and "engine=openrlhf" not in overrides:
        # data first: loading torch for the preset takes seconds
        find_dataset(load_config(None, None, overrides))
        preset = default_preset()
    choice = EngineChoice()
    from_file = read_config_file(config_file) if config_file is not None else {}
    preset_name = preset or from_file.get("preset")
    engine_is_named = (
        "engine" in from_file
        or any(o.partition("=")[0].strip() == "engine" for o in overrides)
        or (preset_name is not None and "engine" in load_preset(str(preset_name)))
    )
    if not engine_is_named:
        choice = pick_engine(
            lambda more: load_config(preset, config_file, [*overrides, *more]), machine
        )
    config = load_config(preset, config_file, [*overrides, *choice.settings])
    run = named_run(name or f"{config.preset}-{time.strftime('%Y%m%d-%H%M%S')}")
    return Start(config, run, chosen=choice.message)


def resumed_run(name: str, overrides: Sequence[str], steps: int | None) -> Start | str:
    """Return the run to resume, or a message if nothing is left to do. Raises UserError."""
    from prorl_training.run.resume import resume_config

    run = find_run(name)
    config, decisions = resume_config(run, overrides, steps)
    if not decisions and (why := nothing_left(run, config)) is not None:
        return why
    if config.data.path is not None and not Path(config.data.path).exists():
        raise UserError(
            f"the dataset of {run.name} is no longer at {config.data.path}: give its folder with --data"
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
    """Train a run under runs/ with the defaults of ``prorl train``. Returns its report.

    ``settings`` are config keys with ``__`` for the dot, such as ``optimizer__lr=1e-6``. ``resume`` is the name of a
    run (or ``latest``) to continue up to step ``steps``. ``restarts`` is the maximum number of restarts after a worker
    or node died. Ctrl-C finishes the step, saves and sets ``report.interrupted``. Raises UserError, ServiceError.
    """
    from prorl_common import PlainProgress

    values = {"data__path": data, "model__path": model, **settings}
    sets = [
        f"{key.replace('__', '.')}={value}" for key, value in values.items() if value is not None
    ]
    if resume is None:
        sets += [] if steps is None else [f"steps={steps}"]
        start: Start | str = new_run(preset, None, sets, name)
    elif preset or name:
        raise UserError("resume uses the run's preset and name: leave out preset and name")
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
