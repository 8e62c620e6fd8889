import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_common import frames
from prorl_common.forks import ChildError
from prorl_common.frames import FrameError
from prorl_verifiers import libraries
from prorl_verifiers.pool import workers
from prorl_verifiers.pool.worker import SPECS, answer, serve
from prorl_verifiers.pool.workers import WorkerProcess, WorkerTemplate, WorkerTimeout
from prorl_verifiers.spec import VerifierSpec

REQUEST = {"verifier": "math", "reference": {"answer": "4"}, "cpu_seconds": 30}


def ask(worker: WorkerProcess, request: dict[str, Any], seconds: float) -> dict[str, Any]:
    return next(worker.ask_many([frames.encode(request)], seconds))


@pytest.fixture(scope="module")
def template() -> Iterator[WorkerTemplate]:
    made = WorkerTemplate()
    try:
        yield made.wait_until_ready()
    finally:
        made.kill()


@pytest.fixture
def worker(template: WorkerTemplate) -> Iterator[WorkerProcess]:
    made = template.worker()
    try:
        yield made
    finally:
        made.kill()


def test_a_fresh_template_judges_its_own_questions_right(template: WorkerTemplate) -> None:
    assert template.broken == {} and template.warm == template.verifiers


def test_a_template_has_one_thread(template: WorkerTemplate) -> None:
    assert len(os.listdir(f"/proc/{template.pid}/task")) == 1


def test_a_killed_worker_says_so(worker: WorkerProcess) -> None:
    assert worker.alive
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(ChildError, match="exit code -9"):
        ask(worker, REQUEST | {"response": r"\boxed{4}"}, 30)
    assert not worker.alive


RAISES = """
def read(text):
    int(text)
    raise ValueError("two\\nlines")


def score(text, reference):
    return read(text)
"""


@pytest.mark.parametrize(
    ("response", "line"),
    [
        ("x", "ValueError: invalid literal for int() with base 10: 'x' (mine.py, line 3)"),
        ("4", "ValueError: two lines (mine.py, line 4)"),
    ],
)
def test_what_a_scorer_raises_is_one_line_with_the_place_in_its_own_file(
    response: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module: dict[str, Any] = {}
    exec(compile(RAISES, "/lab/mine.py", "exec"), module)  # noqa: S102
    monkeypatch.setitem(SPECS, "mine", VerifierSpec("mine", score=module["score"]))
    request = {"verifier": "mine", "reference": {}, "response": response}
    assert answer(request) == {"bug": line}


SPINNER = """
import sys
from dataclasses import replace

from prorl_verifiers.libraries import load_library
from prorl_verifiers.math import scorer as math_scorer
from prorl_verifiers.math.spec import SPEC
from prorl_verifiers.pool import worker

def score(text, reference, loading):
    while text == "spin":
        pass
    return math_scorer.score_math(text, reference, loading)

worker.SPECS["math"] = replace(SPEC, score=lambda text, ref: score(text, ref, load_library))
worker.main()
"""


def test_a_worker_over_its_cpu_limit_is_a_timeout_of_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "spinning_template.py"
    program.write_text(SPINNER)
    monkeypatch.setattr(workers, "PROGRAM", (str(program),))
    template = WorkerTemplate().wait_until_ready()
    try:
        worker = template.worker()
        with pytest.raises(WorkerTimeout, match="cpu"):
            ask(worker, REQUEST | {"response": "spin", "cpu_seconds": 0.5}, 120)
    finally:
        template.kill()


def test_a_killed_worker_is_gone_and_so_is_its_folder(template: WorkerTemplate) -> None:
    before = {path.name for path in Path("/tmp").glob("prorl-child-*")}
    worker = template.worker()
    assert worker.kill() == -signal.SIGKILL
    assert worker.kill() is None
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)
    assert {path.name for path in Path("/tmp").glob("prorl-child-*")} <= before


def test_workers_die_with_their_template() -> None:
    template = WorkerTemplate().wait_until_ready()
    worker = template.worker()
    template.kill()
    with pytest.raises(ChildError):
        ask(worker, REQUEST | {"response": "-"}, 30)
    assert worker.kill() is None
    with pytest.raises(ChildError):
        template.worker()


def test_a_retired_template_lives_until_its_last_worker_is_gone() -> None:
    template = WorkerTemplate().wait_until_ready()
    worker = template.worker()
    template.retire()
    assert ask(worker, REQUEST | {"response": r"\boxed{4}"}, 30)["result"]["reward"] == 1.0
    worker.kill()
    assert not template.alive


def test_several_requests_are_answered_in_order(worker: WorkerProcess) -> None:
    requests = [
        frames.encode(REQUEST | {"response": f"\\boxed{{{number}}}"}) for number in range(8)
    ]
    rewards = [reply["result"]["reward"] for reply in worker.ask_many(requests, 30)]
    assert rewards == [0.0] * 4 + [1.0] + [0.0] * 3


def test_the_workers_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")
    template = WorkerTemplate().wait_until_ready()
    try:
        assert b"secret" not in Path(f"/proc/{template.pid}/environ").read_bytes()
    finally:
        template.kill()


def test_a_worker_holds_no_way_to_its_template_or_to_other_workers(
    template: WorkerTemplate,
) -> None:
    first, second = template.worker(), template.worker()
    try:
        if os.getuid() != 0:
            pytest.skip("only root may look into a worker")
        links = [os.readlink(link) for link in Path(f"/proc/{second.pid}/fd").iterdir()]
        assert not any("socket" in link for link in links)
        assert sum("pipe" in link for link in links) == 2
        status = Path(f"/proc/{second.pid}/status").read_text()
        assert "Uid:\t65534\t65534\t65534\t65534" in status and "NoNewPrivs:\t1" in status
    finally:
        first.kill()
        second.kill()


def test_a_confined_process_can_neither_write_nor_run_programs(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    code = (
        "import os, sys\n"
        "from prorl_verifiers.pool.confine import confine\n"
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


def test_frames_that_come_together_are_read_one_by_one() -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    try:
        frames.write(write, frames.encode({"a": 1}) + frames.encode({"b": "\ud800"}))
        reader = frames.Reader(read)
        assert reader.receive(limit=100) == {"a": 1} and reader.waiting
        assert reader.receive() == {"b": "\ud800"} and not reader.waiting
        os.write(write, b"\x00\x00\x00\x02[]")
        with pytest.raises(FrameError, match="object"):
            reader.receive()
        os.write(write, b"\x00\x00\xff\xff")
        with pytest.raises(FrameError, match="longer"):
            reader.receive(limit=100)
    finally:
        os.close(read)
        os.close(write)


def test_limits_that_are_set_already_are_never_raised() -> None:
    code = (
        "import resource\n"
        "for kind, size in ((resource.RLIMIT_AS, 3 << 29), (resource.RLIMIT_CPU, 300)):\n"
        "    resource.setrlimit(kind, (size, size))\n"
        "from prorl_verifiers import Task, verify\n"
        "print(verify(r'\\boxed{4}', Task('math', {'answer': '4'})).reward)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "1.0\n"


def test_root_without_capabilities_scores_all_the_same(
    template: WorkerTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(os, "chown", refuse)
    made = template.worker()
    try:
        assert ask(made, REQUEST | {"response": r"\boxed{4}"}, 30)["result"]["reward"] == 1.0
    finally:
        made.kill()


def test_a_request_that_fits_no_memory_is_a_limit_of_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exhausted(_: frames.Reader) -> None:
        raise MemoryError

    read, write = os.pipe()
    reader = frames.Reader(read)
    receive = frames.Reader.receive
    monkeypatch.setattr(frames.Reader, "receive", exhausted)
    monkeypatch.setattr(libraries, "_loading", libraries._loading)  # serve sets it
    serve(read, write, "none")
    assert receive(reader)["event"] == "ready"
    assert receive(reader) == {"limit": "memory limit"}
    os.close(read)
    os.close(write)
