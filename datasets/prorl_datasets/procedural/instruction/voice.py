"""Chooses the sentences of a response by language and topic, without those that constraints forbid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from string import capwords

from prorl_datasets.procedural.instruction.languages import sentences_of
from prorl_datasets.procedural.instruction.plan import Plan
from prorl_datasets.procedural.wordings import Wordings
from prorl_verifiers.instruction.text import word_pattern

PHRASES = Wordings(f"{__package__}.phrases")
"""English sentences with ``{t}`` for the topic and ``{k}`` for required words, without comma, capitals or keyword."""
_BANNED = 10_000
_TERSE = 50
"""Responses limited to fewer words than this use short sentences after the answer's first sentence."""
_WORDS_A_SENTENCE = 13
"""Responses limited to fewer words per required sentence than this use short sentences."""
_OPENING = 3
"""Number of the answer's sentences that stay in the text if the others become bullets."""
_ENOUGH = 4
"""If this many fillers have no unwanted letters, the other fillers are left out."""


@dataclass(frozen=True, slots=True)
class Bans:
    """Patterns that sentences must not match, and letters to avoid."""

    patterns: tuple[re.Pattern[str], ...]
    letters: str

    def cost(self, text: str) -> int:
        """Return the number of unwanted letters, plus 10,000 for each banned pattern."""
        banned = _BANNED * sum(pattern.search(text) is not None for pattern in self.patterns)
        return banned + sum(text.lower().count(letter) for letter in self.letters)

    def best(self, texts: Iterable[str]) -> list[str]:
        """Return the texts that are not banned, those with fewest unwanted letters first."""
        if not self.patterns and not self.letters:
            return list(texts)
        priced = [(self.cost(text), text) for text in texts]
        return [text for cost, text in sorted(priced, key=lambda p: p[0]) if cost < _BANNED]


def bans_of(plan: Plan) -> Bans:
    """Return a plan's bans: forbidden words, keywords (also inside words) and letters whose number it limits."""
    capped = [key for key, span in plan.keywords.items() if span.high is not None]
    patterns = [word_pattern(word) for word in plan.forbidden]
    patterns += [re.compile(re.escape(key), re.IGNORECASE) for key in capped]
    letters = [letter for letter, span in plan.letters.items() if span.high is not None]
    return Bans(tuple(patterns), "".join(letters))


@dataclass(frozen=True, slots=True)
class Voice:
    """The sentences available for one response. Each list is sorted best first and used cyclically."""

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
    """Return the sentences for a plan; unknown languages fall back to English.

    Sentences of ``answer`` (with ``{t}`` for the topic) come first, then others about the topic, then general ones.
    """
    bans = bans_of(plan)
    language = next((code for code in plan.languages if sentences_of(code)), None)
    if language is not None:
        return _foreign(sentences_of(language), bans, rng)
    plain = rng.sample(PHRASES.texts("plain sentences"), len(PHRASES.texts("plain sentences")))
    about = [text.format(t=topic) for text in PHRASES.texts("topic sentences")] if topic else []
    about = rng.sample(about, len(about))
    if plan.has("change_case:english_capital"):
        about.sort(key=lambda text: " a " not in text)  # the only whole word langdetect sees
    sentences = [_begun(text.format(t=topic)) for text in answer]
    points_wanted = 0 if plan.sentences.high is not None else sum(plan.bullets)
    sentence_count = max(
        min(_OPENING, len(sentences)), len(sentences) - points_wanted
    )  # a point may count as a sentence
    fillers, points = (
        sentences[:sentence_count],
        [text.rstrip(".?") for text in sentences[sentence_count:]],
    )
    fillers += about
    fillers += [text for text in (*about, *plain) if text not in fillers]
    tight = _WORDS_A_SENTENCE * (plan.sentences.low + 2)
    most = plan.words.high
    terse = most is not None and most < max(_TERSE, tight)
    if bans.letters or terse:
        fillers += PHRASES.texts("short sentences")
    if terse and most is not None:
        used = sentences[: 1 if most < _TERSE else sentence_count]
        short = sorted(
            (text for text in fillers if text not in used),
            key=lambda text: (topic is not None and topic not in text, text.count(" ")),
        )
        fillers = [*used, *short]
    slots = [text.format(t=topic or "the rest") for text in PHRASES.texts("slots")]
    slots = rng.sample(slots, len(slots))
    titles, bullets = list(PHRASES.texts("titles")), list(PHRASES.texts("bullets"))
    if topic:  # the last ones, the shortest, stay
        titles[:-1] = [text.format(t=capwords(topic)) for text in PHRASES.texts("topic titles")]
        bullets[:-2] = [text.format(t=topic) for text in PHRASES.texts("topic bullets")]
    return Voice(
        _clean(fillers, bans, topic),
        bans.best(_rotated(PHRASES.texts("frames"), rng, 2)),
        bans.best(_rotated(PHRASES.texts("first frames"), rng, 2)),
        bans.best(slots),
        bans.best([*points, *_rotated(bullets, rng, 2)]),
        bans.best(_rotated(titles, rng, 1)),
        bans.best(_rotated(PHRASES.texts("postscripts"), rng, 1)),
        bans.best(PHRASES.texts("loose")),
        bans,
        False,
    )


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _clean(fillers: Sequence[str], bans: Bans, topic: str | None) -> list[str]:
    """Return the sentences that are not banned, best first; those with unwanted letters only if needed."""
    best = bans.best(fillers)
    if not bans.letters:
        return best
    clean = [text for text in best if bans.cost(text) == 0]
    about = next((text for text in best if topic is not None and topic in text), None)
    if about is not None and about not in clean:
        clean.insert(0, about)
    return clean if len(clean) >= _ENOUGH else best


def _rotated(texts: Sequence[str], rng: Random, fixed: int) -> list[str]:
    body = list(texts[: len(texts) - fixed])
    at = rng.randint(0, len(body) - 1)
    return body[at:] + body[:at] + list(texts[len(texts) - fixed :])


def _foreign(sentences: Sequence[str], bans: Bans, rng: Random) -> Voice:
    fillers = bans.best(rng.sample(list(sentences), len(sentences)))
    titles = [_shortened(text) for text in fillers]
    frames = [_before_end(text, " {k}") for text in reversed(fillers)]
    slots = [text.format(t="the rest") for text in PHRASES.texts("slots")]
    first = ["{w} " + text for text in fillers]
    bullets = [text.rstrip(".。।۔") for text in reversed(fillers)]
    return Voice(fillers, frames, first, slots, bullets, titles, fillers, titles, bans, True)


def _shortened(text: str) -> str:
    words = text.rstrip(".。।۔").split()
    return " ".join(words[:3]) if len(words) > 2 else text[:8]


def _before_end(text: str, addition: str) -> str:
    body = text.rstrip(".。।۔")
    return body + addition + text[len(body) :]
