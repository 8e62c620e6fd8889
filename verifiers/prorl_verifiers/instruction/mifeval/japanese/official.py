"""The Japanese constraints of M-IFEval as the published checker judges them (mode ``reference``).

Own code for known behaviour, quirks included; each check is (text, kwargs) -> bool on a text that is not
blank. What is not here is judged as by IFEval's published checker (``instruction.ifeval.official``). Words are
Janome's tokens; it takes about a minute for 1 MB: the pool's kill is the guard.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from itertools import pairwise
from typing import Any

from prorl_verifiers.instruction.text import compare
from prorl_verifiers.instruction.types import Kwargs

_OPTIONS = ("はい、そうです。", "いいえ、違います。", "どちらとも言えません。")
_POSTSCRIPTS = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
_KANJI = "\u4e00-\u9faf"
_FURIGANA = re.compile(f"(?<![{_KANJI}])[{_KANJI}]++（[ぁ-ん]++）")
_KANJI_RUN = re.compile(f"[{_KANJI}]+")
_KATAKANA_STEP = ord("ア") - ord("あ")
_ENDS = "。！？"


_BLOCKS = "\u4e00-\u9fff\u3040-\u309f\u30a0-\u30ff\u3000-\u303f\uff00-\uffef"
_LATIN = "\u0000-\u007f"
_COMPATIBLE = re.compile("[０-９Ａ-Ｚａ-ｚ｡-ﾟ]+")
_HYPHENS = re.compile("[－˗֊‐‑‒–⁃⁻₋−]+")
_LONG = re.compile("[﹣ｰ—―─━ー]+")
_WIDE = str.maketrans(
    "!\"#$%&'()*+,-./:;<=>?@[¥]^_`{|}｡､･｢｣",
    "！”＃＄％＆’（）＊＋，－．／：；＜＝＞？＠［￥］＾＿｀｛｜｝。、・「」",
)
_NARROW = re.compile("[！＃＄％＆（）＊＋，－．／：；＜＞？＠［￥］＾＿｀｛｜｝]+")
_SPACES = re.compile("[ \u3000]+")
_LOOSE = re.compile(f"(?<=[{_BLOCKS}]) (?=[{_BLOCKS}{_LATIN}])|(?<=[{_LATIN}]) (?=[{_BLOCKS}])")
"""A space beside a Japanese or full-width character."""
_ASIDE = (re.compile("「[^「」]*」"), re.compile(r"\([^()]*\)"))
_STOP = re.compile("([。!?])")
_MASKS = str.maketrans("。!?", "   ")


@functools.cache
def _tokenizer() -> Any:
    from janome.tokenizer import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        Tokenizer,
    )

    return Tokenizer()


def _surfaces(text: str) -> list[str]:
    return [str(token.surface) for token in _tokenizer().tokenize(text)]


def keywords_existence(text: str, kwargs: Kwargs) -> bool:
    return set(kwargs["keywords"]) <= set(_surfaces(text))


def keywords_frequency(text: str, kwargs: Kwargs) -> bool:
    count = _surfaces(text).count(kwargs["keyword"])
    return compare(count, kwargs["relation"], kwargs["frequency"])


def forbidden_words(text: str, kwargs: Kwargs) -> bool:
    return set(kwargs["forbidden_words"]).isdisjoint(_surfaces(text))


def letter_frequency(text: str, kwargs: Kwargs) -> bool:
    letter = kwargs["letter"].strip()
    count = text.count(letter) + text.count(chr(ord(letter) + _KATAKANA_STEP))
    return compare(count, kwargs["let_relation"], kwargs["let_frequency"])


def number_sentences(text: str, kwargs: Kwargs) -> bool:
    return compare(count_segments(text), kwargs["relation"], kwargs["num_sentences"])


def number_letters(text: str, kwargs: Kwargs) -> bool:
    return compare(len(text), kwargs["relation"], kwargs["num_letters"])


def nth_paragraph_first_word(text: str, kwargs: Kwargs) -> bool:
    parts = text.split("\n\n")
    count = sum(bool(part.strip()) for part in parts)
    nth = kwargs["nth_paragraph"]
    if nth > count or not parts[nth - 1].strip():
        return False
    said = parts[nth - 1].strip().lstrip("「").lstrip("『")
    return count == int(kwargs["num_paragraphs"]) and said.startswith(kwargs["first_word"].lower())


def postscript(text: str, kwargs: Kwargs) -> bool:
    marker = kwargs["postscript_marker"].strip()
    pattern = _POSTSCRIPTS.get(marker, re.escape(marker))
    return re.search(pattern, text, re.IGNORECASE) is not None


def number_bullet_lists(text: str, kwargs: Kwargs) -> bool:
    count = len(re.findall(r"^[^\S\n]*・[^・].*$", text, re.MULTILINE))
    return count == int(kwargs["num_bullets"])


def number_numbered_lists(text: str, kwargs: Kwargs) -> bool:
    count = len(re.findall(r"^[^\S\n]*\d+\.\s.*$", text, re.MULTILINE))
    return count == int(kwargs["num_items"])


def constrained_response(text: str, kwargs: Kwargs) -> bool:
    return any(option in text.strip() for option in _OPTIONS)


def number_highlighted_sections(text: str, kwargs: Kwargs) -> bool:
    count = sum(bool(mark.strip()) for mark in re.findall(r"《([^\n《》]*)》", text))
    return count >= int(kwargs["num_highlights"])


def multiple_sections(text: str, kwargs: Kwargs) -> bool:
    pattern = r"第[\d０-９]+" + kwargs["section_spliter"].strip()
    return len(re.findall(pattern, text)) >= int(kwargs["num_sections"])


def title(text: str, kwargs: Kwargs) -> bool:
    spans = ((line, line.find("『"), line.rfind("』")) for line in text.split("\n"))
    return any(
        line[start : end + 1].lstrip("『").rstrip("』").strip()
        for line, start, end in spans
        if 0 <= start < end
    )


def repeat_prompt(text: str, kwargs: Kwargs) -> bool:
    return text.strip().startswith(kwargs["prompt_to_repeat"].strip())


def end_checker(text: str, kwargs: Kwargs) -> bool:
    phrase = kwargs["end_phrase"].strip().strip("」』")
    return text.strip().strip("」』").endswith(phrase)


def sentence_unified_end(text: str, kwargs: Kwargs) -> bool:
    parts = re.split(f"[{_ENDS}]", without_quotes(text))
    return all(part.endswith(kwargs["ending"]) for part in parts if part)


def nominal_ending(text: str, kwargs: Kwargs) -> bool:
    tokens = list(_tokenizer().tokenize(without_quotes(text)))
    count = sum(
        behind.surface in _ENDS and token.part_of_speech.startswith("名詞")
        for token, behind in pairwise(tokens)
    )
    return bool(count >= kwargs["count"])


def without_quotes(text: str) -> str:
    """Return the text without ``「...」``, then without ``『...』``, each on one line, in linear time."""
    for opening, closing in ("「」", "『』"):
        text = "\n".join(_cut(line, opening, closing) for line in text.split("\n"))
    return text


def _cut(line: str, opening: str, closing: str) -> str:
    kept, last = [], 0
    while (start := line.find(opening, last)) >= 0 and (end := line.find(closing, start)) >= 0:
        kept.append(line[last:start])
        last = end + 1
    return "".join([*kept, line[last:]])


def furigana(text: str, kwargs: Kwargs) -> bool:
    return len(_KANJI_RUN.findall(text)) == len(_FURIGANA.findall(text))


def kansuuji(text: str, kwargs: Kwargs) -> bool:
    return re.search(r"\d", text) is None


def kanji(text: str, kwargs: Kwargs) -> bool:
    count = len(re.findall(f"[{_KANJI}]", text))
    return compare(count, kwargs["relation"], kwargs["kanji_limit"])


def no_katakana(text: str, kwargs: Kwargs) -> bool:
    return re.search("[ァ-ヺｦ-ﾟ]", text) is None


def katakana_only(text: str, kwargs: Kwargs) -> bool:
    return _only(text, "[ァ-ンー・ｦ-ﾟ]")


def no_hiragana(text: str, kwargs: Kwargs) -> bool:
    return re.search("[ぁ-ゖ]", text) is None


def hiragana_only(text: str, kwargs: Kwargs) -> bool:
    return _only(text, "[ぁ-んー]")


def _only(text: str, letters: str) -> bool:
    """Whether every letter of the text is one of ``letters``; what is no letter may stand there too."""
    return all(
        re.match(letters, letter) or not unicodedata.category(letter).startswith("L")
        for letter in set(text)
    )


def no_comma(text: str, kwargs: Kwargs) -> bool:
    return "、" not in text


def no_period(text: str, kwargs: Kwargs) -> bool:
    return "。" not in text


def quotation(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    return len(body) > 1 and body[0] == "「" and body[-1] == "」"


def count_segments(text: str) -> int:
    """Return the number of sentences that the published splitter (ja_sentence_segmenter 0.0.2) finds.

    A line ends a sentence, but for one that ends with の; so do 。 ! and ? outside of 「」 and (). Full-width forms
    count as half-width ones, a line of white space as a sentence.
    """
    lines: list[list[str]] = []
    joined, size = False, 0
    for line in _normalised(text).splitlines():
        if not joined:
            lines.append([])
            size = 0
        lines[-1].append(line)
        size += len(line)
        joined = size > 1 and (line or "の").endswith("の")
    return sum(len(_sentences("".join(line))) for line in lines)


def _sentences(line: str) -> list[str]:
    for aside in _ASIDE:
        line = aside.sub(lambda match: match.group().translate(_MASKS), line)
    return _STOP.sub(r"\1\n", line).splitlines()


def _normalised(text: str) -> str:
    """Return the text in the forms of NEologd's normalisation, as far as they matter to the splitter."""
    text = _COMPATIBLE.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text.strip())
    text = _LONG.sub("ー", _HYPHENS.sub("-", text)).translate(_WIDE)
    text = _LOOSE.sub("", _SPACES.sub(" ", text))
    return _NARROW.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
