from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_sandbox import processes_named

from prorl_common import UserError
from prorl_sandbox import (
    Capabilities,
    IsolationError,
    LocalSandbox,
    Program,
    SandboxError,
    capabilities,
    open_sandbox,
)
from prorl_sandbox.local.view import View, system_view
from prorl_sandbox.run.plan import NO_PACKAGES

HONEST = Program("print(6 * 7)")


def test_probe_reports_a_reason_for_each_missing_feature(capabilities: Capabilities) -> None:
    for name in ("user", "pid", "mount", "net", "ipc", "seccomp", "cgroup_v1", "cgroup_v2"):
        assert getattr(capabilities, name) or capabilities.reasons[name]
    assert capabilities.root == (os.geteuid() == 0)


def test_the_floor_is_user_pid_mount_net_and_seccomp(sandbox: LocalSandbox) -> None:
    found = capabilities.probe()
    assert found.strong
    assert replace(found, ipc=False, cgroup_v1=False).strong
    for wall in ("user", "pid", "mount", "net", "seccomp"):
        lowered: dict[str, Any] = {wall: False}
        weak = replace(found, **lowered)
        assert not weak.strong
        assert weak.isolation.startswith("weak")
        assert wall in weak.complaint()
        assert "--set reward.allow_weak=true" in weak.complaint()


def test_less_than_the_floor_is_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    found = replace(capabilities.probe(), net=False, reasons={"net": "forbidden here"})
    monkeypatch.setattr(capabilities, "probe", lambda: found)
    monkeypatch.setattr(capabilities, "_STRONG", {})
    with pytest.raises(IsolationError, match="forbidden here") as caught:
        open_sandbox()
    assert "\n" not in str(caught.value)
    assert open_sandbox(allow_weak=True).isolation.startswith("weak")


def test_a_weak_sandbox_still_runs_limits_and_cleans_up(tmp_path: Path) -> None:
    python = next(p for p in ("/usr/bin/python3", sys.executable) if Path(p).exists())
    weak = LocalSandbox(("seccomp",), "weak:seccomp+rlimits", python=python)
    outcome = weak.run(HONEST)
    assert (outcome.status, outcome.stdout) == ("ok", "42\n")
    assert outcome.isolation.startswith("weak")
    kill = Program("import posix\ntry:\n    posix.kill(-1, 0)\nexcept PermissionError: print('no')")
    assert weak.run(kill).stdout == "no\n"


def test_an_unknown_backend_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match="unknown sandbox backend"):
        open_sandbox("dokcer")


@pytest.mark.parametrize(
    "template",
    ["raise SystemExit(3)", "raise ValueError('template broke')", "import os; os.abort()", "("],
)
def test_a_template_that_dies_raises_sandbox_error(tmp_path: Path, template: str) -> None:
    path = tmp_path / "template.py"
    path.write_text(template)
    with pytest.raises(SandboxError, match="before the program started"):
        LocalSandbox((), "weak", template=path).run(HONEST)


def test_an_interpreter_that_cannot_be_started_raises_sandbox_error() -> None:
    with pytest.raises(SandboxError, match="could not start"):
        LocalSandbox((), "weak", python="/nowhere/python").run(HONEST)


def test_a_wall_that_cannot_be_built_raises_sandbox_error(monkeypatch: pytest.MonkeyPatch) -> None:
    impossible = View((("/nowhere/at/all", "/x"),))
    monkeypatch.setattr("prorl_sandbox.local.slots.system_view", lambda packages: impossible)
    sandbox = LocalSandbox(capabilities.WALLS, "test")
    with pytest.raises(SandboxError, match=r"could not isolate a program.*/nowhere"):
        sandbox.run(HONEST)
    sandbox.close()


def test_a_closed_sandbox_refuses_and_kills(sandbox: LocalSandbox) -> None:
    mine = LocalSandbox(capabilities.WALLS, "test")
    errors: list[BaseException] = []

    def sleep() -> None:
        try:
            mine.run(Program("import time\nprint('up', flush=True)\ntime.sleep(60)"))
        except SandboxError as error:
            errors.append(error)

    thread = threading.Thread(target=sleep)
    thread.start()
    while mine._opened is None or not mine._opened[1]._lent:
        threading.Event().wait(0.01)
    mine.close()
    thread.join(timeout=30)
    assert len(errors) == 1
    with pytest.raises(SandboxError, match="closed"):
        mine.run(HONEST)


def test_many_threads_share_one_sandbox_and_leak_no_descriptors(sandbox: LocalSandbox) -> None:
    results: list[str] = []

    def work(number: int) -> None:
        for i in range(3):
            outcome = sandbox.run(Program("def f(x):\n    return x", call="f", args=(number * i,)))
            results.append("ok" if outcome.value == number * i else repr(outcome))

    counts = []
    for _ in range(3):  # the first round starts what remains: the template and its slots
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        counts.append(len(os.listdir("/proc/self/fd")))
    assert results == ["ok"] * 54
    assert counts[1] == counts[2]


def test_a_box_works_when_the_host_has_hundreds_of_descriptors_open(sandbox: LocalSandbox) -> None:
    source = (
        "import os\nopened = []\nfor fd in range(1024):\n"
        "    try: os.fstat(fd); opened.append(fd)\n    except OSError: pass\nprint(opened)"
    )
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(260)]
    try:
        assert sandbox.run(Program(source)).stdout == "[0, 1, 2, 3]\n"
    finally:
        for fd in held:
            os.close(fd)


def test_boxes_die_with_a_host_that_is_killed(sandbox: LocalSandbox) -> None:
    name = f"widow{os.getpid()}"
    source = f"import ctypes, time\nctypes.CDLL(None).prctl(15, b'{name}')\ntime.sleep(60)"
    host = (
        "from prorl_sandbox import LocalSandbox, Program\n"
        f"LocalSandbox({capabilities.WALLS!r}, 'test').run(Program({source!r}))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", host], env=environment)
    try:
        wait_for(lambda: len(processes_named(name)) == 1)
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: processes_named(name) == [])


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_view_holds_nothing_but_libraries_and_names_no_place_of_this_machine() -> None:
    view = system_view()
    targets = [target for _, target in view.files]
    assert all(target.startswith(("/usr/", "/lib")) for target in targets)
    assert not [target for target in targets if "-packages" in target or "/bin/" in target]
    assert not [
        target for target in targets if target.startswith(sys.base_prefix + "/lib/python")
    ] or (sys.base_prefix == "/usr")


def test_a_sandbox_whose_template_was_killed_starts_another() -> None:
    mine = LocalSandbox(capabilities.WALLS, "test")
    assert mine.run(HONEST).status == "ok"
    assert mine._opened is not None
    process = mine._opened[0]._started[NO_PACKAGES]._process
    process.kill()
    process.wait()
    assert mine.run(HONEST).stdout == "42\n"
    mine.close()


def test_a_slot_that_was_killed_is_replaced() -> None:
    mine = LocalSandbox(capabilities.WALLS, "test")
    assert mine.run(HONEST).status == "ok"
    assert mine._opened is not None
    rested = [slot for slots in mine._opened[1]._rested.values() for slot in slots]
    assert rested
    for slot in rested:
        slot.hang_up()
    assert [mine.run(HONEST).status for _ in range(4)] == ["ok"] * 4
    mine.close()


def test_a_run_whose_slot_was_killed_is_run_again_and_then_an_outage() -> None:
    mine = LocalSandbox(capabilities.WALLS, "test")
    assert mine.run(HONEST).status == "ok"
    assert mine._opened is not None
    pool, kills = mine._opened[1], [1]

    def kill() -> None:
        while kills:
            for slot in list(pool._lent):
                time.sleep(0.2)
                if kills and slot in pool._lent:
                    kills.pop()
                    slot.hang_up()
            time.sleep(0.01)

    slow = Program("import time\ntime.sleep(1)\nprint(42)")
    for times in (1, 2):
        kills[:] = [1] * times
        killer = threading.Thread(target=kill)
        killer.start()
        if times == 1:
            assert mine.run(slow).stdout == "42\n"
        else:
            with pytest.raises(SandboxError, match="process of the sandbox ended"):
                mine.run(slow)
        killer.join()
    mine.close()


def groups_of(processes: set[int]) -> set[str]:
    """Return the control groups of sandboxes whose template is one of these processes."""
    found = set()
    for folder, names, _ in os.walk("/sys/fs/cgroup"):  # other groups may vanish meanwhile
        mine = [name for name in names if name.startswith("prorl-")]
        found |= {f"{folder}/{name}" for name in mine if int(name.split("-")[1]) in processes}
    return found


def descendants(process: int) -> set[int]:
    """Return all descendants of a process."""
    found: set[int] = set()
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found |= {child} | descendants(child)
    return found


def test_control_groups_are_gone_after_the_hosts_death() -> None:
    host = (
        "from prorl_sandbox import LocalSandbox, Program\n"
        f"sandbox = LocalSandbox({(*capabilities.WALLS, 'cgroup')!r}, 'test')\n"
        "print(sandbox.run(Program('print(1)')).status, flush=True)\n"
        "sandbox.run(Program('import time; time.sleep(60)'))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", host], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ok\n"
        templates = descendants(process.pid)
        found = capabilities.probe()
        assert bool(groups_of(templates)) == (found.cgroup_v1 or found.cgroup_v2)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    wait_for(lambda: not groups_of(templates))


LEAVES_A_NAME = """
import array, socket
left = socket.socket(socket.AF_UNIX)
left.bind("\\0left")
left.listen()
one, other = socket.socketpair(socket.AF_UNIX)
rights = array.array("i", [one.fileno(), other.fileno(), left.fileno()])
for end in (one, other):  # each under way inside of the other: no process holds them any more
    end.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
print("left")
"""
LOOKS_FOR_IT = """
import errno, socket
for call in ("connect", "bind"):
    with socket.socket(socket.AF_UNIX) as end:
        try:
            getattr(end, call)("\\0left")
            print(call, "done")
        except OSError as error:
            print(call, errno.errorcode[error.errno])
"""


def test_a_socket_left_under_way_inside_of_itself_is_not_found_by_the_next_box(
    main: Callable[..., Any],
) -> None:
    clean = main(LOOKS_FOR_IT).stdout
    assert "bind done" in clean
    for _ in range(20):
        assert main(LEAVES_A_NAME).stdout == "left\n"
        for _ in range(3):  # whichever slot it uses
            assert main(LOOKS_FOR_IT).stdout == clean


def test_the_surroundings_that_boxes_of_a_slot_share_are_empty(main: Callable[..., Any]) -> None:
    source = """
import errno, os, socket
def tried(call):
    try:
        return call() and "done"
    except OSError as error:
        return errno.errorcode[error.errno]
families = [tried(lambda f=f: socket.socket(f, socket.SOCK_DGRAM)) for f in range(48) if f != 1]
print(set(families))
print(tried(lambda: socket.sethostname("mine")), os.uname().nodename)
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, arguments in (("shmget", (7, 4096, 0o1666)), ("semget", (7, 1, 0o1666)),
                        ("msgget", (7, 0o1666)), ("mq_open", (b"/q", 0o102, 0o666, None))):
    print(name, getattr(libc, name)(*arguments), errno.errorcode.get(ctypes.get_errno()))
"""
    outcome = main(source)
    lines = outcome.stdout.splitlines()
    assert lines[0] == "{'EPERM'}", outcome
    assert lines[1] == "EPERM box"
    assert [line.split()[1] for line in lines[2:]] == ["-1"] * 4, outcome


FINDS_TEXTS = """
import gc, sys
gc.unfreeze()
found, seen = set(), set()
todo = [sys._getframe(), *gc.get_objects()]
first, second = @WORDS@
while todo:
    one = todo.pop()
    if id(one) in seen or one is found or one is todo:
        continue
    seen.add(id(one))
    if type(one) in (str, bytes):
        text = one if type(one) is str else one.decode("latin-1")
        if (first + second in text or "prorl-" in text and "/" in text) and len(text) < 300:
            found.add(text)
    else:
        todo += gc.get_referents(one)
print(found)
"""


def test_frames_and_objects_of_a_box_name_no_path_and_no_group_of_the_machine(
    sandbox: LocalSandbox,
) -> None:
    home = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
    if home == "/usr":
        pytest.skip("the interpreter lies where it does in a box")
    words = repr((home[:5], home[5:]))  # split, so that the program does not find itself
    outcome = sandbox.run(Program(FINDS_TEXTS.replace("@WORDS@", words)))
    assert (outcome.status, outcome.stdout) == ("ok", "set()\n"), outcome
