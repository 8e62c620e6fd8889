import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from command_line import prorl as command
from pyarrow import parquet
from typer.testing import CliRunner

from prorl_cli.verify.app import app as verify_app


def prorl(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return command(cwd, "verify", *args)


def line(number: int, response: str, verifier: str = "math", **reference: object) -> str:
    task = {"verifier": verifier, "reference": reference or {"answer": "4"}}
    return json.dumps({"id": f"row-{number}", "task": task, "response": response})


def test_answer_prints_one_json_verdict() -> None:
    run = prorl("answer", "--verifier", "math", "--gold", "1/2", "so \\boxed{0.5}", "--json")
    assert run.returncode == 0, run.stderr
    verdict = json.loads(run.stdout)
    assert (verdict["reward"], verdict["status"], verdict["extracted"]) == (1.0, "scored", "0.5")


def test_a_wrong_answer_is_not_a_failing_command() -> None:
    run = prorl("answer", "--gold", "1", "\\boxed{2}")
    assert run.returncode == 0
    assert run.stdout.startswith("reward 0 · scored")


def test_answer_explains_the_verdict_in_plain_lines_that_cannot_steer_a_terminal() -> None:
    response = "```python\nprint('\\x1b[31m')\n```"
    tests = json.dumps({"tests": [{"stdin": "", "stdout": "1\n2\n"}]})
    asked = ("answer", "--explain", "--verifier", "code", "--reference", tests, response)
    run = prorl(*asked)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0].startswith("reward 0 · scored") and "test 1: failed" in lines
    at = lines.index("  expected: 1")
    assert lines[at : at + 3] == ["  expected: 1", "    2", "  got: \\x1b[31m"]
    document = json.loads(prorl(*asked, "--json").stdout)
    assert (document["status"], document["outcome"]) == ("scored", "failed")
    assert [one["title"] for one in document["findings"]] == ["answer", "test 1"]


def test_texts_of_an_explanation_are_no_markup() -> None:
    run = prorl("answer", "--explain", "--gold", "2", "\\boxed{[bold]3[/bold]}")
    assert run.returncode == 0, run.stderr
    assert "answer (characters 7 to 21)" in run.stdout
    assert "compared with the gold: failed" in run.stdout
    assert "answer: [bold]3[/bold]" in run.stdout


def test_file_fails_where_another_reward_comes_out_than_a_line_expects(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    rows = [json.loads(line(at, "\\boxed{4}")) for at in range(3)]
    rows[0]["expected_reward"], rows[1]["expected_reward"] = 1, 0.5
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = prorl("file", str(source))
    assert run.returncode == 1
    assert "row-1: expected 0.5, got 1.0" in run.stderr and "row-0" not in run.stderr
    assert "1 of 2 expected rewards" in run.stderr
    assert [json.loads(text)["reward"] for text in run.stdout.splitlines()] == [1, 1, 1]
    del rows[1]["expected_reward"]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert prorl("file", str(source)).returncode == 0
    rows[1]["expected_reward"] = "right"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = prorl("file", str(source))
    assert run.returncode == 2 and "'expected_reward' must be a number from 0 to 1" in run.stderr


def test_file_keeps_the_order_and_writes_the_contracts_fields(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = [line(i, f"\\boxed{{{i}}}") for i in range(8)] + [line(8, "no box")]
    source.write_text("\n".join(lines) + "\n")
    run = prorl("file", str(source), "--out", str(out))
    assert run.returncode == 0, run.stderr
    rows = [json.loads(text) for text in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"row-{i}" for i in range(9)]
    assert [row["reward"] for row in rows] == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    names = ["id", "reward", "status", "reason", "extracted", "metrics", "seconds"]
    assert list(rows[0]) == names
    assert rows[8]["status"] == "unparsable"
    assert "9 responses" in run.stderr


def test_a_malformed_line_stops_before_anything_is_written(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    bad = line(1, "x", "code", tests=[])
    source.write_text(line(0, "\\boxed{4}") + "\n" + bad + "\n")
    run = prorl("file", str(source), "--out", str(out))
    assert run.returncode == 2
    assert f"{source}:2: " in run.stderr and "at least one test" in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1
    assert not out.exists()


def test_bad_rows_are_skipped_when_asked_and_the_first_are_named(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    bad = ["{", "[1]", '{"id": 1, "response": "x"}', line(1, "x", "maths"), "7", "8", "9"]
    source.write_text("\n".join([line(0, "\\boxed{4}"), *bad, line(9, "\\boxed{5}")]) + "\n")
    run = prorl("file", str(source), "--out", str(out), "--on-bad-row", "skip")
    assert run.returncode == 0, run.stderr
    rows = [json.loads(text) for text in out.read_text().splitlines()]
    assert [(row["id"], row["reward"]) for row in rows] == [("row-0", 1.0), ("row-9", 0.0)]
    said = run.stderr.strip().splitlines()
    assert [
        f"skipped {source}:{n}: " in text for n, text in zip(range(2, 7), said, strict=False)
    ] == [True] * 5
    assert "no 'task'" in said[2] and "did you mean 'math'" in said[3]
    assert "skipped 2 more bad rows" in said
    assert "2 responses" in said[-1] and "7 bad rows skipped" in said[-1]
    assert "mean reward 0.5000" in said[-1]


def test_skipping_is_not_said_where_every_row_is_good(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(line(0, "\\boxed{4}") + "\n")
    run = prorl("file", str(source), "--on-bad-row", "skip")
    assert run.returncode == 0 and "skipped" not in run.stderr


def test_a_file_that_is_missing_is_a_mistake_though_bad_rows_are_skipped(tmp_path: Path) -> None:
    run = prorl("file", str(tmp_path / "none.jsonl"), "--on-bad-row", "skip")
    assert run.returncode == 2 and "no such file" in run.stderr


def write_rollouts(run: Path, rewards: list[float | None]) -> None:
    rows = [
        {
            "step": 1,
            "sample_id": f"s{i}",
            "sample_index": 0,
            "domain": "math",
            "verifier": "math",
            "reference": '{"answer":"4"}',
            "response": f"\\boxed{{{4 + i}}}",
            "reward": reward,
            "status": "scored" if reward is not None else "infra_error",
        }
        for i, reward in enumerate(rewards)
    ]
    (run / "rollouts").mkdir(parents=True)
    parquet.write_table(pa.Table.from_pylist(rows), run / "rollouts" / "step_000001.parquet")


def test_replay_agrees_with_honest_rewards(tmp_path: Path) -> None:
    write_rollouts(tmp_path / "runs" / "good", [1.0, 0.0, None])
    run = prorl("replay", "good", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "2 of 3 rewards agree (1 had none recorded)" in run.stdout


def test_replay_names_rewards_that_do_not_come_out_again(tmp_path: Path) -> None:
    write_rollouts(tmp_path / "bad", [0.0, 0.0])
    run = prorl("replay", str(tmp_path / "bad"))
    assert run.returncode == 1
    assert "step 1 s0#0 math: recorded 0.0, now 1.0" in run.stdout


def test_a_template_that_opens_the_thinking_is_an_option(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(line(1, "\\boxed{4}") + "\n" + line(2, "hm</think>\\boxed{4}") + "\n")
    run = prorl("file", str(source), "--think-open")
    assert [json.loads(row)["status"] for row in run.stdout.splitlines()] == [
        "unparsable",
        "scored",
    ]
    run = prorl("answer", "--gold", "4", "\\boxed{4}", "--think-open", "--json")
    assert json.loads(run.stdout)["status"] == "unparsable"


def test_a_mode_is_given_by_verifier() -> None:
    run = prorl("answer", "--gold", "1/2", "\\boxed{0.5}", "--mode", "math=math-verify", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["reward"] == 1.0


def test_what_an_answer_holds_cannot_steer_the_terminal_or_stop_the_command() -> None:
    run = prorl("answer", "--gold", "4", "\\boxed{\x1b[31m\udcff}")
    assert run.returncode == 0, run.stderr
    assert "\x1b" not in run.stdout and "\\x1b[31m\\udcff" in run.stdout
    run = prorl("answer", "--gold", "4", "\\boxed{\udcff}", "--json")
    assert json.loads(run.stdout)["extracted"] == "\udcff"


def test_a_file_with_a_response_that_has_no_verdict_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(line(0, "\\boxed{4}") + "\n")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    result = CliRunner().invoke(verify_app, ["file", str(source), "--out", str(out)])
    assert result.exit_code == 1
    assert json.loads(out.read_text())["reward"] is None


def test_replay_of_a_file_that_is_no_parquet_is_a_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "rollouts").mkdir()
    (tmp_path / "rollouts" / "step_000001.parquet").write_text("junk")
    run = prorl("replay", str(tmp_path))
    assert run.returncode == 2 and "not a readable Parquet file" in run.stderr
