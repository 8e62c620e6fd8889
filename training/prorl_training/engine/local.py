"""From a config to a running engine: find data and model, start the checkers, create or resume the run.

Also decides what a bare ``prorl train`` means on this machine. Leaves out: the loop (``engine.loop``)
and what a resumed run may change (``resume``).
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from prorl_common import MissingExtraError, Progress
from prorl_datasets import DatasetError, Sample
from prorl_training.config import RewardConfig, TrainConfig
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.decisions import Decision


@dataclass(frozen=True, slots=True)
class TrainReport:
    """How a training call ended. ``stopped`` is the reason why the run itself gave up, else None."""

    run: Path
    last_step: int
    steps: int
    interrupted: bool
    stopped: str | None = None


def default_preset() -> str:
    """Return the preset for this machine: ``prorl-v2`` with a CUDA GPU, else ``cpu``."""
    require_local()
    import torch

    return "prorl-v2" if torch.cuda.is_available() else "cpu"


def require_local() -> None:
    """Raise MissingExtraError when torch or transformers is not installed."""
    import importlib.util

    for module in ("torch", "transformers", "safetensors"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("local", module)


def find_dataset(config: TrainConfig) -> Path:
    """Return the dataset folder that the config names, else the newest under ./data."""
    if config.data.path is not None:
        return Path(config.data.path)
    from prorl_datasets import newest_dataset

    found = newest_dataset(Path("data"))
    if found is None:
        raise DatasetError(
            "no dataset under data/: make one with prorl data build --recipe quickstart"
        )
    return found


def load_samples(
    path: Path, modes: Mapping[str, str] | None = None
) -> tuple[list[Sample], list[Sample]]:
    """Return (train, validation) samples; a dataset without training samples is an error.

    ``modes`` are written into the tasks, so that rollouts record how their rewards came about.
    """
    from prorl_datasets import load
    from prorl_verifiers import with_mode

    samples = [replace(sample, task=with_mode(sample.task, modes or {})) for sample in load(path)]
    train = [s for s in samples if s.split == "train"]
    if not train:
        raise DatasetError(f"{path} has no training samples: build it with a train split")
    return train, [s for s in samples if s.split == "validation"]


def train(
    config: TrainConfig,
    run: Path,
    progress: Progress,
    resume: bool = False,
    decisions: Sequence[Decision] = (),
) -> TrainReport:
    """Train with the local engine in the folder ``run``; with ``resume`` go on from its checkpoint.

    ``decisions`` are recorded first (a resumed run's changes of config). The first Ctrl-C finishes the
    running step, saves and returns; the second stops at once, which loses only what came after the last
    checkpoint.
    """
    require_local()
    from prorl_inference import pick_backend, pick_device
    from prorl_training.rollout.sampler_logprobs import refuse_lost_logprobs
    from prorl_training.run.watchdog import Watchdog

    sampler = pick_backend(config.rollout.backend, pick_device(config.model.device), training=True)
    refuse_lost_logprobs(config, sampler)
    sampler.check_installed()
    folder = RunFolder(run)
    data = find_dataset(config)
    samples = load_samples(data, config.reward.verifier_modes())
    config = config.model_copy(
        update={"data": config.data.model_copy(update={"path": str(data.resolve())})}
    )
    with (
        folder.lock(),
        _open_pool(config.reward, (*samples[0], *samples[1])) as pool,
        Watchdog(config.safety.watchdog_seconds, run / "stacks.txt", progress.message) as watchdog,
    ):
        setup = _Setup(config, folder, samples, pool, progress, watchdog)
        engine = setup.resumed(decisions) if resume else setup.fresh(decisions)
        with _finish_step_on_interrupt(engine, progress):
            last = engine.run()
        progress.finish()
    ended_early = last < config.steps and engine.stop_reason is None and engine.stop_requested
    return TrainReport(run, last, config.steps, ended_early, engine.stop_reason)


def _open_pool(reward: RewardConfig, samples: Iterable[Sample]) -> Any:
    """Return the checkers, those that work in the pool's own processes warm for these samples."""
    from prorl_verifiers import VerifierPool, WorkerOptions

    warm = sorted({sample.task.verifier for sample in samples} - {"code"})
    return VerifierPool(
        workers=reward.workers,
        sandbox=reward.backend,
        allow_weak=reward.allow_weak,
        timeout_seconds=reward.timeout_seconds,
        worker_options=WorkerOptions(warm=warm),
    )


@dataclass
class _Setup:
    """Builds the engine of one training call."""

    config: TrainConfig
    folder: RunFolder
    samples: tuple[list[Sample], list[Sample]]
    pool: Any
    progress: Progress
    watchdog: Any

    def fresh(self, decisions: Sequence[Decision]) -> Any:
        """Return the engine of a new run: warm start and checkpoint 0 done."""
        from prorl_inference import fetch_or_resolve
        from prorl_training.policy.warm_start import warm_start_if_asked
        from prorl_training.run.resume import parts_in_use, run_identity

        path = fetch_or_resolve(self.config.model.path, self.progress)
        policy, tokenizer = self._policy(path)
        engine = self._engine(policy, tokenizer, path, 0)
        self.folder.create(
            self.config,
            run_identity(Path(str(self.config.data.path)), path, parts_in_use(self.config)),
        )
        self.folder.truncate_after(-1)
        warm = warm_start_if_asked(policy, self.samples[0], tokenizer, self.progress)
        engine.start([*decisions, *warm])
        return engine

    def resumed(self, decisions: Sequence[Decision]) -> Any:
        """Return the engine as its newest whole checkpoint left it; a run without one begins anew."""
        from prorl_training.policy.files import environment_decisions, restore_checkpoint
        from prorl_training.rollout.buffer import load_buffer
        from prorl_training.run.checkpoint_store import has_checkpoint, open_checkpoint
        from prorl_training.run.resume import check_identity, parts_in_use

        parts = parts_in_use(self.config)
        check_identity(self.folder, Path(str(self.config.data.path)), parts=parts)
        if not has_checkpoint(self.folder.checkpoints):
            self.folder.config_path.unlink(missing_ok=True)
            return self.fresh(decisions)
        path, state, fallbacks = open_checkpoint(self.folder.checkpoints)
        step = int(state["step"])
        policy, tokenizer = self._policy(self._weights_to_resume(path))
        restore_checkpoint(path, policy, state)
        self.folder.truncate_after(step)
        engine = self._engine(policy, tokenizer, path / "policy", step)
        by_id = {s.id: s for s in self.samples[0]}
        engine.restore(state, load_buffer(path, by_id))
        decisions = [replace(d, step=step) for d in decisions]
        if decisions:
            self.folder.replace_config(self.config, step)
        told = [*decisions, *fallbacks, *environment_decisions(state, policy)]
        self.folder.log_decisions(told)
        for d in told:
            self.progress.message(f"{d.kind.replace('_', ' ')}: {d.reason}")
        self.progress.message(f"resuming {self.folder.name} after step {step}")
        return engine

    def _weights_to_resume(self, checkpoint: Path) -> Path:
        """Return the folder to load: the checkpoint's policy, or with LoRA the base under the adapters."""
        if not self.config.model.lora.rank:
            return checkpoint / "policy"
        from prorl_inference import fetch_or_resolve
        from prorl_training.run.resume import check_identity, parts_in_use

        path = fetch_or_resolve(self.config.model.path, self.progress)
        check_identity(
            self.folder, Path(str(self.config.data.path)), path, parts_in_use(self.config)
        )
        return path

    def _policy(self, path: Path) -> tuple[Any, Any]:
        from prorl_inference import load_model, pick_device, pick_dtype
        from prorl_training.policy.policy import Policy

        c = self.config.model
        device = pick_device(c.device)
        model, tokenizer = load_model(path, device, pick_dtype(device, "fp32"))
        return Policy(model, self.config, pick_dtype(device, c.dtype)), tokenizer

    def _engine(self, policy: Any, tokenizer: Any, path: Path, last_step: int) -> Any:
        from prorl_inference import BackendOptions, encode_prompt, pick_backend
        from prorl_training.engine.interface import Parts
        from prorl_training.engine.loop import TrainingLoop
        from prorl_training.engine.start_notes import start_notes
        from prorl_training.rollout.prompts import PromptSource, check_context

        r = self.config.rollout
        context = getattr(policy.model.config, "max_position_embeddings", None)
        check_context(self.config, context)
        train, validation = self.samples
        prompts = PromptSource(train, lambda s: encode_prompt(tokenizer, s.prompt), context)
        prompts.check(self.config)
        for line in start_notes(prompts, self.config, bool(validation)):
            self.progress.message(line)
        device = str(policy.model.device)
        options = BackendOptions(
            path,
            device,
            str(policy.compute_dtype).removeprefix("torch."),
            r.batch_rows,
            r.batching,
            r.vllm_context or None,
            r.vllm_memory,
            policy.model,
            tokenizer,
        )
        generator = pick_backend(r.backend, device, training=True).open(options)
        parts = Parts(
            prompts,
            validation,
            policy,
            tokenizer,
            generator,
            self.pool,
            self.folder,
            self.progress,
            self.watchdog.beat,
        )
        return TrainingLoop(self.config, parts, last_step)


@contextlib.contextmanager
def _finish_step_on_interrupt(engine: Any, progress: Progress) -> Iterator[None]:
    """Let Ctrl-C, and SIGTERM as a job scheduler sends it, end the run after the running step."""

    def handler(number: int, frame: FrameType | None) -> None:
        if engine.stop_requested:
            raise KeyboardInterrupt
        engine.stop_requested = True
        progress.message("finishing this step, then saving (Ctrl-C again stops at once)")

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)


def scaling_notes(config: TrainConfig) -> list[str]:
    """Return what a run does smaller than the published recipe (preset ``prorl-v2``), a line each."""
    from prorl_training.config.loading import load_config

    full = load_config("prorl-v2")
    if config.preset == full.preset:
        return []
    pairs = {
        "prompts a step": (full.rollout.prompts, config.rollout.prompts),
        "samples a prompt": (full.rollout.samples, config.rollout.samples),
        "response limit": (full.rollout.max_tokens, config.rollout.max_tokens),
        "gradient updates a step": (full.loss.mini_batches, config.loss.mini_batches),
    }
    return [f"{name} {a} -> {b}" for name, (a, b) in pairs.items() if b < a]
