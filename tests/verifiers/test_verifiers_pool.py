import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prorl_common import UserError
from prorl_verifiers import Task, VerifierPool, load_task, verify
from prorl_verifiers.worker_client import WorkerError, WorkerProcess, WorkerTimeout

FOUR = Task("math", {"answer": "4"})
REQUEST = {"verifier": "math", "reference": {"answer": "4"}, "cpu_seconds": 30}
TOWER = r"\boxed{x+9^{9^{9}}}"
EXPRESSION = Task("math", {"answer": "x+1"})


def test_order_is_kept_and_every_item_is_reported_once() -> None:
    seen = []
    items = [(f"\\boxed{{{i % 3 + 3}}}", FOUR) for i in range(50)]
    with VerifierPool(2, timeout_seconds=30) as pool:
        verdicts = pool.score(items, lambda index, verdict: seen.append(index))
        assert pool.score([]) == []
    assert [v.reward for v in verdicts] == [float(i % 3 == 1) for i in range(50)]
    assert sorted(seen) == list(range(50))
    assert all("rlimits" in v.isolation and v.seconds > 0 for v in verdicts)


def test_hostile_answers_cost_their_limit_and_the_next_item_still_scores() -> None:
    items = [
        (TOWER, EXPRESSION),
        (r"\boxed{" + "9" * 200_000 + "}", FOUR),
        (r"\boxed{" + "9" * 40_000 + "}", FOUR),
        (r"\boxed{" + "(" * 400 + "x" + ")" * 400 + "}", EXPRESSION),
        ("a" * 10_000_000 + r"\boxed{4}", FOUR),
        (r"\boxed{4}", FOUR),
    ]
    with VerifierPool(2, timeout_seconds=2) as pool:
        verdicts = pool.score(items)
    assert (verdicts[0].status, verdicts[0].reward) == ("timeout", 0.0)
    assert (verdicts[1].status, verdicts[1].reward) == ("unparsable", 0.0)
    assert verdicts[2].reward == 0.0 and verdicts[3].reward == 0.0
    assert [verdict.reward for verdict in verdicts[4:]] == [1.0, 1.0]


def test_a_worker_that_cannot_start_is_an_infra_error_never_a_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    verdict = verify(r"\boxed{4}", FOUR)
    assert (verdict.reward, verdict.status) == (None, "infra_error")
    assert verdict.is_infra_error


def test_a_bug_of_a_scorer_is_an_infra_error_never_a_zero() -> None:
    verdict = verify(r"\boxed{4}", Task("math", {}))
    assert (verdict.reward, verdict.status) == (None, "infra_error")
    assert "KeyError" in verdict.reason


def test_a_killed_worker_says_so() -> None:
    worker = WorkerProcess()
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match="exit code -9"):
        worker.ask(REQUEST | {"response": r"\boxed{4}"}, 30)
    worker.kill()


def test_a_worker_over_its_cpu_limit_is_a_timeout_of_the_answer() -> None:
    worker = WorkerProcess()
    request = REQUEST | {"response": TOWER, "reference": {"answer": "x+1"}, "cpu_seconds": 1}
    with pytest.raises(WorkerTimeout, match="cpu"):
        worker.ask(request, 120)
    worker.kill()


def test_closing_leaves_no_worker_behind() -> None:
    worker = WorkerProcess()
    worker.kill()
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)


def test_the_workers_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    worker = WorkerProcess()
    try:
        ps = Path(f"/proc/{worker.pid}/environ")
        assert os.getuid() != 0 or b"secret" not in ps.read_bytes()
    finally:
        worker.kill()


def test_a_confined_process_can_neither_write_nor_run_programs(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    code = (
        "import os, sys\n"
        "from prorl_verifiers.confine import confine\n"
        "print(confine(2048, sys.argv[2]))\n"
        "try:\n    open(sys.argv[1], 'w')\nexcept OSError:\n    print('no write')\n"
        "try:\n    os.execv('/bin/touch', ['touch', sys.argv[1]])\nexcept OSError:\n    print('no exec')\n"
    )
    marker, scratch = tmp_path / "marker", tmp_path / "scratch"
    scratch.mkdir()
    run = subprocess.run(
        [sys.executable, "-c", code, str(marker), str(scratch)],
        capture_output=True,
        text=True,
        check=True,
    )
    isolation, *rest = run.stdout.splitlines()
    if "landlock" not in isolation:
        pytest.skip("this kernel has no Landlock")
    assert rest == ["no write", "no exec"]
    assert not marker.exists()


def test_thinking_that_was_opened_must_be_closed() -> None:
    assert verify(r"<think>\boxed{4}", FOUR).status == "unparsable"
    assert verify(r"<think></think>\boxed{4}", FOUR).reward == 1.0


def test_a_closed_pool_refuses_work() -> None:
    pool = VerifierPool(1)
    pool.close()
    pool.close()
    with pytest.raises(UserError, match="closed"):
        pool.score([(r"\boxed{4}", FOUR)])


def test_lone_surrogates_in_a_response_are_scored() -> None:
    assert verify("\ud800 \\boxed{4}", load_task("math", {"answer": 4})).reward == 1.0
