"""Requirements of environments, and the folders in which their packages are installed."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import UserError, cache_root, nearest

STDLIB = "stdlib"
PACKAGED = {"scientific": Path(__file__).with_name("scientific.txt")}
"""Requirements files that come with prorl, by environment name."""
NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*[^/@]*")
_OPTIONS = ("--index-url", "--extra-index-url", "-i", "--find-links", "-f", "--no-index", "--pre")


@dataclass(frozen=True, slots=True)
class Requirements:
    """A pip requirements file with special comments. Raises UserError for an invalid name or line.

    ``# preload: numpy pandas`` lists modules to import before programs start. ``# leave-out: **/tests`` excludes files.
    """

    name: str
    text: str

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or self.name == STDLIB:
            raise UserError(
                f"{self.name!r} cannot be an environment's name: use lowercase letters, digits, "
                f"- and _, and not {STDLIB}"
            )
        for module in (module for line in self.preload for module in line):
            if not _MODULE.fullmatch(module):
                raise UserError(
                    f"environment {self.name}: '# preload: {module}' does not name a module"
                )
        if any(pattern.startswith(("/", "..")) for pattern in self.left_out):
            raise UserError(
                f"environment {self.name}: a leave-out pattern must not begin with / or .."
            )
        for line in self._lines():
            requirement = line.partition(" --hash=")[0].strip()
            option = requirement.replace("=", " ").split()[0] in _OPTIONS
            if not option and not _PACKAGE.fullmatch(requirement):
                raise UserError(
                    f"environment {self.name}: {requirement[:60]!r} is not the name of a package in the "
                    "index: only wheels are installed, so that no set-up code runs"
                )

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def preload(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(words) for words in self._comments("preload"))

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(word for words in self._comments("leave-out") for word in words)

    @property
    def hashed(self) -> bool:
        """Whether the file has hashes. If so, pip requires a hash for every package."""
        return "--hash=" in self.text

    def _lines(self) -> Iterator[str]:
        for line in self.text.replace("\\\n", " ").splitlines():
            if line.partition(" #")[0].strip() and not line.lstrip().startswith("#"):
                yield line.partition(" #")[0].strip()

    def _comments(self, kind: str) -> Iterator[list[str]]:
        for line in self.text.splitlines():
            if line.startswith(f"# {kind}:"):
                yield line.partition(":")[2].split()


def packaged(name: str) -> Requirements | None:
    """Return the requirements of an environment that comes with prorl, or None for other names."""
    file = PACKAGED.get(name)
    return None if file is None else Requirements(name, file.read_text(encoding="utf-8"))


def read(name: str, file: Path) -> Requirements:
    """Return the requirements in ``file`` for an environment called ``name``. Raises UserError."""
    if name in PACKAGED:
        raise UserError(
            f"{name} is prorl's own environment: give yours another name, or leave --requirements out"
        )
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8 text") from error
    return Requirements(name, text)


_FORMAT = 1
_MANIFEST = "manifest.json"
_REQUIREMENTS = "requirements.txt"
PACKAGES = "packages"
"""Subfolder of an environment with its packages."""


class EnvironmentMissing(UserError):
    """Raised if an environment has not been built."""


def interpreter() -> str:
    """Return the path of the Python interpreter on which a virtual environment is based."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


@dataclass(frozen=True, slots=True)
class Target:
    """An environment's Python version (``3.11``) and machine (``x86_64``)."""

    python: str
    machine: str

    @classmethod
    def current(cls) -> Target:
        return cls(f"{sys.version_info.major}.{sys.version_info.minor}", platform.machine())


@dataclass(frozen=True, slots=True)
class Environment:
    """Installed packages in ``folder``. ``preload`` has groups of modules to import before programs start."""

    name: str
    folder: str = ""
    preload: tuple[tuple[str, ...], ...] = ()
    modules: tuple[str, ...] = ()

    def preload_for(self, source: str) -> tuple[str, ...]:
        """Return the smallest group of modules in ``preload`` that covers all packages mentioned in ``source``."""
        packages = {module.partition(".")[0] for line in self.preload for module in line}
        if not packages:
            return ()
        words = re.compile(rf"\b(?:{'|'.join(sorted(packages))})\b")
        named = set(words.findall(source))
        if not named:
            return ()
        whole = tuple(dict.fromkeys(module for line in self.preload for module in line))
        lines = [line for line in self.preload if named <= {m.partition(".")[0] for m in line}]
        return min(lines, key=len, default=whole)


STDLIB_ONLY = Environment(STDLIB)


def root() -> Path:
    return cache_root() / "environments"


def requirements_of(name: str) -> Requirements | None:
    """Return the requirements of a known environment, else None."""
    requirements = packaged(name)
    file = root() / name / _REQUIREMENTS
    if requirements is None and re.fullmatch(r"[\w-]+", name) and file.is_file():
        requirements = Requirements(name, file.read_text(encoding="utf-8"))
    return requirements


def names() -> tuple[str, ...]:
    stored = {file.parent.name for file in root().glob(f"*/{_REQUIREMENTS}")}
    return (STDLIB, *sorted({*PACKAGED, *stored}))


def check_name(name: str) -> None:
    """Raise UserError, with similar names, for an unknown environment."""
    if name not in names():
        raise UserError(
            f"unknown environment {name!r}{nearest(name, names())}: there are {', '.join(names())}; "
            f"'prorl sandbox build-env NAME --requirements FILE' makes another"
        )


def folder_of(requirements: Requirements, target: Target) -> Path:
    """Return the folder of an environment, which may not exist."""
    facts = json.dumps([_FORMAT, requirements.digest, target.python, target.machine])
    return root() / requirements.name / hashlib.sha256(facts.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Entry:
    """An environment in the list of environments. ``state`` is built, not built, outdated or always there."""

    name: str
    state: str
    packages: dict[str, str]
    megabytes: int = 0


def entries() -> list[Entry]:
    states = []
    for name in names():
        requirements = requirements_of(name)
        if requirements is None:
            states.append(Entry(name, "always there", {}))
            continue
        folder = folder_of(requirements, Target.current())
        facts = manifest(folder)
        if facts is not None:
            states.append(Entry(name, "built", facts["packages"], facts["megabytes"]))
        else:
            older = any(manifest(one) for one in folder.parent.glob("*/"))
            states.append(Entry(name, "outdated" if older else "not built", {}))
    return states


def find(name: str, target: Target) -> Environment:
    """Return an environment. Raises EnvironmentMissing if it is not built, UserError if it is unknown."""
    check_name(name)
    requirements = requirements_of(name)
    if requirements is None:
        return STDLIB_ONLY
    folder = folder_of(requirements, target)
    facts = manifest(folder)
    if facts is None:
        older = any(manifest(one) for one in folder.parent.glob("*/"))
        why = (
            f"is built, but its packages are not those needed for Python {target.python}"
            if older
            else "is not built"
        )
        raise EnvironmentMissing(f"environment {name} {why}: run 'prorl sandbox build-env {name}'")
    return as_environment(requirements, folder / PACKAGES, facts)


def as_environment(requirements: Requirements, folder: Path, facts: dict[str, Any]) -> Environment:
    return Environment(
        requirements.name, str(folder), requirements.preload, tuple(facts["modules"])
    )


def manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest in ``folder``, or None if the environment is incomplete."""
    try:
        facts: dict[str, Any] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return facts


def write_manifest(folder: Path, facts: dict[str, Any]) -> None:
    (folder / _MANIFEST).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def remember(requirements: Requirements) -> None:
    from prorl_common import atomic_write_text

    if requirements.name not in PACKAGED:
        atomic_write_text(root() / requirements.name / _REQUIREMENTS, requirements.text)


@contextlib.contextmanager
def being_built(name: str) -> Iterator[None]:
    """Lock an environment while it is built. Raises OSError."""
    place = root() / name
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def hold(folder: Path) -> int:
    """Lock an environment against removal; return the descriptor that holds the lock."""
    fd = os.open(folder.parent / _MANIFEST, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_SH)
    return fd


def is_held(folder: Path) -> bool:
    with (folder / _MANIFEST).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


_LINE = re.compile(r"^ModuleNotFoundError: No module named '([A-Za-z_]\w*)[\w.]*'", re.MULTILINE)
_TAIL = 2000


def missing_module_hint(stderr: str, environment: str) -> str:
    """Return a hint that names the environments with the module that a program could not import, or ""."""
    missing = _LINE.findall(stderr[-_TAIL:])
    if not missing:
        return ""
    having = [name for name in _owners().get(missing[-1], ()) if name != environment]
    if not having:
        return ""
    which = (
        f"environment {having[0]} has it"
        if len(having) == 1
        else (f"environments {' and '.join(having)} have it")
    )
    return f"no module named {missing[-1]} here: {which}"


@functools.cache
def _owners() -> dict[str, list[str]]:
    owners: dict[str, list[str]] = {}
    for name in names():
        requirements = None if name == STDLIB else requirements_of(name)
        if requirements is None:
            continue
        modules = {module.partition(".")[0] for line in requirements.preload for module in line}
        for folder in (root() / name).glob("*/"):
            modules |= set((manifest(folder) or {}).get("modules", ()))
        for module in modules:
            owners.setdefault(module, []).append(name)
    return owners
