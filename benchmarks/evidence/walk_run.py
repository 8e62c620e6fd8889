"""The runs of docs/tutorials/why-reward-fell.md: the small policy of the evidence, a few hundred steps.

    python benchmarks/evidence/walk_run.py --work runs/walk [NAME ...]

Without names, all of ``RUNS``. A run that was stopped goes on from its last checkpoint; a finished one is
left alone. Leaves out: the pictures (``scripts/view_pictures.py``).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from small_arms import common_settings
from small_base import base_folder, data_folder, prepare
from small_three_thousand import STUDY

from prorl_common import PlainProgress, UserError

STEPS = 300
SETTINGS = (
    f"steps={STEPS}",
    "validation.every=25",
    "checkpoint.every=25",
    "logging.rollouts_every=1",
    "controller.reset_interval=100",
    "length_penalty.start_step=151",
    "length_penalty.steps_on=50",
    "length_penalty.steps_off=100",
)
"""On top of the evidence's common settings: every step's responses kept, the schedule drawn together."""
RUNS: dict[str, tuple[str, ...]] = {
    "fast": ("optimizer.lr=1e-3", "optimizer.warmup_updates=600"),
    "half": ("optimizer.lr=5e-4", "optimizer.warmup_updates=300"),
}
"""Name -> what is set on top. ``half`` does what ``fast`` does until its warm-up ends."""


def main() -> int:
    """Train what is missing; return 0, or 75 when interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(RUNS), help="which of the runs")
    parser.add_argument("--work", type=Path, default=Path("runs/walk"))
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch

    torch.set_num_threads(1)
    work = args.work.resolve()
    prepare(STUDY, work)
    for name in args.names:
        if name not in RUNS:
            raise UserError(f"no run '{name}': {', '.join(RUNS)}")
        if _train(name, work):
            return 75
    return 0


def _train(name: str, work: Path) -> bool:
    """Start or continue a run; return whether it was interrupted."""
    from prorl_training.config.loading import load_config
    from prorl_training.engine.local import train
    from prorl_training.run.folder import RunFolder
    from prorl_training.run.resume import resume_config

    settings = [*common_settings(base_folder(work), data_folder(work), seed=1), *SETTINGS]
    folder = RunFolder(work / name)
    progress = PlainProgress(30.0)
    if folder.config_path.exists():
        rows = folder.metrics()
        if rows and rows[-1]["step"] >= STEPS:
            return False
        config, decisions = resume_config(folder, (), None)
        return train(config, folder.path, progress, True, decisions).interrupted
    config = load_config("prorl-v2", None, [*settings, *RUNS[name]])
    return train(config, folder.path, progress).interrupted


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
