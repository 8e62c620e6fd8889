"""What a source of rows and an adapter are, and the doors of this room: sources, recipes, benchmarks.

    # my_source.py, for `prorl data build --plugin my_source.py --recipe mine.yaml`
    from prorl_datasets import SourceSpec

    def rows(options):
        for n in range(options["count"]):
            yield {"prompt": f"What is {n} + {n}?", "answer": str(2 * n)}

    DOUBLES = SourceSpec(name="doubles", rows=rows, options={"count": 100})

and in the recipe: ``source: {kind: doubles, options: {count: 500}}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from prorl_common import Door, FolderDoor, PluginError, UserError, nearest
from prorl_common.config import Section

if TYPE_CHECKING:
    from prorl_verifiers import Task

GENERATOR = "reasoning_gym"
"""What stands for an adapter in the benchmarks whose items are generated."""
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
Scalar = str | bool | int | float | None
RawRow = tuple[str, dict[str, Any]] | tuple[str, dict[str, Any], str]
"""Where a row stands (FILE:LINE), its columns, and what is wrong with it where that was seen on reading."""


class SourceSettings(Section):
    """Base of what a recipe says of a source."""

    kind: str


class RowSettings(SourceSettings):
    """What a recipe says of a source whose raw rows become ours by columns: ``kind: file``, ``hub``, a plug-in's."""

    columns: dict[str, str] = Field(default_factory=dict)
    """Our column, or ``metadata.NAME`` -> the source's, where its name is another; a dotted path names a part of one:
    ``reward_model.ground_truth``."""
    where: dict[str, Scalar | list[Scalar]] | str | None = None
    """Which rows are wanted: column -> its value, or a list of values; or the name of a ``FunctionSpec`` of yours, which
    is given the row. Other rows are left out, and counted."""
    keep: list[str] | None = None
    """Further columns kept in the metadata, under ``extra``; null: all that are not used otherwise."""
    on_bad_row: Literal["stop", "drop", "quarantine"] = "stop"
    """A row that cannot be read, or lacks what it needs: stop the build, leave it out and count it, or also write it
    to ``quarantine.jsonl`` with the reason."""

    @model_validator(mode="before")
    @classmethod
    def _map_is_gone(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "map" in data:
            raise ValueError(
                "'map' is gone: rename columns with columns, and compute values in an adapter of a plug-in file "
                "(AdapterSpec)"
            )
        return data

    @field_validator("where", mode="before")
    @classmethod
    def _check_where(cls, where: Any) -> Any:
        if isinstance(where, str):
            if not _NAME.fullmatch(where):
                raise ValueError(
                    "an expression is no longer read here: write where: {column: value} or {column: [values]}, or name "
                    "a function of a plug-in file (FunctionSpec)"
                )
            try:
                FUNCTIONS.origin(where)
            except UserError as error:
                raise ValueError(str(error)) from error
        if isinstance(where, Mapping):
            for column, values in where.items():
                if values == []:
                    raise ValueError(
                        f"'{column}' has an empty list, which no row can match: name its values"
                    )
        return where


class OpenSettings(RowSettings):
    """Settings of a source that brings a ``rows`` function; ``options`` are its own, with the defaults of its spec."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Of the source itself."""

    @model_validator(mode="after")
    def _options_are_known(self, info: ValidationInfo) -> OpenSettings:
        known = SOURCES.get(self.kind).options
        for option in self.options:
            if option not in known:
                there = ", ".join(known) if known else "none"
                raise ValueError(
                    f"unknown option '{option}'{nearest(option, known)}; {self.kind} has {there}"
                )
        return self


@dataclass(frozen=True)
class SourceSpec:
    """Where rows come from: ``kind`` in a recipe. Needs ``rows``, ``read`` or ``generate``.

    The least is a name and ``rows(options)``, an iterator of plain dictionaries whose columns are those of
    ``kind: file``, in an order that never changes. What follows is for sources that need more:
    ``entry`` is the recipe's ``Entry``, ``recipe`` the whole ``Recipe``.
    """

    name: str
    rows: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keys of its own with their defaults."""
    settings: type[SourceSettings] = OpenSettings
    """The model of what a recipe says of it."""
    read: Callable[[Any, Any], Iterator[RawRow]] | None = None
    """(entry, files) -> raw rows, where they come from files."""
    convert: Callable[[Any, Mapping[str, Any], str, int], Any] | None = None
    """(entry, raw row, where, index) -> Row or Drop; by default columns by name. Raises DatasetError."""
    generate: Callable[[Any, int, int, dict[str, Any]], Any] | None = None
    """(entry, index, seed, memory) -> Row or Drop, for a source that makes any number of items. The same
    seed is the same item; ``memory`` lives as long as the process."""
    member: Callable[[Any, Any], SourceSettings] | None = None
    """(group, member) -> settings, for generators that a recipe's groups may name."""
    rungs: Callable[[Any], Mapping[str, SourceSettings]] | None = None
    """settings -> the sizes that its items can have, easiest first: label (small letters and digits) -> settings
    with that size alone. For ``prorl data ladder``; by default none."""
    names: Callable[[str], Sequence[str]] | None = None
    """domain -> names of members, for groups that name them by a pattern such as ``algebra_*``."""
    check: Callable[[Any, Sequence[Any], Any], list[str]] | None = None
    """(recipe, entries of this kind, child processes) -> what is wrong with them, a line each."""
    find: Callable[[Any, Sequence[Any], Any, Any, Any, bool], None] | None = None
    """(recipe, entries of this kind, found, lock, mirror, update_pins): put files and hashes into ``found``."""
    may_fail: bool = False
    """Whether the other entries are built where this source's files cannot be had or read."""
    label: Callable[[Any], str] | None = None
    """settings -> the dataset's ``source`` column; by default the kind."""
    one_box: Callable[[Task, str], tuple[str, Task]] | None = None
    """(task, gold response) -> the same as one program, for code items checked with all tests in one box."""

    def __post_init__(self) -> None:
        if sum(way is not None for way in (self.rows, self.read, self.generate)) != 1:
            raise PluginError(
                f"source {self.name!r} needs rows=FUNCTION (or read or generate, and only one of them)"
            )

    @property
    def generated(self) -> bool:
        """Whether its items have no end: made from a seed."""
        return self.generate is not None

    def shown(self, settings: SourceSettings) -> str:
        """Return what stands in the dataset's ``source`` column."""
        return self.name if self.label is None else self.label(settings)


@dataclass(frozen=True)
class AdapterSpec:
    """How the rows of one published data set become ours: ``adapter`` in a recipe or a benchmark.

    The least is a name and ``convert(raw, where, index)``, which returns a plain dictionary with the columns
    of ``kind: file``. Both uses need no more than that. ``where`` is the row's FILE:LINE. Either function
    raises ``Unusable(reason)`` for a row that cannot be used.
    """

    name: str
    convert: Callable[[Mapping[str, Any], str, int], Any] | None = None
    """(raw row, where, index) -> dictionary or Row (or a Drop, where Unusable does not say enough). Raises
    DatasetError, beginning with ``where``, for a column that should be there."""
    domain: str | None = None
    """The domain of its rows; None where any will do."""
    columns: tuple[tuple[str, ...], ...] = ()
    """Groups of names, best first: one name of each group must be a column of the first row (a group that
    starts with an empty name is optional)."""
    item: Callable[[Any, Mapping[str, Any], str], Any] | None = None
    """(benchmark, raw row, where) -> BenchmarkItem, or None for a row of another benchmark, where
    a benchmark is read otherwise than a source, by its own ``columns`` and ``options``."""
    question: Callable[[Any, Mapping[str, Any], str], tuple[str | None, str] | None] | None = None
    """(benchmark, raw row, where) -> (id or None, question), as ``item`` has them, where they are more than
    the columns ``id`` and ``question``: for decontamination, which unpacks no test."""
    summary: str = ""
    """Which data set it reads, and what its gold responses are."""

    def __post_init__(self) -> None:
        if self.convert is None and self.item is None:
            raise PluginError(f"adapter {self.name!r} needs convert=FUNCTION (or item)")
        if self.name == GENERATOR:
            raise PluginError(
                f"adapter {self.name!r}: benchmarks whose items are generated name this; choose another"
            )


@dataclass(frozen=True)
class FunctionSpec:
    """A function of a plug-in that says which rows a source wants: ``where: NAME`` in a recipe.

    ``call`` takes the raw row as a dictionary and returns True or False. What it raises makes the row a bad one.
    """

    name: str
    call: Callable[[dict[str, Any]], bool]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PluginError(f"function {self.name!r}: a name is small letters, digits and _")
        if not callable(self.call):
            raise PluginError(f"function {self.name!r} needs call=FUNCTION")


@dataclass(frozen=True)
class EmbedderSpec:
    """A sentence embedding: ``decontamination: {embedding: NAME}`` drops rows that are close to an item.

    ``embed(texts)`` returns an array (len(texts), D) of numbers, of any length; it is called once for the
    benchmarks' questions and then row by row, in each of the processes that make rows.
    """

    name: str
    embed: Callable[[Sequence[str]], Any]
    similarity: float = 0.85
    """Least cosine at which a row is dropped."""

    def __post_init__(self) -> None:
        if not 0 < self.similarity <= 1:
            raise PluginError(f"embedder {self.name!r}: similarity lies in (0, 1]")


SOURCES = Door("prorl.sources", SourceSpec, "source")
ADAPTERS = Door("prorl.sources", AdapterSpec, "adapter")
FUNCTIONS = Door("prorl.sources", FunctionSpec, "function")
EMBEDDERS = Door("prorl.sources", EmbedderSpec, "embedder")
RECIPES = FolderDoor("prorl.recipes", "recipe")
BENCHMARKS = FolderDoor("prorl.benchmarks", "benchmark")
