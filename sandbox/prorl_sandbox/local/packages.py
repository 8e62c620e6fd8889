"""Which files a tool consists of, read from Debian's package database: its package's and those of
the packages that it depends on.

The database is a folder of text files; nothing is executed. Elsewhere it is empty.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_DATABASE = Path("/var/lib/dpkg")
_FIELDS = (b"Package", b"Status", b"Essential", b"Depends", b"Pre-Depends", b"Provides")
_UNNEEDED = (
    "/usr/share/bug/",
    "/usr/share/doc/",
    "/usr/share/doc-base/",
    "/usr/share/info/",
    "/usr/share/lintian/",
    "/usr/share/locale/",
    "/usr/share/man/",
)


def known() -> bool:
    """Tell whether this machine has such a database."""
    return (_DATABASE / "status").exists()


def files_of(names: Iterable[str]) -> set[str]:
    """Return all paths of these packages, of those that they depend on, and of those that each one
    may use without saying so (``Essential``: a shell, ``cp``, ``sed`` and the like).

    Documentation is left out; a package that is not installed has no files.
    """
    found = _with_dependencies([*names, *_installed().essential])
    return set().union(*map(_paths, found))


@functools.cache
def _paths(package: str) -> frozenset[str]:
    """Return what a package has installed, but for documentation."""
    texts = [
        file.read_text(encoding="utf-8", errors="surrogateescape") for file in _listings(package)
    ]
    paths = "".join(texts).split("\n")
    return frozenset(path for path in paths if path and not path.startswith(_UNNEEDED))


def _listings(package: str) -> list[Path]:
    folder = _DATABASE / "info"
    plain = folder / f"{package}.list"
    return [plain] if plain.exists() else sorted(folder.glob(f"{package}:*.list"))


@functools.cache
def owner(path: str) -> str | None:
    """Return the package that owns a path, under either name of a merged ``/usr``."""
    other = path.removeprefix("/usr") if path.startswith("/usr/") else f"/usr{path}"
    lines = [b"\n%s\n" % name.encode("utf-8", "surrogateescape") for name in (path, other)]
    for listing in (_DATABASE / "info").glob("*.list"):
        data = b"\n" + listing.read_bytes()
        if any(line in data for line in lines):
            return listing.stem.partition(":")[0]
    return None


def _with_dependencies(packages: list[str]) -> set[str]:
    """Return these packages and all that they depend on. Of alternatives all that are installed."""
    known = _installed()
    found: set[str] = set()
    waiting = list(packages)
    while waiting:
        name = waiting.pop()
        if name not in known.depends:
            waiting += known.provided.get(name, [])
        elif name not in found:
            found.add(name)
            waiting += known.depends[name]
    return found


@dataclass(frozen=True, slots=True)
class _Installed:
    """The packages that are installed: what each depends on, who provides a name, which are
    essential."""

    depends: dict[str, list[str]] = field(default_factory=dict)
    provided: dict[str, list[str]] = field(default_factory=dict)
    essential: list[str] = field(default_factory=list)


@functools.cache
def _installed() -> _Installed:
    found = _Installed()
    try:
        data = (_DATABASE / "status").read_bytes()
    except OSError:
        return found
    for paragraph in data.split(b"\n\n"):
        fields = {}
        for line in paragraph.split(b"\n"):
            key, _, value = line.partition(b":")
            if key in _FIELDS:
                fields[key] = value.strip().decode()
        if not fields.get(b"Status", "").endswith(" installed"):
            continue
        name = fields[b"Package"]
        wanted = f"{fields.get(b'Depends', '')},{fields.get(b'Pre-Depends', '')}"
        found.depends.setdefault(name, []).extend(_names(wanted))
        for virtual in _names(fields.get(b"Provides", "")):
            found.provided.setdefault(virtual, []).append(name)
        if fields.get(b"Essential") == "yes":
            found.essential.append(name)
    return found


def _names(relations: str) -> list[str]:
    """Return the package names in a field like ``a (>= 1), b:any | c``."""
    return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", relations)
