"""Recall and false drops of the embedding stage with a sentence-embedding model of yours.

    PRORL_TEST_DATA=DIR python benchmarks/decontamination_embedding.py MODEL_FOLDER

Prints a table: by cosine, the share of published paraphrase pairs found, and how many rows of GSM8K
train (every eighth) resemble a GSM8K or MMLU question of the pairs. Needs the extra ``local``; tokens are
pooled by their mean, as sentence-transformers' MiniLM models want it. Leaves out the lexical stages.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import decontamination_probes as probes
import numpy as np

from prorl_datasets import EmbedderSpec
from prorl_datasets.text.embedding import Vectors, unit_vectors

SIMILARITIES = (0.75, 0.8, 0.85, 0.9)
_BATCH = 32


def embedder(folder: Path) -> EmbedderSpec:
    """Return the mean of a model's last hidden states as an embedder."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()

    def embed(texts: Sequence[str]) -> Any:
        parts = []
        with torch.inference_mode():
            for start in range(0, len(texts), _BATCH):
                tokens = tokenizer(
                    list(texts[start : start + _BATCH]),
                    padding=True,
                    truncation=True,
                    max_length=256,
                    return_tensors="pt",
                )
                mask = tokens["attention_mask"][..., None]
                states = model(**tokens).last_hidden_state
                parts.append(((states * mask).sum(1) / mask.sum(1)).numpy())
        return np.concatenate(parts)

    return EmbedderSpec(folder.name, embed)


def measure(data: Path, vectors: Callable[[Sequence[str]], Vectors]) -> list[list[Any]]:
    """Return a row for each similarity: recall on the pairs, rows of GSM8K train dropped."""
    train = vectors(probes.texts(data, probes.UNRELATED["GSM8K train"])[::8])
    own: list[Any] = []
    nearest = np.zeros(len(train))
    for originals, rewritten in probes.pairs(data).values():
        items = vectors(originals)
        own.append((items * vectors(rewritten)).sum(axis=1))
        nearest = np.maximum(nearest, (train @ items.T).max(axis=1))
    return [
        [str(s), *(float((o >= s).mean()) for o in own), f"{(nearest >= s).sum()} of {len(train)}"]
        for s in SIMILARITIES
    ]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", type=Path, help="folder with a model and its tokenizer")
    options = parser.parse_args()
    value = os.environ.get("PRORL_TEST_DATA")
    if not value:
        parser.error("PRORL_TEST_DATA is not set: it names the folder of real data")
    spec = embedder(options.model)
    head = ["cosine", *probes.pairs(Path(value)), "GSM8K train dropped"]
    rows = measure(Path(value), lambda texts: unit_vectors(spec, texts))
    for row in [head, ["---"] * len(head), *rows]:
        cells = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row)
        print(f"| {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
