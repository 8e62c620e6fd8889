"""Defines and loads benchmarks."""

from prorl_datasets.benchmarks.catalogue import (
    BenchmarkItem,
    BenchmarkSpec,
    LeftOut,
    benchmark_names,
    field_of,
    load_spec,
    parse_spec,
    text_of,
)
from prorl_datasets.benchmarks.loading import (
    Loaded,
    benchmark_questions,
    benchmark_seeds,
    load_benchmark,
    read_benchmark,
    stream_spec,
    texts,
)
from prorl_datasets.sources.adapters.fields import Unusable

__all__ = [
    "BenchmarkItem",
    "BenchmarkSpec",
    "LeftOut",
    "Loaded",
    "Unusable",
    "benchmark_names",
    "benchmark_questions",
    "benchmark_seeds",
    "field_of",
    "load_benchmark",
    "load_spec",
    "parse_spec",
    "read_benchmark",
    "stream_spec",
    "text_of",
    "texts",
]
