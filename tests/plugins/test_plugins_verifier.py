from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from command_line import prorl as command
from pyarrow import parquet

from prorl_verifiers import VERIFIERS, TaskError, VerifierPool, load_task
from prorl_verifiers.adapters import make_trl_reward

pytestmark = pytest.mark.usefixtures("lab_parts")

CAT = {"verifier": "exact", "reference": {"answer": "cat"}}
PLUGIN = "lab-parts 1.0"


def prorl(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return command(cwd, *arguments)


def rows_file(folder: Path, *responses: str) -> Path:
    path = folder / "in.jsonl"
    rows = [{"id": at, "task": CAT, "response": text} for at, text in enumerate(responses)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_verifier_door_lists_it_beside_our_own() -> None:
    assert set(VERIFIERS.names()) >= {"exact", "math", "stem", "code", "logic", "instruction"}
    assert VERIFIERS.records(["exact", "math"]) == [
        {"group": "prorl.verifiers", "name": "exact", "source": "lab-parts", "version": "1.0"}
    ]


def test_verify_answer_explains_with_what_it_noted() -> None:
    asked = ("--verifier", "exact", "--gold", "cat", " cow\n", "--json", "--explain")
    run = prorl("verify", "answer", *asked)
    assert run.returncode == 0, run.stderr
    (finding,) = json.loads(run.stdout)["findings"]
    assert (finding["title"], finding["outcome"]) == ("letter by letter", "failed")
    assert finding["fields"] == [["answer", "cow"], ["gold", "cat"]]


def test_verify_answer_scores_with_it_in_a_confined_worker_and_names_it() -> None:
    run = prorl("verify", "answer", "--verifier", "exact", "--gold", "cat", " cat\n", "--json")
    assert run.returncode == 0, run.stderr
    verdict = json.loads(run.stdout)
    assert (verdict["reward"], verdict["status"]) == (1.0, "scored")
    assert verdict["metrics"] == {"plugin": PLUGIN}
    assert verdict["isolation"].startswith("worker:")


def test_verify_file_scores_with_it(tmp_path: Path) -> None:
    source = rows_file(tmp_path, "cat", "dog", "<think>dog</think> cat", "<think>cat")
    run = prorl("verify", "file", str(source))
    assert run.returncode == 0, run.stderr
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert [row["reward"] for row in rows] == [1.0, 0.0, 1.0, 0.0]
    assert rows[3]["status"] == "unparsable"
    assert {row["metrics"]["plugin"] for row in rows} == {PLUGIN}


def test_verify_audit_tries_the_generic_probes_on_its_tasks(tmp_path: Path) -> None:
    source = tmp_path / "tasks.jsonl"
    words = ("walnut", "almond", "cashew", "banana")
    tasks = [{"verifier": "exact", "reference": {"answer": word}} for word in words]
    source.write_text(
        "".join(
            json.dumps({"id": at, "task": task, "question": "Which nut?"}) + "\n"
            for at, task in enumerate(tasks)
        )
    )
    run = prorl("verify", "audit", "--file", str(source), "--rounds", "0", "--json")
    assert run.returncode == 0, run.stderr
    (group,) = json.loads(run.stdout)["groups"]
    assert group["verifier"] == "exact" and group["probes"] > 100
    assert group["best"]["earned"] == 0.25  # the constant "banana" earns no more than chance
    assert group["leaks"] == 0 and group["faults"] == []


def test_verify_audit_without_tasks_says_how_to_bring_some() -> None:
    run = prorl("verify", "audit", "--verifier", "exact")
    assert run.returncode == 2
    assert run.stderr == (
        "error: the verifier 'exact' has no tasks to audit: give some with --file ITEMS.jsonl\n"
    )


def test_verify_replay_scores_its_rollouts_again(tmp_path: Path) -> None:
    (tmp_path / "rollouts").mkdir()
    rows = [
        {
            "step": 1,
            "sample_id": "s",
            "sample_index": at,
            "verifier": "exact",
            "reference": json.dumps(CAT["reference"]),
            "response": response,
            "reward": 1.0,
            "status": "scored",
        }
        for at, response in enumerate(("cat", "dog"))
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "rollouts" / "step_000001.parquet")
    run = prorl("verify", "replay", str(tmp_path), "--json")
    found = json.loads(run.stdout)
    assert (found["rows"], found["agree"]) == (2, 1)
    assert [row["now"] for row in found["differences"]] == [0.0]


def post(service: str, items: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(service, timeout=60)
    body = json.dumps({"items": items})
    connection.request("POST", "/verify", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    found: dict[str, Any] = json.loads(response.read())
    connection.close()
    return response.status, found


@pytest.mark.slow
def test_verify_serve_scores_with_it_and_refuses_a_misspelt_one_with_the_nearest_names(
    tmp_path: Path,
) -> None:
    pytest.importorskip("starlette", reason="the extra 'server' is not installed")
    words = ("verify", "serve", "--port", "0", "--workers", "1")
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-m", "prorl_cli", *words],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as server,
    ):
        try:
            assert server.stdout is not None
            service = server.stdout.readline().strip().removeprefix("http://")
            scored = post(service, [{"task": CAT, "response": text} for text in ("cat", "dog")])
            refused = post(service, [{"task": CAT | {"verifier": "exactt"}, "response": "cat"}])
        finally:
            server.send_signal(signal.SIGTERM)
    assert (scored[0], refused[0]) == (200, 422)
    assert [row["reward"] for row in scored[1]["verdicts"]] == [1.0, 0.0]
    assert scored[1]["verdicts"][0]["metrics"] == {"plugin": PLUGIN}
    assert "unknown verifier 'exactt' (did you mean 'exact'?)" in refused[1]["error"]
    assert "exact (of lab-parts)" in refused[1]["error"]


def test_a_misspelt_verifier_is_a_task_error_when_the_task_is_loaded() -> None:
    with pytest.raises(TaskError, match=r"did you mean 'exact'.*exact \(of lab-parts\)"):
        load_task("exat", {"answer": "cat"})


def test_the_adapters_reward_with_it() -> None:
    with VerifierPool(1) as pool:
        reward = make_trl_reward(scorer=pool)
        tasks = [json.dumps(CAT)] * 2
        assert reward(prompts=["?"] * 2, completions=["cat", "dog"], task=tasks) == [1.0, 0.0]


def test_a_batch_of_it_and_of_ours_is_scored_together() -> None:
    exact, math = load_task("exact", {"answer": "cat"}), load_task("math", {"answer": "4"})
    with VerifierPool(2) as pool:
        verdicts = pool.score([("cat", exact), (r"\boxed{4}", math), ("dog", exact)] * 40)
        assert pool.stats.canary_failures == 0
    assert [verdict.reward for verdict in verdicts] == [1.0, 1.0, 0.0] * 40
    assert "plugin" not in verdicts[1].metrics


PROGRAMS = """
from prorl_verifiers import Score, Verdict, VerifierSpec
from prorl_sandbox import Limits, Program

def score(response, reference, sandbox):
    limits = Limits(wall_seconds=5.0)
    if reference["how"] == "print":
        told = sandbox.run(Program(response, stdin="3"), limits)
        return Score(float(told.stdout.strip() == reference["answer"]), told.status)
    if reference["how"] == "call":
        told = sandbox.run(Program(response, call="f", args=((1, 2), {"a": {3}}, 0.5)), limits)
        return Score(float(told.value == (2, {"a": {4}}, 1.0)), f"{told.status} {told.value}")
    if reference["how"] == "says-timeout":
        return Verdict(0.0, "timeout", "it ran too long")
    if reference["how"] == "check":
        test = "def check(candidate):\\n    assert candidate(2) == 4\\n"
        told = sandbox.run_check(Program(response), test, "f", limits)
        return Score(float(told.status == "ok"), told.status)
    told = sandbox.run(Program(response, language=reference["how"]), limits)
    return 1.0

SPEC = VerifierSpec(name="programs", score_in_sandbox=score)
"""


@pytest.mark.slow
def test_a_verifier_of_others_runs_programs_in_the_pools_sandbox_from_its_worker(
    tmp_path: Path,
) -> None:
    cases: list[tuple[str, str, float | None]] = [
        ("print", "print(int(input()) * 2)", 1.0),
        ("print", "import time; time.sleep(3); print(int(input()) * 2)", 1.0),
        ("print", "while True: pass", 0.0),
        ("says-timeout", "x", 0.0),
        ("call", "def f(a, b, c):\n    return (a[1], {'a': {max(b['a']) + 1}}, c * 2)", 1.0),
        ("check", "def f(n):\n    return n * n", 1.0),
        ("check", "def f(n):\n    return n", 0.0),
        ("cobolt", "x", None),
    ]
    (tmp_path / "programs.py").write_text(PROGRAMS)
    lines = []
    for at, (how, response, _) in enumerate(cases):
        task = {"verifier": "programs", "reference": {"how": how, "answer": "6"}}
        lines.append(json.dumps({"id": at, "task": task, "response": response}) + "\n")
    (tmp_path / "in.jsonl").write_text("".join(lines))
    words = (
        "file", "in.jsonl", "--plugin", "programs.py", "--workers", "1", "--allow-weak",
        "--timeout", "1",
    )  # fmt: skip
    run = prorl("verify", *words, cwd=tmp_path)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    for (how, _, reward), row in zip(cases, rows, strict=True):
        assert row["reward"] == reward, (row, run.stderr)
        assert (row["status"] == "infra_error") == (reward is None), row
        assert (row["status"] == "timeout") == (how == "says-timeout"), row
    assert "unknown language 'cobolt'" in rows[-1]["reason"]
