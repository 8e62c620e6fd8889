"""How many bits a second two boxes in two sandboxes can pass each other when both want to.

    python benchmarks/sandbox_channels.py [--bits 200] [--backend local] [--json FILE]

A sender and a receiver know when to begin and how long a bit lasts; the sender does something for a
one and sleeps for a zero, the receiver measures how its own work goes. The first bits are known to
both and set the threshold. For each way, the length of a bit with the largest capacity is shown:
bits/s times 1 - H(error rate), the capacity of a binary symmetric channel.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from prorl_sandbox import Limits, Program, Sandbox, open_sandbox

LIMITS = Limits(wall_seconds=60.0, cpu_seconds=55.0, memory_mb=512)
KNOWN = 32
LENGTHS_MS = (1.0, 3.0, 10.0, 30.0, 100.0)
_HEAD = """
import os, sys, time, mmap
start, length, bits = input().split()
start, length = float(start), float(length)
now = time.monotonic
"""
_SEND = """
for place, bit in enumerate(bits):
    begin = start + place * length
    while now() < begin:
        time.sleep(max(0.0, begin - now()))
    end = begin + length * 0.9
    if bit == "1":
        while now() < end:
            act()
"""
_RECEIVE = """
found = []
for place in range(len(bits)):
    begin = start + place * length
    while now() < begin:
        time.sleep(max(0.0, begin - now()))
    found.append(sense(begin + length * 0.9))
print(*found)
"""
_COUNT = """
def sense(end):
    count = 0
    while now() < end:
        work()
        count += 1
    return count
"""
WAYS: dict[str, tuple[str, str]] = {
    "processor": (
        # As many processes as there are processors: one of them is the receiver's.
        "for _ in range(os.cpu_count() - 1):\n    if os.fork() == 0: break\n"
        "def act():\n    for _ in range(200): pass\n",
        "def work():\n    for _ in range(20): pass\n" + _COUNT,
    ),
    "memory and cache": (
        "area = bytearray(64 << 20)\nother = bytearray(64 << 20)\n"
        "def act():\n    other[:1 << 20] = area[:1 << 20]\n    area[32 << 20:33 << 20] = other[:1 << 20]\n",
        "area = bytearray(8 << 20)\n"
        "def work():\n    area[:256 << 10] = area[4 << 20:(4 << 20) + (256 << 10)]\n" + _COUNT,
    ),
    "inode numbers of pipes": (
        "def act():\n    for _ in range(50):\n        for end in os.pipe(): os.close(end)\n",
        "def number():\n    ends = os.pipe()\n    found = os.fstat(ends[0]).st_ino\n"
        "    for end in ends: os.close(end)\n    return found\n"
        "def sense(end):\n    # Each processor takes its numbers by the thousand.\n"
        "    begun, most = number(), 0\n"
        "    while now() < end:\n        time.sleep((end - now()) / 2 if end - now() > 2e-4 else 0)\n"
        "    for _ in range(1100): most = max(most, number())\n"
        "    return most - begun\n",
    ),
}


@dataclass(frozen=True, slots=True)
class Measure:
    """One way at its best length of a bit."""

    way: str
    bit_ms: float
    bits: int
    error_rate: float
    bits_per_second: float
    load: float


def transmit(sender: Sandbox, receiver: Sandbox, way: str, bits: str, length: float) -> list[float]:
    """Return what the receiver sensed for each bit. Raises RuntimeError when a box failed."""
    acting, sensing = WAYS[way]
    text = f"{time.monotonic() + 0.5} {length} {bits}\n"
    said = []

    def send() -> None:
        said.append(sender.run(Program(_HEAD + acting + _SEND, stdin=text), LIMITS))

    thread = threading.Thread(target=send)
    thread.start()
    heard = receiver.run(Program(_HEAD + sensing + _RECEIVE, stdin=text), LIMITS)
    thread.join()
    for outcome in (heard, *said):
        if outcome.status != "ok":
            raise RuntimeError(f"{way}: {outcome.status} {outcome.stderr[-300:]}")
    return [float(word) for word in heard.stdout.split()]


def error_rate(sent: str, sensed: list[float]) -> float:
    """Return the share of bits that a threshold, set by the first ones, gets wrong."""
    ones = statistics.median(v for bit, v in zip(sent[:KNOWN], sensed, strict=False) if bit == "1")
    zeros = statistics.median(v for bit, v in zip(sent[:KNOWN], sensed, strict=False) if bit == "0")
    middle = (ones + zeros) / 2
    wrong = sum(
        (value > middle) == (ones > zeros)
        and bit == "0"
        or (value > middle) != (ones > zeros)
        and bit == "1"
        for bit, value in zip(sent[KNOWN:], sensed[KNOWN:], strict=True)
    )
    return wrong / (len(sent) - KNOWN)


def capacity(error: float, length: float) -> float:
    """Return the bits a second of a binary symmetric channel with this error rate."""
    error = min(error, 1 - error)
    entropy = 0.0 if error == 0 else -sum(p * math.log2(p) for p in (error, 1 - error))
    return (1 - entropy) / length


def measure(sender: Sandbox, receiver: Sandbox, way: str, count: int) -> Measure:
    """Return the best of all lengths of a bit."""
    draw = random.Random(way)
    best = Measure(way, 0.0, 0, 0.5, 0.0, os.getloadavg()[0])
    for length in LENGTHS_MS:
        bits = "10" * (KNOWN // 2) + "".join(draw.choice("01") for _ in range(count))
        wrong = error_rate(bits, transmit(sender, receiver, way, bits, length / 1000))
        # Fewer errors than could be seen in so few bits are not taken for none.
        rate = capacity(max(wrong, 0.5 / count), length / 1000)
        if rate > best.bits_per_second:
            best = Measure(way, length, count, wrong, rate, os.getloadavg()[0])
    return best


def main() -> int:
    """Measure every way and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bits", type=int, default=200)
    parser.add_argument("--backend", default="local")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sender, receiver = open_sandbox(options.backend), open_sandbox(options.backend)
    try:
        found = [measure(sender, receiver, way, options.bits) for way in WAYS]
    finally:
        sender.close()
        receiver.close()
    print(f"{os.cpu_count()} processors, {options.bits} bits each, {receiver.isolation}")
    print("| way | length of a bit | errors | bits/s | load |\n|---|---|---|---|---|")
    for one in found:
        print(
            f"| {one.way} | {one.bit_ms:g} ms | {one.error_rate:.1%} | {one.bits_per_second:.0f}"
            f" | {one.load:.1f} |"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
