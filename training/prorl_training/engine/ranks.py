"""Trains on several GPUs with one process (rank) each: rank 0 runs the training loop and sends commands to the others.

Rank 0 starts a process for each other rank and sends it pickled commands over a socket pair. Gradients, sums and shards
go through torch.distributed.
"""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from multiprocessing import connection
from pathlib import Path
from typing import Any, Self, TypeVar, TypeVarTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import TCPStore

from prorl_common import ProrlError, ServiceError, UserError, prorl_command
from prorl_inference import (
    BackendOptions,
    Request,
    SamplingParams,
    Stream,
    load_model,
    open_stream,
    pick_backend,
    pick_device,
    pick_dtype,
)
from prorl_inference.streams import Streaming
from prorl_inference.tokens import set_template_options
from prorl_inference.types import Ended, OnDone, SleepingGenerator
from prorl_training.config import TrainConfig
from prorl_training.policy.files import restore_checkpoint, restore_weights
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.ranks import GatheredModel, Ranks
from prorl_training.policy.update import Policy, UpdateBatch, UpdateGuard
from prorl_training.policy.warm_start import train_on
from prorl_training.rollout.collector import StepGivenUp
from prorl_training.rollout.staleness import SamplerStopped
from prorl_training.types import UpdateStats

HOST = "127.0.0.1"
START = "from prorl_training.engine.ranks import main; main()"
TIMEOUT = timedelta(minutes=30)
"""Maximum wait in a collective operation."""
NOTICE_SECONDS = 60.0
"""Seconds after which rank 0 ends itself because another rank has died, which NCCL does not notice."""
LOOK_SECONDS = 0.05
"""Seconds between checks for samples of the other ranks."""


@dataclass
class Member:
    """The model, optimiser and sampler of one rank. Its methods are the commands that rank 0 sends."""

    config: TrainConfig
    ranks: Ranks
    device: str
    policy: Any = None
    tokenizer: Any = None
    generator: Any = None
    stream: Any = None
    scope: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def join(self, port: int, threads: int, store: Any = None) -> None:
        """Join the torch.distributed process group, whose store rank 0 serves at ``port`` of this machine."""
        on_gpu = self.device.startswith("cuda")
        if on_gpu:
            torch.cuda.set_device(self.device)
        else:
            torch.set_num_threads(threads)
        store = store or TCPStore(HOST, port, None, False, TIMEOUT, wait_for_workers=False)
        backend, ranks = "nccl" if on_gpu else "gloo", self.ranks
        dist.init_process_group(
            backend, store=store, rank=ranks.rank, world_size=ranks.size, timeout=TIMEOUT
        )

    def load(self, weights: Path) -> None:
        device = self.device
        model, self.tokenizer = load_model(weights, device, pick_dtype(device, "fp32"))
        set_template_options(self.tokenizer, self.config.data.template_options)
        compute = pick_dtype(device, self.config.model.dtype)
        self.policy = Policy(model, self.config, compute, self.ranks)

    def restore(self, checkpoint: Path, state: Mapping[str, Any], weights_only: bool) -> None:
        take = restore_weights if weights_only else restore_checkpoint
        take(checkpoint, self.policy, state)

    def warm_start(self, groups: Sequence[PromptGroup]) -> None:
        train_on(self.policy, groups, lambda *_: None)

    def open_sampler(self, folder: Path, weights_folder: Path | None = None) -> None:
        """Open the sampler for the policy, which was loaded from the model folder ``folder``."""
        r, policy = self.config.rollout, self.policy
        home, dtype = str(policy.model.device), policy.compute_dtype
        device, model = r.device or home, policy.model
        backend = pick_backend(r.backend, device, training=True)
        if self.ranks.sharded and backend.name == "transformers":  # others have their own copy
            model, _ = load_model(folder, device, dtype)
        elif r.staleness or device != home:
            model = copy.deepcopy(model)
        options = BackendOptions(
            folder,
            device,
            str(dtype).removeprefix("torch."),
            r.batch_rows,
            r.batching,
            r.vllm_context or None,
            r.vllm_memory,
            model,
            self.tokenizer,
            request_seeds=r.seeds_on(device),
            in_flight=r.new_weights == "token",
            servers=tuple(r.servers),
            weights_folder=weights_folder,
        )
        self.generator = backend.open(options)

    def sync_weights(self) -> None:
        model = self.policy.model
        self.generator.sync_weights(GatheredModel(model) if self.ranks.sharded else model)

    def sleep(self) -> None:
        if isinstance(self.generator, SleepingGenerator):
            self.generator.sleep()

    def update(self, batch: UpdateBatch, lr_scale: float) -> Mapping[int, Tensor]:
        """Do this rank's part of an update; return {trajectory: log-probs before the update}."""
        stats: UpdateStats = self.policy.update(batch, None, lr_scale)
        return stats.trainer_logprobs

    def reset_reference(self, clear_optimizer: bool, checkpoint: Path | None) -> None:
        if checkpoint is None:
            self.policy.reset_reference(clear_optimizer)
        else:
            self.policy.reset_to_checkpoint(clear_optimizer, checkpoint)

    def load_checkpoint_policy(self, path: Path) -> None:
        self.policy.load_checkpoint_policy(path)

    def gather(self) -> None:
        """Take part in gathering the sharded tensors that rank 0 writes into a checkpoint."""
        policy = self.policy
        for gather in (policy.weights, policy.reference_tensors, policy.optimizer_tensors):
            gather()

    def open_stream(self, params: SamplingParams, on_done: OnDone = None) -> None:
        self.scope.enter_context(self.policy.compute())
        self.stream = self.scope.enter_context(open_stream(self.generator, params, on_done))

    def submit(self, key: int, request: Request) -> None:
        self.stream.submit(key, request)

    def take(self, wait: float | None) -> Sampled:
        """Sample until a request is complete or ``wait`` seconds have passed."""
        before, ended = self.stream.running, self.stream.take(wait)
        while wait is None and not ended and self.stream.running:
            ended = self.stream.take(wait)
        return Sampled(ended, before - self.stream.running)

    def stop_stream(self) -> list[Ended]:
        stopped: list[Ended] = self.stream.stop()
        return stopped

    def close_stream(self) -> None:
        self.stream = None
        self.scope.close()


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a rank has finished sampling since its last report: requests, and the ``count`` of samples."""

    ended: list[Ended]
    count: int


@dataclass(frozen=True, slots=True)
class Command:
    """A method of ``Member`` to call and its arguments. Rank 0 gets a reply to every command except ``submit``."""

    method: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    value: Any


Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


class Other:
    """The process of a rank other than 0, seen from rank 0.

    With ``ahead`` the process has a second thread, which runs the commands of ``sampler`` during updates.
    """

    def __init__(
        self, rank: int, environment: Mapping[str, str], log: Path, ahead: bool = False
    ) -> None:
        self.rank, self.log = rank, log
        self.sampled: list[Sampled] = []
        self.sampler = self
        pairs = [socket.socketpair() for _ in range(1 + ahead)]
        fds = [theirs.fileno() for _, theirs in pairs]
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", START, *map(str, fds)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                pass_fds=fds,
                start_new_session=True,  # Ctrl-C must reach only rank 0
                env={**os.environ, **environment},
            )
        for _, theirs in pairs:
            theirs.close()
        self.channel, *more = (connection.Connection(ours.detach()) for ours, _ in pairs)
        if more:
            self.sampler = copy.copy(self)
            self.sampler.sampled, self.sampler.channel = [], more[0]

    def send(self, command: Command | Member) -> None:
        try:
            self.channel.send_bytes(pickle.dumps(command))
        except OSError as error:
            raise self.error() from error

    def receive(self, idle: Callable[[], None] = lambda: None) -> Any:
        """Wait for the reply to the last command, calling ``idle``. Raises ServiceError if the rank has ended."""
        while not self.channel.poll(10.0):
            idle()
        match message := self._message():
            case Sampled():
                self.sampled.append(message)
                return self.receive(idle)
            case Reply():
                return message.value
        raise AssertionError(message)

    def arrived(self) -> Iterator[Sampled]:
        """Yield the reports of finished samples that the rank sent between commands."""
        while self.channel.poll():
            self.sampled.append(self._message())
        while self.sampled:
            yield self.sampled.pop(0)

    def _message(self) -> Any:
        try:
            message = pickle.loads(self.channel.recv_bytes())
        except (EOFError, OSError) as error:
            raise self.error() from error
        if isinstance(message, ProrlError):  # the process has ended with this error
            raise message if isinstance(message, UserError) else self.error(str(message))
        return message

    def error(self, reason: str = "") -> ServiceError:
        if not reason:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5.0)
            status = self.process.poll() or 0
            name = signal.Signals(-status).name if status < 0 else ""
            reason = f"killed by {name}" if name else f"exit code {status}"
        resume = prorl_command("train", "--resume", self.log.parent.name)
        return ServiceError(
            f"rank {self.rank} ended ({reason}); its log is {self.log}; continue with {resume}"
        )

    def close(self) -> None:
        self.channel.close()
        self.sampler.channel.close()
        try:
            self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Team:
    """All ranks of a run, controlled by rank 0. The output of other ranks goes to ``rank_N.log`` in ``folder``."""

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        size, device = config.model.gpus, pick_device(config.model.device)
        sharded = size > 1 and config.model.sharding == "fsdp"
        self.own = Member(config, Ranks(0, size, sharded), device)
        self.others: list[Other] = []
        self._closed = threading.Event()
        self._folder, self._threads = folder, torch.get_num_threads()
        self._environment: dict[str, str | None] = {}
        if size > 1:
            try:
                self._start(config, device)
            except BaseException:
                self.close()
                raise

    def _start(self, config: TrainConfig, device: str) -> None:
        own, size = self.own.ranks, self.own.ranks.size
        store = TCPStore(HOST, 0, None, True, TIMEOUT, wait_for_workers=False)
        threads = max(1, self._threads // size)
        # the variables that torchrun sets, which vLLM reads
        names = {"MASTER_ADDR": HOST, "MASTER_PORT": str(store.port), "WORLD_SIZE": str(size)}
        names["GLOO_SOCKET_IFNAME"] = os.environ.get("GLOO_SOCKET_IFNAME", "lo")
        names |= {"RANK": "0", "LOCAL_RANK": "0"}
        self._environment = {name: os.environ.get(name) for name in names}
        os.environ.update(names)
        for rank in range(1, size):
            names |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            log, ahead = self._folder / f"rank_{rank}.log", bool(config.rollout.staleness)
            self.others.append(Other(rank, names, log, ahead))
        for other in self.others:
            place = f"cuda:{other.rank}" if device.startswith("cuda") else device
            other.send(Member(config, replace(own, rank=other.rank), place))
            other.receive()  # it has imported everything, so joining will not wait for long
            other.send(Command(Member.join, (store.port, threads)))
        if device == "cuda":
            self.own.device = "cuda:0"
            threading.Thread(target=self._watch, daemon=True).start()
        self.own.join(store.port, threads, store)
        for other in self.others:
            other.receive()

    def run(
        self, method: Callable[[Member, *Arguments], Result], *arguments: *Arguments
    ) -> list[Result]:
        """Run a command on all ranks and return the results by rank."""
        with self.together(method, *arguments) as results:
            own = method(self.own, *arguments)
        return [own, *results]

    @contextlib.contextmanager
    def together(
        self, method: Callable[[Member, *Arguments], Result], *arguments: *Arguments
    ) -> Iterator[list[Result]]:
        """Run a command on the other ranks during the block. Their results are then in the yielded list."""
        results: list[Result] = []
        for other in self.others:
            other.send(Command(method, arguments))
        try:
            yield results
        except RuntimeError as error:  # of torch.distributed, if another rank has ended
            raise self._cause() or error from error
        results += [other.receive() for other in self.others]

    def _cause(self) -> Exception | None:
        errors: list[tuple[bool, Exception]] = []
        for other in self.others:
            try:
                while other.channel.poll(0.5):
                    other.receive()
            except (ServiceError, UserError) as error:
                # ranks that lose their connection to an ended rank say so in a message
                errors.append(("gloo" in str(error) or "NCCL" in str(error), error))
        return min(errors, key=lambda pair: pair[0])[1] if errors else None

    def _watch(self) -> None:
        while not self._closed.wait(1.0):
            ended = [other for other in self.others if other.process.poll() is not None]
            if ended and not self._closed.wait(NOTICE_SECONDS):
                print(ended[0].error(), file=sys.stderr, flush=True)
                os._exit(1)

    def close(self) -> None:
        self._closed.set()
        for other in self.others:
            other.close()
        if self.others:
            self.others = []
            if dist.is_initialized():
                dist.destroy_process_group()
            torch.set_num_threads(self._threads)
            for name, value in self._environment.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


class TeamPolicy:
    """The policies of all ranks as one; implements ``engine.loop.TrainedPolicy``."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.own: Policy = team.own.policy

    @property
    def model(self) -> Any:
        return self.own.model

    def compute(self) -> contextlib.AbstractContextManager[None]:
        return self.own.compute()

    def update(
        self, batch: UpdateBatch, guard: UpdateGuard | None = None, lr_scale: float = 1.0
    ) -> UpdateStats:
        with self.team.together(Member.update, batch, lr_scale) as others:
            stats = self.own.update(batch, guard, lr_scale)
        logprobs = dict(stats.trainer_logprobs)
        for more in others:
            logprobs |= more
        return replace(stats, trainer_logprobs=logprobs)

    def reset_reference(self, clear_optimizer: bool) -> None:
        self.team.run(Member.reset_reference, clear_optimizer, None)

    def reset_to_checkpoint(self, clear_optimizer: bool, path: Path) -> None:
        self.team.run(Member.reset_reference, clear_optimizer, path)

    def load_checkpoint_policy(self, path: Path) -> None:
        self.team.run(Member.load_checkpoint_policy, path)

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        if not self.team.own.ranks.sharded:
            return self.own.write_checkpoint(work, tokenizer)
        with self.team.together(Member.gather):
            return self.own.write_checkpoint(work, tokenizer)


class TeamGenerator(Streaming):
    """The samplers of all ranks as one; implements ``Generator``."""

    def __init__(self, team: Team) -> None:
        self.team = copy.copy(team)
        self.team.others = [other.sampler for other in team.others]
        self.model_id: str = team.own.generator.model_id
        self.model_digest: str = team.own.generator.model_digest

    def stream(self, params: SamplingParams, on_done: OnDone = None) -> TeamStream:
        params.check()
        return TeamStream(self.team, params, on_done or (lambda _: None))

    def sync_weights(self, model: Any) -> None:
        del model
        self.team.run(Member.sync_weights)

    def sleep(self) -> None:
        self.team.run(Member.sleep)

    def close(self) -> None:
        self.team.own.generator.close()


class TeamStream:
    """Gives each request to the rank with the fewest unfinished samples; implements ``Stream``.

    With a repeatable sampler, every rank samples in ``take`` until one of its requests is complete. With another
    sampler, ranks also sample between commands.
    """

    def __init__(self, team: Team, params: SamplingParams, on_done: Callable[[int], None]) -> None:
        self._team, self._on_done = team, on_done
        with team.together(Member.open_stream, params):
            team.own.open_stream(params, on_done)
        self._own: Stream = team.own.stream
        self._running = dict.fromkeys(range(team.own.ranks.size), 0)
        self._ended: list[Ended] = []
        self.rows = self._own.rows * len(self._running)
        self.repeatable = self._own.repeatable

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if error[1] is None or isinstance(error[1], StepGivenUp | SamplerStopped):
            self._team.run(Member.close_stream)
        else:  # the other ranks' processes end too
            self._team.own.close_stream()

    @property
    def running(self) -> int:
        return sum(self._running.values())

    def submit(self, key: int, request: Request) -> None:
        if not (missing := request.missing):
            self._ended.append((key, list(request.begun)))
            return
        rank = min(self._running, key=lambda r: (self._running[r], r))
        self._running[rank] += missing
        if rank == 0:
            self._own.submit(key, request)
        else:
            self._team.others[rank - 1].send(Command(Member.submit, (key, request)))

    def take(self, wait: float | None = None) -> list[Ended]:
        if self._ended:
            whole, self._ended = self._ended, []
            return whole
        if self.repeatable:
            asked = [other for other in self._team.others if self._running[other.rank]]
            for other in asked:
                other.send(Command(Member.take, (None,)))
            ended = self._record(0, self._team.own.take(None)) if self._running[0] else []
            for other in asked:
                ended += self._record(other.rank, other.receive(lambda: self._on_done(0)))
            return ended
        until = None if wait is None else time.monotonic() + wait
        while True:
            ended = []
            if self._running[0]:
                ended += self._record(0, self._team.own.take(LOOK_SECONDS))
            else:
                connection.wait([other.channel for other in self._team.others], LOOK_SECONDS)
            for other in self._team.others:
                for sampled in other.arrived():
                    ended += self._record(other.rank, sampled)
            if ended or not self.running or (until is not None and time.monotonic() > until):
                return ended

    def stop(self) -> list[Ended]:
        stopped = [*self._ended]
        stopped += [pair for pairs in self._team.run(Member.stop_stream) for pair in pairs]
        for other in self._team.others:
            for sampled in other.arrived():
                stopped += self._record(other.rank, sampled)
        self._running = dict.fromkeys(self._running, 0)
        return stopped

    def _record(self, rank: int, sampled: Sampled) -> list[Ended]:
        self._running[rank] -= sampled.count
        if rank:
            self._on_done(sampled.count)
        return sampled.ended


class Line:
    """Receives the commands that rank 0 sends over one channel, and sends the replies."""

    def __init__(self, descriptor: int) -> None:
        self._channel = connection.Connection(descriptor)
        self.commands: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                self.commands.put(pickle.loads(self._channel.recv_bytes()))
        os._exit(0)  # rank 0 has ended, perhaps while this rank waits for it

    def send(self, message: Sampled | Reply | ProrlError) -> None:
        self._channel.send_bytes(pickle.dumps(message))

    def serve(self, member: Member, samples: bool) -> None:
        """Run commands until the process ends. ``samples`` says whether the sampler's commands use this line."""
        try:
            if member.device.startswith("cuda"):
                torch.cuda.set_device(member.device)  # each thread has a device of its own
            while True:
                self._obey(member, samples)
        except BaseException as error:  # noqa: BLE001 - rank 0 reports it
            traceback.print_exc()
            line = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            self.send(error if isinstance(error, UserError) else ServiceError(line))
            sys.stderr.flush()
            os._exit(1)

    def _obey(self, member: Member, samples: bool) -> None:
        """Wait for the next command and run it. A sampler that is not repeatable continues sampling during the wait."""
        stream = member.stream if samples else None
        while stream is not None and not stream.repeatable and stream.running:
            if not self.commands.empty():
                break
            sampled = member.take(LOOK_SECONDS)
            if sampled.ended or sampled.count:
                self.send(sampled)
        command = self.commands.get()
        value = command.method(member, *command.arguments)
        if command.method is not Member.submit:
            self.send(Reply(value))


def main() -> None:
    """Run the commands of rank 0 until rank 0 ends."""
    first, *others = (Line(int(word)) for word in sys.argv[1:])
    member: Member = first.commands.get()
    first.send(Reply(None))
    for line in others:
        threading.Thread(target=line.serve, args=(member, True), daemon=True).start()
    first.serve(member, not others)


if __name__ == "__main__":
    main()
