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
_SPIN = """
for _ in range(os.cpu_count() - 1):  # as many processes as processors: one is the receiver's
    if os.fork() == 0:
        break
def act():
    for _ in range(200):
        pass
"""
_COUNT_TURNS = """
def work():
    for _ in range(20):
        pass
"""
_WALK = """
area, other = bytearray(64 << 20), bytearray(64 << 20)
def act():
    other[: 1 << 20] = area[: 1 << 20]
    area[32 << 20 : 33 << 20] = other[: 1 << 20]
"""
_COUNT_COPIES = """
area = bytearray(8 << 20)
def work():
    area[: 256 << 10] = area[4 << 20 : (4 << 20) + (256 << 10)]
"""
_MAKE_PIPES = """
def act():
    for _ in range(50):
        for end in os.pipe():
            os.close(end)
"""
_COUNT_NUMBERS = """
def number():
    ends = os.pipe()
    found = os.fstat(ends[0]).st_ino
    for end in ends:
        os.close(end)
    return found
def sense(end):  # each processor takes its numbers by the thousand: a gap was taken by others
    last, others = number(), 0
    while now() < end:
        one = number()
        others, last = others + abs(one - last) - 1, one
    return others
"""
WAYS = {
    "processor": (_SPIN, _COUNT_TURNS + _COUNT),
    "memory and cache": (_WALK, _COUNT_COPIES + _COUNT),
    "inode numbers of pipes": (_MAKE_PIPES, _COUNT_NUMBERS),
}
"""What the sender does for a one, and how the receiver senses it."""


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
    heard = ["1" if (value > middle) == (ones > zeros) else "0" for value in sensed[KNOWN:]]
    wrong = sum(one != other for one, other in zip(sent[KNOWN:], heard, strict=True))
    return wrong / (len(sent) - KNOWN)


def capacity(error: float, length: float) -> float:
    """Return the bits a second of a binary symmetric channel with this error rate."""
    if error >= 0.5:
        return 0.0
    return (1 + sum(p * math.log2(p) for p in (error, 1 - error))) / length


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
