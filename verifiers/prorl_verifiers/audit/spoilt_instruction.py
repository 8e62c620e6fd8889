"""A text that follows each instruction id (with the example arguments of ``builtin_instruction``), and texts that just miss it.

A broken text is wrong by the constraint's own words: one too few, a keyword inside another word, something behind the end.
"""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.audit.examples import SENTENCE, SWAHILI, Example, nth_paragraph, parts
from prorl_verifiers.audit.examples_ifbench import IFBENCH_EXAMPLES
from prorl_verifiers.audit.examples_mifeval import mifeval_examples
from prorl_verifiers.audit.items import Group, Item, Mutation

_PROMPT = "Write two verses about a lighthouse."
_ENGLISH = "the river was wide and the people walked along it every morning"
_QS = "q " * 45


def _nth(count: int, nth: int) -> str:
    return nth_paragraph(count, nth, "Lamps glow here.", "Kaleidoscope lamps glow here.")


def _sections(numbers: list[int]) -> str:
    return "\n".join(f"SECTION {number}\nA gull cries." for number in numbers)


def _composition(last: str, groups: int = 3) -> str:
    part = " ".join([SENTENCE] * 7)
    return "\n***\n".join([part] * (groups - 1) + [" ".join([SENTENCE] * 6 + [last])])


def _position(sentence: str) -> str:
    return " ".join([SENTENCE] * 6 + [sentence])


_COPY = Example(
    _PROMPT,
    {
        "a word changed": _PROMPT.replace("two", "three"),
        "junk behind": f"{_PROMPT} xyzzy",
        "twice": f"{_PROMPT}\n{_PROMPT}",
    },
)
_LETTERS = Example(_QS, {"one too few": "q " * 44, "another letter": "g " * 45})

_IFEVAL: Mapping[str, Example] = {
    "keywords:existence": Example(
        "The kaleidoscope showed a nebula.",
        {
            "left out": "The kaleidoscope showed a cloud.",
            "inside another word": "The kaleidoscope showed nebulas.",
        },
    ),
    "keywords:frequency": Example(
        "kaleidoscope " * 7,
        {"one too few": "kaleidoscope " * 6, "inside another word": "kaleidoscopes " * 7},
    ),
    "keywords:forbidden_words": Example(
        "A lamp burns.",
        {
            "the word": "The lamp burns.",
            "the word with a mark behind": "A lamp burns: the!",
            "zero-width space": "T\u200bhe lamp burns.",
            "soft hyphen": "T\u00adhe lamp burns.",
            "another alphabet's letter": "Th\u0435 lamp burns.",
        },
    ),
    "keywords:letter_frequency": _LETTERS,
    "letters:letter_counting2": _LETTERS,
    "language:response_language": Example(
        SWAHILI,
        {"another language": _ENGLISH.capitalize() + ".", "a gloss": f"{SWAHILI}\n\n{_ENGLISH}"},
    ),
    "length_constraints:number_sentences": Example(
        f"{SENTENCE} " * 43, {"one too few": f"{SENTENCE} " * 42}
    ),
    "length_constraints:number_paragraphs": Example(
        parts(17), {"one too few": parts(16), "one too many": parts(18)}
    ),
    "length_constraints:number_words": Example(
        "lamp " * 700, {"one too few": "lamp " * 699, "a word with an apostrophe": "don't " * 350}
    ),
    "length_constraints:nth_paragraph_first_word": Example(
        _nth(17, 6), {"another place": _nth(17, 7), "one too few": _nth(16, 6)}
    ),
    "detectable_content:number_placeholders": Example(
        "[name] " * 13, {"one too few": "[name] " * 12, "an empty one": "[name] " * 12 + "[]"}
    ),
    "detectable_content:postscript": Example(
        "A lamp.\n\nP.P.S Remember the oil.",
        {"nothing behind it": "A lamp.\n\nP.P.S", "inside a word": "A lamp XP.P.S remember."},
    ),
    "detectable_format:number_bullet_lists": Example(
        "* lamp\n" * 23, {"one too few": "* lamp\n" * 22, "one too many": "* lamp\n" * 24}
    ),
    "detectable_format:constrained_response": Example(
        "My answer is yes.",
        {
            "two answers": "My answer is yes. My answer is no.",
            "another answer": "My answer is perhaps.",
        },
    ),
    "detectable_format:number_highlighted_sections": Example(
        "*old lamp* " * 19,
        {"one too few": "*old lamp* " * 18, "an empty one": "*old lamp* " * 18 + "* *"},
    ),
    "detectable_format:multiple_sections": Example(
        _sections(list(range(1, 18))),
        {
            "one too few": _sections(list(range(1, 17))),
            "a number again": _sections([*range(1, 17), 16]),
        },
    ),
    "detectable_format:json_format": Example(
        '{"lamp": 3}',
        {
            "junk behind": '{"lamp": 3} xyzzy',
            "junk before": 'xyzzy {"lamp": 3}',
            "another behind": '{"lamp": 3} {"lamp": 4}',
            "a comma more": '{"lamp": 3,}',
        },
    ),
    "detectable_format:title": Example(
        "<<Lamps>>\nA lamp burns.",
        {"one bracket": "<Lamps>\nA lamp burns.", "an empty one": "<<>>\nA lamp burns."},
    ),
    "combination:two_responses": Example(
        "One lamp.\n******\nTwo gulls.",
        {
            "twice the same": "One lamp.\n******\nOne lamp.",
            "one too many": "One lamp.\n******\nTwo gulls.\n******\nThree.",
            "five stars": "One lamp.\n*****\nTwo gulls.",
        },
    ),
    "combination:repeat_prompt": Example(
        f"{_PROMPT}\nA lamp burns.",
        {
            "a word changed": _PROMPT.replace("two", "three") + "\nA lamp burns.",
            "junk before": f"xyzzy {_PROMPT}\nA lamp burns.",
            "nothing behind it": _PROMPT,
        },
    ),
    "startend:end_checker": Example(
        "Night fell and so the lantern went out",
        {
            "junk behind": "Night fell and so the lantern went out xyzzy",
            "a word changed": "Night fell and so the lamp went out",
        },
    ),
    "startend:quotation": Example(
        '"A lamp burns."',
        {
            "junk behind": '"A lamp burns." xyzzy',
            "junk before": 'xyzzy "A lamp burns."',
            "one quote": '"A lamp burns.',
        },
    ),
    "change_case:capital_word_frequency": Example(
        "LAMP " * 35, {"one too few": "LAMP " * 34, "a small letter": "LAMP " * 34 + "LAMp"}
    ),
    "change_case:english_capital": Example(
        _ENGLISH.upper(),
        {"a small letter": _ENGLISH.upper() + " a", "another language": SWAHILI.upper()},
    ),
    "change_case:english_lowercase": Example(
        _ENGLISH, {"a capital letter": _ENGLISH + " A", "another language": SWAHILI.lower()}
    ),
    "punctuation:no_comma": Example(
        "A lamp burns.", {"a comma": "A lamp, burns.", "a full-width comma": "A lamp\uff0c burns."}
    ),
    "copy:repeat_phrase": Example(
        "seven lamps burn beside the harbour. seven lanterns glow beside the harbour. "
        "seven lanterns burn near the harbour.",
        {
            "one too few": "seven lamps burn beside the harbour. seven lanterns glow beside the harbour.",
            "one unchanged": "seven lamps burn beside the harbour. seven lanterns glow beside the harbour. "
            "seven lanterns burn beside the harbour.",
        },
    ),
    "copy:copy": _COPY,
    "copy:copying_simple": _COPY,
    "copy:copying_multiple": Example(
        parts(7, _PROMPT, "\n******\n"),
        {
            "one too few": parts(6, _PROMPT, "\n******\n"),
            "one too many": parts(8, _PROMPT, "\n******\n"),
            "a word changed": parts(6, _PROMPT, "\n******\n") + "\n******\nWrite two verses.",
        },
    ),
    "new:copy_span_idx": Example(
        _PROMPT[2:7], {"another place": _PROMPT[4:9], "all of it": _PROMPT}
    ),
    "detectable_format:sentence_hyphens": Example(
        "The lamp is lit.-The gull cries.",
        {"a space": "The lamp is lit. The gull cries.", "one sentence": "The lamp is lit."},
    ),
    "detectable_format:square_brackets": Example(
        "[the] [lamp] [burns]",
        {"one without": "[the] [lamp] burns", "two in one": "[the lamp] [burns]"},
    ),
    "detectable_format:bigram_wrapping": Example(
        "<<the lamp>> <<is lit>>",
        {"one without": "<<the lamp>> is lit", "three in one": "<<the lamp is>> <<lit now>>"},
    ),
    "keywords:no_adjacent_consecutive": Example(
        "gulls land", {"the next letter": "gulls have landed", "one word": "gulls"}
    ),
    "keywords:word_once": Example(
        "A kaleidoscope glows.",
        {
            "twice": "A kaleidoscope glows; the kaleidoscope.",
            "inside another word": "A kaleidoscopes glows.",
        },
    ),
    "keywords:word_count_different_numbers": Example(
        "kaleidoscope " * 7,
        {"one too few": "kaleidoscope " * 6, "one too many": "kaleidoscope " * 8},
    ),
    "keywords:exclude_word_harder": Example(
        "A lamp burns.",
        {
            "the word": "A kaleidoscope.",
            "in capitals": "A KALEIDOSCOPE!",
            "zero-width space": "A kaleido\u200bscope.",
            "soft hyphen": "A kaleido\u00adscope.",
            "another alphabet's letter": "A kal\u0435idoscope.",
        },
    ),
    "keywords:palindrome": Example(
        "The level fell.", {"none": "The lamp fell.", "a letter": "I saw a lamp."}
    ),
    "keywords:keyword_specific_position": Example(
        _position("The old keeper saw kaleidoscope lamps glow."),
        {
            "another place": _position("The old keeper kaleidoscope saw lamps glow."),
            "another sentence": "The old keeper saw kaleidoscope lamps. " + _position("A lamp."),
        },
    ),
    "keywords:start_end": Example(
        "Lamps outshine other lamps",
        {"junk behind": "Lamps outshine other lamps now", "another word": "Lamps outshine gulls"},
    ),
    "paragraphs:paragraphs": Example(parts(2), {"one too few": parts(1), "one too many": parts(3)}),
    "paragraphs:paragraphs2": Example(
        parts(2, mark="\n\n"),
        {
            "one too few": parts(1),
            "one too many": parts(3, mark="\n\n"),
            "no blank line": parts(2, mark="\n"),
        },
    ),
    "first_word:first_word_sent": Example(
        "Kaleidoscope one glows. Kaleidoscope two glows.",
        {"one without": "Kaleidoscope one glows. The second glows."},
    ),
    "first_word:first_word_answer": Example(
        "Kaleidoscope lamps glow.",
        {
            "junk before": "The kaleidoscope lamps glow.",
            "inside another word": "Kaleidoscopes glow.",
        },
    ),
    "last_word:last_word_sent": Example(
        "I saw a nebula. You saw the nebula.", {"one without": "I saw a nebula. You saw the lamp."}
    ),
    "last_word:last_word_answer": Example(
        "I saw a nebula.",
        {"junk behind": "I saw a nebula again.", "inside another word": "I saw nebulas."},
    ),
    "punctuation:punctuation_dot": Example(
        "A lamp burns", {"a full stop": "A lamp burns.", "an ellipsis": "A lamp burns\u2026"}
    ),
    "punctuation:punctuation_exclamation": Example(
        "A lamp burns.", {"a mark": "A lamp burns!", "a full-width mark": "A lamp burns\uff01"}
    ),
    "count:lowercase_counting": Example("lamp " * 7, {"one too many": "lamp " * 8}),
    "letters:letter_counting": Example("lamp " * 175, {"one too few": "lamp " * 174 + "oil"}),
    "count:counting_composition": Example(
        _composition(SENTENCE),
        {
            "a word too few": _composition("The old keeper lit his lamp."),
            "one too few": _composition(SENTENCE, 2),
        },
    ),
    "count:count_unique": Example(
        "a lamp burns", {"a word again": "a lamp burns a", "in capitals": "a lamp burns A"}
    ),
    "count:count_increment_word": Example(
        "kaleidoscope nebula nebula",
        {
            "one too few": "kaleidoscope nebula",
            "one too many": "kaleidoscope nebula nebula nebula",
        },
    ),
}

EXAMPLES: Mapping[str, Example] = {**_IFEVAL, **IFBENCH_EXAMPLES, **mifeval_examples(_IFEVAL)}
"""Id -> example, of every id."""


def right_text(instruction: str) -> str | None:
    """Return a text that follows an id with its example arguments, None where none is written down here."""
    example = EXAMPLES.get(instruction)
    return None if example is None else example.right


def instruction_mutations() -> list[Mutation]:
    """Return what breaks one of the examples, by its name; each applies to the ids that have such a broken text."""
    names = dict.fromkeys(name for example in EXAMPLES.values() for name in example.broken)
    return [_broken(name) for name in names]


def _broken(name: str) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        ids = item.task.reference["instruction_id_list"]
        example = EXAMPLES.get(ids[0]) if len(ids) == 1 else None
        return None if example is None or right != example.right else example.broken.get(name)

    return Mutation(name, "broken", spoil)
