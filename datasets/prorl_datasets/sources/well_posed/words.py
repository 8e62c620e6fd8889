"""Rules for words and strings: nothing to do, two readings, sentences cut short."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule, unchanged

_EITHER = frozenset(("Kai", "Phoenix", "Rain", "River", "Sage", "Sky", "Winter"))
"""First names of family_relationships that women and men bear: son or daughter cannot be told."""
_CUT = re.compile(r"(?:^|\s)(?:Mr|Mrs|Ms|Dr|St|Prof|Rev|Gen|Col|Capt|No|Vol|[A-Z])\.[\"'\u201d]*$")
_ASKED = re.compile(r"Who (.*)\? Reply only with a name")


def _letters(entry: Mapping[str, Any]) -> Flaw | None:
    """letter_counting: capitals count or not."""
    text, letter = " ".join(entry["metadata"]["span"]), entry["metadata"]["target_letter"]
    if text.count(letter) != text.lower().count(letter.lower()):
        return Flaw("ambiguous", f"{letter!r} stands in {text!r} as a capital too")
    return None


def _relative(entry: Mapping[str, Any]) -> Flaw | None:
    """family_relationships: "what is A to B" stored for B where they are in-laws, with B's sex for nieces and nephews."""
    from reasoning_gym.graphs.family_relationships import FamilyRelationshipsConfig

    name, answer = entry["metadata"]["person1"], str(entry["answer"])
    if name in _EITHER:
        return Flaw("ambiguous", f"{name} may be a woman or a man")
    if answer in ("mother-in-law", "father-in-law"):
        return Flaw("wrong answer", f"what the other is to {name}")
    if answer in ("niece", "nephew"):
        female = name in FamilyRelationshipsConfig().female_names
        if female != (answer == "niece"):
            return Flaw("wrong answer", f"the other's sex for {name}'s")
    return None


def _needle(entry: Mapping[str, Any]) -> Flaw | None:
    question = str(entry["question"])
    asked = _ASKED.search(question)
    if asked and question.count(f" {asked.group(1)}.") != 1:
        return Flaw("ambiguous", f"not one person {asked.group(1)}")
    return None


def _sentence(entry: Mapping[str, Any]) -> Flaw | None:
    """sentence_reordering: texts are cut behind an abbreviation; some orders are right already."""
    answer = str(entry["answer"]).strip()
    if str(entry["question"]).strip().endswith(f": {answer}"):
        return Flaw("trivial", "the words stand in order")
    if _CUT.search(answer):
        return Flaw("ambiguous", f"a sentence that is cut short: {answer[-40:]!r}")
    return None


def _palindrome(entry: Mapping[str, Any]) -> Flaw | None:
    letters = entry["metadata"]["letters"]
    if letters == letters[::-1]:
        return Flaw("trivial", "the letters are given as a palindrome")
    return None


def _backward(entry: Mapping[str, Any]) -> Flaw | None:
    given = entry["metadata"]
    value = given["word"] if "word" in given else given["words"]
    if value == value[::-1]:
        return Flaw("trivial", "the same forwards and backwards")
    return None


def _program(entry: Mapping[str, Any]) -> Flaw | None:
    """ab: a program that no rule changes."""
    if str(entry["answer"]) in str(entry["question"]).splitlines():
        return Flaw("trivial", "no rule applies")
    return None


def _figlet(entry: Mapping[str, Any]) -> Flaw | None:
    """figlet_font: fonts that draw two letters alike, or print the word as it is."""
    word, font = str(entry["answer"]), str(entry["metadata"]["font"])
    if word.lower() in str(entry["question"]).lower():
        return Flaw("trivial", f"the font {font} prints the word")
    alike = _alike(font)
    if doubtful := sorted(set(word.upper()) & alike):
        return Flaw("ambiguous", f"the font {font} draws {doubtful[0]} like another letter")
    return None


@cache
def _alike(font: str) -> frozenset[str]:
    """Return the capitals that a font draws like another one, or not at all."""
    from pyfiglet import Figlet

    figure = Figlet(font=font, width=1000)
    drawn: dict[str, list[str]] = {}
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        text = textwrap.dedent(figure.renderText(letter))
        lines = "\n".join(line.rstrip() for line in text.splitlines())
        drawn.setdefault(lines.strip("\n"), []).append(letter)
    return frozenset(
        letter
        for text, letters in drawn.items()
        for letter in letters
        if len(letters) > 1 or not text
    )


RULES: Mapping[str, Rule] = {
    "ab": _program,
    "family_relationships": _relative,
    "figlet_font": _figlet,
    "letter_counting": _letters,
    "letter_jumble": unchanged("scrambled_words", "original_words"),
    "needle_haystack": _needle,
    "palindrome_generation": _palindrome,
    "sentence_reordering": _sentence,
    "spell_backward": _backward,
    "string_insertion": unchanged("string", "solution"),
    "string_manipulation": unchanged("string", "solution"),
    "word_ladder": unchanged("start_word", "end_word"),
    "word_sequence_reversal": _backward,
    "word_sorting": unchanged("original_words", "sorted_words"),
}
