"""The reward service under load: many clients, mixed verifiers, hostile requests; then SIGTERM in the middle.

    python benchmarks/verify_server.py [--requests N] [--clients N] [--json FILE]

Starts ``prorl verify serve`` on a free port. 95% of the requests hold 1 to 8 items of the five verifiers with known
rewards; 5% are hostile: answers that should hang a grader, malformed tasks, broken JSON, huge bodies. Each must get
exactly one definite answer, and every reward must be right. Latency is from the first byte sent to the last byte read.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from verify_server_requests import BODY_LIMIT_MB, Ask, make_requests

TRY_SECONDS = 2.0


@dataclass
class Tally:
    """Outcomes of the requests, with seconds by kind."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    items: int = 0


@contextlib.contextmanager
def service(workers: int, queue: int = 20_000) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run ``prorl verify serve`` on a free port; yield its address and process."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder, "ready")
        command = [sys.executable, "-m", "prorl_cli", "verify", "serve", "--port", "0"]
        command += ["--workers", str(workers), "--queue", str(queue), "--timeout", str(TRY_SECONDS)]
        command += ["--max-body-mb", str(BODY_LIMIT_MB), "--ready-file", str(ready)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            while not ready.exists():
                if process.poll() is not None:
                    raise SystemExit(f"the service ended with code {process.returncode}")
                time.sleep(0.05)
            yield ready.read_text().strip(), process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait()


class Client:
    """A minimal HTTP/1.1 client with one request at a time; ``keep`` reuses the connection."""

    def __init__(self, url: str, keep: bool) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._keep = keep
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return (status, headers, body). Raises ConnectionRefusedError if no server listens."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        kept = "keep-alive" if self._keep else "close"
        head = f"POST /verify HTTP/1.1\r\nHost: {self._host}\r\nConnection: {kept}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        status = int(lines[0].split()[1])
        pairs = (line.split(": ", 1) for line in lines[1:] if line)
        headers = {name.lower(): value for name, value in pairs}
        data = await reader.readexactly(int(headers["content-length"]))
        if not self._keep or headers.get("connection") == "close":
            self.close()
        return status, headers, data

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _send_all(url: str, asks: list[Ask], clients: int) -> Tally:
    """Send every request, ``clients`` at a time; repeat it only after a 503."""
    tally, waiting = Tally(), iter(asks)

    async def work() -> None:
        client = Client(url, keep=True)
        for ask in waiting:
            started = time.perf_counter()
            try:
                status, headers, data = await client.post(ask.body)
                while status == 503:
                    tally.outcomes["503, sent again"] += 1
                    await asyncio.sleep(float(headers["retry-after"]))
                    status, headers, data = await client.post(ask.body)
            except (OSError, EOFError) as error:
                tally.outcomes["lost"] += 1
                tally.wrong.append(f"{ask.kind}: {type(error).__name__}")
                client.close()
                continue
            tally.seconds.setdefault(ask.kind, []).append(time.perf_counter() - started)
            tally.outcomes[str(status)] += 1
            _check(ask, status, data, tally)
        client.close()

    await asyncio.gather(*(work() for _ in range(clients)))
    return tally


def _check(ask: Ask, status: int, data: bytes, tally: Tally) -> None:
    if status != ask.status:
        tally.wrong.append(f"{ask.kind}: HTTP {status}, not {ask.status}: {data[:200]!r}")
        return
    if ask.rewards is None:
        return
    rows = json.loads(data)["verdicts"]
    tally.items += len(rows)
    if [row["reward"] for row in rows] != list(ask.rewards):
        found = [(row["reward"], row["status"], row["reason"]) for row in rows]
        tally.wrong.append(f"{ask.kind}: {found}, not {ask.rewards}")


def measure_server(
    requests: int = 10_000, clients: int = 64, hostile: float = 0.05, workers: int = 2
) -> dict[str, Any]:
    """Return the results of the load test; ``lost`` and ``wrong`` must be 0."""
    asks = make_requests(requests, hostile)
    with service(workers) as (url, _):
        started = time.perf_counter()
        tally = asyncio.run(_send_all(url, asks, clients))
        elapsed = time.perf_counter() - started
    answered = sum(len(values) for values in tally.seconds.values())
    return {
        "requests": requests,
        "clients": clients,
        "workers": workers,
        "answered": answered,
        "lost": requests - answered,
        "wrong": len(tally.wrong),
        "examples": tally.wrong[:5],
        "outcomes": dict(tally.outcomes),
        "items": tally.items,
        "seconds": elapsed,
        "requests_per_second": requests / elapsed,
        "items_per_second": tally.items / elapsed,
        "milliseconds": {kind: _spread(values) for kind, values in sorted(tally.seconds.items())},
    }


def _spread(seconds: list[float]) -> dict[str, float]:
    values = sorted(1000 * value for value in seconds)
    place = min(len(values) - 1, int(0.99 * len(values)))
    middle = statistics.median(values)
    return {"n": len(values), "p50": middle, "p99": values[place], "max": values[-1]}


def measure_drain(requests: int = 2000, clients: int = 64, workers: int = 2) -> dict[str, Any]:
    """Send SIGTERM while requests run, and return how they ended. ``unanswered`` and ``wrong`` must be 0.

    A client stops at its first 503 or refused connection, as one that honours Retry-After would.
    """
    asks = make_requests(requests, 0.0, seed=1)
    tally, waiting = Tally(), iter(asks)

    async def run(url: str, process: subprocess.Popen[bytes]) -> None:
        async def work() -> None:
            client = Client(url, keep=False)
            for ask in waiting:
                if tally.outcomes["200"] == requests // 4 and not tally.outcomes["signal"]:
                    tally.outcomes["signal"] = 1
                    process.send_signal(signal.SIGTERM)
                try:
                    status, _, data = await client.post(ask.body)
                except ConnectionRefusedError:
                    tally.outcomes["refused"] += 1
                    return
                except (OSError, EOFError) as error:
                    tally.outcomes["unanswered"] += 1
                    tally.wrong.append(type(error).__name__)
                    return
                tally.outcomes[str(status)] += 1
                if status == 503:
                    return
                _check(ask, status, data, tally)

        await asyncio.gather(*(work() for _ in range(clients)))

    with service(workers) as (url, process):
        asyncio.run(run(url, process))
        code = process.wait(120)
    return {"requests": requests, "exit_code": code} | _drain_facts(tally)


def _drain_facts(tally: Tally) -> dict[str, Any]:
    return {
        "signal_sent": tally.outcomes["signal"] == 1,
        "answered_200": tally.outcomes["200"],
        "answered_503": tally.outcomes["503"],
        "refused": tally.outcomes["refused"],
        "unanswered": tally.outcomes["unanswered"],
        "wrong": len(tally.wrong),
        "examples": tally.wrong[:5],
    }


def show(load: dict[str, Any], drain: dict[str, Any]) -> None:
    """Print both results as plain lines."""
    print(
        f"load: {load['requests']} requests ({load['items']} items) from {load['clients']} clients, "
        f"{load['workers']} workers: {load['requests_per_second']:.0f} requests/s, "
        f"{load['items_per_second']:.0f} items/s, {load['lost']} lost, {load['wrong']} wrong"
    )
    print(f"  answers: {load['outcomes']}")
    for kind, row in load["milliseconds"].items():
        numbers = f"p50 {row['p50']:.1f} ms · p99 {row['p99']:.1f} ms · max {row['max']:.0f} ms"
        print(f"  {kind:15} {row['n']:6} · {numbers}")
    print(
        f"drain: {drain['answered_200']} answered before and after SIGTERM, "
        f"{drain['answered_503']} told to come back, {drain['refused']} not connected, "
        f"{drain['unanswered']} unanswered, {drain['wrong']} wrong, exit code {drain['exit_code']}"
    )
    for line in load["examples"] + drain["examples"]:
        print(f"  wrong: {line}")


def main() -> int:
    """Measure, print and write JSON; return 1 if an answer was lost or wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--hostile", type=float, default=0.05)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    load = measure_server(given.requests, given.clients, given.hostile, given.workers)
    drain = measure_drain(min(2000, given.requests), given.clients, given.workers)
    show(load, drain)
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    if given.json is not None:
        document = {"machine": machine, "load": load, "drain": drain}
        given.json.write_text(json.dumps(document, indent=2) + "\n")
    good = not (load["lost"] or load["wrong"] or drain["unanswered"] or drain["wrong"])
    return 0 if good and drain["signal_sent"] and drain["exit_code"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
