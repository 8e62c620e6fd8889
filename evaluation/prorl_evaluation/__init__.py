"""Sample models, and estimate and compare pass@k."""

from prorl_evaluation.boundary.boundary import BoundaryOptions, align, boundary_report
from prorl_evaluation.boundary.changes import gain_against_base, solvable_changes
from prorl_evaluation.boundary.types import BoundaryGroup, BoundaryReport, Claim, SolvableChanges
from prorl_evaluation.compare import Comparison, Difference, compare
from prorl_evaluation.metrics import (
    false_positive_reading,
    g_pass_at_k,
    ks_up_to,
    maj_at_k,
    near_n_warning,
    pass_at_k,
    pass_at_k_table,
    suspicion,
)
from prorl_evaluation.sampling.evaluate import RegradeReport, evaluate, regrade
from prorl_evaluation.stats.intervals import (
    Interval,
    Resampling,
    Units,
    bounded_columns,
    paired_columns,
)
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
    "ProblemResult",
    "RegradeReport",
    "Resampling",
    "SolvableChanges",
    "Units",
    "align",
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
]
