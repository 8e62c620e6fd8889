"""Defines the records of evaluation: settings and results."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import UserError, atomic_write_text
from prorl_common.seeds import TURNS
from prorl_evaluation.metrics import near_n_warning
from prorl_evaluation.stats.fixed_set import fixed_interval
from prorl_evaluation.stats.intervals import Interval

FULL_MARKS = 1.0 - 1e-9
"""Minimum reward of a sample that counts as correct in pass@k: 1, minus rounding."""
RESULT_FILE = "result.json"
RESULT_FORMAT = 2
READABLE_FORMATS = (1, 2)
"""Readable formats of ``result.json``; format 1 lacks labels, answer counts, maj@k and the infra error rate."""
OVERALL = "overall"
BATCHES = ("fixed", "bucketed")
BEFORE_RL = "(before RL)"
"""Suffix of the label of a run's step-0 checkpoint, which is saved after any warm start and before RL."""


Label = str | int | float
"""The name of a benchmark or task, or its difficulty level."""
LABELS = ("benchmark", "family", "rung", "level", "difficulty")
"""Keys of a sample's metadata, copied to results, that say where it comes from and how difficult it is."""


def labels_of(metadata: Mapping[str, Any]) -> dict[str, Label]:
    """Return the labels in ``metadata``, such as family and level, that are strings or numbers."""
    values = {name: metadata.get(name) for name in LABELS}
    labels = {name: v for name, v in values.items() if isinstance(v, str | int | float)}
    return {name: v for name, v in labels.items() if not isinstance(v, bool)}


class EvaluationError(UserError):
    """Raised if an evaluation is impossible, or its files are missing or damaged."""


@dataclass(frozen=True, slots=True)
class EvalSettings:
    """Settings for sampling and for summarising the verdicts.

    ``k`` <= ``n`` is the largest k to estimate. ``max_tokens`` includes the end token. ``turns`` limits the responses
    to an environment. If the process is killed, at most the ``batch_rows`` samples of a batch are lost. ``label`` and
    ``dataset`` are only recorded. ``batches`` is "fixed", or "bucketed" by length. ``extra`` holds additional fields of
    requests to a server.
    """

    n: int
    k: int
    temperature: float = 0.6
    top_p: float = 0.95
    max_tokens: int = 512
    turns: int = TURNS
    seed: int = 0
    batch_rows: int = 64
    level: float = 0.95
    draws: int = 10_000
    label: str = ""
    dataset: Mapping[str, str] = field(default_factory=dict)
    backend: str = "transformers"
    protocol: str = ""
    batches: str = "fixed"
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise EvaluationError(f"k is {self.k}: it must be at least 1")
        if self.k > self.n:
            raise EvaluationError(
                f"k > n: pass@{self.k} cannot be estimated from {self.n} samples per problem; "
                f"use --n {2 * self.k} (2k is advised) or a smaller --k"
            )
        if min(self.max_tokens, self.turns, self.batch_rows, self.draws) < 1:
            raise EvaluationError("max_tokens, turns, batch_rows and draws must be at least 1")
        if self.batches not in BATCHES:
            raise EvaluationError(f"batches is '{self.batches}': it must be fixed or bucketed")

    @property
    def turn_limit(self) -> dict[str, int]:
        """``turns``, or nothing if it is the default, as in files of evaluations without environments."""
        return {} if self.turns == TURNS else {"turn_limit": self.turns}

    def repeated_answers(self) -> str | None:
        """Return a warning if n > 1 at temperature 0."""
        if self.n == 1 or self.temperature > 0:
            return None
        return (
            f"temperature 0 gives the same answer {self.n} times: n = {self.n} tells no more "
            "than n = 1, and pass@k is pass@1; sample with a temperature, or use --n 1"
        )

    @property
    def near_any_success(self) -> bool:
        return near_n_warning(self.n, self.k) is not None


@dataclass(frozen=True, slots=True)
class ProblemResult:
    """The counts of one problem: ``n`` of the samples have a verdict, and ``c`` of these have reward 1.

    Infra errors, including ``refused`` samples, are not in ``n``. ``chance`` is the highest reward for giving the same
    answer every time, if known. ``answers`` has (votes, correct votes) of each answer, None without majority votes.
    """

    id: str
    domain: str
    prompt_sha256: str
    task_sha256: str
    sampled: int
    n: int
    c: int
    reward_mean: float
    infra_errors: int
    timeouts: int
    unparsable: int
    truncated: int
    tokens: int
    chance: float | None = None
    labels: Mapping[str, Label] = field(default_factory=dict)
    answers: tuple[tuple[int, int], ...] | None = None
    refused: int = 0

    @property
    def answered(self) -> int:
        return self.sampled - self.refused

    @property
    def length(self) -> float:
        """Generated tokens per answer; NaN without answers."""
        return self.tokens / self.answered if self.answered else math.nan


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Means over all problems (``overall``) or the problems of one domain.

    ``truncation_rate`` is a fraction of the answers, ``infra_error_rate`` of the samples, other rates of the verdicts.
    ``chance`` counts unknown values as 0, and is NaN if all are unknown. The intervals of ``pass_at_k`` and
    ``fixed_pass_at_k`` differ as in ``model_table.Value``.
    """

    name: str
    problems: int
    sampled: int
    infra_errors: int
    pass_at_k: Mapping[int, Interval]
    reward: Interval
    length: Interval
    truncation_rate: float
    unparsable_rate: float
    timeout_rate: float
    chance: float
    infra_error_rate: float = math.nan
    maj_at_k: Mapping[int, Interval] = field(default_factory=dict)
    g_pass: Mapping[str, Interval] = field(default_factory=dict)
    fixed_pass_at_k: Mapping[int, Interval] = field(default_factory=dict)

    @property
    def infra_share(self) -> float:
        return self.infra_errors / self.sampled if self.sampled else math.nan

    def metric(self, name: str) -> Interval | None:
        """Return the metric ``reward`` or ``pass@K``, or None if K was not estimated."""
        if name == "reward":
            return self.reward
        return self.pass_at_k.get(int(name.removeprefix("pass@")))


@dataclass(frozen=True, slots=True)
class Example:
    """The first sample of a problem, with its verdict. ``response`` may be a conversation."""

    id: str
    domain: str
    prompt: str
    response: str
    reward: float | None
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class EvalResult:
    """One model's result on one set of problems, saved as ``result.json``.

    ``sampling_seconds`` is the sum over all sessions, ``wall_seconds`` the duration of the last one. ``groups`` starts
    with the overall group.
    """

    model_id: str
    model_digest: str
    settings: EvalSettings
    problems: tuple[ProblemResult, ...]
    groups: tuple[GroupResult, ...]
    isolation: tuple[str, ...]
    examples: tuple[Example, ...]
    tokens: int
    sampling_seconds: float
    wall_seconds: float
    created: str
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The settings' label, or else the model's name."""
        return self.settings.label or self.model_id

    @property
    def overall(self) -> GroupResult:
        return self.groups[0]

    def group(self, name: str) -> GroupResult | None:
        return next((g for g in self.groups if g.name == name), None)

    def to_json(self) -> dict[str, Any]:
        value = finite(dataclasses.asdict(self))
        assert isinstance(value, dict)
        return {"format": RESULT_FORMAT, **value}

    def save(self, folder: Path) -> Path:
        """Write ``result.json`` in ``folder`` atomically and return its path."""
        path = folder / RESULT_FILE
        atomic_write_text(path, json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n")
        return path


def shown_ks(results: Sequence[EvalResult]) -> list[int]:
    """Return the k to display: 1, the largest up to 8 and each ``settings.k``, if all results have them."""
    shared = set.intersection(*({*r.overall.pass_at_k} for r in results))
    ks = {1, max((k for k in shared if k <= 8), default=1), *(r.settings.k for r in results)}
    return sorted(ks & shared)


def load_result(path: Path) -> EvalResult:
    """Read a result from its folder or file. Raises EvaluationError if it is missing or damaged."""
    file = path / RESULT_FILE if path.is_dir() else path
    if not file.is_file():
        raise EvaluationError(
            f"no {RESULT_FILE} in {path}: run prorl eval pass-at-k, or run it again if it was "
            "interrupted"
        )
    try:
        row = json.loads(file.read_text(encoding="utf-8"))
        if row["format"] not in READABLE_FORMATS:
            raise EvaluationError(
                f"{file} has format {row['format']}, but this version reads only formats "
                f"{' and '.join(map(str, READABLE_FORMATS))}: run its pass-at-k command again"
            )
        del row["format"]
        row["settings"] = _settings(row["settings"])
        row["problems"] = tuple(_problem(p) for p in row["problems"])
        if len({p.id for p in row["problems"]}) < len(row["problems"]):
            raise ValueError("a problem id occurs twice")
        level = row["settings"].level
        row["groups"] = tuple(_group(g, row["problems"], level) for g in row["groups"])
        if not row["groups"]:
            raise ValueError("groups is empty")
        for name in ("model_id", "model_digest", "created"):
            if not isinstance(row[name], str):
                raise TypeError(f"{name} is not a string")
        row["examples"] = tuple(Example(**e) for e in row["examples"])
        row["isolation"] = tuple(row["isolation"])
        return EvalResult(**row)
    except (RecursionError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvaluationError(
            f"{file} is not a result of prorl eval ({type(error).__name__}: {error}): "
            "run its pass-at-k command again, which keeps the samples"
        ) from error


def _settings(row: Mapping[str, Any]) -> EvalSettings:
    settings = EvalSettings(**row)
    whole = ("n", "k", "max_tokens", "turns", "seed", "batch_rows", "draws")
    for name in (*whole, "temperature", "top_p", "level"):
        value = getattr(settings, name)
        if type(value) is not int and (name in whole or type(value) is not float):
            raise TypeError(f"{name} is {value!r}, which has the wrong type")
    if not 0.0 < settings.level < 1.0:
        raise ValueError(f"level is {settings.level}: it must be between 0 and 1")
    return settings


def _problem(row: Mapping[str, Any]) -> ProblemResult:
    values = {**row, "reward_mean": _number(row["reward_mean"])}
    values.pop("judged", None)  # written by version 0.2.0
    if row.get("answers") is not None:
        values["answers"] = tuple((int(count), int(right)) for count, right in row["answers"])
    problem = ProblemResult(**values)
    counts = (0, problem.c, problem.n, problem.sampled)
    if any(type(count) is not int for count in counts) or list(counts) != sorted(counts):
        raise ValueError(
            f"problem {problem.id!r} has c={problem.c}, n={problem.n} and sampled={problem.sampled}, but 0 <= c <= n <= sampled must hold"
        )
    texts = (problem.id, problem.domain, problem.prompt_sha256, problem.task_sha256)
    if any(not isinstance(text, str) for text in texts) or not isinstance(problem.labels, Mapping):
        raise TypeError(
            f"problem {problem.id!r} has an id, domain, hash or labels of the wrong type"
        )
    return problem


def _group(row: Mapping[str, Any], problems: Sequence[ProblemResult], level: float) -> GroupResult:
    values = {key: value for key, value in row.items() if key != "judged"}  # from 0.2.0
    for name in ("pass_at_k", "maj_at_k", "fixed_pass_at_k"):
        values[name] = {int(k): _interval(v) for k, v in row.get(name, {}).items()}
    values["g_pass"] = {k: _interval(v) for k, v in row.get("g_pass", {}).items()}
    values["infra_error_rate"] = _number(row.get("infra_error_rate"))
    for name in ("reward", "length"):
        values[name] = _interval(row[name])
    for name in ("truncation_rate", "unparsable_rate", "timeout_rate", "chance"):
        values[name] = _number(row[name])
    group = GroupResult(**values)
    if group.fixed_pass_at_k:
        return group
    members = [p for p in problems if group.name in (OVERALL, p.domain)]
    fixed = {k: fixed_interval(members, k, level) for k in group.pass_at_k}
    return dataclasses.replace(group, fixed_pass_at_k=fixed)


def _interval(row: Mapping[str, Any]) -> Interval:
    numbers = {name: _number(row[name]) for name in ("value", "low", "high")}
    return Interval(**numbers, count=row["count"], undefined=row["undefined"])


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def finite(value: object) -> object:
    """Convert to JSON values: non-finite numbers become null, and keys become strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(k): finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return value
