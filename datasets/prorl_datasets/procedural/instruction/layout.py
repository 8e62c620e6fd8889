"""Writes sentences in the form that a plan requires.

A response consists of units (paragraphs, sections or halves) and separators.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prorl_datasets.procedural.instruction.plan import Plan
from prorl_datasets.procedural.instruction.voice import PHRASES, Voice

_LOUD = ("LOOK", "HERE", "NOW", "SEE", "THIS", "WELL")
_STOPS = ".。।۔!?"


@dataclass(frozen=True, slots=True)
class Style:
    """Options for writing a response. The defaults read naturally; other values give shorter texts."""

    natural: bool = True
    """Whether required words are spread over several sentences instead of one."""
    loose: bool = False
    """Whether full stops are omitted."""
    lines: bool = False
    """Whether a JSON list has one string per line, instead of a single string."""


def _cycle(texts: Sequence[str], number: int) -> list[str]:
    return [texts[at % len(texts)] for at in range(number)] if texts else []


def _framed(things: Sequence[str], frames: Sequence[str], style: Style, size: int) -> list[str]:
    """Fill ``things`` into sentence ``frames``: up to ``size`` per sentence in natural style, else all in one."""
    if not things:
        return []
    if style.loose or not frames:
        return [" ".join(things)]
    if not style.natural:
        size = len(things)
    groups = [" and ".join(things[at : at + size]) for at in range(0, len(things), size)]
    chosen = _cycle(frames, len(groups)) if style.natural else [min(frames, key=len)]
    return [
        frame.format(k=group[:1].upper() + group[1:] if frame.startswith("{k}") else group)
        for frame, group in zip(chosen, groups, strict=True)
    ]


def _keywords(plan: Plan) -> list[str]:
    most = max((span.low for span in plan.keywords.values()), default=0)
    return [
        plan.spelling[key]
        for turn in range(most)
        for key, span in plan.keywords.items()
        if span.low > turn
    ]


def _emphasised(sentences: list[str], number: int) -> tuple[list[str], int]:
    """Capitalise ``number`` long words, spread over the sentences; return the sentences and the number left."""
    split = [sentence.split(" ") for sentence in sentences]
    for least in (5, 4, 3):
        for words in split:
            fit = [
                i for i, w in enumerate(words) if len(w) >= least and w.isalpha() and w.islower()
            ]
            if number and fit:
                words[fit[len(fit) // 2]] = words[fit[len(fit) // 2]].upper()
                number -= 1
    return [" ".join(words) for words in split], number


def _with_highlight(sentence: str) -> str:
    body = sentence.rstrip(_STOPS)
    words = body.split(" ")
    kept = 2 if len(words) > 3 else 1
    if len(words) > 1 and not set("*[]") & set("".join(words[-kept:])):
        head, tail = " ".join(words[:-kept]) + " ", " ".join(words[-kept:])
    else:
        head, tail = body[:-4], body[-4:].strip()
    return f"{head}*{tail}*{sentence[len(body) :]}"


def _decorated(fillers: list[str], plan: Plan, style: Style) -> tuple[list[str], list[str]]:
    """Add capitals and highlights to the filler sentences; return the sentences, and texts with the rest."""
    fillers, loud = _emphasised(fillers, plan.capitals.low)
    pieces = [" ".join(_cycle(_LOUD, loud))] if loud else []
    room = 0 if style.loose else min(plan.highlights, len(fillers))
    fillers = [_with_highlight(text) if at < room else text for at, text in enumerate(fillers)]
    if plan.highlights > room:
        pieces.append("see " + " ".join(f"*part {n + 1}*" for n in range(plan.highlights - room)))
    return fillers, pieces


def _sentences(
    plan: Plan, voice: Voice, style: Style, fill: int, extra: Sequence[str]
) -> list[str]:
    fillers, pieces = _decorated(_cycle(voice.fillers, fill), plan, style)
    slots = _cycle(voice.slots, plan.placeholders)
    atoms = _framed(_keywords(plan), voice.frames, style, 1 if len(plan.keywords) == 1 else 2)
    if style.natural and not voice.foreign:
        atoms += slots
    else:
        brackets = [text[text.index("[") : text.index("]") + 1] for text in slots]
        atoms += _framed(brackets, voice.frames, style, 2)
    letter_frames = () if voice.foreign else voice.bans.best(PHRASES.texts("letter frames"))
    atoms += _framed(extra, letter_frames, style, 4)
    atoms += [piece if style.loose else f"Now {piece}." for piece in pieces]
    mixed: list[str] = []
    for at in range(max(len(fillers), len(atoms))):
        mixed += fillers[at : at + 1] + atoms[at : at + 1]
    return [text.rstrip(_STOPS) for text in mixed] if style.loose else mixed


def units_of(plan: Plan) -> int:
    """Return the number of text blocks that a plan's separators and headers delimit."""
    blank = [number for number, _, _ in plan.paragraphs]
    two = int(plan.has("combination:two_responses"))
    parts = [number + two for number in plan.parts]
    return max(1, 1 + two, *parts, *blank, *(number for _, number in plan.sections))


def _separator(plan: Plan, at: int) -> str:
    mark, two = "", int(plan.has("combination:two_responses"))
    if plan.parts and at - two < plan.parts[0] - 1:
        mark = "***\n"
    if two and at == 0:
        mark = "******\n"
    if plan.paragraphs:
        blank = at < plan.paragraphs[0][0] - 1
        return f"\n{mark}" + ("\n" if blank else "")
    return f"\n\n{mark}\n" if mark else "\n\n"


def _first_lines(plan: Plan, voice: Voice, style: Style, unit: int, option: str) -> Iterator[str]:
    if unit == 0 and plan.repeats:
        yield max(plan.repeats, key=len)
    for number, nth, word in plan.paragraphs:
        if nth == unit + 1 and not (unit == 0 and plan.repeats):
            word = word[:1].upper() + word[1:]
            frames = voice.first_frames or ("{w}",)
            frame = frames[number % max(1, len(frames) - 2)] if style.natural else frames[-1]
            line = frame.format(w=word)
            yield line.rstrip(".") if style.loose else line
    if unit == 0 and plan.has("detectable_format:title") and voice.titles:
        yield f"<<{voice.titles[0 if style.natural else -1]}>>"
    for splitter, number in plan.sections:
        if unit < number:
            yield f"{splitter} {unit + 1}"
    if unit == 0 and option:
        yield option


def _last_lines(plan: Plan, voice: Voice, style: Style) -> Iterator[str]:
    number = plan.bullets[0] if plan.bullets else 0
    bullets = voice.bullets if style.natural else sorted(voice.bullets, key=len)
    for text in _cycle(bullets or ["ok"], number):
        yield f"* {text}"
    for at, marker in enumerate(plan.postscripts):
        texts = voice.postscripts or ["ok"]
        text = texts[at % len(texts) if style.natural else -1]
        yield f"{marker} {text.rstrip(_STOPS) if style.loose else text}"
    if plan.endings:
        yield max(plan.endings, key=len)


def _closed(lines: Sequence[str]) -> str:
    return "\n".join(line for line in lines if line)


def render(
    plan: Plan, voice: Voice, style: Style, fill: int, extra: Sequence[str], option: str
) -> str:
    """Return a response to a plan with ``fill`` filler sentences, the ``extra`` words and the answer ``option``."""
    number = units_of(plan)
    sentences = _sentences(plan, voice, style, fill, extra)
    total = len(sentences)
    parts: list[str] = []
    for at in range(number):
        chunk = sentences[at * total // number : (at + 1) * total // number]
        lead = list(_first_lines(plan, voice, style, at, "" if style.loose else option))
        if not chunk and voice.loose and (not lead or at == 0 or style.loose):
            chunk = [] if lead and at else _cycle(voice.loose, at + 1)[-1:]
        tail = list(_last_lines(plan, voice, style)) if at == number - 1 else []
        if style.loose and at == 0 and option:
            chunk.append(option)
        parts.append(_closed([*lead, " ".join(chunk), *tail]))
    text = parts[0]
    for at, part in enumerate(parts[1:]):
        text += _separator(plan, at) + part
    return _wrapped(text, plan, style)


def _wrapped(text: str, plan: Plan, style: Style) -> str:
    if plan.has("change_case:english_lowercase"):
        text = text.lower()
    if plan.has("change_case:english_capital"):
        text = text.upper()
    if plan.has("detectable_format:json_format"):
        text = _as_json(text, style)
    return f'"{text}"' if plan.has("startend:quotation") else text


def _as_json(text: str, style: Style) -> str:
    if not style.lines:
        return json.dumps(
            {"RESPONSE" if text.isupper() else "response": " ".join(text.split())},
            ensure_ascii=False,
        )
    lines = [
        json.dumps(line, ensure_ascii=False) if line.strip() else "" for line in text.split("\n")
    ]
    last = max(at for at, line in enumerate(lines) if line)
    body = [line + "," if line and at < last else line for at, line in enumerate(lines)]
    return "[\n" + "\n".join(body) + "\n]"
