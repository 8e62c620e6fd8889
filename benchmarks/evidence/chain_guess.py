"""What luck alone solves of the chains: rates of the best guesses that do not follow the program.

    python benchmarks/evidence/chain_guess.py      # prints the table of docs/evidence/boundary-study.md

Leaves out: what the base solves (``small_run``).
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from chain_tasks import CHAINS, RUNGS, Chain
from small_tasks import Item

from prorl_common import derive_seed

PROBLEMS, PROGRAMS = 10_000, 10
"""Problems that a rate is counted on, and other programs tried on each for ``program``."""


@dataclass(frozen=True, slots=True)
class Luck:
    """Shares of problems that a guess solves, each chosen with the answers of all problems in sight."""

    constant: float
    """Always the most frequent answer."""
    likeliest: float
    """At every place the symbol most frequent there."""
    marginal: float
    """Every place drawn from its own distribution."""
    program: float
    """The right state, and a random program of the right length in place of the problem's."""


def luck(chain: Chain, rung: int, problems: int = PROBLEMS, seed: int = 0) -> Luck:
    """Return how often guesses are right on random problems of one rung."""
    rng = random.Random(derive_seed(seed, "luck", chain.name, rung))
    made = [chain.make(rng, (rung,)) for _ in range(problems)]
    answers = [item.answer for item in made]
    places = [Counter(column) for column in zip(*answers, strict=True)]
    likeliest = "".join(place.most_common(1)[0][0] for place in places)
    total = 0.0
    for answer in answers:
        chance = 1.0
        for place, symbol in zip(places, answer, strict=True):
            chance *= place[symbol] / problems
        total += chance
    return Luck(
        constant=Counter(answers).most_common(1)[0][1] / problems,
        likeliest=answers.count(likeliest) / problems,
        marginal=total / problems,
        program=sum(_other_programs(chain, item, rng) for item in made) / problems / PROGRAMS,
    )


def _other_programs(chain: Chain, item: Item, rng: random.Random) -> int:
    """Return how many of PROGRAMS random programs on the item's state end in its answer."""
    state, program = item.prompt.split()
    names, found = list(chain.operations), 0
    for _ in range(PROGRAMS):
        other = "".join(rng.choice(names) for _ in program)
        found += chain.run(state, other)[-1] == item.answer
    return found


def table() -> str:
    """Return the rates as a Markdown table, a row for each family and rung."""
    lines = [
        "| family, possible answers | rung | best constant | likeliest symbols | drawn by place | random program |",
        "|---" * 6 + "|",
    ]
    for chain in CHAINS.values():
        for rung in RUNGS:
            found = luck(chain, rung)
            rates = (found.constant, found.likeliest, found.marginal, found.program)
            cells = " | ".join(f"{100 * rate:.3f} %" for rate in rates)
            lines.append(f"| {chain.name}, {chain.answers:,} | {rung} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
