"""``prorl eval pass-at-k`` and ``regrade``: sample and judge a model, or judge its answers anew.

Tables and JSON go to stdout, progress and messages to stderr. Leaves out: what is chosen (``choose``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import make_progress, print_json, say, warn
from prorl_cli.eval_shared import Json, Weak, Workers, print_table, warn_of
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_datasets import Sample
    from prorl_evaluation import EvalResult
    from prorl_evaluation.choose import Run, Target
    from prorl_evaluation.session import Session

DEFAULT_MAX_TOKENS = 512
INTERRUPTED = 130

Model = Annotated[str | None, typer.Option(help="A model's name, path or hub id, without a run.")]
RunName = Annotated[str | None, typer.Option("--run", help="A run (default: the newest).")]
Checkpoint = Annotated[
    list[str] | None,
    typer.Option(help="base, latest or a step; repeatable (default: base and latest)."),
]
Dataset = Annotated[Path | None, typer.Option(help="Dataset folder (default: newest in data/).")]
N = Annotated[int | None, typer.Option("--n", min=1, help="Samples a problem (default: 2k).")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Token limit of an answer (default: the run's, else 512).")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Problems, the domains in turn.")]
Out = Annotated[
    Path | None, typer.Option(help="Folder for one model; a parent folder for several.")
]


def pass_at_k_command(
    model: Model = None,
    run: RunName = None,
    checkpoint: Checkpoint = None,
    dataset: Dataset = None,
    split: Annotated[str, typer.Option(help="train, validation or test.")] = "test",
    k: Annotated[int, typer.Option("--k", min=1, help="The largest k of interest.")] = 128,
    n: N = None,
    temperature: Annotated[float, typer.Option(min=0.0)] = 0.6,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.95,
    max_tokens: MaxTokens = None,
    limit: Limit = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and intervals.")] = 0,
    out: Out = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    workers: Workers = 2,
    allow_weak: Weak = False,
    json_out: Json = False,
) -> None:
    """Sample n answers a problem and estimate pass@k; bare: the newest run and its base model.

    Interrupted, the same command goes on where it was; a larger --n adds to what is there.
    """
    from prorl_evaluation import EvalSettings
    from prorl_evaluation.choose import pick_dataset
    from prorl_evaluation.session import Session

    n = 2 * k if n is None else n
    EvalSettings(n=n, k=k)  # k > n is said before anything is looked for
    targets, found = _targets(model, run, checkpoint)
    samples, origin = pick_dataset(dataset, split, limit)
    limit_tokens = max_tokens or _run_limit(found)
    settings = EvalSettings(n, k, temperature, top_p, limit_tokens, seed, dataset=origin)
    samples = _without_code(samples, allow_weak)
    session = Session(targets, found, samples, settings, limit, out, device)
    _show(_run(session, workers, allow_weak), found, json_out)


def _targets(
    model: str | None, run: str | None, checkpoints: Sequence[str] | None
) -> tuple[list[Target], Run | None]:
    from prorl_evaluation.choose import find_run, model_target, run_target

    if model is not None:
        if run is not None or checkpoints:
            raise UserError("give --model, or --run with --checkpoint, not both")
        return [model_target(model)], None
    found = find_run(run)
    wanted = dict.fromkeys(checkpoints or ["base", "latest"])
    return [run_target(found, which) for which in wanted], found


def _run_limit(run: Run | None) -> int:
    value = run.setting("rollout", "max_tokens") if run is not None else None
    return value if isinstance(value, int) else DEFAULT_MAX_TOKENS


def _without_code(samples: list[Sample], allow_weak: bool) -> list[Sample]:
    """Leave code out, loudly, where this machine cannot isolate it."""
    kept = [s for s in samples if s.task.verifier != "code"]
    if allow_weak or len(kept) == len(samples):
        return samples
    from prorl_sandbox import probe

    found = probe()
    if found.strong:
        return samples
    warn(f"{len(samples) - len(kept)} code problems are left out: {found.complaint()}")
    return kept


def _run(session: Session, workers: int, allow_weak: bool) -> list[EvalResult]:
    """Say what was chosen, evaluate, and say how to go on when interrupted."""
    from prorl_verifiers import VerifierPool

    for line in session.description():
        say(line)
    for line in session.warnings():
        warn(line)
    progress = make_progress()
    try:
        with VerifierPool(workers=workers, allow_weak=allow_weak) as pool:
            return session.evaluate(pool, progress)
    except KeyboardInterrupt:
        progress.finish()
        say("interrupted; finished batches are kept, give the same command again to go on")
        raise typer.Exit(INTERRUPTED) from None


def _show(results: Sequence[EvalResult], run: Run | None, json_out: bool) -> None:
    from prorl_evaluation.compare import against_baseline
    from prorl_evaluation.tables import comparison_table, result_table
    from prorl_evaluation.types import shown_ks

    comparison = against_baseline(results)
    if json_out:
        found = comparison.to_json() if comparison is not None else None
        print_json({"results": [r.to_json() for r in results], "comparison": found})
        return
    for result in results:
        print_table(result_table(result))
    if comparison is not None:
        metrics = [*(f"pass@{k}" for k in shown_ks(results)), "reward"]
        print_table(comparison_table(comparison, metrics))
        warn_of(comparison)
    if run is not None:
        say(f"write the report with: prorl eval report {run.path}")


def regrade_command(
    folder: Annotated[Path, typer.Argument(help="A result folder.")],
    workers: Workers = 2,
    allow_weak: Weak = False,
    json_out: Json = False,
) -> None:
    """Score the sampled answers of a folder anew with today's verifiers; needs no model."""
    from prorl_evaluation import regrade
    from prorl_evaluation.tables import result_table
    from prorl_verifiers import VerifierPool

    with VerifierPool(workers=workers, allow_weak=allow_weak) as pool:
        report = regrade(folder, pool, make_progress())
    if json_out:
        row = {"verdicts": report.verdicts, "changed": report.changed}
        print_json({**row, "result": report.result.to_json()})
        return
    print_table(result_table(report.result))
    say(
        f"{report.changed} of {report.verdicts} verdicts changed; the old ones are kept beside them"
    )
