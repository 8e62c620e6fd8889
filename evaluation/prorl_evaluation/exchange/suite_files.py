"""Write the problems of another harness as a suite of ours: one YAML file and the Parquet file it names.

Leaves out: where the problems come from (``harness_problems``, ``lighteval_problems``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text, nearest
from prorl_datasets import DOMAINS
from prorl_evaluation.types import EvaluationError
from prorl_verifiers import Task, TaskError, load_task

LONGEST_NAME = 200
UNSTATED = "not stated in the task definition"


@dataclass(frozen=True, slots=True)
class ForeignProblem:
    """A prompt and what scores its answer."""

    prompt: tuple[Mapping[str, str], ...]
    task: Task


@dataclass(frozen=True, slots=True)
class ForeignSuite:
    """One task of another harness. ``sampling`` are the keys of a suite's own; ``notes`` say what is not alike."""

    name: str
    source: str
    origin: str
    sampling: Mapping[str, Any]
    problems: tuple[ForeignProblem, ...]
    notes: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The name as suites, benchmarks and files have it."""
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_") or "task"


def write_suite(found: ForeignSuite, folder: Path, domain: str | None = None) -> Path:
    """Write ``<slug>.yaml`` and ``<slug>.parquet`` and return the former. ``domain`` None: the verifier's name.

    Raises EvaluationError for a domain that no dataset has, and for a problem that its verifier refuses.
    """
    import yaml

    from prorl_datasets.storage import write_split

    if domain is not None and domain not in DOMAINS:
        raise EvaluationError(
            f"--domain is '{domain}'{nearest(domain, DOMAINS)}: use {', '.join(DOMAINS)}"
        )
    slug = found.slug
    if len(slug) > LONGEST_NAME:
        raise EvaluationError(
            f"{found.name[:40]}...: a task's name has at most {LONGEST_NAME} characters"
        )
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(_rows(found, domain))
    data = folder / f"{slug}.parquet"
    write_split(data, rows)
    suite = {
        "name": slug,
        "title": f"{found.name} ({found.origin})",
        "sampling": dict(found.sampling),
        "benchmarks": [{"name": slug, "title": found.name, "dataset": data.name, "split": "test"}],
        "notes": list(found.notes),
    }
    file = folder / f"{slug}.yaml"
    atomic_write_text(file, yaml.safe_dump(suite, sort_keys=False, allow_unicode=True))
    return file


def _rows(found: ForeignSuite, domain: str | None) -> Sequence[dict[str, Any]]:
    from prorl_datasets.storage import canonical_json

    rows = []
    width = len(str(len(found.problems)))
    for place, problem in enumerate(found.problems):
        try:
            load_task(problem.task.verifier, problem.task.reference)
            json.dumps(
                [*map(dict, problem.prompt), problem.task.reference], ensure_ascii=False
            ).encode()
        except TaskError as error:
            raise EvaluationError(f"{found.name}, row {place}: {error}") from error
        except UnicodeEncodeError as error:
            raise EvaluationError(
                f"{found.name}, row {place}: it holds half a character (a lone surrogate), which no file can"
            ) from error
        rows.append(
            {
                "id": f"{found.slug}-{place:0{width}}",
                "domain": domain or problem.task.verifier,
                "split": "test",
                "prompt": [dict(m) for m in problem.prompt],
                "verifier": problem.task.verifier,
                "reference": problem.task.reference_json(),
                "source": found.source,
                "licence": UNSTATED,
                "gold_check": "none",
                "metadata": canonical_json({"benchmark": found.slug, "index": place}),
            }
        )
    return rows
