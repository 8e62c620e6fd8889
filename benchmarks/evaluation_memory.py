"""Resident memory of an evaluation by the number of its problems, with a backend that answers at once.

    python benchmarks/evaluation_memory.py [--problems 200000] [--characters 1000] [--json OUT.json]

Writes a dataset of so many problems in a temporary folder and evaluates it in a process of its own, one sample a
problem. ``planned``: when the first sample is asked for; ``sampled``: when all but the last batch is written and the
verdicts have caught up, as far as they do before the end; ``ended``: when the result is written, which takes what is
left to judge and the sums.
``before``: the process with all imports, before any problem is read. MB of resident memory (VmRSS of /proc); the peak
(VmHWM) is up to then.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SMALL = 2000
"""Problems of the run that the large one is held against."""


def write_dataset(folder: Path, count: int) -> None:
    """Write a test split of ``count`` problems of a few hundred characters."""
    from prorl_common import sha256_file
    from prorl_datasets.storage import write_split

    folder.mkdir(parents=True)
    story = "A train leaves the station and another one meets it somewhere on the way. " * 4
    metadata = json.dumps({"family": "trains", "level": 1, "question": story})
    rows = (
        {
            "id": f"problem-{i:07d}",
            "domain": "math",
            "split": "test",
            "prompt": [{"role": "user", "content": f"{story} It is number {i}."}],
            "verifier": "math",
            "reference": json.dumps({"answer": f"{i}"}),
            "source": "benchmark",
            "licence": "CC0-1.0",
            "gold_check": "",
            "metadata": metadata,
        }
        for i in range(count)
    )
    file = folder / "test.parquet"
    write_split(file, rows)
    (folder / "manifest.json").write_text(
        json.dumps({"files": {file.name: {"sha256": sha256_file(file)}}})
    )


def resident() -> dict[str, float]:
    """Return MB of resident memory now and at its peak."""
    rows = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    found = {row[0]: int(row[1]) / 1024 for row in rows if row[0] in ("VmRSS:", "VmHWM:")}
    return {"now": round(found["VmRSS:"], 1), "peak": round(found["VmHWM:"], 1)}


def evaluate_here(folder: Path, characters: int) -> dict[str, Any]:
    """Evaluate the dataset in this process; return what memory was when."""
    from prorl_common import PlainProgress
    from prorl_evaluation.sampling.choose import pick_dataset
    from prorl_evaluation.sampling.evaluate import evaluate
    from prorl_evaluation.types import EvalSettings
    from prorl_inference import Completion, Request, SamplingParams
    from prorl_verifiers import Task, Verdict

    found: dict[str, Any] = {"before": resident()}
    started = time.perf_counter()
    samples, _ = pick_dataset(folder, "test")
    total = len(samples)

    class Scorer:
        judged = 0

        def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
            self.judged += len(items)
            return [Verdict(1.0, "scored", "right", extracted="7") for _ in items]

    scorer = Scorer()

    class Instant:
        model_id, model_digest, asked = "instant", "d", 0

        def generate(
            self,
            requests: Sequence[Request],
            params: SamplingParams,
            on_done: Callable[[int], None] | None = None,
            on_result: Callable[[int, list[Completion]], None] | None = None,
        ) -> list[list[Completion]]:
            if not self.asked:
                found["planned"] = {**resident(), "seconds": time.perf_counter() - started}
            if self.asked + len(requests) >= total:
                judged = -1
                while judged != scorer.judged:  # until nothing more waits in memory for its verdict
                    judged = scorer.judged
                    time.sleep(2.0)
                    if on_done is not None:
                        on_done(0)  # what ended is written
                found["sampled"] = {**resident(), "seconds": time.perf_counter() - started}
            for index, request in enumerate(requests):
                text = (f"{request.seeds[0]} " * (characters // 8 + 1))[:characters]
                answer = [Completion(text, (1,), (-1.0,), "stop")]
                if on_result is not None:
                    on_result(index, answer)
            self.asked += len(requests)
            return []

        def sync_weights(self, model: Any) -> None:
            """Nothing to take over."""

        def close(self) -> None:
            """Nothing to free."""

    settings = EvalSettings(n=1, k=1, backend="vllm", batch_rows=1024)
    evaluate(Instant(), samples, settings, folder / "out", scorer, PlainProgress())
    found["ended"] = {**resident(), "seconds": time.perf_counter() - started}
    return found


def measure(count: int, characters: int) -> dict[str, Any]:
    """Measure ``count`` problems in a process of their own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        write_dataset(folder, count)
        words = [sys.executable, __file__, "--here", str(folder), "--characters", str(characters)]
        done = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure a small and a large set and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=200_000)
    parser.add_argument("--characters", type=int, default=1000, help="of an answer")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.here is not None:
        print(json.dumps(evaluate_here(options.here, options.characters)))
        return
    rows = {count: measure(count, options.characters) for count in (SMALL, options.problems)}
    print(
        f"{'problems':>9} {'when':>8} {'MB now':>8} {'MB peak':>8} {'bytes a problem':>16} {'s':>7}"
    )
    for count, row in rows.items():
        for when in ("before", "planned", "sampled", "ended"):
            more = (row[when]["now"] - row["before"]["now"]) * 2**20 / count
            seconds = row[when].get("seconds", 0.0)
            print(
                f"{count:>9,} {when:>8} {row[when]['now']:>8.1f} {row[when]['peak']:>8.1f} "
                f"{more:>16,.0f} {seconds:>7.1f}"
            )
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
