"""Constraints on form: parts, marks, beginnings and ends (14 of IFEval's 25 ids)."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.instruction.constraints.words import KEYWORDS
from prorl_datasets.procedural.instruction.drawn import Context, Drawn, Kind, counted, worded

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
    texts = (
        "There should be {n} paragraphs that are separated with the markdown divider ***.",
        "Write exactly {n} paragraphs and put the divider *** between them.",
        "Divide the response into exactly {n} parts with the markdown divider *** between them.",
    )
    ask = worded(rng, texts, n=number)
    return Drawn("length_constraints:number_paragraphs", {"num_paragraphs": number}, ask, True)


def _nth(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 3 + context.level)
    nth, word = rng.randint(1, number), rng.choice(_FIRST)
    texts = (
        (
            "There should be {n} paragraphs. Paragraphs and only paragraphs are separated with "
            'each other by two line breaks. Paragraph {i} must start with the word "{w}".'
        ),
        (
            "Write exactly {n} paragraphs with one blank line between them; paragraph {i} has to "
            'begin with the word "{w}".'
        ),
    )
    ask = worded(rng, texts, n=number, i=nth, w=word)
    kwargs = {"num_paragraphs": number, "nth_paragraph": nth, "first_word": word}
    return Drawn("length_constraints:nth_paragraph_first_word", kwargs, ask, True)


def _placeholders(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 3 + 2 * context.level)
    texts = (
        (
            "The response must contain at least {n} placeholders represented by square brackets "
            "such as [address]."
        ),
        "Use at least {n} placeholders in square brackets, for example [name].",
        "Leave at least {n} blanks to fill in, each written in square brackets like [date].",
    )
    ask = worded(rng, texts, n=number)
    name = "detectable_content:number_placeholders"
    return Drawn(name, {"num_placeholders": number}, ask)


def _postscript(rng: Random, context: Context) -> Drawn:
    marker = rng.choice(("P.S.", "P.P.S"))
    texts = (
        "Explicitly add a postscript starting with {m} at the end of your response.",
        'Finish with a postscript that begins with "{m}".',
        "Use the marker {m} to begin a postscript at the end.",
    )
    ask = worded(rng, texts, m=marker)
    return Drawn("detectable_content:postscript", {"postscript_marker": marker}, ask)


def _bullets(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 7 + context.level)
    texts = (
        "Your answer must contain exactly {b}. Use the markdown bullets (* This is a point).",
        "Use exactly {b} in markdown, each on a line that starts with an asterisk (*).",
        "Include exactly {b} in the form '* A point'.",
    )
    ask = worded(rng, texts, b=counted(number, "bullet point"))
    return Drawn("detectable_format:number_bullet_lists", {"num_bullets": number}, ask, True)


def _constrained(rng: Random, context: Context) -> Drawn:
    options = rng.sample(("My answer is yes.", "My answer is no.", "My answer is maybe."), 3)
    shown = ", ".join(f'"{option}"' for option in options)
    texts = (  # all leave room for reasons, and so for the other constraints
        "Give reasons. Your answer must contain exactly one of the following phrases: {o}.",
        "Say what you think and why, with exactly one of these sentences word for word in it: {o}.",
        "Explain your view; one of these sentences, and only one, has to stand in it word for word: {o}.",
    )
    ask = worded(rng, texts, o=shown)
    return Drawn("detectable_format:constrained_response", {}, ask)


def _highlights(rng: Random, context: Context) -> Drawn:
    number = rng.randint(2, 3 + 2 * context.level)
    texts = (
        "Highlight at least {n} sections in your answer with markdown, i.e. *highlighted section*.",
        "Mark at least {n} passages with asterisks, for example *this passage*.",
        "At least {n} phrases should be highlighted in markdown like *this*.",
    )
    ask = worded(rng, texts, n=number)
    name = "detectable_format:number_highlighted_sections"
    return Drawn(name, {"num_highlights": number}, ask)


def _sections(rng: Random, context: Context) -> Drawn:
    splitter, number = rng.choice(SPLITTERS), rng.randint(2, 4 + context.level)
    texts = (
        (
            "Your response must have {n} sections. Mark the beginning of each section with {s} X, "
            "such as {s} 1."
        ),
        (
            "Divide your answer into {n} sections that begin with {s} and a number: {s} 1, {s} 2 "
            "and so on."
        ),
        "Give the answer {n} sections; each starts on a new line with {s} X (X is its number).",
    )
    ask = worded(rng, texts, n=number, s=splitter)
    kwargs = {"section_spliter": splitter, "num_sections": number}
    return Drawn("detectable_format:multiple_sections", kwargs, ask, True)


def _json(rng: Random, context: Context) -> Drawn:
    texts = (
        "The entire output should be wrapped in JSON format.",
        "Give the whole answer as valid JSON.",
        "Your entire output should just contain a JSON block, nothing else.",
    )
    return Drawn("detectable_format:json_format", {}, worded(rng, texts))


def _title(rng: Random, context: Context) -> Drawn:
    texts = (
        "Your answer must contain a title wrapped in double angular brackets, such as <<a title>>.",
        "Include a title in double angular brackets, i.e. <<title>>.",
        "Put a title in double angle brackets like <<this>> into the answer.",
    )
    return Drawn("detectable_format:title", {}, worded(rng, texts))


def _two(rng: Random, context: Context) -> Drawn:
    texts = (
        (
            "Give two different responses. Responses and only responses should be separated by 6 "
            "asterisk symbols (******)."
        ),
        "Provide two different versions and separate them with six asterisks (******).",
        "I want exactly two different answers with the line ****** between them.",
    )
    return Drawn("combination:two_responses", {}, worded(rng, texts))


def _repeat(rng: Random, context: Context) -> Drawn:
    texts = (
        (
            'First repeat the request "{p}" word for word without change (without the quotation '
            "marks), then give your answer."
        ),
        'Before you answer, repeat this text exactly as it is, without quotation marks: "{p}"',
        (
            'Your response has to begin with the words "{p}" (unchanged and not in quotation '
            "marks); the answer follows behind them."
        ),
    )
    ask = worded(rng, texts, p=context.request)
    kwargs = {"prompt_to_repeat": context.request}
    return Drawn("combination:repeat_prompt", kwargs, ask, True)


def _end(rng: Random, context: Context) -> Drawn:
    phrase = rng.choice(ENDINGS)
    texts = (
        "Finish your response with this exact phrase: '{p}' No other words should follow it.",
        'The very end of your response should be "{p}"',
        'End with the exact words "{p}" and nothing after them.',
    )
    ask = worded(rng, texts, p=phrase)
    return Drawn("startend:end_checker", {"end_phrase": phrase}, ask, True)


def _quotation(rng: Random, context: Context) -> Drawn:
    texts = (
        "Wrap your entire response with double quotation marks.",
        "Put the whole answer inside double quotation marks.",
        'The response has to begin and end with a double quotation mark (").',
    )
    return Drawn("startend:quotation", {}, worded(rng, texts))


def form_kinds() -> tuple[Kind, ...]:
    """Return the kinds of constraints on form."""
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
