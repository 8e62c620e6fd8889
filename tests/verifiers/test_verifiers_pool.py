import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from prorl_common import UserError
from prorl_verifiers import Task, TaskError, Verdict, VerifierPool, WorkerOptions, load_task, verify

FOUR = Task("math", {"answer": "4"})
RIGHT = (r"\boxed{4}", FOUR)
EXPRESSION = Task("math", {"answer": "x+1"})


def test_order_is_kept_and_every_item_is_reported_once() -> None:
    seen = []
    items = [(f"\\boxed{{{i % 3 + 3}}}", FOUR) for i in range(200)]
    with VerifierPool(2, timeout_seconds=30) as pool:
        verdicts = pool.score(items, lambda index, verdict: seen.append((index, verdict)))
        assert pool.score([]) == []
    assert [v.reward for v in verdicts] == [float(i % 3 == 1) for i in range(200)]
    assert sorted(index for index, _ in seen) == list(range(200))
    assert all(verdicts[index] is verdict for index, verdict in seen)
    assert all("rlimits" in v.isolation and v.seconds > 0 for v in verdicts)


def test_hostile_answers_earn_nothing_and_the_next_item_still_scores() -> None:
    items = [
        (r"\boxed{x+9^{9^{9}}}", EXPRESSION),
        (r"\boxed{" + "9" * 200_000 + "}", FOUR),
        (r"\boxed{" + "9" * 40_000 + "}", FOUR),
        (r"\boxed{" + "(" * 400 + "x" + ")" * 400 + "}", EXPRESSION),
        ("a" * 10_000_000 + r"\boxed{4}", FOUR),
        RIGHT,
    ]
    with VerifierPool(2, timeout_seconds=2) as pool:
        verdicts = pool.score(items)
    assert [verdict.reward for verdict in verdicts] == [0.0] * 4 + [1.0, 1.0]


def test_a_worker_that_cannot_start_is_an_infra_error_never_a_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    verdict = verify(*RIGHT)
    assert (verdict.reward, verdict.status) == (None, "infra_error")
    assert verdict.is_infra_error


@pytest.mark.parametrize(
    "task",
    [
        Task("math", {}),
        Task("mathematics", {"answer": "4"}),
        Task("instruction", {"instruction_id_list": [], "kwargs": []}),
        Task("instruction", {"instruction_id_list": ["foo:bar"], "kwargs": [{}]}),
        Task("logic", {"dataset": "sudoko", "entry": {"answer": "1", "metadata": {}}}),
        Task("composite", {"parts": []}),
    ],
)
def test_a_malformed_task_is_refused(task: Task) -> None:
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        with pytest.raises(TaskError):
            pool.submit("4", task)
        with pytest.raises(TaskError):
            pool.score([("4", task)])


def test_a_mode_of_the_pool_is_for_tasks_that_name_none() -> None:
    task = Task("math", {"answer": "50"})
    own = Task("math", {**task.reference, "mode": "ours"})
    answer = r"\boxed{50\%}"
    with VerifierPool(1, modes={"math": "math-verify", "code": "binary"}) as pool:
        loose, strict = pool.score([(answer, task), (answer, own)])
    assert (loose.reward, strict.reward) == (1.0, 0.0)


def test_a_task_that_cannot_be_scored_in_the_pools_mode_is_refused() -> None:
    task = Task(
        "instruction", {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{"x": 1}]}
    )
    with VerifierPool(1, modes={"instruction": "reference"}) as pool, pytest.raises(TaskError):
        pool.score([("a", task)])


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        ({"math": "eiter"}, "decided or either"),
        ({"maths": "either"}, "math"),
        ({"stem": "x"}, "of stem: use none"),
    ],
)
def test_an_unknown_mode_names_those_that_exist(modes: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        VerifierPool(1, modes=modes)


def test_arguments_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UserError, match="at least one worker"):
        VerifierPool(0)
    with pytest.raises(UserError, match="256"):
        VerifierPool(1, worker_options=WorkerOptions(memory_mb=1))
    with pytest.raises(UserError, match="unknown verifier 'mat'"):
        VerifierPool(1, worker_options=WorkerOptions(warm=["mat"]))


def test_thinking_that_was_opened_must_be_closed() -> None:
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        opened, closed = pool.score(
            [(r"<think>\boxed{4}", FOUR), (r"<think></think>\boxed{4}", FOUR)]
        )
    assert (opened.status, closed.reward) == ("unparsable", 1.0)


def test_a_closed_pool_refuses_work() -> None:
    pool = VerifierPool(1)
    pool.close()
    pool.close()
    with pytest.raises(UserError, match="closed"):
        pool.score([RIGHT])
    with pytest.raises(UserError, match="closed"):
        pool.submit(*RIGHT)


def test_lone_surrogates_in_a_response_are_scored() -> None:
    assert verify("\ud800 \\boxed{4}", load_task("math", {"answer": 4})).reward == 1.0


def test_many_threads_share_a_pool() -> None:
    def one(number: int) -> list[float | None]:
        return [
            v.reward
            for v in pool.score([(f"\\boxed{{{n}}}", FOUR) for n in range(number, number + 4)])
        ]

    with VerifierPool(2) as pool, ThreadPoolExecutor(8) as threads:
        rewards = list(threads.map(one, range(8)))
        stats = pool.stats
    assert rewards == [[float(n == 4) for n in range(k, k + 4)] for k in range(8)]
    assert stats.items == {("math", "scored"): 32}
    assert (stats.queued, stats.busy, stats.workers) == (0, 0, 2)


def test_a_submitted_item_comes_as_a_future() -> None:
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        futures = [pool.submit(f"\\boxed{{{n}}}", FOUR) for n in range(8)]
        assert [future.result(60).reward for future in futures] == [float(n == 4) for n in range(8)]


def test_a_pool_works_on_both_sides_of_a_fork() -> None:
    with VerifierPool(1) as pool:
        assert pool.score([RIGHT])[0].reward == 1.0
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                verdicts = pool.score([RIGHT, (r"\boxed{5}", FOUR)])
                os.write(write, str([v.reward for v in verdicts]).encode())
                pool.close()
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        assert pool.score([RIGHT])[0].reward == 1.0
        with os.fdopen(read) as answers:
            assert answers.read() == "[1.0, 0.0]"
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert pool.score([RIGHT])[0].reward == 1.0


def test_a_pickled_pool_opens_workers_of_its_own() -> None:
    with VerifierPool(
        1, timeout_seconds=7, modes={"math": "ours"}, worker_options=WorkerOptions(prestart=False)
    ) as pool:
        copy = pickle.loads(pickle.dumps(pool))
    with copy:
        assert copy.score([RIGHT])[0].reward == 1.0
        assert copy._settings.modes == {"math": "ours"}


def test_a_pool_with_an_open_sandbox_cannot_be_pickled() -> None:
    with (
        VerifierPool(1, object(), worker_options=WorkerOptions(prestart=False)) as pool,  # type: ignore[arg-type]
        pytest.raises(TypeError, match="backend's name"),
    ):
        pickle.dumps(pool)


def descendants(pid: int) -> set[int]:
    """Return the descendants of a process."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text()
            except OSError:
                continue
            parents[int(folder.name)] = int(text.rsplit(")", 1)[1].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def gone(pids: set[int]) -> bool:
    """Wait until none of the processes is left, not counting zombies."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        left = set()
        for pid in pids:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            left |= {pid} if state != "Z" else set()
        if not left:
            return True
        time.sleep(0.05)
    return False


HOST = """
import sys, time
from prorl_verifiers import Task, TaskError, VerifierPool
pool = VerifierPool(2)
task = Task("math", {"answer": "4"})
assert all(v.reward == 1.0 for v in pool.score([(r"\\boxed{4}", task)] * 64))
print("scored", flush=True)
if sys.argv[1] == "wait":
    time.sleep(600)
"""


def test_a_host_that_is_killed_leaves_neither_process_nor_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOST, "wait"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as host:
        assert host.stdout is not None and host.stdout.readline() == "scored\n"
        family = descendants(host.pid)
        assert len(family) >= 2 and list(tmp_path.iterdir())
        host.kill()
    assert gone(family)
    assert list(tmp_path.iterdir()) == []


def test_a_pool_that_nobody_closed_ends_with_its_interpreter(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", HOST, "leave"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "scored\n", "")
    assert list(tmp_path.iterdir()) == []


def test_closing_leaves_no_process() -> None:
    before = descendants(os.getpid())
    with VerifierPool(2) as pool:
        pool.score([RIGHT] * 8)
        family = descendants(os.getpid()) - before
    assert family
    assert gone(family)


def test_closing_drains_for_as_long_as_it_may() -> None:
    verdicts: list[Verdict] = []
    pool = VerifierPool(1)
    pool.score([RIGHT])
    started = threading.Event()

    def caller() -> None:
        verdicts.extend(pool.score([RIGHT] * 300, lambda *_: started.set()))

    thread = threading.Thread(target=caller)
    thread.start()
    assert started.wait(60)
    pool.close(drain_seconds=60)
    thread.join(60)
    assert [v.reward for v in verdicts] == [1.0] * 300
