"""The Japanese constraints of M-IFEval: this project's definitions (mode ``fixed``).

Each check is (text, kwargs) -> bool on a text that is not blank and kwargs cleaned by ``instruction.kwargs``. What
is not here is judged as IFEval's (``instruction.ifeval.fixed``). Half-width katakana and full-width letters, digits
and brackets count as their usual forms. Every check is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata

from prorl_verifiers.instruction.ifeval import fixed as ifeval
from prorl_verifiers.instruction.text import compare, ends_trimmed, has_word, paragraphs
from prorl_verifiers.instruction.types import Kwargs

_OPTIONS = ("はい、そうです。", "いいえ、違います。", "どちらとも言えません。")
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANJI = f"{_IDEOGRAPHS}々"
_KANJI_LETTER = re.compile(f"[{_KANJI}]")
_HIRAGANA = re.compile("[ぁ-ゖゝゞゟ]")
_KATAKANA = re.compile("[ァ-ヺヽヾヿㇰ-ㇿ]")
_UNREAD = re.compile(f"[{_KANJI}](?!（[ぁ-ゖー]+）)(?![{_KANJI}])")
_NUMERAL = re.compile("[〇零一二三四五六七八九十百千万億兆壱弐参]")
_TO_HIRAGANA = {code: code - 96 for code in range(ord("ァ"), ord("ヶ") + 1)}
_COMMA = re.compile(r"[、，､﹐﹑]|(?<!\d),|,(?!\d)")
_PERIOD = re.compile(r"[。｡﹒]|(?<!\d)．|．(?!\d)")
_BULLET = re.compile(r"^[^\S\n]*・(?!・)(.*)$", re.MULTILINE)
_ITEM = re.compile(r"^[^\S\n]*\d{1,3}\.(?!\d)(.*)$", re.MULTILINE)
_HIGHLIGHT = re.compile(r"《([^\n《》]*)》")
_TITLE = re.compile(r"『([^\n『』]*)』")
_DIVIDER = re.compile(r"(?:^|(?<=[\s。！？!?」』]))\*{3}(?=\s|$)")
_END = re.compile("[。！？!?]+")
_QUOTES = ("「", "」"), ("『", "』")
_CLOSERS = " \t\r\n\u3000\"'」』）)*_`"
_NOUNS = (
    "こと",
    "もの",
    "ため",
    "ところ",
    "とき",
    "わけ",
    "はず",
    "まま",
    "ひとつ",
    "ふたつ",
    "みんな",
    "わたし",
    "あなた",
    "ふるさと",
    "いのち",
    "こころ",
    "ことば",
    "おかげ",
    "しあわせ",
    "りんご",
)  # fmt: skip
"""Common nouns that are written in hiragana."""
_NOUN_ENDING = re.compile(f"[一二三四五六七八九]つ|[{_KANJI}][ぁ-ゖ]?[さしれえめけりみき]")
"""The end of a counted noun, or of one made from an adjective (美しさ) or a verb (流れ)."""


def _usual(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def number_paragraphs(text: str, kwargs: Kwargs) -> bool:
    parts = ends_trimmed(_DIVIDER.split(text))
    return len(parts) == kwargs["num_paragraphs"] and all(map(has_word, parts))


def letter_frequency(text: str, kwargs: Kwargs) -> bool:
    letter = _usual(kwargs["letter"]).translate(_TO_HIRAGANA)
    count = _usual(text).translate(_TO_HIRAGANA).count(letter)
    return compare(count, kwargs["let_relation"], kwargs["let_frequency"])


def number_sentences(text: str, kwargs: Kwargs) -> bool:
    said = _without_quotes(text)
    count = sum(has_word(part) for line in said.split("\n") for part in _END.split(line))
    return compare(count, kwargs["relation"], kwargs["num_sentences"])


def _without_quotes(text: str, kept: str = "言") -> str:
    """Return the text with ``kept`` in place of what stands between ``「」`` or ``『』`` on one line."""
    for opening, closing in _QUOTES:
        text = re.sub(f"{opening}[^\n{opening}{closing}]*{closing}", kept, text)
    return text


def number_letters(text: str, kwargs: Kwargs) -> bool:
    count = len("".join(unicodedata.normalize("NFC", text).split()))
    return compare(count, kwargs["relation"], kwargs["num_letters"])


def nth_paragraph_first_word(text: str, kwargs: Kwargs) -> bool:
    parts = paragraphs(text)
    if len(parts) != kwargs["num_paragraphs"]:
        return False
    said = re.sub(r"^[\W_]+", "", _usual(parts[kwargs["nth_paragraph"] - 1])).casefold()
    return said.startswith(_usual(kwargs["first_word"]).casefold())


def number_placeholders(text: str, kwargs: Kwargs) -> bool:
    return ifeval.count_placeholders(_usual(text)) >= int(kwargs["num_placeholders"])


def postscript(text: str, kwargs: Kwargs) -> bool:
    marker = r"\.?[^\S\n]?".join(
        map(re.escape, re.findall(r"\w", _usual(kwargs["postscript_marker"])))
    )
    lead = r"(?:^[^\w\n]{0,20}|(?<=[。!?」』)])[^\w\n]{0,3})"
    said = _usual(text)
    found = re.search(f"{lead}{marker}(?![A-Za-z])", said, re.IGNORECASE | re.MULTILINE)
    return found is not None and has_word(said[found.end() :])


def number_bullet_lists(text: str, kwargs: Kwargs) -> bool:
    return sum(map(has_word, _BULLET.findall(_usual(text)))) == int(kwargs["num_bullets"])


def number_numbered_lists(text: str, kwargs: Kwargs) -> bool:
    return sum(map(has_word, _ITEM.findall(_usual(text)))) == int(kwargs["num_items"])


def constrained_response(text: str, kwargs: Kwargs) -> bool:
    return sum(option in text for option in _OPTIONS) == 1


def number_highlighted_sections(text: str, kwargs: Kwargs) -> bool:
    return sum(map(has_word, _HIGHLIGHT.findall(text))) >= int(kwargs["num_highlights"])


def multiple_sections(text: str, kwargs: Kwargs) -> bool:
    splitter = re.escape(_usual(kwargs["section_spliter"]))
    found = re.findall(rf"^[^\w\n]{{0,20}}第\s?(\d+)\s?{splitter}", _usual(text), re.MULTILINE)
    return len(set(found)) >= int(kwargs["num_sections"])


def title(text: str, kwargs: Kwargs) -> bool:
    return any(map(has_word, _TITLE.findall(text)))


def end_checker(text: str, kwargs: Kwargs) -> bool:
    phrase, said = ("".join(_usual(part).split()) for part in (kwargs["end_phrase"], text))
    phrase = phrase.strip("「」『』")
    return any(ending.endswith(phrase) for ending in (said, said.rstrip(_CLOSERS)))


def sentence_unified_end(text: str, kwargs: Kwargs) -> bool:
    parts = [part for part in _END.split(_without_quotes(text, "")) if has_word(part)]
    return bool(parts) and all(_bare(part).endswith(kwargs["ending"]) for part in parts)


def _bare(part: str) -> str:
    """Return the part without what stands behind its last letter or digit."""
    end = len(part)
    while end and not part[end - 1].isalnum():
        end -= 1
    return part[:end]


def nominal_ending(text: str, kwargs: Kwargs) -> bool:
    parts = _END.split(_usual(_without_quotes(text)))[:-1]
    return sum(_ends_in_noun(_bare(part)) for part in parts) >= int(kwargs["count"])


def _ends_in_noun(part: str) -> bool:
    """Whether the last letter is no hiragana, or the last word looks like a noun."""
    if not part or _HIRAGANA.match(part[-1]) is None:
        return bool(part)
    ends = [_NOUN_ENDING.fullmatch(part[-size:]) for size in (2, 3)]
    return any(ends) or part.endswith(_NOUNS)


def furigana(text: str, kwargs: Kwargs) -> bool:
    return _KANJI_LETTER.search(text) is not None and _UNREAD.search(text) is None


def kansuuji(text: str, kwargs: Kwargs) -> bool:
    return re.search(r"\d", _usual(text)) is None and _NUMERAL.search(text) is not None


def kanji(text: str, kwargs: Kwargs) -> bool:
    return compare(len(_KANJI_LETTER.findall(text)), kwargs["relation"], kwargs["kanji_limit"])


def no_katakana(text: str, kwargs: Kwargs) -> bool:
    return _KATAKANA.search(_usual(text)) is None


def katakana_only(text: str, kwargs: Kwargs) -> bool:
    return _only(_KATAKANA, text)


def no_hiragana(text: str, kwargs: Kwargs) -> bool:
    return _HIRAGANA.search(_usual(text)) is None


def hiragana_only(text: str, kwargs: Kwargs) -> bool:
    return _only(_HIRAGANA, text)


def _only(kana: re.Pattern[str], text: str) -> bool:
    """Whether every letter is one of ``kana`` or the long vowel mark, and there is one; other characters may stand there."""
    letters = {letter for letter in set(_usual(text)) if letter.isalpha()} - {"ー"}
    return bool(letters) and all(map(kana.match, letters))


def no_comma(text: str, kwargs: Kwargs) -> bool:
    return _COMMA.search(text) is None


def no_period(text: str, kwargs: Kwargs) -> bool:
    return _PERIOD.search(text) is None


def quotation(text: str, kwargs: Kwargs) -> bool:
    """Whether the first 「 is closed by the last character, around words."""
    body = text.strip()
    if body[:1] != "「" or body[-1:] != "」" or not has_word(body):
        return False
    depth = 0
    for mark in re.findall("[「」]", body[:-1]):
        depth += 1 if mark == "「" else -1
        if depth == 0:
            return False
    return depth == 1
