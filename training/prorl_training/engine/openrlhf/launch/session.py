"""Prepare, start and follow a cluster run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prorl_common import (
    DiskFullError,
    Progress,
    ServiceError,
    UserError,
    atomic_write_text,
    on_interrupt,
    prorl_command,
)
from prorl_common.files import is_full
from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.engine.local import TrainReport, find_dataset, finishing, load_samples
from prorl_training.engine.openrlhf import events
from prorl_training.engine.openrlhf.launch.arguments import (
    Places,
    argument_list,
    local_context,
    reward_places,
)
from prorl_training.engine.openrlhf.launch.cleanup import end_orphan_processes, sweep_cluster
from prorl_training.engine.openrlhf.launch.environment import run_environment
from prorl_training.engine.openrlhf.launch.understood import check_supported
from prorl_training.engine.openrlhf.spec import PENDING, VARIABLE, Spec
from prorl_training.engine.openrlhf.versions import require_stack
from prorl_training.planning.gpus import Device
from prorl_training.run.folder import RunFolder
from prorl_training.run.lineage import place
from prorl_training.run.resume import check_identity, parts_in_use, run_identity
from prorl_training.types import Decision
from prorl_verifiers import VERIFIERS

PROMPTS = "prompts.jsonl"
POLL = 0.3
"""Seconds between reads of the run's events."""
GRACE = 10.0
"""Seconds that other processes get to end after one has reported a failure."""
LAST_LINES = 15
STARTS = 3
"""Maximum number of attempts to start if a port is in use."""
PATIENCE = 60.0
"""Seconds that processes get to end after a second Ctrl-C."""


def train_on_cluster(
    config: TrainConfig,
    run: Path,
    progress: Progress,
    resume: bool = False,
    decisions: Sequence[Decision] = (),
) -> TrainReport:
    """Train with OpenRLHF in the folder ``run``. ``resume`` continues from the newest checkpoint.

    The first Ctrl-C ends the run after its step, a second at once. Raises UserError, or ServiceError if a process or
    node died.
    """
    device = check_cluster(config)
    if device == "cpu":
        progress.message("without a GPU: this tests a recipe on the real stack; training is slow")
    data = find_dataset(config).resolve()
    config = config.model_copy(update={"data": config.data.model_copy(update={"path": str(data)})})
    folder = RunFolder(run.resolve())
    with folder.lock():
        model = prepare_run(config, folder, data, progress, resume)
        checkpoint, phase, begins_stage = place(folder, config)
        if checkpoint is not None and begins_stage:
            model = checkpoint / "policy"
        launch = folder.path / "openrlhf"
        launch.mkdir(exist_ok=True)
        events.clear(launch)
        changes = pending_changes(folder, config, launch, decisions)
        places = Places(
            model=str(model),
            prompts=str(launch / PROMPTS),
            checkpoints=str(launch / "checkpoints"),
            output=str(launch / "policy"),
            reward=reward_places(config),
            device=device,
            context=local_context(str(model)),
        )
        spec = Spec(
            run=str(folder.path),
            resume=resume,
            device=device,
            arguments=tuple(argument_list(config, places, phase)),
            decisions=changes,
        )
        cluster = config.openrlhf.ray_address or os.environ.get("RAY_ADDRESS", "")
        if resume:  # end processes of an earlier launch, also on nodes that were away
            _sweep(spec, cluster, progress)
        code, outcome = run_processes(spec, folder, cluster, progress)
        log = spec.folder / "log.txt"
        cure = f"continue with: {prorl_command('train', '--resume', folder.name)}"
        if outcome is None:
            if is_full(folder.path):  # the outcome itself may not fit on the disk
                raise DiskFullError(f"the disk of {folder.path} is full: make room, then {cure}")
            text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
            tail = "\n".join(f"  {line}" for line in text.splitlines()[-LAST_LINES:])
            raise ServiceError(
                f"OpenRLHF ended with exit code {code} before the run was finished\n{tail}\n(whole log: {log}); {cure}"
            )
        if outcome.fault == "user":
            raise UserError(str(outcome.error))
        if outcome.fault == "disk":
            raise DiskFullError(f"{outcome.error} (log: {log}); {cure}")
        if outcome.fault == "service":
            raise ServiceError(f"{outcome.error} (log: {log})\n{cure}")
        if outcome.fault == "bug":
            raise RuntimeError(
                f"in OpenRLHF's trainer process: {outcome.error} (traceback in {log})"
            )
    last_step, interrupted = outcome.last_step, outcome.interrupted
    return TrainReport(folder.path, last_step, config.steps, interrupted, outcome.stopped)


def check_cluster(config: TrainConfig) -> Device:
    """Return the run's device. Raises UserError for missing packages or unsupported settings."""
    require_stack()
    device = device_for(config)
    check_supported(config, device)
    return device


def device_for(config: TrainConfig) -> Device:
    """Return the run's device. Raises UserError if this machine does not have it."""
    import torch

    here, device = torch.cuda.is_available(), config.model.device
    if device == "cpu" and here:
        raise UserError(
            "--device cpu is for machines without a GPU, but this one has GPUs: leave it out, or hide them "
            "with CUDA_VISIBLE_DEVICES="
        )
    elsewhere = bool(config.openrlhf.ray_address or os.environ.get("RAY_ADDRESS"))
    if device == "auto" and not here and not elsewhere:
        raise UserError(
            "there is no GPU here: name the cluster with --set openrlhf.ray_address=HOST:PORT, "
            "or test the recipe on this CPU with --device cpu"
        )
    return "cpu" if device == "cpu" else "cuda"


def refuse_model_code(model: Path) -> None:
    """Raise UserError for a model with its own Python code, which OpenRLHF would run (trust_remote_code).

    Vision models are refused too, because OpenRLHF loads their processor in the same way.
    """
    for path in sorted(model.glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise UserError(f"{path} is not JSON ({error}): download the model again") from error
        if isinstance(content, dict) and "auto_map" in content:
            raise UserError(
                f"{model} contains its own Python code (auto_map in {path.name}), which is not run "
                "here: use a model whose architecture is part of Transformers"
            )
        if path.name == "config.json" and "vision_config" in content:
            raise UserError(f"{model} needs images, which is not supported here: use a text model")


def prepare_run(
    config: TrainConfig, folder: RunFolder, data: Path, progress: Progress, resume: bool
) -> Path:
    """Create the run's folder, or check that of a resumed run; return the model's folder."""
    from prorl_inference import fetch_or_resolve

    model = fetch_or_resolve(config.model.path, progress).resolve()
    refuse_model_code(model)
    train, validation = load_samples(data, config.reward)
    refuse_environments((*train, *validation))
    parts = parts_in_use(config, (sample.task for sample in (*train, *validation)))
    if not resume:
        folder.create(config, run_identity(data, model, parts))
    else:
        check_identity(folder, data, model, parts)
    prompts = folder.path / "openrlhf" / PROMPTS
    if not prompts.is_file():
        export_prompts(train, prompts)
    return model


def refuse_environments(samples: Iterable[Sample]) -> None:
    """Raise UserError if a task is an environment, because a rollout with OpenRLHF has one turn."""
    for name in {sample.task.verifier for sample in samples}:
        if VERIFIERS.get(name).is_environment:
            raise UserError(
                f"engine openrlhf does not support environments, such as {name}: use engine=local"
            )


def prompt_row(sample: Sample) -> dict[str, object]:
    """Return a sample as a row for OpenRLHF's loader. ``label`` holds the task as JSON text."""
    task = {"verifier": sample.task.verifier, "reference": sample.task.reference}
    return {
        "prompt": [dict(message) for message in sample.prompt],
        "label": json.dumps(task, ensure_ascii=False, sort_keys=True),
        "datasource": sample.domain,
        "id": sample.id,
    }


def export_prompts(samples: Iterable[Sample], path: Path) -> int:
    rows = [json.dumps(prompt_row(sample), ensure_ascii=False) + "\n" for sample in samples]
    if not rows:
        raise UserError("there are no prompts to train on: build the dataset with a train split")
    atomic_write_text(path, "".join(rows))
    return len(rows)


def pending_changes(
    folder: RunFolder, config: TrainConfig, launch: Path, decisions: Sequence[Decision]
) -> tuple[dict[str, Any], ...]:
    """Write the changed config; return its ``decisions`` after those of earlier launches that were never recorded."""
    file = launch / PENDING
    changes = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    if decisions:
        changes += [asdict(d) for d in decisions]
        atomic_write_text(file, json.dumps(changes))
        folder.replace_config(config, decisions[0].step)
    return tuple(changes)


def run_processes(
    spec: Spec, run: RunFolder, cluster: str, progress: Progress
) -> tuple[int, events.Outcome | None]:
    """Run a launch's processes to their end; return (exit code, outcome).

    Starts all processes again if a port that OpenRLHF chose is in use.
    """
    for start in range(1, STARTS + 1):
        code = _follow(spec, run, progress)
        _sweep(spec, cluster, progress)
        outcome = events.read_outcome(spec)
        port_taken = outcome is not None and outcome.address_in_use
        if not port_taken or start == STARTS or events.stop_is_requested(spec.folder):
            break
        progress.message(
            f"a port was in use before OpenRLHF could open it: attempt {start + 1} of {STARTS}"
        )
        events.clear(spec.folder)
        spec = spec.again()
    return code, outcome


def _sweep(spec: Spec, cluster: str, progress: Progress) -> None:
    if cluster:
        for node, count in sweep_cluster(spec.path, cluster).items():
            progress.message(
                f"stopped processes that the run had left on {node}: {_processes(count)}"
            )


def _follow(spec: Spec, run: RunFolder, progress: Progress) -> int:
    path = spec.write()
    env = os.environ | run_environment(spec.config(), spec.device) | {VARIABLE: str(path)}
    log = spec.folder / "log.txt"
    progress.message(f"starting Ray, vLLM and DeepSpeed (log: {log})")
    with log.open("ab") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "prorl_training.engine.openrlhf.launch.process", str(path)],
            env=env,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # prorl forwards a Ctrl-C
        )
    reader = events.EventReader(spec.folder / events.EVENTS)

    def finish_step() -> None:
        events.request_stop(spec.folder)

    try:
        with on_interrupt(finishing(run), finish_step, progress.message):
            failed_at: float | None = None
            while child.poll() is None:
                for event in reader.new():
                    events.replay(event, progress)
                time.sleep(POLL)
                outcome = events.read_outcome(spec)
                if failed_at is None and outcome is not None and outcome.fault is not None:
                    failed_at = time.monotonic()
                if failed_at is not None and time.monotonic() - failed_at > GRACE:
                    _end(child)  # other processes would wait for the failed process
    finally:
        if child.poll() is None:
            _end(child)
        if count := end_orphan_processes(path.resolve(), child.pid):
            progress.message(f"stopped processes that the run had left: {_processes(count)}")
    for event in reader.new():
        events.replay(event, progress)
    progress.finish()
    return child.returncode


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _processes(count: int) -> str:
    return f"{count} process{'es' * (count > 1)}"
