"""Speed of the verifiers: beside math-verify, under hostile answers, and as a server.

    python benchmarks/verifiers.py [--items N] [--json FILE] [--server] [--without mix,hostile]

Throughput: golds of GSM8K test and MATH-500 (PRORL_TEST_DATA), behind their worked solutions and alone,
half of the answers wrong (a changed number or another item's gold), our scorer in one process against
math-verify in one process, block by block in turns. Hostile: answers made to cost a grader its whole limit
go through a warm ``VerifierPool``; none may take longer than the limit and half a second a try, and
afterwards the pool must be as fast as one that saw none, in turns. ``--server`` adds the load test of the
reward service (``verify_server.py``). Leaves out accuracy (``verifier_accuracy.py``).
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graders.math_verify_alone import grade as math_verify

from prorl_verifiers import VerifierPool, WorkerOptions, load_task
from prorl_verifiers.math.spec import score

BLOCK = 50
LIMIT = 3.0
GRACE = 0.5
USUAL = 400
ROUNDS = 15
FILES = ("math/gsm8k_test.jsonl.gz", "math/math500.jsonl.gz")
HOSTILE = {
    "power tower of two": r"2^{2^{40}}",
    "power tower of ten": r"10^{10^{10}}",
    "sum to a billion": r"\sum_{k=1}^{1000000000} k",
    "9^9^9": r"9^{9^{9}}",
    "factorial of a factorial": r"((10^9)!)!",
    "400 brackets": "(" * 400 + "1" + ")" * 400,
    "4,000 fractions": r"\frac{1}{" * 4000 + "1" + "}" * 4000,
    "200,000 digits": "7" * 200_000,
    "40,000 digits": "7" * 40_000,
    "a huge expansion": r"(x+y+z+w+1)^{5000}-(x+y+z+w)^{4999}",
    "an integral": r"\int_0^1 \sin(x^{x^{x}})\ln(x)^{99}e^{x^2}\,dx",
    "a long sum": "+".join(rf"\sqrt{{{n}}}" for n in range(2, 900)),
}
MODES = {"decided": ("4", r"\frac{x+1}{\sqrt{2}}"), "math-verify": ("4",)}
"""Mode -> golds: the default, and math-verify through our pool, where the limit is what ends an answer."""


@dataclass(frozen=True)
class Item:
    """A worked solution with its answer in a box, right or wrong."""

    gold: str
    response: str
    right: bool


@dataclass
class Side:
    """What one grader did on the mix."""

    name: str
    grade: Callable[[Item], bool]
    seconds: list[float] = field(default_factory=list)
    false_accepts: int = 0
    false_rejects: int = 0


def mix(data: Path, limit: int | None = None) -> list[Item]:
    """Return the items of both sets in a seeded order; every second one is wrong."""
    solved = list(_solved(data))
    draw = random.Random("prorl verifier mix")
    draw.shuffle(solved)
    items = []
    for number, (gold, text) in enumerate(solved[:limit]):
        answer = gold if number % 2 else _wrong(gold, solved, draw)
        box = f"\n\nThe final answer is $\\boxed{{{answer}}}$."
        items.append(Item(gold, text + box, bool(number % 2)))
    return items


def _solved(data: Path) -> Iterator[tuple[str, str]]:
    """Yield (gold, worked solution without its final answer's box)."""
    for name in FILES:
        with gzip.open(data / name, "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if "solution" in row:
                    yield row["answer"], row["solution"].replace("\\boxed", "")
                else:
                    text, _, gold = row["answer"].partition("####")
                    yield gold.strip(), text.strip()


def _wrong(gold: str, solved: list[tuple[str, str]], draw: random.Random) -> str:
    plain = gold.replace(",", "")
    if plain.lstrip("-").isdigit() and draw.random() < 0.5:
        return str(int(plain) + draw.choice((-10, -1, 1, 2, 10)))
    while True:
        other = draw.choice(solved)[0]
        if other.replace(" ", "").replace(",", "") != gold.replace(" ", "").replace(",", ""):
            return other


def ours(item: Item) -> bool:
    """Score with our math verifier in this process."""
    return score(item.response, {"answer": item.gold}).reward == 1.0


def measure_mix(items: list[Item]) -> dict[str, Any]:
    """Time both graders on the mix, block by block in turns."""
    sides = [
        Side("prorl", ours),
        Side("math-verify", lambda item: math_verify(item.gold, item.response)),
    ]
    warm = Item(r"\frac{x+1}{\sqrt{2}}", r"\boxed{\frac{\sqrt{2}x+\sqrt{2}}{2}}", True)
    for side in sides:
        side.grade(warm)
    for start in range(0, len(items), BLOCK):
        for side in sides:
            for item in items[start : start + BLOCK]:
                started = time.perf_counter()
                accepted = side.grade(item)
                side.seconds.append(time.perf_counter() - started)
                side.false_accepts += accepted and not item.right
                side.false_rejects += item.right and not accepted
    found: dict[str, Any] = {side.name: _figures(side) for side in sides}
    found["ratio"] = found["prorl"]["per_second"] / found["math-verify"]["per_second"]
    return found


def _figures(side: Side) -> dict[str, Any]:
    ordered = sorted(side.seconds)
    return {
        "items": len(ordered),
        "per_second": len(ordered) / sum(ordered),
        "p50_ms": statistics.median(ordered) * 1000,
        "p99_ms": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] * 1000,
        "false_accepts": side.false_accepts,
        "false_rejects": side.false_rejects,
    }


def measure_hostile(items: list[Item]) -> dict[str, Any]:
    """Send hostile answers through a pool; time each, then the pool beside one that saw none."""
    usual = [(item.response, load_task("math", {"answer": item.gold})) for item in items[:USUAL]]
    rows: list[dict[str, Any]] = []
    with (
        VerifierPool(
            1, timeout_seconds=LIMIT, worker_options=WorkerOptions(warm=("math",))
        ) as control,
        VerifierPool(
            1, timeout_seconds=LIMIT, worker_options=WorkerOptions(warm=("math",))
        ) as pool,
    ):
        for one in (control, pool):
            one.wait_until_warm()
            one.score(usual)
        before = [(_rate(pool, usual), _rate(control, usual)) for _ in range(ROUNDS)]
        for mode, golds in MODES.items():
            for name, answer in HOSTILE.items():
                rows += [_hostile(pool, mode, name, answer, gold) for gold in golds]
        rates = [(_rate(pool, usual), _rate(control, usual)) for _ in range(ROUNDS)]
    return {
        "rows": rows,
        "worst_over": max(float(row["over"]) for row in rows),
        "after": statistics.median(one for one, _ in rates),
        "control": statistics.median(other for _, other in rates),
        "before": _beside(before),
        "recovery": _beside(rates),
    }


def _beside(rates: list[tuple[float, float]]) -> float:
    """Return the ratio of two pools measured in turns: median against median."""
    return statistics.median(one for one, _ in rates) / statistics.median(two for _, two in rates)


def _hostile(pool: VerifierPool, mode: str, name: str, answer: str, gold: str) -> dict[str, Any]:
    task = load_task("math", {"answer": gold, "mode": mode})
    started = time.perf_counter()
    verdict = pool.score([(f"\\boxed{{{answer}}}", task)])[0]
    seconds = time.perf_counter() - started
    tries = 2 if verdict.status in ("timeout", "infra_error") else 1
    return {
        "mode": mode,
        "answer": name,
        "gold": gold,
        "seconds": seconds,
        "tries": tries,
        "over": seconds / tries - LIMIT,
        "status": verdict.status,
        "reward": verdict.reward,
    }


def _rate(pool: VerifierPool, usual: list[Any]) -> float:
    started = time.perf_counter()
    pool.score(usual)
    return len(usual) / (time.perf_counter() - started)


def show_mix(title: str, found: dict[str, Any]) -> None:
    """Print the throughput."""
    print(f"\n{title}, half of them wrong, one process each")
    print(
        f"{'':12} {'a second':>9} {'p50 ms':>8} {'p99 ms':>8} {'false acc.':>10} {'false rej.':>10}"
    )
    for name in ("prorl", "math-verify"):
        one = found[name]
        print(
            f"{name:12} {one['per_second']:9.1f} {one['p50_ms']:8.2f} {one['p99_ms']:8.2f}"
            f" {one['false_accepts']:10} {one['false_rejects']:10}"
        )
    met = "met" if found["ratio"] >= 4 else "missed"
    print(f"prorl / math-verify: {found['ratio']:.1f} (goal: at least 4)  {met}")


def show_hostile(found: dict[str, Any]) -> None:
    """Print the hostile answers."""
    print(f"\nhostile answers, limit {LIMIT:g} s a try")
    for row in found["rows"]:
        print(
            f"  {row['mode']:12} {row['answer']:26} gold {row['gold'][:14]:14} {row['seconds']:6.2f} s"
            f"  {row['tries']} tries  {row['status']:11} reward {row['reward']}"
        )
    met = "met" if found["worst_over"] <= GRACE else "missed"
    print(
        f"longest try over the limit: {found['worst_over']:.2f} s (goal: at most {GRACE:g})  {met}"
    )
    met = "met" if found["recovery"] >= 0.9 * found["before"] else "missed"
    print(
        f"items a second after them {found['after']:.0f}, in a pool that saw none"
        f" {found['control']:.0f}: ratio {found['recovery']:.2f}, {found['before']:.2f} before them"
        f" (goal: at least 0.9 of that)  {met}"
    )
    wrong = [row["answer"] for row in found["rows"] if row["reward"] != 0.0]
    print(f"hostile answers without reward 0: {', '.join(wrong) or 'none'}")


def main() -> None:
    """Measure, print, and write JSON if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--items", type=int, help="use only so many items of the mix")
    parser.add_argument("--json", help="write everything measured to this file")
    parser.add_argument("--without", default="", help="parts to leave out, by comma")
    parser.add_argument("--server", action="store_true", help="run verify_server.py too")
    options = parser.parse_args()
    value = os.environ.get("PRORL_TEST_DATA")
    if not value:
        raise SystemExit("set PRORL_TEST_DATA to the folder with the public test data")
    items = mix(Path(value), options.items)
    without = set(options.without.split(","))
    report: dict[str, Any] = {
        "processors": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }
    if "mix" not in without:
        alone = [Item(item.gold, item.response.split("\n\n")[-1], item.right) for item in items]
        for name, chosen in (("worked solutions", items), ("answers alone", alone)):
            report[name] = measure_mix(chosen)
            show_mix(name, report[name])
    if "hostile" not in without:
        report["hostile"] = measure_hostile(items)
        show_hostile(report["hostile"])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
    if options.server:
        try:
            server = importlib.import_module("verify_server")
        except ModuleNotFoundError as error:
            raise SystemExit(f"the load test of the server cannot run: {error}") from error
        sys.argv = [str(server.__file__)]  # it reads options of its own: here its defaults
        sys.exit(server.main())


if __name__ == "__main__":
    main()
