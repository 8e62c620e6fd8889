"""Is a right program right beside the worst neighbour? One of 0.6 s under ProRL's budget of 5 s.

    python benchmarks/sandbox_fairness.py [--count 1000] [--places local,user,docker] [--out FILE]

One thread runs the right program again and again; another keeps a hostile one running in the same
sandbox. Places: ``local``, the local backend as who runs this; ``user``, the same as an ordinary
user (uid 65534, no control groups; needs root, setpriv and an interpreter that all may read);
``docker``. With ``--out`` every run is a line of that file, and a run that was stopped goes on from
there. Exits 1 when a right program was not right, or a box ran over its wall limit by more than
half a second. What a program used and waited for is the sandbox's own word.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from prorl_common import ProrlError
from prorl_sandbox import Budget, Limits, Program, Sandbox, Stdin, open_sandbox

ROOT = Path(__file__).resolve().parents[1]
RIGHT = Program("import time\nwhile time.process_time() < 0.6: pass\nprint('right')")
LIMITS = Limits(wall_seconds=10.0, cpu_seconds=5.0)
BUDGET = Budget(cpu_seconds=5.0, wall_seconds=10.0)
HOSTILE = Limits(wall_seconds=4.0, cpu_seconds=4.0, memory_mb=512, output_kb=1 << 20)
MOST_OVER = 0.5
NEIGHBOURS = {
    "nobody": "",
    "16 spinning processes": """
import os
for _ in range(15):
    if os.fork() == 0: break
while True: pass
""",
    "a fork bomb": """
import os
while True:
    try: os.fork()
    except OSError: pass
""",
    "a walk through 400 MB": """
x = bytearray(400 << 20)
while True:
    for i in range(0, len(x), 4096): x[i] = (x[i] + 1) % 256
""",
    "spinning processes, each in a session of its own": """
import os
for _ in range(15):
    if os.fork() == 0:
        os.setsid()
        break
while True: pass
""",
    "output byte by byte": "import os\nwhile True: os.write(1, b'x')",
    "15 spinning threads": """
import threading
def spin():
    while True: sum(range(1000))
for _ in range(14): threading.Thread(target=spin).start()
spin()
""",
}
"""Programs that do nothing but get in the way."""


@dataclass(frozen=True)
class Row:
    """A run of the right program (seconds), or of a neighbour: how far it went over its limit."""

    place: str
    neighbour: str
    right: bool | None
    status: str
    wall: float
    waited: float
    cpu: float
    over: float


def measure(sandbox: Sandbox, place: str, neighbour: str, count: int) -> Iterator[Row]:
    """Yield the right program's runs beside a neighbour, then the neighbour's own."""
    stop = threading.Event()
    theirs: list[Row] = []

    def disturb() -> None:
        while not stop.is_set():
            outcome = sandbox.run(Program(NEIGHBOURS[neighbour]), HOSTILE)
            ran = outcome.wall_seconds - outcome.waited_seconds
            over = ran - HOSTILE.wall_seconds
            theirs.append(
                Row(place, neighbour, None, outcome.status, ran, 0.0, outcome.cpu_seconds, over)
            )

    thread = threading.Thread(target=disturb)
    if NEIGHBOURS[neighbour]:
        thread.start()
        time.sleep(0.2)
    try:
        for _ in range(count):
            (outcome,) = sandbox.run_cases(RIGHT, [Stdin()], LIMITS, BUDGET)
            right = outcome.status == "ok" and outcome.stdout == "right\n"
            facts = (outcome.wall_seconds, outcome.waited_seconds, outcome.cpu_seconds)
            yield Row(place, neighbour, right, outcome.status, *facts, 0.0)
    finally:
        stop.set()
        if thread.is_alive():
            thread.join()
    yield from theirs


def work(place: str, todo: dict[str, int]) -> Iterator[Row]:
    """Yield all rows of one place; ``todo``: how many right runs are missing beside whom."""
    with contextlib.closing(open_sandbox("docker" if place == "docker" else "local")) as sandbox:
        sandbox.run(Program("pass"))
        for neighbour, count in todo.items():
            yield from measure(sandbox, place, neighbour, count)


def as_user(todo: dict[str, int]) -> Iterator[Row]:
    """Yield the rows of an ordinary user: this script, started again as one."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise RuntimeError("it needs root and setpriv")
    who = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    probe = (
        "import os, sys; assert sys.version_info >= (3, 11) and "
        "os.access(getattr(sys, '_base_executable', sys.executable), os.X_OK)"
    )
    python = next(
        (
            path
            for path in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")
            if subprocess.run(
                [*who, path, "-c", probe], capture_output=True, check=False
            ).returncode
            == 0
        ),
        None,
    )
    if python is None:
        raise RuntimeError("no interpreter that all may read")
    with tempfile.TemporaryDirectory() as folder:
        for source in ("common/prorl_common", "sandbox/prorl_sandbox"):
            shutil.copytree(ROOT / source, Path(folder, Path(source).name))
        parts = Path(folder, "prorl-0.dist-info")  # what says which languages there are
        parts.mkdir()
        for name in ("METADATA", "entry_points.txt"):
            text = metadata.distribution("prorl").read_text(name)
            parts.joinpath(name).write_text(text or "")
        script = shutil.copy(__file__, folder)
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        command = [*who, python, script, "--worker", json.dumps(todo)]
        environment = {"PYTHONPATH": folder, "PATH": os.environ["PATH"], "HOME": folder}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
        ) as worker:
            assert worker.stdout is not None
            for line in worker.stdout:
                yield Row(**json.loads(line))
        if worker.returncode:
            raise RuntimeError(f"the user's process ended with {worker.returncode}")


def show(rows: list[Row]) -> bool:
    """Print a table a place; return whether everything was as it should be."""
    good = True
    places: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        places[row.place][row.neighbour].append(row)
    for place, beside in places.items():
        print(f"\n{place:50} {'right':>12} {'wall: median, longest':>22} {'cpu':>6} {'over':>6}")
        for neighbour, found in beside.items():
            own = [row for row in found if row.right is not None]
            over = max((row.over for row in found), default=0.0)
            right = sum(bool(row.right) for row in own)
            walls = [row.wall for row in own]
            cpu = statistics.median(row.cpu for row in own)
            wall = f"{statistics.median(walls):.2f}, {max(walls):.2f} s"
            print(f"{neighbour:50} {right:5} of {len(own):4} {wall:>22} {cpu:6.2f} {over:6.2f}")
            good = good and right == len(own) and over <= MOST_OVER
    return good


def main() -> None:
    """Measure what is missing, print all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--places", default="local,user,docker")
    parser.add_argument("--out", type=Path, help="a file of rows, to go on from")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        for row in work("user", json.loads(options.worker)):
            print(json.dumps(asdict(row)), flush=True)
        return
    rows: list[Row] = []
    if options.out is not None and options.out.exists():
        rows = [Row(**json.loads(line)) for line in options.out.read_text().splitlines()]
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(options.out.open("a")) if options.out is not None else None
        for place in options.places.split(","):
            done: dict[str, int] = defaultdict(int)
            for row in rows:
                done[row.neighbour] += row.place == place and row.right is not None
            todo = {name: options.count - done[name] for name in NEIGHBOURS}
            todo = {name: count for name, count in todo.items() if count > 0}
            try:
                for row in as_user(todo) if place == "user" else work(place, todo):
                    rows.append(row)
                    if file is not None:
                        print(json.dumps(asdict(row)), file=file, flush=True)
            except (ProrlError, RuntimeError) as error:
                print(f"left out: {place}: {error}", file=sys.stderr)
    load = os.getloadavg()[0]
    print(f"{len(os.sched_getaffinity(0))} processors, load at the end {load:.1f}")
    if not show(rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
