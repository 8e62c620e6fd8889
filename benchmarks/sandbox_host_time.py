"""What hostile programs cost the host: its processor time beside the box's own, and time past the limit.

    python benchmarks/sandbox_host_time.py [--backend local] [--json FILE]

Each program runs until its wall limit. Host time is that of this process and, on the local backend,
of template and slots (their work for the box: watching, killing, waiting for the kernel to take the
box apart). "Past the limit" is how long after the limit the answer came. The goals: at most 5 % of
the box's time, at most 0.5 s.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from prorl_sandbox import Limits, Program, Sandbox, open_sandbox

LIMITS = Limits(wall_seconds=2.0, cpu_seconds=30.0, memory_mb=512, output_kb=1 << 16, processes=64)
_FRAME = (
    "import os, struct\nbody = b'{\"k\":\"ready\"}'\nframe = struct.pack('>I', len(body)) + body\n"
)
PROGRAMS = {
    "computes": "while True: pass",
    "stdout byte by byte": "import os\nwhile True: os.write(1, b'x')",
    "stderr byte by byte": "import os\nwhile True: os.write(2, b'x')",
    "both streams in turn": "import os\nwhile True:\n    os.write(1, b'x')\n    os.write(2, b'y')",
    "channel byte by byte": _FRAME + "while True:\n    for one in frame: os.write(3, bytes([one]))",
    "tiny frames": _FRAME + "while True: os.write(3, frame)",
    "forks that exit at once": (
        "import os\nwhile True:\n    try:\n        if os.fork() == 0: os._exit(0)\n        os.wait()\n"
        "    except OSError: pass"
    ),
    "forks without waiting": (
        "import os\nwhile True:\n    try:\n        if os.fork() == 0: os._exit(0)\n"
        "    except OSError:\n        try: os.wait()\n        except OSError: pass"
    ),
    "a thousand timers": (
        "import ctypes, signal\nsignal.signal(10, lambda *a: None)\nlibc = ctypes.CDLL(None)\n"
        "class T(ctypes.Structure):\n    _fields_ = [(n, ctypes.c_long) for n in 'abcd']\n"
        "class E(ctypes.Structure):\n    _fields_ = [('v', ctypes.c_void_p), ('s', ctypes.c_int), "
        "('n', ctypes.c_int), ('pad', ctypes.c_char * 48)]\n"
        "for _ in range(1000):\n    t = ctypes.c_void_p()\n"
        "    if libc.timer_create(1, ctypes.byref(E(None, 10, 0)), ctypes.byref(t)): break\n"
        "    libc.timer_settime(t, 0, ctypes.byref(T(0, 100000, 0, 1)), None)\n"
        "while True: pass"
    ),
    "four thousand files": (
        "import os\nfor n in range(4000):\n    try: open(f'f{n}', 'wb').write(b'x' * 9000)\n"
        "    except OSError: break\nwhile True: pass"
    ),
    "deep folders": (
        "import os\ntry:\n    for n in range(4000):\n        os.mkdir('d')\n        os.chdir('d')\n"
        "except OSError: pass\nwhile True: pass"
    ),
    "65,000 mappings": (
        "import mmap\nheld = []\ntry:\n    while True:\n        held.append(mmap.mmap(-1, 4096, prot=1 + len(held) % 2 * 2))\n"
        "        held[-1][0:0]\nexcept Exception: pass\nwhile True: pass"
    ),
    "huge page tables": (
        "import ctypes, mmap\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
        "size = 1 << 40\nat = libc.mmap(None, ctypes.c_size_t(size), 1, 0x4022, -1, ctypes.c_long(0))\n"
        "for offset in range(0, size, 1 << 21):\n    ctypes.c_char.from_address(at + offset).value\n"
        "while True: pass"
    ),
    "many processes with memory": (
        "import os, time\nfor _ in range(40):\n    if os.fork() == 0:\n        held = bytearray(8 << 20)\n"
        "        time.sleep(99)\ntime.sleep(99)"
    ),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one program cost."""

    program: str
    status: str
    box_seconds: float
    host_seconds: float
    past_seconds: float
    load: float


def host_seconds() -> float:
    """Return the processor seconds so far of this process, its template and the slots."""
    ours = {os.getpid()}
    spent = time.process_time()
    ticks = os.sysconf("SC_CLK_TCK")
    names: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            runtime = (entry / "schedstat").read_text().split()
        except OSError:
            continue
        names[int(entry.name)] = (int(fields[1]), int(runtime[0]) / 1e9 if runtime else ticks)
    for _ in range(2):  # the template, then its slots; boxes are below those
        found = {pid for pid, (parent, _) in names.items() if parent in ours}
        ours |= found
        spent += sum(names[pid][1] for pid in found)
        names = {pid: facts for pid, facts in names.items() if pid not in found}
    return spent


def measure(sandbox: Sandbox, name: str) -> Cost:
    """Run one program and return what it cost."""
    before, begun = host_seconds(), time.monotonic()
    outcome = sandbox.run(Program(PROGRAMS[name]), LIMITS)
    took = time.monotonic() - begun
    spent = host_seconds() - before
    past = took - LIMITS.wall_seconds - outcome.waited_seconds
    return Cost(
        name, outcome.status, outcome.cpu_seconds, spent, max(0.0, past), os.getloadavg()[0]
    )


def main() -> int:
    """Measure every program and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backend", default="local")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sandbox = open_sandbox(options.backend)
    try:
        sandbox.run(Program("pass"))
        found = [measure(sandbox, name) for name in PROGRAMS]
    finally:
        sandbox.close()
    print("| program | ended | box s | host s | host / box | past the limit s | load |")
    print("|---|---|---|---|---|---|---|")
    for one in found:
        share = one.host_seconds / max(one.box_seconds, 0.01)
        print(
            f"| {one.program} | {one.status} | {one.box_seconds:.2f} | {one.host_seconds:.3f} |"
            f" {share:.1%} | {one.past_seconds:.2f} | {one.load:.1f} |"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
