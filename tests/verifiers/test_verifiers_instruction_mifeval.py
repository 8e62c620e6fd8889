"""The Spanish, French and Japanese constraints of M-IFEval, in both modes."""

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers.audit.builtin_instruction import example
from prorl_verifiers.audit.spoilt_instruction import EXAMPLES
from prorl_verifiers.instruction.kwargs import clean_kwargs
from prorl_verifiers.instruction.mifeval.catalog import MIFEVAL
from prorl_verifiers.instruction.mifeval.japanese.official import count_segments, without_quotes
from prorl_verifiers.instruction.mifeval.spanish.official import without_list_marks
from prorl_verifiers.instruction.official_text import DOWNLOADS
from prorl_verifiers.instruction.registry import modules_of
from prorl_verifiers.instruction.scorer import follows
from prorl_verifiers.instruction.spec import check_reference, without_nulls
from prorl_verifiers.types import TaskError

LEAST = {"es": "al menos", "fr": "au moins", "ja": "以上"}


def installed(name: str) -> bool:
    return all(
        importlib.util.find_spec(module.partition(".")[0]) is not None
        for module in modules_of(name, "reference")
    ) and all(DOWNLOADS[weights].installed() for weights in MIFEVAL[name].downloads)


@pytest.mark.parametrize("name", MIFEVAL)
def test_each_id_takes_its_right_text_and_none_of_the_spoilt_ones(name: str) -> None:
    assert follows(EXAMPLES[name].right, name, example(name))
    paid = [
        what for what, text in EXAMPLES[name].broken.items() if follows(text, name, example(name))
    ]
    assert paid == []


FIXED: list[tuple[str, dict[str, Any], str, bool]] = [
    ("es:special_character:enie", {"let_frequency": 2}, "El nin\u0303o y la NIÑA", True),
    ("es:special_character:tildes", {"relation": "como máximo", "num_words": 1}, "cafe\u0301 té", False),
    ("es:change_case:spanish_capital", {}, "LA 1.ª VEZ QUE VI EL FARO ERA DE NOCHE Y HACÍA FRÍO", True),
    ("es:change_case:spanish_capital", {}, "12 34", False),
    ("es:change_case:spanish_lowercase", {}, "sí.", True),
    ("es:detectable_content:number_placeholders", {"relation": "como máximo", "num_placeholders": 1}, "[uno] [dos]", False),
    ("es:startend:end_checker", {"end_phrase": "Un saludo"}, "Hasta luego. *Un saludo.*", True),
    ("es:length_constraints:number_words", {"relation": "al menos", "num_words": 3}, "1. uno\r\n2. dos", False),
    ("es:length_constraints:nth_paragraph_first_word", {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Para"}, "Uno.\r\n\r\n«Para» dos.", True),
    ("fr:special_character:no_accents", {}, "Strasse ou Straße", True),
    ("fr:change_case:french_capital", {}, "LE PHARE ÉCLAIRE LA STRAßE ET LES PÊCHEURS RENTRENT", False),
    ("fr:change_case:french_lowercase", {}, "oui.", True),
    ("fr:detectable_content:informal_address", {}, "Cela t’aidera.", True),
    ("fr:detectable_content:informal_address", {}, "Quel ton grave !", False),
    ("fr:length_constraints:number_words", {"relation": "au moins", "num_words": 4}, "l'île d’Yeu", True),
    ("fr:startend:quotation", {}, "“Il brille.”", True),
    ("fr:keywords:letter_frequency", {"letter": "e", "let_relation": "moins de", "let_frequency": 2}, "ｅ\u0435", False),
    ("ja:keywords:letter_frequency", {"letter": "か", "let_relation": "以上", "let_frequency": 3}, "かカｶ", True),
    ("ja:keywords:letter_frequency", {"letter": "が", "let_relation": "以上", "let_frequency": 3}, "か\u3099ガｶﾞ", True),
    ("ja:keywords:existence", {"keywords": ["秘密の特訓"]}, "秘密の特訓をします。", True),
    ("ja:keywords:existence", {"keywords": ["ラテ"]}, "ﾗﾃを飲みます。", True),
    ("ja:length_constraints:number_letters", {"relation": "未満", "num_letters": 3}, "が\n か\u3099", True),
    ("ja:length_constraints:number_sentences", {"relation": "未満", "num_sentences": 3}, "海です。\n\n。。\n「空。山。」と言う。", True),
    ("ja:detectable_format:multiple_sections", {"section_spliter": "章", "num_sections": 2}, "第１章\n海\n## 第2章\n空", True),
    ("ja:detectable_format:number_numbered_lists", {"num_items": 2}, "１．海\n2.空", True),
    ("ja:detectable_content:postscript", {"postscript_marker": "P.S."}, "海です。\nＰ．Ｓ．空です。", True),
    ("ja:startend:end_checker", {"end_phrase": "ありますか？"}, "他にありますか?」", True),
    ("ja:startend:sentence_unified_end", {"ending": "です"}, "海です！😀\n空です。\n", True),
    ("ja:letters:katakana_only", {}, "ヴィラ ｶﾞｰ", True),
    ("ja:letters:hiragana_only", {}, "ふりがなー、ゝ。１２", True),
    ("ja:letters:furigana", {}, "時々（ときどき）", True),
    ("ja:punctuation:no_comma", {}, "1,000円", True),
    ("ja:length_constraints:number_paragraphs", {"num_paragraphs": 2}, "海です。***\n空です。", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kwargs", "text", "right"), FIXED)
def test_fixed_reads_accents_widths_and_line_ends_as_a_reader_does(
    name: str, kwargs: dict[str, Any], text: str, right: bool
) -> None:
    assert follows(text, name, kwargs) is right


OFFICIAL: list[tuple[str, dict[str, Any], str, bool]] = [
    ("es:detectable_content:postscript", {"postscript_marker": "Nota"}, "Es notable", True),
    ("es:detectable_content:number_placeholders", {"relation": "como máximo", "num_placeholders": 1}, "[] []", True),
    ("es:startend:end_checker", {"end_phrase": "Un saludo."}, "Un saludo.", False),
    ("es:punctuation:question_marks", {}, "¿\n¿?", True),
    ("es:punctuation:exclamation_marks", {}, "¡¡ a\n!", True),
    ("es:keywords:frequency", {"keyword": "sol", "relation": "como máximo", "frequency": 1}, "sol solo", False),
    ("es:detectable_format:number_bullet_lists", {"num_bullets": 1}, "- a\n* b", True),
    ("fr:detectable_format:title", {}, "## a ##", True),
    ("fr:startend:quotation", {}, "«»", True),
    ("fr:special_character:no_accents", {}, "ne\u0301", True),
    ("fr:special_character:ethel_or_cedilla", {"forbidden_char": "œ"}, "ŒUVRE", False),
    ("fr:special_character:accents", {"word_to_accentuate": {"lecon": "leçon"}}, "rien", True),
    ("fr:detectable_content:informal_address", {}, "le ton", True),
    ("fr:detectable_content:no_digits", {}, "m²", True),
    ("ja:letters:furigana", {}, "人々（ひとびと）", False),
    ("ja:letters:furigana", {}, "うみ", True),
    ("ja:letters:katakana_only", {}, "ヴ", False),
    ("ja:letters:katakana_only", {}, "123", True),
    ("ja:letters:kansuuji", {}, "①", True),
    ("ja:letters:no_katakana", {}, "㌔", True),
    ("ja:startend:quotation", {}, "「海」と「空」", True),
    ("ja:startend:sentence_unified_end", {"ending": "です"}, "海です。\n", False),
    ("ja:detectable_format:multiple_sections", {"section_spliter": "章", "num_sections": 2}, "第1章、第１章", True),
    ("ja:length_constraints:nth_paragraph_first_word", {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "AI"}, "AI です", False),
    ("ja:punctuation:no_comma", {}, "海，空", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kwargs", "text", "right"), OFFICIAL)
def test_the_defects_of_the_published_checkers_are_kept(
    name: str, kwargs: dict[str, Any], text: str, right: bool
) -> None:
    assert follows(text, name, kwargs, "reference") is right


def test_the_published_japanese_splitter_is_followed_in_its_quirks() -> None:
    assert count_segments("海です。空です。") == 2
    assert count_segments("「海。空。」と言う。") == 1
    assert count_segments("海の\n空") == 1
    assert count_segments("の\n空") == 2
    assert count_segments("a\n \nb") == 3
    assert count_segments("海！（空！）山?") == 2


def test_list_marks_go_with_the_white_space_around_them() -> None:
    assert without_list_marks("a\n\n  - b\n1.  c") == "a\nb\nc"
    assert without_list_marks("a - b\n-\n- c") == "a - b\nc"
    assert without_list_marks(" * a") == "a"


def test_quotes_are_cut_line_by_line() -> None:
    assert without_quotes("a「b」c「d\ne」『f』") == "ac「d\ne」"


@pytest.mark.parametrize("language", LEAST)
def test_every_prompt_of_the_sets_is_a_task(language: str, test_data: Path) -> None:
    with gzip.open(test_data / "if" / f"m_ifeval_{language}_input_data.jsonl.gz", "rt") as file:
        rows = list(map(json.loads, file))
    for row in rows:
        fields = without_nulls({key: row[key] for key in ("instruction_id_list", "kwargs")})
        check_reference(fields)
        if all(map(installed, fields["instruction_id_list"])):
            check_reference(fields | {"mode": "reference"})
    assert len(rows) >= 100


def test_relations_are_those_of_the_language() -> None:
    for language, least in LEAST.items():
        name = f"{language}:length_constraints:number_sentences"
        said = {"relation": least, "num_sentences": 3}
        assert clean_kwargs(name, said, said, "reference")["relation"] == "at least"
        english = said | {"relation": "at least"}
        assert clean_kwargs(name, english, english, "fixed")["relation"] == "at least"
        with pytest.raises(TaskError, match=least):
            clean_kwargs(name, english, english, "reference")


@pytest.mark.parametrize(
    ("name", "kwargs", "words"),
    [
        ("fr:special_character:accents", {"word_to_accentuate": {}}, "must map words"),
        ("ja:letters:kanji", {"relation": "以上", "kanji_limit": 1.5}, "whole number"),
        ("ja:detectable_format:nominal_ending", {"count": -1}, "whole number"),
        ("fr:language:response_language", {"language": "xx"}, "cannot tell"),
    ],
)
def test_a_malformed_argument_is_one_clear_line(
    name: str, kwargs: dict[str, Any], words: str
) -> None:
    with pytest.raises(TaskError, match=words):
        check_reference({"instruction_id_list": [name], "kwargs": [kwargs]})


def test_a_letter_that_is_drawn_upstream_is_refused_in_mode_reference() -> None:
    kwargs = {"letter": "ア", "let_relation": "以上", "let_frequency": 1}
    task = {"instruction_id_list": ["ja:keywords:letter_frequency"], "kwargs": [kwargs]}
    check_reference(task)
    with pytest.raises(TaskError, match="hiragana"):
        check_reference(task | {"mode": "reference"})


def test_what_the_published_checkers_need_is_named_with_its_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    task = {
        "instruction_id_list": ["ja:keywords:existence"],
        "kwargs": [{"keywords": ["海"]}],
    }
    check_reference(task)
    with pytest.raises(TaskError, match=r"janome.*pip install 'prorl\[mifeval\]'"):
        check_reference(task | {"mode": "reference"})
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if "_sm" in name else name)
    sentences = {
        "instruction_id_list": ["es:length_constraints:number_sentences"],
        "kwargs": [{"relation": "al menos", "num_sentences": 3}],
    }
    with pytest.raises(TaskError, match="python -m spacy download es_core_news_sm"):
        check_reference(sentences | {"mode": "reference"})


@pytest.mark.parametrize("unit", ["a", "海", "「", "『", "《", "¿", "##", "\n", "l'", "le ", "1.\n", "の\n", "第1", "***"])  # fmt: skip
def test_every_check_is_linear_in_the_length(unit: str) -> None:
    text = unit * (60_000 // len(unit)) + "x"  # a quadratic check would not end
    for name, entry in MIFEVAL.items():
        if "language" in name or ":change_case:" in name:
            continue
        assert follows(text, name, example(name)) in (True, False)
        if not entry.reference_needs:
            assert follows(text, name, example(name), "reference") in (True, False)


def test_words_are_spacys_and_janomes_tokens_where_they_are_installed() -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("janome")
    two = {"relation": "al menos", "num_words": 3}
    assert follows("uno  dos", "es:length_constraints:number_words", two, "reference")
    assert not follows("uno dos", "es:length_constraints:number_words", two, "reference")
    secret = {"keywords": ["秘密の特訓"]}
    assert not follows("秘密の特訓をします。", "ja:keywords:existence", secret, "reference")
    assert follows("静かな海。", "ja:detectable_format:nominal_ending", {"count": 1}, "reference")
