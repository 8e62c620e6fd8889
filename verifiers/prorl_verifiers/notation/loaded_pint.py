"""pint with its registry built and one conversion done: importing this module is the loading.

An exception to "no work at import", like ``instruction.loaded_langid``: a worker announces this module before it is
imported, so that building the registry is not counted as time spent on an answer.
"""

from __future__ import annotations

from fractions import Fraction

import pint  # noqa: F401 - not installed: fail here, as an import does

from prorl_verifiers.notation.units import convert

convert(Fraction(1), "km", "m")
