"""The local sandbox's processes: slots that run programs, and template processes from which slots are forked."""

from __future__ import annotations

import contextlib
import marshal
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_sandbox.local.view import PACKAGES, Listing, system_view
from prorl_sandbox.run.conversation import SETUP_SECONDS, BoxLostError
from prorl_sandbox.run.places import Places, When
from prorl_sandbox.run.plan import NO_PACKAGES, Packages
from prorl_sandbox.types import SandboxError

_MESSAGE = 65536
_REPLY_SECONDS = 30.0
_REST_SECONDS = 0.005
"""Seconds after a program until its slot is ready for the next program."""
_CLEANUP_SECONDS = 30.0
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LD_BIND_NOW": "1",  # else every box looks up the same C library functions
    "MALLOC_ARENA_MAX": "2",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What a process offers to programs: packages, names of the program's file, and the ``listing`` of other files."""

    packages: Packages
    files: tuple[str, ...]
    listing: Listing


class Slot:
    """Handle of a process that runs one program after another. Only methods that say so are thread-safe."""

    def __init__(self, control: socket.socket, request: Request) -> None:
        self.request = request
        self._control = control
        self._lock = threading.Lock()
        self.busy = False
        self.doubtful = False
        self.ended = 0.0  # time.monotonic() of its last box's end

    def fileno(self) -> int:
        return self._control.fileno()

    def start(self, header: dict[str, Any], fds: Sequence[int]) -> None:
        """Send a program's limits and file descriptors to the slot. Raises BoxLostError."""
        try:
            socket.send_fds(self._control, [marshal.dumps(header, 2)], list(fds))
        except OSError as error:
            raise BoxLostError(f"a process of the sandbox ended unexpectedly: {error}") from error
        self.busy = True

    def event(self) -> dict[str, Any] | None:
        """Return the next event, or None if there is none yet. Raises BoxLostError."""
        try:
            data = self._control.recv(_MESSAGE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except ConnectionError:
            data = b""
        if not data:
            raise BoxLostError("a process of the sandbox ended unexpectedly")
        event: dict[str, Any] = marshal.loads(data)
        self.busy = self.busy and event["event"] not in ("end", "error")
        self.doubtful = self.doubtful or event["event"] == "error"
        return event

    @property
    def alive(self) -> bool:
        try:
            return self._control.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def kill_box(self) -> None:
        """Kill the running program, if any. Thread-safe."""
        with self._lock, contextlib.suppress(OSError):
            if self.busy:
                self._control.send(b"kill")

    def renew(self, limits: dict[str, Any]) -> None:
        with self._lock, contextlib.suppress(OSError):  # reading events detects its end
            if self.busy:
                self._control.send(marshal.dumps(limits, 2))

    def hang_up(self) -> None:
        """End the slot and its program. Thread-safe."""
        with self._lock, contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        with self._lock:
            self._control.close()


class Template:
    """Handle of a process that forks programs' processes. Thread-safe. Raises SandboxError if it does not start."""

    def __init__(self, command: Sequence[str], settings: dict[str, Any], listing: Listing) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Not a pipe: it is read only at the end, and a full pipe would hang every box.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        try:
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                stdin=subprocess.PIPE,  # never written: it only reserves the descriptor
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=_ENVIRONMENT,
                cwd="/",
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        except OSError as error:
            self._control.close()
            self._stderr.close()
            raise SandboxError(f"the template process could not start: {error}") from error
        finally:
            theirs.close()
        try:
            with listing.note() as note:
                socket.send_fds(self._control, [marshal.dumps(settings, 2)], [note])
            self.cgroup_version = int(self._first_event(self._control)["cgroup"])
        except OSError as error:
            raise SandboxError(self._reason_of_end()) from error
        except SandboxError:
            self.close()
            raise

    def _first_event(self, control: socket.socket) -> dict[str, Any]:
        control.settimeout(SETUP_SECONDS)
        try:
            data = control.recv(_MESSAGE)
        except TimeoutError as error:
            raise SandboxError("the sandbox's template process does not answer") from error
        control.settimeout(None)
        if not data:
            raise SandboxError(self._reason_of_end())
        word: dict[str, Any] = marshal.loads(data)
        if word["event"] == "error":
            raise SandboxError(f"the sandbox could not isolate a program: {word['message']}")
        return word

    def slot(self, request: Request) -> Slot:
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            message = {"root": request.listing.name, "files": request.files}
            with request.listing.note() as note:
                fds = [theirs.fileno(), note]
                socket.send_fds(self._control, [marshal.dumps(message, 2)], fds)
            theirs.close()
            self._first_event(mine)
        except OSError as error:
            mine.close()
            raise SandboxError(self._reason_of_end()) from error
        except SandboxError:
            mine.close()
            raise
        finally:
            theirs.close()
        return Slot(mine, request)

    def _reason_of_end(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        if self._stderr.closed:
            return "the sandbox's template has ended"
        self._stderr.seek(max(0, self._stderr.seek(0, 2) - 4096))
        last = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        self.close()
        return ": ".join(["the sandbox's template ended before the program started", *last[-1:]])

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Wait until the process has cleaned up and ended; kill it after some time."""
        # Closing alone is not enough: a fork of this process may hold the socket too.
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        try:
            self._process.wait(timeout=_CLEANUP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._stderr.close()


class Templates:
    """Handles of template processes, one per set of packages, which are started when needed. Thread-safe."""

    def __init__(self, command: Sequence[str], settings: dict[str, Any]) -> None:
        self._command = command
        self._settings = settings
        self._lock = threading.Lock()
        self._started = {NO_PACKAGES: self._start(NO_PACKAGES, 0)}

    def _start(self, packages: Packages, first: int) -> Template:
        """Start a template process in the file system of the process with id ``first``, or in a new one if it is 0."""
        listing = system_view(packages.folder).listing()
        settings = self._settings | {"root": listing.name, "first": first, "packages": ()}
        if packages.folder:
            apart = "mount" in self._settings["walls"]
            folder = PACKAGES if apart else packages.folder
            settings["packages"] = (folder, *packages.loaded)
        return Template(self._command, settings, listing)

    @property
    def cgroup_version(self) -> int:
        return self._started[NO_PACKAGES].cgroup_version

    @property
    def alive(self) -> bool:
        return self._started[NO_PACKAGES].alive

    def slot(self, request: Request) -> Slot:
        with self._lock:
            template = self._started.get(request.packages)
            if template is None or not template.alive:
                if template is not None:
                    template.close()
                template = self._start(request.packages, self._started[NO_PACKAGES].pid)
                self._started[request.packages] = template
        return template.slot(request)

    def close(self) -> None:
        with self._lock:
            for template in self._started.values():
                template.close()


class SlotPool:
    """Lends up to ``size`` processes that run programs. Thread-safe."""

    def __init__(self, templates: Templates, size: int) -> None:
        self.places = Places(size)
        self._templates = templates
        self._lock = threading.Lock()
        self._rested: dict[Request, deque[Slot]] = defaultdict(deque)
        self._count: dict[Request, int] = defaultdict(int)
        self._lent: set[Slot] = set()

    @contextlib.contextmanager
    def lend(
        self, requests: Sequence[Request], when: When
    ) -> Iterator[tuple[list[Slot], Callable[[], bool]]]:
        """Lend each request a process for programs, for a ``with`` block. Raises NoneFree, SandboxError.

        Yields (slots, function). The function returns whether other callers had slots during the block.
        """
        with (
            self.places.take(len(requests), when) as crowded,
            contextlib.ExitStack() as afterwards,
        ):
            slots = []
            for request in requests:
                slot = self._find(request)
                afterwards.callback(self._give_back, slot)
                slots.append(slot)
            yield slots, crowded

    def _find(self, request: Request) -> Slot:
        with self._lock:
            rested = self._rested[request]
            while rested:
                slot = rested[0]
                unready = time.monotonic() - slot.ended < _REST_SECONDS
                if unready and self._count[request] < self.places.size:
                    break
                rested.popleft()
                if slot.alive:
                    self._lent.add(slot)
                    return slot
                self._drop(slot)
            self._count[request] += 1
        try:
            slot = self._templates.slot(request)
        except SandboxError:
            with self._lock:
                self._count[request] -= 1
            raise
        with self._lock:
            self._lent.add(slot)
        return slot

    def _drop(self, slot: Slot) -> None:
        slot.close()
        self._count[slot.request] -= 1

    def _give_back(self, slot: Slot) -> None:
        calm = self._stop_box(slot)
        with self._lock:
            self._lent.discard(slot)
            if calm and not self.places.closed:
                slot.ended = time.monotonic()
                self._rested[slot.request].append(slot)
            else:
                self._drop(slot)

    @staticmethod
    def _stop_box(slot: Slot) -> bool:
        deadline = time.monotonic() + _REPLY_SECONDS
        slot.kill_box()
        poller = select.poll()
        try:
            poller.register(slot, select.POLLIN)
            while slot.busy:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                poller.poll(left * 1000)
                slot.event()
        except (SandboxError, ValueError):  # the slot ended, or another thread closed it
            return False
        return slot.alive and not slot.doubtful

    def close(self) -> None:
        self.places.close()
        with self._lock:
            for slots in self._rested.values():
                while slots:
                    slots.pop().close()
            for slot in self._lent:
                slot.hang_up()
        self.places.await_all(_REPLY_SECONDS)
