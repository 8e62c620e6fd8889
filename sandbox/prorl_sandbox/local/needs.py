"""Find the libraries and Debian package files that a program needs, without executing anything."""

from __future__ import annotations

import functools
import os
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_CACHE = Path("/etc/ld.so.cache")
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_DEFAULT_FOLDERS = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")
_INTERPRETER, _LOAD, _DYNAMIC = 3, 1, 2
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29


def find_library(name: str) -> str | None:
    """Return the path at which the loader finds a library, or None."""
    cached = _loader_cache().get(name)
    if cached is not None and os.path.isfile(cached):
        return cached
    machine = f"{os.uname().machine}-linux-gnu"
    for folder in _DEFAULT_FOLDERS:
        for path in (f"{folder}/{machine}/{name}", f"{folder}/{name}"):
            if os.path.isfile(path):
                return path
    return None


def needed_by(files: Iterable[str]) -> dict[str, str]:
    """Return {name: path} of the libraries that ``files`` need, directly or not. Missing ones are skipped."""
    libraries: dict[str, str] = {}
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        loader, names, folders = _dynamic(path)
        if loader and loader not in libraries and os.path.isfile(loader):
            libraries[loader] = loader
            waiting.append(loader)
        for name in names:
            if name in libraries or os.path.basename(loader) == name:
                continue
            near = (f"{folder}/{name}" for folder in folders)
            where = next(filter(os.path.isfile, near), None) or find_library(name)
            if where is not None:
                libraries[name] = where
                waiting.append(where)
    return libraries


@functools.cache
def _loader_cache() -> dict[str, str]:
    try:
        data = _CACHE.read_bytes()
    except OSError:
        return {}
    start = data.find(_CACHE_MAGIC)
    if start < 0:
        return {}
    (count,) = struct.unpack_from("=I", data, start + len(_CACHE_MAGIC))
    paths: dict[str, str] = {}
    for number in range(count):
        _, key, value = struct.unpack_from("=III", data, start + 48 + 24 * number)
        name, path = (_text(data, start + offset) for offset in (key, value))
        narrow = any(part in path for part in ("/lib32/", "/libx32/", "/i386-linux-gnu/"))
        if struct.calcsize("P") == 8 and narrow:
            continue
        paths.setdefault(name, path)
    return paths


def _dynamic(path: str) -> tuple[str, list[str], list[str]]:
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:6] != b"\x7fELF\x02\x01":  # 64 bits, little-endian: x86_64 and aarch64
                return "", [], []
            (offset,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            file.seek(offset)
            segments = [
                (kind, at, address, length)
                for kind, _, at, address, _, length in struct.iter_unpack(
                    f"<IIQQQQ{size - 40}x", file.read(size * count)
                )
            ]
            loader, strings, tags = "", 0, []
            for kind, at, _, length in segments:
                file.seek(at)
                if kind == _INTERPRETER:
                    loader = _text(file.read(length), 0)
                elif kind == _DYNAMIC:
                    data = file.read(length)
                    tags = [
                        struct.unpack_from("<QQ", data, n) for n in range(0, len(data) - 15, 16)
                    ]
            strings = next((value for tag, value in tags if tag == _STRINGS), 0)
            for kind, at, address, length in segments:
                if kind == _LOAD and address <= strings < address + length:
                    file.seek(at + strings - address)
                    table = file.read(at + length - file.tell())
                    break
            else:
                return loader, [], []
    except (OSError, struct.error):
        return "", [], []
    names = [_text(table, value) for tag, value in tags if tag == _NEEDED]
    paths = [_text(table, value) for tag, value in tags if tag in (_RPATH, _RUNPATH)]
    origin = os.path.dirname(os.path.realpath(path))
    folders = [
        os.path.normpath(folder.replace("$ORIGIN", origin).replace("${ORIGIN}", origin))
        for text in paths
        for folder in text.split(":")
        if folder
    ]
    return loader, names, folders


def _text(data: bytes, start: int) -> str:
    return os.fsdecode(data[start : data.index(b"\0", start)])


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


def has_package_database() -> bool:
    return (_DATABASE / "status").exists()


def files_of(names: Iterable[str]) -> set[str]:
    """Return the files of Debian packages and their dependencies, without documentation."""
    packages = _with_dependencies([*names, *_installed().essential])
    return set().union(*map(_paths, packages))


@functools.cache
def _paths(package: str) -> frozenset[str]:
    folder = _DATABASE / "info"
    plain = folder / f"{package}.list"
    files = [plain] if plain.exists() else sorted(folder.glob(f"{package}:*.list"))
    texts = [file.read_text(encoding="utf-8", errors="surrogateescape") for file in files]
    paths = "".join(texts).split("\n")
    return frozenset(path for path in paths if path and not path.startswith(_UNNEEDED))


@functools.cache
def package_of(path: str) -> str | None:
    """Return the Debian package that owns ``path``, with or without ``/usr``, or None."""
    other = path.removeprefix("/usr") if path.startswith("/usr/") else f"/usr{path}"
    lines = [b"\n%s\n" % name.encode("utf-8", "surrogateescape") for name in (path, other)]
    for listing in (_DATABASE / "info").glob("*.list"):
        data = b"\n" + listing.read_bytes()
        if any(line in data for line in lines):
            return listing.stem.partition(":")[0]
    return None


def _with_dependencies(packages: list[str]) -> set[str]:
    installed = _installed()
    needed: set[str] = set()
    waiting = list(packages)
    while waiting:
        name = waiting.pop()
        if name not in installed.depends:
            waiting += installed.provided.get(name, [])
        elif name not in needed:
            needed.add(name)
            waiting += installed.depends[name]
    return needed


@dataclass(frozen=True, slots=True)
class _Installed:
    depends: dict[str, list[str]] = field(default_factory=dict)
    provided: dict[str, list[str]] = field(default_factory=dict)
    essential: list[str] = field(default_factory=list)


@functools.cache
def _installed() -> _Installed:
    installed = _Installed()
    try:
        data = (_DATABASE / "status").read_bytes()
    except OSError:
        return installed
    for paragraph in data.split(b"\n\n"):
        fields = {}
        for line in paragraph.split(b"\n"):
            key, _, value = line.partition(b":")
            if key in _FIELDS:
                fields[key] = value.strip().decode()
        if not fields.get(b"Status", "").endswith(" installed"):
            continue
        name = fields[b"Package"]
        relations = f"{fields.get(b'Depends', '')},{fields.get(b'Pre-Depends', '')}"
        installed.depends.setdefault(name, []).extend(_names(relations))
        for virtual in _names(fields.get(b"Provides", "")):
            installed.provided.setdefault(virtual, []).append(name)
        if fields.get(b"Essential") == "yes":
            installed.essential.append(name)
    return installed


def _names(relations: str) -> list[str]:
    """Return the package names in a field like ``a (>= 1), b:any | c``."""
    return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", relations)
