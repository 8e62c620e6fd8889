"""Scores gold responses, and right answers written in the form that the prompt requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from prorl_common import ServiceError
from prorl_verifiers import VERIFIERS, Task, Verdict, next_task

FULL_MARKS = 1.0 - 1e-9
TRIES = 3
_FORMS = re.compile(
    r"(?P<box>\\boxed)|(?P<fence>```|triple backticks)|(?P<hashes>####)"
    r"|<(?P<tag>(?!think)\w+)>(?=.*</(?P=tag)>|\s*tags?\b)|(?P<line>\banswer:(?=[ \t]*\S))",
    re.IGNORECASE | re.DOTALL,
)
"""Phrases in which prompts specify the form of an answer."""


class Scorer(Protocol):
    """Scores (response, task) pairs, like VerifierPool."""

    def score(self, items: list[tuple[str, Task]]) -> list[Verdict]: ...


@dataclass(frozen=True, slots=True)
class GoldResult:
    """Result of a gold check. ``reason`` is a category, ``detail`` the verifier's explanation."""

    accepted: bool
    reason: str = ""
    detail: str = ""
    isolation: str = ""

    @classmethod
    def of(cls, verdict: Verdict) -> GoldResult:
        """Return the result of a verdict. Raises ServiceError for ``infra_error``."""
        if verdict.is_infra_error or verdict.reward is None:
            raise ServiceError(
                f"the gold check could not run: {verdict.reason}; finished parts are kept, run "
                "the same command to continue"
            )
        if verdict.reward >= FULL_MARKS:
            return cls(True, isolation=verdict.isolation)
        is_scored = verdict.status == "scored"
        kind = "gold response not accepted" if is_scored else f"gold {verdict.status}"
        detail = f"reward {verdict.reward:.3g}: {verdict.reason}"
        return cls(False, kind, detail, verdict.isolation)


@contextmanager
def open_scorer(workers: int, servers: Sequence[str] = ()) -> Iterator[Scorer]:
    """Open a verifier pool on the reward ``servers``, or with ``workers`` local processes if there are none."""
    from prorl_verifiers import open_pool

    with open_pool(servers, workers) as pool:
        yield pool


def check_gold(scorer: Scorer, items: Sequence[tuple[str, Task]]) -> list[GoldResult]:
    """Score (gold response, task) pairs. Raises ServiceError if a verifier fails."""
    return [GoldResult.of(verdict) for verdict in _verdicts(scorer, items)]


def _verdicts(scorer: Scorer, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
    """Score (response, task) pairs, and retry each timeout alone."""
    items = [
        (text, next_task(task, None, last=VERIFIERS.get(task.verifier).is_environment))
        for text, task in items
    ]
    verdicts = scorer.score(list(items)) if items else []
    for place, verdict in enumerate(verdicts):
        for _ in range(TRIES if verdict.status == "timeout" else 0):
            verdicts[place] = scorer.score([items[place]])[0]
            if verdicts[place].status != "timeout":
                break
    return verdicts


@dataclass(frozen=True, slots=True)
class PromptedRow:
    """A row to score in ``check_prompted``; ``gold`` is its gold response."""

    name: str
    prompt: str
    gold: str | None
    task: Task


@dataclass(slots=True)
class Unpaid:
    """Number of rows whose verifier rejects the right answer in the form that the prompt requests."""

    rows: int = 0
    example: str = ""

    def add(self, rows: int, example: str) -> None:
        """Add ``rows`` to the count, and keep the alphabetically first example."""
        self.rows += rows
        self.example = min(filter(None, (self.example, example)), default="")

    def warning(self, entry: str) -> str:
        return (
            f"entry {entry}: in {self.rows} rows the right answer, written as the prompt asks, does not earn "
            f"full reward. {self.example}. Change the entry's template or the verifier's prompt so that they ask for "
            "what the verifier rewards"
        )


def check_prompted(scorer: Scorer, rows: Sequence[PromptedRow]) -> Unpaid:
    """Score each row's right answer in the form that its prompt requests, and count the rejected rows."""
    written = [(row, text) for row in rows if (text := as_prompted(row)) is not None]
    verdicts = _verdicts(scorer, [(text, row.task) for row, text in written])
    unpaid = Unpaid()
    for (row, text), verdict in zip(written, verdicts, strict=True):
        if verdict.reward is None or verdict.reward < FULL_MARKS:
            reward = "no reward" if verdict.reward is None else f"reward {verdict.reward:.3g}"
            ending = " ".join(row.prompt.split())[-80:]
            example = f"{row.name}, whose prompt ends '{ending}', gives {text[:80]!r} {reward} ({verdict.reason})"
            unpaid.add(1, example)
    return unpaid


def as_prompted(row: PromptedRow) -> str | None:
    """Return the answer in the form that the prompt names last, or None if the gold response already has this form."""
    spec = VERIFIERS.get(row.task.verifier)
    answer, gold = spec.data.answer(row.task.reference), row.gold
    content = gold if answer is None else answer
    if content is None:
        return None
    forms = list(_FORMS.finditer(row.prompt))
    if forms:
        before, after = _form_marks(forms[-1])
        has_form = gold is not None and before.strip().lower() in gold.lower()
        return None if has_form else f"{before}{content}{after}"
    if gold is None or gold.strip() == content.strip():
        return None
    head, _, tail = spec.data.prompt.format(question="\0").partition("\0")
    opening = gold.rpartition(content)[0].split()[-1:]
    says_how = (head + tail and row.prompt.startswith(head) and row.prompt.endswith(tail)) or (
        opening and opening[0] in row.prompt
    )
    return None if says_how else content


def _form_marks(form: re.Match[str]) -> tuple[str, str]:
    if form["tag"]:
        return f"<{form['tag']}>", f"</{form['tag']}>"
    if form["box"]:
        return "\\boxed{", "}"
    if form["fence"]:
        return "```\n", "\n```"
    return ("#### ", "") if form["hashes"] else ("Answer: ", "")
