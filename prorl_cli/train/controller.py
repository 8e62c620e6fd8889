"""``prorl train simulate|explain``: show planned and recorded decisions of the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli import console
from prorl_cli.options import (
    ConfigFile,
    Json,
    Preset,
    RunArgument,
    Sets,
    run_or_newest,
    whole,
)
from prorl_common import NullProgress, UserError
from prorl_common.seeds import MOST_STEPS

if TYPE_CHECKING:
    from prorl_training.config import TrainConfig
    from prorl_training.types import Decision

Recorded = Annotated[
    Path | None,
    typer.Option("--from", help="Run folder or metrics.jsonl with recorded metrics."),
]

SILENT_STEPS = 20_000
"""Simulations of more steps show progress."""
AROUND = 5
"""Number of steps shown before and after the explained one."""
SHOWN_METRICS = (
    "reward_mean",
    "kl",
    "entropy",
    "loss",
    "grad_norm",
    "mismatch_kl",
    "validation_reward",
)


def simulate(
    preset: Preset = None,
    steps: Annotated[
        int | None, whole(low=1, high=MOST_STEPS, help="Number of steps to simulate.")
    ] = None,
    settings: Sets = None,
    config_file: ConfigFile = None,
    metrics: Recorded = None,
    as_json: Json = False,
) -> None:
    """Show what the controller would decide, without training.

    Example: prorl train simulate --preset prorl-v2 --steps 3000

    Shows which phase changes, reference resets and penalty changes a run would make. Without --from there are no
    metrics, so only decisions that depend on the step appear. With --from, the rules are applied to recorded metrics,
    and the result is compared with the run's decisions.jsonl. The config is the run's own unless --preset or --config
    is given.
    """
    from prorl_common import read_jsonl
    from prorl_training.config.loading import load_config
    from prorl_training.schedule.decisions import differences, read_decision
    from prorl_training.schedule.simulate import simulate as run_simulation

    journal = metrics
    if metrics is not None and metrics.is_dir():
        journal = metrics / "metrics.jsonl"
    if journal is not None and not journal.is_file():
        raise UserError(f"--from {metrics} does not exist; name a run's metrics.jsonl")
    rows = _recorded_rows(journal) if journal is not None else {}
    if any("validation_reward" in r and "validation_rewards" not in r for r in rows.values()):
        console.say("no rewards by problem: stall and degradation are not tested")
    if preset is None and config_file is None and journal is not None:
        run_config = journal.parent / "config.yaml"
        config_file = run_config if run_config.is_file() else None
    config = load_config(preset, config_file, settings or [])
    count = steps or (max(rows) if rows else config.steps)
    beside = journal.parent / "decisions.jsonl" if journal is not None else None
    recorded = None
    if beside is not None and beside.is_file():
        recorded = [read_decision(row) for _, row in read_jsonl(beside)]
    ends = [
        d.step for d in recorded or () if d.kind == "run_ended" and d.step < max(rows, default=0)
    ]
    progress = console.make_progress() if count > SILENT_STEPS else NullProgress()
    progress.start("simulate", count)
    decisions = run_simulation(config, count, rows, ends, progress)
    progress.finish()
    if as_json:
        console.print_json([d.to_json() for d in decisions])
        return
    print_timeline(config, decisions, count)
    if journal is None:
        return
    if recorded is None:
        console.say(f"no decisions.jsonl beside {journal}: nothing to compare with")
        return
    differing = differences(decisions, recorded, count)
    print()
    if not differing:
        print("phases, windows and resets are the same as in the recorded run")
        return
    print(f"differs from the recorded run in {len(differing)} decisions:")
    sides = {"simulated": "only simulated", "recorded": "only recorded"}
    lines = [(str(d.step), sides[d.side], d.kind.replace("_", " "), d.reason) for d in differing]
    console.print_table("", ("step", "where", "decision", "why"), lines)
    print(
        f"after step {differing[0].step} the recorded metrics come from a run with different decisions, so "
        "later decisions may not be comparable"
    )


def _recorded_rows(path: Path) -> dict[int, Mapping[str, Any]]:
    from prorl_common import read_jsonl

    rows: dict[int, Mapping[str, Any]] = {}
    for line, row in read_jsonl(path):
        step = row.get("step") if isinstance(row, dict) else None
        if not isinstance(step, int) or step < 1:
            raise UserError(
                f"{path}:{line}: not a line of metrics.jsonl: it needs a step of at least 1"
            )
        rows[step] = row
    if not rows:
        raise UserError(f"{path} is empty: no step has been recorded yet")
    return rows


def print_timeline(config: TrainConfig, decisions: Sequence[Decision], steps: int) -> None:
    from prorl_training.schedule.decisions import lanes_text, table_rows

    kinds = [d.kind for d in decisions]
    counted = [f"{kinds.count(k)} x {k.replace('_', ' ')}" for k in dict.fromkeys(kinds)]
    print(f"{config.preset} · {steps} steps · {' · '.join(counted) or 'nothing is decided'}")
    print()
    for line in lanes_text(decisions, steps):
        print(line)
    if decisions:
        print()
        console.print_table("", ("step", "decision", "why"), table_rows(decisions))


def explain(
    run: RunArgument = None,
    step: Annotated[int | None, whole(help="Show this step's decisions and metrics.")] = None,
    as_json: Json = False,
) -> None:
    """Show a run's decisions with their reasons and inputs.

    Example: prorl train explain mine --step 300

    Without --step, shows the run's whole timeline.
    """
    from prorl_training.run.checkpoint import checkpoint_path, newest_step, read_state
    from prorl_training.run.lineage import lines
    from prorl_training.schedule.decisions import read_decision
    from prorl_training.schedule.simulate import rules_at

    folder = run_or_newest(run)
    rows = folder.decisions()
    if step is None:
        if as_json:
            console.print_json(rows)
            return
        last = max((int(r["step"]) for r in folder.metrics()), default=0)
        print_timeline(folder.config(), [read_decision(r) for r in rows], max(last, 1))
        newest = newest_step(folder.checkpoints)
        if newest is not None:
            print("\norigin of its weights:")
            for line in lines(
                read_state(checkpoint_path(folder.checkpoints, newest)).get("lineage", [])
            ):
                print(f"  {line}")
        return
    rows = [r for r in rows if r["step"] == step]
    metrics = {int(r["step"]): r for r in folder.metrics()}
    last = max(metrics, default=0)
    if step > last or step < 0:
        raise UserError(f"step {step} has not been recorded: the run's steps are 0 to {last}")
    rules = rules_at(folder.config(), metrics, step) if step else {}
    near = [s for s in sorted(metrics) if abs(s - step) <= AROUND]
    if as_json:
        around = [metrics[s] for s in near]
        console.print_json({"step": step, "decisions": rows, "rules": rules, "metrics": around})
        return
    if not rows:
        print(f"step {step}: nothing was decided")
    for row in rows:
        print(f"step {step}: {row['kind'].replace('_', ' ')} - {row['reason']}")
        for key, value in row["evidence"].items():
            print(f"    {key}: {_shown(value)}")
    if rules:
        print("\ninputs of the rules:")
        for key, value in rules.items():
            print(f"    {key.replace('_', ' ')}: {_shown(value)}")
    keys = [k for k in SHOWN_METRICS if any(metrics[s].get(k) is not None for s in near)]
    if near:
        print()
        body = [(str(s), *(_shown(metrics[s].get(k)) for k in keys)) for s in near]
        console.print_table("", ("step", *keys), body)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, list):
        if len(value) > 5:
            return f"{len(value)} entries"
        between = "; " if any(isinstance(v, dict) for v in value) else ", "
        return between.join(_shown(v) for v in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{k} {_shown(v)}" for k, v in value.items()) or "none"
    return str(value)
