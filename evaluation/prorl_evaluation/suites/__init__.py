"""Suites: benchmarks evaluated together and shown in the paper's layout beside published numbers."""

from prorl_evaluation.suites.joining import join_results, joined
from prorl_evaluation.suites.output import save_suite, suite_json
from prorl_evaluation.suites.published import Origin, Published, PublishedRow, published
from prorl_evaluation.suites.runner import ModelScores, SuiteResult, run_suite, without_code
from prorl_evaluation.suites.sources import Failure, Gathered, Ready, Wanted, gather_benchmarks
from prorl_evaluation.suites.suite import DEFAULT_SUITE, Suite, load_suite, suite_names
from prorl_evaluation.suites.tables import SuiteTable, markdown, suite_tables

__all__ = [
    "DEFAULT_SUITE",
    "Failure",
    "Gathered",
    "ModelScores",
    "Origin",
    "Published",
    "PublishedRow",
    "Ready",
    "Suite",
    "SuiteResult",
    "SuiteTable",
    "Wanted",
    "gather_benchmarks",
    "join_results",
    "joined",
    "load_suite",
    "markdown",
    "published",
    "run_suite",
    "save_suite",
    "suite_json",
    "suite_names",
    "suite_tables",
    "without_code",
]
