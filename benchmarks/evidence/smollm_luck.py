"""How often a guess solves an item of the study with and without the plateau loop, by counting.

The guess has the form of the answer right and knows no more. For a reversed list it writes the words of the question
in a random order; for a sum a random whole number with the sign and as many digits as the answer has. A guess
that is near the right sum does better: it is not counted, since it has learned to add a little.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from smollm_study import Study, task_of

from prorl_datasets import Sample


def luck(sample: Sample) -> float:
    """Return the chance that the guess is right. Raises KeyError for a task that no guess is known of."""
    text = str(sample.metadata["gold_response"])
    answer = text.removeprefix("<answer>").removesuffix("</answer>")
    return _GUESSES[str(sample.metadata["family"])](answer)


def luck_by_task(study: Study, items: Sequence[Sample], k: int) -> dict[str, float]:
    """Return, for each task, the mean pass@``k`` of the guess on its items."""
    found = {}
    for task in study.tasks:
        rates = [luck(s) for s in items if task_of(s) == task.name]
        found[task.name] = sum(1 - (1 - p) ** k for p in rates) / len(rates)
    return found


def _order(answer: str) -> float:
    words = answer.split(", ")
    repeated = math.prod(math.factorial(n) for n in Counter(words).values())
    return repeated / math.factorial(len(words))


def _number(answer: str) -> float:
    digits = len(re.sub(r"\D", "", answer))
    return 1 / (10 if digits == 1 else 9 * 10 ** (digits - 1))


_GUESSES = {"word_sequence_reversal": _order, "chain_sum": _number}
