"""The 33 Japanese ids of M-IFEval: arguments, checks, and how ``fixed`` differs from the published checker and why."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.ifeval import fixed as ifeval
from prorl_verifiers.instruction.ifeval import official as published
from prorl_verifiers.instruction.ifeval.catalog import IFEVAL
from prorl_verifiers.instruction.mifeval.japanese import fixed, official
from prorl_verifiers.instruction.types import JANOME, Instruction

_TOKENS = "published: one of Janome's tokens, so a compound (`秘密の特訓`) is never found and a word inside another token is not"
_WIDTH = "; full-width and half-width forms are other letters"
_NFD = "published: letters outside the list (`ゝ`, `ゔ`, `ヴ`) are of no kana"
_AS_IFEVAL = [
    "language:response_language",
    "detectable_format:json_format",
    "combination:two_responses",
]
"""Ids that are judged as IFEval's of the same name."""

JAPANESE: Mapping[str, Instruction] = {
    **{f"ja:{name}": IFEVAL[name] for name in _AS_IFEVAL},
    "ja:keywords:existence": Instruction(
        ("keywords",), ifeval.keywords_existence, official.keywords_existence,
        "every keyword stands in the text, in any width", _TOKENS, (), JANOME,
    ),
    "ja:keywords:frequency": Instruction(
        ("keyword", "relation", "frequency"), ifeval.keywords_frequency, official.keywords_frequency,
        "the number of occurrences, in any width, stands in the relation to `frequency`", _TOKENS, (), JANOME,
    ),
    "ja:keywords:forbidden_words": Instruction(
        ("forbidden_words",), ifeval.forbidden_words, official.forbidden_words,
        "no forbidden word stands in the text, in any width", _TOKENS, (), JANOME,
    ),
    "ja:keywords:letter_frequency": Instruction(
        ("letter", "let_relation", "let_frequency"), fixed.letter_frequency, official.letter_frequency,
        "the number of occurrences of the kana, in hiragana or katakana of any width, stands in the relation",
        "published: half-width katakana are not counted",
    ),
    "ja:length_constraints:number_paragraphs": Instruction(
        ("num_paragraphs",), fixed.number_paragraphs, published.number_paragraphs,
        "exactly so many parts with a word between `***` dividers, each behind white space or the end of a sentence and before white space",
        "published: any `***`, so `***強調***` divides, and a part of punctuation is a paragraph",
    ),
    "ja:length_constraints:number_sentences": Instruction(
        ("relation", "num_sentences"), fixed.number_sentences, official.number_sentences,
        "the number of sentences with a word stands in the relation; 。！？ and line breaks end one, not inside 「」 and 『』",
        "published: ja_sentence_segmenter, to which a mark alone and a line of white space are sentences and a line that ends with の ends none",
    ),
    "ja:length_constraints:number_letters": Instruction(
        ("relation", "num_letters"), fixed.number_letters, official.number_letters,
        "the number of characters without white space stands in the relation, a letter and its mark (NFD) as one",
        "published: spaces and line breaks count, so padding passes",
    ),
    "ja:length_constraints:nth_paragraph_first_word": Instruction(
        ("num_paragraphs", "nth_paragraph", "first_word"),
        fixed.nth_paragraph_first_word, official.nth_paragraph_first_word,
        "exactly `num_paragraphs` paragraphs between blank lines, and the n-th begins with the word, quotes and marks before it left out",
        "published: blank paragraphs are left out of the count but not of the index, `**首**` is not the word, and a capital letter in "
        "the word never passes",
    ),
    "ja:detectable_content:number_placeholders": Instruction(
        ("num_placeholders",), fixed.number_placeholders, published.number_placeholders,
        "at least so many `[...]` or `［...］` with a letter or digit inside, links left out",
        "published: `[]` and the text of a link count, `［］` does not",
    ),
    "ja:detectable_content:postscript": Instruction(
        ("postscript_marker",), fixed.postscript, official.postscript,
        "the marker begins a line or follows a sentence, and words follow it",
        "published: the marker anywhere, or as the last thing",
    ),
    "ja:detectable_format:number_bullet_lists": Instruction(
        ("num_bullets",), fixed.number_bullet_lists, official.number_bullet_lists,
        "exactly so many lines that begin with `・`, of any width, and hold a word",
        "published: `・` with nothing behind it takes the next line, half-width `･` is none",
    ),
    "ja:detectable_format:number_numbered_lists": Instruction(
        ("num_items",), fixed.number_numbered_lists, official.number_numbered_lists,
        "exactly so many lines that begin with a number and a full stop, of any width, and hold a word",
        "published: a space must follow the full stop, a number without a text is an item",
    ),
    "ja:detectable_format:constrained_response": Instruction(
        (), fixed.constrained_response, official.constrained_response,
        "exactly one of `はい、そうです。`, `いいえ、違います。`, `どちらとも言えません。` is in the text",
        "published: at least one, so listing all three is followed",
    ),
    "ja:detectable_format:number_highlighted_sections": Instruction(
        ("num_highlights",), fixed.number_highlighted_sections, official.number_highlighted_sections,
        "at least so many `《...》` on one line around words",
        "published: punctuation inside is a highlight",
    ),
    "ja:detectable_format:multiple_sections": Instruction(
        ("section_spliter", "num_sections"), fixed.multiple_sections, official.multiple_sections,
        "at least so many different numbers in `第N` and the splitter, at the beginning of a line",
        "published: anywhere in the text, so a mention counts, and the same number counts again",
        patterns=("section_spliter",),
    ),
    "ja:detectable_format:title": Instruction(
        (), fixed.title, official.title,
        "`『...』` on one line around words",
        "published: punctuation inside is a title",
    ),
    "ja:detectable_format:nominal_ending": Instruction(
        ("count",), fixed.nominal_ending, official.nominal_ending,
        "at least so many sentences whose last letter before 。！？ is no hiragana, or whose end looks like a noun (`美しさ`, `流れ`, `こと`)",
        "published: Janome's word before the mark is a noun, which it also finds in `静か`, `です` after a number, and quotes",
        (), JANOME,
    ),
    "ja:combination:repeat_prompt": Instruction(
        ("prompt_to_repeat",), ifeval.repeat_prompt, official.repeat_prompt,
        "the text begins with the prompt, in any case and spacing, and an answer follows",
        "published: the prompt alone is followed, another line break in it is not",
    ),
    "ja:startend:end_checker": Instruction(
        ("end_phrase",), fixed.end_checker, official.end_checker,
        "the text ends with the phrase, in any width and spacing, closing quotes and brackets left out",
        "published: full-width and half-width marks differ, a closing `）` or `*` does not pass",
    ),
    "ja:startend:sentence_unified_end": Instruction(
        ("ending",), fixed.sentence_unified_end, official.sentence_unified_end,
        "there is a sentence outside of quotes, and every one ends with the letters",
        "published: a text of quotes alone is followed, a line break or an emoji behind the last mark is not",
    ),
    "ja:startend:quotation": Instruction(
        (), fixed.quotation, official.quotation,
        "one pair of `「」` around the whole text and its words",
        "published: nothing inside, and two pairs one after the other, pass",
    ),
    "ja:letters:furigana": Instruction(
        (), fixed.furigana, official.furigana,
        "there is a kanji, and behind every run of kanji stands `（...）` with hiragana inside",
        "published: a text without kanji is followed, `々` and rare kanji are none (so `人々（ひとびと）` fails)",
    ),
    "ja:letters:kansuuji": Instruction(
        (), fixed.kansuuji, official.kansuuji,
        "no digit of any form (`①`, `²`) and at least one kanji numeral",
        "published: a text without a number is followed, `①` is no number",
    ),
    "ja:letters:no_katakana": Instruction(
        (), fixed.no_katakana, official.no_katakana,
        "no katakana, also not in `㌔` and `ㇰ`; the long vowel mark may stand there", "published: `㌔`, `ㇰ` and `ヽ` are none, half-width `ｰ` is one",
    ),
    "ja:letters:katakana_only": Instruction(
        (), fixed.katakana_only, official.katakana_only,
        "every letter is katakana or the long vowel mark, and there is one; digits and marks may stand there",
        _NFD + "; a text of digits is followed",
    ),
    "ja:letters:no_hiragana": Instruction(
        (), fixed.no_hiragana, official.no_hiragana, "no hiragana", "published: `ゝ` and `ゟ` are none",
    ),
    "ja:letters:hiragana_only": Instruction(
        (), fixed.hiragana_only, official.hiragana_only,
        "every letter is hiragana or the long vowel mark, and there is one; digits and marks may stand there",
        _NFD + "; a text of digits is followed",
    ),
    "ja:letters:kanji": Instruction(
        ("relation", "kanji_limit"), fixed.kanji, official.kanji,
        "the number of kanji, `々` and rare ones included, stands in the relation",
        "published: `々` and kanji outside of U+4E00 to U+9FAF are not counted",
    ),
    "ja:punctuation:no_comma": Instruction(
        (), fixed.no_comma, official.no_comma,
        "no `、` or comma of any width, but for one between digits", "published: `、` only",
    ),
    "ja:punctuation:no_period": Instruction(
        (), fixed.no_period, official.no_period,
        "no `。` of any width, no full-width full stop but for one between digits", "published: `。` only",
    ),
}  # fmt: skip
"""Id -> instruction."""
