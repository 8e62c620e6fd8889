"""The template process of a local sandbox, seen from the host: start it, ask it for slots, end
it."""

from __future__ import annotations

import contextlib
import marshal
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prorl_sandbox.local.slots import Slot
from prorl_sandbox.local.view import PACKAGES, Listing, system_view
from prorl_sandbox.run.conversation import NO_PACKAGES, SETUP_SECONDS, Packages
from prorl_sandbox.types import SandboxError

_MESSAGE = 65536
_LAST_WORD_SECONDS = 30.0
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LD_BIND_NOW": "1",  # else every box would look up the same functions of the C library
    "MALLOC_ARENA_MAX": "2",
    "PYTHONHASHSEED": "0",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What a slot is to be: the packages that its boxes find, the names that a program may have, and
    what of this machine they see."""

    packages: Packages
    files: tuple[str, ...]
    listing: Listing


class Templates:
    """The templates of a sandbox, one for what boxes find loaded: each is started when it is first
    needed, and anew when it has ended. Thread-safe."""

    def __init__(self, command: Sequence[str], settings: dict[str, Any]) -> None:
        """Start the one without packages; raises SandboxError when it does not start."""
        self._command = command
        self._settings = settings
        self._lock = threading.Lock()
        self._started = {NO_PACKAGES: self._start(NO_PACKAGES, 0)}

    def _start(self, packages: Packages, first: int) -> Template:
        """Start a template with these packages, beside ``first``: they share what their boxes see."""
        listing = system_view(packages.folder).listing()
        settings = self._settings | {"root": listing.name, "first": first, "packages": ()}
        if packages.folder:
            apart = "mount" in self._settings["walls"]
            folder = PACKAGES if apart else packages.folder
            settings["packages"] = (folder, *packages.loaded)
        return Template(self._command, settings, listing)

    @property
    def cgroup_version(self) -> int:
        """The version of the boxes' control groups, 0 for none."""
        return self._started[NO_PACKAGES].cgroup_version

    @property
    def alive(self) -> bool:
        """False when the first one has ended, by whatever hand."""
        return self._started[NO_PACKAGES].alive

    def slot(self, request: Request) -> Slot:
        """Make a slot of the template with these packages. Raises SandboxError."""
        with self._lock:
            template = self._started.get(request.packages)
            if template is None or not template.alive:
                if template is not None:
                    template.close()
                template = self._start(request.packages, self._started[NO_PACKAGES].pid)
                self._started[request.packages] = template
        return template.slot(request)

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            for template in self._started.values():
                template.close()


class Template:
    """The template process and the way to ask it for slots. Thread-safe."""

    def __init__(self, command: Sequence[str], settings: dict[str, Any], listing: Listing) -> None:
        """Start it, with what its first boxes see; raises SandboxError when it does not start."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Not a pipe: nobody reads it before the end, and a full pipe would hang every box.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        try:
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno())],
                stdin=subprocess.PIPE,  # never written: a box's stdin is a pipe from the beginning
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
            raise SandboxError(f"the sandbox could not start its template: {error}") from error
        finally:
            theirs.close()
        try:
            with listing.note() as note:
                socket.send_fds(self._control, [marshal.dumps(settings, 2)], [note])
            self.cgroup_version = int(self._first_word(self._control)["cgroup"])
        except OSError as error:
            raise SandboxError(self._obituary()) from error
        except SandboxError:
            self.close()
            raise

    def _first_word(self, control: socket.socket) -> dict[str, Any]:
        control.settimeout(SETUP_SECONDS)
        try:
            data = control.recv(_MESSAGE)
        except TimeoutError as error:
            raise SandboxError("the sandbox's template does not answer") from error
        control.settimeout(None)
        if not data:
            raise SandboxError(self._obituary())
        word: dict[str, Any] = marshal.loads(data)
        if word["event"] == "error":
            raise SandboxError(f"the sandbox could not build a box: {word['message']}")
        return word

    def slot(self, request: Request) -> Slot:
        """Make a slot with this view of the machine. Raises SandboxError."""
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            wanted = {"root": request.listing.name, "files": request.files}
            with request.listing.note() as note:
                fds = [theirs.fileno(), note]
                socket.send_fds(self._control, [marshal.dumps(wanted, 2)], fds)
            theirs.close()
            self._first_word(mine)
        except OSError as error:
            mine.close()
            raise SandboxError(self._obituary()) from error
        except SandboxError:
            mine.close()
            raise
        finally:
            theirs.close()
        return Slot(mine)

    def _obituary(self) -> str:
        """Say how the template ended, in one line."""
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
        """The number of its process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """False when the template has ended, by whatever hand."""
        return self._process.poll() is None

    def close(self) -> None:
        """Hang up and wait until the template has cleared away; kill it if it does not."""
        # Closing alone would not do: a fork of this process may hold the socket too.
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        try:
            self._process.wait(timeout=_LAST_WORD_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._stderr.close()
