"""Look at a finished dataset: summarise it, check it again, compare two.

Leaves out: building and repairing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import Progress
from prorl_datasets.gold import Scorer, check_gold, open_scorer
from prorl_datasets.storage import MANIFEST, canonical_json, load, read_manifest
from prorl_datasets.types import DOMAINS, SPLITS, Sample

CHUNK = 256


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Result of ``verify_dataset``: ``failed`` holds (id, what the verifier said)."""

    rows: int
    checked: int
    skipped_code: int
    without_gold: int
    failed: tuple[tuple[str, str], ...]

    @property
    def ok(self) -> bool:
        """True when every gold response that was checked got full marks."""
        return not self.failed


@dataclass(frozen=True, slots=True)
class DiffReport:
    """Result of ``diff``: ids only in B, only in A, and in both with another content."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def same(self) -> bool:
        """True when the two datasets hold the same rows."""
        return not (self.added or self.removed or self.changed)


def inspect(path: str | Path, examples: int = 3) -> dict[str, Any]:
    """Return a JSON-ready summary: counts by split and domain, sources, gold checks, prompt lengths
    (characters), drops and shortfalls from the manifest, and ``examples`` samples of each domain.

    Raises DatasetError as ``load`` does.
    """
    path = Path(path)
    samples = load(path)
    manifest = read_manifest(path) if (path / MANIFEST).is_file() else {}
    return {
        "path": str(path),
        "recipe": manifest.get("recipe"),
        "seed": manifest.get("seed"),
        "rows": len(samples),
        "counts": {
            split: {d: n for d in DOMAINS if (n := _count(samples, split, d))}
            for split in SPLITS
            if any(s.split == split for s in samples)
        },
        "sources": dict(Counter(s.source for s in samples).most_common()),
        "licences": dict(Counter(s.licence for s in samples).most_common()),
        "gold_check": dict(Counter(s.gold_check for s in samples).most_common()),
        "prompt_characters": {d: _lengths(samples, d) for d in DOMAINS if _lengths(samples, d)},
        "left_out": manifest.get("left_out", {}),
        "drops": manifest.get("drops", {}),
        "short": manifest.get("short", {}),
        "examples": [_example(s) for d in DOMAINS for s in _spread(samples, d, examples)],
    }


def _count(samples: Sequence[Sample], split: str, domain: str) -> int:
    return sum(1 for s in samples if s.split == split and s.domain == domain)


def _lengths(samples: Sequence[Sample], domain: str) -> dict[str, int]:
    found = sorted(sum(len(m["content"]) for m in s.prompt) for s in samples if s.domain == domain)
    if not found:
        return {}
    return {"median": found[len(found) // 2], "largest": found[-1]}


def _spread(samples: Sequence[Sample], domain: str, count: int) -> list[Sample]:
    """Return ``count`` samples of a domain at even distances, so that they differ in entry."""
    own = [s for s in samples if s.domain == domain]
    if count <= 0 or not own:
        return []
    step = max(1, len(own) // count)
    return own[::step][:count]


def _example(sample: Sample) -> dict[str, Any]:
    return {
        "id": sample.id,
        "domain": sample.domain,
        "prompt": [dict(m) for m in sample.prompt],
        "gold_response": sample.metadata.get("gold_response"),
    }


def verify_dataset(
    path: str | Path,
    *,
    progress: Progress,
    isolated: bool = True,
    workers: int = 2,
    scorer: Scorer | None = None,
) -> VerifyReport:
    """Check the hashes, then run every gold response through its verifier again.

    Rows that were kept as ``self-consistent`` are run too. Where ``isolated`` is false code rows
    are skipped and counted. Raises DatasetError (missing, corrupt, hashes), ServiceError (verifiers
    broke).
    """
    samples = load(path)
    runnable = [s for s in samples if isolated or s.domain != "code"]
    with_gold = [s for s in runnable if isinstance(s.metadata.get("gold_response"), str)]
    failed: list[tuple[str, str]] = []
    with ExitStack() as stack:
        scorer = stack.enter_context(open_scorer(workers)) if scorer is None else scorer
        progress.start("verifying", len(with_gold))
        for start in range(0, len(with_gold), CHUNK):
            chunk = with_gold[start : start + CHUNK]
            results = check_gold(scorer, [(s.metadata["gold_response"], s.task) for s in chunk])
            pairs = zip(chunk, results, strict=True)
            failed += [(s.id, f"{r.reason} ({r.detail})") for s, r in pairs if not r.accepted]
            progress.advance(len(chunk), failed=str(len(failed)))
        progress.finish()
    return VerifyReport(
        rows=len(samples),
        checked=len(with_gold),
        skipped_code=len(samples) - len(runnable),
        without_gold=len(runnable) - len(with_gold),
        failed=tuple(failed),
    )


def diff(before: str | Path, after: str | Path) -> DiffReport:
    """Compare two datasets by id; content is prompt, task, split, source and gold response.

    Raises DatasetError as ``load`` does.
    """
    old, new = _contents(load(before)), _contents(load(after))
    return DiffReport(
        added=tuple(sorted(new.keys() - old.keys())),
        removed=tuple(sorted(old.keys() - new.keys())),
        changed=tuple(sorted(i for i in old.keys() & new.keys() if old[i] != new[i])),
    )


def _contents(samples: Sequence[Sample]) -> dict[str, str]:
    return {
        s.id: canonical_json(
            [
                [dict(m) for m in s.prompt],
                s.domain,
                s.split,
                s.source,
                s.task.verifier,
                dict(s.task.reference),
                s.metadata.get("gold_response"),
            ]
        )
        for s in samples
    }
