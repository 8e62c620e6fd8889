"""Carry out the runs of a study of a small policy: whatever is missing, two at a time.

    python benchmarks/evidence/small_run.py --study boundary-study --jobs 2

One run is an arm with a seed, trained by prorl's local engine and evaluated on the held-out items where the
protocol says (docs/evidence/<study>.md); its result is written to docs/evidence/data. A run that was stopped or
killed goes on from its last checkpoint; a finished one is left alone, its work folder removed. Leaves out:
how one run goes (``small_legs``), statistics and plots (``small_report``, ``chain_report``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from chain_broad import STUDY as BROAD
from chain_collapse import STUDY as COLLAPSE
from chain_study import STUDY as BOUNDARY
from side_by_side import STOPPED, run_side_by_side
from small_base import base_digest, base_folder, prepare
from small_eval import evaluate
from small_legs import Interrupted, carry_out
from small_record import code_digest
from small_study import ROOT, Study
from small_three_thousand import STUDY as THREE_THOUSAND

from prorl_common import PlainProgress, UserError, atomic_write_text

STUDIES = {study.name: study for study in (THREE_THOUSAND, BOUNDARY, COLLAPSE, BROAD)}


def main() -> int:
    """Run what is missing; return 0 when all is there, 75 when stopped, 1 when a run failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--study", choices=STUDIES, default=THREE_THOUSAND.name)
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side, one core each")
    parser.add_argument("--work", type=Path, help="folder of runs under way (runs/<study>)")
    parser.add_argument(
        "--only", metavar="ARM-seedN", help="do this one run in this process; base: none"
    )
    parser.add_argument(
        "--keep", action="store_true", help="with --only: leave the run's folder there"
    )
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    study = STUDIES[args.study]
    work = (args.work or work_folder(study)).resolve()
    if args.only and args.only != "base":
        return run_one(study, args.only, work, args.keep)
    _prepare_base(study, work)
    return 0 if args.only else _run_missing(study, args.jobs, work)


def work_folder(study: Study) -> Path:
    """Return where a study's runs lie while they are under way."""
    return ROOT / "runs" / study.name


def _run_missing(study: Study, jobs: int, work: Path) -> int:
    script = [sys.executable, str(Path(__file__).resolve()), "--study", study.name]
    missing = [name for name in study.run_names() if not study.result_path(name).exists()]
    commands = {name: [*script, "--only", name, "--work", str(work)] for name in missing}
    return run_side_by_side(commands, jobs)


def run_one(study: Study, name: str, work: Path, keep: bool = False) -> int:
    """Train and evaluate one run, write its result and remove its folder (unless ``keep``); 0, or 75 when
    interrupted."""
    import torch

    torch.set_num_threads(1)
    arm, seed = study.parse_run(name)
    _prepare_base(study, work)
    started = time.perf_counter()
    try:
        record = carry_out(study, arm, seed, work, PlainProgress(60.0))
    except Interrupted:
        return STOPPED
    result = {
        "arm": arm,
        "seed": seed,
        "protocol": study.protocol_digest(),
        "base": base_digest(study),
        "code": code_digest(),
        "versions": _versions(),
        **record,
        "last_call_seconds": round(time.perf_counter() - started, 1),
    }
    _write(study.result_path(name), result)
    if not keep:
        shutil.rmtree(work / name)
    return 0


def _prepare_base(study: Study, work: Path) -> None:
    from prorl_verifiers import VerifierPool

    prepare(study, work)
    for name, sampling in study.base_samplings.items():
        path = study.result_path(name)
        if path.exists():
            continue
        done = work / f"evaluating-{name}"
        with VerifierPool(workers=1) as pool:
            groups = evaluate(base_folder(work), study.held_out(), pool, sampling, done)
        base, protocol = base_digest(study), study.protocol_digest()
        _write(path, {"base": base, "protocol": protocol, "groups": groups})


def _write(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, json.dumps(result, separators=(",", ":")) + "\n")


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("prorl", "torch", "transformers")}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
