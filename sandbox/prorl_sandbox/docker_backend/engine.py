"""Connection to a Docker engine. Raises UserError if it cannot be used, SandboxError if it fails later."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prorl_common import MissingExtraError, ProrlError, UserError
from prorl_sandbox.types import SandboxError

LABEL = "prorl.sandbox"
SCOPE_LABEL = "prorl.scope"
LEAST_API = (1, 41)
_SECONDS = 60
_REMOVAL_SECONDS = 20.0


class EngineError(UserError):
    """Raised if no Docker engine can be reached, or if it is too old."""


class Engine:
    """A connected engine. Hold ``lock`` to use ``api``, the low-level client of the Docker SDK."""

    def __init__(self, api: Any) -> None:
        self.api = api
        self.lock = threading.Lock()

    @classmethod
    def connect(cls) -> Engine:
        """Connect to DOCKER_HOST or the local socket. Raises EngineError, MissingExtraError."""
        try:
            import docker
        except ImportError as error:
            raise MissingExtraError("docker", "docker") from error
        where = os.environ.get("DOCKER_HOST") or "the local socket"
        try:
            address = docker.utils.parse_host(os.environ.get("DOCKER_HOST"))
            scheme, _, path = address.partition("://")
            if scheme == "http+unix":  # if nobody listens there, the SDK would leak its socket
                with socket.socket(socket.AF_UNIX) as probe:
                    probe.connect(path)
            api = docker.from_env(timeout=_SECONDS).api
            version = api.version()["ApiVersion"]
        except (docker.errors.DockerException, OSError) as error:
            raise EngineError(
                f"no Docker engine answers at {where} ({_reason(error)}): start it, "
                "set DOCKER_HOST, or use --backend local"
            ) from error
        if tuple(int(part) for part in version.split(".")) < LEAST_API:
            least = ".".join(map(str, LEAST_API))
            raise EngineError(
                f"the Docker engine at {where} has API version {version}: install Docker 20.10 (API "
                f"{least}) or newer"
            )
        return cls(api)

    @contextlib.contextmanager
    def calls(self, doing: str) -> Iterator[Any]:
        """Yield the client to one thread at a time. SandboxError messages say what failed with the words ``doing``."""
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        with self.lock:
            try:
                yield self.api
            except (DockerException, RequestException, OSError) as error:
                raise SandboxError(
                    f"the Docker engine failed while {doing}: {_reason(error)}"
                ) from error

    def check_runtime(self, runtime: str | None) -> None:
        """Raise UserError, with the known runtimes, if the engine does not have ``runtime``."""
        with self.calls("asking for its runtimes") as api:
            runtimes = api.info().get("Runtimes") or {}
        if runtime is not None and runtime not in runtimes:
            raise UserError(
                f"the Docker engine has no runtime {runtime!r} (it has {', '.join(sorted(runtimes))}): "
                "add it to the engine's configuration, or omit the runtime"
            )

    def reap_orphans(self) -> int:
        """Remove containers whose creator, a process on this machine, has ended; return their number."""
        reaped = 0
        with self.calls("looking for orphans") as api:
            filters = {"label": f"{SCOPE_LABEL}={scope()}"}
            for container in api.containers(all=True, filters=filters):
                owner = (container.get("Labels") or {}).get(LABEL, "")
                if owner and not owner_lives(owner):
                    remove(api, container["Id"])
                    reaped += 1
        return reaped

    def close(self) -> None:
        self.api.close()


def remove(api: Any, container: str) -> None:
    """Kill and remove a container, and wait until it is gone."""
    from docker.errors import APIError, NotFound

    try:
        api.remove_container(container, force=True, v=True)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != 409:  # "removal is already in progress"
            raise
    deadline = time.monotonic() + _REMOVAL_SECONDS
    while time.monotonic() < deadline:
        try:
            api.inspect_container(container)
        except NotFound:
            return
        time.sleep(0.02)
    raise SandboxError(f"the Docker engine did not remove container {container[:12]} in time")


def _reason(error: BaseException) -> str:
    while (inner := error.__cause__ or error.__context__) is not None:
        if isinstance(inner, ProrlError):  # the error being handled, not a cause
            break
        error = inner
    explanation = getattr(error, "explanation", None)
    text = str(explanation or getattr(error, "strerror", None) or error)
    return " ".join(text.split())[:300]


def scope() -> str:
    """Return a name for the current boot of this machine and the current pid namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    namespace = os.readlink("/proc/self/ns/pid")
    return f"{boot}-{''.join(c for c in namespace if c.isdigit())}"


def owner_name() -> str:
    """Return the unique name ``<pid>-<start time>`` of this process."""
    return f"{os.getpid()}-{_start_time(os.getpid())}"


def owner_lives(owner: str) -> bool:
    number, _, started = owner.partition("-")
    return number.isdigit() and started != "" and _start_time(int(number)) == started


def _start_time(process: int) -> str:
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
