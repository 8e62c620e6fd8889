"""Constraints on form: parts, marks, beginnings and ends (14 of IFEval's 25 ids)."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.instruction.constraints.words import KEYWORDS
from prorl_datasets.procedural.instruction.drawn import Context, Drawn, Kind, counted
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

ENDINGS = (
    *("That is all for today.", "Hope this helps.", "Let me know what you think.", "The end."),
    *("Thank you for reading.", "Is there anything else I can help with?", "See you next week."),
    *("And so the day was over.", "Any other questions?", "Have a nice evening.", "Peace!"),
    *("Now it is your turn.", "What would you have done?", "Yours as ever.", "Case closed."),
    *("Does this make sense?", "This is how I see it.", "More will follow soon.", "Good luck!"),
    *("Nobody knows what comes next.", "You decide.", "I rest my case.", "Until we meet again."),
    *("Try it and tell me.", "That was the whole truth.", "Which one would you choose?"),
    *("Stay curious.", "Call me if you need more.", "And nothing was ever the same."),
    *("With warm regards from the team.", "So what is next?", "Keep up the work."),
)
SPLITTERS = ("SECTION", "Section", "PART", "Part", "CHAPTER", "Chapter", "Day", "Step", "Scene")
_FIRST = tuple(word for word in KEYWORDS if len(word) > 4)


def _paragraphs(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 6 + context.level)
    ask = WORDINGS.draw(rng, "paragraphs", n=number)
    return Drawn("length_constraints:number_paragraphs", {"num_paragraphs": number}, ask, True)


def _nth(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 3 + context.level)
    nth, word = rng.randint(1, number), rng.choice(_FIRST)
    ask = WORDINGS.draw(rng, "nth paragraph", n=number, i=nth, w=word)
    kwargs = {"num_paragraphs": number, "nth_paragraph": nth, "first_word": word}
    return Drawn("length_constraints:nth_paragraph_first_word", kwargs, ask, True)


def _placeholders(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 3 + 2 * context.level)
    ask = WORDINGS.draw(rng, "placeholders", n=number)
    name = "detectable_content:number_placeholders"
    return Drawn(name, {"num_placeholders": number}, ask)


def _postscript(rng: Random, context: Context) -> Drawn:
    marker = rng.choice(("P.S.", "P.P.S"))
    ask = WORDINGS.draw(rng, "postscript", m=marker)
    return Drawn("detectable_content:postscript", {"postscript_marker": marker}, ask)


def _bullets(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 7 + context.level)
    ask = WORDINGS.draw(rng, "bullets", b=counted(number, "bullet point"))
    return Drawn("detectable_format:number_bullet_lists", {"num_bullets": number}, ask, True)


def _constrained(rng: Random, context: Context) -> Drawn:
    options = rng.sample(("My answer is yes.", "My answer is no.", "My answer is maybe."), 3)
    shown = ", ".join(f'"{option}"' for option in options)
    # all options leave room for reasons, and so for other constraints
    ask = WORDINGS.draw(rng, "constrained", o=shown)
    return Drawn("detectable_format:constrained_response", {}, ask)


def _highlights(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 3 + 2 * context.level)
    ask = WORDINGS.draw(rng, "highlights", n=number)
    name = "detectable_format:number_highlighted_sections"
    return Drawn(name, {"num_highlights": number}, ask)


def _sections(rng: Random, context: Context) -> Drawn:
    splitter, number = rng.choice(SPLITTERS), rng.randint(2, 4 + context.level)
    ask = WORDINGS.draw(rng, "sections", n=number, s=splitter)
    kwargs = {"section_spliter": splitter, "num_sections": number}
    return Drawn("detectable_format:multiple_sections", kwargs, ask, True)


def _json(rng: Random, context: Context) -> Drawn:
    return Drawn("detectable_format:json_format", {}, WORDINGS.draw(rng, "json"))


def _title(rng: Random, context: Context) -> Drawn:
    return Drawn("detectable_format:title", {}, WORDINGS.draw(rng, "title"))


def _two(rng: Random, context: Context) -> Drawn:
    return Drawn("combination:two_responses", {}, WORDINGS.draw(rng, "two responses"))


def _repeat(rng: Random, context: Context) -> Drawn:
    ask = WORDINGS.draw(rng, "repeat", p=context.request)
    kwargs = {"prompt_to_repeat": context.request}
    return Drawn("combination:repeat_prompt", kwargs, ask, True)


def _end(rng: Random, context: Context) -> Drawn:
    phrase = rng.choice(ENDINGS)
    ask = WORDINGS.draw(rng, "ending", p=phrase)
    return Drawn("startend:end_checker", {"end_phrase": phrase}, ask, True)


def _quotation(rng: Random, context: Context) -> Drawn:
    return Drawn("startend:quotation", {}, WORDINGS.draw(rng, "quotation"))


def form_kinds() -> tuple[Kind, ...]:
    return (
        Kind("length_constraints:number_paragraphs", _paragraphs, True),
        Kind("length_constraints:nth_paragraph_first_word", _nth, True),
        Kind("detectable_content:number_placeholders", _placeholders),
        Kind("detectable_content:postscript", _postscript),
        Kind("detectable_format:number_bullet_lists", _bullets, True),
        Kind("detectable_format:constrained_response", _constrained),
        Kind("detectable_format:number_highlighted_sections", _highlights),
        Kind("detectable_format:multiple_sections", _sections, True),
        Kind("detectable_format:json_format", _json),
        Kind("detectable_format:title", _title),
        Kind("combination:two_responses", _two),
        Kind("combination:repeat_prompt", _repeat, True),
        Kind("startend:end_checker", _end, True),
        Kind("startend:quotation", _quotation),
    )
