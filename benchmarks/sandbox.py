"""Measure the speed of the sandbox's backends as ratios to what people use instead.

    python benchmarks/sandbox.py [--rounds N] [--json FILE] [--without docker-warm,docker-run]

Every contender runs the same small program (two numbers in, their sum out). They alternate, so that other load affects
all alike. Each has three figures: the latency of consecutive runs (p50, p99), the latency of a run after a pause, and
runs per second from 2, 4 and 16 threads. Our backends also run 20 tests of one submission together (``run_cases``),
compared with 20 consecutive runs. Contenders that are not installed are left out and named. For hostile programs see
``prorl sandbox doctor --attack all``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from prorl_common import ProrlError
from prorl_sandbox import Limits, Program, Sandbox, Stdin, open_sandbox
from prorl_sandbox.environments.store import interpreter

SOURCE = "print(sum(map(int, input().split())))"
STDIN = "20 22\n"
NUMPY_SOURCE = "import numpy as np\nprint(np.array(input().split(), dtype=int).sum())"
LIMITS = Limits(wall_seconds=30.0)
IMAGE = "prorl-sandbox"
THREADS = (2, 4, 16)
TESTS = 20
BEFORE = 20.1 / 5.1
"""Number of local runs in the time of one run of bwrap, before tests were run together (6088f9b)."""
GOALS = (
    ("local p50 / bwrap p50", "at most", 0.15),
    ("tests of one submission in the time of one bwrap", "at least", 3 * BEFORE),
    ("docker-warm runs/s / docker-run runs/s", "at least", 40.0),
    ("local p50 / fork p50", "at most", 4.0),
    ("scientific p50 / local p50", "at most", 1.5),
    ("scientific with numpy p50 / local p50", "at most", 1.5),
)


@dataclass
class Contender:
    """One way to run a program, with its measurements in milliseconds."""

    name: str
    what: str
    run: Callable[[], str]
    each_round: int
    sandbox: Sandbox | None = None
    serial: list[float] = field(default_factory=list)
    paused: list[float] = field(default_factory=list)
    per_second: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    together: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)


def in_sandbox(
    sandbox: Sandbox, source: str = SOURCE, environment: str = "stdlib"
) -> Callable[[], str]:
    """Return a function that runs the program in ``sandbox``."""
    program = Program(source, stdin=STDIN, environment=environment)

    def run() -> str:
        outcome = sandbox.run(program, LIMITS)
        return outcome.stdout if outcome.status == "ok" else f"{outcome}"

    return run


def as_command(*command: str) -> Callable[[], str]:
    """Return a function that runs ``command`` with the program as its last argument."""

    def run() -> str:
        done = subprocess.run(
            [*command, "-c", SOURCE], input=STDIN, capture_output=True, text=True, check=False
        )
        return done.stdout or done.stderr

    return run


def _forked(sink: Any) -> None:
    import io

    written = io.StringIO()
    sys.stdin = io.StringIO(STDIN)
    with contextlib.redirect_stdout(written):
        exec(compile(SOURCE, "program.py", "exec"), {"__name__": "__main__"})  # noqa: S102 - our own
    sink.send(written.getvalue())
    sink.close()


def in_fork() -> str:
    """Run the program in a fork of this process, without isolation."""
    context = multiprocessing.get_context("fork")
    source, sink = context.Pipe(duplex=False)
    process = context.Process(target=_forked, args=(sink,))
    process.start()
    sink.close()
    text: str = source.recv()
    process.join()
    source.close()
    return text


def contenders(stack: contextlib.ExitStack, without: set[str]) -> tuple[list[Contender], list[str]]:
    """Return the contenders that run here, and a line for each that cannot."""
    python = interpreter()  # the real Python, since a version manager's wrapper is slower
    found: list[Contender] = []
    absent: list[str] = []
    for backend, name in (("local", "local"), ("docker", "docker-warm")):
        if name in without:
            continue
        try:
            sandbox = open_sandbox(backend)
        except ProrlError as error:
            absent.append(f"{name}: {error}")
            continue
        stack.callback(sandbox.close)
        found.append(Contender(name, sandbox.isolation, in_sandbox(sandbox), 100, sandbox))
        try:
            sandbox.check_environment("scientific")
        except ProrlError as error:
            absent.append(f"{name} with packages: {error}")
            continue
        packages = in_sandbox(sandbox, environment="scientific")
        numpy = in_sandbox(sandbox, NUMPY_SOURCE, "scientific")
        with_them = "scientific" if backend == "local" else "docker-scientific"
        found.append(Contender(with_them, "the same, environment scientific", packages, 100))
        found.append(Contender(f"{with_them}+np", "a program that imports numpy", numpy, 100))
    flags = ("-I", "-S")
    if shutil.which("bwrap"):
        walls = ("bwrap", "--unshare-all", "--ro-bind", "/", "/")
        run = as_command(*walls, python, *flags)
        found.append(Contender("bwrap", "namespaces, a new interpreter", run, 40))
    else:
        absent.append("bwrap: not installed")
    found.append(Contender("subprocess", "a new interpreter", as_command(python, *flags), 40))
    found.append(Contender("fork", "multiprocessing fork, no isolation", in_fork, 100))
    if "docker-run" not in without and any(c.name == "docker-warm" for c in found):
        start = ("docker", "run", "--rm", "-i", "--network", "none", IMAGE, "python3")
        found.append(Contender("docker-run", "a new container", as_command(*start, *flags), 4))
    return found, absent


def measure(one: Contender) -> None:
    """Measure one round: consecutive runs, runs after a pause, and runs from several threads."""
    for _ in range(one.each_round):
        one.serial.append(_timed(one))
    for _ in range(max(2, one.each_round // 5)):
        time.sleep(0.03)
        one.paused.append(_timed(one))
    if one.sandbox is not None:
        for _ in range(max(1, one.each_round // TESTS)):
            one.together.append(_timed_tests(one, one.sandbox) / TESTS)
            one.apart.append(sum(_timed(one) for _ in range(TESTS)) / TESTS)
    if one.name == "fork":  # do not fork a process that has threads
        return
    for count in THREADS:
        started = time.perf_counter()
        with ThreadPoolExecutor(count) as threads:
            for text in threads.map(lambda _: one.run(), range(2 * one.each_round)):
                _check(one, text)
        per_second = 2 * one.each_round / (time.perf_counter() - started)
        one.per_second[count].append(per_second)


def _timed_tests(one: Contender, sandbox: Sandbox) -> float:
    started = time.perf_counter()
    outcomes = sandbox.run_cases(Program(SOURCE), [Stdin(STDIN)] * TESTS, LIMITS)
    texts = [outcome.stdout for outcome in outcomes]
    seconds = time.perf_counter() - started
    for text in texts:
        _check(one, text)
    return seconds * 1000


def _timed(one: Contender) -> float:
    started = time.perf_counter()
    text = one.run()
    seconds = time.perf_counter() - started
    _check(one, text)
    return seconds * 1000


def _check(one: Contender, text: str) -> None:
    if text.strip() != "42":
        raise SystemExit(f"{one.name} did not run the program: {text}")


def rows(found: list[Contender]) -> Iterator[dict[str, Any]]:
    """Yield each contender's measurements, with ratios to the local backend."""
    for one in found:
        ordered = sorted(one.serial)
        yield {
            "name": one.name,
            "what": one.what,
            "runs": len(ordered),
            "p50_ms": statistics.median(ordered),
            "p99_ms": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
            "after_pause_p50_ms": statistics.median(one.paused),
            "per_second": {n: statistics.median(v) for n, v in one.per_second.items()},
            "most_per_second": max(
                [
                    1000 / statistics.median(ordered),
                    *map(statistics.median, one.per_second.values()),
                ]
            ),
            "test_together_ms": statistics.median(one.together) if one.together else None,
            "test_apart_ms": statistics.median(one.apart) if one.apart else None,
        }


def ratios(measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each goal with its value, or None if a contender is missing."""
    by = {row["name"]: row for row in measured}
    values = {
        "local p50 / bwrap p50": _ratio(by, "local", "bwrap", "p50_ms"),
        "local p50 after a pause / bwrap p50 after a pause": _ratio(
            by, "local", "bwrap", "after_pause_p50_ms"
        ),
        "local p50 / fork p50": _ratio(by, "local", "fork", "p50_ms"),
        "tests of one submission in the time of one bwrap": _ratio(
            by, "bwrap", "local", "p50_ms", "test_together_ms"
        ),
        "tests/s of one submission together / apart": _ratio(
            by, "local", "local", "test_apart_ms", "test_together_ms"
        ),
        "docker-warm tests/s together / apart": _ratio(
            by, "docker-warm", "docker-warm", "test_apart_ms", "test_together_ms"
        ),
        "scientific p50 / local p50": _ratio(by, "scientific", "local", "p50_ms"),
        "scientific with numpy p50 / local p50": _ratio(by, "scientific+np", "local", "p50_ms"),
        "docker scientific with numpy p50 / docker-warm p50": _ratio(
            by, "docker-scientific+np", "docker-warm", "p50_ms"
        ),
        "local runs/s / subprocess runs/s": _ratio(by, "local", "subprocess", "most_per_second"),
        "docker-warm runs/s / docker-run runs/s": _ratio(
            by, "docker-warm", "docker-run", "most_per_second"
        ),
    }
    goals = {name: (sense, goal) for name, sense, goal in GOALS}
    found = []
    for name, value in values.items():
        sense, goal = goals.get(name, ("", None))
        met = None
        if goal is not None and value is not None:
            met = value <= goal if sense == "at most" else value >= goal
        found.append({"name": name, "value": value, "goal": goal, "sense": sense, "met": met})
    return found


def _ratio(
    by: dict[str, Any], above: str, below: str, figure: str, other: str | None = None
) -> float | None:
    if above not in by or below not in by:
        return None
    return float(by[above][figure] / by[below][other or figure])


def show(measured: list[dict[str, Any]], compared: list[dict[str, Any]], absent: list[str]) -> None:
    """Print the tables."""
    counts = "".join(f"{f'{count} threads':>11}" for count in THREADS)
    print(f"{'':20} {'p50 ms':>8} {'p99 ms':>8} {'paused':>8}  runs/s:{counts}  what")
    for row in measured:
        figures = f"{row['p50_ms']:8.2f} {row['p99_ms']:8.2f} {row['after_pause_p50_ms']:8.2f}"
        per_second = "".join(
            f"{row['per_second'].get(count, 1000 / row['p50_ms']):11.1f}" for count in THREADS
        )
        print(f"{row['name']:20} {figures}         {per_second}  {row['what']}")
    for row in measured:
        if row["test_together_ms"] is not None:
            together, apart = row["test_together_ms"], row["test_apart_ms"]
            print(
                f"{row['name']}, a test of {TESTS}: together {together:.2f} ms, apart {apart:.2f} ms"
            )
    print()
    for one in compared:
        value = "not measured" if one["value"] is None else f"{one['value']:.2f}"
        goal = f"  (goal: {one['sense']} {one['goal']:g})" if one["goal"] is not None else ""
        verdict = "" if one["met"] is None else "  met" if one["met"] else "  missed"
        print(f"{one['name']}: {value}{goal}{verdict}")
    for line in absent:
        print(f"left out: {line}")


def main() -> None:
    """Measure and print; write JSON with ``--json``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write everything measured to this file")
    parser.add_argument("--without", default="", help="contenders to leave out, by comma")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        found, absent = contenders(stack, set(options.without.split(",")))
        for one in found:
            _check(one, one.run())
        for _ in range(options.rounds):
            for one in found:
                measure(one)
    measured = list(rows(found))
    compared = ratios(measured)
    show(measured, compared, absent)
    if options.json:
        machine = {
            "processors": len(os.sched_getaffinity(0)),
            "machine": platform.machine(),
            "kernel": platform.release(),
            "python": platform.python_version(),
        }
        report = {"machine": machine, "measured": measured, "ratios": compared, "left_out": absent}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)


if __name__ == "__main__":
    main()
