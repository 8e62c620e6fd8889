"""The sentences a response may use: those of its language and topic that no constraint forbids.

Leaves out: putting them together (``layout``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from prorl_datasets.procedural.instruction import phrases
from prorl_datasets.procedural.instruction.languages import sentences_of
from prorl_datasets.procedural.instruction.plan import Plan
from prorl_verifiers.instruction.text import word_pattern

_BANNED = 10_000
_TERSE = 50
"""Words at most below which the shortest sentences come first."""
_WORDS_A_SENTENCE = 13
"""The same, where so many sentences are asked for that these have to be short."""
_OPENING = 3
"""Sentences of an answer that stay in the text where bullets take the others."""
_ENOUGH = 4
"""Fillers without an unwanted letter from which on the others are left out."""


@dataclass(frozen=True, slots=True)
class Bans:
    """What a sentence should not hold: patterns never, letters as seldom as can be."""

    patterns: tuple[re.Pattern[str], ...]
    letters: str

    def cost(self, text: str) -> int:
        """Return 0 for a sentence without anything unwanted, at least 10,000 for a banned one."""
        banned = _BANNED * sum(pattern.search(text) is not None for pattern in self.patterns)
        return banned + sum(text.lower().count(letter) for letter in self.letters)

    def best(self, texts: Iterable[str]) -> list[str]:
        """Return the texts that are not banned, the ones with the fewest unwanted letters first."""
        if not self.patterns and not self.letters:
            return list(texts)
        priced = [(self.cost(text), text) for text in texts]
        return [text for cost, text in sorted(priced, key=lambda p: p[0]) if cost < _BANNED]


def bans_of(plan: Plan) -> Bans:
    """Return what a plan keeps out: forbidden words, capped keywords (also inside other words)."""
    capped = [key for key, span in plan.keywords.items() if span.high is not None]
    patterns = [word_pattern(word) for word in plan.forbidden]
    patterns += [re.compile(re.escape(key), re.IGNORECASE) for key in capped]
    letters = [letter for letter, span in plan.letters.items() if span.high is not None]
    return Bans(tuple(patterns), "".join(letters))


@dataclass(frozen=True, slots=True)
class Voice:
    """The material of one response; each list is ordered, best first, and used in a cycle."""

    fillers: Sequence[str]
    frames: Sequence[str]
    first_frames: Sequence[str]
    slots: Sequence[str]
    bullets: Sequence[str]
    titles: Sequence[str]
    postscripts: Sequence[str]
    loose: Sequence[str]
    bans: Bans
    foreign: bool


def voice_of(plan: Plan, topic: str | None, rng: Random, answer: Sequence[str] = ()) -> Voice:
    """Return the material for a plan; an unknown language gives English.

    What answers the request (``answer``, over ``{t}``) comes first and in its order, then other sentences about
    the topic, then such as fit anything.
    """
    bans = bans_of(plan)
    language = next((code for code in plan.languages if sentences_of(code)), None)
    if language is not None:
        return _foreign(sentences_of(language), bans, rng)
    plain = rng.sample(phrases.PLAIN_SENTENCES, len(phrases.PLAIN_SENTENCES))
    about = [text.format(t=topic) for text in phrases.TOPIC_SENTENCES] if topic else []
    about = rng.sample(about, len(about))
    told = [_begun(text.format(t=topic)) for text in answer]
    points_wanted = 0 if plan.sentences.high is not None else sum(plan.bullets)
    said = max(
        min(_OPENING, len(told)), len(told) - points_wanted
    )  # a point may count as a sentence
    fillers, points = told[:said], [text.rstrip(".?") for text in told[said:]]
    fillers += about
    if plan.has(
        "change_case:english_capital"
    ):  # many words, so that langdetect knows them as English
        fillers = [text for pair in zip(fillers, plain, strict=False) for text in pair]
    fillers += [text for text in (*about, *plain) if text not in fillers]
    tight = _WORDS_A_SENTENCE * (plan.sentences.low + 2)
    terse = plan.words.high is not None and plan.words.high < max(_TERSE, tight)
    if bans.letters or terse:
        fillers += phrases.SHORT_SENTENCES
    if terse:
        fillers.sort(key=lambda text: (topic is not None and topic not in text, text.count(" ")))
    titles, bullets = list(phrases.TITLES), list(phrases.BULLETS)
    if topic:  # the last ones, the shortest, stay
        titles[:-1] = [text.format(t=topic) for text in phrases.TOPIC_TITLES]
        bullets[:-2] = [text.format(t=topic) for text in phrases.TOPIC_BULLETS]
    return Voice(
        _clean(fillers, bans, topic),
        bans.best(_turned(phrases.FRAMES, rng, 2)),
        bans.best(_turned(phrases.FIRST_FRAMES, rng, 2)),
        bans.best(rng.sample(phrases.SLOTS, len(phrases.SLOTS))),
        bans.best([*points, *_turned(bullets, rng, 2)]),
        bans.best(_turned(titles, rng, 1)),
        bans.best(_turned(phrases.POSTSCRIPTS, rng, 1)),
        bans.best(phrases.LOOSE),
        bans,
        False,
    )


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _clean(fillers: Sequence[str], bans: Bans, topic: str | None) -> list[str]:
    """Return the sentences that may be used; where letters are unwanted, the one about the topic that holds
    the fewest, then those without any, if there are enough.
    """
    best = bans.best(fillers)
    if not bans.letters:
        return best
    clean = [text for text in best if bans.cost(text) == 0]
    about = next((text for text in best if topic is not None and topic in text), None)
    if about is not None and about not in clean:
        clean.insert(0, about)
    return clean if len(clean) >= _ENOUGH else best


def _turned(texts: Sequence[str], rng: Random, kept: int) -> list[str]:
    """Return the texts from a random one on; the last ``kept`` (the shortest) stay last."""
    body = list(texts[: len(texts) - kept])
    at = rng.randint(0, len(body) - 1)
    return body[at:] + body[:at] + list(texts[len(texts) - kept :])


def _foreign(sentences: Sequence[str], bans: Bans, rng: Random) -> Voice:
    fillers = bans.best(rng.sample(list(sentences), len(sentences)))
    titles = [_shortened(text) for text in fillers]
    frames = [_before_end(text, " {k}") for text in reversed(fillers)]
    slots = list(phrases.SLOTS)
    first = ["{w} " + text for text in fillers]
    bullets = [text.rstrip(".。।۔") for text in fillers]
    return Voice(fillers, frames, first, slots, bullets, titles, fillers, titles, bans, True)


def _shortened(text: str) -> str:
    words = text.rstrip(".。।۔").split()
    return " ".join(words[:3]) if len(words) > 2 else text[:8]


def _before_end(text: str, addition: str) -> str:
    body = text.rstrip(".。।۔")
    return body + addition + text[len(body) :]
