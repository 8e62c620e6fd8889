"""Which prompts a step sees: a function of (seed, step) alone, so that a resumed run sees the same.

Without weights the first ``batch`` prompts of a step walk through a fresh permutation each epoch; what
follows, for refilling, is a shuffle of the rest. With weights (of domains from the config, else of items
from the dataset's recipe), prompts are drawn without replacement within a step. Leaves out: sampling and filtering (``rollout``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from prorl_common import UserError, derive_seed, nearest


def step_order(count: int, seed: int, step: int, batch: int) -> list[int]:
    """Return all ``count`` prompt indices in the order in which step ``step`` (1-based) may use them."""
    first: list[int] = []
    seen: set[int] = set()
    epochs = range((step - 1) * batch // count, (step * batch - 1) // count + 1)
    permutations = {epoch: _permutation(count, seed, epoch) for epoch in epochs}
    for slot in range((step - 1) * batch, step * batch):
        epoch, place = divmod(slot, count)
        index = int(permutations[epoch][place])
        if index not in seen:
            seen.add(index)
            first.append(index)
    rng = np.random.default_rng(derive_seed(seed, "refill", step))
    rest = [int(i) for i in rng.permutation(count) if int(i) not in seen]
    return first + rest


def _permutation(count: int, seed: int, epoch: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng(derive_seed(seed, "epoch", epoch)).permutation(count)


def weighted_order(
    domains: Sequence[str], weights: Mapping[str, float], seed: int, step: int
) -> list[int]:
    """Return prompt indices in a weighted random order (Efraimidis and Spirakis 2006).

    A domain's total chance is proportional to its weight, however many prompts it has; a weight of 0
    leaves the domain out. Raises UserError for a domain that the dataset does not have.
    """
    check_domains(domains, weights)
    sizes = Counter(domains)
    return item_order([max(weights.get(d, 0.0), 0.0) / sizes[d] for d in domains], seed, step)


def check_domains(domains: Sequence[str], weights: Mapping[str, float]) -> None:
    """Raise UserError when a weight above 0 is given to a domain that the dataset does not have."""
    present = set(domains)
    for name, weight in weights.items():
        if weight > 0 and name not in present:
            raise UserError(
                f"data.domain_weights names '{name}', which the dataset does not have"
                f"{nearest(name, present)}; it has {', '.join(sorted(present))}; give it weight 0 (in each "
                "phase that names it), or build a dataset that has it"
            )


def item_order(weights: Sequence[float], seed: int, step: int) -> list[int]:
    """Return prompt indices in a weighted random order (Efraimidis and Spirakis 2006).

    An item's chance is proportional to its weight; weight 0 leaves it out.
    """
    per_item = np.array(weights)
    rng = np.random.default_rng(derive_seed(seed, "weighted", step))
    keys = np.log(rng.random(len(per_item)))
    usable = np.flatnonzero(per_item > 0)
    order = np.argsort(-(keys[usable] / per_item[usable]), kind="stable")
    return [int(i) for i in usable[order]]
