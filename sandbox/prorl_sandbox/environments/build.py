"""Build environments with pip, from wheels only, because other packages run code during installation."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from prorl_common import NullProgress, Progress, ServiceError, UserError, atomic_directory
from prorl_sandbox.box.preload import ONE_THREAD
from prorl_sandbox.environments import store
from prorl_sandbox.environments.store import Environment, Requirements, Target, interpreter

_GLIBC = range(40, 16, -1)
_TRIAL_SECONDS = 300.0
_TRIAL = """
import importlib, os, sys
sys.path.append(sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
if len(os.listdir("/proc/self/task")) > 1:
    sys.exit("what is loaded starts threads: a box cannot be forked from it")
"""


class BuildError(ServiceError):
    """Raised if pip fails or a package cannot be imported."""


def build(
    requirements: Requirements, target: Target | None = None, progress: Progress | None = None
) -> tuple[Environment, bool]:
    """Build an environment unless it exists, and remove unused older builds. Return it and whether it was built now.

    Raises UserError if pip is missing or the folder is not writable, BuildError if pip or the import test fails.
    """
    target = target or Target.current()
    progress = progress or NullProgress()
    folder = store.folder_of(requirements, target)
    try:
        with store.being_built(requirements.name):
            facts = store.manifest(folder)
            made = facts is None
            if facts is None:
                with atomic_directory(folder) as work:
                    facts = _fill(work, requirements, target, progress)
                _remove_older(folder, target)
            store.remember(requirements)
    except OSError as error:
        raise UserError(
            f"cannot write {folder.parent}: {error.strerror}; set PRORL_CACHE to a folder you can write"
        ) from error
    finally:
        progress.finish()
    return store.as_environment(requirements, folder / store.PACKAGES, facts), made


def platform_flags(python: str, machine: str) -> list[str]:
    """Return pip's options to install for another Python version and machine (Linux with glibc)."""
    flags = ["--only-binary=:all:", "--implementation=cp", f"--python-version={python}"]
    flags += [f"--platform=manylinux_2_{minor}_{machine}" for minor in _GLIBC]
    return [*flags, f"--platform=manylinux2014_{machine}"]


def _fill(
    work: Path, requirements: Requirements, target: Target, progress: Progress
) -> dict[str, Any]:
    packages = work / store.PACKAGES
    native = target == Target.current()
    progress.start(f"install {requirements.name}", None)
    _install(
        packages, requirements, [] if native else platform_flags(target.python, target.machine)
    )
    for package in [path for path in packages.iterdir() if path.is_dir()]:
        for pattern in requirements.left_out:
            for path in list(package.glob(pattern)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(packages / "bin", ignore_errors=True)
    if native:
        progress.start(f"compile {requirements.name}", None)
        # Validate bytecode by content, because copies may lose modification times.
        command = [interpreter(), "-m", "compileall", "-q", "-j", "0"]
        command += ["--invalidation-mode", "unchecked-hash", str(packages)]
        subprocess.run(
            command, capture_output=True, check=False
        )  # some files are for other Python versions
        progress.start(f"try {requirements.name}", None)
        for line in requirements.preload:
            _try(packages, line)
        _try(packages, tuple(module for line in requirements.preload for module in line))
    installed = sorted(distributions(path=[str(packages)]), key=lambda one: one.name.lower())
    if not installed:
        raise UserError(f"environment {requirements.name}: its requirements list no package")
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    facts = {
        "name": requirements.name,
        "python": target.python,
        "machine": target.machine,
        "requirements_sha256": requirements.digest,
        "packages": {one.name: one.version for one in installed},
        "modules": sorted({module for one in installed for module in _modules(one)}),
        "megabytes": round(size / 1e6),
    }
    store.write_manifest(work, facts)
    (work / "requirements.txt").write_text(requirements.text, encoding="utf-8")
    _make_read_only(work)
    return facts


def _install(packages: Path, requirements: Requirements, flags: list[str]) -> None:
    if importlib.util.find_spec("pip") is None:
        raise UserError(
            f"pip is not in this environment and building needs it: run "
            f"'{sys.executable} -m ensurepip' (or 'uv pip install pip'), then build again"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requirements.txt"
        file.write_text(requirements.text, encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--no-input", "--no-compile", "--ignore-installed", "--no-warn-conflicts"]
        command += ["--target", str(packages), "--requirement", str(file)]
        command += flags or ["--only-binary=:all:"]
        command += ["--require-hashes"] if requirements.hashed else []
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        reason = (errors or done.stderr.splitlines()[-1:] or ["it said nothing"])[0]
        raise BuildError(
            f"pip could not install environment {requirements.name} "
            f"({reason.removeprefix('ERROR: ')[:300]}): check that each package has a wheel for "
            "this Python and that the package index (or a mirror in pip's configuration) can be "
            "reached"
        )


def _try(packages: Path, modules: tuple[str, ...]) -> None:
    command = [interpreter(), "-s", "-S", "-P", "-B", "-c", _TRIAL, str(packages), *modules]
    try:
        done = subprocess.run(
            command,
            env={"LANG": "C.UTF-8", **ONE_THREAD},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BuildError(
            f"loading {' '.join(modules)} takes more than {_TRIAL_SECONDS:g} s: list fewer modules after '# preload:'"
        ) from error
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise BuildError(f"'# preload: {' '.join(modules)}' fails: {last[0][:300]}")


def _modules(distribution: Distribution) -> set[str]:
    names = set()
    for file in distribution.files or ():
        name = file.parts[0].partition(".")[0]
        if name.isidentifier() and (len(file.parts) > 1 or file.suffix in (".py", ".so")):
            names.add(name)
    return names


def _make_read_only(folder: Path) -> None:
    for place, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, 0o555 if os.access(path, os.X_OK) else 0o444)
        if place != str(folder):
            os.chmod(place, 0o555)


def _remove_older(current: Path, target: Target) -> None:
    for folder in current.parent.glob("*/"):
        facts = store.manifest(folder)
        same = facts is not None and (facts["python"], facts["machine"]) == (
            target.python,
            target.machine,
        )
        if same and folder != current and not store.is_held(folder):
            remove(folder)


def remove(folder: Path) -> None:
    for place, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            os.chmod(place, 0o755)
    shutil.rmtree(folder, ignore_errors=True)
