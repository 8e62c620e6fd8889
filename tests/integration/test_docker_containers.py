from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from prorl_common import UserError
from prorl_sandbox.docker_backend.engine import LABEL, SCOPE_LABEL, Engine, scope
from prorl_sandbox.docker_backend.sandbox import DockerSandbox, open_docker
from prorl_sandbox.types import Limits, Program, SandboxError

FAST = Limits(wall_seconds=20.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)
Mine = Callable[[], set[str]]

LEAVES_PROCESSES = """
import os, time
if os.fork() == 0:
    os.setsid()
    for _ in range(3):
        os.fork()
    while True:
        try:
            open("marker", "w").close()
        except OSError:
            pass
time.sleep(0.1)
print("left")
"""
LEAVES_A_DEEP_TREE = """
import os
for i in range(1500):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
    if i % 100 == 0:
        open("f", "w").close()
        os.mkdir("closed", 0)
        os.symlink("/usr", "link")
print("left")
"""


@pytest.fixture
def own(image: str) -> Iterator[DockerSandbox]:
    sandbox = open_docker(image, containers=2)
    yield sandbox
    sandbox.close()


def _processes(engine: Engine, container: str) -> list[list[str]]:
    with engine.calls("listing processes") as api:
        found: list[list[str]] = api.top(container)["Processes"]
        return found


@pytest.mark.parametrize("source", [LEAVES_PROCESSES, LEAVES_A_DEEP_TREE])
def test_nothing_is_left_of_a_run_and_the_container_serves_on(
    own: DockerSandbox, engine: Engine, mine: Mine, source: str
) -> None:
    before = mine()
    outcome = own.run(Program(source), FAST)
    assert outcome.status == "ok" and outcome.stdout == "left\n", outcome.stderr
    assert before <= mine()
    for container in mine() & before:
        assert len(_processes(engine, container)) == 2  # init and the template
    seen = own.run(Program("import os\nprint(os.listdir())"), FAST)
    assert seen.stdout == "[]\n"


def test_a_stranger_in_a_container_ends_it(image: str, engine: Engine, mine: Mine) -> None:
    others = mine()
    sandbox = open_docker(image, containers=2)
    try:
        (first,) = mine() - others
        with engine.calls("starting a stranger") as api:
            made = api.exec_create(first, ["sleep", "1000"], user="0:0")
            api.exec_start(made["Id"], detach=True)
        assert sandbox.run(Program("print(1)"), FAST).stdout == "1\n"
        assert first not in mine()
        assert sandbox.run(Program("print(2)"), FAST).stdout == "2\n"
    finally:
        sandbox.close()


def test_a_container_is_replaced_after_its_runs(image: str, mine: Mine) -> None:
    others = mine()
    sandbox = open_docker(image, containers=2, runs_per_container=3)
    try:
        seen: set[str] = set()
        for _ in range(7):
            seen |= mine() - others
            assert sandbox.run(Program("print(1)"), FAST).stdout == "1\n"
        seen |= mine() - others
        assert len(seen) == 3
    finally:
        sandbox.close()
    assert mine() <= others


def test_limits_may_change_from_run_to_run(own: DockerSandbox) -> None:
    source = "x = bytearray({} << 20)\nimport time; print(len(x) >> 20)"
    for megabytes in (64, 700, 64, 300):
        limits = Limits(memory_mb=megabytes + 50)
        outcome = own.run(Program(source.format(megabytes)), limits)
        assert outcome.stdout == f"{megabytes}\n", outcome
    assert own.run(Program(source.format(300)), Limits(memory_mb=100)).status == "memory"
    files = "for i in range({}): open(str(i), 'wb').write(bytes(1 << 20))\nprint('fits')"
    assert own.run(Program(files.format(100)), Limits(scratch_mb=128)).stdout == "fits\n"
    assert own.run(Program(files.format(40)), Limits(scratch_mb=32)).status == "runtime-error"
    threads = (
        "import threading\nthreading.stack_size(1 << 18)\ngo = threading.Event()\n"
        "all = [threading.Thread(target=go.wait, daemon=True) for _ in range(100)]\n"
        "for one in all: one.start()\ngo.set()\nprint('fits')"
    )
    assert own.run(Program(threads), Limits(processes=110)).stdout == "fits\n"
    assert own.run(Program(threads), Limits(processes=16)).status == "runtime-error"


def test_runs_from_many_threads_share_the_containers(own: DockerSandbox) -> None:
    results: list[str] = []
    check = "def check(candidate): assert candidate(1) == 2"

    def work(number: int) -> None:
        if number % 3:
            results.append(own.run(Program(f"print({number})"), FAST).status)
        else:
            program = Program("def f(x): return x + 1")
            results.append(own.run_check(program, check, "f", FAST).status)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert results == ["ok"] * 12


def test_closing_ends_runs_and_leaves_no_container(image: str, mine: Mine) -> None:
    others = mine()
    sandbox = open_docker(image, containers=2)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            sandbox.run(Program("import time; time.sleep(60)"), Limits(wall_seconds=60.0))
        except SandboxError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(1.0)
    sandbox.close()
    thread.join(60)
    assert len(errors) == 1
    assert mine() <= others
    with pytest.raises(SandboxError, match="closed"):
        sandbox.run(Program("print(1)"), FAST)


HOST = """
import sys
from prorl_sandbox.docker_backend.sandbox import open_docker
from prorl_sandbox.types import Limits, Program
sandbox = open_docker(sys.argv[1], containers=2)
print("ready", flush=True)
sandbox.run(Program("while True: pass"), Limits(wall_seconds=300.0, cpu_seconds=300.0))
"""


def _labelled(engine: Engine, number: int) -> list[str]:
    with engine.calls("listing containers") as api:
        found = api.containers(all=True, filters={"label": SCOPE_LABEL})
    return [one["Id"] for one in found if one["Labels"][LABEL].startswith(f"{number}-")]


def test_containers_die_with_a_killed_host(image: str, engine: Engine) -> None:
    with subprocess.Popen([sys.executable, "-c", HOST, image], stdout=subprocess.PIPE) as host:
        assert host.stdout is not None and host.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        assert _labelled(engine, host.pid)
        host.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while _labelled(engine, host.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _labelled(engine, host.pid)


def test_orphans_of_dead_processes_are_removed_and_no_others(image: str, engine: Engine) -> None:
    owners = {"dead": "999999999-1", "alive": f"{os.getppid()}-", "foreign": "999999999-1"}
    alive = subprocess.run(
        ["cut", "-d)", "-f2-", f"/proc/{os.getppid()}/stat"], capture_output=True, check=True
    )
    owners["alive"] += alive.stdout.split()[19].decode()
    made: dict[str, str] = {}
    try:
        with engine.calls("making orphans") as api:
            for name, owner in owners.items():
                where = "another machine" if name == "foreign" else scope()
                labels = {LABEL: owner, SCOPE_LABEL: where}
                made[name] = api.create_container(image, ["python3"], labels=labels)["Id"]
        assert engine.reap_orphans() == 1
        with engine.calls("looking") as api:
            left = {one["Id"] for one in api.containers(all=True)}
        assert {name for name, found in made.items() if found in left} == {"alive", "foreign"}
    finally:
        with engine.calls("cleaning up") as api:
            for found in made.values():
                if found in {one["Id"] for one in api.containers(all=True)}:
                    api.remove_container(found, force=True)


def test_a_check_needs_two_containers(image: str) -> None:
    with pytest.raises(UserError, match="at least 2"):
        open_docker(image, containers=1)


def test_a_run_whose_container_was_removed_by_others_is_run_again_in_another(
    image: str, engine: Engine, mine: Mine
) -> None:
    others = mine()
    sandbox = open_docker(image, containers=2)
    try:

        def remove() -> None:
            time.sleep(1.0)
            with engine.calls("removing") as api:
                for found in mine_now - others:
                    api.remove_container(found, force=True)

        mine_now = mine()
        thread = threading.Thread(target=remove)
        thread.start()
        program = Program("import time\ntime.sleep(4)\nprint(42)")
        assert sandbox.run(program, Limits(wall_seconds=60.0)).stdout == "42\n"
        thread.join()
        assert not mine_now & mine()
        assert sandbox.run(Program("print(1)"), FAST).stdout == "1\n"
    finally:
        sandbox.close()
