"""The embedding stage: items whose sentence embedding is close to the row's, by a model of the user's.

The model comes through a door (``EmbedderSpec``): prorl ships none. Leaves out choosing a similarity,
which depends on the model; docs/reference/decontamination.md has what was measured with one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from prorl_common import PluginError, what_failed
from prorl_datasets.spec import EmbedderSpec

Vectors = NDArray[np.float32]
_BATCH = 256


class EmbeddingIndex:
    """The unit vectors of all items, (M, D), searchable."""

    def __init__(self, spec: EmbedderSpec, vectors: Vectors) -> None:
        self._spec, self._vectors = spec, vectors

    def matches(self, text: str) -> Iterator[tuple[int, float]]:
        """Yield (item, cosine) of the items at the spec's similarity. Raises PluginError."""
        (vector,) = unit_vectors(self._spec, [text])
        if len(vector) != self._vectors.shape[1]:
            raise PluginError(
                f"embedder {self._spec.name!r} gave {len(vector)} numbers for a row and "
                f"{self._vectors.shape[1]} for the benchmark's items"
            )
        cosines = self._vectors @ vector
        for item in np.flatnonzero(cosines >= self._spec.similarity).tolist():
            yield item, float(cosines[item])


def unit_vectors(spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
    """Return the embeddings of ``texts`` scaled to length 1, (len(texts), D); a zero one stays.

    Raises PluginError where the function fails or gives another shape or no numbers.
    """
    parts: list[Vectors] = []
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        try:
            part = np.asarray(spec.embed(batch), dtype=np.float32)
        except Exception as error:
            raise PluginError(f"embedder {spec.name!r} failed: {what_failed(error)}") from error
        if part.ndim != 2 or len(part) != len(batch) or not np.isfinite(part).all():
            raise PluginError(
                f"embedder {spec.name!r} must give a finite vector for each of {len(batch)} texts, not "
                f"an array of shape {part.shape}"
            )
        parts.append(part)
    if len({part.shape[1] for part in parts}) > 1:
        raise PluginError(f"embedder {spec.name!r} gives vectors of different lengths")
    vectors = np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit
