from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from prorl_common import UserError
from prorl_sandbox import Limits, LocalSandbox, Outcome, Program

Main = Callable[..., Outcome]
SHORT = Limits(wall_seconds=1.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)


def test_program_reads_stdin_and_its_output_comes_back(main: Main) -> None:
    outcome = main("import sys\nfor line in sys.stdin: print(line.strip()[::-1])", "ab\nçd\n")
    assert (outcome.status, outcome.stdout, outcome.exit_code) == ("ok", "ba\ndç\n", 0)
    assert "namespaces+seccomp" in outcome.isolation
    assert outcome.wall_seconds > 0
    assert outcome.peak_mb > 1


def test_large_stdin_that_is_never_read_does_not_block(main: Main) -> None:
    assert main("print('done')", "x" * 3_000_000).stdout == "done\n"


def test_large_stdin_is_read_whole(main: Main) -> None:
    assert main("print(len(input()))", "x" * 3_000_000).stdout == "3000000\n"


def test_main_guard_runs_and_name_is_main(main: Main) -> None:
    source = "import __main__\nif __name__ == '__main__': print(__main__.x)\nx = 1"
    assert main("x = 5\n" + source).stdout == "5\n"


def test_functions_pickle_and_dataclasses_work_in_main(main: Main) -> None:
    source = (
        "import dataclasses, pickle\n"
        "@dataclasses.dataclass\nclass P:\n    x: int = 1\n"
        "print(pickle.loads(pickle.dumps(P(4))).x)"
    )
    assert main(source).stdout == "4\n"


def test_exit_and_quit_exist_without_the_site_module(main: Main) -> None:
    assert main("print(1); exit()").status == "ok"
    assert main("quit(3)").exit_code == 3


def test_nonzero_exit_is_wrong_exit(main: Main) -> None:
    outcome = main("import sys\nprint('right answer')\nsys.exit(7)")
    assert (outcome.status, outcome.exit_code) == ("wrong-exit", 7)


def test_system_exit_zero_after_output_is_ok(main: Main) -> None:
    assert main("print(3)\nraise SystemExit").status == "ok"


def test_exit_hooks_and_threads_finish_before_the_end(main: Main) -> None:
    source = (
        "import atexit, threading, time\n"
        "atexit.register(print, 'hook')\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('thread'))).start()"
    )
    assert main(source).stdout == "thread\nhook\n"


def test_uncaught_exception_is_runtime_error_with_its_own_traceback_only(main: Main) -> None:
    outcome = main("def g():\n    return 1 / 0\ng()")
    assert (outcome.status, outcome.exit_code) == ("runtime-error", 1)
    assert "ZeroDivisionError" in outcome.stderr
    assert "return 1 / 0" in outcome.stderr
    assert "harness" not in outcome.stderr


@pytest.mark.parametrize("source", ["def f(:", "x = 'a\0b'", "  x = 1", "(" * 5000 + ")" * 5000])
def test_source_that_does_not_compile_is_compile_error(main: Main, source: str) -> None:
    assert main(source).status == "compile-error"


def test_syntax_error_at_run_time_is_not_a_compile_error(main: Main) -> None:
    assert main("eval('1 +')").status == "runtime-error"


def test_sleeping_past_the_wall_limit_is_timeout_wall(main: Main) -> None:
    outcome = main("import time\nprint('x', flush=True)\ntime.sleep(10**6)", limits=SHORT)
    assert (outcome.status, outcome.limit, outcome.exit_code) == ("timeout", "wall", None)
    assert outcome.stdout == "x\n"


def test_burning_past_a_fractional_cpu_limit_is_timeout_cpu(main: Main) -> None:
    limits = Limits(wall_seconds=60.0, cpu_seconds=0.3)
    outcome = main("while True: pass", limits=limits)
    assert (outcome.status, outcome.limit) == ("timeout", "cpu")


def test_cpu_time_of_children_counts(main: Main) -> None:
    source = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    while time.process_time() < 0.8: pass\n"
        "    os._exit(0)\n"
        "os.wait()"
    )
    outcome = main(source, limits=Limits(wall_seconds=60.0, cpu_seconds=0.5))
    assert (outcome.status, outcome.limit) == ("timeout", "cpu")


def test_memory_beyond_the_limit_is_status_memory(main: Main) -> None:
    assert main("x = bytearray(10**9)").status == "memory"
    assert main("x = []\nwhile True: x.append('a' * 10**6 + str(len(x)))").status == "memory"


def test_memory_below_the_limit_is_granted(main: Main) -> None:
    outcome = main("x = bytearray(150 * 2**20)\nprint(len(x))")
    assert outcome.stdout == "157286400\n"
    assert outcome.peak_mb > 150


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_endless_output_is_output_limit_and_capped(main: Main, stream: str) -> None:
    outcome = main(f"import sys\nwhile True: sys.{stream}.write('y' * 1000)")
    assert outcome.status == "output-limit"
    assert len(getattr(outcome, stream)) == 64 * 1024


def test_output_at_the_limit_passes(main: Main) -> None:
    outcome = main("print('a' * (64 * 1024 - 1))")
    assert (outcome.status, len(outcome.stdout)) == ("ok", 64 * 1024)


def test_output_that_is_not_utf8_is_replaced(main: Main) -> None:
    assert main("import os\nos.write(1, b'a\\xffb')").stdout == "a\ufffdb"


def test_runs_are_deterministic_in_set_order(main: Main) -> None:
    source = "print(list({str(i) for i in range(50)}))"
    assert main(source).stdout == main(source).stdout


@pytest.mark.parametrize("field", ["wall_seconds", "memory_mb", "processes"])
def test_limits_that_make_no_sense_are_the_users_mistake(sandbox: LocalSandbox, field: str) -> None:
    with pytest.raises(UserError, match=field):
        sandbox.run(Program("pass"), replace(SHORT, **{field: -1}))
