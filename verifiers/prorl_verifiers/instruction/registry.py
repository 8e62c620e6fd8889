"""The table of all instruction ids. An unknown id is an error when a task is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.ifbench.catalog import IFBENCH
from prorl_verifiers.instruction.ifeval.catalog import IFEVAL
from prorl_verifiers.instruction.ifevalg.catalog import IFEVALG
from prorl_verifiers.instruction.types import Check, Instruction

REGISTRY: Mapping[str, Instruction] = {**IFEVAL, **IFEVALG, **IFBENCH}
"""Maps instruction ids to instructions."""

RANDOM_UPSTREAM: Mapping[str, str] = {
    "language:response_language": "langdetect is not seeded; here seed 0",
    "change_case:english_capital": "langdetect is not seeded; here seed 0",
    "change_case:english_lowercase": "langdetect is not seeded; here seed 0",
    "keywords:letter_frequency": "older versions draw a letter if the requested one is not a-z; here the requested one is counted",
    "letters:letter_counting2": "older versions draw a letter if the requested one is not a-z; here the requested one is counted",
    "new:copy_span_idx": "n_start 0 is drawn anew; here a TaskError in mode reference",
    "copy:copying_multiple": "N 0 is drawn anew; here a TaskError in mode reference",
    "count:lowercase_counting": "N 0 is drawn anew; here a TaskError in mode reference",
    "letters:letter_counting": "N 0 is drawn anew; here a TaskError in mode reference",
}
"""Maps ids whose published checker is random for some inputs to our behaviour."""


def check_of(instruction: str, mode: str) -> Check:
    entry = REGISTRY[instruction]
    return entry.reference if mode == "reference" else entry.fixed


def modules_of(instruction: str, mode: str) -> tuple[str, ...]:
    entry = REGISTRY[instruction]
    return entry.reference_needs if mode == "reference" else entry.fixed_needs
