from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

from prorl_common import UserError
from prorl_sandbox import (
    Limits,
    LocalSandbox,
    Outcome,
    Program,
    Session,
    SessionEndedError,
    ToolSandbox,
)

LIMITS = Limits(wall_seconds=20.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)
SHORT = Limits(wall_seconds=0.5, cpu_seconds=8.0, output_kb=64)


@pytest.fixture
def session(anywhere: ToolSandbox) -> Iterator[Session]:
    with anywhere.open_session(LIMITS) as opened:
        yield opened


def test_what_a_message_defines_the_next_one_has(session: Session) -> None:
    assert session.run("x = 20\ndef double(n): return 2 * n").status == "ok"
    assert session.run("double(x) + 2").value == 42


def test_the_value_of_a_last_expression_is_shown_and_returned(session: Session) -> None:
    outcome = session.run("print('first'); {'a': (1, 2.5)}")
    assert (outcome.stdout, outcome.value) == ("first\n{'a': (1, 2.5)}\n", {"a": (1, 2.5)})
    assert session.run("_").value == {"a": (1, 2.5)}


def test_none_is_not_shown(session: Session) -> None:
    assert session.run("None").stdout == ""


def test_a_value_that_cannot_leave_is_shown_only(session: Session) -> None:
    outcome = session.run("object()")
    assert (outcome.status, outcome.value) == ("ok", None)
    assert outcome.stdout.startswith("<object object")


def test_a_value_larger_than_the_output_limit_is_shown_only(session: Session) -> None:
    outcome = session.run("class Quiet(str): __repr__ = lambda self: 'quiet'\n'a' * 0")
    assert outcome.status == "ok"
    outcome = session.run("import sys; sys.displayhook = lambda value: None; 'a' * 100_000")
    assert (outcome.status, outcome.value) == ("ok", None)


def test_an_exception_leaves_its_traceback_and_the_session_goes_on(session: Session) -> None:
    session.run("def broken():\n    raise KeyError('gone')")
    outcome = session.run("broken()")
    assert outcome.status == "runtime-error"
    lines = outcome.stderr.splitlines(keepends=True)
    assert "".join(
        line for line in lines if line.strip(" ~^\n")
    ) == (  # Python 3.13 underlines calls
        "Traceback (most recent call last):\n"
        '  File "<message 2>", line 1, in <module>\n'
        "    broken()\n"
        '  File "<message 1>", line 2, in broken\n'
        "    raise KeyError('gone')\n"
        "KeyError: 'gone'\n"
    )
    assert session.run("1 + 1").value == 2


def test_a_message_that_does_not_parse_is_a_compile_error(session: Session) -> None:
    outcome = session.run("def f(:")
    assert outcome.status == "compile-error"
    assert "SyntaxError" in outcome.stderr
    assert session.run("1 + 1").value == 2


@pytest.mark.parametrize(
    ("source", "status", "code"),
    [
        ("raise SystemExit", "ok", 0),
        ("import sys; sys.exit(3)", "wrong-exit", 3),
        ("import sys; sys.exit('why')", "wrong-exit", 1),
        ("import os; os._exit(0)", "ok", 0),
        ("import os; os._exit(7)", "wrong-exit", 7),
        ("import ctypes; ctypes.string_at(0)", "runtime-error", -11),
    ],
)
def test_a_message_that_leaves_ends_the_session(
    session: Session, source: str, status: str, code: int
) -> None:
    outcome = session.run(source)
    assert (outcome.status, outcome.exit_code) == (status, code)
    assert session.ended == f"message 1 ended it: {status}"
    with pytest.raises(SessionEndedError, match="message 1 ended it"):
        session.run("1")


def test_each_message_has_its_own_output(session: Session) -> None:
    first = session.run("import sys; print('out'); print('err', file=sys.stderr)")
    second = session.run("print('more')")
    assert (first.stdout, first.stderr) == ("out\n", "err\n")
    assert (second.stdout, second.stderr) == ("more\n", "")


def test_output_without_a_line_end_is_not_lost(session: Session) -> None:
    assert session.run("print('a', end='')").stdout == "a"
    assert session.run("import os; os.write(1, b'\\xff\\x00'); None").stdout == "\ufffd\x00"


def test_a_missing_module_names_the_environment_that_has_it(session: Session) -> None:
    assert "scientific" in session.run("import numpy").hint


def test_input_is_at_its_end(session: Session) -> None:
    assert "EOFError" in session.run("input()").stderr


@pytest.mark.parametrize("source", ["while True: pass", "import time; time.sleep(60)"])
def test_a_message_over_its_wall_limit_ends_the_session(session: Session, source: str) -> None:
    outcome = session.run(source, SHORT)
    assert (outcome.status, outcome.limit, outcome.exit_code) == ("timeout", "wall", None)
    assert outcome.wall_seconds < 5
    with pytest.raises(SessionEndedError, match="timeout"):
        session.run("1")


def test_a_message_over_its_processor_limit_ends_the_session(session: Session) -> None:
    outcome = session.run("while True: pass", Limits(wall_seconds=20.0, cpu_seconds=0.3))
    assert (outcome.status, outcome.limit) == ("timeout", "cpu")
    assert 0.3 <= outcome.cpu_seconds < 2.0


def test_processor_time_is_counted_for_each_message(session: Session) -> None:
    busy = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    limits = Limits(wall_seconds=20.0, cpu_seconds=1.0)
    spent = [session.run(busy, limits).cpu_seconds for _ in range(5)]
    assert all(0.25 < seconds < 0.9 for seconds in spent)
    assert session.run("1", limits).cpu_seconds < 0.2


def test_processor_time_of_children_counts(session: Session) -> None:
    source = "import os, time\nif not os.fork():\n    while True: pass\ntime.sleep(60)"
    outcome = session.run(source, Limits(wall_seconds=20.0, cpu_seconds=0.5))
    assert (outcome.status, outcome.limit) == ("timeout", "cpu")


def test_a_message_over_its_output_limit_ends_the_session_with_what_fits(session: Session) -> None:
    outcome = session.run("while True: print('x' * 1000)")
    assert outcome.status == "output-limit"
    assert len(outcome.stdout) == 64 * 1024
    assert session.ended is not None


def test_output_counts_for_each_message(session: Session) -> None:
    for _ in range(5):
        assert len(session.run("print('x' * 60_000)").stdout) == 60_001


def test_a_failed_allocation_is_memory_and_the_session_goes_on(session: Session) -> None:
    for _ in range(3):
        assert session.run("b = bytearray(1 << 30)").status == "memory"
    assert session.run("1 + 1").value == 2


def test_more_memory_than_the_box_has_ends_the_session(session: Session) -> None:
    source = (
        "import os\n"
        "for _ in range(4):\n"
        "    if not os.fork():\n"
        "        b = bytearray(200 << 20); b[::4096] = b'x' * len(b[::4096])\n"
        "import time; time.sleep(10)"
    )
    assert session.run(source).status == "memory"
    with pytest.raises(SessionEndedError):
        session.run("1")


def test_a_closed_session_says_so(anywhere: ToolSandbox) -> None:
    with anywhere.open_session(LIMITS) as session:
        session.run("x = 1")
    with pytest.raises(SessionEndedError, match="it was closed"):
        session.run("x")


def test_the_next_box_has_nothing_of_a_session(anywhere: ToolSandbox) -> None:
    with anywhere.open_session(LIMITS) as session:
        session.run("import os, math; math.mark = 1; open('left', 'w').write('x')")
    for _ in range(3):
        with anywhere.open_session(LIMITS) as later:
            seen = later.run("import os, math; (os.listdir('.'), hasattr(math, 'mark'))").value
        assert seen == ([], False)
    program = "import os, math; print(os.listdir('.'), hasattr(math, 'mark'))"
    assert anywhere.run(Program(program), LIMITS).stdout == "[] False\n"


def test_two_sessions_do_not_see_each_other(anywhere: ToolSandbox) -> None:
    with anywhere.open_session(LIMITS) as one, anywhere.open_session(LIMITS) as two:
        one.run("secret = 1; import os, socket; open('f', 'w').close(); s = socket.socket(1)")
        assert one.run("s.bind('\\0meet'); s.listen()").status == "ok"
        two.run("import os, socket")
        assert two.run("os.listdir('.')").value == []
        assert two.run("'secret' in globals()").value is False
        assert "Error" in two.run("socket.socket(1).connect('\\0meet')").stderr
        two.run("os.kill(-1, 9)")
        assert one.run("secret").value == 1


def test_messages_of_two_threads_take_turns(session: Session) -> None:
    outcomes: list[Outcome] = []
    session.run("n = 0")

    def add() -> None:
        for _ in range(20):
            outcomes.append(session.run("n += 1\nprint(n)"))

    threads = [threading.Thread(target=add) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(outcome.stdout) for outcome in outcomes) == list(range(1, 61))


def test_closing_a_busy_session_ends_its_message_at_once(anywhere: ToolSandbox) -> None:
    session = anywhere.open_session(LIMITS)
    timer = threading.Timer(0.3, session.close)
    timer.start()
    began = time.monotonic()
    with pytest.raises(SessionEndedError, match="closed during a message"):
        session.run("import time; time.sleep(15)")
    assert time.monotonic() - began < 10
    timer.join()


def test_a_session_without_messages_ends_after_its_idle_time(anywhere: ToolSandbox) -> None:
    with anywhere.open_session(LIMITS, idle_seconds=0.3) as session:
        session.run("1")
        time.sleep(1.0)
        with pytest.raises(SessionEndedError, match=r"no message came for 0\.3 seconds"):
            session.run("1")


def test_a_session_ends_after_its_total_time_also_within_a_message(anywhere: ToolSandbox) -> None:
    with anywhere.open_session(LIMITS, total_seconds=1.0) as session:
        outcome = session.run("import time; time.sleep(15)")
        assert (outcome.status, outcome.limit) == ("timeout", "wall")
        assert outcome.wall_seconds < 8
        time.sleep(0.3)
        assert session.ended is not None


@pytest.mark.parametrize("limits", [Limits(wall_seconds=0.0), Limits(memory_mb=1)])
def test_limits_out_of_range_are_refused(anywhere: ToolSandbox, limits: Limits) -> None:
    with pytest.raises(UserError, match="limit"):
        anywhere.open_session(limits)


def test_as_many_sessions_as_allowed_leave_all_runs_their_places(sandbox: LocalSandbox) -> None:
    walls, isolation = sandbox._walls, sandbox.isolation
    small = LocalSandbox(walls, isolation, slots=2, sessions=3)
    opened = [small.open_session(LIMITS) for _ in range(3)]
    with pytest.raises(UserError, match="3 sessions are open"):
        small.open_session(LIMITS)
    check = "def check(candidate):\n    assert candidate(2) == 4"
    assert small.run_check(Program("def f(n): return 2 * n"), check, "f").status == "ok"
    opened.pop().close()
    small.open_session(LIMITS).run("1")
    small.close()
    with pytest.raises(SessionEndedError, match="the sandbox was closed"):
        opened[0].run("1")


def test_closing_the_sandbox_ends_a_message(sandbox: LocalSandbox) -> None:
    small = LocalSandbox(sandbox._walls, sandbox.isolation)
    session = small.open_session(LIMITS)
    timer = threading.Timer(0.3, small.close)
    timer.start()
    with pytest.raises(SessionEndedError):
        session.run("import time; time.sleep(15)")
    timer.join()
    assert session.ended is not None


def test_a_thousand_messages_leave_nothing_behind(anywhere: ToolSandbox) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    with anywhere.open_session(LIMITS) as session:
        session.run("import os")
        files, threads = open_files(), threading.active_count()
        inside = session.run("len(os.listdir('/dev/fd')) if os.path.exists('/dev/fd') else 0").value
        for number in range(1000):
            assert session.run(f"{number}").value == number
        assert open_files() <= files
        assert threading.active_count() <= threads
        seen = session.run("len(os.listdir('/dev/fd')) if os.path.exists('/dev/fd') else 0").value
        assert seen == inside
        as_many_as_at_first = (
            "import threading, time\n"
            "for _ in range(14): threading.Thread(target=time.sleep, args=(0.2,)).start()"
        )
        assert session.run(as_many_as_at_first).status == "ok"
