"""Sandbox that runs programs in a pool of Docker containers."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from prorl_common import UserError
from prorl_sandbox.docker_backend import images
from prorl_sandbox.docker_backend.container import Container, Need
from prorl_sandbox.docker_backend.engine import Engine
from prorl_sandbox.docker_backend.stream import ContainerBox
from prorl_sandbox.environments.store import Environment
from prorl_sandbox.run.conversation import Box, Boxes
from prorl_sandbox.run.places import NoneFree, Places, When
from prorl_sandbox.run.plan import Job
from prorl_sandbox.run.sandbox import BoxSandbox
from prorl_sandbox.run.session import MOST_SESSIONS
from prorl_sandbox.types import Limits, SandboxError

Maker = Callable[[Need], Container]


_MOST_RESTING = 4
"""Maximum number of idle containers per slot."""


class Slot:
    """Holds the container of one running program, and idle containers with other packages."""

    def __init__(self) -> None:
        self.container: Container | None = None
        self._resting: list[Container] = []

    def find(self, need: Need) -> Container | None:
        active = [self.container] if self.container is not None else []
        return next((c for c in (*active, *self._resting) if c.packages == need.packages), None)

    def prepare(self, need: Need, make: Maker) -> Container:
        """Return a container that meets ``need``; ``make`` starts it if necessary."""
        existing = self.find(need)
        if existing is not self.container:
            if self.container is not None:
                self._resting.append(self.container)
            self.container = existing
            if existing is not None:
                self._resting.remove(existing)
            elif len(self._resting) > _MOST_RESTING:
                self._resting.pop(0).discard()
        if self.container is not None and not self.container.fits(need):
            self.drop()
        if self.container is not None:
            try:
                self.container.set_memory(need)
            except SandboxError:  # the limit is below the memory in use
                self.drop()
        if self.container is None:
            self.container = make(need)
        return self.container

    def drop(self) -> None:
        container, self.container = self.container, None
        if container is not None:
            container.discard()

    def clear(self) -> None:
        self.drop()
        while self._resting:
            self._resting.pop().discard()


class Pool:
    """Up to ``size`` containers for running programs, started when needed. Thread-safe."""

    def __init__(self, size: int, make: Maker) -> None:
        self.places = Places(size)
        self._make = make
        self._lock = threading.Lock()
        self._free = [Slot() for _ in range(size)]
        self._busy: list[Slot] = []

    @contextlib.contextmanager
    def take(
        self, needs: Sequence[Need], when: When = "free"
    ) -> Iterator[tuple[list[Slot], Callable[[], bool]]]:
        """Lend a slot with a suitable container for each need, for a ``with`` block. Raises NoneFree, SandboxError.

        Yields (slots, function). The function returns whether other callers had slots during the block.
        """
        if len(needs) > self.places.size:
            raise UserError(
                f"a check needs {len(needs)} containers at once: open the sandbox with more containers"
            )
        if when == "now" and not self._are_warm(needs):
            raise NoneFree
        with self.places.take(len(needs), when) as shared:
            with self._lock:
                slots = [self._best(need) for need in needs]
                self._busy += slots
            try:
                for slot, need in zip(slots, needs, strict=True):
                    slot.prepare(need, self._make)
                if self.places.closed:
                    raise SandboxError("the sandbox is closed")
                yield slots, shared
            finally:
                self._give_back(slots)

    def _are_warm(self, needs: Sequence[Need]) -> bool:
        with self._lock:
            warm = [c for slot in self._free if (c := slot.container) is not None]
        return len(needs) <= sum(c.fits(needs[0]) and c.has_memory(needs[0]) for c in warm)

    def _best(self, need: Need) -> Slot:
        def change(slot: Slot) -> int:
            container = slot.find(need)
            if container is None:
                return 2
            return 3 if not container.fits(need) else int(not container.has_memory(need))

        slot = min(self._free, key=change)
        self._free.remove(slot)
        return slot

    def _give_back(self, slots: Sequence[Slot]) -> None:
        with self._lock:
            for slot in slots:
                self._busy.remove(slot)
            self._free += slots
            closed = self.places.closed
        if closed:
            for slot in slots:
                slot.clear()

    def close(self) -> None:
        """Remove all containers. Calls that are running a program raise SandboxError."""
        self.places.close()
        with self._lock:
            free, busy = list(self._free), [slot.container for slot in self._busy]
        for container in busy:
            if container is not None:
                container.destroy()
        for slot in free:
            slot.clear()


RUNS_OF_A_CONTAINER = 900
_MOST_RUNS = 900  # a container has at least that many user ids
_LARGEST_PROGRAM = 48 * 1024 * 1024
_MIB = 1024 * 1024


class DockerSandbox(BoxSandbox):
    """Implements ``Sandbox`` with Docker containers. Thread-safe."""

    def __init__(
        self,
        engine: Engine,
        image: str,
        runtime: str | None,
        containers: int,
        runs: int,
        sessions: int = MOST_SESSIONS,
    ) -> None:
        """Start the first container. Raises UserError, SandboxError.

        At most ``containers`` programs run at once. A container is replaced after ``runs`` programs.
        """
        self._engine, self._image, self._runtime, self._runs = engine, image, runtime, runs
        self._pool = Pool(containers, self._make)
        self._session_pool = Pool(sessions, self._make)
        try:
            with self._pool.take([_need_of(Job("main", "", Limits()))]) as (slots, _):
                hello = slots[0].container.hello if slots[0].container is not None else {}
        except BaseException:
            self.close()
            raise
        name = "docker" if runtime is None else f"docker-{runtime}"
        landlock = "+landlock" if hello.get("landlock") else ""
        super().__init__(f"{name}+seccomp{landlock}+cgroup", sessions)

    def _make(self, need: Need) -> Container:
        image = images.image_of(self._image, need.packages.environment)
        return Container(self._engine, image, self._runtime, need)

    def _environment(self, name: str) -> Environment:
        return images.find_environment(self._engine, self._image, name)

    def _boxes(self, jobs: Sequence[Job], when: When) -> AbstractContextManager[Boxes]:
        return self._start(self._pool, jobs, when)

    @contextlib.contextmanager
    def _session_box(self, job: Job) -> Iterator[Box]:
        with self._start(self._session_pool, [job], "free") as made:
            yield made.boxes[0]

    @contextlib.contextmanager
    def _start(self, pool: Pool, jobs: Sequence[Job], when: When) -> Iterator[Boxes]:
        needs = [_need_of(job) for job in jobs]
        with pool.take(needs, when) as (slots, shared):
            boxes: list[Box] = []
            with contextlib.ExitStack() as afterwards:
                for slot, job in zip(slots, jobs, strict=True):
                    assert slot.container is not None
                    slot.container.runs += 1
                    box = ContainerBox(slot.container.stream, job)
                    afterwards.callback(self._settle, slot, box)
                    boxes.append(box)
                yield Boxes(boxes, shared)

    def _are_free(self, count: int) -> bool:
        return self._pool.places.are_free(count)

    def _settle(self, slot: Slot, box: ContainerBox) -> None:
        runs = slot.container.runs if slot.container is not None else 0
        if not box.settle() or runs >= self._runs:
            slot.drop()

    def close(self) -> None:
        self._close_sessions()
        self._pool.close()
        self._session_pool.close()
        self._engine.close()


def _need_of(job: Job) -> Need:
    size = len(job.source) + (len(job.artifact) if job.artifact is not None else 0)
    if size > _LARGEST_PROGRAM:
        raise UserError(f"a program of {size // _MIB} MiB is too large: at most 48 MiB")
    extra = 3 * size // _MIB
    scratch = None if job.mode == "compile" else job.limits.scratch_mb
    return Need(job.limits.memory_mb + extra, scratch, job.limits.processes, job.packages)


def open_docker(
    image: str = images.DEFAULT_TAG,
    *,
    runtime: str | None = None,
    containers: int | None = None,
    runs_per_container: int = RUNS_OF_A_CONTAINER,
    sessions: int = MOST_SESSIONS,
) -> DockerSandbox:
    """Open a sandbox of containers made from ``image``. Also removes containers whose creator has ended.

    ``containers`` is the number of programs that can run at once (default: one per CPU, at least 2). ``runtime`` is an
    OCI runtime such as ``runsc``. Raises UserError with the fix if the SDK, engine, image or runtime is missing;
    SandboxError if the engine fails.
    """
    count = containers if containers is not None else max(2, os.cpu_count() or 2)
    if count < 2:
        raise UserError(f"containers is {count}: the docker sandbox needs at least 2")
    if not 1 <= runs_per_container <= _MOST_RUNS:
        raise UserError(
            f"runs per container must be from 1 to {_MOST_RUNS}, not {runs_per_container}"
        )
    engine = Engine.connect()
    try:
        engine.check_runtime(runtime)
        images.check(engine, image)
        engine.reap_orphans()
    except BaseException:
        engine.close()
        raise
    return DockerSandbox(engine, image, runtime, count, runs_per_container, sessions)
