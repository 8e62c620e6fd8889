"""Drops duplicates, near-duplicates, and rows whose pass rate is outside the recipe's band."""

from __future__ import annotations

import base64
import hashlib
from array import array
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from prorl_common import Progress, read_jsonl
from prorl_datasets.building.collect import FILL_ORDER, Job, item_name, place_of
from prorl_datasets.building.gold import Unpaid
from prorl_datasets.candidate import prompt_key
from prorl_datasets.recipe.parts import Difficulty, Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.parts import EXAMPLES, Part
from prorl_datasets.types import DatasetError, Split


@dataclass(frozen=True, slots=True)
class PassRates:
    """Recorded pass rates by prompt and row id, and the recipe's filter."""

    settings: Difficulty
    by_prompt: dict[str, float] = field(default_factory=dict)
    by_id: dict[str, float] = field(default_factory=dict)
    too_few: set[str] = field(default_factory=set)
    """Row ids and prompt keys whose ratings have fewer than ``min_n`` samples."""

    def of(self, identity: str, key: str) -> float | None:
        return self.by_prompt.get(key, self.by_id.get(identity))

    def reason(self, identity: str, key: str) -> str | None:
        """Return why the filter drops a row, or None if it keeps the row."""
        rate = self.of(identity, key)
        if rate is None:
            few = not self.too_few.isdisjoint((identity, key))
            why = "rated by too few samples" if few else "unrated"
            return why if self.settings.unrated == "drop" else None
        if rate < self.settings.band[0]:
            return "too hard"
        return "too easy" if rate > self.settings.band[1] else None


def read_pass_rates(recipe: Recipe) -> PassRates | None:
    """Read the pass rates that the recipe names, or return None if it names none. Raises DatasetError or UserError."""
    path = recipe.difficulty_file()
    if path is None or recipe.difficulty is None:
        return None
    rates = PassRates(recipe.difficulty)
    for line, row in read_jsonl(path):
        rate, n, place = row.get("pass_rate"), row.get("n"), f"{path}:{line}"
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise DatasetError(f"{place}: 'pass_rate' must be a number from 0 to 1")
        if recipe.difficulty.min_n > 1 and (isinstance(n, bool) or not isinstance(n, int)):
            raise DatasetError(
                f"{place}: 'n' must be the number of samples, because the recipe sets difficulty.min_n"
            )
        if isinstance(row.get("prompt_key"), str):
            names, name = rates.by_prompt, row["prompt_key"]
        elif isinstance(row.get("id"), str):
            names, name = rates.by_id, row["id"]
        elif isinstance(row.get("prompt"), str):
            names, name = rates.by_prompt, prompt_key([{"content": row["prompt"]}])
        else:
            raise DatasetError(f"{place}: expected 'id' or 'prompt' in addition to 'pass_rate'")
        if isinstance(n, int) and n < recipe.difficulty.min_n:
            rates.too_few.add(name)
            names.pop(name, None)
        else:
            rates.too_few.discard(name)
            names[name] = float(rate)
    return rates


_PROGRESS_ROWS = 1024
"""Number of rows between two progress updates."""


@dataclass(slots=True)
class Ref:
    """Position of a stored row, and its keys for finding duplicates."""

    part: str
    place: int
    """Index of the row in the part file."""
    index: int
    """Index of the row in its entry."""
    node: int
    """Number of the problem; duplicates have the same number."""
    prompt_key: bytes
    answer: int | None


@dataclass(slots=True)
class Tally:
    """Counts of one entry's candidate rows and, by stage and reason, of the dropped ones."""

    candidates: int = 0
    drops: dict[str, Counter[str]] = field(default_factory=dict)
    examples: list[dict[str, str]] = field(default_factory=list)
    """The first EXAMPLES dropped candidates of each stage and reason, sorted by name."""
    isolation: set[str] = field(default_factory=set)
    unpaid: Unpaid = field(default_factory=Unpaid)

    def add(self, part: Part) -> None:
        self.candidates += part.candidates
        for stage, reasons in part.drops.items():
            self.drops.setdefault(stage, Counter()).update(reasons)
        by_reason: dict[tuple[str, str], list[dict[str, str]]] = {}
        for example in sorted(self.examples + part.examples, key=lambda line: line["row"]):
            by_reason.setdefault((example["stage"], example["reason"]), []).append(example)
        self.examples = [e for same in by_reason.values() for e in same[:EXAMPLES]]
        self.isolation.update(part.isolation)
        self.unpaid.add(part.unpaid, part.unpaid_example)


class PassedRows:
    """Rows that passed their checks, by (entry, split); the split is "" for rows of files."""

    def __init__(self, folder: Path | None = None) -> None:
        self.refs: dict[tuple[str, str], list[Ref]] = {}
        self.drawn: Counter[tuple[str, str]] = Counter()
        self.tallies: dict[str, Tally] = {}
        self._nodes: dict[bytes, int] = {}
        from prorl_datasets.text.duplicates import (
            Signatures,  # imports numpy, which reading a dataset does not need
        )

        self._signatures = Signatures(folder)
        self._signed = array("q")
        """The node of each signature."""
        self._near = Near()
        self._compared = 0
        """Number of signatures that ``_near`` includes."""

    def close(self) -> None:
        self._signatures.close()

    def add(self, job: Job, part: Part) -> None:
        """Add the rows of one part file. The order of calls does not matter."""
        self.tallies.setdefault(job.entry.name, Tally()).add(part)
        stream = (job.entry.name, job.split)
        self.drawn[stream] += part.candidates
        refs, name = self.refs.setdefault(stream, []), job.name
        for place, row in enumerate(part.rows):
            node = self._node(row.key, row.signature)
            answer = None
            if row.answer is not None:
                hashed = hashlib.blake2b(row.answer.encode(), digest_size=8)
                answer = int.from_bytes(hashed.digest())
            prompt = bytes.fromhex(row.prompt_key)
            refs.append(Ref(name, place, row.index, node, prompt, answer))

    def forget(self, name: str) -> None:
        self.tallies.pop(name, None)
        for stream in [stream for stream in self.refs if stream[0] == name]:
            del self.refs[stream]

    def _node(self, key: str, signature: str | None) -> int:
        short = bytes.fromhex(key)
        if short not in self._nodes:
            self._nodes[short] = len(self._nodes)
            if signature is not None:
                self._signatures.add(base64.b64decode(signature))
                self._signed.append(self._nodes[short])
        return self._nodes[short]

    def near(self, threshold: float, progress: Progress) -> Near:
        """Return the near-duplicates whose similarity is at least ``threshold``."""
        if threshold <= 0 or len(self._signatures) == self._compared:
            return self._near
        near = self._near = Near()
        self._compared = len(self._signatures)
        from prorl_datasets.text.duplicates import near_duplicates

        matrix, groups = self._signatures.groups()
        near.group = array("q", [-1]) * len(self._nodes)
        for node, group in zip(self._signed, groups.tolist(), strict=True):
            near.group[node] = group
        edges = near_duplicates(matrix, threshold, progress=progress)
        for first, second in zip(edges["early"].tolist(), edges["late"].tolist(), strict=True):
            near.neighbours.setdefault(first, []).append(second)
            near.neighbours.setdefault(second, []).append(first)
        return near


@dataclass(slots=True)
class Near:
    """Near-duplicates: groups of rows with equal MinHash signatures, and pairs of similar groups."""

    group: array[int] = field(default_factory=lambda: array("q"))
    """Maps each problem (``Ref.node``) to its group, or to -1 if it has no signature."""
    neighbours: dict[int, list[int]] = field(default_factory=dict)
    """Maps each group to its similar groups."""

    def group_of(self, node: int) -> int | None:
        group = self.group[node] if node < len(self.group) else -1
        return None if group < 0 else group


@dataclass(slots=True)
class Dropped:
    """A dropped row. ``like`` is the id of the kept row that it duplicates, or ""."""

    item: str
    stage: str
    reason: str
    ref: Ref
    like: str = ""


@dataclass(slots=True)
class Choice:
    """The rows to keep by (entry, split), with counts and examples of the dropped rows."""

    kept: dict[tuple[str, Split], list[Ref]] = field(default_factory=dict)
    lost: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    """Number of rows of each entry that were dropped, by (stage, reason)."""
    examples: dict[tuple[str, str, str], list[Dropped]] = field(default_factory=dict)
    """The first EXAMPLES dropped rows by (entry, stage, reason)."""
    surplus: Counter[str] = field(default_factory=Counter)

    def count(self, entry: Entry, split: Split) -> int:
        return len(self.kept.get((entry.name, split), ()))


def choose(
    recipe: Recipe,
    seed: int,
    passed: PassedRows,
    near: Near,
    rates: PassRates | None,
    progress: Progress,
) -> Choice:
    """Choose the rows to keep from those that passed their checks."""
    progress.start("choosing rows", sum(map(len, passed.refs.values())))
    chooser = _Chooser(near, rates, progress)
    streams = {}
    for (name, part), refs in passed.refs.items():  # rows of files in seeded random order
        order = {r.index: 0 if part else place_of(seed, name, r.index) for r in refs}
        in_order = sorted((order[ref.index], ref.index, at) for at, ref in enumerate(refs))
        streams[name, part] = [refs[at] for _, _, at in in_order]
    place: Counter[str] = Counter()
    for split in FILL_ORDER:
        for entry in recipe.entries:
            if entry.count.of(split) == 0:
                continue
            shared = (entry.name, "") in streams
            refs = streams.get((entry.name, "" if shared else split), [])
            start = place[entry.name] if shared else 0
            end = chooser.fill(entry, split, refs, start, shared)
            place[entry.name] = end
            chooser.choice.surplus[entry.name] += 0 if shared else len(refs) - end
    for (name, split_name), refs in streams.items():
        if not split_name:
            chooser.choice.surplus[name] += len(refs) - place[name]
    chooser.link_repeated(recipe)
    progress.advance(chooser.choice.surplus.total())
    progress.finish()
    return chooser.choice


class _Chooser:
    def __init__(self, near: Near, rates: PassRates | None, progress: Progress) -> None:
        self.choice = Choice()
        self._near, self._rates, self._progress = near, rates, progress
        self._nodes: set[int] = set()
        self._groups: set[int] = set()
        self._prompts: set[bytes] = set()

    def fill(self, entry: Entry, split: Split, refs: list[Ref], start: int, shared: bool) -> int:
        """Keep rows of ``refs`` from index ``start`` until the split has enough; return the index of the next row.

        ``shared`` means that all splits take rows from ``refs``.
        """
        target = entry.count.among(split, len({ref.node for ref in refs}))
        kept: list[Ref] = []
        lost = self.choice.lost.setdefault(entry.name, Counter())
        end = start
        while end < len(refs) and (target is None or len(kept) < target):
            ref = refs[end]
            end += 1
            if (end - start) % _PROGRESS_ROWS == 0:
                self._progress.advance(_PROGRESS_ROWS, entry=entry.name)
            if (reason := self._reason(entry, split, ref)) is not None:
                lost[reason] += 1
                examples = self.choice.examples.setdefault((entry.name, *reason), [])
                if len(examples) < EXAMPLES:
                    stream = "" if shared else split
                    item = item_name(entry, stream, ref.index)
                    examples.append(Dropped(item, *reason, ref))
                continue
            self._nodes.add(ref.node)
            if (group := self._near.group_of(ref.node)) is not None:
                self._groups.add(group)
            self._prompts.add(ref.prompt_key)
            kept.append(ref)
        self._progress.advance((end - start) % _PROGRESS_ROWS, entry=entry.name)
        kept.sort(key=lambda ref: ref.index)
        self.choice.kept[entry.name, split] = kept
        return end

    def link_repeated(self, recipe: Recipe) -> None:
        """Set ``like`` of each dropped example to the id of the kept row that it repeats or resembles."""
        examples = [e for dropped in self.choice.examples.values() for e in dropped]
        originals: dict[tuple[str, int | bytes | None], str] = {}
        for example in examples:
            originals |= dict.fromkeys(self._keys(example), "")
        for split in FILL_ORDER:
            for entry in recipe.entries:
                for ref in self.choice.kept.get((entry.name, split), ()):
                    group = self._near.group_of(ref.node)
                    keys: list[tuple[str, int | bytes | None]] = [
                        ("node", ref.node),
                        ("prompt", ref.prompt_key),
                        ("group", group),
                    ]
                    for name in keys:
                        if originals.get(name) == "":
                            originals[name] = row_id(entry, split, ref.index)
        for example in examples:
            example.like = next(
                (original for n in self._keys(example) if (original := originals[n])), ""
            )

    def _keys(self, example: Dropped) -> list[tuple[str, int | bytes | None]]:
        if example.stage == "duplicate":
            return [("node", example.ref.node), ("prompt", example.ref.prompt_key)]
        group = self._near.group_of(example.ref.node)
        if example.stage != "near-duplicate" or group is None:
            return []
        return [("group", one) for one in (group, *self._near.neighbours.get(group, ()))]

    def _reason(self, entry: Entry, split: Split, ref: Ref) -> tuple[str, str] | None:
        if ref.node in self._nodes or ref.prompt_key in self._prompts:
            return "duplicate", "duplicate"
        if self._is_near(ref.node):
            return "near-duplicate", "near-duplicate"
        if self._rates is not None:
            why = self._rates.reason(row_id(entry, split, ref.index), ref.prompt_key.hex())
            return None if why is None else ("difficulty", why)
        return None

    def _is_near(self, node: int) -> bool:
        group = self._near.group_of(node)
        if group is None:
            return False
        neighbours = self._near.neighbours.get(group, ())
        return group in self._groups or any(other in self._groups for other in neighbours)


def row_id(entry: Entry, split: str, index: int) -> str:
    return f"{entry.name}-{split}-{index:06d}"
