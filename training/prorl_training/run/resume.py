"""Checks and records what has changed when a run is resumed. Settings of the algorithm must not change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from prorl_common import prorl_command, sha256_file
from prorl_training.config import TrainConfig
from prorl_training.config.loading import check_config, parse_override
from prorl_training.config.tree import merge
from prorl_training.run.checkpoint import has_checkpoint, newest_step, newest_whole
from prorl_training.run.folder import ResumeError, RunFolder
from prorl_training.run.lineage import place, read_lineage
from prorl_training.spec import ADVANTAGES, KL_ESTIMATORS, PENALTIES, POLICY_LOSSES
from prorl_training.types import Decision
from prorl_verifiers import Task, part_records

ALLOWED = (
    "steps",
    "plugins",
    "token_budget",
    "data.path",
    "model.device",
    "model.gradient_checkpointing",
    "model.liger",
    "model.gpus",
    "model.sharding",
    "model.gpu_gb",
    "model.check_fit",
    "rollout.batch_rows",
    "rollout.backend",
    "rollout.servers",
    "rollout.weights_folder",
    "rollout.request_seeds",
    "rollout.batching",
    "loss.pack_tokens",
    "kl.measure_share_every",
    "checkpoint.every",
    "checkpoint.keep",
    "checkpoint.best",
    "logging.",
    "openrlhf.vllm_memory",
    "openrlhf.vllm_sleep",
    "openrlhf.vllm_eager",
    "openrlhf.reference_offload",
    "openrlhf.train_tokens_per_gpu",
    "openrlhf.rollout_tokens_per_gpu",
    "openrlhf.attention",
    "openrlhf.ray_address",
    "openrlhf.reward_replicas",
    "openrlhf.verify_sync",
    "openrlhf.node_wait_seconds",
    "openrlhf.object_store_gib",
    "reward.servers",
    "reward.workers",
    "reward.timeout_seconds",
    "reward.overlap",
    "safety.bad_updates",
    "safety.empty_steps",
    "safety.outage_retries",
    "safety.watchdog_seconds",
)
"""Settings that may change on resuming. A name that ends in a dot stands for a whole section.

Plug-in files and the dataset may move but not change (``check_identity``). Device, number of GPUs, batching and pack
size change the rounding of sums; with ``model.dtype=auto`` the device may also change the compute type. Another
``rollout.backend`` or ``rollout.request_seeds`` draws other samples of the same distribution."""


def resume_config(
    run: RunFolder, overrides: Sequence[str], steps: int | None
) -> tuple[TrainConfig, list[Decision]]:
    """Return the run's config with allowed changes, and the decision that records them. Nothing is written.

    Raises ResumeError listing all changes that are not allowed.
    """
    before = run.config()
    values = before.model_dump(mode="json")
    for text in [*overrides, *([] if steps is None else [f"steps={steps}"])]:
        path, value = parse_override(text)
        if path == ["engine"] and before.stages:
            values["stages"] = _with_engine(run, before, value)
            continue
        nested: Any = value
        for part in reversed(path):
            nested = {part: nested}
        values = merge(values, nested)
    after = check_config(values)
    done = newest_step(run.checkpoints) or 0
    changed = changes(before, after)
    # ``_with_engine`` changes only stages that have not begun
    engines = [f"stages.{s.name}.engine" for s in before.stages]
    wrong = {
        key: pair
        for key, pair in changed.items()
        if not (
            key in engines
            or any(key.startswith(n) if n.endswith(".") else key == n for n in ALLOWED)
        )
    }
    if wrong:
        differences = ", ".join(
            f"{key} ({_show(a)} -> {_show(b)})" for key, (a, b) in wrong.items()
        )
        sections = dict.fromkeys(key.partition(".")[0] for key in wrong)
        free = [name for name in ALLOWED if name.partition(".")[0] in sections]
        permitted = ", ".join(free) or f"nothing of {', '.join(sections)}"
        raise ResumeError(
            f"{run.name} was not started with {differences}, which --resume cannot change "
            f"(it can change {permitted}). Start a new run from this policy: "
            f"{prorl_command('train', 'export', run.name)} --out FOLDER, then prorl train --model FOLDER --set ..."
        )
    if after.steps < done:
        raise ResumeError(
            f"{run.name} has already done {done} steps: --steps must be at least {done}"
        )
    if "steps" in changed:
        # keep the length of the learning rate's decay, so that a longer run keeps its curve
        o = before.optimizer
        decays = any(c.optimizer.schedule != "constant" for c in before.phase_configs)
        if not o.decay_updates and decays:
            fall = max(before.planned_updates - o.warmup_updates, 1)
            optimizer = o.model_copy(update={"decay_updates": fall})
            after = after.model_copy(update={"optimizer": optimizer})
            changed = changes(before, after)
    if not changed:
        return before, []
    reason = ", ".join(f"{key} {_show(a)} -> {_show(b)}" for key, (a, b) in changed.items())
    evidence = {"changed": {key: list(pair) for key, pair in changed.items()}}
    return after, [Decision(done, "config_changed", reason, evidence)]


def _with_engine(run: RunFolder, config: TrainConfig, engine: Any) -> list[dict[str, Any]]:
    """Return the stages, with ``engine`` for those that have not begun. Raises ResumeError if all have begun."""
    _, phase, begins = place(run, config)
    last_begun = config.phases[phase - 1 if begins else phase].stage
    stages = [stage.model_dump(mode="json") for stage in config.stages]
    begun = [stage.name for stage in config.stages].index(last_begun) + 1
    if begun == len(stages):
        raise ResumeError(
            f"{run.name} is in its last stage, and a stage cannot change its engine. To use another "
            "engine, export the policy and start a new run: "
            f"{prorl_command('train', 'export', run.name)} --out FOLDER, then prorl train "
            "--model FOLDER --engine ..."
        )
    return [stage | ({"engine": engine} if n >= begun else {}) for n, stage in enumerate(stages)]


def nothing_left(run: RunFolder, config: TrainConfig) -> str | None:
    """Return None if a run has steps left, else a message that says why not and how to extend the run."""
    if not has_checkpoint(run.checkpoints):
        return None
    _, state, _ = newest_whole(run.checkpoints)
    if state["step"] >= config.steps:
        return f"{run.name} has done all its {config.steps} steps: to train longer, add --steps N"
    budget = config.token_budget
    if budget and state["tokens_total"] >= budget:
        return f"{run.name} has spent its token_budget of {budget}: to train longer, add --set token_budget=N"
    return None


def changes(before: TrainConfig, after: TrainConfig) -> dict[str, tuple[Any, Any]]:
    """Return {dotted name: (old, new)} of every setting that differs."""
    old, new = flat(before.model_dump(mode="json")), flat(after.model_dump(mode="json"))
    keys = [*old, *(k for k in new if k not in old)]
    return {k: (old.get(k), new.get(k)) for k in keys if old.get(k) != new.get(k)}


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return {dotted name: value} of every setting. Phases and stages are keyed by name."""
    settings: dict[str, Any] = {}
    for key, value in values.items():
        named = isinstance(value, list) and all(
            isinstance(v, Mapping) and "name" in v for v in value
        )
        if named and value:
            settings |= flat({item["name"]: item for item in value}, f"{prefix}{key}.")
        elif isinstance(value, Mapping) and value:
            settings |= flat(value, f"{prefix}{key}.")
        else:
            settings[f"{prefix}{key}"] = value
    return settings


def _show(value: Any) -> str:
    return "none" if value is None else str(value)


def environment_decisions(
    state: Mapping[str, Any], now: Mapping[str, Any], consequence: str
) -> list[Decision]:
    """Return a decision if environment ``now`` differs from the checkpoint's. Its reason ends with ``consequence``."""
    old = state["environment"]
    changed = {key: [old.get(key), now[key]] for key in now if old.get(key) != now[key]}
    if not changed:
        return []
    differences = ", ".join(f"{key} {a} -> {b}" for key, (a, b) in changed.items())
    evidence = {"environment": changed}
    return [
        Decision(int(state["step"]), "config_changed", f"{differences}: {consequence}", evidence)
    ]


def parts_in_use(config: TrainConfig, tasks: Iterable[Task] = ()) -> list[dict[str, str]]:
    from prorl_inference import BACKENDS

    phases = config.phase_configs
    return [
        *POLICY_LOSSES.records(c.loss.name for c in phases),
        *ADVANTAGES.records(c.advantage.estimator for c in phases),
        *KL_ESTIMATORS.records(c.kl.estimator for c in phases),
        *PENALTIES.records(n for c in phases for n in (c.length_penalty.form, *c.penalties)),
        *BACKENDS.records({config.rollout.backend} - {"auto"}),
        *part_records(tasks),
    ]


def run_identity(
    dataset: Path, model: Path | None, parts: Sequence[Mapping[str, str]] = ()
) -> dict[str, Any]:
    """Return the digests of dataset and base model, the model's lineage, and ``parts``, the plug-ins in use."""
    from prorl_inference import model_digest

    identity: dict[str, Any] = {"dataset": dataset_fingerprint(dataset)}
    if model is not None:
        identity["model"] = model_digest(model)
        if (came_from := read_lineage(model)) is not None:
            identity["came_from"] = came_from
    if parts:
        identity["parts"] = [dict(part) for part in parts]
    return identity


def dataset_fingerprint(path: Path) -> str:
    """Return a hex SHA-256 over the hashes of a dataset's files, or of a single file."""
    from prorl_datasets import read_manifest

    if path.is_file():
        return sha256_file(path)
    listed = {name: entry.get("sha256") for name, entry in read_manifest(path)["files"].items()}
    return sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()


def check_identity(
    run: RunFolder,
    dataset: Path,
    model: Path | None = None,
    parts: Sequence[Mapping[str, str]] = (),
) -> None:
    """Raise ResumeError if data, base model or plug-ins (``parts``) differ from the run's ``identity.json``.

    A run without this file is not checked.
    """
    recorded = run.identity()
    if recorded is None:
        return
    if trainer := recorded.get("trainer"):
        raise ResumeError(f"{run.name} was trained by {trainer}: resume it with that trainer")
    before = recorded.get("parts", [])
    if [dict(part) for part in parts] != before:
        changed = [part for part in [*before, *parts] if part not in before or part not in parts]
        names = dict.fromkeys(f"{part['name']} of {part['source']}" for part in changed)
        raise ResumeError(
            f"{run.name} was started with other plug-ins ({', '.join(names)} changed): continue "
            "with those plug-ins, or start a new run from its weights "
            f"({prorl_command('train', 'export', run.name)} --out MODEL, then prorl train --set "
            "model.path=MODEL)"
        )
    if recorded["dataset"] != dataset_fingerprint(dataset):
        raise ResumeError(
            f"the dataset {dataset} is not the one that {run.name} was started on (its files differ): "
            "give the old dataset with --data, or start a new run"
        )
    if model is None or "model" not in recorded:
        return
    from prorl_inference import model_digest

    if recorded["model"] != model_digest(model):
        raise ResumeError(
            f"the model {model} is not the one that {run.name} was started on (its weights differ): "
            "start a new run"
        )
