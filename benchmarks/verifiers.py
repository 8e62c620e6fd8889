"""Measure the speed of the verifiers, compared with math-verify.

    python benchmarks/verifiers.py [--items N] [--json FILE]

Throughput is measured on the gold answers of GSM8K test and MATH-500 (PRORL_TEST_DATA), alone and after their worked
solutions. Half of the answers are wrong (a changed number or another item's gold). Our scorer and math-verify run in
one process each, in alternating blocks. For hostile answers see ``verifier_pool.py``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graders.math_verify_alone import grade as math_verify
from tables import machine, save

from prorl_verifiers.math.spec import score

BLOCK = 50
FILES = ("math/gsm8k_test.jsonl.gz", "math/math500.jsonl.gz")


@dataclass(frozen=True)
class Item:
    """A worked solution with a boxed answer, right or wrong."""

    gold: str
    response: str
    right: bool


@dataclass
class Side:
    """One grader's times and errors on the mix."""

    name: str
    grade: Callable[[Item], bool]
    seconds: list[float] = field(default_factory=list)
    false_accepts: int = 0
    false_rejects: int = 0


def mix(data: Path, limit: int | None = None) -> list[Item]:
    """Return the items of both sets in a seeded order; every second answer is wrong."""
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
    """Time both graders on the mix, alternating by block."""
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


def main() -> None:
    """Measure and print; write JSON with ``--json``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--items", type=int, help="use only so many items of the mix")
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    options = parser.parse_args()
    value = os.environ.get("PRORL_TEST_DATA")
    if not value:
        raise SystemExit("set PRORL_TEST_DATA to the folder with the public test data")
    items = mix(Path(value), options.items)
    report: dict[str, Any] = {"machine": machine()}
    alone = [Item(item.gold, item.response.split("\n\n")[-1], item.right) for item in items]
    for name, chosen in (("worked solutions", items), ("answers alone", alone)):
        report[name] = measure_mix(chosen)
        show_mix(name, report[name])
    save(options.json, report)


if __name__ == "__main__":
    main()
