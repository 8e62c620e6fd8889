"""Searches for probes (answers that ignore the problem) that earn more than chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from prorl_verifiers.audit.probes import generic_probes
from prorl_verifiers.audit_shape import Group, Item, Probe, options_of, plain
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.types import Task, Verdict

LEVEL = 0.05
"""A probe is a leak only if its p-value is below this."""
SMALLEST = 0.005
"""A probe is a leak only if its mean reward exceeds chance by more than this."""


def group_chance(group: Group) -> float:
    """Return the mean reward, in [0, 1], that blind guesses earn on a group.

    If unknown, it is estimated: the fraction of the most frequent gold or, if larger, the mean of one over the number
    of options.
    """
    items = group.items
    if not items:
        return 0.0
    chances = [item.chance for item in items if item.chance is not None]
    if len(chances) == len(items):
        return sum(chances) / len(items)
    by_form = VERIFIERS.get(group.verifier).audit.chance
    if by_form is not None:
        return sum(by_form(item.task.reference) for item in items) / len(items)
    golds = Counter(plain(item.gold) for item in items if item.gold is not None)
    commonest = max(golds.values(), default=1) / len(items)
    options = [options_of(item) for item in items]
    blind = sum(1 / len(texts) for texts in options if texts) / len(items)
    return max(commonest, blind)


def share_of_golds(group: Group, answers: Sequence[str | None]) -> float:
    same = 0
    for item, answer in zip(group.items, answers, strict=True):
        same += answer is not None and item.gold is not None and plain(answer) == plain(item.gold)
    return same / len(group.items) if group.items else 0.0


def luck(rewards: Sequence[float], chance: float, tried: int) -> float:
    """Return the p-value of ``rewards``: the probability that blind guesses reach their mean.

    It is the binomial tail if all rewards are 0 or 1, else Hoeffding's upper bound, Bonferroni-corrected for ``tried``
    tests.
    """
    n = len(rewards)
    if n == 0:
        return 1.0
    mean = sum(rewards) / n
    if mean <= chance or chance >= 1:
        return 1.0
    if chance <= 0:
        return 0.0
    if all(reward in (0.0, 1.0) for reward in rewards):
        tail = binomial_tail(n, round(mean * n), chance)
    else:
        # The Kullback-Leibler divergence of Bernoulli(mean) from Bernoulli(chance).
        m, c = min(mean, 1.0), chance
        upper = m * math.log(m / c) if m > 0 else 0.0
        lower = (1 - m) * math.log((1 - m) / (1 - c)) if m < 1 else 0.0
        tail = math.exp(-n * (upper + lower))
    return min(1.0, tail * max(1, tried))


def binomial_tail(n: int, k: int, p: float) -> float:
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


SAMPLE = 5
"""A mutated probe is scored on this many items first, and on the others only if it beats its parent."""
PARENTS = 3
AGAIN = 7
"""One in this many responses is scored twice, to find contradictory verdicts."""
LONGEST = 20_000
"""Maximum characters of a mutated answer; longer ones are cut."""


class Scorer(Protocol):
    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return one verdict per (response, task), in order."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The mean reward (``earned``) of one way to guess answers, and its p-value (``luck``)."""

    probe: str
    example: str
    earned: float
    chance: float
    luck: float

    @property
    def excess(self) -> float:
        return self.earned - self.chance

    @property
    def is_leak(self) -> bool:
        return self.excess > SMALLEST and self.luck < LEVEL


@dataclass(frozen=True, slots=True)
class Fault:
    """A missing, invalid, slow or contradictory verdict."""

    kind: str
    item: str
    probe: str
    detail: str


@dataclass(slots=True)
class GroupReport:
    """The results of one group. ``leaks`` are the probes that earned significantly more than chance, worst first."""

    name: str
    verifier: str
    items: int
    chance: float
    tried: int = 0
    verdicts: int = 0
    slowest: float = 0.0
    best: Trial | None = None
    leaks: list[Trial] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


Family = Literal["ignorant", "spoilt"]
"""``ignorant``: answers that ignore the problem; ``spoilt``: correct answers that were made wrong."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an audit.

    ``rounds``: maximum rounds of varying the best guesses.
    ``slow_seconds``: a slower verdict is a fault.
    """

    rounds: int = 2
    slow_seconds: float = 2.0
    families: Sequence[Family] = ("ignorant", "spoilt")


Key = tuple[int, str]


class GroupSearch:
    def __init__(self, pool: Scorer, group: Group, settings: Settings) -> None:
        self._pool, self._group, self._settings = pool, group, settings
        self._verdicts: dict[Key, Verdict] = {}
        self._names: dict[Key, str] = {}
        self._report = GroupReport(
            group.name, group.verifier, len(group.items), group_chance(group)
        )

    def run(self) -> GroupReport:
        make_probes = VERIFIERS.get(self._group.verifier).audit.probes or generic_probes
        probes = list(make_probes())
        if self._group.wordless:
            probes = [probe for probe in probes if self._is_wordless(probe)]
        everywhere = list(range(len(self._group.items)))
        sample = everywhere[:SAMPLE]
        self._score(probes, everywhere)
        tried = len(probes)
        for _ in range(0 if self._group.wordless else self._settings.rounds):
            fresh = self._mutated(probes)
            self._score(fresh, sample)
            tried += len(fresh)
            better = []
            for child, parent in fresh.items():
                earned = sum(self._rewards(child, sample))
                if earned > sum(self._rewards(parent, sample)) + 1e-9:
                    better.append(child)
            if not better:
                break
            self._score(better, everywhere)
            probes = probes + better
        self._report_trials(probes, tried)
        self._score_again()
        return self._report

    # --------------------------------------------------------------------------------------- scoring

    def _score(self, probes: Iterable[Probe], places: Sequence[int]) -> None:
        fresh: dict[Key, str] = {}
        for probe in probes:
            for place in places:
                response = self._response(probe, self._group.items[place])
                key = (place, response or "")
                if response is not None and key not in self._verdicts:
                    fresh.setdefault(key, probe.name)
        keys = list(fresh)
        verdicts = self._pool.score([(key[1], self._group.items[key[0]].task) for key in keys])
        self._verdicts.update(zip(keys, verdicts, strict=True))
        self._names.update(fresh)

    def _response(self, probe: Probe, item: Item) -> str | None:
        answer = probe.answer(item, self._group)
        if answer is None or probe.raw:
            return answer
        return VERIFIERS.get(item.task.verifier).data.write(answer, item.task.reference)

    def _rewards(self, probe: Probe, places: Sequence[int]) -> list[float]:
        rewards = []
        for place in places:
            response = self._response(probe, self._group.items[place])
            verdict = self._verdicts.get((place, response)) if response is not None else None
            reward = None if verdict is None else verdict.reward
            rewards.append(reward if reward is not None and 0 <= reward <= 1 else 0.0)
        return rewards

    # -------------------------------------------------------------------------------------- mutation

    def _is_wordless(self, probe: Probe) -> bool:
        answers = {probe.answer(item, self._group) for item in self._group.items}
        return not any(a is None or any(c.isalnum() for c in a) for a in answers)

    def _mutated(self, probes: Sequence[Probe]) -> dict[Probe, Probe]:
        places = range(len(self._group.items))
        usable = [p for p in probes if p.answer(self._group.items[0], self._group) is not None]
        ranked = sorted(usable, key=lambda probe: -sum(self._rewards(probe, places)))[:PARENTS]
        children: dict[Probe, Probe] = {}
        for at, parent in enumerate(ranked):
            for name, change in MUTATIONS.items():
                children[_changed(parent, name, change)] = parent
            other = ranked[(at + 1) % len(ranked)]
            children[_combined(parent, other, ", ")] = parent
            children[_combined(parent, other, " ")] = parent
        return children

    # --------------------------------------------------------------------------------------- judging

    def _report_trials(self, probes: Sequence[Probe], tried: int) -> None:
        items, report = self._group.items, self._report
        trials = []
        for probe in probes:
            rewards = self._rewards(probe, range(len(items)))
            answers = [probe.answer(item, self._group) for item in items]
            chance = max(report.chance, share_of_golds(self._group, answers))
            earned = math.fsum(rewards) / len(rewards)
            at = max(range(len(rewards)), key=rewards.__getitem__)
            example = (answers[at] or "")[:200]
            trials.append(Trial(probe.name, example, earned, chance, luck(rewards, chance, tried)))
        trials.sort(key=lambda trial: -trial.excess)
        report.tried, report.verdicts = tried, len(self._verdicts)
        report.best = trials[0] if trials else None
        report.leaks = [trial for trial in trials if trial.is_leak]

    def _score_again(self) -> None:
        slow = self._settings.slow_seconds
        again: list[Key] = []
        for number, (key, verdict) in enumerate(self._verdicts.items()):
            late = verdict.seconds > slow or verdict.status == "timeout"
            if verdict.is_infra_error:
                self._fault("no verdict", key, verdict.reason)
            elif verdict.reward is None or not 0.0 <= verdict.reward <= 1.0:
                self._fault("reward", key, repr(verdict.reward))
            if number % AGAIN == 0 or late:
                again.append(key)
        again.reverse()
        second = self._pool.score([(key[1], self._group.items[key[0]].task) for key in again])
        for key, verdict in zip(again, second, strict=True):
            first = self._verdicts[key]
            self._report.slowest = max(self._report.slowest, min(first.seconds, verdict.seconds))
            late = "timeout" in (first.status, verdict.status)
            if first.reward != verdict.reward or (first.status != verdict.status and not late):
                detail = f"{first.reward} {first.status}, then {verdict.reward} {verdict.status}"
                self._fault("disagreement", key, detail)
            elif min(first.seconds, verdict.seconds) > slow:
                self._fault("slow", key, f"{verdict.seconds:.1f} s, {verdict.status}")

    def _fault(self, kind: str, key: Key, detail: str) -> None:
        item = self._group.items[key[0]].id
        self._report.faults.append(Fault(kind, item, self._names[key], detail))


def _changed(parent: Probe, name: str, change: Callable[[str], str]) -> Probe:
    def answer(item: Item, group: Group) -> str | None:
        text = parent.answer(item, group)
        return None if text is None else change(text)[:LONGEST]

    return Probe(f"{parent.name} + {name}", answer, parent.raw)


def _combined(parent: Probe, other: Probe, mark: str) -> Probe:
    def answer(item: Item, group: Group) -> str | None:
        first, second = parent.answer(item, group), other.answer(item, group)
        return None if first is None or second is None else f"{first}{mark}{second}"[:LONGEST]

    return Probe(f"{parent.name} + {mark!r} + {other.name}", answer, parent.raw)


MUTATIONS: dict[str, Callable[[str], str]] = {
    "0 behind": lambda text: text + "0",
    "1 behind": lambda text: text + "1",
    "1 before": lambda text: "1" + text,
    "minus": lambda text: "-" + text,
    "=": lambda text: text + "=",
    "x=": lambda text: "x=" + text,
    "twice": lambda text: f"{text} {text}",
    "eight times": lambda text: (text + " ") * 8,
    "doubled lines": lambda text: f"{text}\n{text}",
    "brackets": lambda text: f"({text})",
    "square brackets": lambda text: f"[{text}]",
    "set": lambda text: f"\\{{{text}\\}}",
    "text": lambda text: f"\\text{{{text}}}",
    "dollars": lambda text: f"${text}$",
    "units": lambda text: f"{text} \\text{{ m/s}}",
    "percent": lambda text: f"{text}\\%",
    "degrees": lambda text: f"{text}^\\circ",
    "capitals": lambda text: text.upper(),
    "small letters": lambda text: text.lower(),
    "half": lambda text: text[: len(text) // 2],
    "tail": lambda text: text[-max(1, len(text) // 2) :],
    "reversed": lambda text: text[::-1],
    "comma list": lambda text: ", ".join(text.split()),
    "no spaces": lambda text: "".join(text.split()),
}
