"""Carry out the 18 runs of docs/evidence/three-thousand-steps.md: whatever is missing, two at a time.

    python benchmarks/evidence/small_run.py --jobs 2 --work runs/evidence-small

One run is an arm with a seed: 3,000 steps of prorl's local engine, with the held-out evaluation at the
token budget and at step 3,000, written to docs/evidence/data. A run that was stopped or killed goes on
from its last checkpoint; a finished one is left alone, its work folder removed. Leaves out: how one
run goes (``small_legs``), statistics and plots (``small_report``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from small_arms import ARMS, SEEDS
from small_base import base_digest, base_folder, prepare
from small_data import evaluation_items
from small_eval import evaluate
from small_legs import STOPPED, Interrupted, carry_out
from small_record import RESULTS, ROOT, code_digest, protocol_digest, result_path

from prorl_common import PlainProgress, UserError, atomic_write_text

WORK = ROOT / "runs" / "evidence-small"


def main() -> int:
    """Run what is missing; return 0 when all is there, 75 when stopped, 1 when a run failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side, one core each")
    parser.add_argument(
        "--work", type=Path, default=WORK, help="folder for runs that are under way"
    )
    parser.add_argument("--only", metavar="ARM-seedN", help="do this one run in this process")
    parser.add_argument(
        "--keep", action="store_true", help="with --only: leave the run's folder there"
    )
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    work = args.work.resolve()
    if args.only:
        return run_one(*parse_name(args.only), work, args.keep)
    _prepare_base(work)
    return _run_missing(args.jobs, work)


def parse_name(name: str) -> tuple[str, int]:
    """Split ``v2-kl-seed3`` into its arm and seed. Raises UserError for one that the protocol lacks."""
    arm, _, seed = name.rpartition("-seed")
    if arm not in ARMS or not seed.isdigit() or int(seed) not in SEEDS:
        raise UserError(f"no run '{name}' in the protocol: {', '.join(run_names())}")
    return arm, int(seed)


def run_names() -> list[str]:
    """Return the names of all runs, seed by seed, so that early results compare whole sets of arms."""
    return [f"{arm}-seed{seed}" for seed in SEEDS for arm in ARMS]


def _run_missing(jobs: int, work: Path) -> int:
    """Start the missing runs, ``jobs`` at a time; Ctrl-C or SIGTERM lets them finish a step and save."""
    missing = [name for name in run_names() if not result_path(name).exists()]
    running: dict[str, subprocess.Popen[bytes]] = {}
    failed: list[str] = []
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        while missing or running:
            while missing and len(running) < jobs:
                running[missing[0]] = _start(missing.pop(0), work)
            time.sleep(0.5)
            for name in [n for n, child in running.items() if child.poll() is not None]:
                code = running.pop(name).returncode
                print(f"{name}: {'done' if code == 0 else f'ended with {code}'}", flush=True)
                failed += [name] if code else []
    except KeyboardInterrupt:
        for child in running.values():
            child.terminate()
        for child in running.values():
            child.wait()
        return STOPPED
    return 1 if failed else 0


def _start(name: str, work: Path) -> subprocess.Popen[bytes]:
    """Start one run in a session of its own, so that Ctrl-C reaches it once, through us."""
    script = str(Path(__file__).resolve())
    command = [sys.executable, script, "--only", name, "--work", str(work)]
    return subprocess.Popen(command, start_new_session=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt


def run_one(arm: str, seed: int, work: Path = WORK, keep: bool = False) -> int:
    """Train and evaluate one run, write its result and remove its folder (unless ``keep``); 0, or 75 when
    interrupted."""
    import torch

    torch.set_num_threads(1)
    _prepare_base(work)
    name = f"{arm}-seed{seed}"
    started = time.perf_counter()
    try:
        record = carry_out(arm, seed, work, PlainProgress(60.0))
    except Interrupted:
        return STOPPED
    result = {
        "arm": arm,
        "seed": seed,
        "protocol": protocol_digest(),
        "base": base_digest(),
        "code": code_digest(),
        "versions": _versions(),
        **record,
        "last_call_seconds": round(time.perf_counter() - started, 1),
    }
    _write(result_path(name), result)
    if not keep:
        shutil.rmtree(work / name)
    return 0


def _prepare_base(work: Path) -> None:
    from prorl_verifiers import VerifierPool

    prepare(work)
    path = result_path("base")
    if not path.exists():
        with VerifierPool(workers=1) as pool:
            groups = evaluate(base_folder(work), evaluation_items(), pool)
        _write(path, {"base": base_digest(), "protocol": protocol_digest(), "groups": groups})


def _write(path: Path, result: dict[str, Any]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
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
