"""Messages that attack later messages of their session and its box."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import pytest

from prorl_sandbox import Limits, Program, Session, SessionEndedError, ToolSandbox

LIMITS = Limits(wall_seconds=20.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)
SHORT = Limits(wall_seconds=0.7, cpu_seconds=8.0, output_kb=64)
PAUSE = 0.4


@pytest.fixture
def session(anywhere: ToolSandbox) -> Iterator[Session]:
    with anywhere.open_session(LIMITS) as opened:
        yield opened


def test_a_thread_that_a_message_leaves_stands_still_until_the_next(session: Session) -> None:
    session.run(
        "import threading, time\n"
        "n = 0\n"
        "def spin():\n"
        "    global n\n"
        "    while True: n += 1\n"
        "threading.Thread(target=spin, daemon=True).start()\n"
        "before = time.process_time()"
    )
    time.sleep(PAUSE)
    assert session.run("time.process_time() - before").value < PAUSE / 2


def test_a_thread_that_prints_speaks_in_messages_only(session: Session) -> None:
    session.run(
        "import threading, time, os\n"
        "def tick():\n"
        "    while True: os.write(1, b'%d ' % time.monotonic_ns()); time.sleep(0.01)\n"
        "threading.Thread(target=tick, daemon=True).start()"
    )
    time.sleep(PAUSE)
    outcome = session.run("start = time.monotonic_ns(); time.sleep(0.1); start")
    start = outcome.value
    stamps = [int(word) for word in outcome.stdout.split()]
    assert sum(stamp >= start for stamp in stamps) > 3
    assert sum(stamp < start for stamp in stamps) <= 3  # one on its way, and the value itself


DAEMON = """
import os, time
if not os.fork():
    {leave}
    if not os.fork():
        while True:
            with open('ticks', 'a') as file: file.write('x')
            try: os.write(1, b'daemon')
            except OSError: pass
            time.sleep(0.005)
    os._exit(0)
while not os.path.exists('ticks'): time.sleep(0.01)
time.sleep(0.1)
"""


@pytest.mark.parametrize("leave", ["os.setsid()", "os.setpgid(0, 0)", "os.umask(0)"])
def test_a_daemon_does_nothing_between_messages(session: Session, leave: str) -> None:
    session.run(DAEMON.format(leave=leave))
    count = "len(open('ticks').read())"
    first = session.run(f"import time; {count}").value
    time.sleep(PAUSE)
    assert session.run(count).value <= first + 5


def test_a_daemon_that_has_left_its_group_never_goes_on(session: Session) -> None:
    session.run(DAEMON.format(leave="os.setsid()"))
    session.run("before = len(open('ticks').read())")
    outcome = session.run("time.sleep(0.2); len(open('ticks').read()) - before")
    assert outcome.value <= 2
    assert "daemondaemon" not in outcome.stdout


def test_a_daemon_ends_with_the_session_and_the_box(anywhere: ToolSandbox) -> None:
    with anywhere.open_session(LIMITS) as session:
        session.run(DAEMON.format(leave="os.setsid()"))
    with anywhere.open_session(LIMITS) as later:
        assert later.run("import os, time; time.sleep(0.1); os.listdir('.')").value == []


FORGED = """
import os, struct
def frame(text):
    return struct.pack('>I', len(text)) + text
"""
ANSWERS = {
    "of another nonce": 'os.write(3, frame(b\'{"k":"value","v":42,"n":"00"}\'))',
    "that is no JSON": "os.write(3, frame(b'hello'))",
    "that is no frame": "os.write(3, b'\\xff' * 50)",
    "that is endless": "os.write(3, struct.pack('>I', 1 << 31))",
    "of an unknown kind": 'os.write(3, frame(b\'{"k":"ready"}\'))',
    "nested too deep": "os.write(3, frame(b'[' * 5000))",
}


@pytest.mark.parametrize("source", ANSWERS.values(), ids=ANSWERS)
def test_a_forged_answer_ends_the_session_as_a_protocol_error(
    session: Session, source: str
) -> None:
    outcome = session.run(f"{FORGED}\n{source}\nwhile True: pass")
    assert (outcome.status, outcome.value) == ("protocol-error", None)
    assert session.ended is not None


def test_an_answer_forged_ahead_is_not_the_next_message_s(session: Session) -> None:
    find = (
        "import sys, os, struct\n"
        "f = sys._getframe()\n"
        "while f and 'order' not in f.f_locals: f = f.f_back\n"
        'text = b\'{"k":"value","v":42,"n":"%s"}\' % f.f_locals[\'order\'][\'n\'].encode()\n'
        "os.write(3, struct.pack('>I', len(text)) + text)\n"
        "import time; time.sleep(0.3)"
    )
    assert session.run(find).value == 42  # it speaks for itself, and for itself alone
    outcome = session.run("'honest'")
    assert outcome.status == "protocol-error"
    with pytest.raises(SessionEndedError):
        session.run("1")


def test_a_child_does_not_answer_the_next_message(session: Session) -> None:
    session.run(
        "import os, struct, time\n"
        'text = b\'{"k":"value","v":"forged","n":""}\'\n'
        "if not os.fork():\n"
        "    time.sleep(0.1)\n"
        "    while True: os.write(3, struct.pack('>I', len(text)) + text); time.sleep(0.01)"
    )
    outcome = session.run("time.sleep(0.3); 'honest'")
    assert (outcome.value, outcome.status) == (None, "protocol-error")


def test_a_forked_child_that_returns_from_a_message_says_nothing(session: Session) -> None:
    assert session.run("import os; pid = os.fork(); pid > 0").value is True
    assert session.run("1 + 1").value == 2


def test_output_without_waiting_does_not_hang_a_message(session: Session) -> None:
    session.run("import os; os.set_blocking(1, False); os.set_blocking(2, False)")
    assert session.run("print('x' * 50_000)").status in ("ok", "runtime-error")


def test_a_closed_stream_does_not_hang_a_message(session: Session) -> None:
    assert session.run("os = __import__('os'); os.close(1); os.close(2)").status == "ok"
    assert session.run("40 + 2").status in ("ok", "runtime-error")
    assert session.run("x = 1").status == "ok"


def test_a_session_that_hangs_up_is_over(session: Session) -> None:
    outcome = session.run("import os; os.close(3); import time; time.sleep(15)", SHORT)
    assert outcome.status in ("timeout", "runtime-error", "protocol-error")
    assert session.ended is not None


def test_a_session_that_stops_itself_is_over(session: Session) -> None:
    source = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    outcome = session.run(source, SHORT)
    assert (outcome.status, outcome.limit) == ("timeout", "wall")


def test_killing_everybody_ends_no_other_box(anywhere: ToolSandbox) -> None:
    with anywhere.open_session(LIMITS) as session, anywhere.open_session(LIMITS) as other:
        session.run("import os\ntry: os.kill(-1, 9)\nexcept OSError: pass", SHORT)
        with contextlib.suppress(SessionEndedError):
            session.run("os.kill(1, 9); os.kill(os.getppid(), 19)", SHORT)
        assert other.run("1 + 1").value == 2
    assert anywhere.run(Program("print(1)"), LIMITS).status == "ok"


def test_a_fork_bomb_in_a_message_ends_with_it(anywhere: ToolSandbox) -> None:
    with anywhere.open_session(LIMITS) as session:
        bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
        assert session.run(bomb, SHORT).status in ("timeout", "memory")  # whichever ends first
    with anywhere.open_session(LIMITS) as session:
        assert session.run("1 + 1").value == 2


def test_patched_builtins_change_the_session_s_own_answers_alone(
    session: Session, anywhere: ToolSandbox
) -> None:
    patch = (
        "import builtins, os, struct, traceback, linecache, sys\n"
        "for name in ('len', 'compile', 'exec', 'eval', 'isinstance', 'type', 'getattr'):\n"
        "    setattr(builtins, name, None)\n"
        "os.fork = os.read = os.write = os._exit = None\n"
        "struct.pack = traceback.print_exception = None\n"
    )
    session.run(patch)
    assert session.run("1 + 1").value in (2, None)
    with anywhere.open_session(LIMITS) as later:
        assert later.run("len([1, 2])").value == 2


def test_a_locked_interpreter_is_killed_from_outside(session: Session) -> None:
    hold = "import re; re.match('(a*)*b', 'a' * 60)"
    assert session.run(hold, SHORT).status == "timeout"
    with pytest.raises(SessionEndedError, match="timeout"):
        session.run("1")
