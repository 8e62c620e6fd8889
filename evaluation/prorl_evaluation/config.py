"""Defines the settings of ``prorl eval``.

Options override the config file, and ``--set`` overrides both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator

from prorl_common import use_plugins
from prorl_common.config import (
    Section,
    apply_overrides,
    check,
    mistakes,
    parse_override,
    put,
    read_config_file,
    write_yaml,
)
from prorl_common.seeds import MOST_SAMPLES, MOST_SEED, MOST_TEMPERATURE


def names(value: Any) -> Any:
    """Split a comma-separated string; return other values unchanged."""
    if not isinstance(value, str):
        return value
    return [name.strip() for name in value.split(",") if name.strip()]


AtLeastOne = Annotated[int, Field(ge=1)]


class ModelSection(Section):
    """The model to evaluate: ``path``, or ``checkpoints`` of ``run``.

    ``device`` may name several devices, separated by commas.
    """

    path: str | None = None
    run: str | None = None
    checkpoints: list[str] | None = None
    backend: str = "auto"
    batches: str | None = None
    device: str = "auto"

    @field_validator("checkpoints", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return [str(v) for v in value] if isinstance(value, list) else value


class DataSection(Section):
    dataset: Path | None = None
    split: str = "test"
    limit: AtLeastOne | None = None


class SamplingSection(Section):
    """Sampling settings; one that is None comes from the ``protocol``, else the suite, else the defaults."""

    k: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] | None = None
    n: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] | None = None
    temperature: Annotated[float, Field(ge=0, le=MOST_TEMPERATURE)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: AtLeastOne | None = None
    turns: AtLeastOne | None = None
    protocol: str | None = None
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] = 0


class SuiteSection(Section):
    name: str = "quickstart"
    benchmarks: list[str] | None = None
    mirror: Path | None = None
    published: str = "core"

    @field_validator("benchmarks", mode="before")
    @classmethod
    def _apart(cls, value: Any) -> Any:
        return names(value)


class ServerSection(Section):
    """Servers of one model; see ``prorl_inference.ServerOptions``."""

    url: Annotated[list[str], Field(min_length=1)] | None = None
    model: str | None = None
    api: str = "auto"
    key_env: str | None = None
    weights: Path | None = None
    tokenizer: str | None = None
    extra: dict[str, Any] | str | None = None
    concurrency: AtLeastOne = 32
    timeout: Annotated[float, Field(ge=1)] = 1800.0
    patience: Annotated[float, Field(ge=1)] = 600.0
    rpm: float | None = None
    tpm: float | None = None
    refusals: str = "stop"
    price: str | None = None

    @field_validator("url", mode="before")
    @classmethod
    def _apart(cls, value: Any) -> Any:
        return names(value)

    def changed(self) -> list[str]:
        usual = ServerSection()
        names = [name for name in ServerSection.model_fields if name != "url"]
        return [name for name in names if getattr(self, name) != getattr(usual, name)]


class ScoringSection(Section):
    """The reward servers (``prorl verify serve``), or the local ``workers``, that score answers."""

    servers: list[str] = Field(default_factory=list)
    workers: AtLeastOne = 2
    allow_weak: bool = False

    @field_validator("servers", mode="before")
    @classmethod
    def _apart(cls, value: Any) -> Any:
        return names(value)


class OutputSection(Section):
    out: Path | None = None


class ComparisonSection(Section):
    """Settings of ``compare`` and ``table``; see ``BoundaryOptions`` and ``ReportOptions``.

    ``any_sampling`` allows results that were sampled differently or on different datasets.
    """

    k: AtLeastOne | None = None
    alpha: Annotated[float, Field(ge=1e-9, le=0.5)] = 0.05
    margin: Annotated[float, Field(ge=0, le=1)] = 0.05
    cluster: str = "problem"
    false_positive_rate: Annotated[float, Field(ge=0, le=0.99)] = 0.0
    any_sampling: bool = False


class NoveltySection(Section):
    corpus: list[Path] | None = None
    column: str | None = None
    against: Path | None = None
    lengths: str = "5-12"
    samples: AtLeastOne | None = None
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] = 0


REMOVED = (("novelty", "memory", 1024), ("output", "repair", False), ("comparison", "beta", False))
"""Removed settings (section, key, default); a config file that has their default still loads."""


class EvalConfig(Section):
    """All settings of an evaluation; ``plugins`` are file paths."""

    model: ModelSection = ModelSection()
    data: DataSection = DataSection()
    sampling: SamplingSection = SamplingSection()
    suite: SuiteSection = SuiteSection()
    server: ServerSection = ServerSection()
    scoring: ScoringSection = ScoringSection()
    output: OutputSection = OutputSection()
    comparison: ComparisonSection = ComparisonSection()
    novelty: NoveltySection = NoveltySection()
    plugins: tuple[str, ...] = ()

    def to_yaml(self) -> str:
        """Return the config as YAML for ``--config``; server addresses are omitted."""
        value = self.model_dump(mode="json")
        value["server"]["url"] = None
        value["scoring"]["servers"] = []
        return write_yaml(value)


def load_eval_config(
    file: Path | None = None,
    options: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
) -> EvalConfig:
    """Return the config from ``file``, ``options`` (section.key -> value) and overrides, and load its plug-ins.

    Raises ConfigError with all mistakes, or PluginError.
    """
    values = {} if file is None else read_config_file(file)
    for section, key, default in REMOVED:
        part = values.get(section)
        if isinstance(part, Mapping) and part.get(key) == default:
            values = {**values, section: {k: v for k, v in part.items() if k != key}}
    for key, value in (options or {}).items():
        values = put(values, key.split("."), value)
    values, complaints = apply_overrides(
        values, overrides, partial(parse_override, example="sampling.n=64")
    )
    errors = mistakes(EvalConfig, values)
    config = check(EvalConfig, values, [*complaints, *errors.values()])
    base = Path() if file is None else file.parent
    loaded = tuple(str(f.path) for f in use_plugins(base / path for path in config.plugins))
    return config.model_copy(update={"plugins": loaded})
