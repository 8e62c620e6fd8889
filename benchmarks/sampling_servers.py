"""Samples a second by the number of servers, each of which answers after a fixed time and needs no CPU for it.

    python benchmarks/sampling_servers.py [--samples 384] [--latency 0.5] [--json OUT.json]

Servers are threads of this process that sleep, 8 requests at a time each, so that the figures are of how the work is
given out, not of a model. Rows: 1, 2 and 4 equal servers, and 4 of which one is four times as slow, given out from one
list (ours) and beside it in equal shares beforehand, as launching a process a server by hand does.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from prorl_inference import Request, SamplingParams, ServerOptions, open_servers
from prorl_inference.backends.openai.spec import SPEC
from prorl_inference.backends.openai.testing import FakeServer

AT_ONCE = 8
PARAMS = SamplingParams(1.0, 1.0, 16)
SLOWER = 4.0
CASES = {"1": (1.0,), "2": (1.0,) * 2, "4": (1.0,) * 4, "4, one slow": (SLOWER, 1.0, 1.0, 1.0)}


def answer_after(seconds: float) -> Any:
    """Return an answerer that sleeps first."""

    def answer(body: Mapping[str, Any]) -> str:
        time.sleep(seconds)
        return str(body["seed"])

    return answer


def sample(urls: Sequence[str], requests: Sequence[Request]) -> float:
    """Return the seconds that all requests take."""
    with open_servers(SPEC, urls, ServerOptions(concurrency=AT_ONCE), lambda _: None) as pool:
        began = time.perf_counter()
        answers = pool.generate(requests, PARAMS)
        seconds = time.perf_counter() - began
    assert [a[0].text for a in answers] == [str(r.seeds[0]) for r in requests]
    return seconds


def measure(factors: Sequence[float], latency: float, count: int) -> dict[str, Any]:
    """Return samples a second from one list and in equal shares, and how many each server answered."""
    requests = [Request(({"role": "user", "content": "q"},), (seed,)) for seed in range(count)]
    with ExitStack() as scope:
        servers = [
            scope.enter_context(FakeServer(answer=answer_after(latency * factor)))
            for factor in factors
        ]
        shared = sample([s.url for s in servers], requests)
        answered = [len(s.bodies) for s in servers]
        threads = [
            threading.Thread(target=sample, args=([s.url], requests[n :: len(servers)]))
            for n, s in enumerate(servers)
        ]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        apart = time.perf_counter() - began
    return {
        "samples_a_second": round(count / shared, 2),
        "equal_shares": round(count / apart, 2),
        "possible": round(sum(AT_ONCE / (latency * factor) for factor in factors), 2),
        "answered": answered,
    }


def main() -> None:
    """Measure every case and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=384)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of an answer")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = {
        name: measure(factors, options.latency, options.samples) for name, factors in CASES.items()
    }
    one = rows["1"]["samples_a_second"]
    print(
        f"{'servers':>12} {'samples/s':>10} {'ratio':>6} {'possible':>9} {'equal shares':>13}  answered"
    )
    for name, row in rows.items():
        rate = row["samples_a_second"]
        print(
            f"{name:>12} {rate:>10.1f} {rate / one:>6.2f} {row['possible']:>9.1f} "
            f"{row['equal_shares']:>13.1f}  {row['answered']}"
        )
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
