"""Texts of a megabyte through every verifier and every instruction id: processor seconds of each.

    python benchmarks/verifier_long_texts.py [--ids a,b] [--json FILE] [--show N]

One text at a time in a pool of one worker, whose processor time the pool counts, so that other work on the machine
matters little. Instructions and programs get the megabyte itself, the verifiers that extract an answer get it before a box, within a
box, as a box of the longest length that is read, and as a boxed sentence of the longest length in which a statement is looked for; each reasoning-gym dataset the longest answer. A text above 0.3 s
is measured once more at a quarter of its length: ``growth`` is the exponent of the time in the length (1: linear). Ends with
1 when a text takes over three seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from prorl_common.files import atomic_write_text
from prorl_verifiers import Task, VerifierPool, WorkerOptions, load_task, logic_datasets
from prorl_verifiers.audit.builtin_instruction import example, registered
from prorl_verifiers.audit.generated import logic_groups
from prorl_verifiers.math.reading.answers import MAX_STATED
from prorl_verifiers.types import MAX_ANSWER

MEGABYTE = 1_000_000
LIMIT = 3.0
WORTH_A_SECOND = 0.3
UNITS = {
    "sentences": "The quick keeper of the lighthouse waxed his boots before every journey. ",
    "one word": "a",
    "short words": "a b ",
    "blanks": " ",
    "lines": "a\n",
    "empty lines": "\n",
    "digits": "7",
    "sums": "1+",
    "commas": "1, ",
    "open brackets": "(",
    "braces": "{",
    "backslashes": "\\",
    "stars": "*",
    "stops": ". ",
    "quotes": '"',
    "dashes": "- ",
    "boxes": "\\boxed{",
    "negations": "not ",
    "equations": "x=1=",
    "other scripts": "\u4e0d\u662f\u0661",
    "emoji": "\U0001f469\u200d\U0001f680",
    "combining marks": "e\u0301",
}
GOLDS: dict[str, list[dict[str, Any]]] = {
    "math": [{"answer": "4173"}, {"answer": "\\frac{x+1}{2}"}, {"answer": "\\{13, 17\\}"}],
    "stem": [
        {"answer": "37.4", "unit": "m/s"},
        {"answer": "\\frac{G M m}{r^2}"},
        {"answer": "B", "choices": ["7", "8 m/s", "9", "10 m/s"]},
        {"answer": "(a) 17.3 m (b) 2.9 s"},
        {"answer": "CO2"},
    ],
}
"""Golds of the kinds that are read in different ways."""
Row = dict[str, Any]


LENGTHS = {"longest box": MAX_ANSWER, "longest answer": MAX_ANSWER, "longest sentence": MAX_STATED}
"""Frame -> characters, where they are fewer than a megabyte."""


def cases(ids: Iterable[str]) -> Iterator[tuple[str, Task, str, str]]:
    """Yield (what is checked, task, how the text is put, name of the text)."""
    for verifier, golds in GOLDS.items():
        for gold in golds:
            task = load_task(verifier, gold)
            for name in UNITS:
                for frame in ("before a box", "in a box", "longest box", "longest sentence"):
                    yield f"{verifier} {gold['answer']}", task, frame, name
    for group in logic_groups(logic_datasets(), 1, 0):
        for name in UNITS:
            yield group.name, group.items[0].task, "longest answer", name
    code = load_task("code", {"tests": [{"call": "f", "args": [], "expected": 1}]})
    for name in UNITS:
        yield "code", code, "program", name
    for id_ in ids:
        task = load_task("instruction", {"instruction_id_list": [id_], "kwargs": [example(id_)]})
        for name in UNITS:
            yield id_, task, "whole", name


def written(name: str, frame: str, characters: int) -> str:
    """Return the text of so many characters, put as ``frame`` says."""
    text = (UNITS[name] * (characters // len(UNITS[name]) + 1))[:characters]
    if frame == "whole":
        return text
    if frame == "before a box":
        return f"{text}\n\\boxed{{17}}"
    if frame == "program":
        return f"```python\n{text}\n```"
    if frame == "in a box":
        return f"\\boxed{{{text}}}"
    short = text[: characters - len("so it is ")]
    return (
        f"<answer>{short}</answer>" if frame == "longest answer" else f"\\boxed{{so it is {short}}}"
    )


class Clock:
    """Scores a text alone and says what processor time it took."""

    def __init__(self, pool: VerifierPool) -> None:
        self._pool = pool

    def seconds(self, task: Task, text: str) -> tuple[float, str]:
        """Return (processor seconds, by the clock for programs; the verdict's status)."""
        before = self._pool.stats.cpu_seconds.get(task.verifier, 0.0)
        verdict = self._pool.score([(text, task)])[0]
        used = self._pool.stats.cpu_seconds.get(task.verifier, 0.0) - before
        return (verdict.seconds if task.verifier == "code" else used), verdict.status


def measure(clock: Clock, ids: Iterable[str]) -> list[Row]:
    """Return a row for each case."""
    rows: list[Row] = []
    for what, task, frame, name in cases(ids):
        length = LENGTHS.get(frame, MEGABYTE)
        seconds, status = clock.seconds(task, written(name, frame, length))
        row = {
            "what": what,
            "verifier": task.verifier,
            "frame": frame,
            "text": name,
            "seconds": seconds,
            "status": status,
        }
        if seconds > WORTH_A_SECOND and task.verifier != "code":
            quarter, _ = clock.seconds(task, written(name, frame, length // 4))
            row["growth"] = math.log(seconds / max(quarter, 1e-4), 4)
        rows.append(row)
        if len(rows) % 200 == 0:
            print(f"{len(rows)} texts, load {os.getloadavg()[0]:.1f}", flush=True)
    return rows


def show(rows: list[Row], many: int) -> None:
    """Print the worst text of each verifier, and the slowest of all."""
    for verifier in sorted({row["verifier"] for row in rows}):
        own = [row for row in rows if row["verifier"] == verifier]
        worst = max(own, key=lambda row: float(row["seconds"]))
        ordered = sorted(row["seconds"] for row in own)
        print(
            f"{verifier:12} {len(own):5} texts  p50 {ordered[len(own) // 2]:.3f} s  most {ordered[-1]:.2f} s ({worst['what']}, {worst['frame']}, {worst['text']})"
        )
    for row in sorted(rows, key=lambda row: -float(row["seconds"]))[:many]:
        growth = f"growth {row['growth']:.1f}" if "growth" in row else ""
        print(
            f"  {row['seconds']:6.2f} s  {row['what'][:50]:50} {row['frame']:14} {row['text']:16} {row['status']:10} {growth}"
        )
    failed = [row for row in rows if row["status"] not in ("scored", "unparsable")]
    print(
        f"over {LIMIT:g} s: {sum(row['seconds'] > LIMIT for row in rows)}; without a verdict in time: {len(failed)}"
    )


def main() -> None:
    """Measure, print, and write JSON if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--ids", help="only these instruction ids, by comma")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--show", type=int, default=20, help="how many of the slowest are printed")
    options = parser.parse_args()
    ids = options.ids.split(",") if options.ids else list(registered())
    warm = ("math", "stem", "logic", "instruction")
    with VerifierPool(1, worker_options=WorkerOptions(warm=warm)) as pool:
        pool.wait_until_warm()
        rows = measure(Clock(pool), ids)
    show(rows, options.show)
    if options.json:
        atomic_write_text(options.json, json.dumps(rows, indent=2, ensure_ascii=False))
    sys.exit(any(row["seconds"] > LIMIT for row in rows))


if __name__ == "__main__":
    main()
