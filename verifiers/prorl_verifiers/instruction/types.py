"""What one instruction id is: its arguments, its two checks, and how they differ.

A check is (text, kwargs) -> bool; kwargs have been cleaned (``instruction.kwargs``) and hold every needed name.
``fixed`` is this project's definition, ``reference`` behaves as the published checker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Kwargs = Mapping[str, Any]
Check = Callable[[str, Kwargs], bool]

NLTK = ("nltk.tokenize.punkt", "nltk.tokenize.destructive", "punkt.data.english")
"""Modules behind the published word and sentence splitter."""
EMOJI = ("emoji",)
SYLLABLES = ("syllapy",)
LANGDETECT = ("langdetect", "prorl_verifiers.instruction.loaded_langdetect")
LANGID = ("py3langid", "prorl_verifiers.instruction.loaded_langid")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One id. ``meaning`` says what ``fixed`` accepts, ``deviation`` how and why it differs."""

    kwargs: tuple[str, ...]
    fixed: Check
    reference: Check
    meaning: str
    deviation: str
    fixed_needs: tuple[str, ...] = ()
    reference_needs: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    """Arguments that the published checker reads as regular expressions."""
    downloads: tuple[str, ...] = ()
    """Weights that the published checker loads and no package brings (``official_text.DOWNLOADS``)."""
