"""The responses whose novelty is asked for: from evaluation folders, suite folders or JSON lines.

Leaves out: scoring them (``coverage``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prorl_common import read_jsonl
from prorl_evaluation.sampling.job import EVAL_FILE, EvalJob, read_job
from prorl_evaluation.sampling.journal import EvalJournal, Keys, Problem
from prorl_evaluation.types import EvaluationError

SAMPLING = ("temperature", "top_p", "max_tokens", "backend", "extra")
"""Settings that change what a model says; the number of samples and their seed may differ."""
CURE = "name one of these folders"


@dataclass(frozen=True, slots=True)
class Response:
    """One answer to ``problem``; ``group`` is its benchmark or domain, ``index`` its sample number."""

    problem: str
    group: str
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ResponseSet:
    """The responses of one model under the name that tables give it."""

    label: str
    responses: Sequence[Response]


def read_responses(path: Path, samples: int | None = None) -> ResponseSet:
    """Return the responses in ``path``: an evaluation folder, a folder of them, or a .jsonl file.

    A folder of evaluations is one set, see :func:`check_one_set`. ``samples`` keeps the first so many of each
    problem. Lines are {"id", "response"} with an optional "domain"; a repeated id is another sample. Raises
    EvaluationError with the cure.
    """
    if path.is_file():
        found = ResponseSet(path.name, list(_lines(path)))
    elif (path / EVAL_FILE).is_file():
        found = _evaluation(path)
    elif path.is_dir() and (folders := sorted(f.parent for f in path.glob(f"*/{EVAL_FILE}"))):
        check_one_set(path, {folder: read_job(folder) for folder in folders})
        parts = [_evaluation(folder) for folder in folders]
        found = ResponseSet(parts[0].label, [r for part in parts for r in part.responses])
    else:
        raise EvaluationError(
            f"{path} holds no responses: name a folder that prorl eval pass-at-k or run wrote, "
            'or a .jsonl file of lines {"id", "response"}'
        )
    kept = [r for r in found.responses if samples is None or r.index < samples]
    if not kept:
        raise EvaluationError(f"{path} holds no responses yet: finish its evaluation first")
    return ResponseSet(found.label, kept)


def check_one_set(path: Path, jobs: Mapping[Path, tuple[EvalJob, Sequence[Problem]]]) -> None:
    """Raise EvaluationError, naming the folders, where those in ``path`` are of two models, were sampled
    differently, or hold a benchmark or a problem more than once."""
    first, *others = jobs
    one = jobs[first][0]
    for other in others:
        if jobs[other][0].model_digest != one.model_digest:
            raise EvaluationError(f"{path}: {_both(first, other)} are of two models: {CURE}")
    for other in others:
        a, b = one.settings, jobs[other][0].settings
        differing = [n for n in SAMPLING if getattr(a, n) != getattr(b, n)]
        if differing:
            how = ", ".join(f"{n} {getattr(a, n)} and {getattr(b, n)}" for n in differing)
            raise EvaluationError(
                f"{path}: {_both(first, other)} were sampled differently ({how}): {CURE}"
            )
    benchmarks: dict[tuple[str, str], list[Path]] = {}
    for folder, (job, _) in jobs.items():
        origin = job.settings.dataset
        if name := origin.get("path", ""):
            benchmarks.setdefault((name, origin.get("split", "")), []).append(folder)
    for (name, _), folders in benchmarks.items():
        if len(folders) > 1:
            limits = {f: jobs[f][0].settings.dataset.get("limit") for f in folders}
            named = " and ".join(
                f.name if limit is None else f"{f.name} (limit {limit})"
                for f, limit in limits.items()
            )
            raise EvaluationError(f"{path}: {name} is there more than once, in {named}: {CURE}")
    owners: dict[str, Path] = {}
    for folder, (_, problems) in jobs.items():
        for problem in problems:
            if (owner := owners.setdefault(problem.id, folder)) != folder:
                raise EvaluationError(
                    f"{path}: {_both(owner, folder)} share problems ({problem.id}): {CURE}"
                )


def _both(first: Path, second: Path) -> str:
    return f"{first.name} and {second.name}"


def _evaluation(folder: Path) -> ResponseSet:
    job, problems = read_job(folder)
    found: list[Response] = []
    with EvalJournal(folder, Keys(job.model_digest, job.settings)) as journal:
        for problem in problems:
            group = str(problem.labels.get("benchmark", problem.domain))
            for index in range(job.settings.n):
                key = journal.keys.key(problem.id, problem.prompt_sha256, index)
                if (record := journal.samples.get(key)) is not None:
                    found.append(Response(problem.id, group, index, record.text))
    return ResponseSet(job.label, found)


def _lines(path: Path) -> Iterator[Response]:
    counted: dict[str, int] = {}
    for number, row in read_jsonl(path):
        problem, text = row.get("id"), row.get("response")
        if not isinstance(problem, str) or not isinstance(text, str):
            raise EvaluationError(
                f'{path}:{number}: expected {{"id": text, "response": text}}, '
                f"got the keys {', '.join(list(row)[:8])}"
            )
        index = counted.get(problem, 0)
        counted[problem] = index + 1
        yield Response(problem, str(row.get("domain", "all")), index, text)
