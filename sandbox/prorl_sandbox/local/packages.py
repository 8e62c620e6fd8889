"""Which files a tool consists of, read from Debian's package database: its package's and those of
the packages that it depends on.

The database is a folder of text files; nothing is executed. Elsewhere it is empty.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

_DATABASE = Path("/var/lib/dpkg")
_FIELDS = (b"Package", b"Status", b"Depends", b"Pre-Depends", b"Provides")
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


def files_of(path: str) -> set[str] | None:
    """Return all paths of the package that owns this file, and of what it depends on.

    None where it is no package's. Documentation is left out.
    """
    owner = _owner(path)
    if owner is None:
        return None
    found: set[str] = set()
    for name in _with_dependencies(owner):
        for listing in _listings(name):
            found.update(listing.read_text(encoding="utf-8", errors="surrogateescape").split("\n"))
    return {path for path in found if path and not path.startswith(_UNNEEDED)}


def _listings(package: str) -> list[Path]:
    folder = _DATABASE / "info"
    plain = folder / f"{package}.list"
    return [plain] if plain.exists() else sorted(folder.glob(f"{package}:*.list"))


def _owner(path: str) -> str | None:
    """Return the package that owns a path, under either name of a merged ``/usr``."""
    other = path.removeprefix("/usr") if path.startswith("/usr/") else f"/usr{path}"
    lines = [b"\n%s\n" % name.encode("utf-8", "surrogateescape") for name in (path, other)]
    for listing in (_DATABASE / "info").glob("*.list"):
        data = b"\n" + listing.read_bytes()
        if any(line in data for line in lines):
            return listing.stem.partition(":")[0]
    return None


def _with_dependencies(package: str) -> set[str]:
    """Return a package and all that it depends on. Of alternatives all that are installed."""
    depends, provided = _installed()
    found: set[str] = set()
    waiting = [package]
    while waiting:
        name = waiting.pop()
        if name in found or name not in depends:
            waiting += provided.get(name, []) if name not in depends else []
            continue
        found.add(name)
        waiting += depends[name]
    return found


@functools.cache
def _installed() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return, of the packages that are installed, what each depends on and who provides a name."""
    depends: dict[str, list[str]] = {}
    provided: dict[str, list[str]] = {}
    try:
        data = (_DATABASE / "status").read_bytes()
    except OSError:
        return {}, {}
    for paragraph in data.split(b"\n\n"):
        fields = {}
        for line in paragraph.split(b"\n"):
            key, _, value = line.partition(b":")
            if key in _FIELDS:
                fields[key] = value.strip().decode()
        if fields.get(b"Status", "").endswith(" installed"):
            name = fields[b"Package"]
            wanted = f"{fields.get(b'Depends', '')},{fields.get(b'Pre-Depends', '')}"
            depends.setdefault(name, []).extend(_names(wanted))
            for virtual in _names(fields.get(b"Provides", "")):
                provided.setdefault(virtual, []).append(name)
    return depends, provided


def _names(relations: str) -> list[str]:
    """Return the package names in a field like ``a (>= 1), b:any | c``."""
    return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", relations)
