"""Loads recipes, the YAML files that specify a dataset."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from prorl_common import (
    UnknownNameError,
    nearest,
    plain_words,
    use_plugins,
    why_unreadable,
)
from prorl_common.config import Section
from prorl_common.seeds import MOST_SEED
from prorl_datasets.recipe.parts import (
    Counts,
    Decontamination,
    Difficulty,
    Entry,
    Group,
    Member,
    check_template,
    spread,
)
from prorl_datasets.spec import RECIPES, SOURCES
from prorl_datasets.types import SPLITS, DatasetError, Domain
from prorl_verifiers import VERIFIERS

PASS_RATES = "pass_rates.jsonl"
"""The file that ``prorl data rate`` writes and the difficulty filter reads."""


class Recipe(Section):
    """The specification of a whole dataset; groups are expanded into entries."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
    """Name of the output folder and the lock file: small letters, digits, ``_ . -``."""
    description: str = ""
    """Shown on the card and in ``prorl data recipes``."""
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] = 0
    """Seed of all random choices."""
    prompts: Annotated[dict[Domain, str], Field(default_factory=dict)]
    """Maps a domain to its prompt template, which contains ``{question}``; literal braces are doubled. Other domains
    use the prompt of the verifier that scores the row."""
    entries: Annotated[list[Entry], Field(default_factory=list)]
    """Sources with their counts."""
    groups: Annotated[list[Group], Field(default_factory=list)]
    """Groups of generators that share one row count; their entries follow those in ``entries``."""
    weights: Annotated[dict[Domain, Annotated[float, Field(gt=0)]], Field(default_factory=dict)]
    """Maps a domain to a factor for the ``weight`` of its entries (default 1). Rows store the product as their sampling
    weight for ``prorl train``."""
    near_duplicate: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Minimum MinHash similarity of near-duplicates, or 0 to keep them. Applies to rows of files, and of generators
    with ``compare_texts``."""
    decontamination: Decontamination = Decontamination()
    """Benchmarks that rows must not repeat."""
    difficulty: Difficulty | None = None
    """Filter by recorded pass rates."""
    max_loss: Annotated[float, Field(gt=0, le=1)] = 0.05
    """The build stops if checks drop more than this share of a generated domain's rows."""
    min_share: Annotated[float, Field(ge=0, le=1)] = 0.9
    """The build fails if an entry yields less than this share of its count."""
    plugins: Annotated[list[str], Field(default_factory=list)]
    """Python files with your sources or verifiers, as with ``--plugin``; relative to the recipe's folder."""
    base: Annotated[Path | None, Field(exclude=True)] = None
    """Folder to which paths are relative; not a key of the file."""

    @model_validator(mode="after")
    def _consistent(self) -> Recipe:
        expanded = [entry for group in self.groups for entry in group.entries()]
        object.__setattr__(self, "entries", [*self.entries, *expanded])
        object.__setattr__(self, "groups", [])
        if not self.entries:
            raise ValueError("a recipe needs entries or groups")
        twice = sorted(n for n, c in Counter(e.name for e in self.entries).items() if c > 1)
        if twice:
            raise ValueError(f"entry names must differ; used twice: {', '.join(twice)}")
        for template in self.prompts.values():
            check_template(template)
        return self

    def prompt_for(self, entry: Entry, verifier: str) -> str:
        if entry.template is not None:
            return entry.template
        return self.prompts.get(entry.domain) or VERIFIERS.get(verifier).data.prompt

    def difficulty_file(self) -> Path | None:
        if self.difficulty is None:
            return None
        path = Path(self.difficulty.ratings).expanduser()
        path = path if path.is_absolute() or self.base is None else self.base / path
        return path / PASS_RATES if path.is_dir() else path

    def resolved(self) -> dict[str, Any]:
        """Return the recipe as JSON values with all defaults; loading them gives the same rows."""
        return self.model_dump(mode="json", exclude={"groups"})

    def min_share_of(self, entry: Entry) -> float:
        """Return the minimum fraction of an entry's row count that the entry must reach."""
        return self.min_share if entry.min_share is None else entry.min_share

    def select(self, only: Sequence[str], skip: Sequence[str]) -> list[Entry]:
        """Return the entries that match ``only`` (all if it is empty) and do not match ``skip``.

        Both contain entry names, group names or patterns. Raises DatasetError if one of them matches nothing, or no
        entry is left.
        """
        names = [entry.name for entry in self.entries]
        for word in (*only, *skip):
            if not any(_matches(word, name) for name in names):
                listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
                raise DatasetError(
                    f"recipe {self.name} has no entry '{word}'{nearest(word, names)}; it has {listed}"
                )
        selected = [
            entry
            for entry in self.entries
            if (not only or any(_matches(word, entry.name) for word in only))
            and not any(_matches(word, entry.name) for word in skip)
        ]
        if not selected:
            raise DatasetError(f"recipe {self.name}: --only and --skip exclude every entry")
        return selected

    def limited(self, limit: int, names: Collection[str], rows: Mapping[str, int]) -> Recipe:
        """Return a recipe with about ``limit`` rows, reduced in proportion, but with at least one row for each entry
        and split.

        Only the entries in ``names`` are counted and reduced. ``rows`` maps entries to the numbers of rows in their
        sources.
        """
        full = {
            (entry.name, split): count
            for entry in self.entries
            if entry.name in names
            for split, count in entry.count.among_all(rows.get(entry.name, 0)).items()
            if count
        }
        spare, further = limit - len(full), sum(full.values()) - len(full)
        if spare >= further:
            return self
        more = spread(max(spare, 0), [count - 1 for count in full.values()])
        share = {key: 1 + count for key, count in zip(full, more, strict=True)}
        entries = [
            entry.model_copy(
                update={"count": Counts(**{s: share.get((entry.name, s), 0) for s in SPLITS})}
            )
            if entry.name in names
            else entry
            for entry in self.entries
        ]
        name = f"{self.name}-limit-{limit}"
        return self.model_copy(update={"name": name, "entries": entries})

    def weight_of(self, entry: Entry) -> float:
        return entry.weight * self.weights.get(entry.domain, 1.0)

    def digest(self) -> str:
        text = json.dumps(self.resolved(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _matches(word: str, name: str) -> bool:
    return name == word or name.startswith(f"{word}-") or fnmatchcase(name, word)


def recipe_names() -> list[str]:
    return list(RECIPES.names())


def load_recipe(name_or_path: str | Path) -> Recipe:
    """Load a recipe by name or from a YAML file. Raises DatasetError with all mistakes."""
    text = str(name_or_path)
    is_path = text.endswith((".yaml", ".yml")) or Path(text).is_file()
    try:
        file, _ = RECIPES.find(str(Path(text).absolute()) if is_path else text)
        content = file.read_text(encoding="utf-8")
    except UnknownNameError as error:
        raise DatasetError(f"no such recipe file: {text}" if is_path else str(error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{text} cannot be read: {why_unreadable(error)}") from error
    if is_path:
        return parse_recipe(content, text, Path(text).resolve().parent)
    return parse_recipe(content, f"recipe {text}", None)


def parse_recipe(content: str, label: str, base: Path | None) -> Recipe:
    """Parse a recipe from YAML; error messages call it ``label``. Raises DatasetError with all mistakes."""
    import yaml

    try:
        data = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise DatasetError(f"{label}: not valid YAML ({' '.join(str(error).split())})") from error
    if not isinstance(data, dict):
        raise DatasetError(f"{label}: expected a YAML mapping with 'name' and 'entries'")
    if "base" in data:
        raise DatasetError(f"{label}: unknown key 'base'")
    plugins = data.get("plugins", [])
    if isinstance(plugins, list) and all(isinstance(path, str) for path in plugins):
        use_plugins((base or Path()) / path for path in plugins)
    try:
        return Recipe.model_validate({**data, "base": base})
    except ValidationError as error:
        mistakes = [_explain(item, data) for item in error.errors()]
        raise DatasetError(f"{label}: {'; '.join(mistakes)}") from error


def _explain(item: Any, data: dict[str, Any]) -> str:
    place = [str(part) for part in item["loc"]]
    if item["type"] != "extra_forbidden":
        where = _readable_place(place, data)
        message = plain_words(item["msg"])
        return f"{where}: {message[:1].lower()}{message[1:]}" if where else message
    lists: dict[str, type[BaseModel]] = {"entries": Entry, "groups": Group}
    model = lists.get(place[0], Recipe) if len(place) > 2 else Recipe
    inner: dict[str, type[BaseModel]] = {
        "count": Counts,
        "members": Member,
        "decontamination": Decontamination,
        "difficulty": Difficulty,
    }
    for part in place[:-1]:
        if part == "source":
            kind = data["entries"][item["loc"][1]]["source"]["kind"]
            model = SOURCES.get(kind).settings
        model = inner.get(part, model)
    keys = set(model.model_fields) - {"base"}
    where = _readable_place(place[:-1], data)
    return f"unknown key '{place[-1]}' in {where}{nearest(place[-1], keys)}"


def _readable_place(place: list[str], data: dict[str, Any]) -> str:
    """Return ``entry 'name'.key`` instead of ``entries.3.key``."""
    kinds = {"entries": "entry", "groups": "group"}
    if len(place) >= 2 and place[0] in kinds and place[1].isdigit():
        entry = data[place[0]][int(place[1])]
        name = entry.get("name", f"number {int(place[1]) + 1}") if isinstance(entry, dict) else "?"
        return ".".join([f"{kinds[place[0]]} '{name}'", *place[2:]])
    return ".".join(place) or "the recipe"
