"""The small language of ``where`` and ``map``: conditions and values over the columns of a row.

It is read with ``ast`` and interpreted node by node: nothing a recipe or a command line says is ever run as
Python. Leaves out: loops, assignments, attributes, regular expressions (nothing here can take long).
"""

from prorl_datasets.expressions.evaluating import condition, value_of
from prorl_datasets.expressions.functions import FUNCTIONS, FunctionSpec, function_help
from prorl_datasets.expressions.parsing import Expression, ExpressionError, parse

__all__ = [
    "FUNCTIONS",
    "Expression",
    "ExpressionError",
    "FunctionSpec",
    "condition",
    "function_help",
    "parse",
    "value_of",
]
