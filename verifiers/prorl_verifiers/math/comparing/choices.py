r"""Multiple choice in mathematics: the answer names one option by letter, by text or by an equal value."""

from __future__ import annotations

from collections.abc import Sequence

from prorl_verifiers.findings import listening, note, noted, taken
from prorl_verifiers.math.comparing.leaves import Rules
from prorl_verifiers.math.grader import Judgement, judge, squeeze
from prorl_verifiers.math.targets import LABELLED
from prorl_verifiers.notation.latex_text import clean, plain_words


def judge_choice(gold: str, answer: str, choices: Sequence[str], rules: Rules) -> Judgement:
    """Compare the option that ``answer`` names with the one that ``gold`` names."""
    before = noted()
    right = named_option(gold, choices, rules)
    picked = named_option(answer, choices, rules)
    if listening():
        taken(before)  # how each option was read
        note_options(picked, right, choices)
    if picked is None:
        return Judgement("reject", "not exactly one of the options")
    return Judgement("accept" if picked == right else "reject", f"option {chr(65 + picked)}")


def note_options(picked: int | None, right: int | None, choices: Sequence[str]) -> None:
    """Note which option an answer picks and which is right, by their indexes."""
    named = [None if at is None else f"{chr(65 + at)}: {choices[at]}" for at in (picked, right)]
    fields = {"the answer picks": named[0] or "not exactly one of the options"}
    note("options compared", picked == right, fields | {"the gold is": named[1]})


def named_option(answer: str, choices: Sequence[str], rules: Rules | None = None) -> int | None:
    """Return the index of the one option named by letter (``B``, ``(B)``), by both, or by its content."""
    text = clean(answer)
    words = plain_words(text)
    if (
        len(words) == 1
        and words.upper() == plain_words_kept(text)
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


def plain_words_kept(text: str) -> str:
    """Return the letters of a short answer in their case: ``(B).`` gives ``B``."""
    return "".join(
        letter for letter in text.replace(r"\text", "").replace(r"\mathrm", "") if letter.isalpha()
    )


def _by_content(text: str, choices: Sequence[str], rules: Rules | None) -> int | None:
    exact = [i for i, choice in enumerate(choices) if squeeze(clean(choice)) == squeeze(text)]
    if len(exact) == 1:
        return exact[0]
    hits = [
        i for i, choice in enumerate(choices) if judge(choice, text, rules).decision == "accept"
    ]
    return hits[0] if len(hits) == 1 else None
