"""Did the model's reasoning boundary move? Sampling journal, pass@k with intervals, comparison, report."""

from prorl_evaluation.boundary.boundary import BoundaryOptions, align, boundary_report
from prorl_evaluation.boundary.gain import gain_against_base
from prorl_evaluation.boundary.solvable import solvable_changes
from prorl_evaluation.boundary.types import BoundaryGroup, BoundaryReport, Claim, SolvableChanges
from prorl_evaluation.compare import Comparison, Difference, compare
from prorl_evaluation.metrics.beta_posterior import PosteriorPassAtK, beta_posterior
from prorl_evaluation.metrics.false_positives import (
    false_positive_reading,
    suspicion,
)
from prorl_evaluation.metrics.majority import maj_at_k
from prorl_evaluation.metrics.passk import (
    g_pass_at_k,
    ks_up_to,
    near_n_warning,
    pass_at_k,
    pass_at_k_table,
)
from prorl_evaluation.report.html import write_report
from prorl_evaluation.sampling.evaluate import RegradeReport, evaluate, regrade
from prorl_evaluation.stats.bootstrap import bootstrap_ci
from prorl_evaluation.stats.bounded_mean import Units, bounded_columns, paired_columns
from prorl_evaluation.stats.intervals import Interval, Resampling
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
    "BoundaryGroup",
    "BoundaryOptions",
    "BoundaryReport",
    "Claim",
    "Comparison",
    "Difference",
    "EvalResult",
    "EvalSettings",
    "EvaluationError",
    "Example",
    "GroupResult",
    "Interval",
    "PosteriorPassAtK",
    "ProblemResult",
    "RegradeReport",
    "Resampling",
    "SolvableChanges",
    "Units",
    "align",
    "beta_posterior",
    "bootstrap_ci",
    "boundary_report",
    "bounded_columns",
    "compare",
    "evaluate",
    "false_positive_reading",
    "g_pass_at_k",
    "gain_against_base",
    "ks_up_to",
    "load_result",
    "maj_at_k",
    "near_n_warning",
    "paired_columns",
    "pass_at_k",
    "pass_at_k_table",
    "regrade",
    "solvable_changes",
    "suspicion",
    "write_report",
]
