"""Loads pint and its registry at import, outside a worker's time limit."""

from __future__ import annotations

from fractions import Fraction

import pint  # noqa: F401 - not installed: fail here, as an import does

from prorl_verifiers.notation.units import convert

convert(Fraction(1), "km", "m")
