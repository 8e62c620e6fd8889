"""Defines 17 of IFEval's 25 constraints, each with a sentence, id, arguments and an edit of the gold response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

Edit = Callable[[str], str]

_KEYWORDS = (
    "garden river winter music market bridge silver travel letter forest window morning "
    "summer planet island family paper story friend simple bright quiet"
)
KEYWORDS = tuple(_KEYWORDS.split())
FORBIDDEN = (
    *("bad", "never", "always", "very", "really"),
    *("problem", "thing", "stuff", "angry", "boring"),
)
ENDINGS = (
    "that is all",
    "hope this helps",
    "the end",
    "thank you for reading",
    "any other questions?",
    "have a nice day",
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint. Edits of the gold response are applied in ascending ``order``."""

    id: str
    kwargs: dict[str, Any]
    sentence: str
    edit: Edit
    order: int


@dataclass(frozen=True, slots=True)
class ConstraintKind:
    """A kind of constraint; kinds that share a group cannot be combined."""

    name: str
    draw: Callable[[Random], Constraint]
    groups: frozenset[str]


def _no_comma(rng: Random) -> Constraint:
    ask = rng.choice(("Do not use commas.", "Use no commas.", "Write without any commas."))
    return Constraint("punctuation:no_comma", {}, ask, lambda t: t.replace(",", ""), 0)


def _lowercase(rng: Random) -> Constraint:
    ask = rng.choice(("Use only lowercase letters.", "Write all in lowercase."))
    return Constraint("change_case:english_lowercase", {}, ask, str.lower, 10)


def _uppercase(rng: Random) -> Constraint:
    ask = rng.choice(("Use only capital letters.", "Write all in capital letters."))
    return Constraint("change_case:english_capital", {}, ask, str.upper, 10)


def _ending(rng: Random) -> Constraint:
    phrase = rng.choice(ENDINGS)
    ask = f'End with the exact words "{phrase}".'
    kwargs = {"end_phrase": phrase}
    return Constraint("startend:end_checker", kwargs, ask, lambda t: f"{t} {phrase}", 7)


def _quotation(rng: Random) -> Constraint:
    ask = rng.choice(
        (
            "Wrap the whole answer in double quotes.",
            "Put the whole answer in double quotation marks.",
        )
    )
    return Constraint("startend:quotation", {}, ask, lambda t: f'"{t}"', 9)


def _highlight(rng: Random) -> Constraint:
    n = rng.randint(1, 3)
    ask = f"Highlight at least {n} part{'s' * (n > 1)} with *asterisks*."

    def edit(text: str) -> str:
        words = text.rstrip(".").split(" ")
        return " ".join([*words[:-n], *(f"*{word}*" for word in words[-n:])]) + "."

    kwargs = {"num_highlights": n}
    return Constraint("detectable_format:number_highlighted_sections", kwargs, ask, edit, 3)


def _keywords(rng: Random) -> Constraint:
    words = rng.sample(KEYWORDS, rng.randint(1, 2))
    ask = f"Include the word{'s' * (len(words) > 1)} {' and '.join(words)}."
    kwargs = {"keywords": words}
    return Constraint(
        "keywords:existence", kwargs, ask, lambda t: f"{t} think of {' and '.join(words)}.", 2
    )


def _frequency(rng: Random) -> Constraint:
    word, n = rng.choice(KEYWORDS), rng.randint(2, 3)
    ask = f"Use the word {word} at least {n} times."
    kwargs = {"keyword": word, "frequency": n, "relation": "at least"}
    return Constraint(
        "keywords:frequency", kwargs, ask, lambda t: f"{t} say {' and '.join([word] * n)}.", 2
    )


def _forbidden(rng: Random) -> Constraint:
    words = rng.sample(FORBIDDEN, rng.randint(1, 2))
    ask = f"Do not use the word{'s' * (len(words) > 1)} {' or '.join(words)}."
    kwargs = {"forbidden_words": words}
    return Constraint("keywords:forbidden_words", kwargs, ask, lambda t: t, 0)


def _json(rng: Random) -> Constraint:
    ask = rng.choice(("Answer in JSON format.", "Give the whole answer as JSON."))
    return Constraint("detectable_format:json_format", {}, ask, lambda t: f'{{"answer": "{t}"}}', 9)


def _title(rng: Random) -> Constraint:
    ask = rng.choice(
        ("Add a title in <<double angle brackets>>.", "Start with a title, as in <<my title>>.")
    )
    return Constraint("detectable_format:title", {}, ask, lambda t: f"<<a short note>>\n{t}", 5)


def _bullets(rng: Random) -> Constraint:
    n = rng.randint(2, 4)
    ask = f"Use exactly {n} bullet points, each starting with *."
    kwargs = {"num_bullets": n}
    points = ("look at it", "think about it", "ask a friend", "come back soon")
    lines = "\n".join(f"* {point}" for point in points[:n])
    return Constraint(
        "detectable_format:number_bullet_lists", kwargs, ask, lambda t: f"{t}\n{lines}\n", 4
    )


def _placeholders(rng: Random) -> Constraint:
    n = rng.randint(1, 3)
    ask = f"Include at least {n} placeholder{'s' * (n > 1)} in square brackets, such as [name]."
    slots = " ".join(("ask [name]", "on [date]", "at [place]")[:n])
    kwargs = {"num_placeholders": n}
    return Constraint(
        "detectable_content:number_placeholders", kwargs, ask, lambda t: f"{t} {slots}.", 3
    )


def _postscript(rng: Random) -> Constraint:
    ask = rng.choice(
        ("Add a postscript starting with P.S.", "At the end add a note starting with P.S.")
    )
    kwargs = {"postscript_marker": "P.S."}
    return Constraint(
        "detectable_content:postscript", kwargs, ask, lambda t: f"{t}\nP.S. write back soon.", 6
    )


def _words_at_most(rng: Random) -> Constraint:
    n = rng.choice((20, 30, 40, 50, 60))
    kwargs = {"num_words": n, "relation": "less than"}
    ask = f"Use less than {n} words."
    return Constraint("length_constraints:number_words", kwargs, ask, lambda t: t, 0)


def _capital_words(rng: Random) -> Constraint:
    n = rng.randint(1, 3)
    ask = f"Write at least {n} word{'s' * (n > 1)} in ALL CAPITALS."
    kwargs = {"capital_frequency": n, "capital_relation": "at least"}
    loud = " ".join(("LOOK", "HERE", "NOW")[:n])
    return Constraint(
        "change_case:capital_word_frequency", kwargs, ask, lambda t: f"{t} {loud}.", 3
    )


def _paragraphs(rng: Random) -> Constraint:
    n = rng.randint(2, 3)
    ask = f"Write exactly {n} paragraphs separated by ***."
    parts = ("there is more to say.", "and that is how it ends.")
    more = "".join(f"\n***\n{part}" for part in parts[: n - 1])
    kwargs = {"num_paragraphs": n}
    return Constraint(
        "length_constraints:number_paragraphs", kwargs, ask, lambda t: f"{t}{more}", 4
    )


def constraint_kinds() -> tuple[ConstraintKind, ...]:
    return (
        ConstraintKind("no_comma", _no_comma, frozenset({"comma"})),
        ConstraintKind("lowercase", _lowercase, frozenset({"case"})),
        ConstraintKind("uppercase", _uppercase, frozenset({"case", "words", "literal"})),
        ConstraintKind("ending", _ending, frozenset({"end", "literal", "whole"})),
        ConstraintKind("quotation", _quotation, frozenset({"whole", "end"})),
        ConstraintKind("highlight", _highlight, frozenset({"stars"})),
        ConstraintKind("keywords", _keywords, frozenset({"words"})),
        ConstraintKind("frequency", _frequency, frozenset({"words"})),
        ConstraintKind("forbidden", _forbidden, frozenset({"forbid"})),
        ConstraintKind("json", _json, frozenset({"whole", "end", "comma", "stars", "lines"})),
        ConstraintKind("title", _title, frozenset({"lines"})),
        ConstraintKind("bullets", _bullets, frozenset({"stars", "lines"})),
        ConstraintKind("placeholders", _placeholders, frozenset({"slots"})),
        ConstraintKind("postscript", _postscript, frozenset({"end", "lines", "case"})),
        ConstraintKind("words_at_most", _words_at_most, frozenset({"length", "lines"})),
        ConstraintKind("capital_words", _capital_words, frozenset({"case"})),
        ConstraintKind("paragraphs", _paragraphs, frozenset({"stars", "lines"})),
    )
