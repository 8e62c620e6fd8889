"""Local backend: runs programs in Linux namespaces."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from prorl_common import UserError
from prorl_sandbox.box import syscalls
from prorl_sandbox.box.container import cleaning
from prorl_sandbox.environments import store
from prorl_sandbox.environments.store import Environment, interpreter
from prorl_sandbox.local.box import LocalBox
from prorl_sandbox.local.slots import Request, SlotPool, Templates
from prorl_sandbox.local.view import EXECUTABLE, Tools, system_view, tools_view
from prorl_sandbox.run.conversation import Box, Boxes
from prorl_sandbox.run.places import When
from prorl_sandbox.run.plan import NO_PACKAGES, PYTHON_FILE, Job, Packages
from prorl_sandbox.run.sandbox import BoxSandbox, machine_is_busy
from prorl_sandbox.run.session import MOST_SESSIONS
from prorl_sandbox.spec import BINARY
from prorl_sandbox.types import SandboxError

TEMPLATE = Path(__file__).parents[1] / "box" / "namespaces" / "template.py"
_FLAGS = ("-s", "-S", "-P", "-X", "utf8")
_LEAST_SLOTS = 2  # a check needs two boxes at once


def default_slots() -> int:
    """Return the number of CPUs, at least two."""
    return max(_LEAST_SLOTS, len(os.sched_getaffinity(0)))


class LocalSandbox(BoxSandbox):
    """Implements ``Sandbox`` with namespaces, seccomp, Landlock, control groups and rlimits.

    Use ``open_sandbox``, which refuses weak isolation. ``walls`` lists the isolation features to use. ``slots`` is the
    number of programs that can run at once; waiting for a slot does not count as wall time.
    """

    def __init__(
        self,
        walls: tuple[str, ...],
        isolation: str,
        *,
        slots: int | None = None,
        sessions: int = MOST_SESSIONS,
        python: str | None = None,
        template: Path = TEMPLATE,
    ) -> None:
        super().__init__(isolation, sessions)
        self._walls = walls
        self._slots = max(_LEAST_SLOTS, slots or default_slots())
        self._command = (python or interpreter(), *_FLAGS, str(template))
        self._lock = threading.Lock()
        self._opened: tuple[Templates, SlotPool, SlotPool] | None = None
        self._closed = False
        self._owner = os.getpid()
        self._end: Callable[[], object] = _do_nothing
        self._held: list[int] = []

    def _pools(self) -> tuple[SlotPool, SlotPool]:
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            if self._owner != os.getpid():  # a fork: open handles belong to the parent
                self._opened, self._owner = None, os.getpid()
            if self._opened is not None and not self._opened[0].alive:
                self._end()  # the template was killed; the next one cleans up
                self._opened = None
            if self._opened is None:
                settings = {
                    "interpreter": os.path.realpath(self._command[0]),
                    "executable": EXECUTABLE,
                    "flags": _FLAGS,
                    "walls": tuple(w for w in self._walls if w not in ("landlock", "cgroup")),
                    "landlock": syscalls.landlock_abi() if "landlock" in self._walls else 0,
                    "cgroup": "cgroup" in self._walls,
                }
                templates = Templates(self._command, settings)
                pool = SlotPool(templates, self._slots)
                self._opened = templates, pool, SlotPool(templates, self._most_sessions)
                # A forgotten sandbox ends when it is garbage-collected, at the latest when the process ends.
                self._end = weakref.finalize(self, _end, os.getpid(), *self._opened)
            return self._opened[1:]

    def _environment(self, name: str) -> Environment:
        environment = store.find(name, store.Target.current())
        self._held.append(store.hold(Path(environment.folder)))
        return environment

    def cgroup_version(self) -> int:
        """Return the control-group version in use, or 0 for none. Starts the sandbox if necessary."""
        self._pools()
        with self._lock:
            return self._opened[0].cgroup_version if self._opened is not None else 0

    def _boxes(self, jobs: Sequence[Job], when: When) -> AbstractContextManager[Boxes]:
        return self._start(self._pools()[0], jobs, when)

    @contextlib.contextmanager
    def _session_box(self, job: Job) -> Iterator[Box]:
        if not {"pid", "mount"} <= set(self._walls):
            raise UserError(
                "a session needs process and mount namespaces: see 'prorl sandbox doctor'"
            )
        with self._start(self._pools()[1], [job], "free") as made:
            yield made.boxes[0]

    @contextlib.contextmanager
    def _start(self, pool: SlotPool, jobs: Sequence[Job], when: When) -> Iterator[Boxes]:
        with (
            pool.lend([_request(job) for job in jobs], when) as (slots, shared),
            contextlib.ExitStack() as afterwards,
        ):
            boxes: list[Box] = []
            for slot, job in zip(slots, jobs, strict=True):
                try:
                    box = LocalBox(slot, job, afterwards.enter_context(self._scratch()))
                except OSError as error:
                    raise SandboxError(f"the sandbox could not start a program: {error}") from error
                afterwards.callback(box.close)
                boxes.append(box)
            try:
                yield Boxes(boxes, lambda: shared() or machine_is_busy())
            except SandboxError as error:
                if self._closed:
                    raise SandboxError("the sandbox was closed during the run") from error
                raise

    def _are_free(self, count: int) -> bool:
        return self._pools()[0].places.are_free(count)

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[str]:
        """Yield a temporary folder for a program, or "" if mount namespaces provide one."""
        if "mount" in self._walls:
            yield ""
            return
        folder = tempfile.mkdtemp(prefix="prorl-box-")
        try:
            Path(folder).chmod(0o777)
            yield folder
        finally:
            cleaning.empty(os.fsencode(folder))  # a program may leave any tree of files
            os.rmdir(folder)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            opened, self._opened = self._opened, None
        self._close_sessions()
        if opened is not None:
            self._end()
            self._end = _do_nothing
        while self._held:
            os.close(self._held.pop())


def _do_nothing() -> None: ...


def _end(owner: int, templates: Templates, *pools: SlotPool) -> None:
    if owner != os.getpid():
        return
    for pool in pools:
        pool.close()
    templates.close()


def _request(job: Job) -> Request:
    if job.command is not None and job.command.tools:
        return _request_for(NO_PACKAGES, (job.file,), Tools.of(job.command))
    return _request_for(job.packages, (PYTHON_FILE, BINARY), None)


@functools.cache
def _request_for(packages: Packages, files: tuple[str, ...], tools: Tools | None) -> Request:
    view = tools_view(tools) if tools is not None else system_view(packages.folder)
    return Request(packages, files, view.listing())
