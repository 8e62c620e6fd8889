r"""Multiple choice written into a problem's text: find the options, and the letter a solution names.

Leaves out: options without letters, questions with several right options (dropped).
"""

from __future__ import annotations

import re

from prorl_datasets.sources.adapters.fields import Unusable

_LABELS = (
    re.compile(r"(?:^|(?<=\s))\(([A-Za-z])\)[ \t]*(?=\S)"),
    re.compile(r"(?:^|(?<=\n))[ \t]*([A-Za-z])(?:\)[ \t]*|\.[ \t]+)(?=\S)"),
    re.compile(r"(?:^|(?<=\s))([A-Z])[.)][ \t]+(?=\S)"),
)
_SAYS = re.compile(
    r"(?i:\b(?:answer|ans|(?:correct|right|best)\s+(?:option|choice|alternative|one))\b)"
    r"\.?(?i:\s+(?:is|choice|option|would\s+be))*"
    r"\s*[:,]?\s*(?:\\(?:boxed|text|mathrm|textbf)\{|[$*(\[{\s])*(?:([A-Z])|(?<=[(\[{*])([a-z]))"
    r"(?=[)\]}*.,:;$\s]|$)"
)
"""A small letter counts in brackets or marks alone: "the answer is a lie" names nothing."""
_BEGINS = re.compile(r"\s*(?:\*\*)?[(\[]?([A-Za-z])(?:[)\].:]|\*\*)(?=\s|$|\*)")
_ALONE = re.compile(r"\s*[(\[]?([A-Za-z])[)\]]?\s*\.?\s*")


def options_in(problem: str) -> list[str] | None:
    """Return the option texts that a problem lists as (A) .. (B) .., or None. Letters from A, in order."""
    for pattern in _LABELS:
        found = list(pattern.finditer(problem))
        for start in range(len(found)):
            run = _run(found, start)
            if len(run) < 3:
                continue
            ends = [match.start() for match in run[1:]]
            last = problem.find("\n\n", run[-1].end())
            ends.append(len(problem) if last < 0 else last)
            texts = [
                " ".join(problem[match.end() : end].split()).strip(" ;,")
                for match, end in zip(run, ends, strict=True)
            ]
            distinct = len(set(texts)) == len(texts)
            return texts if distinct and all(texts) and len(texts) <= 26 else None
    return None


def _run(found: list[re.Match[str]], start: int) -> list[re.Match[str]]:
    """Return the longest A, B, C, ... in one case that begins at ``start``."""
    first = found[start].group(1)
    if first not in "Aa":
        return []
    run: list[re.Match[str]] = []
    for match in found[start : start + 26]:
        if match.group(1) != chr(ord(first) + len(run)):
            break
        run.append(match)
    return run


def letter_of(solution: str, count: int) -> str | None:
    """Return the one letter (A..) that a solution names as its answer, or None.

    Raises Unusable when it names several.
    """
    alone = _ALONE.fullmatch(solution)
    begins = _BEGINS.match(solution)
    named = [match.group(1) or match.group(2) for match in _SAYS.finditer(solution)]
    if alone is not None:
        named = [alone.group(1)]
    elif begins is not None:
        named.append(begins.group(1))
    letters = {letter.upper() for letter in named if ord(letter.upper()) - ord("A") < count}
    if len(letters) > 1:
        raise Unusable("the solution names several options", ", ".join(sorted(letters)))
    return min(letters) if letters else None
