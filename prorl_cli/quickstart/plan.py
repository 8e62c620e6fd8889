"""Choose the size of ``prorl quickstart`` from measured speeds, and adjust it during the run."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text, format_seconds

PROMPTS, SAMPLES = 12, 8
"""Prompts per step and answers per prompt, as in the preset ``quickstart``."""
UPDATED = 0.7
"""Expected share of prompts that are trained on; answers to the others are all right or all wrong."""
PASSES = 4 / 3
"""Cost of an update in passes (forward and backward), with the reference's forward pass."""
LONGER = 1.3
"""Expected length of evaluated answers relative to training answers."""
RESERVE = 0.05
"""Share of the remaining time that is kept in reserve."""


@dataclass(frozen=True, slots=True)
class Size:
    """A possible size of the run, which may have from ``least`` to ``most`` RL steps."""

    examples: int
    least: int
    most: int
    problems: int
    answers: int
    shows_gain: bool = True


SIZES = (
    Size(examples=32, least=30, most=60, problems=100, answers=16),
    Size(examples=32, least=12, most=20, problems=100, answers=8),
    Size(examples=32, least=8, most=12, problems=60, answers=8),
    Size(examples=32, least=5, most=8, problems=40, answers=8),
    Size(examples=16, least=1, most=5, problems=20, answers=4, shows_gain=False),
)
"""Sizes from large to small; ``shows_gain`` was measured (docs/evidence/quickstart.md)."""
LEAST_STEPS = min(size.least for size in SIZES if size.shows_gain)
"""Minimum number of RL steps for a plan that shows a gain."""
RECENT = 3
"""Number of recent steps whose mean time predicts the next ones."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Speeds in tokens per second (sampling and training), load time, and tokens per prompt and answer."""

    sampled: float
    trained: float
    load_seconds: float
    prompt_tokens: float
    answer_tokens: float


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds per warm-start example, RL step and evaluated answer, and fixed seconds before and after the steps."""

    example: float
    step: float
    answer: float
    begin: float
    end: float

    def around(self, size: Size, done: int) -> float:
        """Return the seconds needed besides RL steps: after the first step (``done`` > 0), only those at the end."""
        begin = 0.0 if done else self.begin + size.examples * self.example
        return begin + 2 * size.problems * size.answers * self.answer + self.end


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes of the run, all its RL steps, and the expected seconds."""

    examples: int
    steps: int
    problems: int
    answers: int
    seconds: float
    shows_gain: bool
    minutes_for_gain: int

    def too_little(self, minutes: float) -> str:
        """Return why a gain is unlikely in ``minutes``, and what to do."""
        few = f"{_steps(self.steps)} and {self.problems} held-out problems are too few for the test to show a gain"
        if self.minutes_for_gain <= minutes:
            return (
                f"{few}: the machine was busy when the run was planned; a new run may do more steps"
            )
        return f"{few}: at this speed, prorl quickstart --minutes {self.minutes_for_gain} would suffice"

    def sentence(self) -> str:
        return (
            f"{self.examples} supervised examples, {_steps(self.steps)} of {PROMPTS} prompts x {SAMPLES} answers, "
            f"then {self.answers} answers to each of {self.problems} held-out problems before and after RL: about "
            f"{format_seconds(self.seconds)}"
        )

    def save(self, path: Path) -> None:
        atomic_write_text(path, json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> Plan | None:
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def _steps(count: int) -> str:
    return f"{count} RL step{'' if count == 1 else 's'}"


def costs_of(rates: Rates) -> Costs:
    prompt, answer = rates.prompt_tokens, rates.answer_tokens
    update = UPDATED * PROMPTS * (prompt + SAMPLES * answer) * PASSES / rates.trained
    return Costs(
        example=(prompt + answer) / rates.trained,
        step=PROMPTS * SAMPLES * answer / rates.sampled + update,
        answer=LONGER * answer / rates.sampled,
        begin=3 * rates.load_seconds,  # load the model, write a checkpoint
        end=5 * rates.load_seconds,  # checkpoint, two model loads, report
    )


def choose(costs: Costs, seconds: float, steps: int | None = None, done: int = 0) -> Plan:
    """Return the largest plan that ends within ``seconds``, else the smallest.

    ``steps`` fixes the total number of RL steps, of which ``done`` are done already.
    """
    size, fitting = SIZES[0], 0
    for size in SIZES:
        remaining = (1 - RESERVE) * seconds - costs.around(size, done)
        fitting = done + math.floor(remaining / costs.step)
        if fitting >= (size.least if steps is None else steps):
            break
    total = steps if steps is not None else max(min(fitting, size.most), done, 1)
    return Plan(
        examples=size.examples,
        steps=total,
        problems=size.problems,
        answers=size.answers,
        seconds=costs.around(size, done) + (total - done) * costs.step,
        shows_gain=size.shows_gain and total >= LEAST_STEPS,
        minutes_for_gain=minutes_for_gain(costs),
    )


def minutes_for_gain(costs: Costs) -> int:
    needed = min(costs.around(s, 0) + s.least * costs.step for s in SIZES if s.shows_gain)
    return math.ceil(needed / (1 - RESERVE) / 60)


class Pace:
    """Adapts the plan to the measured steps, and ends training in time for the evaluation.

    ``steps`` is the number of steps if the user fixed it. ``deadline`` is a time of ``clock`` in seconds.
    """

    def __init__(
        self,
        plan: Plan,
        costs: Costs,
        deadline: float,
        steps: int | None,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.plan = plan
        self.costs = costs
        self.deadline = deadline
        self._steps = steps
        self._most = self._lowest = plan.steps
        self._say = say
        self._clock = clock
        self._rows: deque[Mapping[str, Any]] = deque(maxlen=RECENT)

    def after_step(self, row: Mapping[str, Any]) -> bool:
        """Record a step's metrics; return whether there is time for another step."""
        self._rows.append(row)
        steps_done = int(row["step"])
        sampling = statistics.fmean(r["sample_seconds"] for r in self._rows)
        self.costs = replace(
            self.costs,
            step=statistics.fmean(r["seconds"] for r in self._rows),
            answer=LONGER * sampling / (PROMPTS * SAMPLES),
        )
        plan = choose(self.costs, self.deadline - self._clock(), self._steps, steps_done)
        self.plan = replace(
            plan, examples=self.plan.examples, steps=min(plan.steps, max(self._most, steps_done))
        )
        if self.plan.steps < self._lowest:
            self._lowest = self.plan.steps
            self._say(f"slower than planned: {_steps(self.plan.steps)} in all")
        return self.plan.steps > steps_done

    def before_evaluation(self, done: int) -> Plan:
        """Return the final plan after ``done`` steps, with the largest evaluation that fits."""
        plan = choose(self.costs, self.deadline - self._clock(), done, done)
        return replace(plan, examples=self.plan.examples)
