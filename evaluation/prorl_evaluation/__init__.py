"""Did the model's reasoning boundary move? Sampling journal, pass@k with intervals, comparison, report."""

from prorl_evaluation.bootstrap import Interval, bootstrap_ci
from prorl_evaluation.compare import Comparison, Difference, compare
from prorl_evaluation.evaluate import RegradeReport, evaluate, regrade
from prorl_evaluation.passk import ks_up_to, pass_at_k
from prorl_evaluation.report import write_report
from prorl_evaluation.types import (
    FULL_MARKS,
    EvalResult,
    EvalSettings,
    EvaluationError,
    Example,
    GroupResult,
    ProblemResult,
    load_result,
)

__all__ = [
    "FULL_MARKS",
    "Comparison",
    "Difference",
    "EvalResult",
    "EvalSettings",
    "EvaluationError",
    "Example",
    "GroupResult",
    "Interval",
    "ProblemResult",
    "RegradeReport",
    "bootstrap_ci",
    "compare",
    "evaluate",
    "ks_up_to",
    "load_result",
    "pass_at_k",
    "regrade",
    "write_report",
]
