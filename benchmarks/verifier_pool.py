"""Measure the verifier pool's costs and its behaviour under attack.

    python benchmarks/verifier_pool.py [--items N] [--json FILE] [--without "beside code,starting"]

Measures the overhead of a verdict over calling the scorer in this process, the start of workers (a fork of a process
with loaded verifiers, or a new interpreter), the memory of an idle worker, hostile answers (overrun of the time limit,
seconds until the next verdict), and the wait of math items behind slow programs. Contenders alternate, so that other
load affects all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prorl_verifiers import VERIFIERS, Task, VerifierPool, WorkerOptions, load_task
from prorl_verifiers.libraries import load_with
from prorl_verifiers.pool import worker as pool_worker
from prorl_verifiers.pool.workers import WorkerTemplate

FOUR = Task("math", {"answer": "4"})
RIGHT = (r"\boxed{4}", FOUR)
HOSTILE = (
    r"\boxed{\frac{x}{9^{9^{9}}}+\sum_{k=1}^{10^{9}} k^{k}}",
    Task("math", {"answer": "x+1", "mode": "math-verify"}),
)
SLOW_PROGRAM = "```python\nimport time\ndef f():\n    time.sleep(0.5)\n    return 1\n```"
LONG_TEXT = "A sentence of some words stands here. " * 26_316
"""A million characters."""
ROUNDS = 5
LIMIT = 1.0


def timed(work: Callable[[], object]) -> float:
    """Return the wall seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def overhead(items: int) -> dict[str, Any]:
    """Return the microseconds per trivial verdict in this process and in pools of one and two workers."""
    request = {"verifier": "math", "reference": FOUR.reference, "response": RIGHT[0]}
    times: dict[str, list[float]] = {"in process": [], "1 worker": [], "2 workers": []}
    singles: list[float] = []
    pool_worker.load_specs()
    load_with(_no_load)
    with VerifierPool(1) as one, VerifierPool(2) as two:
        for pool in (one, two):
            pool.score([RIGHT] * 100)
        one.wait_until_warm()
        two.wait_until_warm()
        for _ in range(ROUNDS):
            times["in process"].append(
                timed(lambda: [pool_worker.answer(request) for _ in range(items)])
            )
            times["1 worker"].append(timed(lambda: one.score([RIGHT] * items)))
            times["2 workers"].append(timed(lambda: two.score([RIGHT] * items)))
            singles += [timed(lambda: one.score([RIGHT])) for _ in range(50)]
        host = time.process_time()
        one.score([RIGHT] * items)
        host = time.process_time() - host
    result = {name: statistics.median(rounds) / items * 1e6 for name, rounds in times.items()}
    found: dict[str, Any] = {f"{name}, us a verdict": value for name, value in result.items()}
    found["1 worker, host processor us a verdict"] = host / items * 1e6
    found["one item alone with its canaries, us (p50)"] = statistics.median(singles) * 1e6
    for name in ("1 worker", "2 workers"):
        found[f"{name}, verdicts/s"] = 1e6 / result[name]
        found[f"{name} / in process"] = result[name] / result["in process"]
    return found


def _no_load(module: str) -> None:
    raise AssertionError(f"a trivial item must not load {module}")


def starting() -> dict[str, Any]:
    """Return the seconds to start the process that workers are forked from, and to fork a worker, and their memory in
    MB.
    """
    found: dict[str, Any] = {}
    names = [name for name in VERIFIERS.names() if VERIFIERS.get(name).score is not None]
    for verifiers in ((), *((name,) for name in names), tuple(names)):
        name = "+".join(verifiers) or "scorers only"
        started = time.perf_counter()
        template = WorkerTemplate(verifiers).wait_until_ready()
        found[f"{name}: new process, s"] = time.perf_counter() - started
        forks, ends = [], []
        for _ in range(9):
            started = time.perf_counter()
            worker = template.worker()
            forks.append(time.perf_counter() - started)
            ends.append(timed(worker.kill))
        worker = template.worker()
        found[f"{name}: fork of a worker, ms (p50)"] = statistics.median(forks) * 1e3
        found[f"{name}: end of a worker, ms (p50)"] = statistics.median(ends) * 1e3
        found[f"{name}: template, MB resident"] = _memory(template.pid, "Rss")
        found[f"{name}: idle worker, MB of its own"] = _memory(worker.pid, "Private_Dirty")
        worker.kill()
        template.kill()
    return found


def _memory(pid: int, field: str) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def hostile() -> dict[str, Any]:
    """Return the overrun of the time limit per try, and the seconds until the same thread's next verdict."""
    overruns, waits, usual = [], [], []
    with VerifierPool(
        1, timeout_seconds=LIMIT, worker_options=WorkerOptions(warm=("math",))
    ) as pool:
        pool.score([RIGHT])
        pool.wait_until_warm()
        for _ in range(ROUNDS):
            usual.append(timed(lambda: pool.score([RIGHT])))
            verdict = pool.score([HOSTILE])[0]
            if verdict.status != "timeout":
                return {"hostile answer was decided": verdict.reason}
            overruns.append((verdict.seconds - 2 * LIMIT) / 2)
            waits.append(timed(lambda: pool.score([RIGHT])))
        before = timed(lambda: pool.score([RIGHT] * 2000))
        pool.score([HOSTILE])
        after = timed(lambda: pool.score([RIGHT] * 2000))
    return {
        "over the limit a try, s (worst)": max(overruns),
        "first verdict after a kill, ms (p50)": statistics.median(waits) * 1e3,
        "first verdict after a kill, ms (worst)": max(waits) * 1e3,
        "the same without a kill, ms (p50)": statistics.median(usual) * 1e3,
        "throughput after / before hostile": before / after,
    }


def beside_code() -> dict[str, Any]:
    """Return the milliseconds that single math items wait while slow programs occupy every worker."""
    task = load_task("code", {"tests": [{"call": "f", "args": [], "expected": 1}]})
    with VerifierPool(2) as pool:
        pool.score([(SLOW_PROGRAM, task), RIGHT])
        pool.wait_until_warm()
        alone = [timed(lambda: pool.score([RIGHT])) * 1e3 for _ in range(20)]
        programs = [pool.submit(SLOW_PROGRAM, task) for _ in range(8)]
        while pool.stats.busy < 2:
            time.sleep(0.01)
        beside = []
        while not programs[-1].done():
            beside.append(timed(lambda: pool.score([RIGHT])) * 1e3)
            time.sleep(0.02)
    return {
        "math item alone, ms (p50)": statistics.median(alone),
        "math item beside slow programs, ms (p50)": statistics.median(beside),
        "math item beside slow programs, ms (worst)": max(beside),
    }


def beside_long_texts(items: int) -> dict[str, Any]:
    """Return the rate of small items with and without two texts of 1 MB in the pool."""
    words = _instruction("length_constraints:number_words", num_words=3, relation="at least")
    dear = _instruction("length_constraints:number_sentences", num_sentences=3, relation="at least")
    stream = [RIGHT, ("One two three four.", words)] * (items // 2)
    alone, beside, left = [], [], 0
    with VerifierPool(2, timeout_seconds=60) as pool:
        pool.score([*stream[:200], (LONG_TEXT, dear)])
        pool.wait_until_warm()
        pool.score(stream)
        for _ in range(ROUNDS):
            alone.append(timed(lambda: pool.score(stream)))
            slow = [pool.submit(LONG_TEXT, dear) for _ in range(2)]
            time.sleep(0.2)  # wait until workers have taken the texts
            beside.append(timed(lambda: pool.score(stream)))
            left += sum(not future.done() for future in slow)
            for future in slow:
                future.result()
        cpu = pool.stats.cpu_seconds["instruction"]
    first, second = statistics.median(alone), statistics.median(beside)
    return {
        "small items alone, a second": len(stream) / first,
        "small items beside two texts of 1 MB, a second": len(stream) / second,
        "beside / alone": first / second,
        "texts of 1 MB still in work when the small items were done": f"{left} of {2 * ROUNDS}",
        "processor time of a text of 1 MB, s (about)": cpu / (2 * ROUNDS + 1),
    }


def _instruction(name: str, **arguments: object) -> Task:
    reference = {"instruction_id_list": [name], "kwargs": [arguments], "mode": "reference"}
    return load_task("instruction", reference)


def machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "processors": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
    }


def main() -> None:
    """Measure and print a line per figure; write JSON with ``--json``."""
    parser = argparse.ArgumentParser(description="Measure the verifier pool.")
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--without", default="", help="parts to leave out, with commas")
    options = parser.parse_args()
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "machine": machine,
        "overhead": lambda: overhead(options.items),
        "hostile": hostile,
        "beside code": beside_code,
        "beside long texts": lambda: beside_long_texts(options.items),
        "starting": starting,
    }
    result = {}
    for part, measure in parts.items():
        if part in options.without.split(","):
            continue
        result[part] = measure()
        print(part)
        for name, value in result[part].items():
            shown = f"{value:.4g}" if isinstance(value, float) else value
            print(f"  {name}: {shown}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
