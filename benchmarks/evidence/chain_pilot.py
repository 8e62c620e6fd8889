"""A pilot of one arm of the boundary study: another seed, other items, nothing written into the evidence.

    python benchmarks/evidence/chain_pilot.py v2 --steps 400 --work runs/boundary-pilot

Prints pass@1 by rung of the base and of the arm after every leg; called again with more steps it goes on. Leaves
out: the runs that count (``small_run``).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from chain_study import (
    MAX_TOKENS,
    PILOT_SEED,
    STUDY,
    TRAIN_ITEMS,
    VALIDATION_ITEMS,
    held_out,
)
from chain_tasks import CHAINS, FAMILIES, RUNGS
from side_by_side import STOPPED
from small_base import base_folder, data_folder, prepare
from small_data import keys, training_samples
from small_eval import evaluate
from small_study import ROOT, Groups, Sampling

from prorl_common import PlainProgress, UserError

ITEMS, LEG = 8, 200
"""Held-out items of each family and rung; steps between evaluations."""
SAMPLING = Sampling(5, 128, 1.0, MAX_TOKENS)


def main() -> int:
    """Train leg by leg and print what each reached; 75 when interrupted."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("arm", choices=STUDY.arms)
    parser.add_argument("--steps", type=int, default=2 * LEG)
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "boundary-pilot")
    parser.add_argument("--set", dest="extra", action="append", default=[], help="another setting")
    args = parser.parse_args()
    torch.set_num_threads(1)
    items = held_out(PILOT_SEED + 1, ITEMS)
    without = keys(items) | keys(held_out())
    counts = (TRAIN_ITEMS, VALIDATION_ITEMS)
    prepare(
        replace(STUDY, training=lambda: training_samples(FAMILIES, counts, PILOT_SEED, without)),
        args.work,
    )
    _show("base", base_folder(args.work), items, args.work)
    return _train(args.arm, args.steps, tuple(args.extra), args.work, items)


def _train(arm: str, steps: int, extra: tuple[str, ...], work: Path, items: Groups) -> int:
    from prorl_training.engine.local import train
    from prorl_training.run.checkpoint_store import checkpoint_path
    from prorl_training.run.folder import RunFolder
    from prorl_training.run.resume import resume_config

    folder = RunFolder(work / f"{arm}-seed{PILOT_SEED}")
    done = _done(folder)
    while done < steps:
        leg = (f"steps={min(done + LEG, steps)}",)
        progress = PlainProgress(60.0)
        if folder.config_path.exists():
            config, decisions = resume_config(folder, leg, None)
            report = train(config, folder.path, progress, True, decisions)
        else:
            places = base_folder(work), data_folder(work)
            config = STUDY.config(arm, PILOT_SEED, *places, (*extra, *leg))
            report = train(config, folder.path, progress)
        if report.interrupted:
            return STOPPED
        if report.stopped is not None:
            raise UserError(f"{folder.name}: {report.stopped}")
        done = _done(folder)
        rows = folder.metrics()
        tokens, seconds = (sum(row[key] for row in rows) for key in ("tokens", "seconds"))
        print(f"step {done}: {tokens:,} tokens, {seconds / len(rows):.2f} s a step", flush=True)
        policy = checkpoint_path(folder.checkpoints, done) / "policy"
        _show(f"{arm} {done}", policy, items, work)
    return 0


def _done(folder: Any) -> int:
    rows = folder.metrics() if folder.config_path.exists() else []
    return int(rows[-1]["step"]) if rows else 0


def _show(name: str, model: Path, items: Groups, work: Path) -> None:
    """Print each family's pass@1 by rung, in brackets how many of its items were never solved."""
    from prorl_verifiers import VerifierPool

    with VerifierPool(workers=1) as pool:
        found = evaluate(model, items, pool, SAMPLING, work / f"eval-{name.replace(' ', '-')}")
    for family in CHAINS:
        cells = []
        for rung in RUNGS:
            right = found[f"{family}/{rung}"]["correct"]
            rate = sum(right) / len(right) / SAMPLING.samples
            cells.append(f"{rate:.3f} ({right.count(0)})")
        print(f"{name} {family}: {'  '.join(cells)}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
