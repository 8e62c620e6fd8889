"""Audit golds: those that are no answers, one by one and as a set.

What only many rows show: one value for many rows of a source, and one question with two answers. Memory grows
with the number of rows and their golds (measured: 136,000 short ones take 250 MiB in all), not with the questions.
Leaves out: reading rows (``items``), and what a model says (``votes``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from prorl_datasets.building.gold import FULL_MARKS, Scorer
from prorl_datasets.golds import rules
from prorl_datasets.rows.row import digest, normalised
from prorl_verifiers import VERIFIERS, Task

LEAST_REPEATS = 5
"""Rows from which one value may count as a value for many rows."""
SHARE, SHARE_OF_FEW = 0.2, 0.9
"""Share of a source's golds that one value has to be: of any value, and of letters, yes and no, true and false."""
_FEW = re.compile(r"(?i:\\text\{)?\(?([A-Ja-j]|yes|no|true|false)\)?\}?", re.IGNORECASE)
UNUSABLE = "the row cannot be used"
MANY_ROWS = "one value for many rows"
TWO_ANSWERS = "two answers to one question"
AGAINST = "a majority against the gold"
MEANINGS = {
    "empty": "null, NaN or blank",
    "null word": "nan, null, n/a, none, no answer",
    "points elsewhere": "see the proof above, shown below, ...",
    "placeholder": "todo, ?, ..., an empty box",
    "link": "a lone address",
    "proof": "proved, Q.E.D.",
    "the question itself": "the question, case and spacing aside",
    "a list written as text": "['4']: a list that was printed",
    "prose": f"{rules.PROSE} words or more, formulas aside",
    MANY_ROWS: f"{LEAST_REPEATS} rows or more and {SHARE:.0%} of its source ({SHARE_OF_FEW:.0%}: letters, yes/no)",
    TWO_ANSWERS: "equal questions, and golds that do not accept each other",
    AGAINST: "more than half of a model's answers are one, and none is the gold",
    UNUSABLE: "no question, or a reference that its verifier does not take",
}
"""Rule -> what it finds."""


@dataclass(frozen=True, slots=True)
class GoldItem:
    """One gold to look at. ``place`` is an id or FILE:LINE; ``problem`` is (rule, detail) of a row that is none."""

    place: str
    source: str
    question: str = ""
    task: Task | None = None
    answer: str | None = None
    response: str | None = None
    problem: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A gold that a rule speaks against, or a value or question of several rows."""

    rule: str
    place: str
    gold: str
    detail: str = ""

    def as_json(self) -> dict[str, str]:
        """Return it as JSON-ready values."""
        return {"rule": self.rule, "place": self.place, "gold": self.gold, "detail": self.detail}


@dataclass(slots=True)
class GoldAudit:
    """What an audit found: rows, golds that were judged, how many each rule speaks against, and examples."""

    rows: int = 0
    judged: int = 0
    found: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Finding]] = field(default_factory=dict)
    votes: dict[str, int] = field(default_factory=dict)

    def add(self, finding: Finding, most: int, rows: int = 1) -> None:
        """Count a finding of ``rows`` rows; the first ``most`` of a rule are kept."""
        self.found[finding.rule] += rows
        held = self.examples.setdefault(finding.rule, [])
        if len(held) < most:
            held.append(finding)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {
            "rows": self.rows,
            "judged": self.judged,
            "found": dict(self.found.most_common()),
            "examples": [f.as_json() for held in self.examples.values() for f in held],
            **({"votes": self.votes} if self.votes else {}),
        }


def audit_golds(
    items: Iterable[GoldItem], *, examples: int = 5, scorer: Scorer | None = None
) -> GoldAudit:
    """Return what the rules say of the golds; ``scorer`` tells whether two spellings are one answer.

    Judged are golds of verifiers that read answers (math, stem); of others only that they can be used, and whether one
    question has two of them. Raises what ``items`` raises.
    """
    audit = GoldAudit()
    sources: dict[str, Counter[str]] = {}
    firsts: dict[str, tuple[str, str]] = {}
    known: dict[tuple[str, str], GoldItem] = {}
    doubles: list[tuple[GoldItem, GoldItem]] = []
    for item in items:
        audit.rows += 1
        if item.problem is not None:
            rule, detail = item.problem
            audit.add(Finding(rule, item.place, "", detail), examples)
            continue
        assert item.task is not None
        if item.answer is None:
            continue
        if rules.reads_answers(item.task.verifier):
            audit.judged += 1
            rule = rules.clear(item.answer) or rules.doubtful(item.answer, item.question) or ""
            if rule:
                audit.add(Finding(rule, item.place, _shown(item.answer)), examples)
                continue
            sources.setdefault(item.source, Counter())[normalised(item.answer)] += 1
            firsts.setdefault(f"{item.source} {normalised(item.answer)}", (item.place, item.answer))
        key = (digest(normalised(item.question)), item.task.verifier)
        before = known.setdefault(
            key, GoldItem(item.place, "", "", item.task, item.answer, item.response)
        )
        if normalised(before.answer or "") != normalised(item.answer):
            doubles.append((before, item))
    _many_rows(audit, sources, firsts, examples)
    _two_answers(audit, doubles, examples, scorer)
    return audit


def _many_rows(
    audit: GoldAudit,
    sources: dict[str, Counter[str]],
    firsts: dict[str, tuple[str, str]],
    examples: int,
) -> None:
    for source, counts in sources.items():
        total = counts.total()
        for value, count in counts.most_common():
            share = SHARE_OF_FEW if _FEW.fullmatch(value) else SHARE
            if count < LEAST_REPEATS or count < SHARE * total:
                break
            if count >= share * total:
                place, gold = firsts[f"{source} {value}"]
                detail = f"{count} of {total} golds of {source}"
                audit.add(Finding(MANY_ROWS, place, _shown(gold), detail), examples, count)


def _two_answers(
    audit: GoldAudit,
    doubles: list[tuple[GoldItem, GoldItem]],
    examples: int,
    scorer: Scorer | None,
) -> None:
    differ = doubles
    if scorer is not None:
        asked = [(second.response or "", first.task) for first, second in doubles if first.task]
        verdicts = scorer.score(asked) if asked else []
        differ = [
            pair
            for pair, verdict in zip(doubles, verdicts, strict=True)
            if verdict.reward is not None and verdict.reward < FULL_MARKS
        ]
    for first, second in differ:
        detail = f"{first.place} has '{_shown(first.answer or '')}'"
        audit.add(Finding(TWO_ANSWERS, second.place, _shown(second.answer or ""), detail), examples)


def item_of(place: str, source: str, question: str, task: Task, response: str | None) -> GoldItem:
    """Return the item of a row with a task."""
    answer = None
    if task.verifier in VERIFIERS.names():
        answer = VERIFIERS.get(task.verifier).answer(task.reference)
    return GoldItem(place, source, question, task, answer, response)


def _shown(text: str) -> str:
    return " ".join(text.split())[:80]
