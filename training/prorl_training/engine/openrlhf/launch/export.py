"""Prompts as OpenRLHF's loader reads them: a JSON object a line.

Leaves out: reading and splitting the dataset (``prorl_datasets``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from prorl_common import UserError, atomic_write_text
from prorl_datasets import Sample


def prompt_row(sample: Sample) -> dict[str, object]:
    """Return a sample's row: ``prompt`` (chat messages), ``label`` (the task as JSON text, which the reward
    adapter and the reward service read), ``datasource`` (its domain) and ``id``."""
    task = {"verifier": sample.task.verifier, "reference": sample.task.reference}
    return {
        "prompt": [dict(message) for message in sample.prompt],
        "label": json.dumps(task, ensure_ascii=False, sort_keys=True),
        "datasource": sample.domain,
        "id": sample.id,
    }


def export_prompts(samples: Iterable[Sample], path: Path) -> int:
    """Write the samples to ``path``, whole or not at all, and return how many there are.

    Raises UserError when there are none or the file cannot be written.
    """
    rows = [json.dumps(prompt_row(sample), ensure_ascii=False) + "\n" for sample in samples]
    if not rows:
        raise UserError("there are no prompts to train on: the dataset has no train split")
    atomic_write_text(path, "".join(rows))
    return len(rows)
