import asyncio
import threading

import pytest

from prorl_verifiers import Task, VerifierPool, WorkerOptions

FOUR = Task("math", {"answer": "4"})
RIGHT = (r"\boxed{4}", FOUR)
WRONG = (r"\boxed{5}", FOUR)


def test_score_works_inside_a_running_loop() -> None:
    async def cell() -> list[float | None]:
        with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
            return [v.reward for v in pool.score([RIGHT, WRONG])]

    assert asyncio.run(cell()) == [1.0, 0.0]


def test_many_tasks_await_one_pool_and_the_loop_goes_on() -> None:
    async def main() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        with VerifierPool(2, worker_options=WorkerOptions(prestart=False)) as pool:
            ticker = asyncio.create_task(tick())
            found = await asyncio.gather(*(pool.score_async([RIGHT, WRONG]) for _ in range(20)))
            assert await pool.score_async([]) == []
            ticker.cancel()
        assert [[v.reward for v in verdicts] for verdicts in found] == [[1.0, 0.0]] * 20
        assert ticks > 1

    asyncio.run(main())


def test_what_was_cancelled_and_has_not_started_never_runs(hang: str) -> None:
    async def main() -> None:
        with VerifierPool(
            1, timeout_seconds=600, worker_options=WorkerOptions(prestart=False)
        ) as pool:
            first = asyncio.create_task(pool.score_async([(hang, FOUR)]))
            while pool.stats.busy == 0:
                await asyncio.sleep(0.01)
            later = asyncio.create_task(pool.score_async([RIGHT] * 100))
            while pool.stats.queued < 100:
                await asyncio.sleep(0.01)
            later.cancel()
            with pytest.raises(asyncio.CancelledError):
                await later
            assert pool.stats.queued == 0
            first.cancel()
            await asyncio.to_thread(pool.close, 0)
            assert pool.stats.items == {}

    asyncio.run(main())


def test_a_cancelled_future_never_runs(hang: str) -> None:
    with VerifierPool(1, timeout_seconds=600, worker_options=WorkerOptions(prestart=False)) as pool:
        pool.submit(hang, FOUR)
        while pool.stats.busy == 0:
            threading.Event().wait(0.01)
        waiting = pool.submit(*RIGHT)
        assert waiting.cancel()
        assert pool.stats.queued == 0
        pool.close(drain_seconds=0)
