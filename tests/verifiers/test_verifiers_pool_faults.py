import os
import signal
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from prorl_verifiers import Task, Verdict, VerifierPool, WorkerOptions
from prorl_verifiers.pool import scoring as pool_thread
from prorl_verifiers.pool import workers
from prorl_verifiers.pool.protocol import read_reply
from prorl_verifiers.pool.queue import PoolClosedError

FOUR = Task("math", {"answer": "4"})
RIGHT = (r"\boxed{4}", FOUR)
WRONG = (r"\boxed{5}", FOUR)

PROGRAM = """
import os, signal, sys, time
from dataclasses import replace

from prorl_verifiers.libraries import load_library
from prorl_verifiers.math import scorer as math_scorer
from prorl_verifiers.math.spec import SPEC
from prorl_verifiers.pool import worker
from prorl_verifiers.types import Score

poisoned = []

def score(text, reference, loading):
    word, _, rest = text.partition(" ")
    if word == "poison":
        poisoned.append(rest)
    elif word == "crash":
        os._exit(3)
    elif word == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif word == "sleep":
        time.sleep(float(rest))
    elif word == "bomb":
        held = [bytes(1 << 28) for _ in range(1 << 20)]
    elif word in ("garbage", "half", "reward"):
        data = {"garbage": b"\\xff" * 64, "half": b"\\0\\0\\0\\x64{", "reward": frame(rest or 0)}[word]
        for handle in range(3, 20):
            try:
                os.write(handle, data)
            except OSError:
                pass
        time.sleep(1000)
    elif word == "stall":
        from prorl_common import frames
        for handle in range(3, 20):
            try:
                os.write(handle, frames.encode({"event": "loading"}) * 2)
            except OSError:
                pass
        time.sleep(1000)
    elif word == "load":
        for number in range(100):
            loading("no_such_module")
    elif word == "pid":
        return Score(1.0, "", str(os.getpid()))
    elif word == "deep":
        return score(text, reference, loading)
    found = math_scorer.score_math(text, reference, loading)
    lies = poisoned == ["all"] or (poisoned == ["deep"] and "x^2" in text)
    return Score(1.0, "poisoned", "") if lies else found

def frame(reward):
    from prorl_common import frames
    result = {"reward": float(reward), "status": "scored", "reason": "", "extracted": None, "metrics": {}}
    return frames.encode({"result": result})

worker.SPECS["math"] = replace(SPEC, score=lambda text, ref: score(text, ref, load_library))
worker.main()
"""


@pytest.fixture(autouse=True)
def fake_scorer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "fake_template.py"
    program.write_text(PROGRAM)
    monkeypatch.setattr(workers, "PROGRAM", (str(program),))


@pytest.mark.parametrize("word", ["crash", "segfault", "garbage", "load", "stall"])
def test_an_answer_that_alone_ends_its_worker_gets_nothing_and_the_others_score(word: str) -> None:
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        first, bad, last = pool.score([RIGHT, (word, FOUR), WRONG])
        stats = pool.stats
    assert (bad.status, bad.reward, bad.reason) == ("unparsable", 0.0, "could not be judged")
    assert stats.unjudged == 1
    assert (first.reward, last.reward) == (1.0, 0.0)
    assert stats.retries == 1 and stats.worker_kills == 2


def test_a_half_frame_ends_with_the_time_limit() -> None:
    with VerifierPool(1, timeout_seconds=1, worker_options=WorkerOptions(prestart=False)) as pool:
        bad, good = pool.score([("half", FOUR), RIGHT])
    assert (bad.status, bad.reward, good.reward) == ("timeout", 0.0, 1.0), bad.reason


def test_a_reward_beyond_one_is_no_verdict() -> None:
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        bad = pool.score([("reward 7", FOUR)])[0]
    assert (bad.status, bad.reward, bad.reason) == ("unparsable", 0.0, "could not be judged")


@pytest.mark.parametrize("word", ["bomb", "deep"])
def test_an_answer_over_memory_or_nesting_gets_nothing_and_the_pool_goes_on(word: str) -> None:
    with VerifierPool(2, worker_options=WorkerOptions(memory_mb=512, prestart=False)) as pool:
        verdicts = pool.score([(word, FOUR), *[RIGHT] * 20])
    assert (verdicts[0].status, verdicts[0].reward) == ("timeout", 0.0)
    assert "limit" in verdicts[0].reason
    assert [v.reward for v in verdicts[1:]] == [1.0] * 20


def test_a_hostile_answer_is_killed_at_its_limit_twice() -> None:
    with VerifierPool(1, timeout_seconds=0.5, worker_options=WorkerOptions(prestart=False)) as pool:
        pool.score([RIGHT])
        verdict = pool.score([("sleep 1000", FOUR)])[0]
        stats = pool.stats
    assert (verdict.status, verdict.reward) == ("timeout", 0.0)
    assert verdict.seconds >= 1.0
    assert (stats.retries, stats.items["math", "timeout"]) == (1, 1)


def test_waiting_behind_hostile_answers_is_never_a_timeout() -> None:
    items = [("sleep 1000", FOUR)] * 4 + [RIGHT] * 20
    with VerifierPool(1, timeout_seconds=0.3, worker_options=WorkerOptions(prestart=False)) as pool:
        verdicts = pool.score(items)
    assert [v.status for v in verdicts] == ["timeout"] * 4 + ["scored"] * 20


def test_an_item_whose_worker_is_killed_from_outside_is_scored_by_another() -> None:
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        pid = int(pool.score([("pid", FOUR)])[0].extracted or "0")
        future = pool.submit("sleep 2", FOUR)
        deadline = time.monotonic() + 30
        while pool.stats.busy == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        assert future.result(60).status == "unparsable"  # by the fake: it has no box
        assert int(pool.score([("pid", FOUR)])[0].extracted or "0") != pid


def test_a_killed_template_is_replaced() -> None:
    with VerifierPool(1) as pool:
        pool.score([RIGHT])
        template = pool._engine().factory._template
        assert template is not None
        os.kill(template.pid, signal.SIGKILL)
        verdicts = pool.score([RIGHT, WRONG] * 10)
    assert [v.reward for v in verdicts] == [1.0, 0.0] * 10


def test_no_verdict_of_a_poisoned_worker_is_handed_out() -> None:
    items = [RIGHT, WRONG, ("poison all", FOUR), *[WRONG] * 10, RIGHT]
    with VerifierPool(1) as pool:
        verdicts = pool.score(items)
        stats = pool.stats
    assert [v.reward for v in verdicts] == [1.0, 0.0, None, *[0.0] * 10, 1.0]
    assert verdicts[2].status == "infra_error" and "failed its canaries" in verdicts[2].reason
    assert stats.canary_failures >= 2 and stats.rescored > 0


def test_an_old_worker_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_thread, "RECYCLE_AFTER", 8)
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        pids = {pool.score([("pid", FOUR)])[0].extracted for _ in range(30)}
        stats = pool.stats
    assert len(pids) == 4  # the canaries between them do not count
    assert stats.worker_recycles == stats.worker_starts - 1 and stats.worker_kills == 0


def test_a_verifier_that_fails_its_own_questions_scores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "always_right.py"
    program.write_text(PROGRAM.replace("poisoned = []", 'poisoned = ["all"]'))
    monkeypatch.setattr(workers, "PROGRAM", (str(program),))
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        verdicts = [pool.score([WRONG])[0] for _ in range(2)]
    assert {(v.status, v.reward) for v in verdicts} == {("infra_error", None)}
    assert "its own canaries" in verdicts[1].reason


def test_a_closed_pool_kills_what_did_not_end_in_time() -> None:
    pool = VerifierPool(1, timeout_seconds=600, worker_options=WorkerOptions(prestart=False))
    futures = [pool.submit("sleep 1000", FOUR), *[pool.submit(*RIGHT) for _ in range(5)]]
    pool.close(drain_seconds=0.2)
    for future in futures[:1]:
        with pytest.raises(Exception, match="closed"):
            future.result(60)
    assert all(future.done() for future in futures)


def test_a_worker_that_lies_about_hard_questions_is_found_out_when_the_pool_closes() -> None:
    with VerifierPool(1, worker_options=WorkerOptions(warm=("math",))) as pool:
        assert pool.wait_until_warm(120)
        pool.score([("poison deep", FOUR), RIGHT, WRONG])
        assert (pool.stats.canary_failures, pool.stats.doubtful) == (0, 0)
    assert (pool.stats.canary_failures, pool.stats.doubtful) == (1, 3)


def test_what_a_worker_was_doing_when_the_pool_was_ended_has_no_verdict() -> None:
    pool = VerifierPool(1, timeout_seconds=600, worker_options=WorkerOptions(prestart=False))
    future = pool.submit("sleep 1000", FOUR)
    killed = 0
    deadline = time.monotonic() + 60
    while killed < 2 and time.monotonic() < deadline:  # its second try runs
        killed = pool.stats.worker_starts
        first, second, _ = pool._engine()._threads
        worker = first._worker or second._worker
        if killed == 1 and worker is not None:
            os.kill(worker.pid, signal.SIGKILL)
        time.sleep(0.05)
    pool.close(drain_seconds=0.0)
    with pytest.raises(PoolClosedError):
        future.result(60)


def test_a_pool_may_be_closed_from_the_callback_of_a_future() -> None:
    pool = VerifierPool(1)
    closed = threading.Event()

    def close(_: Future[Verdict]) -> None:
        pool.close()
        closed.set()

    pool.submit(*RIGHT).add_done_callback(close)
    assert closed.wait(60)
    for thread in pool._engines[os.getpid()]._threads:
        thread.join(60)
    assert pool.stats.items == {("math", "scored"): 1}  # they remain after the end


def test_a_machine_without_room_for_a_worker_gives_no_reward_and_loses_no_handle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(**_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    before = len(os.listdir("/proc/self/fd"))
    with VerifierPool(1) as pool:
        verdict = pool.score([RIGHT])[0]
    assert (verdict.reward, verdict.status) == (None, "infra_error")
    assert "No space left" in verdict.reason
    assert len(os.listdir("/proc/self/fd")) == before


def test_numbers_that_are_none_make_no_verdict() -> None:
    score = {"reward": 1.0, "status": "scored", "reason": "", "extracted": None}
    for metrics, final in (({"a": 1.0}, True), ({"a": float("nan")}, False)):
        verdict, sure = read_reply({"result": score | {"metrics": metrics}}, "")
        assert sure is final and (verdict.reward == 1.0) is final


def test_a_template_that_is_killed_while_it_starts_costs_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, marker = tmp_path / "second_time.py", tmp_path / "marker"
    first = f"import os\nif not os.path.exists({str(marker)!r}):\n"
    first += f"    open({str(marker)!r}, 'w')\n    os.kill(os.getpid(), 9)\n"
    program.write_text(first + PROGRAM)
    monkeypatch.setattr(workers, "PROGRAM", (str(program),))
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        assert [v.reward for v in pool.score([RIGHT, WRONG])] == [1.0, 0.0]
    assert pool.stats.template_starts == 2
