"""Loads the catalogue of benchmarks, which has one YAML file for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from prorl_common import UnknownNameError, UserError, nearest, plain_words, why_unreadable
from prorl_datasets.sources.readers.decode import one_line, some_names
from prorl_datasets.spec import ADAPTERS, BENCHMARKS, GENERATOR
from prorl_datasets.types import DatasetError, Domain
from prorl_verifiers import VERIFIERS

Metric = Literal["mean_of_n", "mean_reward"]
"""``mean_of_n`` is pass@1, the mean of a binary outcome over ``samples`` responses. ``mean_reward`` is the mean of a
reward in [0, 1], ProRL's choice for logic and instructions."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HubSource(_Strict):
    """Files of one hub data set; ``revision`` is a commit, or ``main``."""

    repo: Annotated[str, Field(pattern=r"^[^/\s]+/[^/\s]+$")]
    revision: str = "main"
    config: str = "default"
    split: str = "test"
    files: Annotated[list[str], Field(min_length=1)]


class VersionFile(_Strict):
    """A file of a benchmark whose problems date from ``until`` or earlier."""

    file: str
    until: date
    rows: Annotated[int, Field(ge=1)]


class Generated(_Strict):
    """A benchmark that reasoning-gym generates: ``count`` items for each task and each difficulty level in ``rungs``.

    ``configs`` override a task's defaults. Every configuration key in ``ladder`` is set to the difficulty level.
    """

    seed: int
    count: Annotated[int, Field(ge=1)]
    tasks: Annotated[list[str], Field(min_length=1)]
    configs: dict[str, dict[str, Any]] = {}
    ladder: list[str] = []
    rungs: list[int] = []

    @model_validator(mode="after")
    def _consistent(self) -> Generated:
        odd = [task for task in self.configs if task not in self.tasks]
        if odd:
            raise ValueError(f"'configs' has tasks that 'tasks' does not list: {', '.join(odd)}")
        if bool(self.ladder) != bool(self.rungs):
            raise ValueError(
                "'ladder' (configuration keys) and 'rungs' (difficulty levels) must be given together"
            )
        return self


class BenchmarkSpec(_Strict):
    """The specification of one benchmark.

    ``columns`` maps each field to its possible column names, best first; ``optional`` fields may be absent. Without an
    ``adapter``, the fields are ``question``, ``id``, ``gold_response`` and the verifier's reference fields.
    ``reference`` is merged into the reference of every task. Loading fails if the share of unusable rows exceeds
    ``unusable_max``. Rows of a ``gated`` benchmark must not be published and are never printed.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$")]
    title: str
    domain: Domain
    verifier: str
    metric: Metric
    samples: Annotated[int, Field(ge=1)] = 1
    licence: str
    gated: bool = False
    expected_rows: Annotated[int, Field(ge=1)] | None = None
    adapter: str | None = None
    prompt: str
    hub: HubSource | None = None
    alternates: list[HubSource] = []
    columns: dict[str, Annotated[list[str], Field(min_length=1)]] = {}
    optional: list[str] = []
    options: dict[str, Any] = {}
    reference: dict[str, Any] = {}
    window: tuple[date, date] | None = None
    versions: list[VersionFile] = []
    generated: Generated | None = None
    unusable_max: Annotated[float, Field(ge=0, le=1)] = 0.0
    notes: list[str] = []

    @field_validator("verifier", "adapter")
    @classmethod
    def _is_registered(cls, name: str | None, info: ValidationInfo) -> str | None:
        is_adapter = info.field_name == "adapter"
        if name is not None and not (is_adapter and name == GENERATOR):
            try:
                ADAPTERS.origin(name) if is_adapter else VERIFIERS.origin(name)
            except UserError as error:
                raise ValueError(str(error)) from error
        return name

    @model_validator(mode="after")
    def _consistent(self) -> BenchmarkSpec:
        if (self.hub is None) == (self.generated is None):
            raise ValueError("a benchmark needs exactly one of the keys 'hub' and 'generated'")
        if (self.adapter == GENERATOR) != (self.generated is not None):
            raise ValueError(f"'adapter: {GENERATOR}' and 'generated' must be given together")
        if self.hub is not None:
            reader = None if self.adapter is None else ADAPTERS.get(self.adapter)
            if not self.columns and (reader is None or reader.item is not None):
                raise ValueError("a benchmark with hub files needs columns or an adapter")
            if reader is not None and reader.domain not in (None, self.domain):
                raise ValueError(
                    f"adapter '{reader.name}' makes {reader.domain} items, not {self.domain}"
                )
        odd = [name for name in self.optional if name not in self.columns]
        if odd:
            raise ValueError(
                f"'optional' has fields that 'columns' does not list: {', '.join(odd)}"
            )
        if self.adapter is None and self.hub is not None:
            verifier = VERIFIERS.get(self.verifier)
            needed = ("question", *verifier.data.columns)
            fields = (*needed, *verifier.data.optional_columns, "id", "gold_response")
            for name in self.columns:
                if name not in fields:
                    raise ValueError(
                        f"columns: '{name}' is not a field of {self.verifier}{nearest(name, fields)}; "
                        f"fields: {', '.join(fields)}"
                    )
            if missing := [name for name in needed if name not in self.columns]:
                raise ValueError(
                    f"'columns' lacks {', '.join(missing)}: add it, or name an adapter"
                )
        try:
            filled = self.prompt.format(question="\x00")
        except (KeyError, IndexError, ValueError):
            filled = ""
        if "\x00" not in filled:
            raise ValueError(
                "prompt must contain {question} and no other braces (write literal ones twice: {{ }})"
            )
        return self


_PARTS: dict[str, type[BaseModel]] = {
    "hub": HubSource,
    "alternates": HubSource,
    "generated": Generated,
    "versions": VersionFile,
}
"""Maps each nested key to its model."""


def benchmark_names() -> list[str]:
    return list(BENCHMARKS.names())


@cache
def load_spec(name: str) -> BenchmarkSpec:
    """Load a specification by name or path. Raises DatasetError if it is unknown or invalid."""
    try:
        file, _ = BENCHMARKS.find(name)
        content = file.read_text(encoding="utf-8")
    except UnknownNameError as error:
        raise DatasetError(str(error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{name} cannot be read: {why_unreadable(error)}") from error
    spec = parse_spec(content, f"benchmark {name}")
    if file.name.partition(".")[0] != spec.name:
        raise DatasetError(f"{file}: name is {spec.name}, but must equal the file's name")
    return spec


def parse_spec(content: str, label: str) -> BenchmarkSpec:
    """Parse a specification from YAML; error messages call it ``label``. Raises DatasetError."""
    import yaml

    try:
        data = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise DatasetError(f"{label}: not valid YAML ({' '.join(str(error).split())})") from error
    if not isinstance(data, dict):
        raise DatasetError(f"{label}: expected a YAML mapping with keys such as 'name'")
    try:
        return BenchmarkSpec.model_validate(data)
    except ValidationError as error:
        mistakes = []
        for item in error.errors():
            place, message = [str(part) for part in item["loc"]], str(item["msg"])
            if item["type"] == "extra_forbidden":
                *parents, key = place
                keys = (_PARTS[place[0]] if parents else BenchmarkSpec).model_fields
                where = ".".join(parents) or "the benchmark"
                mistakes.append(f"unknown key '{key}' in {where}{nearest(key, keys)}")
                continue
            if item["type"] == "literal_error":
                value, metrics = str(item["input"]), get_args(Metric)
                choices = ", ".join(metrics)
                message = f"unknown '{value}'{nearest(value, metrics)}; there are {choices}"
            message = plain_words(message)
            message = f"{message[:1].lower()}{message[1:]}"
            mistakes.append(f"{'.'.join(place)}: {message}" if place else message)
        raise DatasetError(f"{label}: {'; '.join(mistakes)}") from error


@dataclass(frozen=True, slots=True)
class BenchmarkItem:
    """One usable row of a benchmark."""

    question: str
    reference: Mapping[str, Any]
    key: str | None = None
    """The row's own id, if it has one."""
    gold: str | None = None
    """A response that should get reward 1."""
    verifier: str | None = None
    """Overrides the benchmark's verifier."""
    shown: str | None = None
    """Text that replaces the question in the prompt."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An unusable row and the reason."""

    where: str
    reason: str


Converted = BenchmarkItem | LeftOut


def field_of(spec: BenchmarkSpec, raw: Mapping[str, Any], name: str, where: str) -> Any:
    """Return the value of field ``name``, or None for an optional field that the row lacks. Raises DatasetError."""
    candidates = spec.columns[name]
    for column in candidates:
        if column in raw:
            return raw[column]
    if name in spec.optional:
        return None
    listed = ", ".join(candidates)
    raise DatasetError(
        f"{where}: benchmark {spec.name} finds no column for '{name}' (looked for {listed})"
        f"{nearest(candidates[0], list(raw)[:100])}; columns here: {some_names(list(raw))}"
    )


def text_of(spec: BenchmarkSpec, raw: Mapping[str, Any], name: str, where: str) -> str:
    """Return the text of field ``name``, stripped. Raises DatasetError if it is empty."""
    value = field_of(spec, raw, name, where)
    if not isinstance(value, str) or not value.strip():
        raise DatasetError(
            f"{where}: column for '{name}' must be text, got {type(value).__name__} "
            f"{one_line(repr(value), 40)}"
        )
    return value.strip()


def row_id(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> str | None:
    value = field_of(spec, raw, "id", where) if "id" in spec.columns else None
    return None if value is None else str(value).strip()
