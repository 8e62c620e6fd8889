"""Carry out a study of SmolLM2-135M: dataset, training, evaluation. Every stage goes on where it was cut off.

    python benchmarks/evidence/smollm_run.py [--study NAME] [--jobs N] [--threads N] [--rehearsal]

Stages: build the dataset; train each arm with the local engine (warm start, then RL); sample the held-out items
from its models; write the small files that the document is made of. Arms run side by side with ``--jobs`` 2.
Ctrl-C or SIGTERM lets a step of training end and saves it; the same command goes on, also after a kill. Finished stages
are kept. Leaves out: the constants (``smollm_protocol``, ``smollm_loop``), what is written (``smollm_record``) and
the numbers drawn from it (``smollm_report``, ``smollm_loop_report``).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from side_by_side import STOPPED, run_side_by_side
from smollm_loop import STUDY as LOOP
from smollm_protocol import STUDY as SHORT
from smollm_study import MODEL, ROOT, Evaluated, Scale, Study

from prorl_common import NullProgress, Progress, UserError
from prorl_datasets import BuildOptions, Sample, build, load
from prorl_evaluation import EvalResult, evaluate, load_result

STUDIES = {study.name: study for study in (SHORT, LOOP)}


class Lines(NullProgress):
    """Prints the messages and, now and then, how far a stage is; ``name`` goes before them."""

    def __init__(self, name: str = "") -> None:
        self.name = f"{name}: " if name else ""
        self.label = ""
        self.done = 0
        self.shown = 0

    def start(self, label: str, total: int | None) -> None:
        """Begin a stage."""
        self.label, self.done, self.shown = f"{label} of {total}", 0, 0

    def advance(self, count: int = 1, **fields: str) -> None:
        """Count; a line for each tenth or so of a long stage and each step of training."""
        self.done += count
        if count and (self.label.startswith("train") or self.done >= self.shown + 256):
            self.shown = self.done
            facts = " ".join(f"{k} {v}" for k, v in fields.items())
            self.message(f"{self.label}: {self.done} {facts}")

    def message(self, text: str) -> None:
        """Print one line."""
        print(f"{self.name}{text}", flush=True)


class Interrupted(Exception):
    """Training was asked to stop and has saved; it goes on when started again."""


def make_data(study: Study, work: Path, scale: Scale, progress: Progress) -> list[Sample]:
    """Build the dataset, or take the one that is there, and return its samples."""
    build(study.recipe(scale), work / "data", progress=progress, options=BuildOptions())
    return list(load(work / "data"))


def train_policy(study: Study, arm: str, work: Path, scale: Scale, progress: Progress) -> None:
    """Train an arm to the last step, from the newest checkpoint where there is one.

    Raises Interrupted, and UserError when the run ends itself before its last step.
    """
    from prorl_training.engine.local import train

    config = study.train_config(arm, (work / "data").resolve(), scale)
    run = work / arm
    if not checkpoint(run, config.steps).is_dir():
        report = train(config, run, progress, resume=(run / "config.yaml").exists())
        if report.interrupted:
            raise Interrupted
        if report.last_step < config.steps:
            ended = f"training ended at step {report.last_step} of {config.steps}"
            raise UserError(f"{arm}: {ended}: {report.stopped}")


def checkpoint(run: Path, step: int) -> Path:
    """Return the checkpoint folder of a step."""
    return run / "checkpoints" / f"step_{step:06d}"


def model_of(study: Study, evaluated: Evaluated, work: Path, scale: Scale) -> str:
    """Return the folder, or for the untouched model the name, of what is sampled."""
    if evaluated.step is None:
        return MODEL
    last = study.train_config(evaluated.arm, work / "data", scale).steps
    step = last if evaluated.step < 0 else evaluated.step
    return str(checkpoint(work / evaluated.arm, step) / "policy")


def evaluate_model(
    study: Study,
    evaluated: Evaluated,
    sampling: str,
    work: Path,
    scale: Scale,
    items: list[Sample],
    progress: Progress,
) -> EvalResult:
    """Sample and score one model on the held-out items, or return the finished result."""
    out = evaluation_folder(work, evaluated.name, sampling)
    if (out / "result.json").exists():
        return load_result(out)
    from prorl_inference import load_generator
    from prorl_verifiers import VerifierPool

    config = study.train_config(evaluated.arm, work / "data", scale)
    settings = study.eval_settings(evaluated.name, sampling, scale, config.rollout.max_tokens)
    model = model_of(study, evaluated, work, scale)
    generator = load_generator(model, batch_size=study.rows)
    with VerifierPool(workers=1) as pool:
        return evaluate(generator, items, settings, out, pool, progress)


def evaluation_folder(work: Path, name: str, sampling: str) -> Path:
    """Return where an evaluation's journal and result lie."""
    return work / f"eval-{name}-{sampling}"


def finished(study: Study, work: Path) -> dict[str, EvalResult]:
    """Return the evaluations that are there, by ``model/sampling``."""
    found = {}
    for sampling in study.samplings:
        for evaluated in study.evaluated:
            folder = evaluation_folder(work, evaluated.name, sampling)
            if (folder / "result.json").exists():
                found[f"{evaluated.name}/{sampling}"] = load_result(folder)
    return found


def run_arm(study: Study, arm: str, work: Path, evidence: Path, scale: Scale) -> None:
    """Do every stage of an arm that is not done yet, and write what is known then."""
    progress = Lines(arm)
    samples = make_data(study, work, scale, progress)
    items = study.held_out(samples, scale.held_out)
    train_policy(study, arm, work, scale, progress)
    for sampling in study.samplings:
        for evaluated in (e for e in study.evaluated if e.arm == arm):
            evaluate_model(study, evaluated, sampling, work, scale, items, progress)
    study.record(study, work, evidence, samples, items, finished(study, work))
    progress.message(f"written to {evidence}")


def main() -> int:
    """Read the arguments and carry the study out, or rehearse it."""
    parser = argparse.ArgumentParser(description="A study of SmolLM2-135M")
    parser.add_argument("--study", choices=STUDIES, default=SHORT.name)
    parser.add_argument("--jobs", type=int, default=1, help="arms side by side")
    parser.add_argument("--threads", type=int, default=2, help="threads of each job")
    parser.add_argument("--work", type=Path, help="folder of what is under way (runs/STUDY)")
    parser.add_argument("--evidence", type=Path, help="folder of results (docs/evidence/data)")
    parser.add_argument("--only", metavar="ARM", help="do this arm in this process")
    parser.add_argument(
        "--rehearsal", action="store_true", help="two steps and two items a task, on other seeds"
    )
    args = parser.parse_args()
    study = STUDIES[args.study]
    scale = study.rehearsal if args.rehearsal else study.scale
    default = ROOT / "runs" / f"{study.name}{'-rehearsal' if args.rehearsal else ''}"
    work = (args.work or default).resolve()
    evidence = args.evidence or (work / "evidence" if args.rehearsal else study.results)
    work.mkdir(parents=True, exist_ok=True)
    if args.only is None:
        make_data(study, work, scale, Lines())
        words = [
            w for flag in ("study", "threads") for w in (f"--{flag}", str(getattr(args, flag)))
        ]
        words += ["--work", str(work), "--evidence", str(evidence)]
        words += ["--rehearsal"] if args.rehearsal else []
        script = [sys.executable, str(Path(__file__).resolve()), *words]
        return run_side_by_side({arm: [*script, "--only", arm] for arm in study.arms}, args.jobs)
    if args.only not in study.arms:
        raise UserError(f"no arm '{args.only}' in {study.name}: {', '.join(study.arms)}")
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    import torch

    torch.set_num_threads(args.threads)
    try:
        run_arm(study, args.only, work, evidence, scale)
    except (Interrupted, KeyboardInterrupt):
        return STOPPED
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
