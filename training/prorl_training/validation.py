"""Which validation problems a run watches: as many of each domain, at even distances in each.

The same problems at every validation. Leaves out: sampling and scoring them (the engine).
"""

from __future__ import annotations

from collections.abc import Sequence

from prorl_datasets import Sample


def watched(samples: Sequence[Sample], count: int) -> list[Sample]:
    """Return at most ``count`` samples: equal numbers of each domain as far as they last, in the
    order given.
    """
    by_domain: dict[str, list[int]] = {}
    for place, sample in enumerate(samples):
        by_domain.setdefault(sample.domain, []).append(place)
    shares = dict.fromkeys(by_domain, 0)
    for _ in range(min(count, len(samples))):
        open_domains = [d for d in by_domain if shares[d] < len(by_domain[d])]
        shares[min(open_domains, key=lambda d: shares[d])] += 1
    chosen = [
        places[i * len(places) // shares[domain]]
        for domain, places in by_domain.items()
        for i in range(shares[domain])
    ]
    return [samples[place] for place in sorted(chosen)]
