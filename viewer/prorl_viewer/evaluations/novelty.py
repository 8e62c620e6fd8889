"""Novelty of the models' answers, where ``prorl eval novelty --each FILE`` wrote it beside the results.

The files are those of the evaluation's folder and of its models' folders that are called ``novelty*.jsonl``. The numbers
by group are the room's own (``novelty.summary``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prorl_evaluation.novelty.each import read_each
from prorl_evaluation.novelty.summary import changes, summarise, to_json
from prorl_evaluation.stats.intervals import Resampling
from prorl_viewer.subject import Json

FILES = "novelty*.jsonl"


def novelty_files(folders: Sequence[Path]) -> list[Path]:
    """Return the files that hold it, in any of ``folders``."""
    return sorted({file for folder in folders for file in folder.glob(FILES)})


def novelty_page(files: Sequence[Path]) -> Json:
    """Return novelty by model and group, and each further model against the first; may take seconds.

    Raises EvaluationError for a file of another kind.
    """
    return {"files": [_file(file) for file in files]}


def _file(file: Path) -> Json:
    models, highest = read_each(file)
    lengths, how = tuple(range(highest)), Resampling()
    groups = [g for label, rows in models.items() for g in summarise(label, rows, lengths, how)]
    shown = ("label", "group", "problems", "responses", "short", "words", "creativity")
    found = changes(list(models.items()), lengths, how) if models else []
    return {
        "name": file.name,
        "highest": highest,
        "groups": [{name: told[name] for name in shown} for told in map(to_json, groups)],
        "changes": [to_json(c) for c in found],
    }
