from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import ServiceError, UserError
from prorl_inference.backends.openai.testing import FakeServer, Fault

pytestmark = pytest.mark.usefixtures("fake_pool")


def call(*more: str) -> Result:
    small = ["--k", "4", "--n", "8", "--set", "sampling.max_tokens=8"]
    return CliRunner().invoke(build_app(), ["eval", "pass-at-k", *small, *more])


def served(servers: Sequence[FakeServer], *more: str) -> Result:
    urls = ",".join(s.url for s in servers)
    return call("--set", f"server.url={urls}", "--set", "server.concurrency=2", *more)


def rows(folder: str, name: str = "samples.jsonl") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in (Path(folder) / name).read_text().splitlines()]
    for row in found:
        row.pop("seconds")
    return sorted(found, key=lambda r: str(r["key"]))


def result(folder: str) -> str:
    """Return the bytes of a result without timings."""
    found = json.loads((Path(folder) / "result.json").read_text())
    for name in ("sampling_seconds", "wall_seconds", "created"):
        del found[name]
    return json.dumps(found)


def same(first: str, second: str) -> bool:
    files = ("samples.jsonl", "verdicts.jsonl")
    return result(first) == result(second) and all(
        rows(first, name) == rows(second, name) for name in files
    )


def test_one_two_and_three_servers_give_the_same_bytes(
    workplace: Path, servers: list[FakeServer]
) -> None:
    for count in (1, 2, 3):
        done = served(servers[:count], "--out", f"by{count}")
        assert done.exit_code == 0, done.output
    assert same("by1", "by2") and same("by1", "by3")
    assert f"at {servers[0].url}, {servers[1].url}, {servers[2].url}" in done.stderr
    assert "server: 40 answers, 400 tokens in" in done.stderr
    assert sum(len(s.bodies) for s in servers) == 3 * 40 and all(s.bodies for s in servers)


def test_a_server_that_dies_midway_costs_nothing_but_its_line(
    workplace: Path, servers: list[FakeServer]
) -> None:
    assert served(servers[:1], "--out", "whole").exit_code == 0
    servers[1].script = lambda number, _: Fault(503) if number > 5 else None
    done = served(servers[1:], "--out", "one-died")
    assert done.exit_code == 0, done.output
    assert same("whole", "one-died")
    assert f"the server {servers[1].url} stopped" in done.stderr.replace("\n", "")


def test_a_cut_evaluation_goes_on_with_another_number_of_workers(
    workplace: Path, servers: list[FakeServer]
) -> None:
    assert served(servers[:1], "--out", "whole").exit_code == 0
    for server in servers:
        seen = len(server.bodies)
        server.script = lambda number, _, seen=seen: Fault(503) if number > seen + 6 else None  # type: ignore[misc]
    cut = served(servers, "--out", "cut", "--set", "server.patience=1")
    assert isinstance(cut.exception, ServiceError)
    assert "run the same command again" in str(cut.exception)
    assert len(rows("cut")) == 18 and not (Path("cut") / "result.json").exists()
    assert all(row["reward"] is not None for row in rows("cut", "verdicts.jsonl"))
    servers[1].script = lambda *_: None
    asked = len(servers[1].bodies)
    assert served(servers[1:2], "--out", "cut").exit_code == 0
    assert len(servers[1].bodies) - asked == 40 - 18 and same("whole", "cut")


ECHO = """
import os
import signal
from pathlib import Path
from prorl_inference import BackendSpec, Completion

class Echo:
    model_id, model_digest = "echo", "d"

    def generate(self, requests, params, on_done=None, on_result=None):
        answers = []
        for index, request in enumerate(requests):
            marker = Path(os.environ["ECHO_DIES"])
            if marker.exists() and index == 1:
                marker.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            words = [f"{'yes' if s % 100 < 40 else 'no'} {s}" for s in request.seeds]
            answers.append([Completion(w, (1,), (-0.5,), "stop") for w in words])
            on_done(len(request.seeds))
            on_result(index, answers[-1])
        return answers

    def close(self):
        pass

ECHO = BackendSpec("echo_evaluation", lambda _: Echo(), rows=4)
"""


def test_a_process_a_device_gives_the_same_bytes_also_when_one_dies(
    workplace: Path, tiny_models: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = workplace / "dies"
    monkeypatch.setenv("ECHO_DIES", str(marker))
    (workplace / "echo.py").write_text(ECHO)
    words = [
        "--model",
        str(tiny_models[0]),
        "--set",
        "model.backend=echo_evaluation",
        "--plugin",
        "echo.py",
    ]
    for devices in ("cpu", "cpu,cpu", "cpu,cpu,cpu"):
        if devices == "cpu,cpu,cpu":
            marker.touch()
        done = call(*words, "--set", f"model.device={devices}", "--out", devices)
        assert done.exit_code == 0, done.output
    assert same("cpu", "cpu,cpu") and same("cpu", "cpu,cpu,cpu")
    assert "its process died (signal 9" in done.stderr.replace("\n", " ")


@pytest.mark.slow
def test_two_processes_sample_a_transformers_model_to_the_same_bytes_and_resume(
    workplace: Path, tiny_models: tuple[Path, Path]
) -> None:
    words = ["--model", str(tiny_models[0])]
    for devices in ("cpu", "cpu,cpu"):
        done = call(*words, "--set", f"model.device={devices}", "--out", devices)
        assert done.exit_code == 0, done.output
    assert same("cpu", "cpu,cpu")
    shutil.copytree("cpu", "cut")
    lines = (Path("cut") / "samples.jsonl").read_text().splitlines(keepends=True)
    (Path("cut") / "samples.jsonl").write_text("".join(lines[:11]))
    done = call(*words, "--set", "model.device=cpu,cpu", "--out", "cut")
    assert done.exit_code == 0 and same("cpu", "cut"), done.output


def test_rows_are_rated_by_several_servers(workplace: Path, servers: list[FakeServer]) -> None:
    rate = ["data", "rate", "data/small", "--split", "test", "--samples", "4"]
    urls = ",".join(s.url for s in servers)
    few = ["--set", "server.concurrency=2"]  # one server alone could take all requests otherwise
    done = CliRunner().invoke(build_app(), [*rate, "--set", f"server.url={urls}", *few, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rated"] == 5
    # under load a sample that is slow is also sent to another server
    seeds = {(json.dumps(b["messages"]), b["seed"]) for s in servers for b in s.bodies}
    assert len(seeds) == 20 and all(s.bodies for s in servers)


def test_servers_and_devices_that_cannot_be_are_a_mistake_before_anything_is_asked(
    workplace: Path, servers: list[FakeServer]
) -> None:
    for words, said in (
        (["--set", f"server.url={servers[0].url},ftp://x"], "write it as http://host:8000/v1"),
        (["--set", "server.url=,"], "url"),
        (["--set", "model.device=cpu,cuda:0"], "use either numbered GPUs"),
    ):
        done = call(*words)
        assert isinstance(done.exception, UserError) and said in str(done.exception)
    assert not any(s.bodies for s in servers)
