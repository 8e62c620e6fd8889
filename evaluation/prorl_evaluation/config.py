"""The settings of ``prorl eval pass-at-k`` and ``run``: one tree, from a file and ``--set section.key=value``.

Later wins: the file, the options of the command line (each writes one key), ``--set``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from prorl_common import nearest, use_plugins
from prorl_evaluation.types import EvaluationError

AtLeastOne = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSection(Section):
    """What is evaluated: a model (``path``), or checkpoints of a run; and what samples it."""

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
    """The problems of pass-at-k; ``limit`` holds for a suite's benchmarks, too."""

    dataset: Path | None = None
    split: str = "test"
    limit: AtLeastOne | None = None


class SamplingSection(Section):
    """How is sampled; what is None is the protocol's, else the suite's or the default."""

    k: AtLeastOne | None = None
    n: AtLeastOne | None = None
    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: AtLeastOne | None = None
    protocol: str | None = None
    seed: int = 0


class SuiteSection(Section):
    """What ``run`` evaluates, and the published rows beside it."""

    name: str = "quickstart"
    benchmarks: list[str] | None = None
    mirror: Path | None = None
    published: str = "core"

    @field_validator("benchmarks", mode="before")
    @classmethod
    def _apart(cls, value: Any) -> Any:
        """Take names separated by commas, too."""
        if not isinstance(value, str):
            return value
        return [name.strip() for name in value.split(",") if name.strip()]


class ServerSection(Section):
    """A server that samples instead of a model loaded here; see ``prorl_inference.ServerOptions``."""

    url: str | None = None
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

    def changed(self) -> list[str]:
        """Return the keys beside ``url`` whose values are not the usual ones."""
        usual = ServerSection()
        names = [name for name in ServerSection.model_fields if name != "url"]
        return [name for name in names if getattr(self, name) != getattr(usual, name)]


class ScoringSection(Section):
    """Who judges."""

    workers: AtLeastOne = 2
    allow_weak: bool = False


class OutputSection(Section):
    """Where all is written; ``repair`` moves damaged journal lines aside first."""

    out: Path | None = None
    repair: bool = False


class EvalConfig(Section):
    """Everything that decides an evaluation. ``plugins``: paths of plug-in files."""

    model: ModelSection = ModelSection()
    data: DataSection = DataSection()
    sampling: SamplingSection = SamplingSection()
    suite: SuiteSection = SuiteSection()
    server: ServerSection = ServerSection()
    scoring: ScoringSection = ScoringSection()
    output: OutputSection = OutputSection()
    plugins: list[str] = []

    def to_yaml(self) -> str:
        """Return what ``--config`` reads, without the server's address."""
        import yaml

        value = self.model_dump(mode="json")
        value["server"]["url"] = None
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def load_eval_config(
    file: Path | None = None,
    given: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
) -> EvalConfig:
    """Return the config of ``file``, ``given`` (section.key to value) and ``section.key=value`` texts.

    Plug-ins that the file names (relative to it) are loaded. Raises EvaluationError with every mistake in
    one line, PluginError.
    """
    import yaml

    label = "the settings" if file is None else str(file)
    values: Any = {}
    try:
        if file is not None:
            values = yaml.safe_load(file.read_text(encoding="utf-8"))
        written = [text.partition("=") for text in overrides]
        pairs = {**(given or {}), **{key: yaml.safe_load(value) for key, _, value in written}}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise EvaluationError(
            f"{label}: cannot be read ({' '.join(str(error).split())})"
        ) from error
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise EvaluationError(
            f"{label}: expected sections such as sampling, got a {type(values).__name__}"
        )
    for text in overrides:
        if "=" not in text:
            raise EvaluationError(f"--set {text}: write section.key=value, as sampling.n=64")
    for key, value in pairs.items():
        *path, last = key.split(".")
        place = values
        for part in path:
            inner = place.get(part)
            if inner is not None and not isinstance(inner, dict):
                raise EvaluationError(f"--set {key}: {part} is a value, not a section")
            place[part] = place = dict(inner or {})
        place[last] = value
    try:
        config = EvalConfig.model_validate(values)
    except ValidationError as error:
        lines = [_explain(item["loc"], item["type"], item["msg"]) for item in error.errors()]
        raise EvaluationError(f"{label}: {'; '.join(dict.fromkeys(lines))}") from error
    base = Path() if file is None else file.parent
    loaded = [str(one.path) for one in use_plugins(base / path for path in config.plugins)]
    return config.model_copy(update={"plugins": loaded})


def _explain(place: tuple[int | str, ...], kind: str, message: str) -> str:
    """Return one mistake with its place; an unknown key with the nearest of its section."""
    where = ".".join(map(str, place))
    if kind != "extra_forbidden":
        return f"{where}: {message[:1].lower()}{message[1:]}"
    section: type[BaseModel] = EvalConfig
    if len(place) > 1:
        section = type(getattr(EvalConfig(), str(place[0])))
    return f"unknown key '{where}'{nearest(str(place[-1]), section.model_fields)}"
