"""The benchmarks: what each is (one YAML file), and loaders for hub files, local files and generators."""

from prorl_datasets.benchmarks.catalogue import (
    BenchmarkSpec,
    benchmark_names,
    load_spec,
    parse_spec,
)
from prorl_datasets.benchmarks.loading import Loaded, load_benchmark, read_benchmark, read_spec
from prorl_datasets.benchmarks.questions import benchmark_questions, texts
from prorl_datasets.benchmarks.reasoning_gym import benchmark_seeds

__all__ = [
    "BenchmarkSpec",
    "Loaded",
    "benchmark_names",
    "benchmark_questions",
    "benchmark_seeds",
    "load_benchmark",
    "load_spec",
    "parse_spec",
    "read_benchmark",
    "read_spec",
    "texts",
]
