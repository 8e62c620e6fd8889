from __future__ import annotations

import contextlib
import json
import os
import struct
import threading
import time
from collections.abc import Callable

import pytest

from prorl_common import UserError
from prorl_common.frames import FrameError
from prorl_sandbox import Limits, LocalSandbox, Outcome, Program, capabilities, check_limits
from prorl_sandbox.box import wire
from prorl_sandbox.run.decoding import decode

Main = Callable[..., Outcome]
FORGE = "import os, struct\nbody = {body!r}\nos.write(3, struct.pack('>I', len(body)) + body)\n"


def hold_the_interpreter(seconds: float) -> None:
    """Block every other thread of this process in one uninterruptible call."""
    number = 3**400_000
    started = time.monotonic()
    while time.monotonic() < started + seconds:
        hash(number * number)


def test_a_program_is_not_late_because_this_process_was(sandbox: LocalSandbox) -> None:
    limits = Limits(wall_seconds=0.5)
    program = Program("import time\ntime.sleep(0.05)\nprint(1)")
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(sandbox.run(program, limits)))
    thread.start()
    time.sleep(0.03)
    hold_the_interpreter(1.5)
    thread.join()
    assert (outcomes[0].status, outcomes[0].stdout) == ("ok", "1\n")
    assert outcomes[0].wall_seconds < 0.5


def test_a_live_fork_of_this_process_delays_neither_a_run_nor_the_end() -> None:
    mine = LocalSandbox(capabilities.WALLS, "test")
    assert mine.run(Program("print(1)")).status == "ok"
    stop = threading.Event()
    children: list[int] = []

    def fork_again_and_again() -> None:
        while not stop.is_set() and len(children) < 20:
            child = os.fork()
            if child == 0:
                time.sleep(30)
                os._exit(0)
            children.append(child)
            time.sleep(0.002)

    thread = threading.Thread(target=fork_again_and_again)
    thread.start()
    try:
        echo = Program("print(input())", stdin="here\n")
        assert {mine.run(echo, Limits(wall_seconds=5)).stdout for _ in range(20)} == {"here\n"}
        started = time.monotonic()
        stop.set()
        mine.close()
        assert time.monotonic() < started + 20  # a hang guard: this once waited for the children
    finally:
        stop.set()
        thread.join()
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)


def test_a_forged_frame_of_nested_tags_is_a_protocol_error(main: Main) -> None:
    inner = "[" * 850 + "]" * 850
    value = "[" * 95 + '{"t":' + inner + ',"v":"x"}' + "]" * 95
    body = ('{"k":"value","n":"","v":' + value + "}").encode()
    source = FORGE.format(body=body) + "import time\ntime.sleep(9)"
    assert main(source).status == "protocol-error"


def test_keys_chosen_to_collide_do_not_hold_the_host() -> None:
    keys = [(1 << 61) * n for n in range(1, 60_000)]  # multiples of a power of two share low bits
    pairs = [[{"t": "int", "v": format(key * 64, "x")}, 0] for key in keys]
    started = time.thread_time()
    with contextlib.suppress(FrameError):  # a timely refusal is as good as a value
        decode({"t": "dict", "v": pairs})
    assert time.thread_time() < started + 30


@pytest.mark.parametrize("tag", [[], {}, 1, None, ["dict"]])
def test_a_tag_that_is_no_text_is_malformed(tag: object) -> None:
    with pytest.raises(FrameError):
        decode(json.loads(json.dumps({"t": tag, "v": "x"})))


def test_a_source_beyond_all_measure_is_a_compile_error(sandbox: LocalSandbox) -> None:
    outcome = sandbox.run(Program("#" * 5_000_000))
    assert outcome.status == "compile-error"
    assert "longer than" in outcome.stderr
    assert outcome.isolation == sandbox.isolation
    check = "def check(f):\n    assert f()"
    assert sandbox.run_check(Program("#" * 5_000_000), check, "f").status == "compile-error"


def test_a_program_larger_than_its_memory_is_memory(sandbox: LocalSandbox) -> None:
    if not sandbox.isolation.endswith("cgroup"):
        pytest.skip("only control groups count a program before it runs")
    source = "int a[5000000] = {1};\nint main() { return a[0] - 1; }"
    outcome = sandbox.run(Program(source, language="cpp"), Limits(memory_mb=16))
    assert outcome.status == "memory"


@pytest.mark.parametrize("field", ["memory_mb", "output_kb", "processes", "scratch_mb"])
def test_sizes_and_counts_are_whole_numbers(field: str) -> None:
    with pytest.raises(UserError, match="a whole number"):
        check_limits(Limits(**{field: 64.0}))  # type: ignore[arg-type]


def test_standard_input_can_be_opened_by_name_and_read_again(main: Main) -> None:
    source = "print(open('/dev/stdin').read(), end='')\nprint(input())"
    assert main(source, "a\nb\n").stdout == "a\nb\na\n"


def test_input_too_long_for_a_file_comes_through_a_pipe(sandbox: LocalSandbox) -> None:
    program = Program("import sys\nprint(len(sys.stdin.read()))", stdin="x" * 5_000_000)
    assert sandbox.run(program).stdout == "5000000\n"


def test_no_mark_or_message_passes_through_the_files_that_all_boxes_see(main: Main) -> None:
    source = (
        "import ctypes, fcntl, os\n"
        "for name in ('null', 'full', 'zero', 'urandom'):\n"
        "    try:\n        os.utime('/dev/' + name, (1, 1))\n        print('BREACH', name)\n"
        "    except OSError: pass\n"
        "libc = ctypes.CDLL(None)\n"
        "if libc.inotify_init() != -1 or libc.inotify_init1(0) != -1: print('BREACH inotify')\n"
        "file = open(os.__file__)\n"
        "for attempt in (lambda: fcntl.flock(file, fcntl.LOCK_SH),\n"
        "                lambda: fcntl.fcntl(file, 37, bytes(32)),\n"
        "                lambda: fcntl.fcntl(file, 1024, 0)):\n"
        "    try:\n        attempt()\n        print('BREACH lock')\n"
        "    except PermissionError: pass\n"
        "open('/dev/null', 'w').write('x')\n"
        "print(len(os.urandom(4)))"
    )
    assert main(source).stdout == "4\n"


def test_frames_of_a_box_are_a_length_and_a_body() -> None:
    frame = wire.pack({"k": "ready"})
    assert struct.unpack(">I", frame[:4])[0] == len(frame) - 4
