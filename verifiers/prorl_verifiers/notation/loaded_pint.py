"""Load pint and its registry at import.

A worker announces this import, so that loading does not count against an answer's time.
"""

from __future__ import annotations

from fractions import Fraction

import pint  # noqa: F401 - not installed: fail here, as an import does

from prorl_verifiers.notation.units import convert

convert(Fraction(1), "km", "m")
