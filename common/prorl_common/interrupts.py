"""Handle Ctrl-C: the first one prints what is kept, the second ends the process.

:func:`watch` reads signals in a thread, because Python runs no signal handlers during a long call of torch.
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
"""Exit code of a command ended by Ctrl-C."""
GRACE = 0.7
"""Seconds between the second Ctrl-C and the forced end of the process."""
_LOST_SECONDS = 0.05
NOTHING_KEPT = "stopping; nothing is kept, run the same command again"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class _Block:
    words: str | Callable[[], str] | None
    say: Callable[[str], None]
    react: Callable[[], None] | None


@dataclass(slots=True)
class _State:
    watched: bool = False
    received: int = 0
    handled: int = 0
    raised: bool = False
    printed: bool = False


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


_blocks: list[_Block] = []
_state = _State()
_print_lock = threading.RLock()
_message_shown = threading.Event()


@contextlib.contextmanager
def on_interrupt(
    words: str | Callable[[], str] | None,
    react: Callable[[], None] | None = None,
    say: Callable[[str], None] = _to_stderr,
) -> Iterator[None]:
    """Handle Ctrl-C inside the ``with`` block: print ``words``, then call ``react`` or raise KeyboardInterrupt.

    ``words`` tell the user what is kept and how to continue. ``react`` asks the block to stop soon; then SIGTERM is
    handled too, and a second signal raises KeyboardInterrupt. Of nested blocks, only the innermost handles signals.
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
        _print_message()
        raise
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        _blocks.pop()
        if outermost:
            _state.received = _state.handled = 0
            _state.printed = _state.raised = False


def watch() -> None:
    """Start handling Ctrl-C. The process ends ``GRACE`` seconds after the second."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    _state.watched = True
    _blocks.append(_Block(NOTHING_KEPT, _to_stderr, None))
    signal.signal(signal.SIGINT, _handle)
    sys.unraisablehook = _repeat_interrupt
    threading.Thread(target=_watch, args=(reader,), name="ctrl-c", daemon=True).start()


def _handle(number: int, frame: FrameType | None) -> None:
    del number, frame
    _state.handled += 1
    _print_message()
    block = _blocks[-1]
    if _state.handled == 1 and _state.received < 2 and block.react is not None:
        block.react()
    elif not (_state.raised and _state.watched):  # a second one would interrupt the clean-up
        _state.raised = True
        raise KeyboardInterrupt


def _repeat_interrupt(lost: sys.UnraisableHookArgs) -> None:
    """Raise again a KeyboardInterrupt that Python dropped inside a destructor or callback."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    _state.received -= 1
    _state.handled -= 1
    _state.raised = False
    _thread.start_new_thread(_interrupt_later, ())  # takes no lock that this thread may hold


def _interrupt_later() -> None:
    time.sleep(_LOST_SECONDS)
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)  # a real signal also interrupts a sleep


def _print_message() -> None:
    with _print_lock:
        if _state.printed or not _blocks:
            return
        _state.printed = True
        block = _blocks[-1]
    if block.words is not None:
        words = block.words if isinstance(block.words, str) else block.words()
        block.say(f"{words} (Ctrl-C again stops at once)")
    _message_shown.set()


def _watch(reader: int) -> None:
    with open(reader, "rb", buffering=0) as pipe:
        while number := pipe.read(1):
            if number[0] not in _SIGNALS:
                continue
            _state.received += 1
            if _state.received == 1:
                _print_message()
            else:
                time.sleep(GRACE)
                _end()


def leave(code: int) -> None:
    """Exit with ``code`` immediately if Ctrl-C was pressed, else return."""
    if not (_state.received or _state.handled):
        return
    if _state.received > 1:
        _end()
    _message_shown.wait(GRACE)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _end() -> None:
    for process in started_processes(os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    with contextlib.suppress(OSError):
        cursor = b"\x1b[?25h" if os.isatty(2) else b""
        os.write(2, cursor + b"stopped\n")
    os._exit(INTERRUPTED)


def started_processes(parent: int) -> list[int]:
    """Return the ids of all descendants of ``parent``, parents first."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    processes, place = [parent], 0
    while place < len(processes):
        processes += children.get(processes[place], [])
        place += 1
    return processes[1:]
