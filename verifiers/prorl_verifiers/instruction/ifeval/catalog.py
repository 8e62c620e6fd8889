"""The arguments, checks and deviations of IFEval's instruction ids."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.ifeval import fixed, official
from prorl_verifiers.instruction.types import LANGDETECT, LANGID, NLTK, Instruction

_WHOLE = "published: an unescaped pattern inside other words (`le` is found in `leave`); a keyword is asked for, so it must stand as a word"
_LINE = "published: anywhere in the text, so a mention counts"

IFEVAL: Mapping[str, Instruction] = {
    "keywords:existence": Instruction(
        ("keywords",), fixed.keywords_existence, official.keywords_existence,
        "every keyword stands in the text as a whole word or phrase, in any case", _WHOLE, patterns=("keywords",),
    ),
    "keywords:frequency": Instruction(
        ("keyword", "relation", "frequency"), fixed.keywords_frequency, official.keywords_frequency,
        "the number of whole-word occurrences stands in the relation to `frequency`", _WHOLE, patterns=("keyword",),
    ),
    "keywords:forbidden_words": Instruction(
        ("forbidden_words",), fixed.forbidden_words, official.forbidden_words,
        "no forbidden word stands in the text as a whole word, in any case or disguise",
        "published: an unescaped pattern, so `a.b` forbids `axb` and a word that ends in a mark (`c++`) is never found", patterns=("forbidden_words",),
    ),
    "keywords:letter_frequency": Instruction(
        ("letter", "let_relation", "let_frequency"), fixed.letter_frequency, official.letter_frequency,
        "the number of occurrences of the character, in any case or disguise, stands in the relation",
        "published: lookalikes are other letters (older versions draw a letter at random when it is not a-z)",
    ),
    "language:response_language": Instruction(
        ("language",), fixed.response_language, official.response_language,
        "py3langid finds the language in the whole text and in nine tenths of the text in long lines (of more than "
        "500, in 500 evenly spread)",
        "published: langdetect, unseeded, a text without features counts as followed; here a text that cannot be "
        "told is not in the language, and an English gloss under it is another language",
        fixed_needs=LANGID, reference_needs=LANGDETECT,
    ),
    "length_constraints:number_sentences": Instruction(
        ("relation", "num_sentences"), fixed.number_sentences, official.number_sentences,
        "the number of sentences that hold a letter or digit stands in the relation",
        "published: Punkt, which counts the mark of a list item (`1.`) and a row of emoji as sentences",
        reference_needs=NLTK,
    ),
    "length_constraints:number_paragraphs": Instruction(
        ("num_paragraphs",), fixed.number_paragraphs, official.number_paragraphs,
        "exactly so many parts with a word between `***` dividers that stand by themselves",
        "published: any `***`, so `***bold***` divides, and a part of punctuation is a paragraph",
    ),
    "length_constraints:number_words": Instruction(
        ("relation", "num_words"), fixed.number_words, official.number_words,
        "the number of runs of word characters with a letter or digit, joined by apostrophes, stands in the relation",
        "published: `don't` is two words, a run of underscores one, and a vowel sign of Hindi and its like cuts one in "
        "two (not with the newest NLTK)",
    ),
    "length_constraints:nth_paragraph_first_word": Instruction(
        ("num_paragraphs", "nth_paragraph", "first_word"),
        fixed.nth_paragraph_first_word, official.nth_paragraph_first_word,
        "exactly `num_paragraphs` paragraphs between blank lines, and the n-th begins with the word",
        "published: blank paragraphs are left out of the count but not of the index, and `*Word*` is not the word",
    ),
    "detectable_content:number_placeholders": Instruction(
        ("num_placeholders",), fixed.number_placeholders, official.number_placeholders,
        "at least so many `[...]` with a letter or digit inside, links left out",
        "published: `[]`, `[ ]` and the text of a link count",
    ),
    "detectable_content:postscript": Instruction(
        ("postscript_marker",), fixed.postscript, official.postscript,
        "the marker begins a line or follows a sentence, and words follow it",
        "published: the marker anywhere, even inside a word or as the last thing",
        patterns=("postscript_marker",),
    ),
    "detectable_format:number_bullet_lists": Instruction(
        ("num_bullets",), fixed.number_bullet_lists, official.number_bullet_lists,
        "exactly so many lines that begin with `*`, `-` or `+`, a space and a word",
        "published: `---`, `-5` and a line that begins with `*emphasis*` are bullets, `+` is none",
    ),
    "detectable_format:constrained_response": Instruction(
        (), fixed.constrained_response, official.constrained_response,
        "exactly one of `My answer is yes.`, `... no.`, `... maybe.` is in the text",
        "published: at least one, so listing all three is followed",
    ),
    "detectable_format:number_highlighted_sections": Instruction(
        ("num_highlights",), fixed.number_highlighted_sections, official.number_highlighted_sections,
        "at least so many `*...*`, `**...**` or `***...***` on one line around words, no space just inside",
        "published: the text between two list marks or stray asterisks counts, and so does punctuation",
    ),
    "detectable_format:multiple_sections": Instruction(
        ("section_spliter", "num_sections"), fixed.multiple_sections, official.multiple_sections,
        "at least so many different numbers behind the splitter at the beginning of a line",
        _LINE + ", the same number counts again, and the splitter is an unescaped pattern",
        patterns=("section_spliter",),
    ),
    "detectable_format:json_format": Instruction(
        (), fixed.json_format, official.json_format,
        "the text, or what its code fence holds, is a JSON object or array that is not empty",
        "published: a bare number or string, `{}` and `NaN` are JSON",
    ),
    "detectable_format:title": Instruction(
        (), fixed.title, official.title,
        "`<<...>>` on one line with a letter or digit inside",
        "published: punctuation inside is a title; its pattern is quadratic",
    ),
    "combination:two_responses": Instruction(
        (), fixed.two_responses, official.two_responses,
        "two parts with words around a run of exactly six asterisks that differ in more than case and space",
        "published: parts of punctuation, and parts that differ in case, are two responses",
    ),
    "combination:repeat_prompt": Instruction(
        ("prompt_to_repeat",), fixed.repeat_prompt, official.repeat_prompt,
        "the text begins with the prompt, in any case and spacing, and an answer follows",
        "published: the prompt alone is followed, another line break in it is not",
    ),
    "startend:end_checker": Instruction(
        ("end_phrase",), fixed.end_checker, official.end_checker,
        "the text ends with the phrase as whole words, closing quotes and asterisks left out",
        "published: the end of a longer word counts (`end` in `friend`), a closing `*` or typographic quote does not pass",
    ),
    "startend:quotation": Instruction(
        (), fixed.quotation, official.quotation,
        'the text begins with `"` and ends with `"` (or with typographic double quotes) around words',
        "published: two quotes around nothing pass, typographic double quotes do not",
    ),
    "change_case:capital_word_frequency": Instruction(
        ("capital_relation", "capital_frequency"), fixed.capital_word_frequency, official.capital_word_frequency,
        "the number of words without a lowercase letter (hyphenated ones count once) stands in the relation",
        "published: NLTK's tokens, of which `DON'T` is two",
        reference_needs=NLTK,
    ),
    "change_case:english_capital": Instruction(
        (), fixed.english_capital, official.english_capital,
        "no lowercase letter, nine of ten letters a-z, and English by py3langid on the lowercase text",
        "published: langdetect on capitals, unseeded, often another language; undetectable counts as followed",
        fixed_needs=LANGID, reference_needs=LANGDETECT,
    ),
    "change_case:english_lowercase": Instruction(
        (), fixed.english_lowercase, official.english_lowercase,
        "no capital letter, nine of ten letters a-z, and English by py3langid",
        "published: langdetect, unseeded; undetectable counts as followed",
        fixed_needs=LANGID, reference_needs=LANGDETECT,
    ),
    "punctuation:no_comma": Instruction(
        (), fixed.no_comma, official.no_comma,
        "no comma, the commas of other scripts included",
        "published: the ASCII comma only",
    ),
}  # fmt: skip
