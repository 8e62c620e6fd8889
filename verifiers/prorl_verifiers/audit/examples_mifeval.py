"""A text that follows each id of M-IFEval with the example arguments of its language, and texts that just miss it.

Ids that are judged as IFEval's have the examples of IFEval, but for those whose arguments are in the language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_verifiers.audit.examples import (
    SWAHILI,
    Example,
    counted,
    exactly,
    nth_paragraph,
    parts,
)

MIFEVAL_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "es": {
        "relation": "al menos",
        "let_relation": "al menos",
        "capital_relation": "al menos",
        "keywords": ["faro", "niebla"],
        "keyword": "faro",
        "forbidden_words": ["faro"],
        "first_word": "En mi opinión",
        "section_spliter": "Sección",
        "postscript_marker": "P.D.",
        "end_phrase": "Un saludo",
    },
    "fr": {
        "relation": "au moins",
        "let_relation": "au moins",
        "capital_relation": "au moins",
        "keywords": ["phare", "brume"],
        "keyword": "phare",
        "forbidden_words": ["phare"],
        "first_word": "phare",
        "end_phrase": "Que puis-je faire pour vous ?",
        "forbidden_char": "ç",
        "word_to_accentuate": {"lecon": "leçon", "evenements": "événements"},
    },
    "ja": {
        "language": "th",
        "relation": "以上",
        "let_relation": "以上",
        "keywords": ["灯台", "夜の海"],
        "keyword": "灯台",
        "forbidden_words": ["灯台"],
        "first_word": "灯台",
        "letter": "ぬ",
        "section_spliter": "章",
        "postscript_marker": "追伸",
        "end_phrase": "他にご質問はありますか？",
        "ending": "です",
        "num_items": 23,
        "num_letters": 700,
        "kanji_limit": 45,
        "count": 7,
    },
}
"""Language -> example arguments that differ from IFEval's."""
_SPANISH = "el faro ilumina la costa y los pescadores vuelven a casa cada noche"
_THAI = "ประภาคารส่องแสงเหนือทะเลและชาวประมงกลับบ้านทุกคืน"
_FRENCH = "le phare éclaire la côte et les pêcheurs rentrent chaque soir à la maison"


def _sections(form: str, numbers: list[int], text: str) -> str:
    return "\n".join(f"{form.format(number)}\n{text}" for number in numbers)


def _section_example(form: str, text: str) -> Example:
    return Example(
        _sections(form, list(range(1, 18)), text),
        {
            "one too few": _sections(form, list(range(1, 17)), text),
            "a number again": _sections(form, [*range(1, 17), 16], text),
            "in one line": " ".join(f"x {form.format(number)}" for number in range(1, 18)),
        },
    )


def _options(first: str, second: str, other: str) -> Example:
    return Example(first, {"two answers": f"{first} {second}", "another answer": other})


def _case(text: str, other: str, spoilt: str) -> Example:
    return Example(
        text, {"a letter of the other case": f"{text} {spoilt}", "another language": other}
    )


def _forbidden(word: str, plain: str) -> Example:
    return Example(
        plain,
        {
            "the word": f"{plain} {word}.",
            "the word with a mark behind": f"{plain}: ¡{word}!",
            "zero-width space": f"{plain} {word[0]}\u200b{word[1:]}.",
        },
    )


_ES: Mapping[str, Example] = {
    "keywords:existence": Example(
        "El faro y la niebla.",
        {"left out": "El faro y el mar.", "inside another word": "El faro y las nieblas."},
    ),
    "keywords:frequency": counted("faro ", 7, {"inside another word": "faros " * 7}),
    "keywords:forbidden_words": _forbidden("faro", "El mar"),
    "length_constraints:number_words": counted(
        "lámpara ", 700, {"marks of items": "- lámpara\n1. luz\n" * 234}
    ),
    "length_constraints:number_sentences": counted(
        "El faro brilla. ",
        43,
        {
            "abbreviations": "El Sr. Faro brilla. " * 42,
            "marks alone": "El faro brilla. " * 42 + "!!",
        },
    ),
    "length_constraints:nth_paragraph_first_word": Example(
        nth_paragraph(17, 6, "Brilla el faro.", "En mi opinión brilla."),
        {
            "another place": nth_paragraph(17, 7, "Brilla el faro.", "En mi opinión brilla."),
            "one too few": nth_paragraph(16, 6, "Brilla el faro.", "En mi opinión brilla."),
            "half of the phrase": nth_paragraph(17, 6, "Brilla el faro.", "En mi casa brilla."),
        },
    ),
    "detectable_content:postscript": Example(
        "Brilla.\n\nP.D. Llama pronto.",
        {"nothing behind it": "Brilla.\n\nP.D.", "inside a word": "Brilla XP.D. llama."},
    ),
    "detectable_format:constrained_response": _options("Sí.", "No.", "Claro."),
    "detectable_format:multiple_sections": _section_example("Sección {}", "Brilla."),
    "punctuation:question_marks": Example(
        "¿Brilla el faro?",
        {
            "none": "Brilla el faro.",
            "an empty one": "Brilla ¿?",
            "no opening mark": "Brilla el faro?",
        },
    ),
    "punctuation:exclamation_marks": Example(
        "¡Brilla el faro!",
        {
            "none": "Brilla el faro.",
            "an empty one": "Brilla ¡...!",
            "no opening mark": "Brilla el faro!",
        },
    ),
    "startend:end_checker": Example(
        "Brilla. Un saludo.",
        {
            "junk behind": "Brilla. Un saludo. Ya.",
            "a word changed": "Brilla. Un abrazo.",
            "inside another word": "Brilla algUn saludo",
        },
    ),
    "change_case:spanish_capital": _case(_SPANISH.upper(), SWAHILI.upper(), "a"),
    "change_case:spanish_lowercase": _case(_SPANISH, SWAHILI.lower(), "A"),
    "special_character:enie": exactly("niño ", 45, {"no tilde": "nino " * 45}),
    "special_character:dieresis": exactly("pingüino ", 45, {"another mark": "pingúino " * 45}),
    "special_character:tildes": counted(
        "café ", 700, {"another mark": "niño " * 700, "marks of French": "cafè " * 700}
    ),
}
_FR: Mapping[str, Example] = {
    "keywords:existence": Example(
        "Le phare et la brume.",
        {"left out": "Le phare et la mer.", "inside another word": "Le phare et les brumes."},
    ),
    "keywords:frequency": counted("phare ", 7, {"inside another word": "phares " * 7}),
    "keywords:forbidden_words": _forbidden("phare", "La mer"),
    "length_constraints:number_words": counted("l'île ", 350, {"underscores": "__ lampe " * 699}),
    "length_constraints:number_sentences": counted(
        "Le phare brille. ",
        43,
        {"abbreviations": "M. Phare brille. " * 42, "marks alone": "Le phare brille. " * 42 + "!!"},
    ),
    "length_constraints:nth_paragraph_first_word": Example(
        nth_paragraph(17, 6, "Il brille.", "Phare, il brille."),
        {
            "another place": nth_paragraph(17, 7, "Il brille.", "Phare, il brille."),
            "one too few": nth_paragraph(16, 6, "Il brille.", "Phare, il brille."),
        },
    ),
    "detectable_format:constrained_response": _options("Oui.", "Non.", "Certes."),
    "detectable_format:title": Example(
        "##Le phare##\nIl brille.",
        {
            "one mark": "# Le phare #\nIl brille.",
            "an empty one": "####\nIl brille.",
            "punctuation": "##...##\nIl brille.",
        },
    ),
    "startend:end_checker": Example(
        "Il brille. Que puis-je faire pour vous ?",
        {
            "junk behind": "Que puis-je faire pour vous ? Rien.",
            "a word changed": "Que puis-je faire pour toi ?",
        },
    ),
    "startend:quotation": Example(
        "« Il brille. »",
        {
            "junk behind": "« Il brille. » Oui",
            "one quote": "« Il brille.",
            "nothing inside": "«...»",
        },
    ),
    "change_case:french_capital": _case(_FRENCH.upper(), SWAHILI.upper(), "a"),
    "change_case:french_lowercase": _case(_FRENCH, SWAHILI.lower(), "A"),
    "special_character:ethel_or_cedilla": Example(
        "Il brille.",
        {
            "the character": "Ça brille.",
            "in two characters": "c\u0327a brille.",
            "in small": "ça brille.",
        },
    ),
    "special_character:accents": Example(
        "La leçon des événements.",
        {
            "one without": "La lecon des événements.",
            "another mark": "La leçon des evènements.",
            "left out": "Le phare brille.",
        },
    ),
    "special_character:no_accents": Example(
        "Il brille.",
        {
            "an accent": "Il est né.",
            "in two characters": "Il est ne\u0301.",
            "a cedilla": "Ca va, garçon.",
        },
    ),
    "detectable_content:informal_address": Example(
        "Tu vois ton phare.",
        {
            "formal": "Vous voyez votre phare.",
            "both": "Vous voyez votre phare avec toi.",
            "a noun": "Le ton est grave.",
        },
    ),
    "detectable_content:no_digits": Example(
        "Trois phares.",
        {"a digit": "3 phares.", "a small digit": "Trois m².", "in a circle": "Trois ① phares."},
    ),
}
_JA: Mapping[str, Example] = {
    "language:response_language": Example(
        _THAI,
        {"another language": "海の近くに灯台があります。", "a gloss": f"{_THAI}\n\n{_FRENCH}"},
    ),
    "keywords:existence": Example("灯台から夜の海を見ます。", {"left out": "灯台から海を見ます。"}),
    "keywords:frequency": counted("灯台です。", 7),
    "keywords:forbidden_words": _forbidden("灯台", "海です"),
    "keywords:letter_frequency": counted("ぬ", 45, {"another letter": "ね" * 45}),
    "length_constraints:number_paragraphs": Example(
        parts(17, "海です。"),
        {"one too few": parts(16, "海です。"), "one too many": parts(18, "海です。")},
    ),
    "length_constraints:number_sentences": counted(
        "海です。",
        43,
        {"marks alone": "海です。" * 42 + "。。", "in quotes": "海です。" * 41 + "「海。空。」"},
    ),
    "length_constraints:number_letters": counted(
        "海", 700, {"white space": "海 　\n" * 600, "zero-width space": "海\u200b" * 699}
    ),
    "length_constraints:nth_paragraph_first_word": Example(
        nth_paragraph(17, 6, "海です。", "灯台です。"),
        {
            "another place": nth_paragraph(17, 7, "海です。", "灯台です。"),
            "one too few": nth_paragraph(16, 6, "海です。", "灯台です。"),
        },
    ),
    "detectable_content:number_placeholders": counted(
        "[名前]と", 13, {"an empty one": "[名前]と" * 12 + "［］"}
    ),
    "detectable_content:postscript": Example(
        "海です。\n\n追伸：また来ます。",
        {"nothing behind it": "海です。\n\n追伸", "in the middle": "海に追伸を書きます。"},
    ),
    "detectable_format:number_bullet_lists": exactly(
        "・海\n", 23, {"an empty one": "・海\n" * 22 + "・\n"}
    ),
    "detectable_format:number_numbered_lists": exactly(
        "1. 海\n", 23, {"a decimal": "1. 海\n" * 22 + "3.5 海"}
    ),
    "detectable_format:constrained_response": _options(
        "はい、そうです。", "いいえ、違います。", "多分。"
    ),
    "detectable_format:number_highlighted_sections": counted(
        "《海》と", 19, {"an empty one": "《海》と" * 18 + "《…》"}
    ),
    "detectable_format:multiple_sections": _section_example("第{}章", "海です。"),
    "detectable_format:title": Example(
        "『海』\n波です。",
        {
            "one bracket": "『海\n波です。",
            "an empty one": "『』\n波です。",
            "punctuation": "『。』\n波です。",
        },
    ),
    "detectable_format:nominal_ending": counted(
        "静かな海。",
        7,
        {"a verb": "静かな海。" * 6 + "海を見ます。", "no mark": "静かな海。" * 6 + "海"},
    ),
    "startend:end_checker": Example(
        "海です。他にご質問はありますか？",
        {
            "junk behind": "他にご質問はありますか？海です。",
            "a word changed": "他にご意見はありますか？",
        },
    ),
    "startend:sentence_unified_end": Example(
        "海です。波です。",
        {
            "another end": "海です。波だ。",
            "junk behind": "海です。波です。海",
            "quotes alone": "「海です。」",
        },
    ),
    "startend:quotation": Example(
        "「海です。」",
        {
            "junk behind": "「海です。」海",
            "two pairs": "「海」と「波」",
            "nothing inside": "「。」",
        },
    ),
    "letters:furigana": Example(
        "海（うみ）と人々（ひとびと）です。",
        {
            "one without": "海（うみ）と人々です。",
            "no kanji": "うみです。",
            "another script": "海（ウミ）です。",
            "an empty one": "海（）です。",
        },
    ),
    "letters:kansuuji": Example(
        "海は三つです。",
        {
            "a digit": "海は3つです。",
            "a full-width digit": "海は３つです。",
            "in a circle": "海は三つ①です。",
            "no number": "うみです。",
        },
    ),
    "letters:kanji": counted("海と", 45),
    "letters:no_katakana": Example(
        "海です。",
        {"a katakana": "海とアです。", "half-width": "海とｱです。", "in a square": "海は㌔です。"},
    ),
    "letters:katakana_only": Example(
        "ウミヲミル。ヴィラ",
        {
            "a kanji": "海ヲミル。",
            "a hiragana": "ウミをミル。",
            "a letter": "ウミA。",
            "digits alone": "123。",
        },
    ),
    "letters:no_hiragana": Example(
        "海ト空。", {"a hiragana": "海と空。", "an iteration mark": "海ゝ空。"}
    ),
    "letters:hiragana_only": Example(
        "うみをみる。",
        {
            "a kanji": "海をみる。",
            "a katakana": "うみヲみる。",
            "a letter": "うみA。",
            "digits alone": "123。",
        },
    ),
    "punctuation:no_comma": Example(
        "海です。",
        {
            "a comma": "海、空です。",
            "a half-width comma": "海､空です。",
            "a full-width comma": "海，空です。",
        },
    ),
    "punctuation:no_period": Example(
        "海です",
        {
            "a full stop": "海です。",
            "a half-width stop": "海です｡",
            "a full-width stop": "海です．",
        },
    ),
}
_OWN: Mapping[str, Mapping[str, Example]] = {"es": _ES, "fr": _FR, "ja": _JA}


def mifeval_examples(ifeval: Mapping[str, Example]) -> Mapping[str, Example]:
    """Return id -> example; ids that a language has none of its own for take the one of ``ifeval``."""
    from prorl_verifiers.instruction.mifeval.catalog import MIFEVAL

    found: dict[str, Example] = {}
    for name in MIFEVAL:
        language, _, plain = name.partition(":")
        example = _OWN[language].get(plain, ifeval.get(plain))
        if example is not None:
            found[name] = example
    return found
