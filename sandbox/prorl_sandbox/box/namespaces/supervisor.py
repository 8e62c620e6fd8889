"""Process that forks the processes in which programs run."""

from __future__ import annotations

import marshal
import os
import select
import socket
import time

from prorl_sandbox.box import cgroup, limits, seccomp, syscalls
from prorl_sandbox.box.namespaces import image, isolate
from prorl_sandbox.box.namespaces.slot import Slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from prorl_sandbox.box.namespaces.image import Image

_MESSAGE = 1 << 20
_LAST_WAIT_SECONDS = 20.0


class Supervisor:
    """Forks a :class:`Slot` for each request on ``control``. ``image`` holds the files that programs can read."""

    def __init__(
        self, control: socket.socket, settings: dict[str, Any], image: Image | None
    ) -> None:
        self._control = control
        self._settings = settings
        self._image = image
        self._life_read, self._life = os.pipe()
        self._made = 0
        self._groups: list[str] = []
        self._slots: dict[int, int] = {}
        self._version = 0
        self._slot: Slot | None = None
        walls = self._settings["walls"]
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        # Before Linux 5.14, RLIMIT_NPROC also counts a user's processes outside the namespace.
        major, minor = (
            int("".join(filter(str.isdigit, part)) or 0)
            for part in os.uname().release.split(".")[:2]
        )
        self._settings["counts_all"] = not settings["by_right"] and (major, minor) < (5, 14)
        if self._settings["cgroup"]:
            with open("/proc/self/cgroup", encoding="utf-8") as file:
                self._version, parents, _ = cgroup.find(file.readlines())
            if self._version:
                cgroup.sweep(parents)
                name = f"{os.getpid()}-{cgroup.start_time(str(os.getpid()))}"
                self._groups = cgroup.make_parents(self._version, parents, name)
        if "seccomp" in walls:
            machine = syscalls.machine()
            filters = [] if self._version else [seccomp.build_child_filter(machine)]
            filters.append(seccomp.build_filter(machine))
            self._settings["filters"] = [seccomp.assemble(one) for one in filters]

    def serve(self) -> dict[str, Any]:
        """Fork slots until the host disconnects. Returns only in a program's process, with its job."""
        self._control.send(marshal.dumps({"event": "ready", "cgroup": self._version}, 2))
        poller = select.poll()
        poller.register(self._control.fileno(), select.POLLIN)
        while True:
            poller.poll(1000)
            self._reap()
            try:
                data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE, 2, socket.MSG_DONTWAIT)
            except BlockingIOError:
                continue
            except OSError:
                data, fds = b"", []
            if not data:
                self._leave()
            request, (answers, listing) = marshal.loads(data), fds
            try:
                request["root"] = self._root(request["root"], listing)
            except OSError as error:
                os.write(answers, marshal.dumps({"event": "error", "message": f"{error}"}, 2))
            else:
                job = self._start_slot(request, answers)
                if job is not None:
                    return job
            os.close(answers)

    def forget(self) -> None:
        self._groups.clear()
        self._settings.clear()
        if self._slot is not None:
            self._slot.forget()

    def _root(self, name: str, listing: int) -> str:
        files = image.read_note(listing)
        if self._image is None:
            return ""
        self._image.lay(name, files)
        return self._image.root(name)

    def _reap(self) -> None:
        try:
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                number = self._slots.pop(pid, None)
                if number is not None:
                    cgroup.remove([f"{folder}/{number}" for folder in self._groups])
        except ChildProcessError:
            return

    def _start_slot(self, request: dict[str, Any], fd: int) -> dict[str, Any] | None:
        self._made += 1
        ask_read, ask_write = os.pipe()
        answer_read, answer_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(self._life)
            os.close(ask_read)
            os.close(answer_write)
            self._control.close()
            return self._run_slot(
                request, socket.socket(fileno=os.dup(fd)), (ask_write, answer_read)
            )
        os.close(ask_write)
        os.close(answer_read)
        with os.fdopen(ask_read, "rb", buffering=0) as words:
            self._serve_start(pid, words, answer_write)
        os.close(answer_write)
        return None

    def _serve_start(self, pid: int, words: Any, answer_write: int) -> None:
        while word := words.readline():
            if word == b"maps\n":
                isolate.map_slot(pid, os.getpid() * 64 + self._made)
                os.write(answer_write, b"k")
            else:
                self._slots[int(word)] = self._made
        if pid not in self._slots:  # the process made its slot and ended, or failed
            os.waitpid(pid, 0)

    def _run_slot(
        self, request: dict[str, Any], control: socket.socket, maps: tuple[int, int]
    ) -> dict[str, Any]:
        ask, answer = maps

        def ask_for_map() -> None:
            os.write(ask, b"maps\n")
            if not os.read(answer, 1):
                raise OSError(1, "the parent process could not write the user id maps")

        settings = self._settings | request
        walls = settings["walls"]
        try:
            group = self._join_group()
            settings["proc"] = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            if settings["counts_all"]:
                settings["others"] = limits.processes_of_this_user(settings["proc"])
            isolate.separate_slot(settings, ask_for_map)
            first = os.fork() if "pid" in walls else 0
        except OSError as error:
            control.send(marshal.dumps({"event": "error", "message": f"{error}"}, 2))
            os._exit(1)
        if first:
            os.write(ask, f"{first}\n".encode())
            os._exit(0)  # the slot's parent is now the template
        if "pid" not in walls:
            os.write(ask, f"{os.getpid()}\n".encode())
        os.close(ask)
        os.close(answer)
        self._slot = Slot(settings, control, self._life_read, group)  # kept, see ``template``
        return self._slot.serve()

    def _join_group(self) -> cgroup.Group | None:

        if not self._version:
            return None
        group = cgroup.Group(self._version, [f"{folder}/{self._made}" for folder in self._groups])
        group.join()
        return group

    def _leave(self) -> None:
        os.close(self._life)
        deadline = time.monotonic() + _LAST_WAIT_SECONDS
        while time.monotonic() < deadline:
            try:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    time.sleep(0.005)
            except ChildProcessError:
                break
        cgroup.remove(self._groups)
        os._exit(0)
