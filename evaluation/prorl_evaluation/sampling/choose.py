"""Finds runs, checkpoints, datasets and output folders without importing the trainer."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import nearest, prorl_command, sha256_file
from prorl_datasets import Sample
from prorl_evaluation.sampling.journal import digest
from prorl_evaluation.sampling.stored import chosen, spooled
from prorl_evaluation.types import (
    BEFORE_RL,
    RESULT_FILE,
    EvalResult,
    EvalSettings,
    EvaluationError,
    load_result,
)

RUNS, EVALS, DATA = Path("runs"), Path("evals"), Path("data")


@dataclass(frozen=True, slots=True)
class Run:
    path: Path
    config: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.path.name

    def setting(self, *keys: str) -> Any:
        value: Any = self.config
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


@dataclass(frozen=True, slots=True)
class Target:
    """A model to evaluate: label, name of its result folder (``slug``), and model name or path."""

    label: str
    slug: str
    model: str


@dataclass(frozen=True, slots=True)
class StoredResults:
    """Results with their files; ``run`` is the folder of the first run among the given names, if any."""

    results: Sequence[EvalResult]
    files: Sequence[Path]
    run: Path | None

    def folders(self) -> list[Path]:
        for file in self.files:
            if file.name != RESULT_FILE:
                raise EvaluationError(
                    f"{file} is not named {RESULT_FILE}: name a result folder, which contains a {RESULT_FILE}"
                )
        return [file.parent for file in self.files]


def find_run(name: str | None, root: Path = RUNS) -> Run:
    """Return the run with this name or path (None: the newest). Raises EvaluationError if there is none."""
    configs = list(root.glob("*/config.yaml"))
    journals = {c: c.with_name("metrics.jsonl") for c in configs}
    configs.sort(key=lambda c: (journals[c] if journals[c].exists() else c).stat().st_mtime)
    if name is None or name == "latest":
        if not configs:
            raise EvaluationError(
                f"no runs under {root}/: start one with prorl train, or name a model with --model"
            )
        return read_run(configs[-1].parent)
    for path in (Path(name), root / name):
        if (path / "config.yaml").is_file():
            return read_run(path)
    names = [c.parent.name for c in configs]
    cure = f"known: {', '.join(names)}" if names else "start one with prorl train"
    raise EvaluationError(f"no run '{name}' under {root}/{nearest(name, names)}; {cure}")


def read_run(path: Path) -> Run:
    import yaml

    file = path / "config.yaml"
    try:
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise EvaluationError(f"{path} is not a run: it has no config.yaml") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:160]
        raise EvaluationError(f"{file} is not valid YAML ({reason}): restore the file") from error
    if not isinstance(config, dict):
        raise EvaluationError(f"{file} is not a mapping of settings: restore the file")
    return Run(path, config)


def run_target(run: Run, which: str) -> Target:
    """Return a run's model: ``base``, the ``latest`` checkpoint or a step's. Raises EvaluationError if missing."""
    if which == "base":
        base = run.setting("model", "path")
        if not isinstance(base, str):
            raise EvaluationError(
                f"{run.path}/config.yaml has no model.path: name the base model with --model"
            )
        return Target(f"base {Path(base).name}", "base", base)
    root = run.path / "checkpoints"
    if which == "latest":
        marker = root / "latest"
        name = marker.read_text().strip() if marker.is_file() else ""
    elif which.isdigit():
        name = f"step_{int(which):06d}"
    else:
        raise EvaluationError(f"--checkpoint is '{which}': use base, latest or a step number")
    match = re.fullmatch(r"step_(\d+)", name)
    if match is None or not (root / name / "policy" / "config.json").is_file():
        steps = [p.parent.parent.name for p in sorted(root.glob("step_*/policy/config.json"))]
        stored = f"it has {', '.join(steps)}" if steps else "it has none yet: train longer"
        raise EvaluationError(f"run {run.name} has no checkpoint '{which}'; {stored}")
    step = int(match[1])
    label = f"{run.name} step {step}" + (f" {BEFORE_RL}" if step == 0 else "")
    return Target(label, name, str(root / name / "policy"))


def model_target(model: str) -> Target:
    name = Path(model).name or model
    return Target(model, re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "model", model)


def pick_dataset(
    dataset: Path | None, split: str, limit: int | None = None
) -> tuple[Sequence[Sample], dict[str, str]]:
    """Return a split's samples and their origin (path, manifest hash, split, limit).

    ``dataset`` defaults to the newest under ``data/``. A ``limit`` is shared equally by the domains. Raises
    DatasetError or EvaluationError.
    """
    from prorl_datasets import newest_dataset

    path = dataset if dataset is not None else newest_dataset(DATA)
    if path is None:
        raise EvaluationError(
            f"no dataset under {DATA}/: make one with prorl data build, or name one with --dataset"
        )
    samples = read_split(path, split)
    manifest = path / "manifest.json" if path.is_dir() else path
    origin = {"path": str(path), "manifest_sha256": sha256_file(manifest), "split": split}
    origin |= {"limit": str(limit)} if limit is not None else {}
    return (samples if limit is None else in_turn(samples, limit)), origin


def read_split(path: Path, split: str, limit: int | None = None) -> Sequence[Sample]:
    """Return a split's samples without holding them in memory. Raises DatasetError like ``load``."""
    from prorl_datasets import no_samples, stream

    samples = spooled(itertools.islice(stream(path, split), limit))
    if not samples:
        raise no_samples(path, split)
    return samples


def in_turn(samples: Sequence[Sample], limit: int) -> Sequence[Sample]:
    """Choose ``limit`` samples, equally from each domain, and return them in their original order."""
    by_domain: dict[str, list[int]] = {}
    for place, sample in enumerate(samples):
        by_domain.setdefault(sample.domain, []).append(place)
    ranked = sorted(
        (rank, place) for places in by_domain.values() for rank, place in enumerate(places)
    )
    return chosen(samples, sorted(place for _, place in ranked[:limit]))


def settings_hash(settings: EvalSettings, limit: int | None = None) -> str:
    """Return a hash of data, sampling parameters and seed; n and k are excluded, so that n can grow."""
    origin = {k: v for k, v in settings.dataset.items() if k not in ("path", "limit")}
    value = {
        "dataset": origin,
        "temperature": float(settings.temperature),
        "top_p": float(settings.top_p),
        "max_tokens": settings.max_tokens,
        "seed": settings.seed,
        "limit": limit,
        **settings.turn_limit,
    }
    return digest(value)[:8]


def out_folder(target: Target, run: Run | None, suffix: str) -> Path:
    root = run.path / "eval" if run is not None else EVALS
    return root / f"{target.slug}-{suffix}"


def results_of_run(run: Run) -> list[tuple[Path, EvalResult]]:
    """Return a run's results with the same settings as its newest one, base model first.

    Raises EvaluationError if there are none.
    """
    stored = []
    for file in run.path.glob(f"eval/*/{RESULT_FILE}"):
        slug, _, suffix = file.parent.name.rpartition("-")
        stored.append((slug, suffix, file, load_result(file)))
    if not stored:
        raise EvaluationError(
            f"run {run.name} has no results: make them with "
            f"{prorl_command('eval', 'pass-at-k', '--run', run.name)}"
        )
    newest = max(stored, key=lambda s: s[3].created)
    family = sorted((s for s in stored if s[1] == newest[1]), key=lambda s: (s[0] != "base", s[0]))
    return [(file, result) for _, _, file, result in family]


def gather(names: Sequence[str], root: Path = RUNS) -> StoredResults:
    """Return the results that ``names`` (runs or result folders) refer to. Raises EvaluationError."""
    stored: list[tuple[Path, EvalResult]] = []
    run_dir: Path | None = None
    for name in names:
        path = Path(name)
        if (path / RESULT_FILE).is_file() or path.is_file():
            stored.append((path if path.is_file() else path / RESULT_FILE, load_result(path)))
            continue
        if path.is_dir() and not (path / "config.yaml").is_file():
            load_result(path)  # raises an error that names the missing file
        try:
            run = find_run(name, root)
        except EvaluationError as error:
            cure = "or name a result folder that prorl eval pass-at-k wrote"
            raise EvaluationError(f"{error}, {cure}") from error
        stored += results_of_run(run)
        run_dir = run_dir or run.path
    return StoredResults([result for _, result in stored], [file for file, _ in stored], run_dir)
