"""Contains short original texts, without commas, in the languages that IFEval asks for."""

from __future__ import annotations

from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_NAMES = (
    "es Spanish|pt Portuguese|fr French|de German|it Italian|pl Polish|fi Finnish|sw Swahili|"
    "vi Vietnamese|ru Russian|uk Ukrainian|bg Bulgarian|ar Arabic|fa Persian|ur Urdu|he Hebrew|"
    "hi Hindi|mr Marathi|ne Nepali|bn Bengali|gu Gujarati|pa Punjabi|ta Tamil|te Telugu|"
    "kn Kannada|ml Malayalam|th Thai|ko Korean|ja Japanese"
)
NAMES = {pair[:2]: pair[3:] for pair in _NAMES.split("|")}
"""Maps each ISO 639-1 code to its English name."""


def sentences_of(code: str) -> tuple[str, ...]:
    return WORDINGS.texts(code) if code in NAMES else ()
