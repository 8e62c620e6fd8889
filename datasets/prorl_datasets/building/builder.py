"""Builds a dataset: makes and checks rows in parallel, chooses which to keep, and writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import Progress, check_output, sha256_file
from prorl_datasets.building.benchmark_guard import Guard, add_generated, open_guard
from prorl_datasets.building.choose import (
    Choice,
    PassedRows,
    PassRates,
    Tally,
    choose,
    read_pass_rates,
)
from prorl_datasets.building.collect import Collector, Job, Reading, count_rows, draw, streams_of
from prorl_datasets.building.gold import Scorer, open_scorer
from prorl_datasets.building.report import BuildReport, EntryResult, parts_that_count
from prorl_datasets.building.writing import Output, write_dataset
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.client import Children, Setting
from prorl_datasets.rows.parts import Part, PartStore, fingerprint
from prorl_datasets.sources.row_files import Files
from prorl_datasets.sources.sources import check_sources, find_files
from prorl_datasets.storage import MANIFEST, read_manifest
from prorl_datasets.types import SPLITS, DatasetError
from prorl_verifiers import VERIFIERS

LOSS_STAGES = ("made", "gold", "decontamination")
MIN_CANDIDATES = 200
"""Minimum number of generated candidates in a domain to which ``max_loss`` applies."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    seed: int | None = None
    isolated: bool = True
    """Whether untrusted code can be isolated. If False, entries whose verifiers run programs are left out."""
    workers: int = 2
    """Number of processes that make rows, and of processes that score them."""
    reward_servers: tuple[str, ...] = ()
    mirror: Path | None = None
    """Folder with copies of hub files."""
    update_pins: bool = False
    only: tuple[str, ...] = ()
    """Names of the entries to build; empty means all."""
    skip: tuple[str, ...] = ()
    """Names of the entries to leave out."""
    limit: int | None = None
    """Approximate total number of rows."""


@dataclass(slots=True)
class _Build:
    recipe: Recipe
    entries: list[Entry]
    seed: int
    options: BuildOptions
    files: Files
    guard: Guard
    store: PartStore
    scorer: Scorer
    children: Children
    progress: Progress
    passed: PassedRows
    rows: dict[str, int]
    """Number of raw rows of each entry that is read from files."""
    results: list[EntryResult] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    rates: PassRates | None = None

    def collect(self) -> Choice:
        """Make rows in rounds until every entry has enough or its source has no more; return the rows to keep."""
        recipe, progress = self.recipe, self.progress
        self.rates = read_pass_rates(recipe)
        self.results = [EntryResult(e, recipe.weight_of(e)) for e in recipe.entries]
        selected = {entry.name for entry in self.entries}
        for result in self.results:
            result.skipped = result.entry.name not in selected
            result.taken = self.files.taken.get(result.entry.name, {})
        for name, reason in self.files.failed.items():
            self._fail(name, reason)
        for result in self.results if not self.options.isolated else ():
            result.left_out = VERIFIERS.get(result.entry.scored_by).may_run_programs
        if left_out := [result.entry.name for result in self.results if result.left_out]:
            progress.message(
                "WARNING: this machine cannot isolate untrusted code, so the CODE DOMAIN IS LEFT OUT "
                f"of this dataset: {', '.join(left_out)} (prorl sandbox doctor says what is missing)"
            )
        if (parts := self.store.count()) > 0:
            progress.message(f"continuing an earlier build: {parts} finished parts found")
        add_generated(self.guard, self.entries, self.store.folder, self.children, progress)
        index, taken = self.guard.write(self.store.folder, recipe.decontamination)
        self.children.set_up(Setting(recipe, self.seed, index, taken))
        active = [
            r.entry
            for r in self.results
            if not (r.left_out or r.skipped or r.entry.name in self.failed)
        ]
        collector = Collector(self.children, self.store, self.scorer, progress)
        limited = self.options.limit is not None
        readings = [
            Reading.of(entry, self.rows[entry.name], self.seed, limited)
            for entry in active
            if entry.name in self.rows
        ]
        streams, stage = streams_of(active), f"building {recipe.name}"
        while True:
            candidates = [r.to_read for r in readings] + [s.to_draw() for s in streams if s.short]
            progress.start(stage, sum(candidates))
            for reading in (r for r in readings if r.to_read):
                self._read(collector, reading)
            self._take(collector.run(draw(streams)))
            near = self.passed.near(recipe.near_duplicate, progress)
            choice = choose(recipe, self.seed, self.passed, near, self.rates, progress)
            check_losses(recipe, self.passed.tallies)
            for stream in streams:
                drawn = self.passed.drawn[stream.entry.name, stream.split]
                stream.result(choice.count(stream.entry, stream.split), drawn)
            for reading in readings:
                reading.kept = sum(choice.count(reading.entry, split) for split in SPLITS)
            if not any([*(r.to_read for r in readings), *(s.short for s in streams)]):
                break
            stage = f"replacing dropped rows of {recipe.name}"
        for name, tally in self.passed.tallies.items():
            if tally.unpaid.rows:
                progress.message(f"WARNING: {tally.unpaid.warning(name)}")
        return choice

    def _read(self, collector: Collector, reading: Reading) -> None:
        """Read the next rows of an entry. If this fails and the source has ``may_fail``, drop the whole entry."""
        entry = reading.entry
        try:
            self._take(collector.run(reading.jobs(self.files)))
            return
        except DatasetError as error:
            if not entry.spec.may_fail:
                raise
            reason = str(error)
        reading.give_up()
        self.passed.forget(entry.name)
        self.pairs = [p for p in self.pairs if p["row"].rpartition("-")[0] != entry.name]
        parts = f"{entry.name}-rows-"
        self.quarantined = [name for name in self.quarantined if not name.startswith(parts)]
        self._fail(entry.name, reason)

    def _fail(self, name: str, reason: str) -> None:
        self.failed[name] = reason
        self.progress.message(f"FAILED {name}: {reason}")

    def _take(self, made: Iterator[tuple[Job, Part]]) -> None:
        for job, part in made:
            self.passed.add(job, part)
            self.pairs += part.pairs
            self.quarantined += [job.name] if part.quarantine else []

    def output(self, choice: Choice, digest: str) -> Output:
        """Return the dataset to write. Raises DatasetError if no row was kept."""
        if not any(choice.kept.values()):
            raise DatasetError("\n".join(self._explain_empty(choice)))
        for result in self.results:
            tally = self.passed.tallies.get(result.entry.name, Tally())
            result.candidates, result.isolation = tally.candidates, tally.isolation
            result.drops = {stage: Counter(reasons) for stage, reasons in tally.drops.items()}
            result.examples = tally.examples
            result.failed = self.failed.get(result.entry.name, "")
        about = {
            "seed": self.seed,
            "fingerprint": digest,
            "isolated": self.options.isolated,
            "sources": self.files.hashes,
            "decontamination": self.guard.as_json(self.pairs),
            "limit": self.options.limit,
        }
        return Output(
            recipe=self.recipe,
            results=self.results,
            choice=choice,
            store=self.store,
            pairs=self.pairs,
            rates=self.rates,
            about=about,
            quarantined=self.quarantined,
        )

    def _explain_empty(self, choice: Choice) -> list[str]:
        lines = list(self.failed.values())
        reasons: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for tally in self.passed.tallies.values():
            reasons.update(sum(tally.drops.values(), Counter()))
            for line in tally.examples:
                if "detail" in line:
                    examples.setdefault(line["reason"], f", as {line['row']}: {line['detail']}")
        for lost in choice.lost.values():
            for (_, reason), count in lost.items():
                reasons[reason] += count
        if reasons:
            worst = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:10]
            shown = "; ".join(f"{why} ({count}{examples.get(why, '')})" for why, count in worst)
            first = f"recipe {self.recipe.name} gave no items, all {reasons.total()} were dropped"
            lines.insert(0, f"{first}: {shown}")
        return lines or [
            f"recipe {self.recipe.name} gave no items: every count is 0, or its sources are empty"
        ]


def check_losses(recipe: Recipe, tallies: Mapping[str, Tally]) -> None:
    """Raise DatasetError if checks dropped more than ``max_loss`` of a domain's generated rows."""
    candidates: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {}
    for entry in recipe.entries:
        tally = tallies.get(entry.name)
        if tally is None or not entry.generated:
            continue
        candidates[entry.domain] += tally.candidates
        for stage in LOSS_STAGES:
            for reason, count in tally.drops.get(stage, {}).items():
                reasons.setdefault(entry.domain, Counter())[f"{entry.name}: {reason}"] += count
    for domain, lost in reasons.items():
        total = candidates[domain]
        if total >= MIN_CANDIDATES and lost.total() > recipe.max_loss * total:
            ordered = sorted(lost.items(), key=lambda item: (-item[1], item[0]))[:10]
            worst = "; ".join(f"{reason} ({count})" for reason, count in ordered)
            raise DatasetError(
                f"domain {domain}: checks dropped {lost.total()} of {total} generated rows, more than "
                f"max_loss ({recipe.max_loss:.0%}): {worst}; fix these entries or raise max_loss"
            )


def build(
    recipe: Recipe, out: Path, *, progress: Progress, options: BuildOptions | None = None
) -> BuildReport:
    """Build ``recipe`` into the folder ``out``, or do nothing if the folder already contains this dataset.

    Raises DatasetError for an invalid recipe or source, a folder that is in use or not a dataset, or a domain that
    loses too many rows; UserError for disk errors; ServiceError if verifiers fail. The next build resumes from finished
    work.
    """
    options = options or BuildOptions()
    scoring = open_scorer(options.workers, options.reward_servers)
    return build_with(scoring, recipe, out, progress=progress, options=options)


def check_folders(out: Path, mirror: Path | None = None) -> None:
    """Raise UserError if ``out`` or ``mirror`` cannot be used."""
    check_output(out, folder=True)
    check_output(out.absolute().parent, folder=True)  # the lock is written there
    if out.is_dir() and any(out.iterdir()) and not (out / MANIFEST).is_file():
        raise DatasetError(f"{out} exists and is not a dataset; give another folder with --out")
    if mirror is not None and not mirror.is_dir():
        raise DatasetError(f"no such folder: {mirror} (--mirror)")


def build_with(
    scoring: AbstractContextManager[Scorer],
    recipe: Recipe,
    out: Path,
    *,
    progress: Progress,
    options: BuildOptions | None = None,
) -> BuildReport:
    """Build a dataset like ``build``. ``scoring`` is opened only if rows must be made."""
    options = options or BuildOptions()
    seed = recipe.seed if options.seed is None else options.seed
    out = out.absolute()
    check_folders(out, options.mirror)
    entries = recipe.select(options.only, options.skip)
    lock = pins_path(recipe, out)
    files = find_files(recipe, entries, lock, options.mirror, options.update_pins, progress)
    if all(entry.name in files.failed for entry in entries):
        raise DatasetError("\n".join(dict.fromkeys(files.failed.values())))
    built = {entry.name for entry in entries} - {*files.failed}
    missing = [entry.name for entry in recipe.entries if entry.name not in built]
    with ExitStack() as stack:
        children = stack.enter_context(Children(options.workers))
        rows: dict[str, int] | None = None
        if options.limit is not None:
            check_sources(recipe, entries, children)
            rows = count_rows(entries, files, progress)
            recipe = recipe.limited(options.limit, built, rows)
            entries = recipe.select(options.only, options.skip)
        guard = open_guard(recipe, options.mirror, progress)
        inputs = {**files.hashes, **guard.hashes()}
        if (rates := recipe.difficulty_file()) is not None and rates.is_file():
            inputs["pass rates"] = sha256_file(rates)
        if missing:
            inputs["without"] = " ".join(missing)
        parts = parts_that_count(recipe)
        digest = fingerprint(recipe, seed, options.isolated, inputs, parts)
        store = PartStore(out, fingerprint(recipe, seed, options.isolated, guard.hashes(), parts))
        if (manifest := _built_before(out, digest)) is not None:
            if not missing:
                store.clear()  # a build killed at the very end leaves parts
            progress.message(f"{out} already holds this dataset; nothing to do")
            return BuildReport(out, manifest, reused=True)
        if rows is None:
            check_sources(recipe, entries, children)
        stack.enter_context(store.lock())
        if rows is None:
            rows = count_rows(entries, files, progress)
        scorer = stack.enter_context(scoring)
        passed = stack.enter_context(closing(PassedRows(store.folder)))
        work = _Build(
            recipe, entries, seed, options, files, guard, store, scorer, children, progress, passed, rows
        )  # fmt: skip
        manifest = write_dataset(work.output(work.collect(), digest), out, progress)
    if not missing and not work.failed:  # otherwise the next build reuses the parts
        store.clear()
    return BuildReport(out, manifest, failed=work.failed)


def _built_before(out: Path, digest: str) -> dict[str, Any] | None:
    """Return the manifest in ``out`` if the dataset is complete and unchanged, else None."""
    with suppress(DatasetError):  # an unreadable manifest: build again
        manifest = read_manifest(out) if (out / MANIFEST).is_file() else {}
        same = manifest.get("fingerprint") == digest and not manifest.get("failed")
        files = manifest["files"].items() if same else ()
        paths = [(out / name, about["sha256"]) for name, about in files]
        if paths and all(path.is_file() and sha256_file(path) == sha for path, sha in paths):
            return manifest
    return None


def pins_path(recipe: Recipe, out: Path) -> Path:
    return out.parent / f"{recipe.name}.lock.json"
