"""Stores the part files of a build in ``.<name>.build/<fingerprint>/`` next to its output."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from prorl_common import UserError, atomic_write_text
from prorl_common.files import explain_write_errors
from prorl_datasets.candidate import Candidate, decode_candidate, encode
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.types import DatasetError

PACKAGES = (
    "prorl",
    "reasoning-gym",
    "math-verify",
    "latex2sympy2-extended",
    "sympy",
    "pint",
    "pyarrow",
    "numpy",
)
"""Packages that affect the rows, the gold check, or how rows are written."""
CODE = ("prorl_common", "prorl_datasets", "prorl_verifiers", "prorl_sandbox")

EXAMPLES = 2
"""Number of dropped candidates kept as examples for each entry, stage and reason."""
MAX_TEXT = 600
"""Maximum number of characters kept of each text of a dropped candidate."""


@dataclass(slots=True)
class Part:
    """Result of one chunk of one entry."""

    candidates: int = 0
    """Number of examined candidates."""
    rows: list[Candidate] = field(default_factory=list)
    """Candidates that passed."""
    drops: dict[str, dict[str, int]] = field(default_factory=dict)
    """Number of dropped candidates by stage and reason."""
    examples: list[dict[str, str]] = field(default_factory=list)
    pairs: list[dict[str, Any]] = field(default_factory=list)
    """Matches with benchmark items."""
    quarantine: list[dict[str, Any]] = field(default_factory=list)
    """Bad rows, if the source quarantines them."""
    isolation: list[str] = field(default_factory=list)
    """Isolation levels of the sandbox in the gold check."""
    unpaid: int = 0
    """Number of rows that ``gold.Unpaid`` counts."""
    unpaid_example: str = ""

    def drop(self, stage: str, reason: str, item: str, **about: str) -> None:
        """Count a dropped candidate, and keep the first EXAMPLES of each reason."""
        reasons = self.drops.setdefault(stage, {})
        reasons[reason] = reasons.get(reason, 0) + 1
        if reasons[reason] <= EXAMPLES:
            self.examples.append(dropped_line(item, stage, reason, **about))

    def dropped(self) -> int:
        return sum(sum(reasons.values()) for reasons in self.drops.values())


def dropped_line(item: str, stage: str, reason: str, **about: str) -> dict[str, str]:
    texts = {k: v[:MAX_TEXT].encode("utf-8", "replace").decode() for k, v in about.items() if v}
    return {"row": item, "stage": stage, "reason": reason, **texts}


class PartStore:
    """Part files of one build, with a lock."""

    def __init__(self, out: Path, fingerprint: str) -> None:
        self._out = out
        self._root = out.parent / f".{out.name}.build"
        self.folder = self._root / fingerprint[:16]

    def get(self, name: str) -> Part | None:
        """Return a finished part, or None if its file is missing or damaged."""
        try:
            text = (self.folder / f"{name}.json").read_text(encoding="utf-8")
            values = json.loads(text)
            rows = [decode_candidate(row) for row in values.pop("rows")]
            return Part(**values, rows=rows)
        except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, KeyError):
            return None

    def put(self, name: str, part: Part) -> None:
        """Write a part atomically. Raises UserError for disk errors, DatasetError if the folder vanished."""
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        values["rows"] = [encode(row) for row in part.rows]
        text = json.dumps(values, ensure_ascii=False)
        try:
            atomic_write_text(self.folder / f"{name}.json", text)
        except UserError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise self.vanished(name) from error
            raise

    def vanished(self, name: str) -> DatasetError:
        return DatasetError(
            f"part {name} is gone from {self.folder}: was the folder removed, or is another build "
            "writing there? Run the same command again"
        )

    def count(self) -> int:
        return len(list(self.folder.glob("*.json"))) if self.folder.is_dir() else 0

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock on the build's output.

        Raises DatasetError if another build holds it, UserError for disk errors.
        """
        with explain_write_errors(self._root):
            self._root.mkdir(parents=True, exist_ok=True)
            file = (self._root / "lock").open("w")
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise DatasetError(
                    f"another build is writing {self._out}; wait for it or give another --out"
                ) from error
            yield

    def clear(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)


def package_versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return versions


def fingerprint(
    recipe: Recipe,
    seed: int,
    isolated: bool,
    files: Mapping[str, str],
    parts: Sequence[Mapping[str, str]] = (),
) -> str:
    """Return the SHA-256 of everything that determines the rows of a build.

    ``files`` are hashes of files, ``parts`` the records of plug-ins.
    """
    code = hashlib.sha256()  # includes the data files of these packages
    for package in CODE:
        root = Path(str(resources.files(package)))
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".yaml", ".json", ".txt") and path.is_file():
                code.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    facts = {
        "recipe": recipe.digest(),
        "seed": seed,
        "isolated": isolated,
        "files": dict(files),
        "versions": package_versions(),
        "code": code.hexdigest(),
        **({"parts": [dict(part) for part in parts]} if parts else {}),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
