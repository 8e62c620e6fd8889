"""Validates and corrects the arguments of an instruction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from prorl_common import nearest
from prorl_verifiers.instruction.language import LANGUAGES, MORE_LANGUAGES
from prorl_verifiers.instruction.text import visible
from prorl_verifiers.types import TaskError

ALIASES: Mapping[str, tuple[str, ...]] = {
    "section_spliter": ("section_splitter",),
    "keyword": ("keywords",),
    "keywords": ("keyword",),
}
"""Accepted misspellings of an argument's name."""
IGNORED: Mapping[str, tuple[str, ...]] = {"keywords:exclude_word_harder": ("instruction",)}
RELATIONS = ("at least", "less than", "at most", "more than", "exactly")
OFFICIAL_RELATIONS = ("at least", "less than")
_SYNONYMS = {"fewer than": "less than", "no more than": "at most", "no less than": "at least"}
_LISTS = ("keywords", "forbidden_words")
_POSITIVE = ("nth_paragraph", "n", "m", "small_n", "n_sent", "n_words", "n_end")
_DRAWN = {
    "new:copy_span_idx": "n_start",
    "copy:copying_multiple": "N",
    "count:lowercase_counting": "N",
    "letters:letter_counting": "N",
}
"""Arguments for which the published checker draws a random number if they are 0, by instruction id."""
_COUNTS = re.compile(
    r"num_\w+|N|n|m|small_n|n_\w+|(?:\w+_)?frequency|nth_paragraph|percentage|(?:min|max)_words"
)
_AS_GIVEN = ("prompt_to_repeat", "reference_text", "options", "sep", "word")
"""Arguments whose leading and trailing white space is kept."""


def clean_kwargs(
    instruction: str, values: Mapping[str, Any] | None, needed: Iterable[str], mode: str
) -> dict[str, Any]:
    """Return the ``needed`` arguments of an instruction, with corrected names and types.

    Raises TaskError for missing, unknown or malformed arguments, and in mode "reference" for those that the published
    checker rejects.
    """
    remaining = {name: value for name, value in (values or {}).items() if value is not None}
    for name in IGNORED.get(instruction, ()):
        remaining.pop(name, None)
    cleaned: dict[str, Any] = {}
    for name in needed:
        key = next((key for key in (name, *ALIASES.get(name, ())) if key in remaining), None)
        if key is None:
            raise TaskError(f"{instruction}: 'kwargs' needs {name!r}")
        cleaned[name] = _value(instruction, name, remaining.pop(key), mode)
    if remaining:
        odd = min(map(str, remaining))
        hint = nearest(odd, list(cleaned)) if cleaned else ""
        raise TaskError(f"{instruction}: unknown argument {odd!r} in 'kwargs'{hint}")
    nth, paragraphs = cleaned.get("nth_paragraph", 0), cleaned.get("num_paragraphs", 0)
    if nth > paragraphs:
        raise TaskError(
            f"{instruction}: nth_paragraph {nth} must be at most num_paragraphs {paragraphs}"
        )
    start, end = cleaned.get("n_start"), cleaned.get("n_end")
    if start is not None and end is not None:
        prompt = cleaned["prompt_to_repeat"]
        if instruction == "repeat:repeat_span":
            end += 1  # the end is part of the span; mode ``fixed`` counts words
            prompt = prompt if mode == "reference" else prompt.split()
        if start >= end or not "".join(prompt[start:end]).strip():
            raise TaskError(f"{instruction}: prompt_to_repeat is empty from {start} to {end}")
    if "phrase" in cleaned and len(cleaned["phrase"].split()) < 3:
        raise TaskError(f"{instruction}: phrase must have at least three words")
    return cleaned


def _value(instruction: str, name: str, value: Any, mode: str) -> Any:
    if name.endswith("relation"):
        text = " ".join(str(value).lower().split())
        relation = _SYNONYMS.get(text, text)
        relations = OFFICIAL_RELATIONS if mode == "reference" else RELATIONS
        if relation not in relations:
            options = ", ".join(map(repr, relations))
            raise TaskError(f"{instruction}: {name} must be one of {options}, not {value!r}")
        return relation
    if _COUNTS.fullmatch(name):
        drawn = mode == "reference" and _DRAWN.get(instruction) == name
        least = int(name in _POSITIVE or drawn)
        whole = (
            isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        )
        if not whole or not least <= value < 10**9:
            raise TaskError(
                f"{instruction}: {name} must be a whole number >= {least}, not {value!r}"
            )
        return int(value)
    if name in _LISTS:
        if isinstance(value, str):
            value = [value]
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(word, str) for word in value)
        ):
            raise TaskError(f"{instruction}: {name} must be a list of words")
        if not all(word.strip() for word in value):
            raise TaskError(f"{instruction}: {name} contains a blank word")
        return [_as_read(word, mode) for word in value]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str) or not value.strip():
        raise TaskError(f"{instruction}: {name} must be a string, not {value!r}")
    if name == "letter" and len(unicodedata.normalize("NFC", value.strip())) != 1:
        raise TaskError(f"{instruction}: letter must be one letter, not {value!r}")
    if name == "language":
        code = value.strip()
        codes = LANGUAGES if mode == "reference" else LANGUAGES | MORE_LANGUAGES
        main = code.split("-")[0].lower()
        if main not in codes or (mode == "reference" and code not in codes):
            raise TaskError(
                f"{instruction} cannot detect the language {value!r}: use an ISO 639-1 code"
            )
        return code
    return value if name in _AS_GIVEN else _as_read(value.strip(), mode)


def _as_read(value: str, mode: str) -> str:
    return value if mode == "reference" else visible(value)


def check_patterns(instruction: str, names: Iterable[str], kwargs: Mapping[str, Any]) -> None:
    for name in names:
        for value in kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]]:
            try:
                re.compile(value)
            except re.error as error:
                raise TaskError(
                    f"{instruction}: the published checker reads {name} as a regular expression, "
                    f"but {value!r} is not valid ({error}): use mode 'fixed'"
                ) from error
