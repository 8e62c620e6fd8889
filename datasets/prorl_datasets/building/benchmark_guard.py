"""Collects the benchmark questions and generated items that training rows must not repeat."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import MissingExtraError, Progress, atomic_write_text
from prorl_datasets.candidate import digest
from prorl_datasets.hub.reach import hub_problem, offline
from prorl_datasets.recipe.parts import Decontamination, Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.client import Children
from prorl_datasets.sources.reasoning_gym import ReasoningGymSource, item_key
from prorl_datasets.spec import EMBEDDERS
from prorl_datasets.types import DatasetError

INDEX, TAKEN = "benchmarks.npz", "benchmark_items.txt"


@dataclass(slots=True)
class Guard:
    """The benchmark items that training rows must not repeat."""

    checked: dict[str, int] = field(default_factory=dict)
    """Number of items of each benchmark that was read."""
    missing: dict[str, str] = field(default_factory=dict)
    """Maps each benchmark that could not be read to the reason."""
    texts: list[tuple[str, str, str]] = field(default_factory=list)
    """Questions of the published benchmarks, as (benchmark, item id, question)."""
    generated: list[str] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    """Maps the key of each item of a generated benchmark to "BENCHMARK ITEM"."""

    def hashes(self) -> dict[str, str]:
        """Return hashes that identify the benchmarks, for the build's fingerprint."""
        if not self.texts and not self.missing and not self.generated:
            return {}
        content = hashlib.sha256(json.dumps(self.texts).encode())
        return {"benchmarks": content.hexdigest(), "missing": ",".join(sorted(self.missing))}

    def write(self, folder: Path, settings: Decontamination) -> tuple[Path | None, Path | None]:
        """Write the question index and the item keys; return their paths, or None for a file that is not needed."""
        index = taken = None
        if self.texts:
            from prorl_datasets.text.index import BenchmarkIndex
            from prorl_datasets.text.view_index import Rules

            index = folder / INDEX
            folder.mkdir(parents=True, exist_ok=True)
            rules = Rules(paraphrases=settings.paraphrases, embedding=settings.embedding or "")
            BenchmarkIndex.build(self.texts, rules).save(index)
        if self.keys:
            taken = folder / TAKEN
            lines = (f"{key} {item}\n" for key, item in sorted(self.keys.items()))
            atomic_write_text(taken, "".join(lines))
        return index, taken

    def as_json(self, pairs: Sequence[dict[str, Any]]) -> dict[str, Any]:
        rows = {(p["benchmark"], p["row"], p["dropped"]) for p in pairs}
        dropped = Counter(benchmark for benchmark, _, is_dropped in rows if is_dropped)
        variants = Counter(benchmark for benchmark, _, is_dropped in rows if not is_dropped)
        record = {
            "checked": dict(sorted(self.checked.items())),
            "not_checked": dict(sorted(self.missing.items())),
            "rows_like_an_item": dict(sorted(dropped.items())),
        }
        return record | ({"variants_kept": dict(sorted(variants.items()))} if variants else {})


def open_guard(recipe: Recipe, mirror: Path | None, progress: Progress) -> Guard:
    """Read the questions of every published benchmark that the recipe names.

    Raises DatasetError or UnknownNameError for unknown benchmarks or embedders.
    """
    from prorl_datasets.benchmarks import benchmark_names, benchmark_questions, load_spec

    if recipe.decontamination.embedding is not None:
        EMBEDDERS.get(recipe.decontamination.embedding)
    selection = recipe.decontamination.benchmarks
    names = benchmark_names() if selection == "all" else selection
    guard = Guard()
    specs = [load_spec(name) for name in names]
    guard.generated = [spec.name for spec in specs if spec.generated is not None]
    published = [spec.name for spec in specs if spec.generated is None]
    if not published:
        return guard
    mirror = mirror.resolve() if mirror is not None else None  # a short path could match a word
    problem = None if mirror is not None or offline() else hub_problem()
    if problem is not None:
        guard.missing = dict.fromkeys(published, problem)
    else:
        progress.start("reading benchmarks", len(published))
        for name in published:
            try:
                questions = benchmark_questions(name, mirror=mirror)
                texts = [(name, item, text) for item, text in questions]
            except (DatasetError, MissingExtraError) as error:
                reason = str(error)
                if mirror is not None:  # manifest and card contain no local path
                    path = re.escape(str(mirror))
                    reason = re.sub(rf"(?<![\w-]){path}(?![\w-])", "DIR", reason)
                guard.missing[name] = reason
            else:
                guard.texts += texts
                guard.checked[name] = len(texts)
            progress.advance(1, benchmark=name)
        progress.finish()
    if guard.missing:
        progress.message(
            f"NOT CHECKED against {', '.join(guard.missing)}: "
            f"{next(iter(guard.missing.values()))} (--mirror DIR uses local copies of their "
            "files)"
        )
    return guard


def add_generated(
    guard: Guard, entries: Sequence[Entry], folder: Path, children: Children, progress: Progress
) -> None:
    """Add the items of generated benchmarks whose tasks ``entries`` also use; ``folder`` caches their keys."""
    from prorl_datasets.benchmarks import load_spec

    drawn = {e.source.task for e in entries if isinstance(e.source, ReasoningGymSource)}
    jobs: list[tuple[str, str, int | None]] = []
    for name in guard.generated:
        generated = load_spec(name).generated
        assert generated is not None
        rungs: list[int | None] = [*generated.rungs] or [None]
        jobs += [(name, task, rung) for task in generated.tasks if task in drawn for rung in rungs]
    if not jobs:
        return
    progress.start("generated benchmark items", len(jobs))
    with ThreadPoolExecutor(len(children)) as threads:
        for (name, _, _), keys in zip(
            jobs, threads.map(lambda job: _item_keys(folder, children, *job), jobs), strict=True
        ):
            guard.keys.update(keys)
            guard.checked[name] = guard.checked.get(name, 0) + len(keys)
            progress.advance(1, benchmark=name)
    progress.finish()


def _item_keys(
    folder: Path, children: Children, name: str, task: str, rung: int | None
) -> dict[str, str]:
    """Return {item key: "BENCHMARK ITEM"} for one task and difficulty of a generated benchmark."""
    from prorl_datasets.benchmarks import benchmark_seeds, load_spec

    path = folder / f"{name}-{task}-{rung or 0}.keys"
    if path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines()
        return dict(line.split(" ", 1) for line in lines)
    generated = load_spec(name).generated
    assert generated is not None
    config = {**generated.configs.get(task, {}), **dict.fromkeys(generated.ladder, rung)}
    with children.lend() as child:
        replies = child.entries(task, config, benchmark_seeds(name, task, rung))
    place = task if rung is None else f"{task}-{rung}"
    keys = {
        digest(item_key(task, reply["entry"])): f"{name} {place}-{number}"
        for number, reply in enumerate(replies)
        if "entry" in reply
    }
    atomic_write_text(path, "".join(f"{key} {item}\n" for key, item in keys.items()))
    return keys
