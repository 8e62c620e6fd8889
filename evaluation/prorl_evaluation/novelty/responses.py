"""Reads the responses whose novelty is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from prorl_common import read_jsonl
from prorl_evaluation.novelty.corpus import TextCorpus
from prorl_evaluation.sampling.job import EVAL_FILE, read_job
from prorl_evaluation.sampling.journal import EvalJournal, Keys
from prorl_evaluation.types import EvaluationError

RESPONSE_SETTINGS = ("temperature", "top_p", "max_tokens", "backend", "extra")
"""Settings that must be equal in all evaluation folders of one model."""


@dataclass(frozen=True, slots=True)
class Response:
    """One response; ``group`` is its benchmark or domain."""

    problem: str
    group: str
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ResponseSet:
    label: str
    responses: Sequence[Response]


def read_responses(path: Path, samples: int | None = None) -> ResponseSet:
    """Read responses from an evaluation folder, a folder of such folders, or a .jsonl file.

    Each line is {"id", "response"} with an optional "domain"; lines with the same id are samples of one problem.
    ``samples`` limits the samples per problem. Raises EvaluationError if there are no responses.
    """
    if path.is_file():
        response_set = ResponseSet(path.name, list(_lines(path)))
    elif (path / EVAL_FILE).is_file():
        response_set = _evaluation(path)
    elif path.is_dir() and (folders := sorted(f.parent for f in path.glob(f"*/{EVAL_FILE}"))):
        response_set = _folder_of_evaluations(path, folders)
    else:
        raise EvaluationError(
            f"{path} has no responses: name a result folder of prorl eval, "
            'or a .jsonl file of lines {"id", "response"}'
        )
    chosen = [r for r in response_set.responses if samples is None or r.index < samples]
    if not chosen:
        raise EvaluationError(
            f"{path} has no responses yet: wait until its evaluation has finished"
        )
    return ResponseSet(response_set.label, chosen)


def _folder_of_evaluations(path: Path, folders: Sequence[Path]) -> ResponseSet:
    first, owners = read_job(folders[0])[0], dict[str, Path]()
    for folder in folders:
        job, problems = read_job(folder)
        names = f"{folders[0].name} and {folder.name} in {path}"
        if job.model_digest != first.model_digest:
            raise EvaluationError(
                f"{names} are of two models: name the folder of one model instead"
            )
        for name in RESPONSE_SETTINGS:
            a, b = getattr(first.settings, name), getattr(job.settings, name)
            if a != b:
                raise EvaluationError(
                    f"{names} were sampled differently ({name} {a} and {b}): "
                    "name one of these folders instead"
                )
        for problem in problems:
            if (owner := owners.setdefault(problem.id, folder)) != folder:
                raise EvaluationError(
                    f"{owner.name} and {folder.name} in {path} have problems in common (e.g. {problem.id}): "
                    "name one of these folders instead"
                )
    parts = [_evaluation(folder) for folder in folders]
    return ResponseSet(parts[0].label, [r for part in parts for r in part.responses])


def _evaluation(folder: Path) -> ResponseSet:
    job, problems = read_job(folder)
    responses: list[Response] = []
    with EvalJournal(folder, Keys(job.model_digest, job.settings)) as journal:
        for problem in problems:
            group = str(problem.labels.get("benchmark", problem.domain))
            for index in range(job.settings.n):
                key = journal.keys.key(problem.id, problem.prompt_sha256, index)
                if (record := journal.samples.get(key)) is not None:
                    responses.append(Response(problem.id, group, index, record.text))
    return ResponseSet(job.label, responses)


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


def against_base(
    base: ResponseSet, models: Sequence[ResponseSet]
) -> tuple[TextCorpus, ResponseSet | None]:
    """Split the base model's samples: one half is the corpus, the other a control set (None if empty).

    Raises EvaluationError if a model shares no problem with ``base``.
    """
    problems = {r.problem for r in base.responses}
    for model in models:
        if not any(r.problem in problems for r in model.responses):
            raise EvaluationError(
                f"'{model.label}' and '{base.label}' have no problem in common: evaluate both on the same dataset"
            )
    corpus = [r.text for r in base.responses if r.index % 2 == 0]
    held_out = [r for r in base.responses if r.index % 2 == 1]
    control = ResponseSet(f"{base.label} (held-out half)", held_out) if held_out else None
    return TextCorpus(corpus), control
