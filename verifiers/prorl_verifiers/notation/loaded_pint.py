"""Loads pint and its unit registry. Workers import it before a time limit starts."""

from __future__ import annotations

from fractions import Fraction

import pint  # noqa: F401 - not installed: fail here, as an import does

from prorl_verifiers.notation.units import convert

convert(Fraction(1), "km", "m")
