"""Build a dataset: make and check rows over the cores, choose, write Parquet, manifest and card.

Evaluation splits are filled before train, so a problem they share stays with them. Finished chunks
are kept in part files: a build killed anywhere goes on from there. The result depends on recipe,
seed, source files and benchmarks alone, not on workers or order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import Progress, check_output, sha256_file
from prorl_datasets.building import plan
from prorl_datasets.building.benchmark_guard import Guard, add_generated, open_guard
from prorl_datasets.building.choose import Choice, Found, Tally, choose
from prorl_datasets.building.collect import Collector, Job
from prorl_datasets.building.difficulty import PassRates, read_pass_rates
from prorl_datasets.building.gold import Scorer, open_scorer
from prorl_datasets.building.losses import check_losses
from prorl_datasets.building.report import BuildReport, EntryResult, parts_that_count
from prorl_datasets.building.writing import Output, write_dataset
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.client import Children, Setting
from prorl_datasets.rows.parts import Part, PartStore, fingerprint
from prorl_datasets.sources.files import Files
from prorl_datasets.sources.sources import check_sources, find_files
from prorl_datasets.storage import MANIFEST, read_manifest
from prorl_datasets.types import SPLITS, DatasetError
from prorl_verifiers import VERIFIERS


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How to build. ``isolated`` says whether untrusted code can run here; where it cannot, the code
    domain is left out with one loud line. ``workers`` processes make rows and as many verify;
    ``mirror`` is a folder with copies of hub files. ``only`` and ``skip`` name entries (``Recipe.wanted``).
    """

    seed: int | None = None
    isolated: bool = True
    workers: int = 2
    mirror: Path | None = None
    update_pins: bool = False
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()


@dataclass(slots=True)
class _Build:
    recipe: Recipe
    wanted: list[Entry]
    seed: int
    options: BuildOptions
    files: Files
    guard: Guard
    store: PartStore
    scorer: Scorer
    children: Children
    progress: Progress
    found: Found
    results: list[EntryResult] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    rates: PassRates | None = None

    def collect(self) -> Choice:
        """Make rows round by round until every generated stream has its target or is used up."""
        recipe, progress = self.recipe, self.progress
        self.rates = read_pass_rates(recipe)
        self.results = [EntryResult(e, recipe.weight_of(e)) for e in recipe.entries]
        wanted = {entry.name for entry in self.wanted}
        for result in self.results:
            result.skipped = result.entry.name not in wanted
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
        if (parts := self.store.found()) > 0:
            progress.message(f"continuing an earlier build: {parts} finished parts found")
        add_generated(self.guard, self.wanted, self.store.folder, self.children, progress)
        index, taken = self.guard.write(self.store.folder, recipe.decontamination)
        self.children.set_up(Setting(recipe, self.seed, index, taken))
        active = [
            r.entry
            for r in self.results
            if not (r.left_out or r.skipped or r.entry.name in self.failed)
        ]
        targets = [entry.count.of(split) for entry in active for split in SPLITS]
        known = None if None in targets else sum(t for t in targets if t)
        progress.start(f"building {recipe.name}", known)
        collector = Collector(self.children, self.store, self.scorer, progress)
        self._read(collector, active)
        streams = plan.streams_of(active)
        while True:
            self._take(collector.run(plan.draw(streams)))
            near = self.found.near(recipe.near_duplicate)
            choice = choose(recipe, self.seed, self.found, near, self.rates)
            check_losses(recipe, self.found.tallies)
            for stream in streams:
                drawn = self.found.drawn[stream.entry.name, stream.split]
                stream.result(choice.count(stream.entry, stream.split), drawn)
            if not any(stream.short for stream in streams):
                break
        progress.finish()
        return choice

    def _read(self, collector: Collector, active: list[Entry]) -> None:
        """Take in the rows of files, those of sources that may fail entry by entry."""
        self._take(collector.run(plan.read([e for e in active if not e.spec.may_fail], self.files)))
        for entry in active:
            if not entry.spec.may_fail:
                continue
            try:
                self._take(collector.run(plan.read([entry], self.files)))
            except DatasetError as error:
                self.found.forget(entry.name)
                self.pairs = [p for p in self.pairs if p["row"].rpartition("-")[0] != entry.name]
                self.quarantined = [
                    n for n in self.quarantined if not n.startswith(f"{entry.name}-rows-")
                ]
                self._fail(entry.name, str(error))

    def _fail(self, name: str, reason: str) -> None:
        self.failed[name] = reason
        self.progress.message(f"FAILED {name}: {reason}")

    def _take(self, made: Iterator[tuple[Job, Part]]) -> None:
        for job, part in made:
            self.found.add(job, part)
            self.pairs += part.pairs
            self.quarantined += [job.name] if part.quarantine else []

    def output(self, choice: Choice, digest: str) -> Output:
        """Return what is to be written. Raises DatasetError where nothing was kept, with the reasons."""
        if not any(choice.kept.values()):
            raise DatasetError("\n".join(self._nothing(choice)))
        for result in self.results:
            tally = self.found.tallies.get(result.entry.name, Tally())
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

    def _nothing(self, choice: Choice) -> list[str]:
        """Return why a build has no rows: what failed, and the commonest reasons with an example each."""
        told = list(self.failed.values())
        reasons: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for tally in self.found.tallies.values():
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
            told.insert(0, f"{first}: {shown}")
        return told or [
            f"recipe {self.recipe.name} gave no items: every count is 0, or its sources are empty"
        ]


def build(
    recipe: Recipe, out: Path, *, progress: Progress, options: BuildOptions | None = None
) -> BuildReport:
    """Build ``recipe`` into the folder ``out`` and return the report.

    The same dataset already in ``out`` is kept. Raises DatasetError (recipe, sources, an ``out``
    that is not a dataset or that another build is writing, a generated domain losing too much), UserError (disk), ServiceError
    (verifiers broke; finished parts are kept).
    """
    options = options or BuildOptions()
    scoring = open_scorer(options.workers)
    return build_with(scoring, recipe, out, progress=progress, options=options)


def check_folders(out: Path, mirror: Path | None = None) -> None:
    """Raise UserError where no dataset can be written, or no hub files can be had."""
    check_output(out, folder=True)
    check_output(out.absolute().parent, folder=True)  # where its lock lies
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
    """Do as ``build`` does, with a scorer of your own; it is entered only when something is to be
    checked.
    """
    options = options or BuildOptions()
    seed = recipe.seed if options.seed is None else options.seed
    out = out.absolute()
    check_folders(out, options.mirror)
    wanted = recipe.wanted(options.only, options.skip)
    lock = pins_path(recipe, out)
    files = find_files(recipe, wanted, lock, options.mirror, options.update_pins, progress)
    if all(entry.name in files.failed for entry in wanted):
        raise DatasetError("\n".join(dict.fromkeys(files.failed.values())))
    built = {entry.name for entry in wanted} - {*files.failed}
    missing = [entry.name for entry in recipe.entries if entry.name not in built]
    guard = open_guard(recipe, options.mirror, progress)
    read = {**files.hashes, **guard.hashes()}
    if (rates := recipe.difficulty_file()) is not None and rates.is_file():
        read["pass rates"] = sha256_file(rates)
    if missing:
        read["without"] = " ".join(missing)
    parts = parts_that_count(recipe)
    digest = fingerprint(recipe, seed, options.isolated, read, parts)
    store = PartStore(out, fingerprint(recipe, seed, options.isolated, guard.hashes(), parts))
    with suppress(DatasetError):  # a manifest that cannot be read: built anew
        found = read_manifest(out) if (out / MANIFEST).is_file() else {}
        same = found.get("fingerprint") == digest and not found.get("failed")
        files_of = found["files"].items() if same else ()
        paths = [(out / name, about["sha256"]) for name, about in files_of]
        if paths and all(path.is_file() and sha256_file(path) == sha for path, sha in paths):
            if not missing:
                store.clear()  # a kill right before the end leaves parts
            progress.message(f"{out} already holds this dataset; nothing to do")
            return BuildReport(out, found, reused=True)
    with ExitStack() as stack:
        children = stack.enter_context(Children(options.workers))
        check_sources(recipe, wanted, children)
        stack.enter_context(store.lock())
        scorer = stack.enter_context(scoring)
        found_rows = stack.enter_context(closing(Found(store.folder)))
        work = _Build(
            recipe, wanted, seed, options, files, guard, store, scorer, children, progress, found_rows
        )  # fmt: skip
        manifest = write_dataset(work.output(work.collect(), digest), out)
    if not missing and not work.failed:  # else the next build goes on with them
        store.clear()
    return BuildReport(out, manifest, failed=work.failed)


def pins_path(recipe: Recipe, out: Path) -> Path:
    """Return where the revisions and hashes of a recipe's hub files are locked: beside the output."""
    return out.parent / f"{recipe.name}.lock.json"
