"""The local engine: policy, reference and sampler in one process."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import MissingExtraError, Progress, UserError, on_interrupt, prorl_command
from prorl_datasets import DatasetError, Sample
from prorl_training.config import TrainConfig
from prorl_training.config.runtime import RewardConfig
from prorl_training.run.folder import RunFolder
from prorl_training.types import Decision

if TYPE_CHECKING:
    from prorl_training.engine.loop import AfterStep
    from prorl_training.engine.ranks import Team


@dataclass(frozen=True, slots=True)
class TrainReport:
    """Result of training. ``stopped`` is the reason if the run ended itself early."""

    run: Path
    last_step: int
    steps: int
    interrupted: bool
    stopped: str | None = None


def default_preset() -> str:
    """Return ``prorl-v2`` if torch sees a CUDA GPU, else ``cpu``."""
    require_local()
    import torch

    return "prorl-v2" if torch.cuda.is_available() else "cpu"


def require_local() -> None:
    """Raise MissingExtraError if torch, transformers or safetensors is not installed."""
    import importlib.util

    for module in ("torch", "transformers", "safetensors"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("local", module)


def find_dataset(config: TrainConfig) -> Path:
    """Return the folder of the config's dataset, by default the newest one under ./data."""
    if config.data.path is not None:
        return Path(config.data.path)
    from prorl_datasets import newest_dataset

    newest = newest_dataset(Path("data"))
    if newest is None:
        raise DatasetError(
            "no dataset under data/: make one with prorl data build --recipe quickstart"
        )
    return newest


def check_start(config: TrainConfig, run: RunFolder | None) -> Path:
    """Return the dataset's folder. Raises UserError for anything that prevents the run from starting.

    ``run`` is the folder of a new run, or None for a resumed run.
    """
    from prorl_datasets import stream
    from prorl_inference.models.loading import check_device, pick_device
    from prorl_inference.models.store import check_model

    if run is not None:
        run.check_new()
    dataset = find_dataset(config)
    next(stream(dataset), None)  # only its first row
    check_model(config.model.path)
    engines = {settings.engine for settings in config.phase_configs}
    if "local" in engines:
        require_local()
        device = pick_device(config.model.device)
    else:
        check_device(config.model.device)
        device = "cuda"  # ``launch.understood`` refuses any other
    if "local" in engines:
        check_gpus(config, device)
    if config.model.liger:
        from prorl_training.policy.liger import check_liger

        check_liger(device)
    return dataset


def check_gpus(config: TrainConfig, device: str) -> None:
    """Raise UserError if this machine does not have ``model.gpus`` GPUs, or the config cannot use several."""
    wanted, named, rollout = config.model.gpus, config.model.device, config.rollout
    if wanted == 1:
        return
    if rollout.servers:
        raise UserError(f"model.gpus={wanted} is not supported with rollout.servers: use --gpus 1")
    if rollout.device:
        raise UserError(
            f"model.gpus={wanted} is not supported with rollout.device: use --set rollout.device=, or --gpus 1"
        )
    if named == "cpu":
        return
    if ":" in named:
        raise UserError(
            f"model.device={named} is one GPU, but model.gpus={wanted}: use --device cuda, and CUDA_VISIBLE_DEVICES "
            "to choose GPUs"
        )
    import torch

    count = torch.cuda.device_count() if device.startswith("cuda") else 0
    if wanted > count:
        cure = f"use --gpus {max(count, 1)}" + (
            "" if count else f", or --device cpu for {wanted} processes on the CPU"
        )
        raise UserError(
            f"{wanted} GPUs were requested, but torch finds {count or 'no'} GPU{'' if count == 1 else 's'}: {cure}"
        )


def load_samples(path: Path, reward: RewardConfig) -> tuple[list[Sample], list[Sample]]:
    """Return (train, validation) samples, with the verifier modes of ``reward`` in their tasks.

    Raises DatasetError if there are no training samples.
    """
    from prorl_datasets import load
    from prorl_verifiers import with_mode

    modes = reward.verifier_modes()
    samples = [replace(sample, task=with_mode(sample.task, modes)) for sample in load(path)]
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
    after_step: AfterStep | None = None,
) -> TrainReport:
    """Train with the local engine in the folder ``run``. ``resume`` continues from the newest checkpoint.

    The first Ctrl-C finishes the step, saves and returns; a second stops at once. ``after_step`` ends training by
    returning False.
    """
    require_local()
    from prorl_inference import pick_backend, pick_device
    from prorl_training.engine.builder import Builder
    from prorl_training.rollout.scoring import workers_here
    from prorl_training.rollout.staleness import refuse_lost_logprobs
    from prorl_training.run.watchdog import Watchdog
    from prorl_verifiers import VERIFIERS, WorkerOptions, open_pool, tasks_in

    sampler = pick_backend(config.rollout.backend, pick_device(config.model.device), training=True)
    refuse_lost_logprobs(config, sampler)
    sampler.check_installed()
    folder = RunFolder(run)
    data = find_dataset(config)
    samples = load_samples(data, config.reward)
    config = config.model_copy(
        update={"data": config.data.model_copy(update={"path": str(data.resolve())})}
    )
    reward = config.reward
    tasks = [task for split in samples for sample in split for task in tasks_in(sample.task)]
    # only verifiers that run in the pool's own processes
    warm = sorted({t.verifier for t in tasks if VERIFIERS.get(t.verifier).score is not None})
    with (
        folder.lock(),
        open_pool(
            reward.servers,
            workers_here(config),
            reward.backend,
            allow_weak=reward.allow_weak,
            timeout_seconds=reward.timeout_seconds,
            worker_options=WorkerOptions(warm=warm),
            say=progress.message,
        ) as pool,
        Watchdog(config.safety.watchdog_seconds, run / "stacks.txt", progress.message) as watchdog,
        contextlib.closing(LocalEngine(config, folder, samples, pool, progress)) as engine,
    ):
        pool.require(sample.task for split in samples for sample in split)
        builder = Builder(engine, config, folder, samples, progress, watchdog.beat)
        loop = builder.build(resume, decisions)
        loop.after_step = after_step or loop.after_step

        def finish_step() -> None:
            loop.stop_requested = True

        with on_interrupt(finishing(folder), finish_step, progress.message):
            last = loop.run()
        progress.finish()
    ended_early = last < config.steps and loop.stop_reason is None and loop.stop_requested
    return TrainReport(run, last, config.steps, ended_early, loop.stop_reason)


@dataclass
class LocalEngine:
    """Trains in this process, plus one process for each further GPU; implements ``engine.builder.Engine``."""

    config: TrainConfig
    folder: RunFolder
    samples: tuple[Sequence[Sample], Sequence[Sample]]
    scorer: Any
    progress: Progress

    def load(self, checkpoint: Path | None) -> Any:
        """Load the checkpoint's model, or the base model with LoRA or for a new run."""
        from prorl_training.engine.builder import Machinery
        from prorl_training.engine.ranks import Member, TeamPolicy

        c = self.config.model
        weights = self.base_model if checkpoint is None or c.lora.rank else checkpoint / "policy"
        if checkpoint is not None and c.lora.rank:
            self._check(weights)
        self.team.run(Member.load, weights)
        own = self.team.own
        folder = weights if checkpoint is None else checkpoint / "policy"
        context = getattr(own.policy.model.config, "max_position_embeddings", None)
        policy = own.policy if own.ranks.size == 1 else TeamPolicy(self.team)
        return Machinery(policy, own.tokenizer, context, lambda: self._sampler(folder), self.scorer)

    @functools.cached_property
    def team(self) -> Team:
        from prorl_training.engine.ranks import Team

        return Team(self.config, self.folder.path)

    def close(self) -> None:
        if "team" in vars(self):
            self.team.close()

    def begin(self, machinery: Any, again: bool) -> list[Decision]:
        from prorl_training.engine.ranks import Member
        from prorl_training.policy.warm_start import warm_start_if_configured
        from prorl_training.run.resume import run_identity

        if again:
            self.folder.config_path.unlink(missing_ok=True)
        identity = run_identity(Path(str(self.config.data.path)), self.base_model, self.parts)
        self.folder.create(self.config, identity)
        train, tokenizer = self.samples[0], machinery.tokenizer
        return warm_start_if_configured(
            self.team.own.policy,
            train,
            tokenizer,
            self.progress,
            lambda groups: self.team.together(Member.warm_start, groups),
        )

    def check_resumable(self) -> None:
        self._check(None)

    def restore(self, machinery: Any, checkpoint: Path, state: Mapping[str, Any]) -> list[Decision]:
        effect = "the run continues, but not bit for bit as it would have without the change"
        return self._restore(checkpoint, state, False, effect)

    def begin_stage(
        self, machinery: Any, checkpoint: Path, state: Mapping[str, Any]
    ) -> list[Decision]:
        return self._restore(checkpoint, state, True, "the weights are the same")

    def _restore(
        self, checkpoint: Path, state: Mapping[str, Any], weights_only: bool, effect: str
    ) -> list[Decision]:
        from prorl_training.engine.ranks import Member
        from prorl_training.policy.files import environment
        from prorl_training.run.resume import environment_decisions

        self.team.run(Member.restore, checkpoint, state, weights_only)
        return environment_decisions(state, environment(self.team.own.policy), effect)

    def change_config(self, step: int) -> None:
        self.folder.replace_config(self.config, step)

    def recorded(self) -> None: ...

    @functools.cached_property
    def base_model(self) -> Path:
        from prorl_inference import fetch_or_resolve

        return fetch_or_resolve(self.config.model.path, self.progress)

    @functools.cached_property
    def parts(self) -> list[dict[str, str]]:
        from prorl_training.run.resume import parts_in_use

        return parts_in_use(self.config, (s.task for split in self.samples for s in split))

    def _check(self, model: Path | None) -> None:
        from prorl_training.run.resume import check_identity

        check_identity(self.folder, Path(str(self.config.data.path)), model, self.parts)

    def _sampler(self, folder: Path) -> Any:
        from prorl_training.engine.ranks import Member, TeamGenerator

        place = Path(self.config.rollout.weights_folder or self.folder.path)
        self.team.run(Member.open_sampler, folder, place / f"{self.folder.name}-weights")
        own = self.team.own
        return own.generator if own.ranks.size == 1 else TeamGenerator(self.team)


def finishing(run: RunFolder) -> str:
    return (
        "finishing this step, then saving; continue with "
        f"{prorl_command('train', '--resume', run.name)}"
    )


def scaling_notes(config: TrainConfig) -> list[str]:
    """Return one line for each setting that is smaller than in preset ``prorl-v2``."""
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
