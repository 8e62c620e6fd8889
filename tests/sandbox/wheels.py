"""A wheel made by hand and the requirements that name it: environments without a package index."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path


def write_wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> str:
    """Write ``NAME-VERSION-py3-none-any.whl`` into ``folder`` and return its SHA-256."""
    folder.mkdir(parents=True, exist_ok=True)
    path, info = folder / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{member},,\n" for member in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(member, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def requirements(folder: Path, lines: str, *, preload: str = "tinypack") -> str:
    """Return a requirements file that looks for wheels in ``folder`` alone."""
    return f"# preload: {preload}\n--no-index\n--find-links {folder}\n{lines}\n"
