"""The reward services of a run: started, watched, started again when they die, ended with the run.

Each is ``prorl verify serve`` in a process of its own with a log of its own. Leaves out: asking them
(``rewards``).
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from prorl_common import ServiceError, UserError
from prorl_training.config import TrainConfig

TOKEN = "PRORL_TOKEN"
START_SECONDS = 120.0
PAUSE = 1.0
MAX_RESTARTS = 20
"""Of one service, in one run."""


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """How a service is started; the values of ``ServeOptions`` that a run sets."""

    host: str
    port: int
    workers: int
    backend: str
    allow_weak: bool
    timeout: float


class RewardServices:
    """So many services on one machine. Use as a context manager; ``urls`` once it is entered.

    ``beyond``: other machines ask too, so they listen on the machine's address and want a token, which is
    put into this process's environment. ``say`` hears of deaths and restarts.
    """

    def __init__(
        self, config: TrainConfig, folder: Path, beyond: bool, say: Callable[[str], None]
    ) -> None:
        self._config = config
        self._folder = folder
        self._beyond = beyond
        self._say = say
        self._processes: list[subprocess.Popen[bytes]] = []
        self._ports: list[int] = []
        self._restarts: list[int] = []
        self._end = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="prorl-services", daemon=True)

    @property
    def urls(self) -> tuple[str, ...]:
        """Return the services' addresses."""
        return tuple(f"http://{self._host}:{port}" for port in self._ports)

    def __enter__(self) -> Self:
        if self._beyond and not os.environ.get(TOKEN):
            os.environ[TOKEN] = secrets.token_urlsafe(24)
        try:
            for number in range(self._config.openrlhf.reward_replicas):
                self._ports.append(free_port(self._host))
                self._restarts.append(0)
                self._processes.append(self._start(number))
            for number in range(len(self._ports)):
                self._wait_until_ready(number)
        except BaseException:
            self._stop()
            raise
        self._watcher.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        self._watcher.join()
        self._stop()

    @property
    def _host(self) -> str:
        return own_address() if self._beyond else "127.0.0.1"

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        reward = self._config.reward
        options = ServiceOptions(
            host=self._host,
            port=self._ports[number],
            workers=reward.workers,
            backend=reward.backend,
            allow_weak=reward.allow_weak,
            timeout=reward.timeout_seconds,
        )
        command = [sys.executable, "-m", "prorl_training.engine.openrlhf.launch.reward_services"]
        with (self._folder / f"reward-{number}.log").open("ab") as log:
            return subprocess.Popen(
                [*command, json.dumps(asdict(options))],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _wait_until_ready(self, number: int) -> None:
        from prorl_verifiers.serve.client import RemoteVerifier

        client = RemoteVerifier(self.urls[number], retries=0, timeout=10.0)
        until = time.monotonic() + START_SECONDS
        while not client.ready():
            code = self._processes[number].poll()
            log = self._folder / f"reward-{number}.log"
            if code is not None:
                raise ServiceError(
                    f"reward service {number} ended with exit code {code}: see {log}"
                )
            if time.monotonic() > until:
                raise ServiceError(
                    f"reward service {number} is not ready after {START_SECONDS:.0f} s: see {log}"
                )
            time.sleep(0.2)

    def _watch(self) -> None:
        while not self._end.wait(PAUSE):
            for number, process in enumerate(self._processes):
                code = process.poll()
                if code is None or self._restarts[number] >= MAX_RESTARTS:
                    continue
                self._restarts[number] += 1
                last = self._restarts[number] == MAX_RESTARTS
                what = "given up" if last else "started again"
                self._say(f"reward service {number} ended with exit code {code}: {what}")
                if not last:
                    self._processes[number] = self._start(number)

    def _stop(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port(host: str) -> int:
    """Return a TCP port that is free on ``host`` now."""
    with socket.socket() as sock:
        sock.bind((host, 0))
        port: int = sock.getsockname()[1]
    return port


def own_address() -> str:
    """Return the address by which other machines know this one: that of the route to them.

    Raises UserError where there is only the loopback.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(
                ("192.0.2.1", 9)
            )  # a documentation address (RFC 5737); UDP sends nothing yet
            found = str(sock.getsockname()[0])
        except OSError:
            found = socket.gethostbyname(socket.gethostname())
    if found.startswith("127."):
        raise UserError(
            "this machine has no address that others can reach, so its reward services would be of no use to "
            "them: start services elsewhere and name them in openrlhf.reward_urls"
        )
    return found


def main(argv: list[str]) -> None:
    """Serve until a signal, or until the process that started this one is gone."""
    from prorl_training.engine.openrlhf.launch.process import die_with_parent
    from prorl_verifiers.serve.options import ServeOptions
    from prorl_verifiers.serve.run import serve

    die_with_parent()
    options = ServiceOptions(**json.loads(argv[0]))
    serve(ServeOptions(**asdict(options), token=os.environ.get(TOKEN, ""), drain_seconds=2.0))


if __name__ == "__main__":
    main(sys.argv[1:])
