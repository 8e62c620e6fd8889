"""The wording of reasoning-gym's questions, less what contradicts our prompts.

Some questions ask for the answer alone ("Only reply with the final value") where the prompt around them asks to
think first; a few have slips of the pen. What the final answer has to look like stays; that nothing else may be written goes. Leaves out:
the entry itself, which the scorer gets as reasoning-gym made it.
"""

from __future__ import annotations

import re

_NOTHING_ELSE = "Put nothing else into the final answer"
_START = r"((?:^|[.?!)]|\n(?:- |\d+\. )?)\s*)"
"""Where a sentence begins: words of a text that is quoted or to be sorted stay as they are."""
_REPLY = r"((?:Please )?(?:[Rr]eply|[Rr]espond|[Aa]nswer|[Rr]eturn|[Gg]ive|[Pp]rovide|[Ss]tate)(?: with)?)"
_ALONE = r"(?:only|just)"
_CHANGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<=[.?)])(?=(?:Return|Do not) )"), " "),
    (re.compile(rf"{_START}(?:Only|Just) {_REPLY} "), r"\1Please \2 "),
    (re.compile(rf"{_START}{_REPLY} {_ALONE} "), r"\1\2 "),
    (
        re.compile(rf"\b([Yy]our (?:final answer|output) should) (?:be {_ALONE}|{_ALONE} be) "),
        r"\1 be ",
    ),
    (re.compile(r", only respond with one of them\b"), ", respond with one of them"),
    (re.compile(r"\bDo not include any other text or formatting\b"), _NOTHING_ELSE),
    (re.compile(r", no other text or formatting\b"), ""),
    (
        re.compile(r"\bYou may return all possible palindrome partitioning in any order\b"),
        "Return all possible palindrome partitions, in any order",
    ),
    (re.compile(r"\bunsramble\b"), "unscramble"),
    (re.compile(r"\bYour task is determine\b"), "Your task is to determine"),
    (re.compile(r"\bProvide you answer\b"), "Provide your answer"),
    (re.compile(r" \(rounding down when the 5th decimal place is 5 or greater\)"), ""),
)
"""What is found, and what stands there instead, one after the other."""


def reworded(question: str) -> str:
    """Return a question without the demand that nothing but the answer be written."""
    for pattern, instead in _CHANGES:
        question = pattern.sub(instead, question)
    return question
