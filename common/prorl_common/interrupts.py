"""What Ctrl-C does, in every command: the first says what happens and how to go on, the second ends the process.

Work says in a block of :func:`on_interrupt` what a Ctrl-C would leave and how one goes on. Python runs a signal's
handler only between two of its own instructions, and a step inside torch may take half a minute on a busy
machine; so :func:`watch` starts a thread that hears of the signal at once (``signal.set_wakeup_fd``). It
speaks at the first, and at the second gives the work ``GRACE`` seconds to leave in order, then kills the processes
that this one started, each by its id, and exits. What is written is whole all the same: files come about by
rename, a journal's torn line is dropped when it is opened.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""
GRACE = 0.7
"""Seconds between the second Ctrl-C and the end of the process, whatever it does then."""
_LOST_SECONDS = 0.05
NOTHING_KEPT = "stopping; nothing is kept, give the same command again"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class _Block:
    words: str | Callable[[], str] | None
    say: Callable[[str], None]
    react: Callable[[], None] | None


@dataclass(slots=True)
class _State:
    """What has been heard since the outermost block began."""

    watched: bool = False
    heard: int = 0
    handled: int = 0
    raised: bool = False
    spoken: bool = False


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


_blocks: list[_Block] = []
_state = _State()
_speaking = threading.RLock()
_said = threading.Event()


@contextlib.contextmanager
def on_interrupt(
    words: str | Callable[[], str] | None,
    react: Callable[[], None] | None = None,
    say: Callable[[str], None] = _to_stderr,
) -> Iterator[None]:
    """Say ``words`` at the first Ctrl-C inside the block, then call ``react`` or raise KeyboardInterrupt.

    ``words`` tell what happens, what is kept and how to go on; None where the block's own handlers speak. With ``react`` the
    work goes on until it is at a good place to end, a job scheduler's SIGTERM does the same, and the second
    signal raises KeyboardInterrupt. The innermost block counts. Outside the main thread, where Python hands out
    no signals, the block does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    outermost = not _blocks
    _blocks.append(_Block(words, say, react))
    numbers = _SIGNALS if react is not None else _SIGNALS[:1]
    before = [signal.signal(number, _handle) for number in numbers]
    try:
        yield
    except KeyboardInterrupt:
        _speak()
        raise
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)
        _blocks.pop()
        if outermost:
            _state.heard = _state.handled = 0
            _state.spoken = _state.raised = False


def watch() -> None:
    """Hear of Ctrl-C at once from here on, and end the process ``GRACE`` seconds after the second one.

    For a process of its own, as the command line is, and for all its life: it ends with ``os._exit``.
    """
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    _state.watched = True
    _blocks.append(_Block(NOTHING_KEPT, _to_stderr, None))
    signal.signal(signal.SIGINT, _handle)
    sys.unraisablehook = _raise_again
    threading.Thread(target=_watch, args=(heard,), name="ctrl-c", daemon=True).start()


def _handle(number: int, frame: FrameType | None) -> None:
    """Run in the main thread, when it is back in Python."""
    del number, frame
    _state.handled += 1
    _speak()
    block = _blocks[-1]
    if _state.handled == 1 and _state.heard < 2 and block.react is not None:
        block.react()
    elif not (_state.raised and _state.watched):  # once: it must not break into what ends in order
        _state.raised = True
        raise KeyboardInterrupt


def _raise_again(lost: sys.UnraisableHookArgs) -> None:
    """Have a KeyboardInterrupt come once more that Python dropped, because it came inside of a destructor or a callback."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    _state.heard -= 1
    _state.handled -= 1
    _state.raised = False
    _thread.start_new_thread(_interrupt_later, ())  # no lock that this thread may hold now


def _interrupt_later() -> None:
    time.sleep(_LOST_SECONDS)
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)  # a real one: it also ends what the thread sleeps in


def _speak() -> None:
    """Say what happens and how to go on, once."""
    with _speaking:
        if _state.spoken or not _blocks:
            return
        _state.spoken = True
        block = _blocks[-1]
    if block.words is not None:
        words = block.words if isinstance(block.words, str) else block.words()
        block.say(f"{words} (Ctrl-C again stops at once)")
    _said.set()


def _watch(heard: int) -> None:
    with open(heard, "rb", buffering=0) as pipe:
        while number := pipe.read(1):
            if number[0] not in _SIGNALS:
                continue
            _state.heard += 1
            if _state.heard == 1:
                _speak()
            else:
                time.sleep(GRACE)
                _end()


def leave(code: int) -> None:
    """End the process where Ctrl-C was heard; else return.

    Without the interpreter's own end: it takes seconds with torch loaded, and no thread can run beside it.
    """
    if not (_state.heard or _state.handled):
        return
    if _state.heard > 1:
        _end()
    _said.wait(GRACE)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _end() -> None:
    """Kill what this process started, show the cursor that a progress bar hid, and exit."""
    for process in started_processes(os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    with contextlib.suppress(OSError):
        shown = b"\x1b[?25h" if os.isatty(2) else b""
        os.write(2, shown + b"stopped\n")
    os._exit(INTERRUPTED)


def started_processes(parent: int) -> list[int]:
    """Return the ids of the processes below ``parent``, each after the one that started it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, place = [parent], 0
    while place < len(found):
        found += children.get(found[place], [])
        place += 1
    return found[1:]
