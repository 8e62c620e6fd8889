"""IFEvalG's published checks, including their errors (mode ``reference``)."""

from __future__ import annotations

import re
from itertools import pairwise

from prorl_verifiers.instruction.ifeval.official import (
    count_matches,
    letter_frequency,
    split_paragraphs,
)
from prorl_verifiers.instruction.official_text import nltk_words, rule_sentences
from prorl_verifiers.instruction.types import Kwargs

_DIVIDER = r"\s?\*\*\*\s?"


def repeat_phrase(text: str, kwargs: Kwargs) -> bool:
    phrase = kwargs["phrase"].split()
    spans = [part.split() for part in re.findall(rf"{phrase[0]} .*? {phrase[-1]}", text)]
    if len(spans) != kwargs["small_n"] or any(len(span) != len(phrase) for span in spans):
        return False
    changes = [sum(a != b for a, b in zip(span, phrase, strict=True)) for span in spans]
    return bool(max(changes) <= 1 and changes[-1] == 1)


def copy_text(text: str, kwargs: Kwargs) -> bool:
    return bool(text.strip().lower() == kwargs["prompt_to_repeat"].strip().lower())


def copying_multiple(text: str, kwargs: Kwargs) -> bool:
    parts = text.split("******")
    return len(parts) == int(kwargs["N"]) and all(copy_text(part, kwargs) for part in parts)


def copy_span_idx(text: str, kwargs: Kwargs) -> bool:
    span = kwargs["prompt_to_repeat"][kwargs["n_start"] : kwargs["n_end"]]
    return bool(text.strip().lower() == span.strip().lower())


def sentence_hyphens(text: str, kwargs: Kwargs) -> bool:
    expected = rule_sentences(text.replace("-", " "))
    return all(
        part.strip() == part and part == sentence
        for part, sentence in zip(text.split("-"), expected, strict=False)
    )


def square_brackets(text: str, kwargs: Kwargs) -> bool:
    return all(token.startswith("[") and token.endswith("]") for token in text.split())


def bigram_wrapping(text: str, kwargs: Kwargs) -> bool:
    tokens = text.split()
    pairs = zip(tokens[::2], tokens[1::2], strict=False)
    return all(left.startswith("<<") and right.endswith(">>") for left, right in pairs)


def no_adjacent_consecutive(text: str, kwargs: Kwargs) -> bool:
    firsts = [token[0].lower() for token in text.split()]
    if len(firsts) > 1 and any(len(letter) != 1 for letter in firsts):
        return False
    return not any(ord(right) - ord(left) == 1 for left, right in pairwise(firsts))


def word_once(text: str, kwargs: Kwargs) -> bool:
    return count_matches(kwargs["keyword"].strip(), text) == 1


def word_count_different_numbers(text: str, kwargs: Kwargs) -> bool:
    count = count_matches(kwargs["keyword"].strip(), text)
    less = kwargs["relation"] == "less than"
    return bool(count < kwargs["frequency"] if less else count >= kwargs["frequency"])


def exclude_word_harder(text: str, kwargs: Kwargs) -> bool:
    return f" {kwargs['keyword'].strip()} " not in text


def palindrome(text: str, kwargs: Kwargs) -> bool:
    return any(token == token[::-1] for token in text.split())


def keyword_specific_position(text: str, kwargs: Kwargs) -> bool:
    parts = rule_sentences(text)
    if len(parts) < kwargs["n"]:
        return False
    tokens = nltk_words(parts[kwargs["n"] - 1])
    at = kwargs["m"] - 1
    return len(tokens) > at and bool(tokens[at] == kwargs["keyword"].strip())


def start_end(text: str, kwargs: Kwargs) -> bool:
    tokens = nltk_words(text)
    return len(tokens) > 1 and tokens[0].lower() == tokens[-1].lower()


def paragraphs_two(text: str, kwargs: Kwargs) -> bool:
    return split_paragraphs(text, _DIVIDER) == 2


def paragraphs_blank_line(text: str, kwargs: Kwargs) -> bool:
    return split_paragraphs(text, r"\n\n") == 2


def first_word_sent(text: str, kwargs: Kwargs) -> bool:
    expected = kwargs["first_word"].strip().lower()
    return all(
        part.strip() and part.split()[0].lower() == expected for part in rule_sentences(text)
    )


def first_word_answer(text: str, kwargs: Kwargs) -> bool:
    return bool(text.split()[0].lower() == kwargs["first_word"].strip().lower())


def last_word_sent(text: str, kwargs: Kwargs) -> bool:
    expected = kwargs["last_word"].strip().lower()
    return all(part.strip() and _last(part) == expected for part in rule_sentences(text))


def last_word_answer(text: str, kwargs: Kwargs) -> bool:
    return bool(_last(text) == kwargs["last_word"].strip().lower())


def _last(text: str) -> str:
    return re.sub(r"[^\w\s]", "", text.split()[-1]).lower()


def lowercase_counting(text: str, kwargs: Kwargs) -> bool:
    return len(re.findall(r"\b[a-z]+\b", text)) <= int(kwargs["N"])


def letter_counting(text: str, kwargs: Kwargs) -> bool:
    count = len(re.findall(r"[a-zA-Z]", text))
    return bool(count < kwargs["N"] if kwargs["relation"] == "less than" else count >= kwargs["N"])


letter_counting2 = letter_frequency


def counting_composition(text: str, kwargs: Kwargs) -> bool:
    if split_paragraphs(text, _DIVIDER) != 3:
        return False
    groups = [rule_sentences(part) for part in re.split(_DIVIDER, text)]
    if any(len(group) != kwargs["n_sent"] for group in groups):
        return False
    return all(len(nltk_words(line)) == kwargs["n_words"] for group in groups for line in group)


def count_unique(text: str, kwargs: Kwargs) -> bool:
    tokens = nltk_words(text)
    return len(tokens) == len(set(tokens))


def count_increment_word(text: str, kwargs: Kwargs) -> bool:
    first, second = kwargs["keyword1"].strip(), kwargs["keyword2"].strip()
    return count_matches(first, text) == 1 and count_matches(second, text) == 2


def punctuation_dot(text: str, kwargs: Kwargs) -> bool:
    return "." not in text


def punctuation_exclamation(text: str, kwargs: Kwargs) -> bool:
    return "!" not in text
