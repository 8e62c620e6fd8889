"""Train and evaluate the missing runs of a study of the small policy, then print the study's table.

    python benchmarks/small_policy.py benchmarks/studies/three_thousand_steps.yaml --jobs 2

There is a run for each arm and seed, on one core each. A stopped run continues from its last checkpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from small_policy_base import POLICIES, prepare
from small_policy_records import as_record, evaluation, read_records, record_file
from small_policy_study import Study, read_study, table

from prorl_common import PlainProgress, UserError, atomic_write_text

INTERRUPTED = 75
"""Exit status of a run that was stopped after saving a checkpoint (EX_TEMPFAIL: start it again)."""


def main() -> int:
    """Run the missing parts; return 0, or the status of an interrupted or failed run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("study", type=Path, help="YAML file of arms, seeds and settings")
    parser.add_argument("--work", type=Path, help="folder of the runs (runs/<study>)")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--only", metavar="ARM:SEED", help="train this run in this process")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    study = read_study(args.study)
    work = (args.work or Path("runs") / args.study.stem).resolve()
    if args.only:
        arm, _, seed = args.only.rpartition(":")
        return run_one(study, arm, int(seed), work)
    inputs(study, work)
    command = [sys.executable, str(Path(__file__).resolve()), str(args.study), "--work", str(work)]
    calls = [[*command, "--only", f"{arm}:{seed}"] for arm, seed in study.runs]
    with ThreadPoolExecutor(args.jobs) as pool:
        codes = list(pool.map(subprocess.call, calls))
    print("\n".join(report(study, work)))
    return max(codes)


def run_folder(study: Study, arm: str, seed: int, work: Path) -> Path:
    """Return a run's folder, named by the arm, and by the seed if there are several."""
    return work / (arm if len(study.seeds) == 1 else f"{arm}-seed{seed}")


def inputs(study: Study, work: Path, only: str | None = None) -> tuple[Path, Path]:
    """Return model and dataset of the study; those of a small policy are made in ``work``, restricted to ``only``."""
    if study.policy is None:
        return Path(str(study.settings["model.path"])), Path(str(study.settings["data.path"]))
    return prepare(work, POLICIES[study.policy], only)


def run_one(study: Study, arm: str, seed: int, work: Path) -> int:
    """Train one run and evaluate its checkpoints; return 0, or 75 if interrupted."""
    import torch

    from prorl_evaluation.sampling.command import evaluate_models
    from prorl_training.config.loading import load_config
    from prorl_training.engine.start import Start, resumed_run
    from prorl_training.run.folder import RunFolder

    if (arm, seed) not in study.runs:
        raise UserError(f"the study has no run {arm}:{seed}: it has {study.runs}")
    torch.set_num_threads(1)
    model, data = inputs(study, work, study.arms[arm].train)
    folder, record = run_folder(study, arm, seed, work), record_file(study, arm, seed)
    if (record or folder / "evaluation" / "result.json").is_file():
        return 0
    start: Start | str
    if (folder / "config.yaml").is_file():
        start = resumed_run(str(folder), (), None)
    else:
        overrides = study.overrides(arm, seed, model, data)
        start = Start(load_config(study.arms[arm].preset, None, overrides), RunFolder(folder))
    use_oldest_weights()
    if not isinstance(start, str) and start.train(PlainProgress(60.0)).interrupted:
        return INTERRUPTED
    results = []
    for number, how in enumerate(study.evaluations):
        results += evaluate_models(
            run=str(folder),
            checkpoints=how.checkpoints,
            dataset=inputs(study, work, how.only)[1],
            k=how.k,
            n=how.n,
            progress=PlainProgress(60.0),
            sampling__temperature=how.temperature,
            sampling__top_p=1.0,
            sampling__max_tokens=how.max_tokens,
            sampling__turns=how.turns,
            sampling__seed=how.seed,
            scoring__workers=1,
            model__device=str(study.settings["model.device"]),
            output__out=str(folder / (f"evaluation-{number}" if number else "evaluation")),
        )
    if record:
        content = {"arm": arm, "seed": seed} | as_record(RunFolder(folder), results)
        record.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_text(record, json.dumps(content) + "\n")
        shutil.rmtree(folder)
    return 0


def use_oldest_weights() -> None:
    """Make every batch exactly ``rollout.staleness`` versions old, so that no version depends on timing."""
    from prorl_training.engine import loop
    from prorl_training.rollout.staleness import SampleAhead
    from prorl_training.types import SampledBatch

    class Oldest(SampleAhead):
        """Gives a batch only once the last batch that its policy version may sample has begun."""

        def take(self, step: int) -> SampledBatch:
            with self._changed:
                self._version, self._updating = step - 1, False
                if self._thread.ident is None:
                    self._thread.start()
                self._changed.notify_all()
                last = min(step + self._staleness, self._last_step)
                self._changed.wait_for(lambda: self._error is not None or self._begun >= last)
            return super().take(step)

    vars(loop)[SampleAhead.__name__] = Oldest


def report(study: Study, work: Path) -> list[str]:
    """Return the table of the finished evaluations."""
    from prorl_evaluation import load_result

    results: dict[str, list[dict[str, tuple[int, int]]]] = {}
    for arm, records in read_records(study).items():
        first = [evaluation(record, 0) for record in records]
        results[arm] = [{name: (n, c) for name, c in counts.items()} for counts, n in first]
    for arm in study.arms if study.records is None else ():
        folders = [run_folder(study, arm, seed, work) / "evaluation" for seed in study.seeds]
        found = [load_result(f) for f in folders if (f / "result.json").is_file()]
        results[arm] = [{p.id: (p.n, p.c) for p in result.problems} for result in found]
    return table(study, results)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
