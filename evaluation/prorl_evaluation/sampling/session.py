"""Evaluates several models on the same problems, each in a separate folder."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prorl_common import Progress, atomic_write_text
from prorl_datasets import Sample
from prorl_evaluation.sampling.choose import Run, Target, out_folder, settings_hash
from prorl_evaluation.sampling.evaluate import evaluate
from prorl_evaluation.sampling.job import Part
from prorl_evaluation.sampling.journal import digest
from prorl_evaluation.sampling.pipeline import Scorer
from prorl_evaluation.sampling.sampler import LazyGenerator
from prorl_evaluation.stats.power import poor_power
from prorl_evaluation.types import EvalResult, EvalSettings
from prorl_inference import (
    BACKENDS,
    BackendOptions,
    DeviceModel,
    Generator,
    ServerOptions,
    Usage,
    device_list,
    open_devices,
    open_servers,
)
from prorl_inference.backends.openai.options import server_address

CONFIG_FILE = "eval.yaml"
COUNTED = ("answers", "refused", "retries", "prompt_tokens", "completion_tokens")
"""Counters of ``Usage`` that are reported for each model."""


@dataclass(frozen=True, slots=True)
class Server:
    urls: tuple[str, ...]
    options: ServerOptions

    @property
    def where(self) -> str:
        return ", ".join(str(server_address(url)) for url in self.urls)

    def open(self, backend: str, tell: Callable[[str], None]) -> Generator:
        spec = BACKENDS.get(backend)
        if len(self.urls) > 1:
            return open_servers(spec, self.urls, self.options, tell)
        return spec.open(BackendOptions(url=self.urls[0], server=self.options, tell=tell))


@dataclass(frozen=True, slots=True)
class Session:
    """The models (``targets``), problems and settings of an evaluation.

    ``out`` is the result folder of a single model, or the parent of several; None means the default.
    """

    targets: Sequence[Target]
    run: Run | None
    samples: Sequence[Sample]
    settings: EvalSettings
    limit: int | None = None
    out: Path | None = None
    device: str = "auto"
    server: Server | None = None
    parts: Sequence[Part] = ()
    config: str = ""

    def folder(self, target: Target) -> Path:
        if self.out is None:
            return out_folder(target, self.run, self.suffix())
        return self.out if len(self.targets) == 1 else self.out / target.slug

    def suffix(self) -> str:
        """Return the hash of the settings that ends the name of a result folder."""
        suffix = settings_hash(self.settings, self.limit)
        s = self.settings
        if s.backend == "transformers":
            return suffix
        return digest([suffix, s.backend, dict(s.extra)])[:8]

    def description(self) -> list[str]:
        s = self.settings
        origin = f"{s.dataset.get('path', '')} ({s.dataset.get('split', '')})"
        total = len(self.targets) * len(self.samples) * s.n
        sampling = (
            f"n {s.n} · k {s.k} · temperature {s.temperature:g} · top-p {s.top_p:g} · "
            f"at most {s.max_tokens} tokens"
        )
        where = f" at {self.server.where}" if self.server is not None else ""
        if self.server is None and "," in self.device:
            where = f" on {self.device}, a process each"
        protocol = f" · protocol {s.protocol}" if s.protocol else ""
        batches = f", {s.batches} batches" if s.backend == "transformers" else ""
        lines = [
            f"models: {', '.join(t.label for t in self.targets)}",
            f"backend: {s.backend}{where}{batches}{protocol}",
            f"problems: {len(self.samples)} of {origin} · {sampling}",
            f"samples: {total:,} in all; the time left is shown as it goes",
        ]
        trained = self.run.setting("data", "path") if self.run is not None else None
        used = s.dataset.get("path", "")
        if isinstance(trained, str) and used and Path(trained).resolve() != Path(used).resolve():
            lines.append(f"note: the run was trained on another dataset, {trained}")
        return lines

    def warnings(self) -> list[str]:
        s = self.settings
        too_near = (
            f"k = {s.k} is more than half of n = {s.n}: pass@{s.k} is then little more than whether "
            f"any sample succeeded; --n {2 * s.k} gives an estimate"
        )
        same = s.repeated_answers()
        near = too_near if s.near_any_success and same is None else None
        lines = (same, near, poor_power(len(self.samples), s.n))
        return [line for line in lines if line is not None]

    def evaluate(self, pool: Scorer, progress: Progress) -> list[EvalResult]:
        """Evaluate each target. Raises EvaluationError or ServiceError."""
        results = []
        for target in self.targets:
            with contextlib.closing(self.open(target, progress)) as generator:
                results.append(self.evaluate_with(generator, target, pool, progress))
        return results

    def open(self, target: Target, progress: Progress) -> Generator:
        """Return the target's generator, after downloading the model if needed; the caller must close it."""
        from prorl_inference import fetch_or_resolve

        if self.server is not None:
            return self.server.open(self.settings.backend.partition(":")[0], progress.message)
        path, s = fetch_or_resolve(target.model, progress), self.settings
        devices = device_list(self.device)
        if len(devices) > 1:
            model = DeviceModel(path, s.backend, "auto", s.batch_rows)
            whole = s.backend == "transformers"
            return open_devices(model, devices, target.model, progress.message, whole)
        return LazyGenerator(path, target.model, self.device, s.batch_rows, s.backend)

    def evaluate_with(
        self, generator: Generator, target: Target, pool: Scorer, progress: Progress
    ) -> EvalResult:
        settings = replace(self.settings, label=target.label)
        out = self.folder(target)
        before = _usage(generator)
        try:
            result = evaluate(generator, self.samples, settings, out, pool, progress, self.parts)
        finally:
            progress.finish()
            for line in _usage_lines(before, _usage(generator)):
                progress.message(line)
        if self.config:
            atomic_write_text(out / CONFIG_FILE, self.config)
        progress.message(f"{target.label}: written to {out}")
        return result


def _usage(generator: Generator) -> Usage | None:
    usage = getattr(generator, "usage", None)
    return replace(usage) if isinstance(usage, Usage) else None


def _usage_lines(before: Usage | None, after: Usage | None) -> list[str]:
    if after is None:
        return []
    start = before or Usage()
    usage = replace(
        after, **{name: getattr(after, name) - getattr(start, name) for name in COUNTED}
    )
    if not (usage.answers or usage.refused):
        return []
    line = (
        f"server: {usage.answers:,} answers, {usage.prompt_tokens:,} tokens in, "
        f"{usage.completion_tokens:,} out, {usage.retries} retries"
    )
    refused = f", {usage.refused} samples refused" if usage.refused else ""
    cost = f", cost {usage.cost:.4g}" if usage.cost is not None else ""
    return [line + refused + cost]
