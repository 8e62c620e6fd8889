"""All instruction ids. The file ``catalogue.json`` of each set lists its ids and their checks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from prorl_verifiers.instruction.types import Check, Instruction

SETS = ("ifeval", "ifevalg", "ifbench")
LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "nltk": ("nltk.tokenize.punkt", "nltk.tokenize.destructive", "punkt.data.english"),
    "emoji": ("emoji",),
    "syllables": ("syllapy",),
    "langdetect": ("langdetect", "prorl_verifiers.instruction.loaded_langdetect"),
    "langid": ("py3langid", "prorl_verifiers.instruction.loaded_langid"),
}
"""Modules to import for a check, by the library's name in a catalogue."""


@cache
def catalogue(name: str) -> Mapping[str, Instruction]:
    """Return the instructions of the set ``name``, such as "ifeval", by id.

    Corrected checks are in the set's ``fixed.py``, and published ones in ``official.py``.
    """
    fixed, official = (
        import_module(f"{__package__}.{name}.{mode}") for mode in ("fixed", "official")
    )
    rows = json.loads((Path(__file__).parent / name / "catalogue.json").read_text("utf-8"))
    instructions = {}
    for instruction, row in rows.items():
        published = getattr(official, row["check"])
        instructions[instruction] = Instruction(
            kwargs=tuple(row["kwargs"]),
            fixed=getattr(fixed, row["check"], published),
            reference=published,
            meaning=row["meaning"],
            deviation=row.get("deviation", "none"),
            fixed_needs=_modules(row.get("fixed_needs", ())),
            reference_needs=_modules(row.get("reference_needs", ())),
            patterns=tuple(row.get("patterns", ())),
            downloads=tuple(row.get("downloads", ())),
        )
    return instructions


def _modules(libraries: Iterable[str]) -> tuple[str, ...]:
    return tuple(module for library in libraries for module in LIBRARIES[library])


def ifeval() -> Mapping[str, Instruction]:
    return catalogue("ifeval")


@cache
def registry() -> Mapping[str, Instruction]:
    return {id_: entry for name in SETS for id_, entry in catalogue(name).items()}


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
"""Ids whose published checker is sometimes random, mapped to what it draws and what our check does instead."""


def check_of(instruction: str, mode: str) -> Check:
    entry = registry()[instruction]
    return entry.reference if mode == "reference" else entry.fixed


def modules_of(instruction: str, mode: str) -> tuple[str, ...]:
    entry = registry()[instruction]
    return entry.reference_needs if mode == "reference" else entry.fixed_needs
