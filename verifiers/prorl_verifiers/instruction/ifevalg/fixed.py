"""Our own checks of IFEvalG's constraints (mode ``fixed``), which take linear time."""

from __future__ import annotations

import re
from itertools import pairwise

from prorl_verifiers.instruction.ifeval.fixed import letter_frequency, number_paragraphs
from prorl_verifiers.instruction.text import (
    compare,
    ends_trimmed,
    folded,
    has_phrase,
    has_word,
    occurrences,
    paragraphs,
    same_word,
    sentences,
    single_spaced,
    split_at_six_stars,
    visible,
    words,
)
from prorl_verifiers.instruction.types import Kwargs

_BRACKETED = re.compile(r"[\"'“‘(]*\[[^\[\]\s]*[^\W_][^\[\]\s]*\][.,;:!?…\"'”’)]*")
_BIGRAM = re.compile(r"<<([^<>]*)>>[.,;:!?…]*")
_JOIN = re.compile(r"([.!?…][\"'”’)\]]*)-(?=\S)")
_RULE = re.compile(r"(?:^|(?<=\s))\*[^\S\n]?\*[^\S\n]?\*(?=\s|$)")
_DOTS = re.compile("[.…。．｡․‥]")
_SHOUTS = re.compile("[!！﹗¡‼⁉❗❕]")


def repeat_phrase(text: str, kwargs: Kwargs) -> bool:
    phrase = [word.casefold() for word in words(kwargs["phrase"])]
    tokens = [word.casefold() for word in words(text)]
    size, at, changed = len(phrase), 0, 0
    while at + size <= len(tokens):
        window = tokens[at : at + size]
        ends = window[0] == phrase[0] and window[-1] == phrase[-1]
        off = sum(a != b for a, b in zip(window, phrase, strict=True)) if ends else size
        if off == 0:
            return False
        changed += off == 1
        at += size if off == 1 else 1
    return changed == int(kwargs["small_n"])


def copy_text(text: str, kwargs: Kwargs) -> bool:
    return single_spaced(text) == single_spaced(visible(kwargs["prompt_to_repeat"]))


def copying_multiple(text: str, kwargs: Kwargs) -> bool:
    parts = split_at_six_stars(text)
    prompt = single_spaced(visible(kwargs["prompt_to_repeat"]))
    return len(parts) == kwargs["N"] and all(single_spaced(part) == prompt for part in parts)


def copy_span_idx(text: str, kwargs: Kwargs) -> bool:
    prompt, start, end = kwargs["prompt_to_repeat"], kwargs["n_start"], kwargs["n_end"]
    spans = {single_spaced(visible(prompt[start : end + more])) for more in (0, 1)}
    return single_spaced(text) in spans - {""}


def sentence_hyphens(text: str, kwargs: Kwargs) -> bool:
    parts = _JOIN.sub("\\1\0", text.strip().replace("\0", "")).split("\0")
    return len(parts) > 1 and all(
        part == part.strip() and len(sentences(part)) == 1 for part in parts
    )


def square_brackets(text: str, kwargs: Kwargs) -> bool:
    tokens = [token for token in text.split() if has_word(token)]
    return bool(tokens) and all(map(_BRACKETED.fullmatch, tokens))


def bigram_wrapping(text: str, kwargs: Kwargs) -> bool:
    groups = [words(group) for group in _BIGRAM.findall(text)]
    if not groups or has_word(_BIGRAM.sub(" ", text)):
        return False
    return all(len(group) == 2 for group in groups[:-1]) and (
        len(groups[-1]) == 2 or (len(groups[-1]) == 1 and len(groups) > 1)
    )


def no_adjacent_consecutive(text: str, kwargs: Kwargs) -> bool:
    firsts = [word[0].lower() for word in words(folded(text))]
    following = any(len(a) == len(b) == 1 and ord(b) - ord(a) == 1 for a, b in pairwise(firsts))
    return len(firsts) > 1 and not following


def word_once(text: str, kwargs: Kwargs) -> bool:
    return occurrences(kwargs["keyword"], text) == 1


def word_count_different_numbers(text: str, kwargs: Kwargs) -> bool:
    return occurrences(kwargs["keyword"], text) == int(kwargs["frequency"])


def exclude_word_harder(text: str, kwargs: Kwargs) -> bool:
    return not has_phrase(kwargs["keyword"], text)


def palindrome(text: str, kwargs: Kwargs) -> bool:
    if any(_reads_back(word) for word in words(text)):
        return True
    pieces = [*sentences(text), *text.split("\n"), *re.findall(r'["“]([^"“”\n]+)["”]', text)]
    return any(_reads_back(piece) for piece in pieces)


def _reads_back(text: str) -> bool:
    if len(text) < 3:
        return False
    letters = "".join(filter(str.isalpha, text.casefold()))
    return len(letters) > 2 and len(set(letters)) > 1 and letters == letters[::-1]


def keyword_specific_position(text: str, kwargs: Kwargs) -> bool:
    parts = sentences(text)
    if len(parts) < kwargs["n"]:
        return False
    tokens, keyword = words(parts[kwargs["n"] - 1]), words(kwargs["keyword"])
    at = kwargs["m"] - 1
    tokens = tokens[at : at + len(keyword)]
    return len(tokens) == len(keyword) > 0 and all(map(same_word, tokens, keyword))


def start_end(text: str, kwargs: Kwargs) -> bool:
    tokens = words(text)
    return len(tokens) > 1 and same_word(tokens[0], tokens[-1]) and text.rstrip()[-1].isalnum()


def paragraphs_two(text: str, kwargs: Kwargs) -> bool:
    return number_paragraphs(text, {"num_paragraphs": 2})


def paragraphs_blank_line(text: str, kwargs: Kwargs) -> bool:
    parts = paragraphs(text)
    return len(parts) == 2 and all(map(has_word, parts))


def first_word_sent(text: str, kwargs: Kwargs) -> bool:
    return _each_sentence(text, kwargs["first_word"], 0)


def last_word_sent(text: str, kwargs: Kwargs) -> bool:
    return _each_sentence(text, kwargs["last_word"], -1)


def _each_sentence(text: str, word: str, at: int) -> bool:
    parts = sentences(text)
    return bool(parts) and all(_word_at(sentence, word, at) for sentence in parts)


def _word_at(text: str, word: str, at: int) -> bool:
    tokens, expected = words(text), words(word)
    span = tokens[: len(expected)] if at == 0 else tokens[-len(expected) :]
    return len(span) == len(expected) > 0 and all(map(same_word, span, expected))


def first_word_answer(text: str, kwargs: Kwargs) -> bool:
    return _word_at(text, kwargs["first_word"], 0)


def last_word_answer(text: str, kwargs: Kwargs) -> bool:
    return _word_at(text, kwargs["last_word"], -1)


def lowercase_counting(text: str, kwargs: Kwargs) -> bool:
    tokens = words(text)
    return bool(tokens) and sum(word.islower() for word in tokens) <= int(kwargs["N"])


def letter_counting(text: str, kwargs: Kwargs) -> bool:
    return compare(sum(map(str.isalpha, text)), kwargs["relation"], kwargs["N"])


letter_counting2 = letter_frequency


def counting_composition(text: str, kwargs: Kwargs) -> bool:
    parts = ends_trimmed(_RULE.split(text))
    groups = [sentences(part) for part in parts]
    return (
        len(groups) == 3
        and all(len(group) == kwargs["n_sent"] for group in groups)
        and all(len(words(line)) == kwargs["n_words"] for group in groups for line in group)
    )


def count_unique(text: str, kwargs: Kwargs) -> bool:
    tokens = [word.casefold() for word in words(folded(text))]
    return bool(tokens) and len(tokens) == len(set(tokens))


def count_increment_word(text: str, kwargs: Kwargs) -> bool:
    return occurrences(kwargs["keyword1"], text) == 1 and occurrences(kwargs["keyword2"], text) == 2


def punctuation_dot(text: str, kwargs: Kwargs) -> bool:
    return _DOTS.search(text) is None


def punctuation_exclamation(text: str, kwargs: Kwargs) -> bool:
    return _SHOUTS.search(text) is None
