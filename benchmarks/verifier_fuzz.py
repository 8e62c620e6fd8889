"""Score a hundred thousand corrupted answers: rewards must be in [0, 1], without outages or slow verdicts.

    python benchmarks/verifier_fuzz.py [--answers N] [--seed S] [--workers W] [--journal FILE] [--json FILE] [--show N]

Every answer depends only on the seed and its number (``fuzz_answers.py``). Verdicts go into a journal, from which a
stopped run continues. An answer that took over half the limit in wall-clock time is scored again, alone in a pool that
measures its processor time, since wall-clock time says little on a busy machine. The slowest answers are printed with
how they were made; ``--show N`` prints answer N. Exits with 1 if there is a fault. Needs PRORL_TEST_DATA. Whether the
verdicts are right is measured by ``verifier_accuracy.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fuzz_answers import Fuzzed, Known, fuzzed, known_answers

from prorl_common.files import Journal, atomic_write_text
from prorl_verifiers import Verdict, VerifierPool, WorkerOptions

LIMIT = 3.0
"""Limit of a verdict in seconds, both of wall-clock time and of processor time."""
SLOWEST = 20
CHUNK = 500
Row = dict[str, Any]


def row_of(one: Fuzzed, verdict: Verdict) -> Row:
    """Return a verdict's row in the journal."""
    return {
        "number": one.number,
        "verifier": one.task.verifier,
        "how": one.how,
        "characters": len(one.response),
        "status": verdict.status,
        "reward": verdict.reward,
        "seconds": round(verdict.seconds, 4),
        "reason": verdict.reason[:200].encode("utf-8", "replace").decode(),
    }


def run(
    known: Mapping[str, Sequence[Known]],
    seed: int,
    numbers: Iterable[int],
    workers: int,
    journal: Journal,
) -> None:
    """Score the answers with these numbers in chunks, and append their rows to the journal."""
    left = list(numbers)
    warm = tuple(name for name in known if name != "code")
    started = time.monotonic()
    with VerifierPool(workers, worker_options=WorkerOptions(warm=warm)) as pool:
        pool.wait_until_warm()
        for start in range(0, len(left), CHUNK):
            chunk = [fuzzed(known, seed, number) for number in left[start : start + CHUNK]]
            verdicts = pool.score([(one.response, one.task) for one in chunk])
            journal.extend(
                [row_of(one, verdict) for one, verdict in zip(chunk, verdicts, strict=True)]
            )
            done = start + len(chunk)
            print(
                f"{done:,} of {len(left):,} in {time.monotonic() - started:.0f} s, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )


def alone(known: Mapping[str, Sequence[Known]], seed: int, rows: Sequence[Row]) -> None:
    """Score these answers again one at a time, and add their processor time if the pool counts it."""
    with VerifierPool(1) as pool:
        for row in rows:
            one = fuzzed(known, seed, row["number"])
            before = pool.stats.cpu_seconds.get(one.task.verifier, 0.0)
            verdict = pool.score([(one.response, one.task)])[0]
            row["alone"] = round(verdict.seconds, 4)
            if one.task.verifier != "code":
                row["processor"] = round(pool.stats.cpu_seconds[one.task.verifier] - before, 4)


def taken(row: Row) -> float:
    """Return the processor seconds if measured, else the wall seconds."""
    known = [row[name] for name in ("processor", "alone", "seconds") if name in row]
    return float(known[0])


def faults(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows with each kind of fault. A program stopped at its task's time limit is not a fault."""
    names = ("no verdict", "a verifier failed", "score outside [0, 1]", "slow", "out of time")
    rows_of: dict[str, list[Row]] = {name: [] for name in names}
    for row in rows:
        reward: float | None = row["reward"]
        if row["status"] == "infra_error" or reward is None:
            rows_of["no verdict"].append(row)
        elif row.get("reason") == "could not be judged":
            rows_of["a verifier failed"].append(row)
        elif not 0.0 <= reward <= 1.0:
            rows_of["score outside [0, 1]"].append(row)
        stopped = row["status"] == "timeout"
        if stopped and row["verifier"] != "code":
            rows_of["out of time"].append(row)
        elif not stopped and taken(row) > LIMIT:
            rows_of["slow"].append(row)
    return rows_of


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the counts of a run and its slowest answers."""
    by_status = Counter((row["verifier"], row["status"]) for row in rows)
    slowest = sorted(rows, key=lambda row: -float(row["seconds"]))[:SLOWEST]
    times: dict[str, Any] = {}
    for name in sorted({row["verifier"] for row in rows}):
        ordered = sorted(row["seconds"] for row in rows if row["verifier"] == name)
        times[name] = {
            "answers": len(ordered),
            "p50": ordered[len(ordered) // 2],
            "p99": ordered[int(len(ordered) * 0.99)],
            "most": ordered[-1],
        }
    return {
        "answers": len(rows),
        "rewarded": sum(row["reward"] == 1.0 for row in rows),
        "statuses": {
            f"{name} {status}": count for (name, status), count in sorted(by_status.items())
        },
        "seconds": times,
        "faults": {
            fact: [row["number"] for row in broken] for fact, broken in faults(rows).items()
        },
        "slowest": slowest,
    }


def show(found: Mapping[str, Any]) -> None:
    """Print a summary."""
    print(f"\n{found['answers']:,} answers, {found['rewarded']:,} earned 1")
    for name, count in found["statuses"].items():
        print(f"  {name:24} {count:8,}")
    for name, times in found["seconds"].items():
        print(
            f"  {name:12} p50 {times['p50'] * 1000:8.2f} ms  p99 {times['p99'] * 1000:8.1f} ms  most {times['most']:6.2f} s"
        )
    print("\nthe slowest")
    for row in found["slowest"]:
        print(
            f"  {row['number']:7} {row['verifier']:11} {row['seconds']:6.2f} s, alone {row.get('alone', 0.0):5.2f} s, processor {row.get('processor', 0.0):5.2f} s"
            f"  {row['characters']:9,} characters  {row['status']:10} {row['how']}: {row['reason'][:80]}"
        )
    for fact, broken in found["faults"].items():
        print(f"{fact}: {len(broken)} {broken[:20] or ''}")


def main() -> None:
    """Score and print; write JSON with ``--json``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--journal", type=Path, default=Path("verifier_fuzz.jsonl"))
    parser.add_argument("--json", type=Path, help="write the summary to this file")
    parser.add_argument("--show", type=int, help="print one answer and score nothing")
    options = parser.parse_args()
    value = os.environ.get("PRORL_TEST_DATA")
    if not value:
        raise SystemExit("set PRORL_TEST_DATA to the folder with the public test data")
    known = known_answers(Path(value), options.seed)
    if options.show is not None:
        one = fuzzed(known, options.seed, options.show)
        print(f"{one.how}\n{one.task.verifier} {one.task.reference_json()}\n{one.response!r}")
        return
    header = {"seed": options.seed, "tasks": {name: len(tasks) for name, tasks in known.items()}}
    with Journal(options.journal, fsync=False) as journal:
        rows = list(journal.rows())
        if not rows:
            journal.append(header)
        elif rows[0] != header:
            raise SystemExit(
                f"{options.journal} is of another seed or of other tasks: give another --journal"
            )
        done = {row["number"] for row in rows[1:]}
        run(
            known,
            options.seed,
            (n for n in range(options.answers) if n not in done),
            options.workers,
            journal,
        )
        rows = [row for row in list(journal.rows())[1:] if row["number"] < options.answers]
    slow = [row for row in rows if row["seconds"] > LIMIT / 2]
    slowest = sorted(rows, key=lambda row: -float(row["seconds"]))[:SLOWEST]
    alone(known, options.seed, slow + [row for row in slowest if row not in slow])
    found = summary(rows)
    show(found)
    if options.json:
        atomic_write_text(options.json, json.dumps(found, indent=2, ensure_ascii=False))
    sys.exit(any(found["faults"].values()))


if __name__ == "__main__":
    main()
