"""Compare the time of `prorl --help` with that of its unavoidable part: a Python that imports typer and rich.

    python benchmarks/startup.py [--rounds 20] [--json FILE]

The commands alternate, so that other load affects all alike. The result is the ratio of the medians; the first round is
not counted.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tables import machine, save

REFERENCE = "import typer, rich"
COMMANDS = {
    REFERENCE: [sys.executable, "-c", REFERENCE],
    "prorl --help": [sys.executable, "-m", "prorl_cli", "--help"],
    "prorl train --help": [sys.executable, "-m", "prorl_cli", "train", "--help"],
    "prorl --version": [sys.executable, "-m", "prorl_cli", "--version"],
}


def measured(rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each command in each of ``rounds`` rounds."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(rounds + 1):
        for name, command in COMMANDS.items():
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if number:
                seconds[name].append(time.perf_counter() - begin)
    return seconds


def main() -> None:
    """Measure and print a line per command; write JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    seconds = measured(asked.rounds)
    reference = statistics.median(seconds[REFERENCE])
    rows = {}
    for name, each in seconds.items():
        middle = statistics.median(each)
        rows[name] = {"median": middle, "least": min(each), "ratio": middle / reference}
        print(
            f"{name:<20} median {middle:.3f} s   least {min(each):.3f} s   ratio {middle / reference:.2f}"
        )
    save(asked.json, {"machine": machine(), "rounds": asked.rounds, "commands": rows})


if __name__ == "__main__":
    main()
