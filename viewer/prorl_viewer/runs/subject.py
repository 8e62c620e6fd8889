"""A run as something to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from prorl_training.run.folder import RunFolder
from prorl_viewer.rollouts import Rollouts
from prorl_viewer.subject import Json, Page, Query, Subject


class RunSubject:
    """The run in ``path``."""

    kind: Literal["run"] = "run"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._run = RunFolder(path)
        self._rollouts = Rollouts(path)

    def version(self) -> str:
        """Return the sizes of the journals."""
        files = (self._run.metrics_path, self._run.decisions_path, self._run.ended_path)
        sizes = [str(f.stat().st_size) if f.exists() else "" for f in files]
        return "-".join([*sizes, self._rollouts.version()])

    def pages(self) -> Mapping[str, Page]:
        """Return the pages of the run."""
        return {"summary": self._summary, **self._rollouts.pages()}

    def actions(self) -> Mapping[str, Page]:
        """Return what can be done with a run's rollouts."""
        return self._rollouts.actions()

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield what an exported page holds."""
        yield "summary", {}
        yield from self._rollouts.snapshot()

    def _summary(self, query: Query) -> Json:
        rows = self._run.metrics()
        return {"steps": len(rows)}


def looks_like(folder: Path) -> bool:
    """Return whether there is a run in ``folder``."""
    return (folder / "config.yaml").is_file() and (folder / "identity.json").is_file()


def open_subjects(folders: Sequence[Path]) -> list[Subject]:
    """Return a subject for each run."""
    return [RunSubject(folder) for folder in folders]
