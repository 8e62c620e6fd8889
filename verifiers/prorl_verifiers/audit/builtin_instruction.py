"""Built-in instruction tasks: every registered id with example arguments, a group an id.

``CHANCE_ONE`` lists the ids that an empty-headed text meets by the constraint's own definition (a text
without commas has no comma; an echo of the keywords holds the keywords): such an id proves nothing and has
chance 1. All others ask for something that degenerate text must not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prorl_verifiers.audit.examples_mifeval import MIFEVAL_ARGUMENTS
from prorl_verifiers.audit.items import Group, Item, Probe, constant
from prorl_verifiers.audit.spoilt_instruction import right_text
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import Task, TaskError

_BY_NAME: dict[str, Any] = {
    "keywords": ["kaleidoscope", "nebula"],
    "keyword": "kaleidoscope",
    "keyword1": "kaleidoscope",
    "keyword2": "nebula",
    "forbidden_words": ["the"],
    "first_word": "kaleidoscope",
    "last_word": "nebula",
    "letter": "q",
    "language": "sw",
    "relation": "at least",
    "let_relation": "at least",
    "capital_relation": "at least",
    "frequency": 7,
    "let_frequency": 45,
    "capital_frequency": 35,
    "num_sentences": 43,
    "num_words": 700,
    "num_paragraphs": 17,
    "nth_paragraph": 6,
    "num_placeholders": 13,
    "num_bullets": 23,
    "num_highlights": 19,
    "num_sections": 17,
    "section_spliter": "SECTION",
    "postscript_marker": "P.P.S",
    "end_phrase": "and so the lantern went out",
    "prompt_to_repeat": "Write two verses about a lighthouse.",
    "phrase": "seven lanterns burn beside the harbour",
    "small_n": 3,
    "N": 7,
    "n": 7,
    "m": 5,
    "n_start": 2,
    "n_end": 7,
    "n_sent": 7,
    "n_words": 7,
    "min_words": 700,
    "max_words": 750,
    "percentage": 13,
    "reference_text": "The quick keeper of the lighthouse waxed his boots before every journey.",
    "options": "lantern/harbour/neither",
    "word": "kaleidoscope",
    "sep": "SEPARATOR",
    "keyword3": "obelisk",
    "keyword4": "quartz",
    "keyword5": "zephyr",
}
_OWN: dict[str, dict[str, Any]] = {
    "letters:letter_counting": {"N": 700},
    "count:unique_word_count": {"N": 300},
    "count:pronouns": {"N": 40},
    "ratio:overlap": {"percentage": 60},
}
"""Arguments of one id that differ from those above."""
_FORM_ONLY = """
    punctuation:no_comma punctuation:punctuation_dot punctuation:punctuation_exclamation
    keywords:forbidden_words keywords:exclude_word_harder keywords:no_adjacent_consecutive
    keywords:existence keywords:word_once keywords:start_end
    change_case:english_lowercase change_case:english_capital
    detectable_format:json_format detectable_format:title detectable_format:square_brackets
    detectable_format:bigram_wrapping
    combination:repeat_prompt combination:two_responses copy:copy copy:copying_simple
    startend:end_checker startend:quotation
    first_word:first_word_sent first_word:first_word_answer
    last_word:last_word_sent last_word:last_word_answer
    paragraphs:paragraphs paragraphs:paragraphs2 count:count_unique count:lowercase_counting
    ratio:stop_words words:alphabet words:vowel words:consonants words:prime_lengths words:start_verb words:repeats
    words:odd_even_syllables words:paragraph_last_first words:no_consecutive format:options format:newline
    format:quote_unquote format:sub-bullets format:title_case format:no_whitespace
    es:keywords:existence es:keywords:forbidden_words es:detectable_format:json_format es:detectable_format:title
    es:combination:two_responses es:combination:repeat_prompt es:punctuation:no_comma es:startend:quotation es:startend:end_checker
    fr:keywords:existence fr:keywords:forbidden_words fr:detectable_format:json_format fr:combination:two_responses
    fr:combination:repeat_prompt fr:startend:end_checker fr:punctuation:no_comma fr:startend:quotation
    fr:special_character:ethel_or_cedilla fr:special_character:accents fr:special_character:no_accents fr:detectable_content:no_digits
    ja:keywords:existence ja:keywords:forbidden_words ja:detectable_format:json_format ja:combination:two_responses
    ja:combination:repeat_prompt ja:startend:end_checker ja:startend:sentence_unified_end ja:letters:no_katakana
    ja:letters:no_hiragana ja:punctuation:no_comma ja:punctuation:no_period
"""
CHANCE_ONE = frozenset(_FORM_ONLY.split())
"""Ids met by a few words of the right form, or by an echo of the arguments, by definition."""


def instruction_groups() -> list[Group]:
    """Return one group for every registered id, and one of all ids for texts without a word.

    An id whose arguments this module has no example for is left out; ``uncovered_ids`` names it.
    """
    tasks = {name: task for name in registered() if (task := _task(name)) is not None}
    items = {
        name: Item(
            name,
            task,
            question(name, example(name)),
            None,
            float(name in CHANCE_ONE),
            right_text(name),
        )
        for name, task in tasks.items()
    }
    groups = [Group(f"instruction: {name}", "instruction", [item]) for name, item in items.items()]
    bare = [replace(item, chance=0.0) for item in items.values()]
    return [*groups, Group("instruction: no word at all", "instruction", bare, wordless=True)]


def registered() -> Mapping[str, tuple[str, ...]]:
    """Return instruction id -> the names of the arguments it needs."""
    from prorl_verifiers.instruction.registry import REGISTRY

    return {name: tuple(entry.kwargs) for name, entry in REGISTRY.items()}


def example(name: str) -> dict[str, Any]:
    """Return example arguments of an id (only those this module knows)."""
    local = MIFEVAL_ARGUMENTS.get(name.partition(":")[0], {})
    known = _BY_NAME | dict(local) | _OWN.get(name, {})
    return {key: known[key] for key in registered()[name] if key in known}


def uncovered_ids() -> list[str]:
    """Return the registered ids without a valid example."""
    return [name for name in registered() if _task(name) is None]


def _task(name: str) -> Task | None:
    reference: dict[str, Any] = {"instruction_id_list": [name], "kwargs": [example(name)]}
    try:
        return load_task("instruction", reference)
    except TaskError:
        return None


def question(name: str, kwargs: Mapping[str, Any]) -> str:
    """Return a plain wording of a constraint, for echoes."""
    words = name.split(":")[1].replace("_", " ")
    given = "; ".join(f"{key.replace('_', ' ')}: {value}" for key, value in kwargs.items())
    return f"Write about a lighthouse. Constraint: {words}. {given}".strip()


_TEXTS = {
    **{
        f"text {text!r}": text
        for text in ("a", "A", "1", ".", "-", "*", "**", "***", "******", '"', "[]")
    },
    **{
        f"text {text!r}": text
        for text in ("{}", "[", "<<>>", "<<a>>", "* *", "** **", '""', "P.S.", ",", "?")
    },
    **{
        f"text {text!r}": text
        for text in ("a a a", "A A A", "yes", "no", "null", "0", '"a"', "\\n", "\u200b")
    },
    "blank": " \n ",
    "empty": "",
    "empty list items": "* \n* \n* \n- \n- \n- ",
    "empty sections": "SECTION 1 SECTION 2 SECTION 3 Section 1 Section 2 Section 3",
    "empty placeholders": "[] [] [] [] [] [] [] [] [] []",
    "empty highlights": "** ** ** ** * * * * *** ***",
    "empty quotes": "\"\" '' ``",
    "two separators": "a******b",
    "stars between nothing": "***\n\n***\n\n***",
    "stops": ". . . . . . . . . . . . . . . . . . . .",
    "commas": ", , , , , , , ,",
    "new lines": "\n" * 30 + "a" + "\n" * 30,
    "paragraphs of a letter": "a\n\na\n\na\n\na\n\na",
    "letters in capitals": "A B C D E F G H I J",
    "every separator": '<<a>> [a] *a* **a** *** a\n* a\n- a\n"a" ****** P.S. a SECTION 1 a Section 2 a',
    "one plain sentence": "This is a plain sentence about nothing in particular.",
}


def instruction_probes() -> list[Probe]:
    """Return degenerate texts, and the echoes of a constraint's own arguments and id."""
    probes = [constant(name, text, raw=True) for name, text in _TEXTS.items()]
    probes.append(Probe("echo: constraint's arguments", _arguments, raw=True))
    probes.append(Probe("echo: constraint's id", _id, raw=True))
    return probes


def _arguments(item: Item, group: Group) -> str | None:
    kwargs = (item.task.reference.get("kwargs") or [{}])[0] or {}
    words = [" ".join(map(str, v)) if isinstance(v, list) else str(v) for v in kwargs.values()]
    return " ".join(words) or None


def _id(item: Item, group: Group) -> str | None:
    return str(item.task.reference["instruction_id_list"][0])
