"""Batch and asyncio use, with a small sandbox of the tests' own and once with the real one."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from prorl_common import UserError
from prorl_sandbox import Limits, LocalSandbox, Outcome, Program, SandboxError
from prorl_sandbox.batch import AsyncSandbox, Request, run_async, run_batch

HANG = 30.0
"""Seconds; a guard against a test that would never end, not a measurement."""


class EchoSandbox:
    """Answers with the source as output. ``hold`` blocks, ``fail``, ``wrong`` and ``bug`` raise."""

    isolation = "none"

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.finished = 0
        self.most_at_once = 0
        self._running = 0
        self._lock = threading.Lock()
        self.release = threading.Event()
        self.held = threading.Semaphore(0)

    def run(self, program: Program, limits: Limits = Limits()) -> Outcome:  # noqa: B008
        with self._lock:
            self.begun.append(program.source)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
        try:
            return self._answer(program.source)
        finally:
            with self._lock:
                self._running -= 1
                self.finished += 1

    def _answer(self, source: str) -> Outcome:
        if source == "hold":
            self.held.release()
            assert self.release.wait(HANG)
        if source == "fail":
            raise SandboxError("no fork")
        if source == "wrong":
            raise UserError("bad limits")
        if source == "bug":
            raise ZeroDivisionError
        return Outcome("ok", stdout=source, wall_seconds=0.001)

    def run_check(
        self,
        program: Program,
        checker: str,
        entry_point: str,
        limits: Limits = Limits(),  # noqa: B008
    ) -> Outcome:
        return self.run(program, limits)

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def echo() -> Iterator[EchoSandbox]:
    """A fake sandbox; afterwards no thread of a batch may be left."""
    sandbox = EchoSandbox()
    yield sandbox
    sandbox.release.set()
    left = [
        t.name
        for t in threading.enumerate()
        if t.name.startswith(("sandbox-batch", "sandbox-async"))
    ]
    assert not left


def requests(*sources: str) -> list[Request]:
    return [(Program(source), Limits()) for source in sources]


def test_every_request_is_answered_once_under_its_index(echo: EchoSandbox) -> None:
    wanted = requests(*(str(i) for i in range(50)))
    answers = dict(run_batch(echo, wanted, workers=3))
    assert sorted(answers) == list(range(50))
    for index, answer in answers.items():
        assert isinstance(answer, Outcome) and answer.stdout == str(index)
    assert echo.most_at_once <= 3


def test_no_requests_give_no_answers(echo: EchoSandbox) -> None:
    assert list(run_batch(echo, [], workers=2)) == []


def test_a_slow_run_does_not_hold_up_the_others(echo: EchoSandbox) -> None:
    batch = run_batch(echo, requests("hold", "1", "2"), workers=2)
    assert {next(batch)[0], next(batch)[0]} == {1, 2}
    echo.release.set()
    assert [index for index, _ in batch] == [0]


def test_input_order_waits_for_the_first(echo: EchoSandbox) -> None:
    batch = run_batch(echo, requests("hold", "1", "2", "3"), workers=2, in_flight=3, in_order=True)
    threading.Timer(0.05, echo.release.set).start()
    assert [index for index, _ in batch] == [0, 1, 2, 3]


@pytest.mark.parametrize("in_order", [False, True])
def test_a_slow_consumer_stops_the_reading(echo: EchoSandbox, in_order: bool) -> None:
    read = 0

    def endless() -> Iterator[Request]:
        nonlocal read
        while True:
            read += 1
            yield Program("x"), Limits()

    batch = run_batch(echo, endless(), workers=2, in_flight=5, in_order=in_order)
    assert read == 0
    for taken in range(1, 20):
        next(batch)
        assert read - taken <= 5
    batch.close()


def test_in_flight_below_the_workers_bounds_the_runs(echo: EchoSandbox) -> None:
    assert len(list(run_batch(echo, requests(*"abcdefgh"), workers=4, in_flight=1))) == 8
    assert echo.most_at_once == 1


def test_a_failing_sandbox_is_handed_over_in_its_place(echo: EchoSandbox) -> None:
    answers = dict(run_batch(echo, requests("a", "fail", "b"), workers=2))
    assert isinstance(answers[1], SandboxError)
    assert isinstance(answers[0], Outcome) and isinstance(answers[2], Outcome)


@pytest.mark.parametrize(("source", "kind"), [("wrong", UserError), ("bug", ZeroDivisionError)])
def test_a_mistake_or_a_bug_is_raised(
    echo: EchoSandbox, source: str, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        list(run_batch(echo, requests("a", source, "b"), workers=2))


def test_an_error_of_the_input_is_raised_after_the_runs_ended(echo: EchoSandbox) -> None:
    def broken() -> Iterator[Request]:
        yield Program("a"), Limits()
        raise OSError("torn file")

    with pytest.raises(OSError, match="torn file"):
        list(run_batch(echo, broken(), workers=2))
    assert echo.finished == len(echo.begun)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_leaving_early_drops_what_waits_and_waits_for_what_runs(
    echo: EchoSandbox, error: type[BaseException] | None
) -> None:
    batch = run_batch(echo, requests("1", "hold", *"abcdefgh"), workers=1, in_flight=9)
    assert next(batch)[0] == 0
    assert echo.held.acquire(timeout=HANG)
    threading.Timer(0.05, echo.release.set).start()
    if error is None:
        batch.close()
    else:
        with pytest.raises(error):
            batch.throw(error)
    assert echo.begun == ["1", "hold"] and echo.finished == 2


@pytest.mark.parametrize(("workers", "in_flight"), [(0, None), (1, 0)])
def test_bounds_below_one_are_refused_at_once(
    echo: EchoSandbox, workers: int, in_flight: int | None
) -> None:
    with pytest.raises(UserError, match="at least 1"):
        run_batch(echo, [], workers=workers, in_flight=in_flight)


def test_a_single_run_can_be_awaited(echo: EchoSandbox) -> None:
    assert asyncio.run(run_async(echo, Program("hello"))).stdout == "hello"


def test_awaited_runs_share_the_workers(echo: EchoSandbox) -> None:
    async def main() -> list[Outcome]:
        async with AsyncSandbox(echo, workers=2, queue=3) as sandbox:
            return await asyncio.gather(*(sandbox.run(Program(str(i))) for i in range(40)))

    assert [outcome.stdout for outcome in asyncio.run(main())] == [str(i) for i in range(40)]
    assert echo.most_at_once <= 2


def test_a_full_queue_makes_the_caller_wait(echo: EchoSandbox) -> None:
    async def main() -> None:
        async with AsyncSandbox(echo, workers=1, queue=1) as sandbox:
            tasks = [asyncio.create_task(sandbox.run(Program("hold"))) for _ in range(4)]
            await asyncio.to_thread(echo.held.acquire)
            assert sandbox._places.locked()  # one runs, one waits in the queue, two before it
            assert sandbox._threads._work_queue.qsize() == 1
            echo.release.set()
            assert len(await asyncio.gather(*tasks)) == 4

    asyncio.run(main())


def test_a_cancelled_caller_leaves_the_pool_healthy(echo: EchoSandbox) -> None:
    async def main() -> None:
        async with AsyncSandbox(echo, workers=1, queue=1) as sandbox:
            running = asyncio.create_task(sandbox.run(Program("hold")))
            await asyncio.to_thread(echo.held.acquire)
            queued = asyncio.create_task(sandbox.run(Program("never")))
            waiting = asyncio.create_task(sandbox.run(Program("nor this")))
            await asyncio.sleep(0.01)
            for task in (waiting, queued, running):
                task.cancel()
            ended = await asyncio.gather(running, queued, waiting, return_exceptions=True)
            assert all(isinstance(end, asyncio.CancelledError) for end in ended)
            echo.release.set()
            outcomes = await asyncio.gather(*(sandbox.run(Program(str(i))) for i in range(10)))
            assert [outcome.stdout for outcome in outcomes] == [str(i) for i in range(10)]

    asyncio.run(main())
    assert not {"never", "nor this"} & set(echo.begun)


def test_closing_waits_for_what_runs_and_refuses_the_rest(echo: EchoSandbox) -> None:
    async def main() -> None:
        sandbox = AsyncSandbox(echo, workers=1, queue=1)
        tasks = [asyncio.create_task(sandbox.run(Program("hold"))) for _ in range(3)]
        await asyncio.to_thread(echo.held.acquire)
        threading.Timer(0.05, echo.release.set).start()
        await sandbox.aclose()
        await sandbox.aclose()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(end) for end in ended] == [Outcome, SandboxError, SandboxError]
        with pytest.raises(UserError, match="closed"):
            await sandbox.run(Program("late"))

    asyncio.run(main())
    assert len(echo.begun) == 1


@pytest.mark.parametrize(
    ("source", "kind"), [("fail", SandboxError), ("wrong", UserError), ("bug", ZeroDivisionError)]
)
def test_errors_reach_the_awaiting_caller(
    echo: EchoSandbox, source: str, kind: type[Exception]
) -> None:
    async def main() -> None:
        async with AsyncSandbox(echo, workers=1, queue=0) as sandbox:
            with pytest.raises(kind):
                await sandbox.run(Program(source))
            assert (await sandbox.run(Program("fine"))).stdout == "fine"

    asyncio.run(main())


def test_the_real_sandbox_serves_both(sandbox: LocalSandbox) -> None:
    limits = Limits(wall_seconds=20.0)
    wanted = [(Program("print(int(input()) ** 2)", stdin=str(i)), limits) for i in range(8)]
    outputs = []
    for _, answer in run_batch(sandbox, wanted, workers=2, in_order=True):
        assert isinstance(answer, Outcome)
        outputs.append(answer.stdout)

    async def main() -> list[Outcome]:
        async with AsyncSandbox(sandbox, workers=2, queue=2) as boxes:
            return await asyncio.gather(*(boxes.run(*request) for request in wanted))

    expected = [f"{i * i}\n" for i in range(8)]
    assert outputs == expected
    assert [outcome.stdout for outcome in asyncio.run(main())] == expected
