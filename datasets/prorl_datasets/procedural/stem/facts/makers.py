"""Builds questions on a table of facts: matching, belonging and ordering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from prorl_datasets.procedural.stem.problem import Choice
from prorl_datasets.procedural.stem.wording import named

Make = Callable[[Random, int], Choice]
Pairs = Sequence[tuple[str, str]]


def _choice(question: str, right: str, wrong: Sequence[str], asked: str) -> Choice:
    parameters = {"ask": asked, "right": right, "wrong": sorted(wrong)}
    return Choice(question, right, tuple(wrong), parameters)


def matching(
    rows: Pairs, forward: Sequence[str], backward: Sequence[str], pair: str, also: Pairs = ()
) -> Make:
    """Return a function that draws questions on (left, right) pairs; right sides may repeat.

    Level 1 asks ``forward`` for the right side, level 2 ``backward`` for the left side; ``{}`` is the given side. Level
    3 asks for the one correct or wrong pair of six; ``pair`` is the phrase for a pair. The partly true pairs ``also``
    are neither asked nor used as wrong options.
    """
    facts = (*rows, *also)

    def make(rng: Random, level: int) -> Choice:
        left, right = rng.choice(rows)
        if level == 1:
            wrong = list(dict.fromkeys(r for _, r in rows if (left, r) not in facts))
            question = rng.choice(forward).format(left)
            return _choice(question, right, rng.sample(wrong, 5), f"of {left}")
        if level == 2:
            wrong = list(dict.fromkeys(name for name, _ in rows if (name, right) not in facts))
            question = rng.choice(backward).format(right)
            return _choice(question, left, rng.sample(wrong, 5), f"to {right}")
        odd = rng.random() < 0.5
        drawn = rng.sample(rows, 6)
        texts = []
        for place, (name, fact) in enumerate(drawn):
            if (place == 0) == odd:
                fact = rng.choice([r for _, r in rows if (name, r) not in facts])
            texts.append(f"{name}: {fact}")
        what = "wrong" if odd else "right"
        lead = rng.choice(("Which", "Only one of these is " + what + ". Which"))
        question = f"{lead} pairing of {pair} is {what}?"
        return _choice(question, texts[0], texts[1:], what)

    return make


def belonging(classes: Mapping[str, Sequence[str]], noun: str) -> Make:
    """Return a function that draws questions on disjoint classes, keyed by phrases such as ``a noble gas``.

    Level 1 asks which option belongs to a class, level 2 which does not, level 3 which list of three does. ``noun``
    names the options.
    """

    def make(rng: Random, level: int) -> Choice:
        large = [key for key in classes if len(classes[key]) >= 5]
        key = rng.choice(large if level > 1 else list(classes))
        inside = list(classes[key])
        outside = [name for other in classes if other != key for name in classes[other]]
        if level == 1:
            lead = rng.choice(("Which of these {}s is {}?", "Find the {} that is {}."))
            question = lead.format(noun, key)
            return _choice(question, rng.choice(inside), rng.sample(outside, 5), key)
        if level == 2:
            lead = rng.choice(("Which of these {}s is NOT {}?", "Find the {} that is not {}."))
            question = lead.format(noun, key)
            return _choice(question, rng.choice(outside), rng.sample(inside, 5), f"not {key}")
        right = named(rng.sample(inside, 3))
        wrong: list[str] = []
        while len(wrong) < 5:
            mixed = [*rng.sample(inside, 2), rng.choice(outside)]
            rng.shuffle(mixed)
            if named(mixed) not in wrong:
                wrong.append(named(mixed))
        question = f"In which list is every {noun} {key}?"
        return _choice(question, right, wrong, f"all {key}")

    return make


def ordering(
    rows: Sequence[tuple[str, float]], most: str, least: str, rising: str, ratio: float = 1.0
) -> Make:
    """Return a function that draws questions on (name, positive value); values differ by factors over ``ratio``.

    Levels 1 and 2 ask ``most`` or ``least``, with "second " for ``{}`` at level 2. Level 3 asks which list of four
    names is in ``rising`` order.
    """

    def make(rng: Random, level: int) -> Choice:
        drawn: list[tuple[str, float]] = []
        for name, value in rng.sample(list(rows), len(rows)):
            if all(max(value, v) > ratio * min(value, v) for _, v in drawn) and len(drawn) < 6:
                drawn.append((name, value))
        if len(drawn) < 6:
            return make(rng, level)
        drawn.sort(key=lambda row: row[1])
        names = [name for name, _ in drawn]
        if level < 3:
            top = rng.random() < 0.5
            place = (-1 if top else 0) if level == 1 else (-2 if top else 1)
            question = (most if top else least).format("second " if level == 2 else "")
            right = names[place]
            wrong = [name for name in names if name != right]
            return _choice(question, right, wrong, f"{level} {top}")
        four = [names[i] for i in sorted(rng.sample(range(len(names)), 4))]
        right = " < ".join(four)
        lists: list[str] = []
        while len(lists) < 5:
            mixed = " < ".join(rng.sample(four, 4))
            if mixed != right and mixed not in lists:
                lists.append(mixed)
        return _choice(f"Which list is in order of rising {rising}?", right, lists, "order")

    return make
