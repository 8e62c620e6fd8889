"""Builds the report's tables of failures, settings and examples."""

from __future__ import annotations

import math
from collections.abc import Sequence

from prorl_common import format_seconds
from prorl_evaluation.tables import TextTable, bracket, length_digits
from prorl_evaluation.types import EvalResult, Example


def group_names(results: Sequence[EvalResult]) -> list[str]:
    names = list(dict.fromkeys(g.name for r in results for g in r.groups))
    return names[:1] if len(names) == 2 else names


def percent(value: float) -> str:
    return "–" if not math.isfinite(value) else f"{100 * value:.1f}%"


def rates_table(results: Sequence[EvalResult]) -> TextTable:
    rows = []
    for name in group_names(results):
        for r in results:
            g = r.group(name)
            if g is None:
                continue
            shares = (g.truncation_rate, g.unparsable_rate, g.timeout_rate)
            length = bracket(g.length, length_digits(g.length.value))
            bad = f"{percent(g.infra_share)} ({g.infra_errors:,})"
            rows.append((name, r.label, f"{g.sampled:,}", *map(percent, shares), bad, length))
    head = (
        *("group", "result", "samples", "cut at token limit", "no answer extracted"),
        *("verifier timeout", "infra error (left out)", "tokens an answer"),
    )
    return TextTable(
        "Shares of the samples, zeros too; infra errors also as a count", head, tuple(rows)
    )


def setting_facts(results: Sequence[EvalResult]) -> dict[str, list[str]]:
    facts: dict[str, list[str]] = {
        "model": [r.model_id for r in results],
        "weights (sha256)": [r.model_digest for r in results],
        "dataset": [r.settings.dataset.get("path", "–") for r in results],
        "dataset manifest (sha256)": [
            r.settings.dataset.get("manifest_sha256", "") or "–" for r in results
        ],
        "split": [r.settings.dataset.get("split", "–") for r in results],
        "problems": [str(len(r.problems)) for r in results],
        "protocol": [r.settings.protocol or "–" for r in results],
        "backend": [f"{r.settings.backend}, {r.settings.batches} batches" for r in results],
        "samples a problem (n)": [str(r.settings.n) for r in results],
        "largest k requested": [str(r.settings.k) for r in results],
        "temperature": [str(r.settings.temperature) for r in results],
        "top-p": [str(r.settings.top_p) for r in results],
        "token limit": [str(r.settings.max_tokens) for r in results],
        "turn limit": [str(r.settings.turns) for r in results],
        "more request fields": [
            ", ".join(f"{k}={v}" for k, v in r.settings.extra.items()) or "–" for r in results
        ],
        "seed": [str(r.settings.seed) for r in results],
        "isolation of verifiers": [", ".join(r.isolation) or "–" for r in results],
        "generated tokens": [f"{r.tokens:,}" for r in results],
        "sampling time": [format_seconds(r.sampling_seconds) for r in results],
        "evaluated": [r.created for r in results],
    }
    for name in dict.fromkeys(v for r in results for v in r.versions):
        facts[name] = [r.versions.get(name, "–") for r in results]
    return facts


def example_answers(
    results: Sequence[EvalResult],
) -> list[tuple[Example, list[tuple[str, Example]]]]:
    return [
        (e, [(r.label, answer) for r in results for answer in r.examples if answer.id == e.id])
        for e in results[0].examples
    ]
