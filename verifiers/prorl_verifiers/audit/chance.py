"""What a blind answer may earn, and when earning more is no longer luck.

Chance of a group of n items: the mean of the items' own ``chance`` where they have one; otherwise the share
of the commonest gold (compared without case and white space; each at least 1/n, for one lucky hit), and for
multiple choice the mean of 1/options where that is more. Of one probe: the chance of the group, or where it
is more the share of the items for which the probe's text is the gold itself.

Evidence: the rewards of n items lie in [0, 1]. If their mean were expected to be no more than the chance c,
a mean of m or more would come with probability at most exp(-n KL(m, c)) (Hoeffding 1963, theorem 1), and for
rewards of 0 and 1 alone with the binomial tail. That is multiplied by the number of probes tried (Bonferroni).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from prorl_verifiers.audit.items import Group, options_of, plain
from prorl_verifiers.spec import VERIFIERS

LEVEL = 0.05
"""A leak is called one when luck explains it with less than this probability."""
SMALLEST = 0.005
"""Mean reward above chance that is too little to matter."""


def group_chance(group: Group) -> float:
    """Return the chance level of a group, in [0, 1]; 0 for no items."""
    items = group.items
    if not items:
        return 0.0
    given = [item.chance for item in items if item.chance is not None]
    if len(given) == len(items):
        return sum(given) / len(items)
    by_form = VERIFIERS.get(group.verifier).chance
    if by_form is not None:
        return sum(by_form(item.task.reference) for item in items) / len(items)
    golds = Counter(plain(item.gold) for item in items if item.gold is not None)
    commonest = max(golds.values(), default=1) / len(items)
    options = [options_of(item) for item in items]
    blind = sum(1 / len(texts) for texts in options if texts) / len(items)
    return max(commonest, blind)


def own_share(group: Group, answers: Sequence[str | None]) -> float:
    """Return the share of the items whose gold is the very text that was answered."""
    same = 0
    for item, answer in zip(group.items, answers, strict=True):
        same += answer is not None and item.gold is not None and plain(answer) == plain(item.gold)
    return same / len(group.items) if group.items else 0.0


def luck(rewards: Sequence[float], chance: float, tried: int) -> float:
    """Return an upper bound, at most 1, of the probability that luck alone explains ``rewards``.

    ``tried``: how many probes were tried on the same items.
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
        tail = math.exp(-n * _divergence(min(mean, 1.0), chance))
    return min(1.0, tail * max(1, tried))


def binomial_tail(n: int, k: int, p: float) -> float:
    """Return P(X >= k) for X binomial(n, p)."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


def _divergence(m: float, c: float) -> float:
    """Return the Kullback-Leibler divergence of Bernoulli(m) from Bernoulli(c), 0 < c < 1."""
    upper = m * math.log(m / c) if m > 0 else 0.0
    lower = (1 - m) * math.log((1 - m) / (1 - c)) if m < 1 else 0.0
    return upper + lower
