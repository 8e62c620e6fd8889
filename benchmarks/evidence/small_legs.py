"""One run from its first step to its record: legs of training, an evaluation after each.

A leg ends at the first step by which the token budget is sampled, or at the last step; what is reached there
is evaluated at once from the checkpoint of that very step. So no other checkpoint has to be kept, and
arms are compared within one step's tokens of each other. Leaves out: which runs there are and the data
file (``small_run``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from small_base import base_folder, data_folder
from small_eval import evaluate
from small_record import curves
from small_study import Ends, Study

from prorl_common import Progress, UserError, atomic_write_text

LABELS = ("budget", "end")
MAY_DIFFER = frozenset(("steps", "token_budget", "data.path"))
"""Settings in which a run's folder may differ from the protocol: a leg's end, and where the data lies."""


class Interrupted(Exception):
    """The run was asked to stop and has saved; it goes on when started again."""


def carry_out(study: Study, arm: str, seed: int, work: Path, progress: Progress) -> dict[str, Any]:
    """Do what is missing of a run in ``work`` and return its record.

    Raises Interrupted, and UserError when the verifiers were away too long or the folder is another run's.
    """
    from prorl_training.run.folder import RunFolder

    folder = RunFolder(work / f"{arm}-seed{seed}")
    while (leg := next_leg(study.ends, set(_evaluations(folder.path)))) is not None:
        stopped = stop_of(folder)
        if stopped is None:
            _train(study, arm, seed, folder, leg, progress)
            stopped = stop_of(folder)
        rows = folder.metrics()
        last = rows[-1]
        for label in reached(study.ends, last, stopped is not None):
            path = folder.path / f"evaluation-{label}.json"
            if not path.exists():
                atomic_write_text(path, json.dumps(_evaluate(study, folder, label, rows)))
    return _record(folder)


def next_leg(ends: Ends, evaluated: set[str]) -> tuple[int, int] | None:
    """Return (last step, token budget; 0: none) of the leg to do, by what has been evaluated; None: done."""
    if ends.steps and "end" not in evaluated:
        return ends.steps, 0 if "budget" in evaluated else ends.tokens
    return None if "budget" in evaluated else (ends.most_steps, ends.tokens)


def reached(ends: Ends, last: Mapping[str, Any], stopped: bool) -> list[str]:
    """Return which evaluations the run's last step so far calls for; a run that stopped itself, all."""
    step, tokens = last["step"], last["tokens_total"]
    at = {
        "budget": stopped or tokens >= ends.tokens or step >= ends.most_steps,
        "end": ends.steps > 0 and (stopped or step >= ends.steps),
    }
    return [label for label in LABELS if at[label]]


def stop_of(folder: Any) -> Mapping[str, Any] | None:
    """Return the decision by which the run's safety rules ended it, None when they did not.

    An outage of the verifiers is no such end: nothing was learned from it, and the run goes on.
    """
    from prorl_training.run.checkpoint_store import newest_step

    decisions: Sequence[Mapping[str, Any]] = folder.decisions()
    stops = [d for d in decisions if d["kind"] == "run_stopped" and "in_step" not in d["evidence"]]
    return stops[-1] if stops and stops[-1]["step"] == newest_step(folder.checkpoints) else None


def _train(
    study: Study, arm: str, seed: int, folder: Any, leg: tuple[int, int], progress: Progress
) -> None:
    from prorl_training.engine.local import train
    from prorl_training.run.resume import resume_config

    steps, budget = leg
    extra = (f"steps={steps}", f"token_budget={budget}")
    work = folder.path.parent
    config = study.config(arm, seed, base_folder(work), data_folder(work), extra)
    if folder.config_path.exists():
        _check_same(folder, config)
        config, decisions = resume_config(folder, extra, None)
        report = train(config, folder.path, progress, True, decisions)
    else:
        report = train(config, folder.path, progress)
    if report.interrupted:
        raise Interrupted
    if report.stopped is not None and stop_of(folder) is None:
        raise UserError(f"{folder.name}: {report.stopped}; start it again when that is mended")


def _check_same(folder: Any, config: Any) -> None:
    """Raise UserError when the folder's run was started with other settings than the protocol's."""
    from prorl_training.run.resume import changes

    wrong = set(changes(folder.config(), config)) - MAY_DIFFER
    if wrong:
        raise UserError(
            f"{folder.path} was started with other settings ({', '.join(sorted(wrong))}): remove it"
        )


def _evaluate(study: Study, folder: Any, label: str, rows: Sequence[Any]) -> dict[str, Any]:
    """Return what the checkpoint of the last step does on the held-out items, and where it stands."""
    from prorl_training.run.checkpoint_store import checkpoint_path
    from prorl_verifiers import VerifierPool

    last = rows[-1]
    model = checkpoint_path(folder.checkpoints, last["step"]) / "policy"
    done = folder.path / f"evaluating-{label}"
    with VerifierPool(workers=1) as pool:
        groups = evaluate(model, study.held_out(), pool, study.sampling, done)
    resets = [d["step"] for d in folder.decisions() if d["kind"] == "reference_reset"]
    return {
        "step": last["step"],
        "tokens": sum(row["tokens"] for row in rows),
        "length_penalty_active": last["length_penalty_active"],
        "last_reset": max(resets, default=None),
        "groups": groups,
    }


def _evaluations(folder: Path) -> dict[str, Any]:
    """Return the evaluations that are there, by label."""
    paths = {label: folder / f"evaluation-{label}.json" for label in LABELS}
    return {label: json.loads(p.read_text()) for label, p in paths.items() if p.exists()}


def _record(folder: Any) -> dict[str, Any]:
    rows, decisions = folder.metrics(), folder.decisions()
    stopped = stop_of(folder)
    return {
        "stopped": None if stopped is None else stopped["reason"],
        "steps": rows[-1]["step"],
        "tokens": sum(row["tokens"] for row in rows),
        "step_seconds": round(sum(row["seconds"] for row in rows), 1),
        "curves": curves(rows),
        "refills_given_up": sum(d["kind"] == "refill_gave_up" for d in decisions),
        "decisions": [d for d in decisions if d["kind"] != "refill_gave_up"],
        "evaluations": _evaluations(folder.path),
    }
