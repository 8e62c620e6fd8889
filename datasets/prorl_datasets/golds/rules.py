"""What a gold looks like that is no answer, one gold at a time.

``clear`` cases are bad rows when a dataset is built; ``doubtful`` ones are only reported by ``prorl data
audit-golds``. Both judge the golds of verifiers that read answers (math, stem), never a plug-in's: ``None`` may be
the right answer of another. Leaves out: what only many rows together show (``audit``).
"""

from __future__ import annotations

import re

from prorl_datasets.rows.row import normalised
from prorl_verifiers import VERIFIERS

_NULL_WORDS = frozenset(
    (
        "nan", "null", "n/a", "#n/a", "<na>", "nil", "no answer", "no answer found", "no answer detected",
        "not available", "not applicable", "no solution detected",
    )
)  # fmt: skip
_ELSEWHERE = re.compile(
    r"(?:please )?(?:see|refer to|cf\.?|look at|check)\b[^$\\=\d]{0,60}"
    r"\b(?:above|below|proof|solution|explanation|text|figure|diagram|image|answer|work|attached|appendix)\b.{0,40}"
    r"|(?:the )?(?:above|proof|solution|answer|explanation)(?: is)? (?:above|below|given above|shown above|omitted|"
    r"left to the reader|attached)\b.{0,40}"
    r"|(?:as )?(?:shown|proved|proven|stated|described|explained|given|seen) (?:above|below)\b.{0,40}",
    re.IGNORECASE | re.DOTALL,
)
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_PLACEHOLDERS = frozenset(
    (
        "todo", "tbd", "fixme", "xxx", "placeholder", "answer", "solution", "the answer", "final answer", "unknown",
        "test", "<answer>", "[answer]", "{answer}", "your answer", "your answer here", "lorem ipsum", r"\boxed{}",
    )
)  # fmt: skip
_MARKS = re.compile(r"[\W_]+")
_PROOF = re.compile(
    r"(?:proof|proved|proven|q\.?e\.?d|shown|verified|see solution|\\(?:blacksquare|square|qed))\b\W*",
    re.IGNORECASE,
)
_LIST = re.compile(r"\[\s*(['\"]).*\1\s*\]", re.DOTALL)
_FORMULA = re.compile(
    r"\$[^$]{0,400}\$|\\\([^)]{0,400}\\\)|\\begin\{[^}]{0,20}\}.{0,400}?\\end\{[^}]{0,20}\}|\\[A-Za-z]+"
)
_WORD = re.compile(r"(?<![\w{])[A-Za-z]{2,}(?![\w}])")
PROSE = 8
"""Words of a gold, formulas aside, from which it is prose."""
_LONGEST = 400


def reads_answers(verifier: str) -> bool:
    """Whether a verifier's golds are answers that these rules may judge."""
    return VERIFIERS.origin(verifier).is_ours and VERIFIERS.get(verifier).target_type is not None


def clear_of(verifier: str, answer: str | None) -> str | None:
    """Return the rule by which a verifier's gold is certainly no answer, None where it may be one."""
    return clear(answer) if answer is not None and reads_answers(verifier) else None


def clear(answer: str) -> str | None:
    """Return the rule by which a text is certainly no answer, None where it may be one."""
    plain = " ".join(answer.split()).strip()
    small = plain.lower().strip("$ .")
    if not plain:
        return "empty"
    if plain == "None" or small in _NULL_WORDS:
        return "null word"
    if len(plain) <= _LONGEST and _ELSEWHERE.fullmatch(plain):
        return "points elsewhere"
    return None


def doubtful(answer: str, question: str) -> str | None:
    """Return the rule by which a text is probably no answer, None where nothing speaks against it."""
    plain = " ".join(answer.split()).strip()
    small = plain.lower().strip("$ ")
    if small.strip(".") == "none":
        return "null word"
    if small.strip(".: ") in _PLACEHOLDERS or _MARKS.fullmatch(small):
        return "placeholder"
    if _URL.fullmatch(small):
        return "link"
    if _PROOF.fullmatch(small):
        return "proof"
    if normalised(answer) == normalised(question):
        return "the question itself"
    if _LIST.fullmatch(plain):
        return "a list written as text"
    if len(_WORD.findall(_FORMULA.sub(" ", plain[:_LONGEST]))) >= PROSE:
        return "prose"
    return None
