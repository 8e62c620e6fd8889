"""Recipes: the YAML files that say what a dataset is made of, and their checks.

Does: read a packaged or own recipe, report every mistake of it in one line, hash it. Leaves out:
opening any source (``builder`` asks each source to check itself before it starts).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from prorl_common import nearest
from prorl_datasets.types import SPLITS, DatasetError, Domain, Split

DEFAULT_PROMPTS: dict[Domain, str] = {
    "math": "{question}\nLet's think step by step and output the final answer within \\boxed{{}}.",
    "code": "{question}\nWrite the final code in triple backticks.",
    "stem": "{question}\nLet's think step by step and output the final answer within \\boxed{{}}.",
    "logic": "{question}\nGive the final answer inside <answer></answer>.",
    "instruction": "{question}",
}
"""ProRL's prompt for each domain (arXiv 2505.24864, appendix D); the STEM line is ours, the paper
has none.
"""

NOT_HERE_YET = {
    "prorl-136k": "it needs the hub sources, which this version does not have; "
    "build prorl-136k-procedural, the same mix and counts from generators"
}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Counts(_Strict):
    """Items wanted of an entry in each split; ``all`` (file sources, train only) takes what is
    left.
    """

    train: Annotated[int, Field(ge=0)] | Literal["all"] = 0
    validation: Annotated[int, Field(ge=0)] = 0
    test: Annotated[int, Field(ge=0)] = 0

    def of(self, split: Split) -> int | None:
        """Return the target of ``split``; None means all that is left."""
        value = {"train": self.train, "validation": self.validation, "test": self.test}[split]
        return None if value == "all" else int(value)


class ReasoningGymSource(_Strict):
    """A reasoning-gym task with its configuration (keys as in reasoning-gym's config class)."""

    kind: Literal["reasoning_gym"]
    task: str
    config: dict[str, Any] = {}


class ProceduralSource(_Strict):
    """One of our generator families; each item draws one of ``levels`` (1 easiest to 3)."""

    kind: Literal["procedural"]
    family: str
    levels: Annotated[list[Annotated[int, Field(ge=1, le=3)]], Field(min_length=1)] = [1]


class FileSource(_Strict):
    """A JSONL, JSONL.gz or Parquet file; ``columns`` maps our field names onto the file's columns.

    Fields by domain: ``prompt`` always; ``answer`` (math, stem), ``choices``, ``unit``,
    ``tolerance`` (stem), ``tests``, ``entry_point``, ``language``, ``limits``, ``judge`` (code),
    ``dataset``, ``entry`` (logic), ``instruction_id_list``, ``kwargs`` (instruction),
    ``gold_response`` (any). A relative path starts at the recipe's folder.
    """

    kind: Literal["file"]
    path: str
    columns: dict[str, str] = {}


Source = Annotated[ReasoningGymSource | ProceduralSource | FileSource, Field(discriminator="kind")]


class Entry(_Strict):
    """One ingredient: a source, how many items of it, and how its prompt reads.

    ``template`` holds ``{question}`` (write literal braces twice); without it the recipe's prompt
    for the domain holds. ``verify_fraction`` of the items run through their own verifier with their
    gold response; the others are right by construction only and say ``self-consistent``. ``weight``
    is the sampling weight in training, kept in each row's metadata.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
    domain: Domain
    source: Source
    count: Counts
    template: str | None = None
    weight: Annotated[float, Field(gt=0)] = 1.0
    licence: str = "Apache-2.0"
    verify_fraction: Annotated[float, Field(ge=0, le=1)] = 1.0

    @model_validator(mode="after")
    def _source_fits_domain(self) -> Entry:
        if self.source.kind == "reasoning_gym" and self.domain not in ("logic", "math"):
            raise ValueError(f"a reasoning_gym source is logic or math, not {self.domain}")
        if self.count.train == "all" and self.source.kind != "file":
            raise ValueError("count.train 'all' is for file sources; a generator has no end")
        _check_template(self.template)
        return self


class Recipe(_Strict):
    """A whole dataset. ``base`` (not written in the file) is the folder that relative paths start
    at.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
    description: str = ""
    seed: int = 0
    prompts: dict[Domain, str] = {}
    entries: Annotated[list[Entry], Field(min_length=1)]
    base: Annotated[Path | None, Field(exclude=True)] = None

    @model_validator(mode="after")
    def _consistent(self) -> Recipe:
        twice = sorted(n for n, c in Counter(e.name for e in self.entries).items() if c > 1)
        if twice:
            raise ValueError(f"entry names must differ; used twice: {', '.join(twice)}")
        for template in self.prompts.values():
            _check_template(template)
        return self

    def prompt_for(self, entry: Entry) -> str:
        """Return the template of ``entry``: its own, the recipe's for the domain, or ProRL's."""
        prompts: dict[Domain, str] = {**DEFAULT_PROMPTS, **self.prompts}
        return entry.template if entry.template is not None else prompts[entry.domain]

    def resolved(self) -> dict[str, Any]:
        """Return the recipe as JSON-ready values with every default and template filled in."""
        data: dict[str, Any] = self.model_dump(mode="json")
        data["prompts"] = {**DEFAULT_PROMPTS, **data["prompts"]}
        return data

    def digest(self) -> str:
        """Return the SHA-256 of the resolved recipe as canonical JSON."""
        text = json.dumps(self.resolved(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def targets(self) -> dict[tuple[str, Split], int | None]:
        """Return the wanted count of each (entry name, split)."""
        return {(e.name, s): e.count.of(s) for e in self.entries for s in SPLITS}


def _check_template(template: str | None) -> None:
    if template is None:
        return
    try:
        filled = template.format(question="\x00")
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(
            "a template holds {question} and no other braces (write literal ones twice: {{ }})"
        ) from error
    if "\x00" not in filled:
        raise ValueError("a template must hold {question}")


def recipe_names() -> list[str]:
    """Return the names of the packaged recipes, sorted."""
    folder = resources.files("prorl_datasets") / "recipes"
    return sorted(
        f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")
    )


def load_recipe(name_or_path: str | Path) -> Recipe:
    """Return a packaged recipe by name, or one read from a ``.yaml`` file.

    Raises DatasetError: unknown name (nearest offered), unreadable YAML, or all mistakes of the
    recipe at once.
    """
    text = str(name_or_path)
    if text in recipe_names():
        packaged = resources.files("prorl_datasets") / "recipes" / f"{text}.yaml"
        return parse_recipe(packaged.read_text(encoding="utf-8"), f"recipe {text}", None)
    path = Path(text)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        if not path.is_file():
            raise DatasetError(f"no such recipe file: {path}")
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"cannot read recipe {path}: {error}") from error
        return parse_recipe(content, str(path), path.resolve().parent)
    if text in NOT_HERE_YET:
        raise DatasetError(f"recipe '{text}': {NOT_HERE_YET[text]}")
    raise DatasetError(
        f"unknown recipe '{text}'{nearest(text, recipe_names())}; "
        f"packaged: {', '.join(recipe_names())}; or give a .yaml file"
    )


def parse_recipe(content: str, label: str, base: Path | None) -> Recipe:
    """Return the recipe written in YAML ``content``; ``label`` names it in errors.

    Raises DatasetError with every mistake in one line, each with its place and the nearest known
    key.
    """
    import yaml

    try:
        data = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise DatasetError(f"{label}: not valid YAML ({' '.join(str(error).split())})") from error
    if not isinstance(data, dict):
        raise DatasetError(
            f"{label}: expected keys such as name and entries, got {type(data).__name__}"
        )
    if "base" in data:
        raise DatasetError(f"{label}: unknown key 'base'")
    try:
        return Recipe.model_validate({**data, "base": base})
    except ValidationError as error:
        mistakes = [_explain(item, data) for item in error.errors()]
        raise DatasetError(f"{label}: {'; '.join(mistakes)}") from error


_MODELS: dict[str, type[BaseModel]] = {
    "reasoning_gym": ReasoningGymSource,
    "procedural": ProceduralSource,
    "file": FileSource,
}


def _explain(item: Any, data: dict[str, Any]) -> str:
    place = [str(part) for part in item["loc"] if part not in _MODELS]
    if item["type"] == "extra_forbidden":
        where = _readable_place(place[:-1], data)
        known = set(_model_at(item["loc"]).model_fields) - {"base"}
        return f"unknown key '{item['loc'][-1]}' in {where}{nearest(str(item['loc'][-1]), known)}"
    where = _readable_place(place, data)
    if item["type"] == "union_tag_invalid":
        tag = str(item["ctx"]["tag"])
        return f"{where}.kind '{tag}' is not one of {', '.join(_MODELS)}{nearest(tag, _MODELS)}"
    message = item["msg"].removeprefix("Value error, ")
    return f"{where}: {message[:1].lower()}{message[1:]}" if where else message


def _readable_place(place: list[str], data: dict[str, Any]) -> str:
    """Return ``entry 'name'.key`` in place of ``entries.3.key``."""
    if len(place) >= 2 and place[0] == "entries" and place[1].isdigit():
        entry = data["entries"][int(place[1])]
        name = entry.get("name", f"number {int(place[1]) + 1}") if isinstance(entry, dict) else "?"
        return ".".join([f"entry '{name}'", *place[2:]])
    return ".".join(place) or "the recipe"


def _model_at(loc: tuple[int | str, ...]) -> type[BaseModel]:
    if "count" in loc[:-1]:
        return Counts
    for part in loc[:-1]:
        if part in _MODELS:
            return _MODELS[str(part)]
    return Entry if len(loc) > 2 and loc[0] == "entries" else Recipe
