"""Sample in one child process per device."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prorl_common import Closing, ServiceError, UserError
from prorl_inference.models.loading import check_device, model_digest
from prorl_inference.types import Completion, Generator, OnResult, Request, SamplingParams
from prorl_inference.workers.call import Worker
from prorl_inference.workers.pool import SamplingPool

LAST_LINES = 20
"""Number of stderr lines kept to explain why a child process died."""


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """The model and the backend that each child process loads."""

    path: Path
    backend: str
    dtype: str
    batch_rows: int


def device_list(text: str) -> list[str]:
    """Split a comma-separated list of devices.

    Raises UserError unless there is one device, all are ``cpu``, or all are different numbered GPUs.
    """
    devices = [part.strip() for part in text.split(",") if part.strip()] or [text]
    for device in devices:
        check_device(device)
    if len(devices) == 1:
        return devices
    if set(devices) != {"cpu"} and not all(device.startswith("cuda:") for device in devices):
        raise UserError(
            f"the devices are '{text}': use either numbered GPUs (cuda:0,cuda:1) or several times cpu "
            "(cpu,cpu)"
        )
    if set(devices) != {"cpu"} and len(set(devices)) < len(devices):
        raise UserError(f"the devices are '{text}': name each GPU once")
    return devices


class DeviceGenerator(Closing):
    """Samples in a child process on ``device``, one of ``share`` that divide the CPU cores; implements ``Generator``.

    If the process dies, all calls raise ServiceError.
    """

    def __init__(self, model: DeviceModel, device: str, name: str, digest: str, share: int) -> None:
        self.model_id, self.model_digest = name, digest
        self._model, self._device, self._share = model, device, share
        self._process: subprocess.Popen[str] | None = None
        self._died: ServiceError | None = None
        self._stderr_lines: deque[str] = deque(maxlen=LAST_LINES)
        self._reader: threading.Thread | None = None

    def prepare(self) -> None:
        """Start the child process and load the model. Raises UserError of the backend, or ServiceError."""
        if self._died is not None:
            raise self._died
        if self._process is not None:
            return
        environment = dict(os.environ)
        device = self._device
        if device.startswith("cuda:"):
            environment["CUDA_VISIBLE_DEVICES"] = visible_gpu(int(device.partition(":")[2]))
            device = "cuda"
        else:
            cores = len(os.sched_getaffinity(0))
            environment.setdefault("OMP_NUM_THREADS", str(max(1, cores // self._share)))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "prorl_inference.workers.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C must reach only the parent
            env=environment,
        )
        assert self._process.stderr is not None
        self._reader = threading.Thread(
            target=self._stderr_lines.extend, args=(self._process.stderr,), daemon=True
        )
        self._reader.start()
        values = asdict(self._model) | {"path": str(self._model.path), "device": device}
        self._send({"open": values})
        self._receive()

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        for request in requests:
            request.check_fresh()
        self.prepare()
        rows = [{"prompt": [dict(m) for m in r.prompt], "seeds": r.seeds} for r in requests]
        self._send({"requests": rows, "params": asdict(params)})
        results: dict[int, list[Completion]] = {}
        while "ended" not in (row := self._receive()):
            if "done" in row:
                if on_done is not None:
                    on_done(row["done"])
                continue
            completions = [
                Completion(c["text"], tuple(c["token_ids"]), tuple(c["logprobs"]), *c["rest"])
                for c in row["completions"]
            ]
            results[row["result"]] = completions
            if on_result is not None:
                on_result(row["result"], completions)
        return [results[index] for index in range(len(requests))]

    def sync_weights(self, model: Any) -> None:

        raise UserError("a worker process cannot load new weights: sample with one device")

    def interrupt(self) -> None:
        """Kill the child process. The next call starts a new one."""
        self.close()

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if self._reader is not None:
            self._reader.join(1.0)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):  # unsent bytes to a dead child
                    stream.close()

    def _send(self, row: dict[str, Any]) -> None:
        process = self._process
        try:
            if process is None or process.stdin is None:
                raise BrokenPipeError
            process.stdin.write(json.dumps(row) + "\n")
            process.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._record_death() from error

    def _receive(self) -> dict[str, Any]:
        process = self._process
        try:
            if process is None or process.stdout is None:
                raise BrokenPipeError
            line = process.stdout.readline()
        except (OSError, ValueError) as error:
            raise self._record_death() from error
        if not line.endswith("\n"):
            raise self._record_death()
        row: dict[str, Any] = json.loads(line)
        if "user_error" in row:
            raise UserError(row["user_error"])
        return row

    def _record_death(self) -> ServiceError:
        process = self._process
        if process is None:
            return ServiceError("the worker process was ended")
        status = process.wait()
        if self._reader is not None:
            self._reader.join(1.0)
        text = "".join(self._stderr_lines).strip()
        last = f": {text.splitlines()[-1]}" if text else ""
        ended = f"signal {-status}" if status < 0 else f"exit code {status}"
        self._died = ServiceError(f"its process died ({ended}{last})")
        if text:
            self._died.add_note(text)
        return self._died


def open_devices(
    model: DeviceModel,
    devices: Sequence[str],
    name: str,
    tell: Callable[[str], None],
    whole_batches: bool,
) -> SamplingPool:
    """Return a generator that samples in one process per device."""
    digest = model_digest(model.path)

    def opener(device: str) -> Callable[[], Generator]:
        return lambda: DeviceGenerator(model, device, name, digest, len(devices))

    workers = [
        Worker(f"worker {number} ({device})", opener(device), rows=model.batch_rows)
        for number, device in enumerate(devices, start=1)
    ]
    return SamplingPool(workers, name, digest, tell, whole_batches=whole_batches)


def visible_gpu(number: int) -> str:
    """Return the value of CUDA_VISIBLE_DEVICES with which a child process sees only GPU ``number``."""
    visible = [part for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if part]
    return visible[number] if number < len(visible) else str(number)
