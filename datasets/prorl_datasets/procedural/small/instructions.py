"""Builds small instruction items: one family per constraint, and ``mixed`` with two (level 2) or three (level 3).

The reward checks only the constraints, as in IFEval, not the request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from prorl_datasets.procedural.items import Family, Item
from prorl_datasets.procedural.small.constraints import Constraint, ConstraintKind, constraint_kinds
from prorl_verifiers import Task

_TOPICS = (
    "the sea|a cat|rain|bread|the moon|a good friend|trees|a bus ride|coffee|snow|a small town|"
    "the sun|a bicycle|books|the wind|a dog|apples|sleep|a birthday|mountains|a lake|chess|a train|"
    "tea|spring|a bakery|clouds|a school day|birds|a picnic|stars|a library|the desert|a farm|music|"
    "a storm|fish|a museum|running|autumn|a bridge|paint|a market|honey|a lighthouse|shoes|a puzzle|"
    "rivers|a game|night"
)
TOPICS = tuple(_TOPICS.split("|"))
REQUESTS = (
    ("Write a few lines about {topic}.", "there is much to like about {topic}."),
    ("Describe {topic} to a child.", "we can learn a lot from {topic} if we look closely."),
    ("Say something about {topic}.", "many of us think of {topic} with a smile."),
    ("Write a short note about {topic}.", "here is a short note about {topic}."),
    ("Tell me about {topic}.", "people have talked about {topic} for a long time."),
    ("Write a short poem about {topic}.", "softly the evening sings of {topic}."),
)
"""Requests that fit every constraint, each with an answering line."""


def _item(rng: Random, constraints: Sequence[Constraint]) -> Item:
    topic = rng.choice(TOPICS)
    request, text = (part.format(topic=topic) for part in rng.choice(REQUESTS))
    for constraint in sorted(constraints, key=lambda c: c.order):
        text = constraint.edit(text)
    reference = {
        "instruction_id_list": [c.id for c in constraints],
        "kwargs": [c.kwargs for c in constraints],
    }
    question = " ".join([request, *(c.sentence for c in constraints)])
    return Item(question, Task("instruction", reference), text)


def _single(kind: ConstraintKind) -> Callable[[Random, int], Item]:
    def generate(rng: Random, level: int) -> Item:
        return _item(rng, [kind.draw(rng)])

    return generate


def _mixed(rng: Random, level: int) -> Item:
    kinds = list(constraint_kinds())
    rng.shuffle(kinds)
    chosen: list[ConstraintKind] = []
    for kind in kinds:
        if len(chosen) < max(level, 2) and not any(kind.groups & c.groups for c in chosen):
            chosen.append(kind)
    return _item(rng, [kind.draw(rng) for kind in chosen])


FAMILIES = (
    *(Family(kind.name, "instruction", _single(kind)) for kind in constraint_kinds()),
    Family("mixed", "instruction", _mixed),
)
