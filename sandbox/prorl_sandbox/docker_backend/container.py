"""A container that runs programs one after another. Any image with Python 3.11 or newer works."""

from __future__ import annotations

import json
import marshal
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_sandbox import box
from prorl_sandbox.box import container as box_container
from prorl_sandbox.box import seccomp
from prorl_sandbox.box.container import frames
from prorl_sandbox.docker_backend.engine import (
    LABEL,
    SCOPE_LABEL,
    Engine,
    owner_name,
    remove,
    scope,
)
from prorl_sandbox.docker_backend.stream import Attached
from prorl_sandbox.run.plan import NO_PACKAGES, Packages
from prorl_sandbox.types import SandboxError

_ALLOW, _DENY = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
_ENOSYS = 38
_AF_UNIX = 1
_OF_INIT = (
    "capset", "fstatfs", "landlock_add_rule", "landlock_create_ruleset",
    "landlock_restrict_self", "mincore", "seccomp", "set_robust_list", "statfs", "statx",
)  # fmt: skip
"""System calls that are needed to start a container and Python, and to isolate programs."""
_BY_ARGUMENT = {
    "clone", "socket", "socketpair", *seccomp.SOCKET_OPTIONS, *seccomp.MESSAGE_FLAGS,
}  # fmt: skip
_LOW_WORD = 0xFFFFFFFF
"""Mask of an argument's low 32 bits."""


def build_profile() -> dict[str, Any]:
    """Return the seccomp profile for containers. System calls that it does not list fail with ENOSYS."""
    names = {*seccomp.named_calls(), *_OF_INIT} - _BY_ARGUMENT
    unix = {"index": 0, "value": _AF_UNIX, "valueTwo": 0, "op": "SCMP_CMP_EQ"}
    options = [
        _allow(name, (1, _LOW_WORD, seccomp.SOCKET_LEVEL), (2, _LOW_WORD, option))
        for name, allowed in seccomp.SOCKET_OPTIONS.items()
        for option in allowed
    ]
    messages = [
        _allow(name, (at, seccomp.MSG_OOB, 0)) for name, at in seccomp.MESSAGE_FLAGS.items()
    ]
    return {
        "defaultAction": _DENY,
        "defaultErrnoRet": _ENOSYS,
        "syscalls": [
            {"names": sorted(names), "action": _ALLOW},
            *options,
            *messages,
            _allow("clone", (0, seccomp.NEW_NAMESPACES, 0)),
            {"names": ["socket", "socketpair"], "action": _ALLOW, "args": [unix]},
            # Listed by name too, for engines without a default errno.
            {"names": ["clone3"], "action": _DENY, "errnoRet": _ENOSYS},
        ],
    }


def _allow(name: str, *masked: tuple[int, int, int]) -> dict[str, Any]:
    args = [
        {"index": at, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
        for at, mask, value in masked
    ]
    return {"names": [name], "action": _ALLOW, "args": args}


def profile_text() -> str:
    return json.dumps(build_profile())


START_SECONDS = 60.0
_IDLE_SECONDS = 3600.0
_SLOTS = 16_384
_MIB = 1024 * 1024
_OVERHEAD_MB = 64
_LOADING_MB = 2048
"""Memory limit in MiB while a container imports packages, before their size is known."""
_MEMORY_STEP_MB = 32
_COMPILE_SCRATCH_MB = 256
_PROGRAM_FOLDER_MB = 64
_LEAST_PIDS = 64
_OWN_PIDS = 8
_OOM_SCORE = 500
_ULIMITS = (("core", 0), ("nofile", 1024), ("memlock", 0), ("msgqueue", 0), ("rtprio", 0))
_LOADER = """
import marshal, os, sys
from importlib.machinery import ModuleSpec
def take(size):
    data = b""
    while len(data) < size:
        part = os.read(0, size - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data
if sys.version_info < (3, 11):
    sys.exit("its Python is %d.%d, and 3.11 or newer is needed" % sys.version_info[:2])
given = marshal.loads(take(int.from_bytes(take(8), "big")))
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in given["modules"]:
            return ModuleSpec(name, Finder, is_package=name in given["packages"])
    @staticmethod
    def create_module(spec):
        return None
    @staticmethod
    def exec_module(module):
        name = module.__name__
        exec(compile(given["modules"][name], name, "exec"), module.__dict__)
sys.meta_path.insert(0, Finder)
from prorl_sandbox.box.container import init
sys.meta_path.remove(Finder)
init.main(given["config"])
"""


@dataclass(frozen=True, slots=True)
class Need:
    """What a program needs of a container: memory and scratch space in MiB, number of processes, packages."""

    memory_mb: int
    scratch_mb: int | None
    processes: int
    packages: Packages = NO_PACKAGES

    def total_mb(self, loaded_mb: int) -> int:
        """Return the container's memory limit in MiB if its imported packages use ``loaded_mb``."""
        steps = -(-(self.memory_mb + _OVERHEAD_MB + loaded_mb) // _MEMORY_STEP_MB)
        return steps * _MEMORY_STEP_MB

    @property
    def pids(self) -> int:
        return max(_LEAST_PIDS, self.processes + _OWN_PIDS)


def bundle(config: dict[str, Any]) -> bytes:
    """Return the data that a new container reads: the source of prorl's modules, and ``config``."""
    modules, packages = {"prorl_sandbox": ""}, ["prorl_sandbox"]
    for package in (box, box_container):
        for path in Path(str(package.__file__)).parent.glob("*.py"):
            name = f"{package.__name__}.{path.stem}".removesuffix(".__init__")
            modules[name] = path.read_text(encoding="utf-8")
        packages.append(package.__name__)
    body = marshal.dumps({"modules": modules, "packages": packages, "config": config}, 2)
    return len(body).to_bytes(8, "big") + body


class Container:
    """A running container and the connection to it. Not thread-safe, except :meth:`destroy`."""

    def __init__(self, engine: Engine, image: str, runtime: str | None, need: Need) -> None:
        """Start a container. Raises UserError if the image or runtime is missing, SandboxError for other failures."""
        self._engine = engine
        self._scratch_mb = need.scratch_mb or _COMPILE_SCRATCH_MB
        self._pids = need.pids
        self._loaded_mb = _LOADING_MB if need.packages.loaded else 0
        self._memory_mb = need.total_mb(self._loaded_mb)
        self.packages = need.packages
        self.runs = 0
        self.hello: dict[str, Any] = {}
        with engine.calls("making a container") as api:
            self.id = _create(api, image, runtime, self._scratch_mb, need, self._memory_mb)
            try:
                params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
                self.stream = Attached(api.attach_socket(self.id, params))
                api.start(self.id)
            except BaseException:
                remove(api, self.id)
                raise
        try:
            packages = [need.packages.folder, *need.packages.loaded]
            config = {
                "slot": secrets.randbelow(_SLOTS),
                "idle_seconds": _IDLE_SECONDS,
                "packages": packages if need.packages.folder else [],
            }
            self.stream.send(bundle(config))
            self._await_hello()
            if need.packages.loaded:
                self._loaded_mb = min(_LOADING_MB, int(self.hello["loaded_mb"]))
                self.set_memory(need)
        except BaseException:
            self.discard()
            raise

    def _await_hello(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while (received := self.stream.wait_frame(deadline)) is not None:
            if received[0] == frames.HELLO:
                self.hello = self.stream.facts(received[1])
                return
        complaint = self.stream.complaint()
        if "is needed" in complaint:
            raise UserError(f"the sandbox's image cannot be used: {complaint}")
        raise SandboxError(f"a container did not start: {complaint or 'it printed nothing'}")

    def fits(self, need: Need) -> bool:
        scratch = need.scratch_mb is None or need.scratch_mb == self._scratch_mb
        return (
            need.packages == self.packages
            and scratch
            and need.pids <= self._pids
            and not self.stream.ended
        )

    def has_memory(self, need: Need) -> bool:
        return self._memory_mb == need.total_mb(self._loaded_mb)

    def set_memory(self, need: Need) -> None:
        """Set the memory limit that ``need`` requires. Raises SandboxError."""
        if self.has_memory(need):
            return
        size = need.total_mb(self._loaded_mb) * _MIB
        with self._engine.calls("changing a memory limit") as api:
            api.update_container(self.id, mem_limit=size, memswap_limit=size)
        self._memory_mb = need.total_mb(self._loaded_mb)

    def destroy(self) -> None:
        """Kill and remove the container. May be called from any thread. Raises SandboxError."""
        self.stream.hang_up()
        with self._engine.calls("removing a container") as api:
            remove(api, self.id)

    def discard(self) -> None:
        try:
            self.destroy()
        finally:
            self.stream.close()


def _create(
    api: Any, image: str, runtime: str | None, scratch_mb: int, need: Need, memory_mb: int
) -> str:
    from docker.errors import ImageNotFound
    from docker.types import LogConfig, Ulimit

    size = memory_mb * _MIB
    flags = "rw,nosuid,nodev"
    scratch = f"{flags},noexec,mode=1777,nr_inodes=4096"
    held_to = api.create_host_config(
        network_mode="none",
        ipc_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        cap_add=["SETUID", "SETGID", "KILL"],
        security_opt=["no-new-privileges", f"seccomp={profile_text()}"],
        pids_limit=need.pids,
        mem_limit=size,
        memswap_limit=size,
        oom_score_adj=_OOM_SCORE,
        tmpfs={
            "/scratch": f"{scratch},size={scratch_mb}m",
            "/compile": f"{scratch},size={_COMPILE_SCRATCH_MB}m",
            "/box": f"{flags},exec,mode=755,size={_PROGRAM_FOLDER_MB}m",
        },
        ulimits=[Ulimit(name=name, soft=most, hard=most) for name, most in _ULIMITS],
        log_config=LogConfig(type="none"),
        auto_remove=True,
        runtime=runtime,
    )
    try:
        made = api.create_container(
            image,
            entrypoint=["python3", "-s", "-S", "-P", "-X", "utf8", "-c", _LOADER],
            command=[],
            hostname="box",
            user="0:0",
            working_dir="/",
            stdin_open=True,
            environment={"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "2"},
            labels={LABEL: owner_name(), SCOPE_LABEL: scope()},
            healthcheck={"test": ["NONE"]},
            host_config=held_to,
        )
    except ImageNotFound as error:
        raise missing_image(image) from error
    return str(made["Id"])


def missing_image(image: str) -> UserError:
    return UserError(f"the engine has no image {image}: make it with 'prorl sandbox build-image'")
