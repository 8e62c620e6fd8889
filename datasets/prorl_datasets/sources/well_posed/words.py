"""Rejects ill-posed items on words, strings and patterns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule, unchanged

_EITHER = frozenset(("Kai", "Phoenix", "Rain", "River", "Sage", "Sky", "Winter"))
"""First names in family_relationships for both sexes, so they do not tell son from daughter."""
_CUT = re.compile(r"(?:^|\s)(?:Mr|Mrs|Ms|Dr|St|Prof|Rev|Gen|Col|Capt|No|Vol|[A-Z])\.[\"'\u201d]*$")
_ASKED = re.compile(r"Who (.*)\? Reply only with a name")


def _letter_counting(entry: Mapping[str, Any]) -> Flaw | None:
    text, letter = " ".join(entry["metadata"]["span"]), entry["metadata"]["target_letter"]
    if text.count(letter) != text.lower().count(letter.lower()):
        return Flaw("ambiguous", f"{letter!r} also occurs in {text!r} as a capital")
    return None


def _family_relationships(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject answers for the wrong person (in-laws) or with the wrong sex (nieces and nephews)."""
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


def _needle_haystack(entry: Mapping[str, Any]) -> Flaw | None:
    question = str(entry["question"])
    match = _ASKED.search(question)
    if match and question.count(f" {match.group(1)}.") != 1:
        return Flaw("ambiguous", f"not one person {match.group(1)}")
    return None


def _sentence_reordering(entry: Mapping[str, Any]) -> Flaw | None:
    answer = str(entry["answer"]).strip()
    if str(entry["question"]).strip().endswith(f": {answer}"):
        return Flaw("trivial", "the words stand in order")
    if _CUT.search(answer):
        return Flaw("ambiguous", f"a sentence that is cut short: {answer[-40:]!r}")
    return None


def _palindrome_generation(entry: Mapping[str, Any]) -> Flaw | None:
    letters = entry["metadata"]["letters"]
    if letters == letters[::-1]:
        return Flaw("trivial", "the letters are given as a palindrome")
    return None


def _backward(entry: Mapping[str, Any]) -> Flaw | None:
    metadata = entry["metadata"]
    value = metadata["word"] if "word" in metadata else metadata["words"]
    if value == value[::-1]:
        return Flaw("trivial", "the same forwards and backwards")
    return None


def _ab(entry: Mapping[str, Any]) -> Flaw | None:
    if str(entry["answer"]) in str(entry["question"]).splitlines():
        return Flaw("trivial", "no rule applies")
    return None


def _figlet_font(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject fonts that draw two letters alike or print the word itself."""
    word, font = str(entry["answer"]), str(entry["metadata"]["font"])
    if word.lower() in str(entry["question"]).lower():
        return Flaw("trivial", f"the font {font} prints the word")
    alike = _alike(font)
    if doubtful := sorted(set(word.upper()) & alike):
        return Flaw("ambiguous", f"the font {font} draws {doubtful[0]} like another letter")
    return None


@cache
def _alike(font: str) -> frozenset[str]:
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


_PAIR = re.compile(r"Input:\n(.*?)\nOutput:\n(.*?)\n(?:\n|$)", re.DOTALL)
_SHOWN = re.compile(r"Input \d+: (.*)\nOutput \d+: (.*)")
_HOLE, _MARK = "\u2754", "\u2705"
_COPY = Flaw("trivial", "the output is the input")
_EXAMPLE = Flaw("trivial", "the input is one of the examples")


def _grids(entry: Mapping[str, Any]) -> Flaw | None:
    if entry["metadata"]["input"] == entry["metadata"]["output"]:
        return _COPY
    examples, _, test = str(entry["question"]).rpartition("Input:\n")
    if test.strip() in (example.strip() for example, _ in _PAIR.findall(examples)):
        return _EXAMPLE
    return None


def _arc_1d(entry: Mapping[str, Any]) -> Flaw | None:
    metadata = entry["metadata"]
    if metadata["test_example"]["input"] == metadata["test_example"]["output"]:
        return _COPY
    if any(one["input"] == metadata["test_example"]["input"] for one in metadata["train_examples"]):
        return _EXAMPLE
    return None


def _list_functions(entry: Mapping[str, Any]) -> Flaw | None:
    examples, _, test = str(entry["question"]).rpartition("\nInput: ")
    pairs = _SHOWN.findall(examples)
    if len({output for _, output in pairs}) == 1:
        return Flaw("ambiguous", "all examples have one output")
    test_input = test.partition("\n")[0].strip()
    if test_input == str(entry["answer"]).strip():
        return _COPY
    if test_input in (one for one, _ in pairs):
        return _EXAMPLE
    return None


def _number_sequence(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject sequences for which a simpler rule gives another next term."""
    *terms, answer = entry["metadata"]["sequence"]
    if len(set(terms[1:])) == 1:
        return Flaw("trivial", "the terms do not change")
    different = {term for term in _simple_continuations(terms) if term != answer}
    if different:
        listed = ", ".join(map(str, terms))
        return Flaw("ambiguous", f"{listed} can continue with {min(different)} or {answer}")
    return None


def _simple_continuations(terms: Sequence[int]) -> Iterator[Fraction | int]:
    """Yield the next term by each simple rule that fits."""
    steps = [b - a for a, b in pairwise(terms)]
    bends = [b - a for a, b in pairwise(steps)]
    if len(set(steps)) == 1:
        yield terms[-1] + steps[0]
    if len(bends) > 1 and len(set(bends)) == 1:
        yield terms[-1] + steps[-1] + bends[0]
    if steps[0]:
        factor = Fraction(steps[1], steps[0])
        offset = terms[1] - factor * terms[0]
        if all(factor * x + offset == y for x, y in pairwise(terms)):
            yield factor * terms[-1] + offset
    determinant = terms[1] * terms[1] - terms[0] * terms[2]
    if determinant and len(terms) > 4:  # four terms fit any two factors
        near = Fraction(terms[2] * terms[1] - terms[0] * terms[3], determinant)
        far = Fraction(terms[1] * terms[3] - terms[2] * terms[2], determinant)
        triples = zip(terms, terms[1:], terms[2:], strict=False)
        if all(near * y + far * x == z for x, y, z in triples):
            yield near * terms[-1] + far * terms[-2]


def _modulo_grid(entry: Mapping[str, Any]) -> Flaw | None:
    """Reject grids for which another rule of the task fits the shown cells and fills a hole differently."""
    drawing = str(entry["question"]).partition("\n\n")[2].split("\n")
    rows = [[None if sign == _HOLE else sign == _MARK for sign in line] for line in drawing if line]
    if not any(True in row for row in rows):
        return Flaw("ambiguous", "no cell is marked")
    most = entry["metadata"]["difficulty"]
    tables = _modulo_tables(len(rows[0]), len(rows), most["divisor"])
    holes = [(y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell is None]
    cells = [
        (y, x, cell) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell is not None
    ]
    fills = {
        tuple(values[y][x] == target for y, x in holes)
        for values, targets in tables
        for target in targets
        if all((values[y][x] == target) == cell for y, x, cell in cells)
    }
    if len(fills) > 1:
        return Flaw("ambiguous", "two rules fit the cells that are shown")
    return None


@cache
def _modulo_tables(width: int, height: int, divisors: int) -> list[tuple[list[list[int]], range]]:
    operations = (
        lambda x, y, n: (x + y) % n,
        lambda x, y, n: abs(x - y) % n,
        lambda x, y, n: x * y % n,
        lambda x, y, n: pow(x, y, n),
    )
    return [
        ([[operation(x, y, n) for x in range(width)] for y in range(height)], range(n))
        for operation in operations
        for n in range(1, divisors + 1)
    ]


RULES: Mapping[str, Rule] = {
    "ab": _ab,
    "family_relationships": _family_relationships,
    "figlet_font": _figlet_font,
    "letter_counting": _letter_counting,
    "letter_jumble": unchanged("scrambled_words", "original_words"),
    "needle_haystack": _needle_haystack,
    "palindrome_generation": _palindrome_generation,
    "sentence_reordering": _sentence_reordering,
    "spell_backward": _backward,
    "string_insertion": unchanged("string", "solution"),
    "string_manipulation": unchanged("string", "solution"),
    "word_ladder": unchanged("start_word", "end_word"),
    "word_sequence_reversal": _backward,
    "word_sorting": unchanged("original_words", "sorted_words"),
    "arc_1d": _arc_1d,
    "arc_agi": _grids,
    "list_functions": _list_functions,
    "modulo_grid": _modulo_grid,
    "number_sequence": _number_sequence,
    "rearc": _grids,
}
