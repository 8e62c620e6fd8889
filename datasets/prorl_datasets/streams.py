"""One face for all sources: check yourself, then give the items of an index range.

Holds the reasoning-gym child process for the time of a build. Leaves out: gold check and dedupe
(``builder``).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from prorl_common import Closing, derive_seed, nearest, sha256_file
from prorl_datasets import file_source, rg_source
from prorl_datasets.procedural import families
from prorl_datasets.recipe import Entry, FileSource, ProceduralSource, ReasoningGymSource, Recipe
from prorl_datasets.rows import Drop, Row
from prorl_datasets.types import DatasetError, Split


class Streams(Closing):
    """The sources of a recipe. A context manager: leaving it ends the child process."""

    def __init__(self, recipe: Recipe, seed: int) -> None:
        self._recipe, self._seed = recipe, seed
        self._worker = rg_source.ReasoningGymWorker()
        self._files: dict[str, file_source.FileRows] = {}
        self._families = families()

    def check(self) -> None:
        """Raise DatasetError naming every mistake of every source: unknown names, missing files."""
        wrong: list[str] = []
        gym: list[tuple[str, dict[str, object]]] = []
        for entry in self._recipe.entries:
            source = entry.source
            if isinstance(source, ProceduralSource):
                wrong += self._check_family(entry, source)
            elif isinstance(source, FileSource):
                wrong += file_source.check(self._recipe, entry)
            else:
                gym.append((source.task, source.config))
        if gym:
            wrong += self._worker.check(gym)
        if wrong:
            raise DatasetError(f"recipe {self._recipe.name}: {'; '.join(wrong)}")

    def _check_family(self, entry: Entry, source: ProceduralSource) -> list[str]:
        family = self._families.get(source.family)
        if family is None:
            same = [f.name for f in self._families.values() if f.domain == entry.domain]
            hint = (
                nearest(source.family, self._families) or f"; {entry.domain} has {', '.join(same)}"
            )
            return [f"entry '{entry.name}': unknown family '{source.family}'{hint}"]
        if family.domain != entry.domain:
            kind = f"family '{family.name}' is {family.domain}, not {entry.domain}"
            return [f"entry '{entry.name}': {kind}"]
        return []

    def file_hashes(self) -> dict[str, str]:
        """Return the SHA-256 of every file that a file source reads, by entry name.

        A missing file is left out; ``check`` complains of it.
        """
        paths = {
            e.name: file_source.source_path(self._recipe, e.source)
            for e in self._recipe.entries
            if isinstance(e.source, FileSource)
        }
        return {name: sha256_file(path) for name, path in paths.items() if path.is_file()}

    def take(self, entry: Entry, split: Split, indices: range) -> Sequence[Row | Drop]:
        """Return the items of ``entry`` in ``indices`` of its stream; fewer than asked when it is
        used up.

        Generators have one endless stream a split; a file has one stream that its splits share.
        """
        if isinstance(entry.source, ReasoningGymSource):
            return rg_source.take(self._worker, entry, self._seed, split, indices)
        if isinstance(entry.source, FileSource):
            rows = self._files.setdefault(
                entry.name, file_source.FileRows(self._recipe, entry, self._seed)
            )
            return rows.take(indices)
        return [self._procedural(entry, entry.source, split, index) for index in indices]

    def _procedural(self, entry: Entry, source: ProceduralSource, split: Split, index: int) -> Row:
        rng = Random(derive_seed(self._seed, "data", entry.name, split, index))
        level = rng.choice(source.levels)
        item = self._families[source.family].generate(rng, level)
        metadata = {"family": source.family, "level": level, **item.metadata}
        if item.chance is not None:
            metadata["chance"] = item.chance
        return Row(index, item.question, item.task, item.gold, item.answer, metadata)

    def close(self) -> None:
        """End the child process."""
        self._worker.close()
