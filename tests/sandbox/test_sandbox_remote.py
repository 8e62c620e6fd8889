"""The remote backend with real services on this machine: many threads, lost and restarted services, lost clients."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from prorl_common import UserError
from prorl_sandbox import (
    Call,
    Limits,
    LocalSandbox,
    Outcome,
    Program,
    Sandbox,
    SandboxError,
    Stdin,
    open_sandbox,
)
from prorl_sandbox.attacks.bait import processes_named
from prorl_sandbox.remote.codec import pack_outcome
from prorl_sandbox.remote.protocol import longest_line
from prorl_sandbox.remote.sandbox import RemoteSandbox, weakest
from prorl_sandbox.run.compiling import COMPILE_LIMITS
from prorl_verifiers import Task, VerifierPool

Serve = Callable[..., Any]
LIMITS = Limits(wall_seconds=30.0, cpu_seconds=10.0, memory_mb=256, output_kb=64)
NAMED = "import ctypes\nctypes.CDLL(None).prctl(15, b'{name}')\nwhile True: pass"
SLOW = "import time\nn = int(input())\ntime.sleep(0.05)\nprint(n * n)"


def wait_until(what: Callable[[], bool], seconds: float = 30.0) -> float:
    """Return how long it took."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() < began + seconds
        time.sleep(0.01)
    return time.monotonic() - began


def squares(remote: Sandbox, count: int, threads: int, source: str) -> None:
    """Run so many programs at once and see that each answer is its own."""

    def one(n: int) -> str:
        return remote.run(Program(source, stdin=f"{n}"), LIMITS).stdout

    with ThreadPoolExecutor(threads) as pool:
        assert list(pool.map(one, range(count))) == [f"{n * n}\n" for n in range(count)]


def test_two_hundred_threads_get_their_own_answers_in_few_requests(
    serve_sandbox: Serve, sandbox: LocalSandbox
) -> None:
    served = serve_sandbox()
    remote = open_sandbox(f"remote:{served.url}")
    with contextlib.closing(remote):
        assert remote.isolation == f"remote:{sandbox.isolation}"
        squares(remote, 400, 200, "n = int(input())\nprint(n * n)")
        counted = metrics(served.url)
    assert counted['prorl_sandbox_answers_total{status="ok"}'] == 400
    assert counted['prorl_sandbox_requests_total{code="200",endpoint="run"}'] < 200
    assert counted["prorl_sandbox_queue_items"] == counted["prorl_sandbox_busy_items"] == 0


def metrics(url: str) -> dict[str, float]:
    import urllib.request

    with urllib.request.urlopen(f"{url}/metrics") as found:
        lines = found.read().decode().splitlines()
    rows = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name: float(value) for name, value in rows}


@pytest.mark.slow
def test_a_service_that_is_killed_costs_no_answer_while_another_lives(serve_sandbox: Serve) -> None:
    first, second = serve_sandbox(), serve_sandbox()
    with RemoteSandbox([first.url, second.url]) as remote:
        threading.Timer(0.7, first.kill).start()
        squares(remote, 120, 40, SLOW)
        assert first.process.poll() is not None


def test_a_service_that_is_started_again_is_used_again(serve_sandbox: Serve) -> None:
    served = serve_sandbox()
    port = int(served.url.rpartition(":")[2])
    with RemoteSandbox([served.url]) as remote, ThreadPoolExecutor(1) as pool:
        threading.Timer(0.5, served.kill).start()
        work = pool.submit(squares, remote, 60, 20, SLOW)
        wait_until(lambda: served.process.poll() is not None)
        again = serve_sandbox(port=port)
        work.result(60)
        assert metrics(again.url)['prorl_sandbox_answers_total{status="ok"}'] > 0


@pytest.mark.slow
def test_all_services_lost_is_an_outage_and_never_a_reward(serve_sandbox: Serve) -> None:
    first, second = serve_sandbox(), serve_sandbox()
    task = Task("code", {"tests": [{"stdin": "2", "stdout": "4"}]})
    right = "```python\nprint(int(input()) * 2)\n```"
    with RemoteSandbox([first.url, second.url], patience=0.5) as remote:
        with VerifierPool(2, remote) as pool:
            assert pool.score([(right, task)])[0].reward == 1.0
            running = [threading.Timer(0.5, one.kill) for one in (first, second)]
            for timer in running:
                timer.start()
            with pytest.raises(SandboxError, match="service"):
                remote.run(Program("import time\ntime.sleep(20)"), LIMITS)
            verdict = pool.score([(right, task)])[0]
        assert (verdict.reward, verdict.status) == (None, "infra_error")
        with pytest.raises(SandboxError, match="connection refused"):
            remote.run(Program("print(1)"), LIMITS)


def test_the_boxes_of_a_client_that_is_killed_are_gone_within_a_second(
    serve_sandbox: Serve,
) -> None:
    served = serve_sandbox()
    name = f"gone{os.getpid()}"
    source = NAMED.format(name=name)
    client = subprocess.Popen(
        [
            sys.executable,
            "-c",
            (
                f"from prorl_sandbox import *; sandbox = open_sandbox('remote:{served.url}');"
                f"sandbox.run(Program({source!r}), Limits(60.0, 60.0))"
            ),
        ]
    )
    wait_until(lambda: name + "\n" in processes_named(name))  # the name of the box itself
    client.kill()
    client.wait(30)
    assert wait_until(lambda: not processes_named(name)) < 1.0
    with RemoteSandbox([served.url]) as remote:
        assert remote.run(Program("print(1)"), LIMITS).status == "ok"


def test_closing_the_iterator_of_cases_ends_what_runs_and_runs_no_more(
    serve_sandbox: Serve,
) -> None:
    served = serve_sandbox()
    name = f"shut{os.getpid()}"
    source = f"if input() == 'spin':\n{textwrap.indent(NAMED.format(name=name), '    ')}\nprint(1)"
    program = Program(source)
    with RemoteSandbox([served.url]) as remote:
        cases = remote.run_cases(program, [Stdin("go"), Stdin("spin"), Stdin("go")], LIMITS)
        assert isinstance(cases, Generator)
        assert next(cases).stdout == "1\n"
        wait_until(lambda: bool(processes_named(name)))
        cases.close()
        assert wait_until(lambda: not processes_named(name)) < 1.0
        assert remote.run(Program("print(2)"), LIMITS).stdout == "2\n"
    answered = metrics(served.url)
    assert answered['prorl_sandbox_answers_total{status="ok"}'] == 2


def test_closing_the_sandbox_ends_runs_of_other_threads(serve_sandbox: Serve) -> None:
    served = serve_sandbox()
    name = f"closed{os.getpid()}"
    remote = RemoteSandbox([served.url])
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(remote.run, Program(NAMED.format(name=name)), LIMITS)
        wait_until(lambda: bool(processes_named(name)))
        remote.close()
        with pytest.raises(SandboxError, match="closed"):
            work.result(10)
    wait_until(lambda: not processes_named(name))
    with pytest.raises(SandboxError, match="closed"):
        remote.run(Program("print(1)"), LIMITS)


def test_closing_after_an_answer_calls_no_service_lost(
    serve_sandbox: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    url = serve_sandbox().url
    for _ in range(30):  # the end of the answered request may still be on its way when it is cut
        with RemoteSandbox([url]) as remote:
            assert remote.run(Program("print(1)"), LIMITS).status == "ok"
    assert "lost" not in caplog.text


def test_waiting_for_a_slot_counts_for_no_limit(serve_sandbox: Serve) -> None:
    served = serve_sandbox("--slots", "2")
    short = Limits(wall_seconds=1.5, cpu_seconds=1.0, memory_mb=128)
    with RemoteSandbox([served.url]) as remote, ThreadPoolExecutor(12) as pool:
        program = Program("import time\ntime.sleep(0.4)\nprint(1)")
        found = list(pool.map(lambda _: remote.run(program, short), range(12)))
    assert {outcome.status for outcome in found} == {"ok"}  # the last waited for two seconds
    assert max(outcome.wall_seconds for outcome in found) < 1.5


def test_a_service_without_the_right_token_is_refused_with_the_cure(serve_sandbox: Serve) -> None:
    served = serve_sandbox(token="t" * 20)
    with pytest.raises(UserError, match="PRORL_TOKEN"):
        RemoteSandbox([served.url], "wrong")
    with RemoteSandbox([served.url], "t" * 20) as remote:
        assert remote.run(Program("print(1)"), LIMITS).stdout == "1\n"


def test_a_fork_of_the_client_has_connections_of_its_own(serve_sandbox: Serve) -> None:
    script = f"""
import os, sys
from prorl_sandbox import Limits, Program, open_sandbox
remote = open_sandbox("remote:{serve_sandbox().url}")
assert remote.run(Program("print(1)")).stdout == "1\\n"
child = os.fork()
if child == 0:
    os._exit(remote.run(Program("print(2)")).stdout != "2\\n")
for n in range(20):
    assert remote.run(Program(f"print({{n}})")).stdout == f"{{n}}\\n"
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=60, check=False)
    assert done.returncode == 0


@contextmanager
def proxy(port: int, prefix: bytes) -> Iterator[int]:
    """Forward what is asked under ``prefix`` to a port of the loopback."""

    def forward(source: socket.socket, sink: socket.socket, cut: bytes) -> None:
        with source, sink:
            while part := source.recv(1 << 16):
                sink.sendall(part.replace(b"POST " + cut, b"POST ", 1) if cut else part)

    def serve() -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", port))
            for ends in ((near, far, prefix), (far.dup(), near.dup(), b"")):
                threading.Thread(target=forward, args=ends, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def test_a_proxy_with_a_path_before_the_service_is_part_of_the_address(
    serve_sandbox: Serve,
) -> None:
    served = serve_sandbox()
    with proxy(int(served.url.rpartition(":")[2]), b"/lab/boxes") as port:
        with RemoteSandbox([f"http://127.0.0.1:{port}/lab/boxes/"]) as remote:
            squares(remote, 40, 8, "n = int(input())\nprint(n * n)")
        with pytest.raises(UserError, match="404"):
            RemoteSandbox([f"http://127.0.0.1:{port}/elsewhere"])


def test_draining_finishes_what_was_taken(serve_sandbox: Serve) -> None:
    served = serve_sandbox()
    with RemoteSandbox([served.url], patience=1.0) as remote, ThreadPoolExecutor(1) as pool:
        work = pool.submit(remote.run, Program("import time\ntime.sleep(2)\nprint(7)"), LIMITS)
        time.sleep(0.7)
        served.process.send_signal(signal.SIGTERM)
        assert work.result(30).stdout == "7\n"
    assert served.process.wait(30) == 0


def test_what_the_user_must_mend_comes_back_as_such(serve_sandbox: Serve) -> None:
    with RemoteSandbox([serve_sandbox().url]) as remote:
        with pytest.raises(UserError, match="unknown language"):
            remote.run(Program("x", language="nowhere"), LIMITS)
        with pytest.raises(UserError, match="argument"):
            remote.run(Program("def f(x): pass", call="f", args=(object(),)), LIMITS)
        with pytest.raises(UserError, match="wall_seconds"):
            remote.run(Program("print(1)"), Limits(wall_seconds=-1.0))
        with pytest.raises(UserError, match="output_kb"):
            remote.run(Program("print(1)"), Limits(output_kb=1 << 20))
        assert remote.run(Program("#" * 5_000_000), LIMITS).status == "compile-error"
        cases = remote.run_cases(Program("def f(x): return x"), [Call("f", (float("nan"),))])
        assert str(next(cases).value) == "nan"


def test_an_answer_as_long_as_a_program_can_make_it_is_no_outage(
    remote_sandbox: RemoteSandbox,
) -> None:
    kib = 64
    worst = Outcome(
        "ok",
        stdout="\ufffd" * 1024 * kib,
        stderr="\ufffd" * 1024 * kib,
        value=[1e15] * (1024 * kib // 5),
    )
    row = json.dumps({"job": 10**6, "outcome": pack_outcome(worst)})
    assert len(row) < longest_line(COMPILE_LIMITS.output_kb) * kib / COMPILE_LIMITS.output_kb
    source = f"import os\nfor end in (1, 2): os.write(end, b'\\xff' * {1024 * kib})"
    outcome = remote_sandbox.run(Program(source), replace(LIMITS, output_kb=kib))
    assert (outcome.status, len(outcome.stdout), len(outcome.stderr)) == ("ok", 65536, 65536)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here")
def test_a_long_complaint_of_a_compiler_is_no_outage(remote_sandbox: RemoteSandbox) -> None:
    errors = "\n".join(f"int a{n} = unknown_{'x' * 80}_{n};" for n in range(900))
    program = Program(errors, language="cpp")
    outcome = remote_sandbox.run(program, replace(LIMITS, output_kb=1))
    assert outcome.status == "compile-error" and len(outcome.stderr) > 100_000


def test_addresses_are_checked_before_anything_is_asked() -> None:
    for backend, words in (
        ("remote:", "needs addresses"),
        ("remote:ftp://host", "http://HOST:8422"),
        ("remote:http://user:secret@host", "password"),
    ):
        with pytest.raises(UserError, match=words) as found:
            open_sandbox(backend)
        assert "secret" not in str(found.value)


def test_the_weakest_level_is_the_one_that_counts() -> None:
    strong, limits = "namespaces+seccomp+landlock+cgroup", "namespaces+seccomp+landlock+rlimits"
    assert weakest([strong, limits]) == limits
    assert weakest([strong, "weak:user+cgroup", limits]) == "weak:user+cgroup"
    assert weakest(["docker-runsc+seccomp+cgroup", strong]) == "docker-runsc+seccomp+cgroup"
