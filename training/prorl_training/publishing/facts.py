"""Collect what is known about a model to publish, without private text such as paths, tokens and addresses."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_common.config import ConfigError, read_config_file, read_yaml
from prorl_common.hub import is_repo
from prorl_common.private import Private
from prorl_datasets import read_manifest
from prorl_inference import model_digest
from prorl_inference.models.store import KNOWN_MODELS, alias_dir, read_card
from prorl_training.config.loading import load_config
from prorl_training.run.exporting import Chosen
from prorl_training.run.folder import RunFolder
from prorl_training.run.lineage import read_lineage
from prorl_training.run.resume import ALLOWED, changes, dataset_fingerprint

UNPUBLISHED = (
    "data.path",
    "data.pass_rates",
    "model.path",
    "plugins",
    "logging",
    "openrlhf.ray_address",
    "reward.servers",
)
"""Settings that are not published, because they name local paths, addresses or accounts."""
_SNAPSHOT = re.compile(r"/models--([\w.-]+?)--([\w.-]+)/snapshots/")
"""Matches owner and name of a model in a path of the hub's cache."""


@dataclass(frozen=True, slots=True)
class BaseModel:
    """The model that training started from. None means unknown.

    ``name`` and ``licence`` are hub ids, ``weights`` is a SHA-256, ``model_option`` a value for ``--model``.
    ``changes`` describes differences from the hub's model ``name``.
    """

    name: str | None = None
    licence: str | None = None
    weights: str | None = None
    model_option: str | None = None
    changes: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """SHA-256 of a dataset's files and, if available, the recipe, counts and sources in its manifest.

    ``counts`` is {split: {domain: count}}; ``sources`` are (source, licence).
    """

    sha256: str | None
    recipe: str | None = None
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sources: Sequence[tuple[str, str]] = ()

    @property
    def domains(self) -> list[str]:
        return sorted({domain for rows in self.counts.values() for domain in rows})


@dataclass(frozen=True, slots=True)
class Training:
    """What is published about a run up to the published step.

    ``config`` has only public settings. ``changed`` maps algorithm settings to (preset's value, run's value) if they
    differ (None: unknown). ``versions`` is the environment.
    """

    step: int
    config: Mapping[str, Any]
    changed: Mapping[str, tuple[Any, Any]] | None
    dataset: Dataset
    decisions: Sequence[Mapping[str, Any]]
    metrics: Sequence[Mapping[str, Any]]
    identity: Mapping[str, Any]
    versions: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about the model in ``folder``: its digest, base model and, if available, lineage and run."""

    folder: Path
    weights: str
    base: BaseModel
    lineage: Mapping[str, Any] | None = None
    training: Training | None = None


def private_of(run: RunFolder, environment: Mapping[str, str]) -> Private:
    """Return the filter that removes a run's private text. Raises ConfigError if its config cannot be read."""
    config = read_config_file(run.config_path)
    data = config["data"].get("path")
    names = [str(run.path), *config.get("plugins", []), *_local(config["model"]["path"])]
    return Private(environment, [*names, *([data] if data else [])])


def facts_of_run(run: RunFolder, chosen: Chosen, private: Private) -> Facts:
    """Return the facts about a run's checkpoint. Raises ConfigError."""
    config, step = read_config_file(run.config_path), chosen.step
    identity = run.identity() or {}
    legs: list[Mapping[str, Any]] = chosen.state.get("lineage", [])
    source = str(legs[0]["source"]) if legs else str(config["model"]["path"])
    first = legs[0]["weights"] if legs else identity.get("model")
    lineage = {"run": run.name, "step": step, "lineage": [_leg(leg, private) for leg in legs]}
    public = {
        key: {k: v for k, v in value.items() if _is_public(f"{key}.{k}")}
        if isinstance(value, Mapping)
        else value
        for key, value in config.items()
        if _is_public(key)
    }
    training = Training(
        step=step,
        config=private.json(public),
        changed=_changed(run, private),
        dataset=_dataset(config["data"].get("path"), identity),
        decisions=[_decision(d, private) for d in run.decisions() if d["step"] <= step],
        metrics=[_numbers(row) for row in run.metrics() if row["step"] <= step],
        identity=private.json({k: v for k, v in identity.items() if k != "came_from"}),
        versions=private.json(chosen.state.get("environment", {})),
    )
    weights = model_digest(chosen.policy)
    return Facts(chosen.policy, weights, base_model(source, first), lineage, training)


def facts_of_model(folder: Path, private: Private) -> Facts:
    """Return the facts about a model folder. Raises UserError if it holds no model."""
    if not (folder / "config.json").is_file():
        raise UserError(
            f"{folder} is neither a run nor a model: it has no config.yaml and no config.json"
        )
    if not any(folder.glob("*.safetensors")):
        raise UserError(f"{folder} has no *.safetensors: save the model with safe_serialization")
    lineage = read_lineage(folder)
    weights = model_digest(folder)
    if lineage is None:
        return Facts(folder, weights, base_model(str(folder), weights))
    legs = lineage["lineage"]
    base = base_model(str(legs[0]["source"]), legs[0]["weights"]) if legs else BaseModel()
    public = {**private.json(lineage), "lineage": [_leg(leg, private) for leg in legs]}
    return Facts(folder, weights, base, public)


def base_model(source: str, weights: str | None) -> BaseModel:
    """Describe the base model ``source`` (alias, folder or hub id), without the name of a local folder."""
    folder = alias_dir(source) if source in KNOWN_MODELS else Path(source).expanduser()
    if (card := read_card(folder)) is not None:
        licence = str(card.get("licence", "")).lower() or None
        return BaseModel(card.get("origin"), licence, weights, card["alias"], card.get("changes"))
    if source in KNOWN_MODELS:
        model = KNOWN_MODELS[source]
        return BaseModel(model.origin, model.licence.lower(), weights, source)
    if not folder.is_dir():
        name = source if is_repo(source) else None
        return BaseModel(name, None, weights, name)
    snapshot = _SNAPSHOT.search(f"{folder.absolute()}/")
    name, licence = "/".join(snapshot.groups()) if snapshot else None, None
    with contextlib.suppress(OSError, UnicodeDecodeError, ConfigError):
        readme = folder / "README.md"
        text = readme.read_text(encoding="utf-8")
        front = text[4:].partition("\n---")[0] if text.startswith("---\n") else ""
        if isinstance(values := read_yaml(front, str(readme)), dict):
            licence = str(values.get("license") or "") or None
    return BaseModel(name, licence, weights, name)


def _is_public(setting: str) -> bool:
    return not any(setting == name or setting.startswith(f"{name}.") for name in UNPUBLISHED)


def _changed(run: RunFolder, private: Private) -> dict[str, tuple[Any, Any]] | None:
    try:
        config = run.config()
        preset = load_config(config.preset)
    except UserError:
        return None  # settings of another version, a missing plug-in, or an unknown preset
    free = (*ALLOWED, *UNPUBLISHED, "preset", *(("openrlhf.",) if config.engine == "local" else ()))
    return {
        key: (private.json(before), private.json(now))
        for key, (before, now) in changes(preset, config).items()
        if not any(key.startswith(n) if n.endswith(".") else key == n for n in free)
    }


def _decision(row: Mapping[str, Any], private: Private) -> Any:
    changed = row.get("evidence", {}).get("changed")
    if row.get("kind") == "config_changed" and isinstance(changed, Mapping):
        public = {key: pair for key, pair in changed.items() if _is_public(key)}
        reason = ", ".join(f"{key} {a} -> {b}" for key, (a, b) in public.items())
        row = {**row, "reason": reason or "private settings", "evidence": {"changed": public}}
    return private.json(row)


def _numbers(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _numbers(item)
        if isinstance(item, Mapping)
        else (item if item is None or math.isfinite(item) else None)
        for key, item in value.items()
        if item is None or isinstance(item, Mapping | int | float)
    }


def _leg(leg: Mapping[str, Any], private: Private) -> dict[str, Any]:
    source = str(leg["source"])
    local = bool(_local(source)) and source not in KNOWN_MODELS
    return private.json({**leg, "source": "a model's folder" if local else source})  # type: ignore[no-any-return]


def _local(source: str) -> list[str]:
    is_path = source.startswith((".", "/", "~")) or Path(source).is_dir()
    return [source] if is_path else []


def _dataset(path: str | None, identity: Mapping[str, Any]) -> Dataset:
    sha256 = identity.get("dataset")
    manifest: Mapping[str, Any] = {}
    with contextlib.suppress(UserError):
        folder = Path(path) if path else None
        if folder and folder.is_dir() and (sha256 is None or dataset_fingerprint(folder) == sha256):
            manifest = read_manifest(folder)
    pairs = [(str(e.get("source")), str(e.get("licence"))) for e in manifest.get("entries", [])]
    sources = [pair for pair in dict.fromkeys(pairs) if not pair[0].startswith("file")]
    return Dataset(sha256, manifest.get("recipe"), manifest.get("counts", {}), sources)


def prorl_version() -> str:
    return metadata.version("prorl")
