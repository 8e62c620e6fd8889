"""The requirements file of an environment: pip's own form, and two kinds of comments of ours.

``# preload: numpy pandas`` (any number of lines) names modules that are loaded together before any
box is made; ``# leave-out: **/tests`` names files and folders, by pattern below each package, that
are not kept. Leaves out everything about versions: that is pip's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from prorl_common import UserError

STDLIB = "stdlib"
PACKAGED = {"scientific": Path(__file__).with_name("scientific.txt")}
"""Environments whose requirements come with the package."""
NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*[^/@]*")
_OPTIONS = ("--index-url", "--extra-index-url", "-i", "--find-links", "-f", "--no-index", "--pre")


@dataclass(frozen=True, slots=True)
class Requirements:
    """What an environment is to hold. Raises UserError for a name or a line that makes no sense."""

    name: str
    text: str

    def __post_init__(self) -> None:
        """Look at the name and at our own lines; the packages are pip's to judge."""
        if not NAME.fullmatch(self.name) or self.name == STDLIB:
            raise UserError(
                f"{self.name!r} cannot be an environment's name: use small letters, digits, - and _, "
                f"and not {STDLIB}"
            )
        for module in (module for line in self.preload for module in line):
            if not _MODULE.fullmatch(module):
                raise UserError(f"environment {self.name}: '# preload: {module}' names no module")
        if any(pattern.startswith(("/", "..")) for pattern in self.left_out):
            raise UserError(f"environment {self.name}: a leave-out starts below each package")
        for line in self._lines():
            wanted = line.partition(" --hash=")[0].strip()
            option = wanted.replace("=", " ").split()[0] in _OPTIONS
            if not option and not _PACKAGE.fullmatch(wanted):
                raise UserError(
                    f"environment {self.name}: {wanted[:60]!r} is no package of an index by its name: "
                    "only wheels are installed, so that no set-up code runs"
                )

    @property
    def digest(self) -> str:
        """The SHA-256 of the file, in hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def preload(self) -> tuple[tuple[str, ...], ...]:
        """The modules that are loaded together, a tuple for each line."""
        return tuple(tuple(words) for words in self._comments("preload"))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Patterns of what is not kept, below each package."""
        return tuple(word for words in self._comments("leave-out") for word in words)

    @property
    def hashed(self) -> bool:
        """Whether the file has hashes: then pip takes nothing without one."""
        return "--hash=" in self.text

    def _lines(self) -> Iterator[str]:
        """Yield what is pip's, a requirement or an option each, with its continuation lines."""
        for line in self.text.replace("\\\n", " ").splitlines():
            if line.partition(" #")[0].strip() and not line.lstrip().startswith("#"):
                yield line.partition(" #")[0].strip()

    def _comments(self, kind: str) -> Iterator[list[str]]:
        for line in self.text.splitlines():
            if line.startswith(f"# {kind}:"):
                yield line.partition(":")[2].split()


def packaged(name: str) -> Requirements | None:
    """Return the requirements that come with the package, None where there are none of that name."""
    file = PACKAGED.get(name)
    return None if file is None else Requirements(name, file.read_text(encoding="utf-8"))


def read(name: str, file: Path) -> Requirements:
    """Return an own environment's requirements. Raises UserError."""
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
