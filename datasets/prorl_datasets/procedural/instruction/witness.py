"""Composes a response that meets all constraints, or explains why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from random import Random
from typing import Any

from prorl_datasets.procedural.instruction.conflicts import plan_conflicts
from prorl_datasets.procedural.instruction.layout import Style, render, units_of
from prorl_datasets.procedural.instruction.plan import OPTIONS, Arguments, Plan, cleaned, read_plan
from prorl_datasets.procedural.instruction.voice import Voice, voice_of
from prorl_verifiers import TaskError
from prorl_verifiers.instruction.kwargs import check_patterns
from prorl_verifiers.instruction.registry import check_of, modules_of, registry
from prorl_verifiers.instruction.text import count_sentences, count_words, has_word, visible

_LETTER_WORDS = {
    "a": "banana salad panama alabama",
    "b": "bubble cobweb baby bib",
    "c": "cactus cocoa circle accent",
    "d": "added daddy deeded indeed",
    "e": "evergreen between eleven need",
    "f": "fluff coffee fifty off",
    "g": "giggle baggage jogging egg",
    "h": "hush hitchhiker hah high",
    "i": "initial visibility civic idiom",
    "j": "jam jolly judge jury",
    "k": "kick knack kiosk bookkeeper",
    "l": "little lull ballpoint lily",
    "m": "mammoth mummy memo maximum",
    "n": "onion cannon noon inn",
    "o": "cocoon footloose monsoon oboe",
    "p": "pepper puppy popup pipe",
    "q": "quiz queen quick quilt",
    "r": "error terror rare roar",
    "s": "possess seasons sassy moss",
    "t": "tattoo statute totter tot",
    "u": "unusual usufruct tutu guru",
    "v": "vivid valve revive savvy",
    "w": "wow swallow willow whew",
    "x": "extra box exxon axis",
    "y": "yearly yay syzygy mystery",
    "z": "puzzle pizza jazz zigzag",
}
_STYLES = (
    Style(),
    Style(lines=True),
    Style(natural=False),
    Style(natural=False, lines=True),
    Style(natural=False, loose=True),
    Style(natural=False, loose=True, lines=True),
)
_TRIES = 14
_MARGIN = 2
"""Sentences added to a minimum, because the two sentence splitters count differently."""
_FOR_CAPITALS = 15
"""Minimum number of sentences for langdetect to recognise English in capitals."""
_FOREIGN = 2
"""Maximum number of characters of required strings per foreign sentence, so that these strings stay a minority."""
_MOST = 10_000
"""Maximum number of words, letters or parts to compose."""
Asked = Sequence[tuple[str, Mapping[str, Any]]]


def compose(
    ids: Sequence[str],
    kwargs: Sequence[Arguments | None],
    prompt: str,
    topic: str | None = None,
    answer: Sequence[str] = (),
) -> str | None:
    """Return a response that should meet every constraint, or None.

    ``topic`` is a noun phrase; the sentences ``answer``, with ``{t}`` for the topic, answer the request. If no response
    passes IFEval's published checker, returns one that fails only this checker. Raises TaskError for arguments that do
    not fit their id.
    """
    plan = read_plan(ids, kwargs)
    if plan.other or _largest(plan) > _MOST:
        return None
    constraints = list(zip(ids, cleaned(ids, kwargs), strict=True))
    rng = Random(int.from_bytes(blake2b(prompt.encode(), digest_size=8).digest(), "big"))
    voice = voice_of(plan, topic, rng, answer)
    option = _option(plan, rng)
    second: str | None = None
    for style in _STYLES:
        if style.lines and not plan.has("detectable_format:json_format"):
            continue
        for text in _attempts(plan, voice, style, option):
            if _accepted(text, constraints, "fixed"):
                if _accepted(text, constraints, "reference"):
                    return text
                second = second or text
    return second


def satisfiable(
    ids: Sequence[str], kwargs: Sequence[Arguments | None], prompt: str
) -> tuple[str, str]:
    """Return ("witness", response), ("contradiction", reasons) or ("unknown", reason).

    Callers must verify the witness. Raises TaskError for arguments that do not fit their id.
    """
    plan = read_plan(ids, kwargs)
    if plan.other:
        return "unknown", f"no witness is composed for {plan.other[0]}"
    conflicts = plan_conflicts(plan)
    if conflicts:
        return "contradiction", "; ".join(conflicts)
    text = compose(ids, kwargs, prompt)
    if text is None:
        return "unknown", "no response was found for " + ", ".join(ids)
    return "witness", text


def _largest(plan: Plan) -> int:
    spans = [plan.words, plan.sentences, plan.capitals]
    spans += [*plan.keywords.values(), *plan.letters.values()]
    numbers = (plan.highlights, plan.placeholders, units_of(plan), *plan.bullets)
    return max(*numbers, *(span.low for span in spans))


def _option(plan: Plan, rng: Random) -> str:
    if not plan.has("detectable_format:constrained_response"):
        return ""
    options = voice_of(plan, None, Random(0)).bans.best(rng.sample(OPTIONS, len(OPTIONS)))
    return options[0] if options else OPTIONS[0]


def _attempts(plan: Plan, voice: Voice, style: Style, option: str) -> list[str]:
    """Return [text] with as many filler sentences as the plan's lengths require, or []."""
    fill = _first_fill(plan, voice) if style.natural else 1 - style.loose
    visited: set[int] = set()
    for _ in range(_TRIES):
        if fill in visited:
            return []
        visited.add(fill)
        extra = _extra_words(plan, voice, style, fill, option)
        text = render(plan, voice, style, fill, extra, option)
        change = _fillers_to_add(plan, text, style)
        if change == 0:
            return [text]
        fill = max(0, fill + change)
    return []


def _first_fill(plan: Plan, voice: Voice) -> int:
    fill = max(3, 2 * units_of(plan), plan.highlights, plan.capitals.low // 2)
    fill = max(fill, plan.words.low // 9, plan.sentences.low - len(plan.keywords))
    if plan.has("change_case:english_capital"):
        fill = max(fill, _FOR_CAPITALS)
    if voice.foreign:
        fill = max(fill, 4, sum(len(text) for _, text in plan.wanted()) // _FOREIGN)
    return fill if voice.fillers else 0


def _extra_words(plan: Plan, voice: Voice, style: Style, fill: int, option: str) -> list[str]:
    extra: list[str] = []
    for letter, span in plan.letters.items():
        if span.low == 0:
            continue
        text = render(plan, voice, style, fill, extra, option).lower()
        short = span.low - text.count(letter)
        words = voice.bans.best(_LETTER_WORDS.get(letter, letter * 4).split())
        words = sorted(words, key=lambda word: -word.count(letter)) if not style.natural else words
        at = 0
        while short > 0 and words:
            extra.append(words[at % len(words)])
            short -= extra[-1].count(letter)
            at += 1
    return extra


def _fillers_to_add(plan: Plan, text: str, style: Style) -> int:
    words, sentences = count_words(text), count_sentences(text)
    high = plan.sentences.high
    more = len(plan.postscripts) + bool(
        plan.bullets
    )  # Punkt ends a sentence behind P.S. and bullets
    if high is not None and high - more >= max(1, plan.sentences.low):
        high -= more
    roomy = high is None and plan.words.high is None and plan.sentences.low > 0
    least = plan.sentences.low + _MARGIN * roomy
    if high is not None:
        least = min(least, high)
    over_words = words - (words if plan.words.high is None else plan.words.high)
    over_sentences = sentences - (sentences if high is None else high)
    lowered = text.lower()
    over_letters = any(
        span.high is not None and lowered.count(letter) > span.high
        for letter, span in plan.letters.items()
    )
    if over_words > 0 or over_sentences > 0 or over_letters:
        return -max(1, over_words // 12, over_sentences)
    short = max(-(-(plan.words.low - words) // 8), 0 if style.loose else least - sentences)
    return max(0, short)


def _accepted(text: str, constraints: Asked, mode: str) -> bool:
    """Return whether the text passes those checks of the verifier's ``mode`` that need no library."""
    body = text if mode == "reference" else visible(text).strip()
    if not has_word(body):
        return False
    return all(_follows(body, name, values, mode) for name, values in constraints)


def _follows(text: str, name: str, values: Mapping[str, Any], mode: str) -> bool:
    if modules_of(name, mode):
        return True
    if mode == "reference":
        try:
            check_patterns(name, registry()[name].patterns, values)
        except TaskError:
            return True  # the published checker cannot be asked
    return check_of(name, mode)(text, values)
