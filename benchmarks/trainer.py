"""A training step of this project beside one of TRL's GRPOTrainer, alternating, in child processes.

    python benchmarks/trainer.py [--rounds N] [--steps N] [--beta B ...] [--dtype bf16 --device cuda]
                                 [--trl-python PATH] [--json FILE] [--document FILE]

Same model, prompts, completions a prompt, completion length, loss settings and threads; the contenders take
turns so that a noisy machine disturbs all alike, each child does warm-up steps that are not counted, and the
medians over all rounds are compared. TRL runs with each micro-batch size of ``--micro-batch`` and counts with
its best. Without ``--trl-python`` an environment with TRL is made in ``.venv-trainers/trl``. Leaves out: what
the children do (``trainer_prorl``, ``trainer_trl``), generation alone (``generation.py``).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainer_document import best_of, write_document
from trainer_environment import trl_python
from trainer_workload import Workload, write_workload

HERE = Path(__file__).resolve().parent


def run_child(python: str, script: str, workload: Workload) -> dict[str, Any]:
    """Run one contender on the workload and return what it printed; its failure is ours."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "workload.json"
        write_workload(spec, workload)
        env = os.environ | {"OMP_NUM_THREADS": str(workload.threads), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [python, str(HERE / script), str(spec)],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr[-4000:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def rounds_of(args: argparse.Namespace, workload: Workload, trl: str) -> list[dict[str, Any]]:
    """Run all contenders ``args.rounds`` times in turn and return one row for each child."""
    contenders = [("prorl", sys.executable, "trainer_prorl.py", workload)]
    for size in args.micro_batch:
        spec = replace(workload, micro_batch=size)
        contenders.append((f"TRL, micro-batch {size}", trl, "trainer_trl.py", spec))
    rows = []
    for number in range(args.rounds):
        for name, python, script, spec in contenders:
            row = run_child(python, script, spec) | {"contender": name, "round": number}
            rows.append(row | {"beta": workload.beta})
            times = ", ".join(f"{s['seconds']:.1f}" for s in row["steps"])
            print(
                f"beta {workload.beta:g}, round {number + 1}: {name}: {times} s a step",
                file=sys.stderr,
            )
    return rows


def summary(rows: list[dict[str, Any]], workload: Workload) -> dict[str, Any]:
    """Return medians over all timed steps of one contender's children."""
    steps = [step for row in rows for step in row["steps"]]
    tokens = {step["tokens"] for step in steps}
    wanted = workload.completions * workload.tokens
    if tokens != {wanted}:
        raise SystemExit(f"{rows[0]['contender']} sampled {sorted(tokens)} tokens, not {wanted}")
    seconds = statistics.median(step["seconds"] for step in steps)
    generate = statistics.median(step["generate_seconds"] for step in steps)
    rest = statistics.median(step["seconds"] - step["generate_seconds"] for step in steps)
    gpu = [row["peak_gpu_mb"] for row in rows if row["peak_gpu_mb"] is not None]
    return {
        "contender": rows[0]["contender"],
        "version": rows[0]["version"],
        "beta": rows[0]["beta"],
        "steps": len(steps),
        "step_seconds": round(seconds, 2),
        "step_seconds_range": [round(f(s["seconds"] for s in steps), 2) for f in (min, max)],
        "cpu_seconds": round(statistics.median(step["cpu_seconds"] for step in steps), 2),
        "generate_seconds": round(generate, 2),
        "rest_seconds": round(rest, 2),
        "tokens_per_second": round(wanted / seconds, 1),
        "generated_tokens_per_second": round(wanted / generate, 1),
        "peak_memory_mb": round(max(row["peak_memory_mb"] for row in rows)),
        "peak_gpu_mb": round(max(gpu)) if gpu else None,
    }


def compare(args: argparse.Namespace) -> dict[str, Any]:
    """Run everything and return the report."""
    from prorl_common import NullProgress
    from prorl_inference import fetch_or_resolve, pick_device

    device = pick_device(args.device)
    base = Workload(
        model=str(fetch_or_resolve(args.model, NullProgress())),
        device=device,
        dtype=args.dtype,
        threads=args.threads,
        tokens=args.tokens,
        steps=args.steps,
        pack_tokens=args.pack_tokens,
    )
    trl = trl_python(args.trl_python)
    results = []
    for beta in args.beta:
        workload = replace(base, beta=beta)
        rows = rounds_of(args, workload, trl)
        names = list(dict.fromkeys(row["contender"] for row in rows))
        results += [summary([r for r in rows if r["contender"] == n], workload) for n in names]
    return {
        "machine": machine(device, args.threads),
        "model": Path(base.model).name,
        "dtype": args.dtype,
        "prompts": base.prompts,
        "samples": base.samples,
        "tokens": base.tokens,
        "rounds": args.rounds,
        "results": results,
        "ratios": [ratio(results, beta) for beta in args.beta],
    }


def ratio(results: list[dict[str, Any]], beta: float) -> dict[str, Any]:
    """Return our medians over those of TRL's best micro-batch size."""
    ours, theirs = best_of(results, beta, "prorl"), best_of(results, beta, "TRL")
    return {
        "beta": beta,
        "against": theirs["contender"],
        "step": round(ours["step_seconds"] / theirs["step_seconds"], 3),
        "cpu": round(ours["cpu_seconds"] / theirs["cpu_seconds"], 3),
        "generate": round(ours["generate_seconds"] / theirs["generate_seconds"], 3),
        "rest": round(ours["rest_seconds"] / theirs["rest_seconds"], 3),
        "memory": round(ours["peak_memory_mb"] / theirs["peak_memory_mb"], 3),
    }


def machine(device: str, threads: int) -> dict[str, Any]:
    """Return what the numbers were measured on."""
    import torch

    lines = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.split(":")[1].strip() for line in lines.splitlines() if "model name" in line]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "gpu": torch.cuda.get_device_name() if device.startswith("cuda") else None,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "load_average_before": round(os.getloadavg()[0], 2),
    }


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description="A training step beside TRL's GRPOTrainer")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3, help="timed steps a child")
    parser.add_argument("--tokens", type=int, default=35, help="length of every completion")
    parser.add_argument("--beta", type=float, nargs="+", default=[0.001, 0.0])
    parser.add_argument("--micro-batch", type=int, nargs="+", default=[64, 16])
    parser.add_argument("--pack-tokens", type=int, default=1024)
    parser.add_argument("--trl-python", help="a Python that has TRL and torch")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--document", type=Path)
    return parser.parse_args()


def main() -> None:
    """Measure, print the ratios, write JSON and the document's table."""
    args = arguments()
    report = compare(args)
    text = json.dumps(report, indent=1)
    print(text)
    if args.json is not None:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(text + "\n", "utf-8")
    if args.document is not None:
        write_document(args.document, report)


if __name__ == "__main__":
    main()
