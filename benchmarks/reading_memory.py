"""Memory while rows are read, whatever the file: peak RSS of a process that does nothing else.

    python benchmarks/reading_memory.py [--parquet-mb 1740] [--rows 500000] [--json OUT.json]

Makes a Parquet file of ONE row group of that many megabytes (one wide text column of bytes that do not
compress, nested messages beside it), and a JSON-lines file of that many rows, in a temporary folder; reads each
with ``iter_rows`` in a process of its own, the Parquet file also as pyarrow reads it by default; and chooses
among as many rows of files as a build's parent process does (random keys and signatures). Peak RSS is
``ru_maxrss`` of the child, mapped files included; its value right after the imports is given beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROW_BYTES = 12_000

OURS = """
import json, resource, sys, time
from pathlib import Path
import pyarrow.parquet
from prorl_datasets.sources.readers import iter_rows
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began, rows = time.monotonic(), 0
for where, row in iter_rows(Path(sys.argv[1])):
    rows += 1
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"rows": rows, "seconds": round(time.monotonic() - began, 1),
                  "imports_mb": before // 1024, "peak_mb": peak // 1024}))
"""
DEFAULT = """
import json, resource, sys, time
import pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began, rows = time.monotonic(), 0
with pyarrow.parquet.ParquetFile(sys.argv[1]) as file:
    for batch in file.iter_batches(1024, use_threads=False):
        rows += len(batch.to_pylist())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"rows": rows, "seconds": round(time.monotonic() - began, 1),
                  "imports_mb": before // 1024, "peak_mb": peak // 1024}))
"""


CHOOSING = """
import base64, json, os, resource, sys, time
from prorl_datasets.building.choose import Found, choose
from prorl_datasets.building.collect import Job
from prorl_datasets.recipe.recipe import parse_recipe
from prorl_datasets.rows.parts import Part
from prorl_datasets.text import duplicates
source = "{kind: hub, repo: o/a, files: [jsonl], adapter: deepscaler}"
entry = "{name: a, domain: math, count: {train: all}, source: " + source + "}"
recipe = parse_recipe("{name: x, entries: [" + entry + "]}", "", None)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began, wanted = time.monotonic(), int(sys.argv[1])
found = Found()
for start in range(0, wanted, 256):
    part = Part(candidates=256)
    for index in range(start, min(wanted, start + 256)):
        part.rows.append({"columns": {"answer": str(index)}, "index": index,
                          "key": os.urandom(16).hex(), "prompt_key": os.urandom(16).hex(),
                          "signature": base64.b64encode(os.urandom(512)).decode()})
    found.add(Job(recipe.entries[0], "", start, start + 256), part)
kept = choose(recipe, 0, found, found.near(0.8), {}).count(recipe.entries[0], "train")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"rows": kept, "seconds": round(time.monotonic() - began, 1),
                  "imports_mb": before // 1024, "peak_mb": peak // 1024}))
"""


def make_parquet(path: Path, megabytes: int) -> None:
    """Write a Parquet file of one row group, about so many megabytes compressed."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = megabytes * 1_000_000 // (ROW_BYTES // 2)
    message = pa.struct([("role", pa.string()), ("content", pa.large_string())])
    schema = pa.schema(
        [("prompt", pa.list_(message)), ("ability", pa.string()), ("truth", pa.large_string())]
    )

    def texts(length: int) -> Iterator[str]:
        return (os.urandom(length // 2).hex() for _ in range(rows))

    prompts = ([{"role": "user", "content": text}] for text in texts(400))
    columns = [
        pa.array(prompts, schema.field(0).type),
        pa.array(["code" if n % 19 == 0 else "math" for n in range(rows)]),
        pa.array(texts(ROW_BYTES), pa.large_string()),
    ]
    table = pa.Table.from_arrays(columns, schema=schema)
    parquet.write_table(table, path, compression="zstd", row_group_size=rows)


def make_lines(path: Path, rows: int) -> None:
    """Write a JSON-lines file of ``rows`` rows of some 600 bytes."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            file.write(
                json.dumps({"problem": f"{number} {os.urandom(280).hex()}", "answer": str(number)})
                + "\n"
            )


def measured(program: str, path: Path | str) -> dict[str, Any]:
    """Return what a child that is given ``path`` (or a number of rows) says of itself."""
    out = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(out.stdout)
    return found


def main() -> None:
    """Make the files, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parquet-mb", type=int, default=1740)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, make, size in (
            ("one.parquet", make_parquet, asked.parquet_mb),
            ("many.jsonl", make_lines, asked.rows),
        ):
            path = Path(folder) / name
            child = os.fork()  # making a file takes memory that ours must not be measured with
            if child == 0:
                make(path, size)
                os._exit(0)
            os.waitpid(child, 0)
            about = {"file": name, "mb": path.stat().st_size // 1_000_000}
            results.append({**about, "reader": "prorl", **measured(OURS, path)})
            if name.endswith(".parquet"):
                results.append({**about, "reader": "pyarrow, defaults", **measured(DEFAULT, path)})
    chosen = measured(CHOOSING, str(asked.rows))
    results.append({"file": "(choosing)", "mb": 0, "reader": "prorl", **chosen})
    print(
        f"{'file':12} {'MB':>6} {'reader':18} {'rows':>8} {'imports MB':>11} {'peak MB':>8} {'s':>7}"
    )
    for r in results:
        print(
            f"{r['file']:12} {r['mb']:6} {r['reader']:18} {r['rows']:8} {r['imports_mb']:11} "
            f"{r['peak_mb']:8} {r['seconds']:7}"
        )
    if asked.json is not None:
        stamp = time.strftime("%Y-%m-%d")
        asked.json.write_text(
            json.dumps({"date": stamp, "results": results}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
