"""The 30 Spanish ids of M-IFEval: arguments, checks, and how ``fixed`` differs from the published checker and why."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.ifeval import fixed as ifeval
from prorl_verifiers.instruction.ifeval import official as published
from prorl_verifiers.instruction.ifeval.catalog import IFEVAL
from prorl_verifiers.instruction.mifeval.spanish import fixed, official
from prorl_verifiers.instruction.types import LANGDETECT, LANGID, SPACY, Instruction

_TOKENS = "published: spaCy's tokens, of which a run of white space is one"
_MARKED = _TOKENS + "; a letter and its mark as two characters (NFD) are not seen"
_MOST = "; `como máximo` is taken and not looked at"
_AS_IFEVAL = [
    "keywords:existence",
    "keywords:frequency",
    "keywords:forbidden_words",
    "keywords:letter_frequency",
    "language:response_language",
    "length_constraints:number_paragraphs",
    "detectable_format:json_format",
    "detectable_format:title",
    "combination:two_responses",
    "combination:repeat_prompt",
    "punctuation:no_comma",
    "startend:quotation",
]
"""Ids that are judged as IFEval's of the same name."""

SPANISH: Mapping[str, Instruction] = {
    **{f"es:{name}": IFEVAL[name] for name in _AS_IFEVAL},
    "es:length_constraints:number_words": Instruction(
        ("relation", "num_words"), fixed.number_words, official.number_words,
        "as IFEval's, the marks of list items left out",
        _TOKENS + ", and so is a symbol (`+`, `€`)",
        (), SPACY,
    ),
    "es:length_constraints:number_sentences": Instruction(
        ("relation", "num_sentences"), fixed.number_sentences, official.number_sentences,
        "the number of sentences that hold a letter or digit stands in the relation (Spanish abbreviations end none)",
        "published: spaCy's parser, another model for a text that langdetect (unseeded) does not take for Spanish; "
        "headings and commas can end a sentence",
        (), (*SPACY, *LANGDETECT), downloads=(official.SPANISH_MODEL, official.OTHER_MODEL),
    ),
    "es:length_constraints:nth_paragraph_first_word": Instruction(
        ("num_paragraphs", "nth_paragraph", "first_word"),
        fixed.nth_paragraph_first_word, official.nth_paragraph_first_word,
        "exactly `num_paragraphs` paragraphs between blank lines, and the n-th begins with the word or phrase",
        "published: blank paragraphs are left out of the count but not of the index; `«Para` and `¿Para` are not `Para`",
    ),
    "es:detectable_content:number_placeholders": Instruction(
        ("relation", "num_placeholders"), fixed.number_placeholders, published.number_placeholders,
        "the number of `[...]` with a letter or digit inside, links left out, stands in the relation",
        "published: `[]`, `[ ]` and the text of a link count" + _MOST,
    ),
    "es:detectable_content:postscript": Instruction(
        ("postscript_marker",), ifeval.postscript, official.postscript,
        "the marker begins a line or follows a sentence, and words follow it",
        "published: the marker anywhere, so `notable` is the postscript `Nota`",
        patterns=("postscript_marker",),
    ),
    "es:detectable_format:number_bullet_lists": Instruction(
        ("num_bullets",), ifeval.number_bullet_lists, official.number_bullet_lists,
        "exactly so many lines that begin with `*`, `-` or `+`, a space and a word",
        "published: lines that begin with `*` alone, those with `*emphasis*` too",
    ),
    "es:detectable_format:constrained_response": Instruction(
        (), fixed.constrained_response, official.constrained_response,
        "exactly one of `Sí.`, `No.`, `Quizás.` is in the text, not as the end of a longer word",
        "published: at least one, so listing all three is followed",
    ),
    "es:detectable_format:number_highlighted_sections": Instruction(
        ("relation", "num_highlights"), fixed.number_highlighted_sections, published.number_highlighted_sections,
        "the number of `*...*`, `**...**` or `***...***` on one line around words stands in the relation",
        "published: the text between two list marks or stray asterisks counts, `**...**` twice" + _MOST,
    ),
    "es:detectable_format:multiple_sections": Instruction(
        ("relation", "section_spliter", "num_sections"), fixed.multiple_sections, published.multiple_sections,
        "the number of different numbers behind the splitter at the beginning of a line stands in the relation",
        "published: anywhere in the text, so a mention counts, the same number counts again" + _MOST,
        patterns=("section_spliter",),
    ),
    "es:punctuation:question_marks": Instruction(
        (), fixed.question_marks, official.question_marks,
        "a word stands between `¿` and the next `?`",
        "published: punctuation between them is a question",
    ),
    "es:punctuation:exclamation_marks": Instruction(
        (), fixed.exclamation_marks, official.exclamation_marks,
        "a word stands between `¡` and the next `!`",
        "published: punctuation between them is an exclamation",
    ),
    "es:startend:end_checker": Instruction(
        ("end_phrase",), fixed.end_checker, official.end_checker,
        "the text ends with the phrase as whole words, a full stop, closing quotes and asterisks left out",
        "published: the end of a longer word counts, a closing `*` does not pass, a phrase with its own full stop never does",
    ),
    "es:change_case:capital_word_frequency": Instruction(
        ("capital_relation", "capital_frequency"), ifeval.capital_word_frequency, official.capital_word_frequency,
        "the number of words without a lowercase letter (hyphenated ones count once) stands in the relation",
        "published: spaCy's tokens, of which `TEÓRICO-PRÁCTICO` is more than one",
        (), SPACY,
    ),
    "es:change_case:spanish_capital": Instruction(
        (), fixed.spanish_capital, official.spanish_capital,
        "no small letter (ordinal marks aside), one capital, and Spanish by py3langid on the small letters (or one of the three answers)",
        "published: langdetect, unseeded; undetectable counts as followed, so does a text of digits; `1.ª` does not pass",
        LANGID, LANGDETECT,
    ),
    "es:change_case:spanish_lowercase": Instruction(
        (), fixed.spanish_lowercase, official.spanish_lowercase,
        "no capital letter, one small one, and Spanish by py3langid (or one of the three answers)",
        "published: langdetect, unseeded; undetectable counts as followed",
        LANGID, LANGDETECT,
    ),
    "es:special_character:enie": Instruction(
        ("let_frequency",), fixed.enie, official.enie,
        "exactly so many words with ñ, of either case", _MARKED, (), SPACY,
    ),
    "es:special_character:dieresis": Instruction(
        ("let_frequency",), fixed.dieresis, official.dieresis,
        "exactly so many words with ü, of either case", _MARKED, (), SPACY,
    ),
    "es:special_character:tildes": Instruction(
        ("relation", "num_words"), fixed.tildes, official.tildes,
        "the number of words with á, é, í, ó or ú, of either case, stands in the relation", _MARKED, (), SPACY,
    ),
}  # fmt: skip
"""Id -> instruction."""
