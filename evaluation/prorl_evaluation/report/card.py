"""Writes the evaluation section of a model card, using only results of the published weights.

Prompts, answers, paths and tokens are never published (``prorl_common.private``).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import sha256_file
from prorl_common.markup import md
from prorl_common.private import Private
from prorl_datasets import read_manifest
from prorl_datasets.benchmarks import benchmark_names, load_spec
from prorl_datasets.storage import MANIFEST
from prorl_evaluation.report.data import ReportData, report_data
from prorl_evaluation.report.markdown import bullets, format_table
from prorl_evaluation.report.words import caveats, commands, headline_metrics, lead, verdict
from prorl_evaluation.suites.suite import suite_names
from prorl_evaluation.tables import comparison_table, result_table
from prorl_evaluation.types import OVERALL, RESULT_FILE, EvalResult, load_result, shown_ks

UNPUBLISHED = "a model's folder"
"""Published instead of the name of a local folder."""


@dataclass(frozen=True, slots=True)
class CardEvaluation:
    """The evaluation section of a model card and its files; empty without results."""

    section: str = ""
    index: tuple[Mapping[str, Any], ...] = ()
    files: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    commands: tuple[str, ...] = ()


def results_beside(run: Path) -> list[EvalResult]:
    """Return the results in a run's folder, base model first. Raises EvaluationError."""
    stored = []
    for file in [*run.glob(f"eval/*/{RESULT_FILE}"), *run.glob(f"suites/*/*/{RESULT_FILE}")]:
        kind, slug, *_ = file.relative_to(run).parts
        slug = slug.rpartition("-")[0] if kind == "eval" else slug
        stored.append(((slug != "base", slug, str(file)), load_result(file)))
    return [result for _, result in sorted(stored, key=lambda pair: pair[0])]


def card_evaluation(
    results: Sequence[EvalResult],
    name: str,
    weights: str,
    private: Private,
    run: Path | None = None,
) -> CardEvaluation:
    """Return the evaluation section for the model ``name``, whose weights have the digest ``weights``.

    Caveats include the decisions recorded in the folder ``run``.
    """
    families: dict[str, list[EvalResult]] = {}
    for result in results:
        s = result.settings
        problems = {key: value for key, value in s.dataset.items() if key != "path"}
        sampling = [problems, s.temperature, s.top_p, s.max_tokens, s.turns, s.seed, s.backend]
        cleaned = _cleaned(result, name, weights, private)
        families.setdefault(json.dumps(sampling), []).append(cleaned)
    reports: list[ReportData] = []
    for family in families.values():
        places = [place for place, r in enumerate(family) if r.model_digest == weights]
        if places:
            reports.append(report_data(family[: places[-1] + 1], run))
    files: dict[str, bytes] = {}
    for number, data in enumerate(reports, start=1):
        for place, result in enumerate(data.results, start=1):
            slug = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{number}-{place}-{result.label}").strip("-.")
            files[f"evaluation/{slug}.json"] = _json(result.to_json())
        if data.boundary is not None:
            files[f"evaluation/{number}-boundary.json"] = _json(data.boundary.to_json())
    return CardEvaluation(
        "\n\n".join(part for data in reports for part in _section(data)),
        tuple(entry for data in reports if (entry := _entry(data.results[-1]))["metrics"]),
        files,
        tuple(dict.fromkeys(line for data in reports for line in commands(_as_built(data)))),
    )


def _cleaned(result: EvalResult, public: str, weights: str, private: Private) -> EvalResult:
    s = result.settings
    dataset = private.json(s.dataset) | {"path": _problems(s.dataset)}
    name, label = result.model_id, result.label
    if private.text(name) != name or Path(name).exists():  # a local folder's name may be private
        called = "this model" if result.model_digest == weights else "another model"
        for words in (name, Path(name).name):
            label = label.replace(words, called)
        name = public if result.model_digest == weights else UNPUBLISHED
    settings = dataclasses.replace(s, label=private.text(label), dataset=dataset, extra={})
    return dataclasses.replace(
        result,
        model_id=name,
        settings=settings,
        examples=(),
        versions=private.json(result.versions),
    )


def _problems(origin: Mapping[str, str]) -> str:
    """Return the name of a public problem set, or "" for a folder, whose name may be private."""
    path = origin.get("path", "")
    suite, slash, benchmark = path.partition("/")
    if slash and suite in suite_names() and benchmark in benchmark_names():
        return path
    manifest = Path(path) / MANIFEST
    if path and manifest.is_file() and sha256_file(manifest) == origin.get("manifest_sha256"):
        return str(read_manifest(Path(path)).get("recipe", ""))
    return ""


def _as_built(data: ReportData) -> ReportData:
    results = []
    for result in data.results:
        s = result.settings
        path = str(s.dataset.get("path", ""))
        if "/" not in path:  # a suite's benchmark has a slash
            path = f"data/{path}" if path else "DATASET"
        settings = dataclasses.replace(s, dataset={**s.dataset, "path": path})
        if result.model_id != UNPUBLISHED:
            results.append(dataclasses.replace(result, settings=settings))
    return dataclasses.replace(data, results=tuple(results))


def _section(data: ReportData) -> list[str]:
    result = data.results[-1]
    origin = result.settings.dataset
    split = f", split {md(origin['split'])}" if origin.get("split") else ""
    limit = (
        f", the first {md(origin['limit'])} problems, domains in turn"
        if origin.get("limit")
        else ""
    )
    sha = origin.get("manifest_sha256")
    parts = [
        f"### On {md(origin.get('path') or 'problems that have no public name')}{split}{limit}",
        md(lead(data)) + (f" SHA-256 of the problems begins `{md(sha[:12])}`." if sha else ""),
        format_table(result_table(result)),
    ]
    if data.comparison is not None:
        overall = tuple(d for d in data.comparison.differences if d.group == OVERALL)
        whole = dataclasses.replace(data.comparison, differences=overall)
        parts.append(format_table(comparison_table(whole, headline_metrics(data.results))))
    if data.boundary is not None:
        parts += ["Did the boundary move?", *bullets(verdict(data.boundary))]
    if notes := caveats(data):
        parts += ["Before you believe it:", *bullets(notes)]
    return parts


def _entry(result: EvalResult) -> dict[str, Any]:
    """Return a ``model-index`` entry as in https://github.com/huggingface/hub-docs/blob/main/modelcard.md."""
    s, group = result.settings, result.overall
    name = s.dataset.get("path") or "problems"
    benchmark = name.rpartition("/")[2]
    spec = load_spec(benchmark) if benchmark in benchmark_names() else None
    dataset: dict[str, Any] = {"type": name, "name": name}
    if spec is not None:
        dataset = {"type": spec.hub.repo if spec.hub else name, "name": spec.title}
    dataset |= {"split": s.dataset["split"]} if s.dataset.get("split") else {}
    dataset["args"] = {k: s.dataset[k] for k in ("manifest_sha256", "limit") if k in s.dataset}
    metrics = []
    for k in shown_ks([result]):
        interval = group.pass_at_k[k]
        if not interval.count:
            continue
        around = f"{100 * s.level:g}% interval {interval.low:.4f} to {interval.high:.4f}"
        metrics.append(
            {
                "type": f"pass@{k}",
                "value": round(interval.value, 4),
                "name": f"pass@{k} (n = {s.n}, {interval.count} problems, {around})",
                "args": {"n": s.n, "temperature": s.temperature, "top_p": s.top_p}
                | {"max_tokens": s.max_tokens},
            }
        )
    return {
        "task": {"type": "text-generation", "name": "Text Generation"},
        "dataset": {k: v for k, v in dataset.items() if v},
        "metrics": metrics,
    }


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
