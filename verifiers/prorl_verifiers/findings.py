"""Notes of a scorer that explain a reward. ``VerifierPool.score`` returns them with ``explain=True``.

Example in a plug-in::

    right = given == reference["answer"]
    note("words compared", right, {"given": given, "gold": reference["answer"]})
    return float(right)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Outcome = Literal["passed", "failed", "neutral"]
Fields: TypeAlias = Mapping[str, object]
"""Maps labels to values, which are displayed as ``str(value)``. None values are omitted."""
LONGEST_TEXT = 2000
"""Maximum characters of a string; the full length is appended to a shortened one."""
MOST_TEXT = 150_000
"""Maximum characters of a response's findings. After that strings are cut to ``SHORT_TEXT``, and later dropped."""
SHORT_TEXT = 80
LONGEST_TITLE = 200
MOST_FINDINGS = 1000
"""Maximum findings per response, including parts. A last finding states how many were dropped."""
MOST_HEARD = 20_000
"""Maximum notes that one scorer call records. Later ones are dropped."""
DEEPEST = 8
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "neutral")


@dataclass(frozen=True, slots=True)
class Finding:
    """A note of a scorer. ``span``: (start, end) in the response, in characters. ``fields`` may contain model output."""

    title: str
    outcome: Outcome = "neutral"
    fields: tuple[tuple[str, str], ...] = ()
    span: tuple[int, int] | None = None
    parts: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return {"title", "outcome", "fields": [[label, text]], "span": [start, end] or null, "parts"}."""
        return {
            "title": self.title,
            "outcome": self.outcome,
            "fields": [[label, text] for label, text in self.fields],
            "span": None if self.span is None else list(self.span),
            "parts": [part.to_json() for part in self.parts],
        }


_NOTES: ContextVar[list[Finding] | None] = ContextVar("findings", default=None)


def listening() -> bool:
    """Return whether notes are recorded, so that expensive ones can be skipped."""
    return _NOTES.get() is not None


def note(
    title: str,
    passed: bool | None = None,
    fields: Fields | None = None,
    *,
    span: tuple[int, int] | None = None,
    parts: Sequence[Finding] = (),
) -> None:
    """Record a finding inside a ``noting`` block, else do nothing.

    ``passed``: True, False, or None for a neutral finding.
    ``span``: (start, end) in the text given to the scorer.
    """
    notes = _NOTES.get()
    if notes is None or len(notes) >= MOST_HEARD:
        return
    outcome: Outcome = "neutral" if passed is None else "passed" if passed else "failed"
    texts = tuple(
        (label, cut(value)) for label, value in (fields or {}).items() if value is not None
    )
    notes.append(Finding(title, outcome, texts, span, tuple(parts)))


def count_notes() -> int:
    return len(_NOTES.get() or ())


def take_notes(since: int) -> tuple[Finding, ...]:
    """Remove and return the findings from index ``since`` on."""
    notes = _NOTES.get()
    if notes is None:
        return ()
    parts = tuple(notes[since:])
    del notes[since:]
    return parts


@contextmanager
def noting(listen: bool = True) -> Iterator[list[Finding]]:
    """Yield a list that collects the notes taken inside the block, or stays empty if ``listen`` is False."""
    findings: list[Finding] = []
    token = _NOTES.set(findings if listen else None)
    try:
        yield findings
    finally:
        _NOTES.reset(token)


def cut(value: object, longest: int = LONGEST_TEXT) -> str:
    """Return ``value`` as a string, shortened if it has more than ``longest`` characters."""
    text = value if isinstance(value, str) else written(value, str)
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text):,} characters)"


def written(value: object, write: Callable[[object], str]) -> str:
    try:
        return write(value)
    except Exception:  # noqa: BLE001 - integers of thousands of digits, deep nesting, a broken __str__
        return f"{type(value).__name__}, which cannot be written"


def bounded(findings: Sequence[Finding], offset: int = 0) -> tuple[Finding, ...]:
    """Limit the findings to ``MOST_FINDINGS`` and their text to ``MOST_TEXT``, and add ``offset`` to all spans."""
    return _Limiter(offset).limit(findings, 0)


class _Limiter:
    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._findings, self._characters = MOST_FINDINGS, MOST_TEXT

    def limit(self, findings: Sequence[Finding], depth: int) -> tuple[Finding, ...]:
        limited: list[Finding] = []
        for at, finding in enumerate(findings):
            if self._findings == 0 or depth == DEEPEST or self._characters < -MOST_TEXT:
                limited.append(Finding(f"{len(findings) - at} more findings are left out"))
                break
            self._findings -= 1
            limited.append(self._one(finding, depth))
        return tuple(limited)

    def _one(self, finding: Finding, depth: int) -> Finding:
        title = cut(finding.title, LONGEST_TITLE)
        self._characters -= len(title)
        fields = []
        for label, text in finding.fields:
            if self._characters < -MOST_TEXT:
                break
            fields.append((cut(label, SHORT_TEXT), self._text(text)))
            self._characters -= len(fields[-1][0]) + len(fields[-1][1])
        span = finding.span
        if span is not None:
            span = (span[0] + self._offset, span[1] + self._offset)
        parts = self.limit(finding.parts, depth + 1)
        return Finding(title, finding.outcome, tuple(fields), span, parts)

    def _text(self, text: str) -> str:
        return text if self._characters > 0 else cut(text, SHORT_TEXT)


def read_findings(value: Any, depth: int = 0) -> tuple[Finding, ...]:
    """Parse findings from JSON. Raises ValueError, KeyError or TypeError."""
    if depth > DEEPEST + 1 or not isinstance(value, list):
        raise ValueError("not a list of findings")
    findings = []
    for row in value:
        span = row["span"]
        if row["outcome"] not in OUTCOMES or not isinstance(row["title"], str):
            raise ValueError("not a finding")
        fields = tuple((label, text) for label, text in row["fields"])
        if not all(isinstance(part, str) for pair in fields for part in pair):
            raise ValueError("a field of a finding is not a string")
        if span is not None:
            start, end = span
            if type(start) is not int or type(end) is not int or not 0 <= start <= end:
                raise ValueError("the span of a finding is invalid")
            span = (start, end)
        parts = read_findings(row["parts"], depth + 1)
        findings.append(Finding(row["title"], row["outcome"], fields, span, parts))
    return tuple(findings)
