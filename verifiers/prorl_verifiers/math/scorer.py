"""Scores responses to math tasks, including multiple choice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from prorl_verifiers.extract import (
    SCALE,
    after_last_box,
    answer_line,
    around_last_box,
    chosen_letter,
    inside_expression,
    last_boxed,
    later_answer,
    note_answer,
    without_struck,
)
from prorl_verifiers.findings import count_notes, listening, note, take_notes
from prorl_verifiers.libraries import Loading
from prorl_verifiers.math.comparing.leaves import Convert, Rules
from prorl_verifiers.math.grader import Judgement, grade, squeeze
from prorl_verifiers.math.reading.answers import boxed_answer, gold_text
from prorl_verifiers.math.targets import LABELLED, Choice, format_gold, kind, parse_gold
from prorl_verifiers.notation.latex_text import clean, denied_around, plain_words
from prorl_verifiers.types import MAX_ANSWER, Score, unparsable

_WRAPPED = re.compile(r"\\(?:text(?:bf|it|rm)?|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")
_FONTS = re.compile(r"\\text|\\mathrm")
_DASHED = re.compile(r"^([A-Z])\s+[-–—]\s+")
"""An option with a dash, such as ``B - text``, which means the same as ``B. text``."""


def grade_choice(gold: str, answer: str, choices: Sequence[str], rules: Rules) -> Judgement:
    before = count_notes()
    right = named_option(gold, choices, rules)
    picked = named_option(answer, choices, rules)
    if listening():
        take_notes(before)  # Drop the notes on how each option was read.
        note_options(picked, right, choices)
    if picked is None:
        return Judgement("reject", "not exactly one of the options")
    return Judgement("accept" if picked == right else "reject", f"option {chr(65 + picked)}")


def note_options(picked: int | None, right: int | None, choices: Sequence[str]) -> None:
    named = [None if at is None else f"{chr(65 + at)}: {choices[at]}" for at in (picked, right)]
    fields = {"the answer picks": named[0] or "not exactly one of the options"}
    note("options compared", picked == right, fields | {"the gold is": named[1]})


def named_option(answer: str, choices: Sequence[str], rules: Rules | None = None) -> int | None:
    """Return the index of the only option that ``answer`` names, by letter or content, or None."""
    wrapped = _WRAPPED.fullmatch(clean(answer))
    text = _DASHED.sub(r"\1. ", wrapped.group(1).strip() if wrapped else clean(answer))
    words = plain_words(text)
    if (
        len(words) == 1
        and words.upper() == "".join(filter(str.isalpha, _FONTS.sub("", text)))
        and ord(words.upper()) - 65 < len(choices)
    ):
        index = ord(words.upper()) - 65
        if index >= 0 and not any(squeeze(clean(choice)) == squeeze(text) for choice in choices):
            return index
    labelled = LABELLED.fullmatch(text)
    if labelled:
        index = ord(labelled.group(1)) - 65
        content = _by_content(clean(labelled.group(2)), choices, rules)
        return index if content == index < len(choices) else None
    return _by_content(text, choices, rules)


def _by_content(text: str, choices: Sequence[str], rules: Rules | None) -> int | None:
    exact = [i for i, choice in enumerate(choices) if squeeze(clean(choice)) == squeeze(text)]
    if len(exact) == 1:
        return exact[0]
    hits = [
        i for i, choice in enumerate(choices) if grade(choice, text, rules).decision == "accept"
    ]
    return hits[0] if len(hits) == 1 else None


def find_answer(text: str, boxed: str | None, letters: bool) -> str | Score:
    r"""Return the answer in a response, or a score of 0 if there is no valid answer.

    ``boxed`` is the text in the last ``\boxed{}``, or None. If ``letters`` is set, a last line "**B**" also counts.
    """
    answer = boxed
    if boxed is None and "\\boxed" not in text:
        answer = answer_line(text, letters)
    later = None if boxed is None else later_answer(after_last_box(text), letters)
    answer = later or answer
    if answer is None:
        return unparsable("no closed \\boxed{} and no last line 'Answer: X'")
    if not answer:
        return unparsable("the box is empty", answer)
    if len(answer) > MAX_ANSWER:
        return unparsable("the answer is too long", answer)
    note_answer(text, answer)
    beside = around_last_box(text) if boxed is not None and later is None else ("", "")
    if later == "" or denied_around(*beside):
        return Score(0.0, "the words beside the box deny it", answer)
    if inside_expression(text, *beside):
        return Score(0.0, "the box is a part of a larger formula", answer)
    scale = SCALE.match(beside[1])
    return rf"{answer}\text{{ {scale.group(1)}}}" if scale else answer


def score_math(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
    r"""Score the answer in the last ``\boxed{}`` or, without one, in a last line "Answer: X".

    ``reference`` is {"answer", "mode"?, "choices"?, "percent"?, "decimals"?}.
    """
    mode = reference.get("mode", "decided")
    gold = str(reference["answer"])
    if mode == "math-verify":
        from prorl_verifiers.math.library import plain_verify

        answered, equal = plain_verify(gold, text, loading)
        if not answered:
            return unparsable("math-verify finds no answer")
        reason = "equal (math-verify)" if equal else "not equal (math-verify)"
        note("math-verify on the whole text", equal, {"gold": gold, "rule": reason})
        return Score(float(equal), reason, last_boxed(text), metrics={"undecided": 0.0})
    text = without_struck(text)
    choices = reference.get("choices")
    letters = bool(choices) or isinstance(parse_gold(gold).target, Choice)
    found = find_answer(text, boxed_answer(text), letters)
    if isinstance(found, Score):
        return found
    answer = found
    before = count_notes()
    if letters:
        answer = chosen_letter(answer)
    rules = _rules(reference.get("percent"), reference.get("decimals"), loading)
    if choices:
        judgement = grade_choice(gold, answer, choices, rules)
    else:
        judgement = _grade_and_note(gold, answer, rules)
    undecided = judgement.decision == "undecided"
    metrics = {"undecided": float(undecided)}
    right, reason = judgement.decision == "accept", f"{judgement.reason} (our grader)"
    if undecided and mode == "ours":
        reason = f"undecided: {judgement.reason} (our grader)"
    elif undecided and mode == "decided":
        right, reason = _verify_and_note(gold, answer, loading)
    elif mode == "either" and not right:
        from prorl_verifiers.math.library import plain_verify

        _, right = plain_verify(gold, "\\boxed{" + answer + "}", loading)
        note("math-verify, plain", right, {"answer": answer})
        reason = "equal (math-verify)" if right else f"{reason}; not equal (math-verify)"
    if listening():
        read = parse_gold(gold)
        fields = {
            "answer": answer,
            "gold": gold,
            "gold is": "an option" if choices else kind(read),
            "gold read as": None if choices else format_gold(read),
            "mode": mode,
            "rule": reason,
        }
        note("compared with the gold", right, fields, parts=take_notes(before))
    return Score(float(right), reason, answer, metrics=metrics)


def _grade_and_note(gold: str, answer: str, rules: Rules) -> Judgement:
    before = count_notes()
    judgement = grade(gold, answer, rules)
    if listening():
        right = None if judgement.decision == "undecided" else judgement.decision == "accept"
        fields = {"decision": judgement.decision, "rule": judgement.reason}
        note("our grader", right, fields, parts=take_notes(before))
    return judgement


def _verify_and_note(gold: str, answer: str, loading: Loading) -> tuple[bool, str]:
    from prorl_verifiers.math.library import guarded_verify

    equal, reason = guarded_verify(clean(gold_text(gold)), clean(answer), loading)
    note("math-verify, guarded", equal, {"rule": reason})
    return equal, f"{reason} (math-verify, guarded)"


@lru_cache(maxsize=64)
def _rules(percent: bool | None, decimals: int | None, loading: Loading) -> Rules:
    return Rules(percent, _converter(loading), decimals)


def _converter(loading: Loading) -> Convert:
    def convert(value: Fraction, unit: str, target: str) -> Fraction | None:
        try:
            loading("prorl_verifiers.notation.loaded_pint")
        except ImportError:
            return None
        from prorl_verifiers.notation.units import convert as by_pint

        return by_pint(value, unit, target)

    return convert


def same_answer(gold: str, answer: str, loading: Loading) -> tuple[bool, str]:
    """Return whether ``answer`` equals ``gold``, and the rule that decided. math-verify settles undecided cases."""
    judgement = _grade_and_note(gold, answer, _rules(None, None, loading))
    if judgement.decision != "undecided":
        return judgement.decision == "accept", f"{judgement.reason} (our grader)"
    return _verify_and_note(gold, answer, loading)


def number_by_algebra(text: str, loading: Loading, closed: bool = False) -> Fraction | None:
    r"""Return the value of a closed form such as ``2\sqrt{3}`` to 15 digits, or None.

    If ``closed`` is set, sums and logarithms with an irrational part are also accepted.
    """
    from prorl_verifiers.math.library import literal_value

    loading("mpmath")
    return literal_value(text, closed)
