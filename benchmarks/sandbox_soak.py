"""Endurance of a sandbox: many mixed runs, and what is left of them on the machine.

    python benchmarks/sandbox_soak.py [--runs 100000] [--backend local] [--json FILE]

One run in twenty is hostile (fork bomb, memory, endless output, descriptors, sleep, kill, orphans,
...). Processes, mounts, control groups, this process's descriptors and memory are counted before
the sandbox is opened, after a warm-up, at the end, and after it is closed; every honest answer is
checked. Exits 1 when an answer was wrong or anything has grown.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from prorl_sandbox import Limits, Outcome, Program, Sandbox, open_sandbox

HONEST = Limits(wall_seconds=60.0, cpu_seconds=20.0)
SHORT = Limits(
    wall_seconds=0.3, cpu_seconds=0.3, memory_mb=64, output_kb=64, processes=8, scratch_mb=64
)
HOSTILE: dict[str, tuple[str, set[str]]] = {
    "fork bomb": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        {"timeout"},
    ),
    "memory": ("x = []\nwhile True: x.append(bytearray(10**6))", {"memory", "timeout"}),
    "memory of many": (
        "import os, time\nfor _ in range(3): os.fork()\nx = bytearray(5 * 10**7)\ntime.sleep(9)",
        {"memory", "timeout", "runtime-error"},
    ),
    "endless output": ("while True: print('y' * 999)", {"output-limit"}),
    "descriptors": ("x = []\nwhile True: x.append(open('/dev/null'))", {"runtime-error"}),
    "sleep": ("import time\ntime.sleep(99)", {"timeout"}),
    "kills all": ("import os\nos.kill(-1, 9)\nos._exit(7)", {"runtime-error", "wrong-exit"}),
    "null pointer": ("import ctypes\nctypes.string_at(0)", {"runtime-error"}),
    "orphan": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(99)\nos._exit(3)",
        {"wrong-exit"},
    ),
    "full scratch": (
        "for i in range(99): open(str(i), 'wb').write(b'x' * 10**6)",
        {"runtime-error", "memory", "timeout"},
    ),
    "forged answer": (
        "import os\nos.write(3, b'\\x00\\x00\\x00\\x02{}')",
        {"protocol-error", "ok"},
    ),
    "busy": ("while True: pass", {"timeout"}),
}


def counts(templates: set[int]) -> dict[str, int]:
    """Count what a leak would raise; ``templates``: process numbers of the sandbox's template.

    Processes are those below this one and those in the template's control groups; orphans stay
    below the template while it lives.
    """
    names = [f"prorl-{pid}-" for pid in templates]
    groups = [
        path
        for path in Path("/sys/fs/cgroup").rglob("prorl-*")
        if path.is_dir() and any(path.name.startswith(name) for name in names)
    ]
    status = Path("/proc/self/status").read_text(encoding="ascii")
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return {
        "processes": len(_below(os.getpid()) | _in_groups(names)),
        "mounts": len(Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()),
        "control groups": sum(1 + sum(p.is_dir() for p in g.iterdir()) for g in groups),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "resident MiB": int(resident.split()[1]) // 1024,
    }


def _below(process: int) -> set[int]:
    """Return the numbers of all processes below ``process``."""
    found: set[int] = set()
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has just ended
            for child in map(int, path.read_text(encoding="ascii").split()):
                found |= {child} | _below(child)
    return found


def _in_groups(names: list[str]) -> set[int]:
    """Return the numbers of all processes in control groups of these names."""
    found: set[int] = set()
    for path in Path("/proc").glob("[0-9]*/cgroup"):
        with contextlib.suppress(OSError):  # it has just ended
            text = path.read_text(encoding="utf-8")
            if any(f"/{name}" in text for name in names):
                found.add(int(path.parent.name))
    return found


def one_run(sandbox: Sandbox, number: int) -> tuple[str, str]:
    """Make run ``number``; return (kind, what was wrong, '' for nothing)."""
    rng = random.Random(number)
    if number % 20 == 0:
        name = rng.choice(sorted(HOSTILE))
        source, statuses = HOSTILE[name]
        outcome = sandbox.run(Program(source), SHORT)
        fine = outcome.status in statuses
        return f"{name}: {outcome.status}", "" if fine else f"{name}: {_brief(outcome)}"
    a, b = rng.randrange(10**6), rng.randrange(10**6)
    if number % 2:
        source = "import collections\nprint(sum(map(int, input().split())))"
        outcome = sandbox.run(Program(source, stdin=f"{a} {b}\n"), HONEST)
        fine = outcome.stdout == f"{a + b}\n"
    else:
        source = "def f(x, y):\n    return {'sum': [x + y], 'pair': (x, y)}"
        outcome = sandbox.run(Program(source, call="f", args=(a, b)), HONEST)
        fine = outcome.value == {"sum": [a + b], "pair": (a, b)}
    return f"honest: {outcome.status}", "" if fine else f"honest: {_brief(outcome)}"


def _brief(outcome: Outcome) -> str:
    return f"{outcome.status} {outcome.stdout[:80]!r} {outcome.stderr[-200:]!r}"


def soak(sandbox: Sandbox, first: int, runs: int, threads: int) -> tuple[Counter[str], list[str]]:
    """Make the runs from several threads, a few hundred queued at most; report now and then."""
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    started = last = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        for start in range(first, first + runs, 500):
            numbers = range(start, min(start + 500, first + runs))
            for kind, fault in pool.map(lambda n: one_run(sandbox, n), numbers):
                seen[kind] += 1
                if fault:
                    wrong.append(fault)
            if time.monotonic() > last + 10:
                last = time.monotonic()
                rate = (numbers[-1] + 1 - first) / (last - started)
                print(
                    f"{numbers[-1] + 1 - first} runs, {rate:.0f}/s, {len(wrong)} wrong", flush=True
                )
    return seen, wrong


def main() -> None:
    """Soak, print the counts, and write JSON if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--backend", default="local")
    parser.add_argument("--json", help="write counts and outcomes to this file")
    options = parser.parse_args()
    stages: dict[str, dict[str, int]] = {"before": counts(set())}
    sandbox = open_sandbox(options.backend)
    soak(sandbox, 0, 2000, options.threads)
    templates = _below(os.getpid())
    stages["after a warm-up of 2000"] = counts(templates)
    started = time.monotonic()
    seen, wrong = soak(sandbox, 2000, options.runs, options.threads)
    seconds = time.monotonic() - started
    time.sleep(1)
    stages[f"after {options.runs} more"] = counts(templates)
    sandbox.close()
    time.sleep(1)
    stages["after closing"] = counts(templates)
    report: dict[str, Any] = {
        "isolation": sandbox.isolation,
        "runs": options.runs,
        "seconds": seconds,
        "per_second": options.runs / seconds,
        "counts": stages,
        "outcomes": dict(sorted(seen.items())),
        "wrong": wrong[:100],
    }
    show(report)
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2), encoding="utf-8")
    _, warm, end, closed = stages.values()
    grown = [k for k in warm if end[k] > warm[k] + (32 if k == "resident MiB" else 0)]
    left = [k for k in ("processes", "mounts", "control groups") if closed[k] > stages["before"][k]]
    print(f"wrong answers: {len(wrong)}; grown: {grown or 'nothing'}; left: {left or 'nothing'}")
    sys.exit(1 if wrong or grown or left else 0)


def show(report: dict[str, Any]) -> None:
    """Print the report."""
    print(f"{report['runs']} runs in {report['seconds']:.0f} s: {report['per_second']:.0f}/s")
    print(f"isolation: {report['isolation']}")
    for stage, values in report["counts"].items():
        print(f"{stage:24}" + "  ".join(f"{name} {value}" for name, value in values.items()))
    for kind, number in report["outcomes"].items():
        print(f"  {number:7} {kind}")


if __name__ == "__main__":
    main()
