"""A suite's outcome as JSON and as files: ``suite-<name>-<hash>.json`` and ``.md`` beside the results.

Leaves out: the results themselves, which every benchmark's folder holds.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text
from prorl_evaluation.sampling.journal import digest
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.suites.published import Shown, published
from prorl_evaluation.suites.runner import SuiteResult
from prorl_evaluation.suites.scores import benchmark_score, fixed_score, group_scores
from prorl_evaluation.suites.tables import markdown, suite_tables


def suite_json(result: SuiteResult) -> dict[str, Any]:
    """Return the outcome as a JSON object: numbers are fractions, NaN is null; published rows percent."""
    s = result.settings
    book = published()
    rows = [r for r in book.rows if set(r.values) & set(result.names)]
    models = []
    for model in result.models:
        benchmarks: dict[str, Any] = {}
        for name, found in model.results.items():
            metric, group = result.suite.metric(name), found.overall
            fixed = fixed_score(found, metric)
            kinds = [t.by for t in result.suite.tables if t.benchmark == name and t.by is not None]
            benchmarks[name] = {
                "metric": metric,
                **_interval(benchmark_score(found, metric)),
                "these_very_problems": _interval(fixed) if fixed is not None else None,
                "problems": group.problems,
                "infra_errors": group.infra_errors,
                "judged": group.judged,
                "truncation_rate": _finite(group.truncation_rate),
                "groups": {
                    by: {g: _interval(i) for g, i in group_scores(found, metric, by).items()}
                    for by in kinds
                },
                "folder": str(model.folders[name]),
            }
        models.append({"label": model.label, "benchmarks": benchmarks})
    return {
        "suite": result.suite.name,
        "benchmarks": list(result.names),
        "settings": {
            "n": s.n,
            "temperature": s.temperature,
            "top_p": s.top_p,
            "max_tokens": s.max_tokens,
            "seed": s.seed,
            "limit": result.limit,
            "backend": s.backend,
            "extra": dict(s.extra),
        },
        "partial": result.partial,
        "models": models,
        "failures": [
            {"benchmark": f.benchmark, "model": f.model, "reason": f.reason, "service": f.service}
            for f in result.failures
        ],
        "notes": list(result.notes),
        "shared_with_training": {name: list(ids) for name, ids in result.shared.items()},
        "published": [r.model_dump() for r in rows],
        "origins": {o: book.origins[o].model_dump() for o in sorted({r.origin for r in rows})},
    }


def _interval(interval: Interval) -> dict[str, Any]:
    return {
        "value": _finite(interval.value),
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "scored_problems": interval.count,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def save_suite(result: SuiteResult, root: Path, shown: Shown = "core") -> Path:
    """Write the JSON and the Markdown in ``root`` atomically and return the Markdown's path.

    The same suite, settings, limit, benchmarks and models write the same two files again.
    """
    s = result.settings
    names = ("n", "temperature", "top_p", "max_tokens", "seed")
    sampling = {name: getattr(s, name) for name in names}
    key = [sampling, list(result.names), result.partial, [m.label for m in result.models]]
    # only where there are any, so that the names of older files stay
    if result.limit is not None:
        key.append({"limit": result.limit})
    if s.backend != "transformers" or s.extra:
        key.append({"backend": s.backend, "extra": dict(s.extra)})
    stem = root / f"suite-{result.suite.name}-{digest(key)[:8]}"
    text = json.dumps(suite_json(result), indent=1, ensure_ascii=False) + "\n"
    atomic_write_text(stem.with_suffix(".json"), text)
    page = stem.with_suffix(".md")
    atomic_write_text(page, markdown(suite_tables(result, shown)))
    return page
