"""``DockerSandbox``: programs run in warm containers, one at a time in each, as a user of their
own.

A container serves until it has had its number of runs or anything about it is in doubt.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from prorl_common import UserError
from prorl_sandbox.docker_backend import image as images
from prorl_sandbox.docker_backend import layers
from prorl_sandbox.docker_backend.container import Container, Need
from prorl_sandbox.docker_backend.engine import Engine
from prorl_sandbox.docker_backend.pool import Pool, Slot
from prorl_sandbox.docker_backend.stream import ContainerBox
from prorl_sandbox.environments.store import Environment
from prorl_sandbox.run.base import BoxSandbox
from prorl_sandbox.run.conversation import Box, Job
from prorl_sandbox.run.plans import Boxes, When
from prorl_sandbox.run.session import MOST_SESSIONS
from prorl_sandbox.types import Limits

RUNS_OF_A_CONTAINER = 900
_MOST_RUNS = 900  # so many users a container has at least
_LARGEST_PROGRAM = 48 * 1024 * 1024
_MIB = 1024 * 1024


class DockerSandbox(BoxSandbox):
    """A pool of containers behind the ``Sandbox`` interface. Thread-safe."""

    def __init__(
        self,
        engine: Engine,
        image: str,
        runtime: str | None,
        containers: int,
        runs: int,
        sessions: int = MOST_SESSIONS,
    ) -> None:
        """Make the first container at once, to see that it can be done.

        ``containers``: at least 2, for a check needs two. ``runs``: programs a container serves
        before it is replaced. ``sessions`` may be open in containers of their own. Raises
        UserError, SandboxError.
        """
        self._engine, self._image, self._runtime, self._runs = engine, image, runtime, runs
        self._pool = Pool(containers, self._make)
        self._session_pool = Pool(sessions, self._make)
        try:
            with self._pool.take([_need_of(Job("main", "", Limits()))]) as slots:
                hello = slots[0].container.hello if slots[0].container is not None else {}
        except BaseException:
            self.close()
            raise
        name = "docker" if runtime is None else f"docker-{runtime}"
        landlock = "+landlock" if hello.get("landlock") else ""
        super().__init__(f"{name}+seccomp{landlock}+cgroup", sessions)

    def _make(self, need: Need) -> Container:
        image = layers.image_of(self._image, need.packages.environment)
        return Container(self._engine, image, self._runtime, need)

    def _environment(self, name: str) -> Environment:
        return layers.find(self._engine, self._image, name)

    def _boxes(self, jobs: Sequence[Job], when: When) -> AbstractContextManager[Boxes]:
        return self._start(self._pool, jobs, when)

    @contextlib.contextmanager
    def _session_box(self, job: Job) -> Iterator[Box]:
        with self._start(self._session_pool, [job], "free") as made:
            yield made.boxes[0]

    @contextlib.contextmanager
    def _start(self, pool: Pool, jobs: Sequence[Job], when: When) -> Iterator[Boxes]:
        needs = [_need_of(job) for job in jobs]
        with pool.take(needs, when) as slots:
            takes = pool.takes
            boxes: list[Box] = []
            with contextlib.ExitStack() as afterwards:
                for slot, job in zip(slots, jobs, strict=True):
                    assert slot.container is not None
                    box = ContainerBox(slot.container, job)
                    afterwards.callback(self._settle, slot, box)
                    boxes.append(box)
                yield Boxes(boxes, lambda: pool.shared(takes, len(jobs)))

    def _are_free(self, count: int) -> bool:
        return self._pool.are_free(count)

    def _settle(self, slot: Slot, box: ContainerBox) -> None:
        """See that the run is over and gone; else, or after enough runs, let the container go."""
        if not box.settle() or box.container.runs >= self._runs:
            slot.drop()

    def close(self) -> None:
        """Remove every container of this sandbox; runs in other threads raise SandboxError."""
        self._close_sessions()
        self._pool.close()
        self._session_pool.close()
        self._engine.close()


def _need_of(job: Job) -> Need:
    """Return what a job needs: its limits, and memory for what we ourselves hold of it."""
    size = len(job.source) + (len(job.artifact) if job.artifact is not None else 0)
    size += sum(map(len, job.files.values()))
    if size > _LARGEST_PROGRAM:
        raise UserError(f"a program of {size // _MIB} MiB is too large: at most 48 MiB")
    extra = 3 * size // _MIB
    scratch = None if job.mode in ("compile", "build") else job.limits.scratch_mb
    return Need(job.limits.memory_mb + extra, scratch, job.limits.processes, job.packages)


def open_docker(
    image: str = images.DEFAULT_TAG,
    *,
    runtime: str | None = None,
    containers: int | None = None,
    runs_per_container: int = RUNS_OF_A_CONTAINER,
    sessions: int = MOST_SESSIONS,
) -> DockerSandbox:
    """Return a sandbox of warm containers made of ``image``.

    ``runtime``: an OCI runtime that the engine knows, such as ``runsc``; None: the engine's
    default. ``containers``: how many run at once (None: one a processor, at least 2). ``sessions``:
    how many may be open beside them. Orphans of dead processes are removed first. Raises UserError with the cure when the SDK, the engine, the
    image or the runtime is missing, SandboxError when the engine fails.
    """
    count = containers if containers is not None else max(2, os.cpu_count() or 2)
    if count < 2:
        raise UserError("the docker sandbox needs at least 2 containers: a check takes two at once")
    if not 1 <= runs_per_container <= _MOST_RUNS:
        raise UserError(f"runs per container must be from 1 to {_MOST_RUNS}")
    engine = Engine.connect()
    try:
        engine.check_runtime(runtime)
        images.check(engine, image)
        engine.reap_orphans()
    except BaseException:
        engine.close()
        raise
    return DockerSandbox(engine, image, runtime, count, runs_per_container, sessions)
