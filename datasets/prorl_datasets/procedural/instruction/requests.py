"""Loads requests about a topic, with answers.

Each block of ``requests.txt`` is a line ``# groups: template`` (``? groups: template`` for a yes-or-no question) and
its answer, one sentence per line. Its first k sentences are also an answer, for every k.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from prorl_datasets.procedural.instruction.topics import ALL_TOPICS, TOPICS


@dataclass(frozen=True, slots=True)
class Request:
    """A request template with ``{t}`` for the topic, its topics, and sentences that answer it."""

    template: str
    topics: tuple[str, ...]
    answer: tuple[str, ...]
    yes_or_no: bool


DAILY = tuple(
    Request(template, ("daily life",), (), False)
    for template in (
        "Write a diary entry about an ordinary day.",
        "Write a letter to a friend about your days at home.",
        "Tell me about your family and your street.",
        "Describe an ordinary day in a small town.",
        "Write a few lines about life in your neighbourhood.",
        "Write a postcard that says how you spend your days.",
        "Write an email to an old friend with your news from home.",
        "Describe what you can see and hear from your window.",
        "Write a short blog post about a quiet week.",
        "Write a few simple sentences about daily life for a language course.",
        "Write the beginning of a story that takes place in a quiet street.",
        "Tell me what people in your town do from morning to night.",
    )
)
"""Requests without a topic; the sentences of ``languages`` answer them."""


@cache
def requests() -> tuple[Request, ...]:
    text = (files(__package__) / "requests.txt").read_text(encoding="utf-8")
    return tuple(_read(block) for block in text.strip().split("\n\n"))


def _read(block: str) -> Request:
    head, *answer = block.split("\n")
    groups, _, template = head[2:].partition(": ")
    topics = ALL_TOPICS
    if groups != "any":
        topics = tuple(topic for group in groups.split() for topic in TOPICS[group])
    return Request(template, topics, tuple(answer), head.startswith("?"))
