"""Which shared libraries a program needs, read from the files themselves: nothing is executed.

ELF names the libraries that it needs; the loader's cache says where they lie. Format: elf(5) and
glibc's ``sysdeps/generic/dl-cache.h``.
"""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

_CACHE = Path("/etc/ld.so.cache")
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_DEFAULT_FOLDERS = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")
_INTERPRETER, _LOAD, _DYNAMIC = 3, 1, 2
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29


def find_library(name: str) -> str | None:
    """Return where the system's loader finds a library, None for nowhere."""
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
    """Return the libraries that these files need, and those that those need: path by name.

    The program that loads them (``ld-linux``) is among them, under the path that programs name. A
    library that is nowhere is left out, as is a file that is no ELF file of this machine's width.
    """
    found: dict[str, str] = {}
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        loader, names, folders = _dynamic(path)
        if loader and loader not in found and os.path.isfile(loader):
            found[loader] = loader
            waiting.append(loader)
        for name in names:
            if name in found or os.path.basename(loader) == name:
                continue
            near = (f"{folder}/{name}" for folder in folders)
            where = next(filter(os.path.isfile, near), None) or find_library(name)
            if where is not None:
                found[name] = where
                waiting.append(where)
    return found


@functools.cache
def _loader_cache() -> dict[str, str]:
    """Return the paths of the loader's cache by library name, the first entry of each."""
    try:
        data = _CACHE.read_bytes()
    except OSError:
        return {}
    start = data.find(_CACHE_MAGIC)
    if start < 0:
        return {}
    (count,) = struct.unpack_from("=I", data, start + len(_CACHE_MAGIC))
    found: dict[str, str] = {}
    for number in range(count):
        _, key, value = struct.unpack_from("=III", data, start + 48 + 24 * number)
        name, path = (_text(data, start + offset) for offset in (key, value))
        if struct.calcsize("P") == 8 and _is_narrow(path):
            continue
        found.setdefault(name, path)
    return found


def _is_narrow(path: str) -> bool:
    """Tell whether a library is of the other width: 32 bits beside 64."""
    return any(part in path for part in ("/lib32/", "/libx32/", "/i386-linux-gnu/"))


def _dynamic(path: str) -> tuple[str, list[str], list[str]]:
    """Return what an ELF file names: its loader, the libraries it needs, folders to look in."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:6] != b"\x7fELF\x02\x01":  # 64 bits, little-endian, as x86_64 and aarch64 are
                return "", [], []
            (offset,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            file.seek(offset)
            segments = list(_segments(file.read(size * count), size))
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
    here = os.path.dirname(os.path.realpath(path))
    folders = [
        os.path.normpath(folder.replace("$ORIGIN", here).replace("${ORIGIN}", here))
        for text in paths
        for folder in text.split(":")
        if folder
    ]
    return loader, names, folders


def _segments(data: bytes, size: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (kind, offset in the file, address, length in the file) of each segment."""
    for start in range(0, len(data) - size + 1, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, start)
        yield kind, offset, address, length


def _text(data: bytes, start: int) -> str:
    return os.fsdecode(data[start : data.index(b"\0", start)])
