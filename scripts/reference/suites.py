"""Tables of benchmarks, packaged suites and their ladders, and origins of published numbers."""

from __future__ import annotations

from prorl_datasets.benchmarks import BenchmarkSpec, benchmark_names, load_spec
from prorl_evaluation.suites.published import published
from prorl_evaluation.suites.suite import Sampling, load_suite, suite_names
from reference.markdown import code_list, table

V2 = "nvidia/Nemotron-Research-Reasoning-Qwen-1.5B, revision main"
"""The checkpoint that several origins measured."""


def benchmarks() -> str:
    """Return the benchmarks with their number of rows, verifier, source and notes."""
    rows = []
    for spec in map(load_spec, benchmark_names()):
        count = "not published" if spec.expected_rows is None else f"{spec.expected_rows:,}"
        source = "generated" if spec.hub is None else spec.hub.repo + " (gated)" * spec.gated
        rows.append((f"`{spec.name}`", count, spec.verifier, source, " ".join(spec.notes)))
    return table(("name", "rows", "verifier", "source", "notes"), rows)


def packaged() -> str:
    """Return the suites with benchmarks and sampling."""
    rows = []
    for name in suite_names():
        suite = load_suite(name)
        rows.append((f"`{name}`", suite.title, code_list(suite.sources), _sampling(suite.sampling)))
    return table(("suite", "what it is", "benchmarks", "samples"), rows)


def _sampling(sampling: Sampling) -> str:
    tokens = sampling.max_tokens
    limit = "the run's token limit" if tokens is None else f"{tokens:,} tokens"
    return f"{sampling.n}, temperature {sampling.temperature:g}, top-p {sampling.top_p:g}, {limit}"


def ladders() -> str:
    """Return the benchmarks of growing size, with their sizes and those in prorl's recipes."""
    rows = []
    for suite in map(load_suite, suite_names()):
        trained = {t.benchmark: t.trained for t in suite.tables if t.by == "rung"}
        for name, source in suite.sources.items():
            if isinstance(source, BenchmarkSpec) and source.generated and name in trained:
                sizes = ", ".join(map(str, source.generated.rungs))
                seen = ", ".join(map(str, trained[name])) or "none: the task is held out"
                rows.append((source.title, sizes, seen))
    return table(("ladder", "sizes N", "in our training data"), rows)


def origins() -> str:
    """Return who measured the published numbers, and with which sampling."""
    rows = [
        (f"`{name}`", f"{o.measured_by}: [{o.title}]({o.url})", o.sampling, o.note)
        for name, o in published().origins.items()
    ]
    return table(("origin", "measured by", "sampling", "note"), rows)


def v2_by_origin() -> str:
    """Return the numbers of ProRL v2 that several origins report, with a column per origin."""
    rows = [row for row in published().rows if row.model == V2]
    found = [
        {**row.values, **{f"{name} average": a for name, a in row.averages.items()}} for row in rows
    ]
    names = dict.fromkeys(name for values in found for name in values)
    cells = {name: [_percent(values.get(name)) for values in found] for name in names}
    shared = [(name, *row) for name, row in cells.items() if len(row) - row.count("-") > 1]
    return table(("", *(f"`{row.origin}`: {row.label}" for row in rows)), shared)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
