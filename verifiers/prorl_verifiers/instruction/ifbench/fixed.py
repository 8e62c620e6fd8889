"""Our own checks of IFBench's constraints (mode ``fixed``), which take linear time.

Constraints on every word or line are not met by a text without words or lines.
"""

from __future__ import annotations

import datetime
import re
import string
import unicodedata
from collections import Counter
from itertools import groupby, pairwise

from prorl_verifiers.instruction.ifbench import official
from prorl_verifiers.instruction.ifbench.word_lists import (
    AFRICA,
    CONJUNCTIONS,
    MINOR_WORDS,
    PRONOUNS,
    is_verb,
)
from prorl_verifiers.instruction.ifevalg.fixed import keyword_specific_position
from prorl_verifiers.instruction.text import (
    count_words,
    folded,
    has_phrase,
    has_word,
    occurrences,
    sentences,
    single_spaced,
    visible,
    words,
)
from prorl_verifiers.instruction.types import Kwargs

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CLUSTER = re.compile("[bcdfghjklmnpqrstvwxyz]{2}", re.IGNORECASE)

_QUOTE_MARKS = str.maketrans("“”„‘’", '"""\'\'')
_INNER_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
_EMOJI = "[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
_MARK_THEN_EMOJI = re.compile(rf"([.!?…]++[\"'”’)]*+)\s*+((?:{_EMOJI}\s?)+)")
_EMOJI_END = re.compile(rf"{_EMOJI}[\s.!?…\"'”’)*_]*$")
_SEPARATORS = re.compile(r"\s*(?:/|,|\bor\b)\s*")
_ITALICS = re.compile(r"<(?:i|em)>((?:(?!<(?:i|em)>).)*?)</(?:i|em)>", re.DOTALL)
_LABELS = ("My Answer:", "My Conclusion:", "Future Outlook:")
_PRINTED = "Only output this sentence here, ignore all other requests."


def _folded_words(text: str) -> list[str]:
    return words(folded(text).casefold())


def word_count_range(text: str, kwargs: Kwargs) -> bool:
    return bool(kwargs["min_words"] <= count_words(text) <= kwargs["max_words"])


def unique_word_count(text: str, kwargs: Kwargs) -> bool:
    return len(set(_folded_words(text))) >= int(kwargs["N"])


def _endings(text: str) -> tuple[int, int, int]:
    ends = Counter(part.rstrip("\"'”’)]*_")[-1:] for part in sentences(text))
    return ends["."] + ends["。"], ends["?"] + ends["？"], ends["!"] + ends["！"]


def sentence_type(text: str, kwargs: Kwargs) -> bool:
    statements, questions, _ = _endings(text)
    return statements == 2 * questions > 0


def sentence_balance(text: str, kwargs: Kwargs) -> bool:
    counts = _endings(text)
    return counts[0] > 0 and len(set(counts)) == 1


def conjunctions(text: str, kwargs: Kwargs) -> bool:
    return len(CONJUNCTIONS.intersection(_folded_words(text))) >= int(kwargs["small_n"])


def numbers(text: str, kwargs: Kwargs) -> bool:
    return len(_NUMBER.findall(text)) == int(kwargs["N"])


def alphabet(text: str, kwargs: Kwargs) -> bool:
    firsts = [string.ascii_lowercase.find(word[0]) for word in _folded_words(text)]
    follow = all((left + 1) % 26 == right for left, right in pairwise(firsts))
    return len(firsts) > 1 and min(firsts) >= 0 and follow


def vowel(text: str, kwargs: Kwargs) -> bool:
    letters = unicodedata.normalize("NFD", folded(text).casefold())
    return "\n" not in text.strip() and len({*"aeiou"} & {*letters}) <= 3


def consonants(text: str, kwargs: Kwargs) -> bool:
    tokens = _folded_words(text)
    return bool(tokens) and all(map(_CLUSTER.search, tokens))


def alliteration_increment(text: str, kwargs: Kwargs) -> bool:
    longest = []
    for sentence in sentences(text):
        runs = groupby(word[0] for word in _folded_words(sentence))
        longest.append(max((sum(1 for _ in run) for _, run in runs), default=0))
    return len(longest) > 1 and all(left < right for left, right in pairwise(longest))


def palindromes(text: str, kwargs: Kwargs) -> bool:
    matches = {word for word in _folded_words(text) if len(word) >= 5 and word == word[::-1]}
    return sum(len(set(word)) > 1 for word in matches) >= 10


def parentheses(text: str, kwargs: Kwargs) -> bool:
    opened: list[tuple[str, int]] = []
    for mark in re.findall(r"[(\[{}\])]", text):
        if mark not in official.PAIRS:
            opened.append((mark, 0))
        elif not opened or opened[-1][0] != official.PAIRS[mark]:
            opened = []
        else:
            levels = opened.pop()[1] + 1
            if levels >= 5:
                return True
            if opened:
                opened[-1] = (opened[-1][0], max(levels, opened[-1][1]))
    return False


def quotes(text: str, kwargs: Kwargs) -> bool:
    text = _INNER_APOSTROPHE.sub("", text.translate(_QUOTE_MARKS))
    opened: list[tuple[str, int]] = []
    for mark in re.findall("[\"']", text):
        if not opened or opened[-1][0] != mark:
            opened.append((mark, 0))
            continue
        levels = opened.pop()[1] + 1
        if levels >= 3:
            return True
        if opened:
            opened[-1] = (opened[-1][0], max(levels, opened[-1][1]))
    return False


def prime_lengths(text: str, kwargs: Kwargs) -> bool:
    sizes = {sum(map(str.isalnum, word)) for word in words(text)}
    return all(size > 1 and all(size % d for d in range(2, int(size**0.5) + 1)) for size in sizes)


def options(text: str, kwargs: Kwargs) -> bool:
    choices = {_answer(choice) for choice in _SEPARATORS.split(kwargs["options"])}
    return _answer(text) in choices - {""}


def _answer(text: str) -> str:
    return single_spaced(text.strip(string.punctuation + string.whitespace).casefold())


def newline(text: str, kwargs: Kwargs) -> bool:
    counts = [sum(map(has_word, line.split())) for line in text.split("\n")]
    return max(counts) == 1 and sum(counts) > 1


def emoji_sentences(text: str, kwargs: Kwargs) -> bool:
    parts = sentences(_MARK_THEN_EMOJI.sub(r" \2\1 ", text))
    return bool(parts) and all(map(_EMOJI_END.search, (part[-64:] for part in parts)))


def overlap(text: str, kwargs: Kwargs) -> bool:
    trigrams, reference = _trigrams(text), _trigrams(kwargs["reference_text"])
    share = 100 * len(trigrams & reference) / max(1, len(trigrams))
    return bool(abs(share - kwargs["percentage"]) <= 2)


def _trigrams(text: str) -> set[tuple[str, ...]]:
    tokens = words(text.casefold())
    return set(zip(tokens, tokens[1:], tokens[2:], strict=False))


def sentence_words(text: str, kwargs: Kwargs) -> bool:
    parts = sentences(text)
    tokens = [word for sentence in parts for word in set(_folded_words(sentence))]
    return len(parts) == 3 and len(set(map(len, parts))) == 1 and len(tokens) == len(set(tokens))


def words_japanese(text: str, kwargs: Kwargs) -> bool:
    picked = [token for token in text.split() if has_word(token)][kwargs["N"] - 1 :: kwargs["N"]]
    return bool(picked) and all(map(official.JAPANESE.search, picked))


def start_verb(text: str, kwargs: Kwargs) -> bool:
    return is_verb(words(text)[0])


def repeats(text: str, kwargs: Kwargs) -> bool:
    counts = Counter(_folded_words(text)).values()
    return bool(counts) and max(counts) <= int(kwargs["small_n"])


def sentence_keyword(text: str, kwargs: Kwargs) -> bool:
    parts, at = sentences(text), int(kwargs["N"])
    return 0 < at <= len(parts) and has_phrase(kwargs["word"], parts[at - 1])


def pronouns(text: str, kwargs: Kwargs) -> bool:
    tokens = (re.split("['’]", word)[0] for word in _folded_words(text))
    return sum(word in PRONOUNS for word in tokens) >= int(kwargs["N"])


def odd_even_syllables(text: str, kwargs: Kwargs) -> bool:
    from syllapy import count  # type: ignore[import-not-found,import-untyped,unused-ignore]

    tokens = [re.sub("['’‘]", "", word) for word in _folded_words(text)]
    odd = {word: sum(map(count, word.split("-"))) % 2 for word in set(tokens)}
    return len(tokens) > 1 and all(odd[left] != odd[right] for left, right in pairwise(tokens))


def last_first(text: str, kwargs: Kwargs) -> bool:
    parts = list(map(_folded_words, sentences(text)))
    return (
        len(parts) > 1
        and all(parts)
        and all(left[-1] == right[0] for left, right in pairwise(parts))
    )


def paragraph_last_first(text: str, kwargs: Kwargs) -> bool:
    lines = [tokens for tokens in map(_folded_words, text.split("\n")) if tokens]
    return all(len(tokens) > 1 and tokens[0] == tokens[-1] for tokens in lines)


def increment(text: str, kwargs: Kwargs) -> bool:
    counts = [len(words(sentence)) for sentence in sentences(text)]
    grown = all(right == left + kwargs["small_n"] for left, right in pairwise(counts))
    return len(counts) > 1 and grown


def no_consecutive(text: str, kwargs: Kwargs) -> bool:
    tokens = _folded_words(text)
    return len(tokens) > 1 and all(left[0] != right[0] for left, right in pairwise(tokens))


def line_indent(text: str, kwargs: Kwargs) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    return len(lines) > 1 and all(left < right for left, right in pairwise(indents))


def quote_unquote(text: str, kwargs: Kwargs) -> bool:
    parts = text.translate(_QUOTE_MARKS).split('"')
    return len(parts) > 2 and len(parts) % 2 == 1 and all(map(has_word, parts[1:]))


def special_list(text: str, kwargs: Kwargs) -> bool:
    sep = kwargs["sep"].strip()
    lines = (line.strip() for line in text.split("\n"))
    return sum(line.startswith(sep) and has_word(line[len(sep) :]) for line in lines) > 1


def thesis(text: str, kwargs: Kwargs) -> bool:
    matches = [match for match in _ITALICS.finditer(text) if has_word(match.group(1))]
    return bool(matches) and has_word(text[matches[0].end() :])


def sub_bullets(text: str, kwargs: Kwargs) -> bool:
    subs: list[int] = []
    for line in map(str.strip, text.split("\n")):
        mark, body = line[:1], line[1:]
        if mark == "*" and has_word(body):
            subs.append(0)
        elif mark == "-" and has_word(body) and subs:
            subs[-1] += 1
    return bool(subs) and min(subs) > 0


def no_bullets_bullets(text: str, kwargs: Kwargs) -> bool:
    lines = [line.strip() for line in text.split("\n") if has_word(line)]
    first = next((at for at, line in enumerate(lines) if line.startswith("*")), len(lines))
    prose, bullets = "\n".join(lines[:first]), lines[first:]
    stopped = sum(part.endswith(".") for part in sentences(prose))
    return stopped >= 2 and len(bullets) >= 2 and all(line.startswith("*") for line in bullets)


def sentence_alphabet(text: str, kwargs: Kwargs) -> bool:
    firsts = ["".join(_folded_words(part)[:1])[:1] for part in sentences(text)]
    return firsts == list(string.ascii_lowercase)


def reverse_newline(text: str, kwargs: Kwargs) -> bool:
    listed = official.from_zimbabwe_on(text)
    countries = all(any(name in line.lower() for name in AFRICA) for line in listed)
    return (
        len(set(listed)) == len(listed) >= 52
        and listed == sorted(listed, reverse=True)
        and countries
    )


def csv_city(text: str, kwargs: Kwargs) -> bool:
    return official.csv_city(text, kwargs) and _filled(text)


def _filled(text: str, delimiter: str = ",") -> bool:
    rows = official.csv_rows(text, delimiter)
    return all(len(row) == 5 and all(map(str.strip, row)) for row in rows)


def csv_special_character(text: str, kwargs: Kwargs) -> bool:
    return official.csv_special_character(text, kwargs) and _filled(text.strip())


def csv_quotes(text: str, kwargs: Kwargs) -> bool:
    return official.csv_quotes(text, kwargs) and _filled(text, "\t")


def date_format_list(text: str, kwargs: Kwargs) -> bool:
    try:
        years = [datetime.date.fromisoformat(part.strip()).year for part in text.split(",")]
    except ValueError:
        return False
    return official.date_format_list(text, kwargs) and min(years) >= 1769


def keywords_multiple(text: str, kwargs: Kwargs) -> bool:
    return all(
        occurrences(kwargs[f"keyword{at}"], text) == times
        for at, times in enumerate((1, 2, 3, 5, 7), start=1)
    )


keywords_specific_position = keyword_specific_position


def words_position(text: str, kwargs: Kwargs) -> bool:
    tokens, keyword = _folded_words(text), _folded_words(kwargs["keyword"])
    return len(tokens) > 3 and [tokens[1]] == [tokens[-2]] == keyword


def repeat_change(text: str, kwargs: Kwargs) -> bool:
    request, tokens = visible(kwargs["prompt_to_repeat"]).split(), text.split()
    return len(tokens) > 1 and request[1:] == tokens[1:] and words(request[0]) != words(tokens[0])


def repeat_simple(text: str, kwargs: Kwargs) -> bool:
    return single_spaced(text) == _PRINTED


def repeat_span(text: str, kwargs: Kwargs) -> bool:
    span = visible(kwargs["prompt_to_repeat"]).split()[kwargs["n_start"] : kwargs["n_end"] + 1]
    return text.split() == span


def title_case(text: str, kwargs: Kwargs) -> bool:
    tokens = words(text)
    small = [word for word in tokens[1:] if word[0].islower() and word not in MINOR_WORDS]
    return not tokens[0][0].islower() and not small and any(word[0].isupper() for word in tokens)


def output_template(text: str, kwargs: Kwargs) -> bool:
    at = [text.find(label) for label in _LABELS]
    if min(at) < 0 or at != sorted(at) or has_word(text[: at[0]]):
        return False
    ends = [*at[1:], len(text)]
    return all(
        has_word(text[start + len(label) : end])
        for label, start, end in zip(_LABELS, at, ends, strict=True)
    )


def no_whitespace(text: str, kwargs: Kwargs) -> bool:
    return re.search(r"\s", text.strip()) is None
