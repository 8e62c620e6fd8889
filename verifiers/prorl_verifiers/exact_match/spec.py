"""The exact-match verifier as the door has it: cut at a stop text, filter, compare as texts.

It scores a ``generate_until`` task of lm-evaluation-harness as that does: the answer up to the first stop text, through
each filter in turn, equal to one of the gold answers once both have lost what is ignored. What an expression does with
a hostile text is bounded by the worker's time. Thinking is not taken off, as there. Leaves out: filters over several
answers (take_first_k, majority_vote): samples of a problem are counted by the evaluation.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Collection, Sequence

from prorl_verifiers.audit.items import Kind
from prorl_verifiers.exact_match.reference import KEYS, ByExpression, Matching, read
from prorl_verifiers.findings import note
from prorl_verifiers.spec import Canary, VerifierSpec
from prorl_verifiers.types import Reference, Score, unparsable

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_DIGITS = str.maketrans("", "", string.digits)


def score(response: str, reference: Reference) -> Score:
    """Score ``response``: 1 where what the filters leave is one of the answers, else 0."""
    matching = read(reference)
    text = before(response, matching.until)
    found = True
    for step in matching.filters:
        text, passed = step(text)
        found = found and passed
        note("filter", passed, {"leaves": text})
    given = compared(text, matching)
    right = any(given == compared(answer, matching) for answer in matching.answers)
    note("compared", right, {"given": given, "gold": compared(matching.answers[0], matching)})
    if right:
        return Score(1.0, "equal to the gold answer", text)
    if not found:
        return unparsable("the filters found no answer")
    return Score(0.0, "not equal to the gold answer", text)


def before(text: str, until: Sequence[str]) -> str:
    """Return ``text`` up to the first of the stop texts."""
    for stop in until:
        if stop:
            text = text.partition(stop)[0]
    return text


def compared(text: str, matching: Matching) -> str:
    """Return what is compared: ``text`` without what is ignored. Trailing NULs do not count, as in numpy's texts."""
    for expression in matching.ignored:
        text = re.sub(expression, "", text)
    text = text.rstrip("\0")
    if matching.ignore_case:
        text = text.lower()
    if matching.ignore_punctuation:
        text = text.translate(_PUNCTUATION)
    if matching.ignore_numbers:
        text = text.translate(_DIGITS)
    return text.rstrip("\0")


def check_reference(reference: Reference) -> None:
    """Raise TaskError for a reference that cannot be scored against."""
    read(reference)


def first_answer(reference: Reference) -> str:
    """Return the first answer."""
    return read(reference).answers[0]


def gold_response(reference: Reference) -> str | None:
    """Return an answer that is right as it stands; None where the filters want it written in a way not known here.

    Also None where there are regular expressions: one that does not end may be tried in a worker alone.
    """
    matching = read(reference)
    if matching.ignored or any(isinstance(f, ByExpression) for f in matching.filters):
        return None
    return next((a for a in matching.answers if score(a, reference).reward == 1.0), None)


def canaries(draw: random.Random) -> Sequence[Canary]:
    """Return new numbers, right and wrong."""
    number = draw.randrange(1000, 10_000)
    reference = {
        "answer": f"{number:,}",
        "filters": [{"function": "regex", "regex_pattern": "#### ([0-9,]+)"}],
        "regexes_to_ignore": [","],
    }
    return (
        Canary(reference, f"so it is #### {number}", 1.0),
        Canary(reference, f"so it is #### {number + draw.randrange(1, 9)}", 0.0),
    )


def may_be_right(reference: Reference) -> Collection[Kind]:
    """Return what filters and ignored characters may undo."""
    return ("junk", "precision", "order") if read(reference).filters else ()


SPEC = VerifierSpec(
    name="exact_match",
    score=score,
    strip_thinking=False,
    check_reference=check_reference,
    quick_canaries=canaries,
    example={"answer": "2"},
    optional_columns=KEYS[1:],
    json_columns=KEYS[1:-1],
    answer=first_answer,
    gold_response=gold_response,
    target_type=lambda reference: "text",
    may_be_right=may_be_right,
    vote=lambda text: text,
)
