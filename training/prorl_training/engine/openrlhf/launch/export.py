"""Prompts as OpenRLHF's loader reads them: a JSON object a line.

Leaves out: reading and splitting the dataset (``prorl_datasets``).
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from prorl_common import UserError
from prorl_common.files import explain_write_errors
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
    count = 0
    with explain_write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                for sample in samples:
                    file.write(json.dumps(prompt_row(sample), ensure_ascii=False) + "\n")
                    count += 1
                file.flush()
                os.fsync(file.fileno())
            if not count:
                raise UserError("there are no prompts to train on: the dataset has no train split")
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
            raise
    return count
