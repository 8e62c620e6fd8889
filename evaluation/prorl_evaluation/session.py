"""Evaluate several models on the same problems, each in its own folder, saying what was chosen.

Leaves out: choosing (``choose``), printing tables, and what an interruption looks like to a user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prorl_common import Progress
from prorl_datasets import Sample
from prorl_evaluation.choose import Run, Target, out_folder, settings_hash
from prorl_evaluation.evaluate import evaluate
from prorl_evaluation.grading import Scorer
from prorl_evaluation.lazy import LazyGenerator
from prorl_evaluation.types import EvalResult, EvalSettings
from prorl_inference import Generator


@dataclass(frozen=True, slots=True)
class Session:
    """What is evaluated. ``out`` is the folder of one target or the parent of several; None: the default
    place. ``limit`` is how many problems were asked for, if any; ``device`` is for the model."""

    targets: Sequence[Target]
    run: Run | None
    samples: Sequence[Sample]
    settings: EvalSettings
    limit: int | None = None
    out: Path | None = None
    device: str = "auto"

    def folder(self, target: Target) -> Path:
        """Return where the target's result goes."""
        if self.out is None:
            return out_folder(target, self.run, settings_hash(self.settings, self.limit))
        return self.out if len(self.targets) == 1 else self.out / target.slug

    def description(self) -> list[str]:
        """Return what was chosen, in lines for people."""
        s = self.settings
        origin = f"{s.dataset.get('path', '')} ({s.dataset.get('split', '')})"
        total = len(self.targets) * len(self.samples) * s.n
        sampling = (
            f"n {s.n} · k {s.k} · temperature {s.temperature:g} · top-p {s.top_p:g} · "
            f"at most {s.max_tokens} tokens"
        )
        lines = [
            f"models: {', '.join(t.label for t in self.targets)}",
            f"problems: {len(self.samples)} of {origin} · {sampling}",
            f"samples: {total:,} in all; the time left is printed after the first batch",
        ]
        trained = self.run.setting("data", "path") if self.run is not None else None
        used = s.dataset.get("path", "")
        if isinstance(trained, str) and used and Path(trained).resolve() != Path(used).resolve():
            lines.append(f"note: the run was trained on another dataset, {trained}")
        return lines

    def warnings(self) -> list[str]:
        """Return what must be said loudly before anything is sampled."""
        s = self.settings
        if not s.near_any_success:
            return []
        line = (
            f"k = {s.k} is more than half of n = {s.n}: pass@{s.k} is then little more than whether "
            f"any sample succeeded; --n {2 * s.k} gives an estimate"
        )
        return [line]

    def evaluate(self, pool: Scorer, progress: Progress) -> list[EvalResult]:
        """Evaluate every target in turn; see ``evaluate`` for what is raised and what is kept."""
        return [self._one(target, pool, progress) for target in self.targets]

    def _one(self, target: Target, pool: Scorer, progress: Progress) -> EvalResult:
        generator = self.open(target, progress)
        try:
            return self.evaluate_with(generator, target, pool, progress)
        finally:
            generator.close()

    def open(self, target: Target, progress: Progress) -> Generator:
        """Return the target's generator, for the caller to close; a model not at hand is fetched."""
        from prorl_inference import fetch_or_resolve

        path = fetch_or_resolve(target.model, progress)
        return LazyGenerator(path, target.model, self.device, "auto", self.settings.batch_rows)

    def evaluate_with(
        self, generator: Generator, target: Target, pool: Scorer, progress: Progress
    ) -> EvalResult:
        """Evaluate one target with an open generator, which may serve several sessions."""
        settings = replace(self.settings, label=target.label)
        out = self.folder(target)
        result = evaluate(generator, self.samples, settings, out, pool, progress)
        progress.message(f"{target.label}: written to {out}")
        return result
