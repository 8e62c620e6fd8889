"""The ids of M-IFEval in Spanish, French and Japanese: the id behind ``es:``, ``fr:`` or ``ja:`` is the original's.

Its English ids, which begin with ``en:``, are IFEval's.
"""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.mifeval.french.catalog import FRENCH
from prorl_verifiers.instruction.mifeval.japanese.catalog import JAPANESE
from prorl_verifiers.instruction.mifeval.spanish.catalog import SPANISH
from prorl_verifiers.instruction.types import Instruction

MIFEVAL: Mapping[str, Instruction] = {**SPANISH, **FRENCH, **JAPANESE}
"""Id -> instruction."""
