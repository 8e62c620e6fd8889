"""Compare a training step of this project with one of TRL's GRPOTrainer, alternating in child processes.

    python benchmarks/trainer.py [--rounds N] [--steps N] [--beta B ...] [--dtype bf16 --device cuda]
                                 [--trl-python PATH | --alone] [--json FILE] [--document FILE]

Model, prompts, completions per prompt, completion length, loss settings and threads are the same. The contenders
alternate, so that other load affects all alike. The medians over all rounds are compared, without warm-up steps. TRL's
result is that of its best ``--micro-batch`` size. ``--trl-python`` defaults to ``.venv-trainers/trl``, which
``scripts/trainers.sh trl`` creates.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from tables import machine, markdown, put, save
from trainer_workload import Workload, write_workload

HERE = Path(__file__).resolve().parent
HEAD = (
    "KL coefficient",
    "contender",
    "s per step",
    "CPU s per step",
    "of the limit",
    "sampling, s",
    "rest, s",
    "tokens/s",
    "peak memory, GB",
)


def trl_python(named: str | None) -> str:
    """Return the path of a Python that can import TRL."""
    path = Path(named) if named else HERE.parent / ".venv-trainers" / "trl" / "bin" / "python"
    if not path.is_file():
        raise SystemExit(f"no Python with TRL at {path}: run scripts/trainers.sh trl, or name one")
    return str(path)


def run_child(python: str, script: str, workload: Workload) -> dict[str, Any]:
    """Run one contender on the workload and return its result; exit if it fails."""
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


def rounds_of(
    args: argparse.Namespace, workload: Workload, trl: str | None
) -> list[dict[str, Any]]:
    """Run all contenders alternately, ``args.rounds`` times; return one row per child."""
    overlapped = replace(workload, staleness=1)
    contenders = [
        ("prorl", sys.executable, "trainer_prorl.py", workload),
        ("prorl, overlapped", sys.executable, "trainer_prorl.py", overlapped),
    ]
    for size in args.micro_batch:
        if trl is None:
            break
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
    verdicts = statistics.median(step.get("score_seconds", 0) / step["seconds"] for step in steps)
    gpu = [row["peak_gpu_mb"] for row in rows if row["peak_gpu_mb"] is not None]
    return {
        "contender": rows[0]["contender"],
        "version": rows[0]["version"],
        "beta": rows[0]["beta"],
        "steps": len(steps),
        "step_seconds": round(seconds, 2),
        "step_seconds_range": [round(f(s["seconds"] for s in steps), 2) for f in (min, max)],
        "round_cpu_seconds": [
            statistics.median(s["cpu_seconds"] for s in r["steps"]) for r in rows
        ],
        "cpu_seconds": round(statistics.median(step["cpu_seconds"] for step in steps), 2),
        "generate_seconds": round(generate, 2),
        "rest_seconds": round(rest, 2),
        "verdict_share": round(verdicts, 4),
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
        prompts=args.prompts,
        tokens=args.tokens,
        steps=args.steps,
        pack_tokens=args.pack_tokens,
    )
    trl = None if args.alone else trl_python(args.trl_python)
    results = []
    for beta in args.beta:
        workload = replace(base, beta=beta)
        rows = rounds_of(args, workload, trl)
        names = list(dict.fromkeys(row["contender"] for row in rows))
        found = [summary([r for r in rows if r["contender"] == n], workload) for n in names]
        least = statistics.median(s.get("least_cpu_seconds", 0) for s in rows[0]["steps"])
        results += [r | {"limit_share": round(least / r["cpu_seconds"], 3)} for r in found]
    return {
        "machine": {**machine(), "threads": args.threads, **_torch(device)},
        "model": Path(base.model).name,
        "dtype": args.dtype,
        "prompts": base.prompts,
        "samples": base.samples,
        "tokens": base.tokens,
        "rounds": args.rounds,
        "results": results,
        "ratios": [
            ratio(results, beta, ours)
            for beta in ([] if args.alone else args.beta)
            for ours in ("prorl", "prorl, overlapped")
        ],
    }


def ratio(results: list[dict[str, Any]], beta: float, name: str) -> dict[str, Any]:
    """Return one of this project's medians divided by those of TRL's best micro-batch size."""
    ours = next(r for r in results if (r["beta"], r["contender"]) == (beta, name))
    theirs = best_of(results, beta, "TRL")
    rounds = zip(ours["round_cpu_seconds"], theirs["round_cpu_seconds"], strict=True)
    each = [a / b for a, b in rounds]
    return {
        "contender": name,
        "beta": beta,
        "against": theirs["contender"],
        "cpu_range": [round(f(each), 3) for f in (min, max)],
        "step": round(ours["step_seconds"] / theirs["step_seconds"], 3),
        "cpu": round(ours["cpu_seconds"] / theirs["cpu_seconds"], 3),
        "memory": round(ours["peak_memory_mb"] / theirs["peak_memory_mb"], 3),
    }


def best_of(results: list[dict[str, Any]], beta: float, prefix: str) -> dict[str, Any]:
    """Return the fastest result of the contenders whose name starts with ``prefix``."""
    own = [r for r in results if r["beta"] == beta and r["contender"].startswith(prefix)]
    return min(own, key=lambda r: float(r["step_seconds"]))


def _torch(device: str) -> dict[str, str | None]:
    import torch

    gpu = torch.cuda.get_device_name() if device.startswith("cuda") else None
    return {"gpu": gpu, "torch": torch.__version__}


def text(report: dict[str, Any]) -> str:
    """Return the report as Markdown: machine, table, ratios."""
    m = report["machine"]
    rows = []
    for r in report["results"]:
        name = f"{r['contender']} ({r['version']})" if r["version"] else r["contender"]
        low, high = r["step_seconds_range"]
        limit = f"{r['limit_share']:.0%}" if r["limit_share"] else ""
        rest = "" if "overlapped" in name else f"{r['rest_seconds']:.2f}"
        memory = (r["peak_gpu_mb"] or r["peak_memory_mb"]) / 1024
        step = f"{r['step_seconds']:.2f} ({low:.2f}-{high:.2f})"
        speed = f"{r['tokens_per_second']:.0f}"
        cells = (f"{r['cpu_seconds']:.2f}", limit, f"{r['generate_seconds']:.2f}", rest)
        rows.append((f"{r['beta']:g}", name, step, *cells, speed, f"{memory:.2f}"))
    ratios = [
        f"- KL coefficient {x['beta']:g}, {x['contender']} against {x['against']}: step {x['step']:.2f}x, CPU time "
        f"{x['cpu']:.2f}x ({x['cpu_range'][0]:.2f}-{x['cpu_range'][1]:.2f} over the rounds), peak memory {x['memory']:.2f}x."
        for x in report["ratios"]
    ]
    place = m["gpu"] or f"{m['threads']} cores, {m['cpu']}"
    measured = (
        f"{place}, {report['dtype']}; {report['model']}, torch {m['torch']}; {report['prompts']} prompts x "
        f"{report['samples']} completions of exactly {report['tokens']} tokens; medians of "
        f"{report['results'][0]['steps']} timed steps in {report['rounds']} rounds that alternate; load average before the run "
        f"{m['load_average_before']}."
    )
    return "\n".join([measured, "", markdown(HEAD, rows), "", *ratios])


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description="A training step beside TRL's GRPOTrainer")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="fp32", choices=["fp32", "bf16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3, help="timed steps a child")
    parser.add_argument("--prompts", type=int, default=8, help="prompts a step, of 8 completions")
    parser.add_argument("--tokens", type=int, default=35, help="length of every completion")
    parser.add_argument("--beta", type=float, nargs="+", default=[0.001, 0.0])
    parser.add_argument("--micro-batch", type=int, nargs="+", default=[64, 16])
    parser.add_argument("--pack-tokens", type=int, default=1024)
    parser.add_argument("--trl-python", help="a Python that has TRL and torch")
    parser.add_argument("--alone", action="store_true", help="without TRL")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--document", type=Path)
    return parser.parse_args()


def main() -> None:
    """Measure and print the ratios; write JSON and the document's table if requested."""
    args = arguments()
    report = compare(args)
    print(text(report))
    save(args.json, report)
    if args.document is not None:
        kind = "gpu" if report["machine"]["gpu"] else "cpu"
        put(args.document, f"{kind}-{report['dtype']}", text(report))


if __name__ == "__main__":
    main()
