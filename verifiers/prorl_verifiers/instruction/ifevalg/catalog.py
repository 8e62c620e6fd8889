"""The arguments, checks and deviations of IFEvalG's instruction ids."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.ifevalg import fixed, official
from prorl_verifiers.instruction.types import NLTK, Instruction

_WHOLE = "published: an unescaped pattern, found inside other words"
_VERBATIM = (
    "published: in any case, and another line break is a difference; verbatim keeps the case"
)
_SENTENCES = "published: a rule-based splitter, for which no sentence at all is followed; a quote or asterisk belongs to the word"

IFEVALG: Mapping[str, Instruction] = {
    "copy:repeat_phrase": Instruction(
        ("phrase", "small_n"), fixed.repeat_phrase, official.repeat_phrase,
        "the phrase stands there exactly `small_n` times, each with exactly one inner word replaced, never unchanged",
        "published: only the last one must be changed; case and punctuation of the first and last word matter",
        patterns=("phrase",),
    ),
    "copy:copy": Instruction(
        ("prompt_to_repeat",), fixed.copy_text, official.copy_text,
        "the text is the prompt, white space aside", _VERBATIM,
    ),
    "copy:copying_simple": Instruction(
        ("prompt_to_repeat",), fixed.copy_text, official.copy_text,
        "the text is the prompt, white space aside", _VERBATIM,
    ),
    "copy:copying_multiple": Instruction(
        ("prompt_to_repeat", "N"), fixed.copying_multiple, official.copying_multiple,
        "`N` parts between runs of exactly six asterisks, each the prompt, white space aside", _VERBATIM,
    ),
    "new:copy_span_idx": Instruction(
        ("prompt_to_repeat", "n_start", "n_end"), fixed.copy_span_idx, official.copy_span_idx,
        "the text is the prompt's characters from `n_start` to `n_end`, the last one in or out",
        "published: without the last character, though the prompt says including; in any case",
    ),
    "detectable_format:sentence_hyphens": Instruction(
        (), fixed.sentence_hyphens, official.sentence_hyphens,
        "two or more sentences, each joined to the next by a hyphen without a space",
        "published: one sentence is followed; a hyphen inside a word breaks it",
    ),
    "detectable_format:square_brackets": Instruction(
        (), fixed.square_brackets, official.square_brackets,
        "every token with a letter or digit is one word in `[...]`, punctuation behind it allowed",
        "published: `[word],` fails and `[]` passes",
    ),
    "detectable_format:bigram_wrapping": Instruction(
        (), fixed.bigram_wrapping, official.bigram_wrapping,
        "nothing but `<<word word>>` groups; the last may hold one word",
        "published: an odd last word and a text of one word are not looked at; `<<a b` then `c d>>` passes",
    ),
    "keywords:no_adjacent_consecutive": Instruction(
        (), fixed.no_adjacent_consecutive, official.no_adjacent_consecutive,
        "two words or more, and no word begins with the letter after the one that the word before begins with",
        "published: the first character, a quote or bracket included; a text of one word is followed",
    ),
    "keywords:word_once": Instruction(
        ("keyword",), fixed.word_once, official.word_once,
        "the keyword stands there exactly once as a whole word", _WHOLE, patterns=("keyword",),
    ),
    "keywords:word_count_different_numbers": Instruction(
        ("keyword", "frequency", "relation"), fixed.word_count_different_numbers, official.word_count_different_numbers,
        "the keyword stands there exactly `frequency` times as a whole word",
        "published: by `relation`, which the prompt of this id never names; an unescaped pattern",
        patterns=("keyword",),
    ),
    "keywords:exclude_word_harder": Instruction(
        ("keyword",), fixed.exclude_word_harder, official.exclude_word_harder,
        "the keyword stands nowhere as a whole word, in any case",
        "published: only with a space on both sides and in the same case, so `word.` passes",
    ),
    "keywords:palindrome": Instruction(
        (), fixed.palindrome, official.palindrome,
        "a word, quote, line or sentence of three letters or more, not all the same, reads the same backwards",
        "published: any token, so `a`, `I` and `--` are palindromes and `Level` or `noon.` are not",
    ),
    "keywords:keyword_specific_position": Instruction(
        ("keyword", "n", "m"), fixed.keyword_specific_position, official.keyword_specific_position,
        "the m-th word of the n-th sentence is the keyword, in any case",
        "published: NLTK's tokens, of which punctuation marks are some; the case matters",
        reference_needs=NLTK,
    ),
    "keywords:start_end": Instruction(
        (), fixed.start_end, official.start_end,
        "two words or more, the first and last the same in any case, nothing behind the last",
        "published: NLTK's tokens, so `! ... !` passes",
        reference_needs=NLTK,
    ),
    "paragraphs:paragraphs": Instruction(
        (), fixed.paragraphs_two, official.paragraphs_two,
        "two parts with words between `***` dividers that stand by themselves",
        "published: any `***`, so `***bold***` divides",
    ),
    "paragraphs:paragraphs2": Instruction(
        (), fixed.paragraphs_blank_line, official.paragraphs_blank_line,
        "two parts with words between blank lines",
        "published: a second blank line is an empty paragraph, a blank line with spaces is none",
    ),
    "first_word:first_word_sent": Instruction(
        ("first_word",), fixed.first_word_sent, official.first_word_sent,
        "every sentence begins with the word, in any case, and there is one", _SENTENCES,
    ),
    "first_word:first_word_answer": Instruction(
        ("first_word",), fixed.first_word_answer, official.first_word_answer,
        "the text begins with the word, in any case",
        "published: punctuation belongs to the word, so `Word, ...` fails",
    ),
    "last_word:last_word_sent": Instruction(
        ("last_word",), fixed.last_word_sent, official.last_word_sent,
        "every sentence ends with the word, in any case, and there is one", _SENTENCES,
    ),
    "last_word:last_word_answer": Instruction(
        ("last_word",), fixed.last_word_answer, official.last_word_answer,
        "the text ends with the word, in any case, punctuation aside",
        "published: a mark apart from the word (`word !`) fails",
    ),
    "punctuation:punctuation_dot": Instruction(
        (), fixed.punctuation_dot, official.punctuation_dot,
        "no full stop, ellipsis characters and the stops of other scripts included",
        "published: the ASCII full stop only",
    ),
    "punctuation:punctuation_exclamation": Instruction(
        (), fixed.punctuation_exclamation, official.punctuation_exclamation,
        "no exclamation mark, those of other scripts included",
        "published: the ASCII exclamation mark only",
    ),
    "count:lowercase_counting": Instruction(
        ("N",), fixed.lowercase_counting, official.lowercase_counting,
        "at most `N` words in lowercase letters, of one word or more",
        "published: a-z only, so a text without any word, or in another script, is followed",
    ),
    "letters:letter_counting": Instruction(
        ("N", "relation"), fixed.letter_counting, official.letter_counting,
        "the number of letters, of any script, stands in the relation to `N`",
        "published: a-z and A-Z only",
    ),
    "letters:letter_counting2": Instruction(
        ("letter", "let_relation", "let_frequency"), fixed.letter_counting2, official.letter_counting2,
        "as keywords:letter_frequency", "as keywords:letter_frequency",
    ),
    "count:counting_composition": Instruction(
        ("n_sent", "n_words"), fixed.counting_composition, official.counting_composition,
        "three parts between `***` or `* * *`, each of `n_sent` sentences of `n_words` words",
        "published: NLTK's tokens, so the full stop is a word; a divider at an end fails; `* * *`, which the prompt shows, is none",
        reference_needs=NLTK,
    ),
    "count:count_unique": Instruction(
        (), fixed.count_unique, official.count_unique,
        "no word twice, in any case, of one word or more",
        "published: NLTK's tokens, so a second full stop or comma fails, and `The the` passes",
        reference_needs=NLTK,
    ),
    "count:count_increment_word": Instruction(
        ("keyword1", "keyword2"), fixed.count_increment_word, official.count_increment_word,
        "the first keyword once and the second twice, as whole words", _WHOLE, patterns=("keyword1", "keyword2"),
    ),
}  # fmt: skip
