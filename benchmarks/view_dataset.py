"""How fast ``prorl view`` answers about a dataset, and the memory it takes.

    python benchmarks/view_dataset.py [DATASET] [--rows 136000] [--json OUT.json]

Without a dataset one of that many rows is written first, by the house's own writer: 600 families, questions of about
450 characters, two thirds rated. Each answer is encoded as it is sent and timed in a process that does nothing else,
seconds of the clock and of its processor (all threads); the memory is that process's, files that it maps included.
A filter's time is the largest of three.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prorl_common import sha256_file
from prorl_datasets.storage import canonical_json, write_split

DOMAINS = ("math", "code", "stem", "logic", "instruction")
FAMILIES = 600

MEASURED = """
import json, sys, time
from pathlib import Path
def memory(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(name))
began = time.perf_counter(), time.process_time()
from prorl_viewer.datasets.subject import DatasetSubject
from prorl_viewer.encoding import encode
subject = DatasetSubject(Path(sys.argv[1]))
def ask(page, query, times=1):
    worst = [0.0, 0.0, 0]
    for _ in range(times):
        clock, own = time.perf_counter(), time.process_time()
        size = len(encode(subject.pages()[page](query)))
        took = time.perf_counter() - clock, time.process_time() - own
        worst = max(worst, [round(took[0], 3), round(took[1], 3), size])
    return worst
found = {"imports": [round(time.perf_counter() - began[0], 3), round(time.process_time() - began[1], 3), 0]}
found["summary, the first answer"] = ask("summary", {})
found["first list of rows (opens the dataset)"] = ask("rows", {})
rows = json.loads(encode(subject.pages()["rows"]({})))
name, about = rows["rows"][50]["id"], rows["rows"][50]
asked = {
    "filter: domain": {"domain": about["domain"]},
    "filter: domain, level, family": {k: about[k] for k in ("domain", "level", "family")},
    "filter: pass rate 0.2 to 0.8": {"rate_from": "0.2", "rate_to": "0.8"},
    "filter: text": {"q": "triangle"},
    "filter: text that is nowhere": {"q": "qwertyuiop"},
    "sorted by length": {"sort": "characters", "down": "1"},
}
for what, query in asked.items():
    found[what] = ask("rows", query, 3)
found["counts by family"] = ask("groups", {"by": "family"}, 3)
found["histograms"] = ask("histograms", {}, 3)
found["a row, the first"] = ask("row", {"id": name})
found["a row"] = ask("row", {"id": name}, 3)
found["near neighbours of a row"] = ask("neighbours", {"id": name}, 3)
print(json.dumps({"rows": rows["all"], "rated": rows["rated"], "answers": found,
                  "memory_mb": memory("VmRSS"), "peak_mb": memory("VmHWM")}))
"""


def main() -> None:
    """Write a dataset where none is given, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=136_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dataset = asked.dataset or made(Path(folder) / "synthetic", asked.rows)
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, str(dataset)],
            check=True,
            capture_output=True,
            text=True,
        )
    found: dict[str, Any] = json.loads(done.stdout)
    found["load"] = round(os.getloadavg()[0], 1)
    print(f"{found['rows']:,} rows, {found['rated']:,} rated; load of the machine {found['load']}")
    print("| answer | seconds | of the processor | bytes |\n|---|---|---|---|")
    for what, (clock, own, size) in found["answers"].items():
        print(f"| {what} | {clock:.3f} | {own:.3f} | {size:,} |")
    print(f"memory {found['memory_mb']} MB, at most {found['peak_mb']} MB")
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=2) + "\n")


def made(out: Path, rows: int) -> Path:
    """Write a dataset of ``rows`` rows and the pass rates of two thirds of them; return its folder."""
    out.mkdir()
    write_split(out / "train.parquet", _rows(rows))
    sha = sha256_file(out / "train.parquet")
    files = {"train.parquet": {"rows": rows, "sha256": sha}}
    counts = {"train": {domain: rows // len(DOMAINS) for domain in DOMAINS}}
    (out / "manifest.json").write_text(
        json.dumps({"recipe": "x", "files": files, "counts": counts})
    )
    ratings = out.with_name(f"{out.name}.ratings")
    ratings.mkdir()
    with (ratings / "pass_rates.jsonl").open("w") as file:
        for place, row in enumerate(_rows(rows, without_text=True)):
            if (draw := place % 3) > 0:
                rate = {"id": row["id"], "pass_rate": draw / 4, "n": 8, "low": 0.1, "high": 0.9}
                file.write(json.dumps({**rate, "prompt_key": "0" * 32}) + "\n")
    return out


def _rows(count: int, without_text: bool = False) -> Iterator[dict[str, Any]]:
    drawn = random.Random(7)
    letters = "etaoinshrdlu"
    words = [
        "triangle",
        *("".join(drawn.choices(letters, k=drawn.randint(2, 9))) for _ in range(4000)),
    ]
    each = -(-count // FAMILIES)
    for place in range(count):
        family, index = divmod(place, each)
        domain = DOMAINS[family % len(DOMAINS)]
        text = "" if without_text else " ".join(drawn.choices(words, k=70))
        about = {
            "entry": f"{domain}-family_{family:03d}",
            "family": f"family_{family:03d}",
            "level": 1 + index % 3,
            "gold_response": text[:200],
            "index": index,
            "weight": 1.0,
        }
        yield {
            "id": f"family_{family:03d}-train-{index:06d}",
            "domain": domain,
            "split": "train",
            "prompt": [{"role": "user", "content": text}],
            "verifier": "math",
            "reference": json.dumps({"answer": str(index), "notes": text}),
            "source": f"procedural/family_{family:03d}",
            "licence": "Apache-2.0",
            "gold_check": "self-consistent",
            "metadata": canonical_json(about),
        }


if __name__ == "__main__":
    main()
