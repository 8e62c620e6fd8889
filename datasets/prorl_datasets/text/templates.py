"""N-grams that belong to a generator's template rather than to any one problem.

A family of generated problems says the same words around its numbers. N-grams that several of its
texts share are that frame; handed to ``BenchmarkIndex.matches`` as ``ignore`` they do not count.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from prorl_datasets.text.hashing import NGRAM, Hashes, Profile


def template_ngrams(texts: Iterable[str], n: int = NGRAM, at_least: int = 2) -> Hashes:
    """Return the sorted hashes of the n-grams, of both views, that ``at_least`` of ``texts`` have.

    The texts are probes of one family (some tens are enough); an n-gram counts once a text.
    """
    profiles = [Profile(text, n) for text in texts]
    probes = [np.unique(np.concatenate([p.exact.ngrams, p.canonical.ngrams])) for p in profiles]
    values, counts = np.unique(
        np.concatenate([*probes, np.empty(0, dtype=np.uint64)]), return_counts=True
    )
    return values[counts >= at_least]
