"""What tests/attacks does not try: exact contents of a box, orphans and counts. A success prints ``BREACH``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from fake_sandbox import processes_named

from prorl_sandbox import Limits, Outcome

Main = Callable[..., Outcome]
SHORT = Limits(wall_seconds=1.0, cpu_seconds=8.0, memory_mb=200, output_kb=64, scratch_mb=16)

DENIED: dict[str, str] = {
    "A17 no files of this machine": (
        "import os\n"
        "for p in ('/work', '/home', '/tmp', '/var', '/opt', '/mnt', '/run', '/boot', '/old',\n"
        "          '/etc/passwd', '/etc/hosts', '/bin/su', '/usr/bin/su', '/usr/bin/python3',\n"
        "          '/dev/mem', '/dev/kmsg', '/dev/tty', '/dev/pts', '/var/run/docker.sock'):\n"
        "    if os.path.exists(p): print('BREACH', p)\n"
        "seen = set(os.listdir('/')) - {'box', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'opt',\n"
        "                               'root', 'scratch', 'usr', 'home'}\n"
        "if seen: print('BREACH', seen)\n"
        "for folder, folders, files in os.walk('/'):\n"
        "    if folder.endswith('-packages') and (folders or files): print('BREACH', folder)\n"
        "    if 'prorl' in folder: print('BREACH', folder)\n"
    ),
    "N03 the environment is built from nothing": (
        "import os\n"
        "extra = set(os.environ) - {'HOME', 'TMPDIR', 'LANG', 'PATH'}\n"
        "if extra: print('BREACH', extra)\n"
        "import ctypes\n"
        "c = ctypes.CDLL(None)\n"
        "c.getenv.restype = ctypes.c_char_p\n"
        "if c.getenv(b'PRORL_TEST_SECRET'): print('BREACH')"
    ),
    "A16 only the channel and the standard streams are open": (
        "import os\n"
        "opened = []\n"
        "for fd in range(1024):\n"
        "    try: os.fstat(fd); opened.append(fd)\n"
        "    except OSError: pass\n"
        "if opened != [0, 1, 2, 3]: print('BREACH', opened)"
    ),
}


@pytest.mark.parametrize("name", DENIED)
def test_attempt_is_denied(main: Main, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PRORL_TEST_SECRET", "hunter2")
    outcome = main(DENIED[name])
    assert (outcome.status, outcome.stdout) == ("ok", ""), outcome


@pytest.mark.parametrize("ending", ["print('done')", "time.sleep(99)", "os.kill(os.getpid(), 9)"])
def test_no_process_outlives_its_run(main: Main, ending: str) -> None:
    name = f"orphan{os.getpid()}"
    source = (
        "import ctypes, os, signal, time\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        f"ctypes.CDLL(None).prctl(15, b'{name}')\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    while True: time.sleep(1)\n"
        f"os.wait()\n{ending}"
    )
    outcome = main(source, limits=SHORT)
    assert outcome.status in ("ok", "timeout", "runtime-error")
    deadline = time.monotonic() + 10
    while processes_named(name) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_named(name) == []


def test_a_program_that_closes_its_streams_still_ends_at_the_wall(main: Main) -> None:
    source = "import os, time\nos.closerange(0, 64)\ntime.sleep(99)"
    outcome = main(source, limits=SHORT)
    assert (outcome.status, outcome.limit) == ("timeout", "wall")


def test_the_number_of_processes_is_limited_for_each_box_alone(main: Main) -> None:
    source = (
        "import os, time\n"
        "made = 0\n"
        "try:\n"
        "    while made < 200:\n"
        "        if os.fork() == 0: time.sleep(99)\n"
        "        made += 1\n"
        "except BlockingIOError: pass\n"
        "print(made + 1)"
    )
    assert main(source).stdout == "16\n"


def test_what_one_program_writes_is_gone_for_the_next(main: Main) -> None:
    main("open('/scratch/note', 'w').write('1')")
    assert main("import os; print(os.listdir('/scratch'))").stdout == "[]\n"


def test_patched_builtins_only_hurt_the_program_itself(
    call: Callable[..., Outcome], main: Main
) -> None:
    source = "import builtins\nbuiltins.type = lambda *a: int\ndef f():\n    return object()"
    assert call(source).status in ("runtime-error", "unserialisable")
    assert main("import builtins, sys\nsys.modules.clear()\nbuiltins.exec = None").status == "ok"
    assert call("def f():\n    return 3").value == 3
