"""``prorl prove``: which stages run, which are kept, what a crash becomes; and the whole of it on the CPU (slow)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_cli.prove.kit import PROOF, ROWS, in_own_process, prove
from prorl_cli.prove.stage import Finding, Place, Result, Stage
from prorl_cli.prove.stages import STAGES, runs
from prorl_common import UserError


def place_in(folder: Path, seconds: float = 1000.0) -> Place:
    return Place(folder, "cpu", "a CPU", folder / "model", True, seconds)


class Bench:
    """Runs fake stages in this process and remembers which; ``found`` says what each finds (default: a pass)."""

    def __init__(self, found: dict[str, Finding] | None = None) -> None:
        self.ran: list[str] = []
        self.found = found or {}

    def __call__(self, stage: Stage, place: Place) -> Finding:
        self.ran.append(stage.name)
        return self.found.get(stage.name, Finding(True, f"{stage.name} is fine"))


def stage(name: str, after: tuple[str, ...] = (), lacks: str = "") -> Stage:
    return Stage(name, f"title of {name}", lambda _: Finding(True, ""), lambda _: lacks, after)


def statuses(results: Iterator[Result]) -> dict[str, str]:
    return {r.stage: r.status for r in results}


def test_a_stage_that_passed_is_not_run_again(tmp_path: Path) -> None:
    stages, place = [stage("one"), stage("two")], place_in(tmp_path)
    first = Bench({"two": Finding(False, "no")})
    assert statuses(prove(stages, place, run=first)) == {"one": "pass", "two": "fail"}
    second = Bench()
    assert statuses(prove(stages, place, run=second)) == {"one": "pass", "two": "pass"}
    assert (first.ran, second.ran) == (["one", "two"], ["two"])
    third = Bench()
    list(prove(stages, place, again=True, run=third))
    assert third.ran == ["one", "two"]


def test_a_proof_cut_off_between_two_stages_goes_on_with_the_second(tmp_path: Path) -> None:
    stages, place, bench = [stage("one"), stage("two")], place_in(tmp_path), Bench()
    next(prove(stages, place, run=bench))
    assert [s["stage"] for s in json.loads((tmp_path / PROOF).read_text())["stages"]] == ["one"]
    list(prove(stages, place, run=bench))
    assert bench.ran == ["one", "two"]


@pytest.mark.parametrize(
    "other", [{"device_name": "a GPU"}, {"tiny": False, "model": Path("large")}], ids=str
)
def test_a_result_of_another_device_or_model_is_not_taken_over(
    tmp_path: Path, other: dict[str, object]
) -> None:
    place, bench = place_in(tmp_path), Bench()
    list(prove([stage("one")], place, run=bench))
    list(prove([stage("one")], replace(place, **other), run=bench))  # type: ignore[arg-type]
    assert bench.ran == ["one", "one"]


def test_what_is_missing_is_said_and_what_builds_on_it_is_not_run(tmp_path: Path) -> None:
    stages = [stage("one", lacks="needs a GPU"), stage("two", after=("one",)), stage("three")]
    bench = Bench()
    results = list(prove(stages, place_in(tmp_path), run=bench))
    assert [(r.status, r.said) for r in results[:2]] == [
        ("needs", "needs a GPU"),
        ("needs", "needs stage one, which has not passed"),
    ]
    assert bench.ran == ["three"]


def test_no_stage_begins_once_the_time_is_up(tmp_path: Path) -> None:
    times = iter([0.0, 1.0, 500.0])
    results = list(
        prove(
            [stage("one"), stage("two")],
            place_in(tmp_path, 60.0),
            run=Bench(),
            clock=lambda: next(times),
        )
    )
    assert [r.status for r in results] == ["pass", "needs"]
    assert "the time is up" in results[1].said


def test_one_stage_alone_leaves_the_others_in_the_proof(tmp_path: Path) -> None:
    stages, place = [stage("one"), stage("two")], place_in(tmp_path)
    found = {"one": Finding(True, "fine", ratios={"update_flops": 0.4}, card={"flops": 1.0})}
    list(prove(stages, place, run=Bench(found)))
    again = {"two": Finding(True, "fine", ratios={"score_flops": 0.5})}
    assert [r.stage for r in prove(stages, place, ["two"], True, Bench(again))] == ["two"]
    proof = json.loads((tmp_path / PROOF).read_text())
    assert [s["stage"] for s in proof["stages"]] == ["one", "two"]
    assert proof["ratios"] == {"update_flops": 0.4, "score_flops": 0.5}
    assert proof["card"] == {"flops": 1.0}


def test_the_rows_for_the_status_page_name_machine_and_outcome(tmp_path: Path) -> None:
    found = {"one": Finding(False, "a | b")}
    list(prove([stage("one")], place_in(tmp_path), run=Bench(found)))
    rows = (tmp_path / ROWS).read_text()
    assert rows.startswith("On a CPU, tiny, prorl ")
    assert "| title of one | fail | a \\| b |" in rows


def test_a_stage_that_crashes_is_a_failed_stage_with_its_last_words(tmp_path: Path) -> None:
    found = in_own_process(stage("no-such-stage"), place_in(tmp_path))
    assert not found.passed
    assert "crashed (exit code 1)" in found.said and "StopIteration" in found.said


def test_a_stage_that_takes_too_long_is_killed_with_what_it_started(tmp_path: Path) -> None:
    found = in_own_process(stage("environment"), place_in(tmp_path, 0.05))
    assert (found.passed, "not done within" in found.said) == (False, True)


def test_a_stage_ends_with_the_command_that_started_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = (
        "import subprocess, sys, pathlib, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'prorl_cli.prove.stage_process', 'memory', 'a.json'],"
        " stdin=subprocess.PIPE, start_new_session=True)\n"  # it waits for its place
        "pathlib.Path('pid').write_text(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    until = time.monotonic() + 60
    while not (pid_file.exists() and _catches_term(int(pid_file.read_text() or 0))):
        assert time.monotonic() < until, "the stage did not start"
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    while Path(f"/proc/{pid_file.read_text()}/stat").exists() and time.monotonic() < until:
        if Path(f"/proc/{pid_file.read_text()}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.05)
    else:
        assert time.monotonic() < until, "the stage is still there"


def _catches_term(pid: int) -> bool:
    """Return whether the process has set a handler for SIGTERM."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if pid and status.exists() else []
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt")), "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def test_a_users_mistake_in_a_stage_is_its_finding(tmp_path: Path) -> None:
    found = in_own_process(stage("memory"), place_in(tmp_path))  # there is no model
    assert not found.passed
    assert "model" in found.said and "crashed" not in found.said


def test_what_needs_a_gpu_says_so_on_a_cpu(tmp_path: Path) -> None:
    said = {s.name: s.needs(place_in(tmp_path)) for s in STAGES}
    lacking = {name for name, why in said.items() if why == "needs a GPU"}
    assert lacking == {"vllm", "evaluation-vllm", "openrlhf"}


def test_what_needs_a_package_names_how_it_is_installed(tmp_path: Path) -> None:
    place = replace(place_in(tmp_path), device="cuda")
    vllm = next(s for s in STAGES if s.name == "vllm").needs(place)
    assert vllm.startswith("needs the package: pip install") and "prorl[vllm]" in vllm


def test_a_stage_comes_after_those_it_reads() -> None:
    names = [s.name for s in STAGES]
    assert all(names.index(s.name) > names.index(b) for s in STAGES for b in s.after)


def journals(**changed: object) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Return the metrics and decisions of a run that went as it should, with step 7 changed."""
    rows: list[dict[str, object]] = [
        {
            "step": s,
            "kl": 0.01 * ((s - 1) % 6),
            "length_penalty_active": 4 <= s < 8 or 14 <= s < 18,
            "tokens_per_second": 5.0,
        }
        for s in range(1, 21)
    ]
    rows[6] |= changed
    return rows, [{"kind": "reference_reset", "step": s} for s in (6, 12, 18)]


def test_a_run_with_every_step_reset_and_window_passes() -> None:
    metrics, decisions = journals()
    metrics[3]["mismatch_kl"] = 0.004  # a step without an update has none
    found = runs.read_journals(0, metrics, decisions, 1.0)
    assert found.passed, found.said
    assert found.figures["mismatch_kl"] == 0.004


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda m, d: m.pop(), "steps"),
        (lambda m, d: d.pop(), "resets after steps"),
        (lambda m, d: m[6].update(length_penalty_active=False), "penalty at steps"),
        (lambda m, d: m[6].update(kl=0.2), "KL 0.05 before a reset and 0.2 after it"),
    ],
    ids=["step", "reset", "window", "kl"],
)
def test_a_run_that_lacks_something_says_what(
    spoil: Callable[[list[dict[str, object]], list[dict[str, object]]], object], said: str
) -> None:
    metrics, decisions = journals()
    spoil(metrics, decisions)
    found = runs.read_journals(0, metrics, decisions, 1.0)
    assert (found.passed, said in found.said) == (False, True), found.said


def test_a_killed_run_on_a_cpu_must_have_learned_what_an_undisturbed_one_has() -> None:
    metrics = [{"step": s, "reward_mean": 0.5, "kl": 0.1, "seconds": 1.0} for s in range(1, 21)]
    whole = [row | {"seconds": 2.0} for row in metrics]
    found = Finding(True, "said")
    assert runs.beside(found, metrics, whole, exact=True).passed
    whole[7] = whole[7] | {"reward_mean": 0.25}
    for exact in (True, False):
        beside = runs.beside(found, metrics, whole, exact)
        assert beside.passed is not exact
        assert beside.figures == {"steps_equal": 19, "reward_gap": 0.25}
    assert not runs.beside(found, metrics, whole[:-1], exact=True).passed


def test_an_unknown_stage_is_named_with_the_nearest(tmp_path: Path) -> None:
    command = ["prove", "gpu", "--stage", "vlm", "--out", str(tmp_path / "p")]
    result = CliRunner().invoke(build_app(), command)
    assert isinstance(result.exception, UserError)
    assert "did you mean 'vllm'" in str(result.exception)
    assert not (tmp_path / "p").exists()


@pytest.mark.slow
def test_the_whole_proof_passes_on_a_cpu_and_goes_on_where_it_was(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "prorl_cli", "prove", "gpu", "--device", "cpu", "--json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    for _ in range(2):
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, done.stderr
        proof = json.loads(done.stdout)
        found = {s["stage"]: s["status"] for s in proof["stages"]}
        gpu = {"vllm", "evaluation-vllm", "openrlhf"}
        assert {name for name, status in found.items() if status == "needs"} == gpu
        assert {status for name, status in found.items() if name not in gpu} == {"pass"}
        (run,) = (s for s in proof["stages"] if s["stage"] == "run")
        assert 0 <= run["figures"]["mismatch_kl"] < 1e-3
    assert "...      " not in done.stderr  # nothing ran again
