"""The 30 French ids of M-IFEval: arguments, checks, and how ``fixed`` differs from the published checker and why."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.ifeval import official as published
from prorl_verifiers.instruction.ifeval.catalog import IFEVAL
from prorl_verifiers.instruction.mifeval.french import fixed, official
from prorl_verifiers.instruction.types import LANGDETECT, LANGID, PUNKT_FRENCH, Instruction

_AS_IFEVAL = [
    "keywords:existence",
    "keywords:frequency",
    "keywords:forbidden_words",
    "keywords:letter_frequency",
    "language:response_language",
    "length_constraints:number_paragraphs",
    "length_constraints:nth_paragraph_first_word",
    "detectable_content:number_placeholders",
    "detectable_content:postscript",
    "detectable_format:number_bullet_lists",
    "detectable_format:number_highlighted_sections",
    "detectable_format:multiple_sections",
    "detectable_format:json_format",
    "combination:two_responses",
    "combination:repeat_prompt",
    "startend:end_checker",
    "change_case:capital_word_frequency",
    "punctuation:no_comma",
]
"""Ids that are judged as IFEval's of the same name."""

FRENCH: Mapping[str, Instruction] = {
    **{f"fr:{name}": IFEVAL[name] for name in _AS_IFEVAL},
    "fr:length_constraints:number_words": Instruction(
        ("relation", "num_words"), fixed.number_words, published.number_words,
        "the number of runs of word characters with a letter or digit stands in the relation (`l'île` is two)",
        "published: a run of underscores is a word",
    ),
    "fr:length_constraints:number_sentences": Instruction(
        ("relation", "num_sentences"), fixed.number_sentences, official.number_sentences,
        "the number of sentences that hold a letter or digit stands in the relation (French abbreviations end none)",
        "published: Punkt's French tables and some more abbreviations; the mark of a list item (`1.`) is a sentence",
        (), PUNKT_FRENCH,
    ),
    "fr:detectable_format:constrained_response": Instruction(
        (), fixed.constrained_response, official.constrained_response,
        "exactly one of `Oui.`, `Non.`, `Peut-être.` is in the text, not as the end of a longer word",
        "published: at least one, so listing all three is followed",
    ),
    "fr:detectable_format:title": Instruction(
        (), fixed.title, official.title,
        "`##...##` on one line around words, no third `#`",
        "published: punctuation inside, and two headings (`## A` with a later `##` on the line), are a title",
    ),
    "fr:startend:quotation": Instruction(
        (), fixed.quotation, official.quotation,
        "the text begins and ends with a pair of quotes (`«»`, straight or typographic, double or single) around words",
        "published: two quotes around nothing pass, typographic quotes do not",
    ),
    "fr:change_case:french_capital": Instruction(
        (), fixed.french_capital, official.french_capital,
        "no small letter (ordinal marks aside), one capital, and French by py3langid on the small letters (or one of the three answers)",
        "published: langdetect, unseeded; undetectable counts as followed",
        LANGID, LANGDETECT,
    ),
    "fr:change_case:french_lowercase": Instruction(
        (), fixed.french_lowercase, official.french_lowercase,
        "no capital letter, one small one, and French by py3langid (or one of the three answers)",
        "published: langdetect, unseeded; undetectable counts as followed",
        LANGID, LANGDETECT,
    ),
    "fr:special_character:ethel_or_cedilla": Instruction(
        ("forbidden_char",), fixed.ethel_or_cedilla, official.ethel_or_cedilla,
        "the character is not in the text, in either case, composed or not",
        "published: `c` and a combining cedilla (NFD) are not `ç`",
    ),
    "fr:special_character:accents": Instruction(
        ("word_to_accentuate",), fixed.accents, official.accents,
        "at least half of the words stand in the text with their accents, none without or with other ones",
        "published: a text without any of the words is followed, accents in NFD are none",
    ),
    "fr:special_character:no_accents": Instruction(
        (), fixed.no_accents, official.no_accents,
        "no letter has a mark over or under it, the cedilla included",
        "published: a list of composed letters, so NFD accents and `ā` pass",
    ),
    "fr:detectable_content:informal_address": Instruction(
        (), fixed.informal_address, official.informal_address,
        "forms of `tu` stand in the text (`le ton` is none), more often than forms of `vous`",
        "published: one `tu`, `te`, `toi`, `ton`, `ta` or `tes` is enough, so `le ton` in a text that says `vous` passes and "
        "`t’` with a typographic apostrophe does not",
    ),
    "fr:detectable_content:no_digits": Instruction(
        (), fixed.no_digits, official.no_digits,
        "no digit, those in `²`, `½` and `①` included",
        "published: digits of those kinds pass",
    ),
}  # fmt: skip
"""Id -> instruction."""
