"""Defines specs of sources, adapters, filter functions and embedders, and the entry points that find them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from prorl_common import Door, FolderDoor, PluginError, UserError, nearest
from prorl_common.config import Section

if TYPE_CHECKING:
    from prorl_verifiers import Task

GENERATOR = "reasoning_gym"
"""The adapter name of benchmarks with generated items."""
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
Scalar = str | bool | int | float | None
RawRow = tuple[str, dict[str, Any]] | tuple[str, dict[str, Any], str]
"""(FILE:LINE, columns), or (FILE:LINE, columns, error message) for a row that could not be read."""


class SourceSettings(Section):
    """Base class of the settings of a source."""

    kind: str


class RowSettings(SourceSettings):
    """Settings of a source whose raw rows are converted by their columns."""

    columns: dict[str, str] = Field(default_factory=dict)
    """Maps a field of prorl, or ``metadata.NAME``, to the source's column if their names differ. A dotted path selects
    a nested value: ``reward_model.ground_truth``."""
    where: dict[str, Scalar | list[Scalar]] | str | None = None
    """Which rows to keep: a map from columns to a value or list of values, or the name of your ``FunctionSpec``, which
    gets the row. Other rows are dropped and counted."""
    keep: list[str] | None = None
    """Columns to keep in the metadata, under ``extra``; null keeps all unused columns."""
    on_bad_row: Literal["stop", "drop", "quarantine"] = "stop"
    """What to do with a bad row: stop the build, drop the row, or drop it and write it to ``quarantine.jsonl``. Dropped
    rows are counted."""

    @model_validator(mode="before")
    @classmethod
    def _map_is_gone(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "map" in data:
            raise ValueError(
                "'map' was removed: rename columns with 'columns', and compute values in an adapter of a plug-in file "
                "(AdapterSpec)"
            )
        return data

    @field_validator("where", mode="before")
    @classmethod
    def _check_where(cls, where: Any) -> Any:
        if isinstance(where, str):
            if not _NAME.fullmatch(where):
                raise ValueError(
                    "an expression is no longer supported here: write where: {column: value} or "
                    "{column: [values]}, or name a function of a plug-in file (FunctionSpec)"
                )
            try:
                FUNCTIONS.origin(where)
            except UserError as error:
                raise ValueError(str(error)) from error
        if isinstance(where, Mapping):
            for column, values in where.items():
                if values == []:
                    raise ValueError(
                        f"'{column}' has an empty list in 'where', which no row can match: list its values"
                    )
        return where


class OpenSettings(RowSettings):
    """Settings of a source with a ``rows`` function; ``options`` override the options of its spec."""

    options: dict[str, Any] = Field(default_factory=dict)
    """Options that override the source's defaults."""

    @model_validator(mode="after")
    def _options_are_known(self) -> OpenSettings:
        options = SOURCES.get(self.kind).options
        for option in self.options:
            if option not in options:
                listed = ", ".join(options) if options else "none"
                raise ValueError(
                    f"unknown option '{option}'{nearest(option, options)}; {self.kind} has {listed}"
                )
        return self


@dataclass(frozen=True)
class SourceSpec:
    """A source of rows, named by ``kind`` in a recipe. It needs one of ``rows``, ``read`` and ``generate``.

    The simplest source has a name and ``rows(options)``, which yields dictionaries with the columns of a data file, in
    the same order on each call. In the other functions, ``entry`` is the recipe's ``Entry`` and ``recipe`` the ``Recipe``.
    """

    name: str
    rows: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """The source's own options with their defaults."""
    settings: type[SourceSettings] = OpenSettings
    """Model of the source's settings in a recipe."""
    read: Callable[[Any, Any], Iterator[RawRow]] | None = None
    """(entry, files) -> raw rows, for rows that come from files."""
    convert: Callable[[Any, Mapping[str, Any], str, int], Any] | None = None
    """(entry, raw row, where, index) -> Row or Drop. Default: map columns by name. Raises DatasetError."""
    generate: Callable[[Any, int, int, dict[str, Any]], Any] | None = None
    """(entry, index, seed, memory) -> Row or Drop, for sources of unlimited items. Equal seeds give equal items;
    ``memory`` persists for the lifetime of the process.
    """
    member: Callable[[Any, Any], SourceSettings] | None = None
    """(group, member) -> settings, for generators that a recipe's groups may name."""
    rungs: Callable[[Any], Mapping[str, SourceSettings]] | None = None
    """settings -> {label: settings with one difficulty}, easiest first. Labels consist of small letters and digits.
    Used by ``prorl data ladder``.
    """
    names: Callable[[str], Sequence[str]] | None = None
    """domain -> member names, for groups that name members by a pattern such as ``algebra_*``."""
    check: Callable[[Any, Sequence[Any], Any], list[str]] | None = None
    """(recipe, entries of this kind, child processes) -> one line for each mistake in the entries."""
    find: Callable[[Any, Sequence[Any], Any, Any, Any, bool], None] | None = None
    """(recipe, entries of this kind, files, lock, mirror, update_pins): add paths and hashes to ``files``."""
    may_fail: bool = False
    """Whether the build continues without this source if its files are unavailable or unreadable."""
    label: Callable[[Any], str] | None = None
    """settings -> the dataset's ``source`` column; default: the kind."""
    one_box: Callable[[Task, str], tuple[str, Task]] | None = None
    """(task, gold response) -> (response, task) that run all tests of a code item in one sandbox."""

    def __post_init__(self) -> None:
        if sum(way is not None for way in (self.rows, self.read, self.generate)) != 1:
            raise PluginError(
                f"source {self.name!r} needs exactly one of rows=FUNCTION, read and generate"
            )

    @property
    def generated(self) -> bool:
        """True if items are generated from a seed, without limit."""
        return self.generate is not None

    def source_name(self, settings: SourceSettings) -> str:
        return self.name if self.label is None else self.label(settings)


@dataclass(frozen=True)
class AdapterSpec:
    """Converts the rows of one published data set; a recipe or benchmark names it by ``adapter``.

    The simplest adapter has a name and ``convert(raw, where, index)``, which returns a dictionary with the columns
    of a row in a data file. ``where`` is FILE:LINE. The functions raise ``Unusable(reason)`` for an unusable row.
    """

    name: str
    convert: Callable[[Mapping[str, Any], str, int], Any] | None = None
    """(raw row, where, index) -> dictionary or Row, or a Drop with more details than Unusable. Raises DatasetError that
    begins with ``where`` if a required column is missing.
    """
    domain: str | None = None
    """Domain of the rows; None for any."""
    columns: tuple[tuple[str, ...], ...] = ()
    """Groups of column names, best first. The first row must have one column of each group; a group that starts with an
    empty name is optional.
    """
    item: Callable[[Any, Mapping[str, Any], str], Any] | None = None
    """(benchmark, raw row, where) -> BenchmarkItem, or None for a row of another benchmark. Needed if benchmarks use
    other ``columns`` or ``options`` than sources.
    """
    question: Callable[[Any, Mapping[str, Any], str], tuple[str | None, str] | None] | None = None
    """(benchmark, raw row, where) -> (id or None, question), for decontamination; the values must equal those of
    ``item``. Default: the columns ``id`` and ``question``.
    """
    summary: str = ""
    """The data set that is read, and the origin of its gold responses."""

    def __post_init__(self) -> None:
        if self.convert is None and self.item is None:
            raise PluginError(f"adapter {self.name!r} needs convert=FUNCTION or item=FUNCTION")
        if self.name == GENERATOR:
            raise PluginError(
                f"adapter {self.name!r}: this name is reserved for generated benchmarks; choose another"
            )


@dataclass(frozen=True)
class FunctionSpec:
    """A function that selects rows of a source, used as ``where: NAME`` in a recipe.

    ``call`` gets the raw row as a dictionary and returns a bool. If it raises, the row is a bad row.
    """

    name: str
    call: Callable[[dict[str, Any]], bool]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise PluginError(
                f"function {self.name!r}: a name consists of lower-case letters, digits and _"
            )
        if not callable(self.call):
            raise PluginError(f"function {self.name!r} needs call=FUNCTION")


@dataclass(frozen=True)
class EmbedderSpec:
    """A sentence embedding; ``decontamination: {embedding: NAME}`` drops rows close to a benchmark item.

    ``embed(texts)`` returns an array of shape (len(texts), D), which need not be normalised. It is called for the
    benchmarks' questions, then for each row in every process that makes rows.
    """

    name: str
    embed: Callable[[Sequence[str]], Any]
    similarity: float = 0.85
    """Minimum cosine similarity at which a row is dropped."""

    def __post_init__(self) -> None:
        if not 0 < self.similarity <= 1:
            raise PluginError(
                f"embedder {self.name!r}: similarity must be in (0, 1], not {self.similarity}"
            )


SOURCES = Door("prorl.sources", SourceSpec, "source")
ADAPTERS = Door("prorl.sources", AdapterSpec, "adapter")
FUNCTIONS = Door("prorl.sources", FunctionSpec, "function")
EMBEDDERS = Door("prorl.sources", EmbedderSpec, "embedder")
RECIPES = FolderDoor("prorl.recipes", "recipe")
BENCHMARKS = FolderDoor("prorl.benchmarks", "benchmark")
