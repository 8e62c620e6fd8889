"""Pass hostile frames to everything that decodes frames on the host, within limits of time and memory.

    python benchmarks/fuzz_frames.py [--minutes M] [--seed S] [--json FILE] [--show N]

Frame N depends on the seed and N. It is a message with values of every kind, then corrupted: wrong shapes, depth,
counts, colliding or repeated keys, huge numbers, surrogates, cut or flipped bytes. Every reader must return a value or
raise FrameError. It may take SECONDS of processor time plus A_MEBIBYTE per MiB of the frame, and MEMORY bytes plus
FACTOR times the frame. Exits with 1 if a limit is exceeded. ``--show N`` prints the beginning of frame N.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import json
import random
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common.files import atomic_write_text
from prorl_common.frames import HEADER, FrameError, FrameTooLong, read_json, take_frame
from prorl_sandbox.box import columns
from prorl_sandbox.docker_backend.stream import Attached
from prorl_sandbox.run.decoding import decode, decode_for_box, read_message
from prorl_verifiers.pool.protocol import read_reply

SECONDS = 0.5
A_MEBIBYTE = 0.3
MEMORY = 64 * 1024 * 1024
FACTOR = 64
"""Allowed memory in multiples of the frame: for its JSON (see ``read_json``), and for the value made from it."""
CAP = 16 * 1024 * 1024
_HANG_SECONDS = 600
"""Limit in wall-clock seconds. It is generous, since memory is traced and the machine may be busy."""
_SIZES = (1,) * 60 + (30,) * 30 + (1_000,) * 8 + (40_000, 300_000)
"""Approximate numbers of parts of a frame; each frame draws one of them."""
_TAGS = ("int", "float", "bytes", "tuple", "dict", "set", "frozenset", "complex", *columns.TAGS)
_DTYPES = ("<f8", "|O", "str", "<M8[ns]", "<U5", "<U999999", "<c16", "|b1", "x", "")
_NUMBERS = (
    "0", "-1", "1.5", "1e308", "1e999", "-1e-999", "9" * 19, "9" * 4301, "0." + "3" * 5000, "NaN", "-Infinity", "01",
)  # fmt: skip
_TEXTS = ('""', '"a"', '"\\ud800"', '"\\u0000"', '"[[[{"', '"\\""', '"é"', '"' + "x" * 2000 + '"')
_MERSENNE = 2**61 - 1


def frame(seed: int, number: int) -> bytes:
    """Return the body of frame ``number``."""
    rng = random.Random(f"{seed} {number}")
    value = _value(rng, rng.choice(_SIZES), 0)
    kind = rng.choice(("value", "call", "raise", "answer", "ready", "x"))
    extra = rng.choice(('"n":"1"', '"n":"1","v":2', '"result":{"reward":1}', '"args":[[]]'))
    body = f'{{"k":"{kind}","v":{value},{extra}}}'.encode("utf-8", "surrogatepass")
    for _ in range(rng.choice((0, 0, 0, 1, 1, 5))):
        body = _spoil(rng, body)
    return body


def _value(rng: random.Random, size: int, depth: int) -> str:
    """Return JSON of a tagged value with about ``size`` parts, often malformed."""
    if size <= 1 or depth > 120:
        return rng.choice((rng.choice(_NUMBERS), rng.choice(_TEXTS), "null", "true", _leaf(rng)))
    choice = rng.random()
    if choice < 0.15:
        return _many(rng, size)
    if choice < 0.25:
        return _deep(rng, min(size, rng.choice((50, 99, 101, 309, 311, 100_000))))
    if choice < 0.45:
        return _columns(rng, size)
    parts = [_value(rng, size // 4, depth + 1) for _ in range(rng.randint(0, 4))]
    if choice < 0.6:
        return f"[{','.join(parts)}]"
    tag = rng.choice(_TAGS)
    if tag == "dict":
        parts = [f"[{_value(rng, 1, depth)},{part}]" for part in parts]
    return f'{{"t":"{tag}","v":[{",".join(parts)}]}}'


def _leaf(rng: random.Random) -> str:
    body = rng.choice(("f" * 19, "-1", "f" * 83_000, "zz", "nan", "", "1_0", "f" * 90_000))
    return f'{{"t":"{rng.choice(_TAGS)}","v":"{body}"}}'


def _many(rng: random.Random, size: int) -> str:
    """Return many small parts in one list, set or dict."""
    forms: tuple[Callable[[int], str], ...] = (
        lambda n: str(n),
        lambda n: f'"{n}"',
        lambda n: f'{{"t":"int","v":"{n * _MERSENNE:x}"}}',
        lambda n: f'{{"t":"tuple","v":[{-1 - n % 2},{-1 - n // 2 % 2},{n}]}}',
        lambda n: "[]",
        lambda n: "[[[]]]",
        lambda n: "{}",
        lambda n: '{"":0}',
        lambda n: '{"t":"array","v":["<f8",[],[1000,0]]}',
        lambda n: '"\\ud83d\\ude00"',
        lambda n: f"{n}.5",
    )  # fmt: skip
    keys = rng.choice(forms)
    made = [keys(n) for n in range(size)]
    form = rng.choice(("list", "set", "dict", "frame", "object"))
    if form == "list":
        return f"[{','.join(made)}]"
    if form == "object":
        return "{" + ",".join(f'"{n % (size - 1)}":{one}' for n, one in enumerate(made)) + "}"
    if form == "frame":
        columns_ = ",".join(['["<f8",[]]'] * size)
        return f'{{"t":"frame","v":[[{",".join(made)}],[{columns_}],[]]}}'
    body = ",".join(f"[{one},0]" for one in made) if form == "dict" else ",".join(made)
    return f'{{"t":"{form}","v":[{body}]}}'


def _deep(rng: random.Random, depth: int) -> str:
    head, tail = rng.choice((
        ("[", "]"),
        ('{"a":', "}"),
        ('{"t":"tuple","v":[', "]}"),
        ('{"t":"frozenset","v":[', "]}"),
        ('{"t":"dict","v":[[', ",0]]}"),
        ("[[],", "]"),
    ))  # fmt: skip
    closing = tail * (depth if rng.random() < 0.8 else depth // 2)
    return head * depth + "1" + closing


def _columns(rng: random.Random, size: int) -> str:
    """Return an array, table or column whose shape may not match its values."""
    values = f"[{','.join(['1'] * rng.choice((0, 0, 1, size)))}]"
    axes = [
        rng.choice((0, 1, 2, size, 1000, 1_000_000, -1)) for _ in range(rng.choice((1, 2, 3, 64)))
    ]
    dtype = rng.choice(_DTYPES)
    tag = rng.choice(columns.TAGS)
    index = _value(rng, min(size // 4, 100), 110)
    last = rng.choice((json.dumps(axes), f"{index},null", index))
    return f'{{"t":"{tag}","v":["{dtype}",{values},{last}]}}'


def _spoil(rng: random.Random, body: bytes) -> bytes:
    """Return the bytes cut, flipped, repeated or in another encoding."""
    at, end = sorted((rng.randrange(len(body) + 1), rng.randrange(len(body) + 1)))
    match rng.randrange(6):
        case 0:
            return body[:at]
        case 1:
            return body[:at] + bytes([rng.randrange(256)]) + body[at + 1 :]
        case 2:
            return body[:end] + body[at:end] + body[end:]
        case 3:
            return body[:at] + body[end:]
        case 4:
            return rng.choice(
                (b"\xef\xbb\xbf" + body, body[:1000].decode("latin-1").encode("utf-16"))
            )
        case _:
            return body.replace(
                *rng.choice(((b"t", b"v"), (b"1", b"[1]"), (b'"', b'\\"'), (b",", b",,"))), 3
            )


def _message(body: bytes) -> None:
    message = read_message(body)
    decode(message.get("v"))


def _for_box(body: bytes) -> None:
    decode_for_box(read_message(body).get("v"))


def _session(body: bytes) -> None:
    text = json.dumps({"k": "answer", "body": body.decode("latin-1")}).encode()
    decode(read_message(read_message(text)["body"].encode("ascii", "replace")).get("v"))


def _reply(body: bytes) -> None:
    reply = read_json(body, nan=True)
    if isinstance(reply, dict):
        read_reply(reply, "")


def _framed(body: bytes) -> None:
    """Read frames from a stream: the body with a header, then the body without one."""
    stream = bytearray(HEADER.pack(len(body)) + body + body)
    try:
        while (one := take_frame(stream, CAP)) is not None:
            if one != body:
                read_message(one)
    except FrameTooLong:
        return


READERS: dict[str, Callable[[bytes], object]] = {
    "message": _message,
    "for a box": _for_box,
    "session": _session,
    "facts": Attached.facts,
    "worker reply": _reply,
    "stream": _framed,
}


@dataclass
class Report:
    """Results so far; ``faults`` lists the frames that broke a limit or raised."""

    frames: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int, str] = (0.0, 0, "")
    hungriest: tuple[float, int, str] = (0.0, 0, "")
    most_bytes: tuple[int, int, str] = (0, 0, "")
    faults: list[str] = field(default_factory=list)


def try_frame(seed: int, number: int, report: Report) -> None:
    """Pass one frame to every reader, and record time and memory."""
    body = frame(seed, number)
    report.frames += 1
    allowed = MEMORY + FACTOR * len(body)
    seconds = SECONDS + A_MEBIBYTE * len(body) / (1 << 20)
    for name, read in READERS.items():
        for traced in (False, True):
            if traced:
                tracemalloc.start()
            gc.disable()  # do not charge the reader for collecting older objects
            began = time.thread_time()
            try:
                read(body)
                report.read[name] += not traced
            except FrameError:
                report.refused[name] += not traced
            except Exception as error:  # noqa: BLE001 - any other error is a fault
                report.faults.append(f"frame {number}, {name}: {error!r:.200}")
            took = time.thread_time() - began
            gc.enable()
            if traced:
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                report.most_bytes = max(report.most_bytes, (peak, number, name))
                report.hungriest = max(report.hungriest, (peak / allowed, number, name))
                if peak > allowed:
                    report.faults.append(f"frame {number}, {name}: {peak} of {allowed} bytes")
                continue
            report.slowest = max(report.slowest, (took, number, name))
            if took > seconds:
                report.faults.append(f"frame {number} of {len(body)} bytes, {name}: {took:.2f} s")


def main() -> int:
    """Fuzz for ``--minutes`` minutes, print the report and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    if options.show is not None:
        body = frame(options.seed, options.show)
        print(len(body), body[:2000])
        return 0
    report = Report()
    end = time.monotonic() + options.minutes * 60
    while time.monotonic() < end and len(report.faults) < 20:
        faulthandler.dump_traceback_later(_HANG_SECONDS, exit=True)
        if report.frames % 1000 == 0:
            print(
                f"frame {report.frames}: {len(report.faults)} faults", file=sys.stderr, flush=True
            )
        try_frame(options.seed, report.frames, report)
    faulthandler.cancel_dump_traceback_later()
    facts: dict[str, Any] = vars(report)
    print(json.dumps(facts, indent=1, ensure_ascii=True))
    if options.json is not None:
        atomic_write_text(options.json, json.dumps(facts) + "\n")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
