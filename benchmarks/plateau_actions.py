"""What each action of ``controller.on_stall`` does on a simulated policy, by what the plateau comes from.

Protocol, written before the first run:

- *World*: 10 families of 4 levels, 5 training items and 5 held-out ones each. A pass rate is sigmoid(s + v - d): s the
  skill of its family's level, which is u(level) + 0.5 u(level below), v what was learnt of the item alone, d its
  difficulty, N(0, 1) more than ``first + spacing`` x (level - 1). u and v begin at 0.
- *Learning* as in ``posterior_sampling.py``: a usable group with a share q of right answers has the signal
  g = 4 q (1 - q); its item's v rises by 0.2 g, its level's u by 1.5 g / (groups in the step). *Forgetting*: u and v are
  multiplied by 1 - ``forgetting`` after every step. *Leash*: u and v are pulled to those of the reference by ``leash``
  of the difference, the gradient of a quadratic KL; a reset makes the reference what the policy is.
- *Step*: the real ``PromptSource`` (4 groups of n = 8, posterior sampling), ``ItemRecords`` and ``Ladders``; groups are
  drawn until 4 are usable or 16 were drawn. A response costs one unit of tokens, dropped ones too.
- *Controller*: the real one. Every 10 steps the 200 held-out problems are answered four times each; K = 3, the rest as by
  default, no resets but those of a stall (none at a degradation either, which may come by chance). What is printed is the true mean pass rate of the held-out problems.
- *Cells*, what a plateau may come from: ``leash`` (the KL holds the policy), ``forgetting`` (what is learnt is lost as fast),
  ``too hard`` (upper levels are hardly ever solved), ``levels shut`` (a ladder whose rule asks for more than the lower levels
  reach), ``old records`` (half-life of 3,000 steps where much is forgotten), ``climbing`` (no plateau: a stall is a false one).
- *Arms*: ``none`` (stalls are not looked for), each action alone, and ``all four`` (reset, raise_difficulty, rerate,
  raise_samples in turn). ``none`` runs 1,000 steps; the others have its tokens (at most 2,000 steps). Seed = world and luck, the
  same for all arms.
- *Printed*: the validation of ``none`` at its end; for each arm the difference to it at equal tokens, median and range over
  the seeds, and how many stalls were acted on in a run (median). For ``end``, with and without ``end_gain``: how many runs ended, the tokens
  saved, and how much validation ``none`` still gained after that.

A first run (seeds 0 to 3) had one answer a problem and K = 5: stalls were found after 480 to 810 steps or not at all, too late
for anything but a reset to show, and ``too hard``, which forgot 0.01 a step, still climbed. Both were changed then, once; what
is printed in docs/concepts/controller.md is of seeds 10 to 14. A run of these was broken off after the cell ``leash``, when resets
at a degradation, which comes by chance, mixed in; those were switched off and the same seeds taken again.

What it cannot say: whether a plateau of a language model comes from any of these; what a larger n does for the noise of a
gradient (here a group's signal has none but q's), for responses of other lengths, or through the answers that were
never sampled (BroRL's argument). Each action has a cell that was made for it but raise_samples, for which the world has no merit
beyond more usable groups.

    python benchmarks/plateau_actions.py --seeds 5 --first-seed 10 --out plateau.json
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from posterior_sampling import TRIED, sigmoid

from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.rollout.prompts import PromptSource
from prorl_training.rollout.types import Group
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.outlook import Outlook
from prorl_training.schedule.validation_history import ValidationResult
from prorl_verifiers import Task

STEPS, LONGEST, EVERY, ANSWERS = 1000, 2000, 10, 4
GROUPS, SAMPLES, MOST = 4, 8, 16
FAMILIES, LEVELS, EACH = 10, 4, 5
ITEM, LEVEL, BELOW = 0.2, 1.5, 0.5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """Where a plateau comes from."""

    first: float = 1.0
    spacing: float = 1.5
    forgetting: float = 0.0
    leash: float = 0.0
    data: Mapping[str, Any] = field(default_factory=dict)


CELLS = {
    "leash": Cell(leash=0.03),
    "forgetting": Cell(forgetting=0.03),
    "too hard": Cell(first=0.0, spacing=6.0, forgetting=0.03),
    "levels shut": Cell(forgetting=0.03, data={"levels": "ladder", "open_at": 0.8}),
    "old records": Cell(forgetting=0.03, data={"half_life": 3000.0}),
    "climbing": Cell(first=4.0, spacing=2.0, forgetting=0.001),
}
ARMS: dict[str, dict[str, Any]] = {
    "none": {"stall_validations": 0},
    "reset": {"on_stall": ["reset"]},
    "raise_samples": {"on_stall": ["raise_samples"]},
    "raise_difficulty": {"on_stall": ["raise_difficulty"]},
    "rerate": {"on_stall": ["rerate"]},
    "all four": {"on_stall": ["reset", "raise_difficulty", "rerate", "raise_samples"]},
    "end": {"on_stall": ["end"]},
    "end, end_gain 0.02": {"on_stall": ["end"], "end_gain": 0.02},
}
ENDS = ("end", "end, end_gain 0.02")


@dataclass
class Outcome:
    """One run: (tokens, true validation) every 10 steps, and (step, kind) of what stalls led to."""

    curve: list[tuple[int, float]]
    decided: list[tuple[int, str]]
    asked: list[str] = field(default_factory=list)
    """What the forecast said each time that ``end`` asked it."""

    def at(self, tokens: int) -> float:
        """Return the validation when so many tokens were spent."""
        return [value for spent, value in self.curve if spent <= tokens][-1]


class World:
    """Skills, and what training does to them. Rows of ``theta``: u of every level, then v of every item."""

    def __init__(self, cell: Cell, seed: int) -> None:
        rng = np.random.default_rng([seed, 1])
        self.cell = cell
        places = FAMILIES * LEVELS
        self.level_of = np.repeat(np.arange(places), EACH)
        middle = cell.first + cell.spacing * (np.arange(places) % LEVELS)
        self.difficulty = rng.normal(middle[self.level_of], 1.0)
        self.held_out = rng.normal(middle[self.level_of], 1.0)
        self.u, self.v = np.zeros(places), np.zeros(places * EACH)
        self.reset()

    def reset(self) -> None:
        """The reference becomes the policy."""
        self.reference = self.u.copy(), self.v.copy()

    def skill(self) -> Floats:
        """Return the skill of each level."""
        below = np.roll(self.u, 1)
        below[::LEVELS] = 0.0
        return self.u + BELOW * below

    def rates(self) -> Floats:
        """Return the pass rate of each training item."""
        return np.asarray(sigmoid(self.skill()[self.level_of] + self.v - self.difficulty))

    def validation(self) -> Floats:
        """Return the pass rate of each held-out problem."""
        return np.asarray(sigmoid(self.skill()[self.level_of] - self.held_out))

    def learn(self, groups: Sequence[tuple[int, float]]) -> None:
        """Take (item, share of right answers) of the usable groups of a step."""
        for item, share in groups:
            signal = 4 * share * (1 - share)
            self.v[item] += ITEM * signal
            self.u[self.level_of[item]] += LEVEL * signal / GROUPS
        for skills, anchor in zip((self.u, self.v), self.reference, strict=True):
            skills -= self.cell.leash * (skills - anchor)
            skills *= 1 - self.cell.forgetting


def run(cell: Cell, arm: str, seed: int, budget: int | None) -> Outcome:
    """Simulate one run, until ``budget`` tokens are spent; None: for ``STEPS`` steps."""
    world, luck = World(cell, seed), np.random.default_rng([seed, 2])
    source, config = PromptSource(_items(), lambda s: [0], None), _config(cell, arm, seed)
    controller, place = Controller(config), {s.id: i for i, s in enumerate(source.samples)}
    rows: list[dict[str, Any]] = []
    found = Outcome([(0, float(world.validation().mean()))], [])
    tokens = 0
    for step in range(1, (LONGEST if budget else STEPS) + 1):
        for decision in controller.begin_step(step):
            found.decided.append((step, decision.kind))
            if decision.kind == "items_rerated":
                source.records.forget()
        settings, rates = controller.settings, world.rates()
        n = settings.rollout.samples
        sampled, usable = [], []
        for sample in source.draw(step, settings):
            right = int(luck.binomial(n, rates[place[sample.id]]))
            sampled.append(Group(sample, (TRIED[1],) * right + (TRIED[0],) * (n - right)))
            if 0 < right < n:
                usable.append((place[sample.id], right / n))
            if len(usable) == GROUPS or len(sampled) == MOST:
                break
        source.records.record(step, sampled, settings.data.half_life)
        tokens += len(sampled) * n
        world.learn(usable)
        if step % EVERY:
            continue
        chances = world.validation()
        found.curve.append((tokens, float(chances.mean())))
        rewards = tuple((luck.binomial(ANSWERS, chances) / ANSWERS).tolist())
        result = ValidationResult(statistics.fmean(rewards), 0.0, rewards)
        rows.append({"step": step, "tokens_total": tokens, "validation_reward": result.mean})
        rows[-1]["validation_rewards"] = rewards
        closed = source.levels(settings)[1] if settings.data.levels == "ladder" else None
        outlook = Outlook(lambda: rows, step, STEPS, seed)
        for decision in controller.end_step(step, Measured(None, None, result, closed, outlook)):
            found.decided.append((step, decision.kind))
            if decision.kind == "reference_reset":
                world.reset()
            if "forecast" in decision.evidence:
                found.asked.append(decision.evidence["forecast"]["says"])
        if controller.ended or (budget is not None and tokens >= budget):
            break
    return found


def _items() -> list[Sample]:
    prompt = ({"role": "user", "content": "x"},)
    task = Task("math", {"answer": "1"})
    marks = [(f, level) for f in range(FAMILIES) for level in range(1, LEVELS + 1)]
    return [
        Sample(
            f"{f}-{level}-{i}",
            "math",
            prompt,
            task,
            "sim",
            "none",
            "train",
            metadata={"family": f"f{f}", "level": level},
        )
        for f, level in marks
        for i in range(EACH)
    ]


def _config(cell: Cell, arm: str, seed: int) -> TrainConfig:
    controller: dict[str, Any] = {
        "reset_interval": 0,
        "kl_zscore": 0,
        "stall_validations": 3,
        "degrade_alpha": 1e-30,
        "samples_most": 64,
    }
    data = {"sampling": "posterior", "levels": "ladder", "open_at": 1e-9, **cell.data}
    return TrainConfig.model_validate(
        {
            "seed": seed,
            "steps": STEPS,
            "rollout": {"prompts": GROUPS, "samples": SAMPLES},
            "loss": {"mini_batches": 1},
            "data": data,
            "length_penalty": {"weight": 0},
            "controller": controller | ARMS[arm],
        }
    )


def spread(values: Sequence[float], form: str = "+.3f") -> str:
    """Return median and range."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def what_it_did(bases: Sequence[Outcome], runs: Sequence[Outcome]) -> str:
    """Return a cell of the first table: the difference to ``none`` at equal tokens, and how many stalls a run acted on."""
    gains = [r.at(b.curve[-1][0]) - b.curve[-1][1] for b, r in zip(bases, runs, strict=True)]
    return f"{spread(gains)}; {statistics.median(len(r.decided) for r in runs):g}"


def what_an_end_cost(bases: Sequence[Outcome], runs: Sequence[Outcome]) -> str:
    """Return a cell of the second table: runs that ended, tokens saved and validation that was forgone."""
    ended = [
        (1 - r.curve[-1][0] / b.curve[-1][0], b.curve[-1][1] - r.curve[-1][1])
        for b, r in zip(bases, runs, strict=True)
        if ("run_ended" in {kind for _, kind in r.decided})
    ]
    if not ended:
        return f"0 of {len(runs)}"
    saved, forgone = zip(*ended, strict=True)
    return f"{len(ended)} of {len(runs)}; {statistics.median(saved):.0%}; {spread(forgone)}"


def main() -> None:
    """Run the cells and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cells", nargs="+", default=list(CELLS), choices=list(CELLS))
    parser.add_argument("--arms", nargs="+", default=list(ARMS)[1:], choices=list(ARMS)[1:])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    print("| plateau from | none | " + " | ".join(given.arms) + " |")
    print("|---" * (2 + len(given.arms)) + "|")
    record = []
    for name in given.cells:
        cell = CELLS[name]
        bases = [run(cell, "none", seed, None) for seed in seeds]
        told = [name, spread([b.curve[-1][1] for b in bases], ".3f")]
        for arm in given.arms:
            runs = [
                run(cell, arm, seed, b.curve[-1][0]) for seed, b in zip(seeds, bases, strict=True)
            ]
            told.append((what_an_end_cost if arm in ENDS else what_it_did)(bases, runs))
            record += [
                {"cell": name, "arm": arm, "seed": seed, **asdict(r)}
                for seed, r in zip(seeds, runs, strict=True)
            ]
        record += [
            {"cell": name, "arm": "none", "seed": seed, **asdict(b)}
            for seed, b in zip(seeds, bases, strict=True)
        ]
        print("| " + " | ".join(told) + " |", flush=True)
        if given.out:
            given.out.write_text(json.dumps(record) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
