"""Merges IFEval constraints into one plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prorl_verifiers.instruction.kwargs import clean_kwargs
from prorl_verifiers.instruction.registry import ifeval

OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
Arguments = Mapping[str, Any]


@dataclass(slots=True)
class Span:
    """An inclusive range from ``low`` to ``high``; None means no upper bound."""

    low: int = 0
    high: int | None = None

    def narrow(self, relation: str, number: int) -> None:
        if relation in ("at least", "exactly"):
            self.low = max(self.low, number)
        if relation == "more than":
            self.low = max(self.low, number + 1)
        above = {"less than": number - 1, "at most": number, "exactly": number}.get(relation)
        if above is not None:
            self.high = above if self.high is None else min(self.high, above)

    def empty(self) -> bool:
        return self.high is not None and self.high < self.low


@dataclass(slots=True)
class Plan:
    """The combined requirements of all constraints on one response.

    Lists keep the order of the constraints. Words and letters that are dictionary keys are lowercase.
    """

    flags: dict[str, bool] = field(default_factory=dict)
    keywords: dict[str, Span] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)
    letters: dict[str, Span] = field(default_factory=dict)
    forbidden: list[str] = field(default_factory=list)
    words: Span = field(default_factory=Span)
    sentences: Span = field(default_factory=Span)
    capitals: Span = field(default_factory=Span)
    parts: list[int] = field(default_factory=list)
    paragraphs: list[tuple[int, int, str]] = field(default_factory=list)
    bullets: list[int] = field(default_factory=list)
    sections: list[tuple[str, int]] = field(default_factory=list)
    highlights: int = 0
    placeholders: int = 0
    postscripts: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    endings: list[str] = field(default_factory=list)
    repeats: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    """Constraint ids other than IFEval's 25; they are ignored."""

    def has(self, name: str) -> bool:
        """Return whether the plan has this constraint; correct only for constraints without arguments."""
        return self.flags.get(name, False)

    def wanted(self) -> list[tuple[str, str]]:
        """Return (id, text) of each text that the response must contain word for word."""
        phrases = [
            ("keywords", self.spelling[k]) for k, span in self.keywords.items() if span.low > 0
        ]
        phrases += [("startend:end_checker", text) for text in self.endings]
        phrases += [("combination:repeat_prompt", text) for text in self.repeats]
        name = "length_constraints:nth_paragraph_first_word"
        phrases += [(name, word) for _, _, word in self.paragraphs]
        name = "detectable_format:multiple_sections"
        return phrases + [(name, splitter) for splitter, number in self.sections if number > 0]


def _keyword(plan: Plan, word: str, relation: str, number: int) -> None:
    key = " ".join(word.split()).casefold()
    plan.spelling.setdefault(key, " ".join(word.split()))
    plan.keywords.setdefault(key, Span()).narrow(relation, number)


def _add_words(plan: Plan, name: str, values: Arguments) -> bool:
    if name == "keywords:existence":
        for word in values["keywords"]:
            _keyword(plan, word, "at least", 1)
    elif name == "keywords:frequency":
        _keyword(plan, values["keyword"], values["relation"], values["frequency"])
    elif name == "keywords:forbidden_words":
        plan.forbidden += values["forbidden_words"]
    elif name == "keywords:letter_frequency":
        span = plan.letters.setdefault(values["letter"].lower(), Span())
        span.narrow(values["let_relation"], values["let_frequency"])
    elif name == "language:response_language":
        plan.languages.append(values["language"].split("-")[0].lower())
    elif name == "change_case:capital_word_frequency":
        plan.capitals.narrow(values["capital_relation"], values["capital_frequency"])
    else:
        return False
    return True


def _add_lengths(plan: Plan, name: str, values: Arguments) -> bool:
    if name == "length_constraints:number_words":
        plan.words.narrow(values["relation"], values["num_words"])
    elif name == "length_constraints:number_sentences":
        plan.sentences.narrow(values["relation"], values["num_sentences"])
    elif name == "length_constraints:number_paragraphs":
        plan.parts.append(values["num_paragraphs"])
    elif name == "length_constraints:nth_paragraph_first_word":
        expected = (values["num_paragraphs"], values["nth_paragraph"], values["first_word"])
        plan.paragraphs.append(expected)
    elif name == "detectable_format:number_bullet_lists":
        plan.bullets.append(values["num_bullets"])
    elif name == "detectable_format:number_highlighted_sections":
        plan.highlights = max(plan.highlights, values["num_highlights"])
    elif name == "detectable_content:number_placeholders":
        plan.placeholders = max(plan.placeholders, values["num_placeholders"])
    else:
        return False
    return True


def _add_places(plan: Plan, name: str, values: Arguments) -> bool:
    if name == "detectable_format:multiple_sections":
        plan.sections.append((" ".join(values["section_spliter"].split()), values["num_sections"]))
    elif name == "detectable_content:postscript":
        if values["postscript_marker"] not in plan.postscripts:
            plan.postscripts.append(values["postscript_marker"])
    elif name == "startend:end_checker":
        plan.endings.append(values["end_phrase"])
    elif name == "combination:repeat_prompt":
        plan.repeats.append(values["prompt_to_repeat"])
    else:
        return False
    return True


def cleaned(ids: Sequence[str], kwargs: Sequence[Arguments | None]) -> list[dict[str, Any]]:
    """Return the arguments as normalised by the verifier, or {} for an id that is not among IFEval's 25.

    Raises TaskError for arguments that do not fit their id.
    """
    return [
        clean_kwargs(name, values, ifeval()[name].kwargs, "fixed") if name in ifeval() else {}
        for name, values in zip(ids, kwargs, strict=True)
    ]


def read_plan(ids: Sequence[str], kwargs: Sequence[Arguments | None]) -> Plan:
    """Merge the constraints into a plan. Raises TaskError for arguments that do not fit their id."""
    plan = Plan()
    for name, values in zip(ids, cleaned(ids, kwargs), strict=True):
        if name not in ifeval():
            plan.other.append(name)
        elif not any(add(plan, name, values) for add in (_add_words, _add_lengths, _add_places)):
            plan.flags[name] = True
    return plan
