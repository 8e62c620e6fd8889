from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl as command
from command_line import prorl_apart

BAD = Path(__file__).parent / "misbehaving"


def prorl(*arguments: str) -> subprocess.CompletedProcess[str]:
    return command(None, "verify", *arguments)


def scored(
    folder: Path, plugin: str, verifier: str, responses: list[str], *arguments: str
) -> list[dict[str, Any]]:
    """Return the rows of ``verify file`` for responses scored by one verifier of the plug-in."""
    return scored_by(folder, plugin, [(verifier, text) for text in responses], *arguments)


def scored_by(
    folder: Path, plugin: str, responses: list[tuple[str, str]], *arguments: str
) -> list[dict[str, Any]]:
    """Return the rows of ``verify file`` for (verifier, response) pairs; a math item among them must score."""
    rows = []
    for at, (verifier, text) in enumerate(responses):
        task = {"verifier": verifier, "reference": {"answer": "a"}}
        rows.append({"id": at, "task": task, "response": text})
    ours: dict[str, Any] = {"verifier": "math", "reference": {"answer": "4"}}
    rows.append({"id": "math", "task": ours, "response": r"\boxed{4}"})
    source = folder / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = prorl("file", str(source), "--plugin", str(BAD / plugin), "--workers", "1", *arguments)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(found) == len(rows), run.stderr
    assert found.pop()["reward"] == 1.0
    broken = any(row["status"] == "infra_error" for row in found)
    assert run.returncode == (1 if broken else 0), run.stderr
    assert all(row["metrics"]["plugin"].startswith("sha256:") for row in found)
    return found


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        ("fails_to_import.py", "ModuleNotFoundError: No module named 'a_module_that_is_not_there'"),
        ("no_spec.py", "contains no spec: define one at module level"),
        (
            "no_score.py",
            "a name consists of lower-case letters, digits, - and _ (no_score.py, line 4)",
        ),
        ("named_like_ours.py", "verifier 'math' is defined twice, by prorl"),
        ("not_there.py", "cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_loaded_is_one_line_and_exit_2(plugin: str, words: str) -> None:
    run = prorl("answer", "--plugin", str(BAD / plugin), "--gold", "4", "4")
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    assert line.startswith("error: ") and words in line
    assert run.stdout == ""


def test_what_a_reference_lacks_is_one_line_and_exit_2() -> None:
    plugin = str(BAD / "bad_reference.py")
    run = prorl("answer", "--plugin", plugin, "--verifier", "word", "--gold", "4", "4")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "error: word: the reference needs 'word'\n"


NO_REWARD = {
    "two": "scorer failed: it returned 2.0: a reward must be between 0 and 1",
    "negative": "scorer failed: it returned -0.5: a reward must be between 0 and 1",
    "nan": "scorer failed: it returned nan: a reward must be between 0 and 1",
    "infinite": "scorer failed: it returned inf: a reward must be between 0 and 1",
    "none": "scorer failed: it returned None, not a number in [0, 1]",
    "text": "scorer failed: it returned '1.0', not a number in [0, 1]",
    "list": "scorer failed: it returned [1.0], not a number in [0, 1]",
    "score-nan": "scorer failed: it returned nan: a reward must be between 0 and 1",
    "metric-nan": "a worker sent no verdict: ValueError(\"metrics {'part': nan}\")",
    "metric-object": "scorer failed: the score is not JSON: Object of type object",
    "says-broken": "scorer failed: my judge is down",
    "raises": "scorer failed: KeyError: 'no such word' (rewards.py, line 29)",
    "finds-a-word": "scorer failed: OSError: no dictionary",
    "has-no-gold": "scorer failed: OSError: no dictionary",
    "leaves": "worker exit code 1: SystemExit: 0",
    "leaves-hard": "worker exit code 0",
    "writes-frames": "a worker sent no verdict",
    "unsteady": "its verifier gave a different verdict when it scored the item again, twice",
}
"""Verifier of the plug-in -> reason why its score is invalid."""


@pytest.fixture(scope="module")
def without_reward(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The rows of two answers per verifier in NO_REWARD, scored by one pool."""
    asked = [(verifier, text) for verifier in NO_REWARD for text in "ab"]
    rows = scored_by(tmp_path_factory.mktemp("scored"), "rewards.py", asked)
    return {name: rows[2 * at : 2 * at + 2] for at, name in enumerate(NO_REWARD)}


@pytest.mark.slow
@pytest.mark.parametrize("verifier", NO_REWARD)
def test_what_is_no_reward_is_an_infra_error(
    without_reward: dict[str, list[dict[str, Any]]], verifier: str
) -> None:
    for row in without_reward[verifier]:
        assert (row["reward"], row["status"]) == (None, "infra_error"), row
        assert NO_REWARD[verifier] in row["reason"]


BAD_ANSWERS = ("bad raise", "bad user", "bad none", "bad leave", "bad metrics")

PAIR = """
import random, sys
from prorl_common import use_plugins
from prorl_verifiers import Task, VerifierPool
random.Random.choice = lambda self, items: items[0]  # asks for the first item again
use_plugins([sys.argv[1]])
task = Task("writes-frames", {"answer": "a"})
with VerifierPool(1) as pool:
    print(*[verdict.status for verdict in pool.score([("a", task), ("b", task)])])
"""


def test_no_answer_behind_a_forged_frame_gets_the_reward_of_the_one_before() -> None:
    command = [sys.executable, "-c", PAIR, str(BAD / "rewards.py")]
    run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=170)
    assert run.stdout.split() == ["infra_error", "infra_error"]


def test_what_is_no_reward_beside_the_sandbox_is_an_infra_error_and_endless_memory_what_may_be_had(
    tmp_path: Path,
) -> None:
    reasons = {
        "two-in-sandbox": "scorer failed: ",
        "raises-in-sandbox": "scorer failed: ",
        "leaves-in-sandbox": "the pipe was closed by the other process",
    }
    asked = [(verifier, "a") for verifier in reasons]
    asked += [("lies-of-a-program", "huge"), ("lies-of-a-program", "good")]
    *rows, huge, good = scored_by(tmp_path, "rewards.py", asked, "--allow-weak")
    assert (huge["status"], good["reward"]) == ("scored", 1.0)
    for row, reason in zip(rows, reasons.values(), strict=True):
        assert (row["reward"], row["status"]) == (None, "infra_error"), row
        assert reason in row["reason"]


def test_a_plugin_that_never_ends_is_killed_also_beside_the_sandbox_and_the_answer_gets_nothing(
    tmp_path: Path,
) -> None:
    asked = [("sleeps", "sleep"), ("loops-in-sandbox", "loop")]
    asked += [("sleeps", "a"), ("loops-in-sandbox", "a")]
    rows = scored_by(tmp_path, "rewards.py", asked, "--allow-weak", "--timeout", "0.5")
    assert [(row["reward"], row["status"]) for row in rows[:2]] == [(0.0, "timeout")] * 2
    assert [row["reward"] for row in rows[2:]] == [1.0, 1.0]


@pytest.mark.slow
def test_a_worker_that_asks_for_what_is_no_program_fails_alone(tmp_path: Path) -> None:
    rows = scored(
        *(tmp_path, "rewards.py", "lies-of-a-program"),
        *(["no-source", "check", "more", "nothing", "good"], "--allow-weak"),
    )
    assert [row["reward"] for row in rows] == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert all(row["reason"] == "could not be judged" for row in rows[:4])


def test_an_answer_on_which_alone_a_verifier_fails_gets_nothing(tmp_path: Path) -> None:
    verifiers = (
        "fails-on-bad",
        "fails-on-bad-without-canaries",
        "fails-on-bad-in-sandbox",
        "combines-badly",
    )
    asked = [(name, text) for name in verifiers for text in BAD_ANSWERS]
    rows = scored_by(tmp_path, "rewards.py", asked, "--allow-weak")
    for row in rows:
        assert (row["reward"], row["status"]) == (0.0, "unparsable"), row
        assert row["reason"] == "could not be judged", row


def test_a_plugin_that_prints_disturbs_nobody_and_one_that_eats_memory_hits_its_limit(
    tmp_path: Path,
) -> None:
    printing = [("prints", text) for text in ["a", "b"] * 20]
    *rows, row = scored_by(tmp_path, "rewards.py", [*printing, ("eats", "a")])
    assert [row["reward"] for row in rows] == [1.0, 0.0] * 20
    assert (row["reward"], row["status"], row["reason"]) == (0.0, "timeout", "memory limit")


def test_a_plugin_that_fails_its_own_canary_gives_no_reward(tmp_path: Path) -> None:
    (row,) = scored(tmp_path, "wrong_canary.py", "wrong-canary", ["a"])
    assert (row["reward"], row["status"]) == (None, "infra_error"), row


def test_a_plugin_whose_canaries_raise_is_one_line_and_exit_2() -> None:
    plugin = str(BAD / "wrong_canary.py")
    run = prorl("answer", "--plugin", plugin, "--verifier", "raising-canary", "--gold", "a", "a")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.splitlines()[-1] == (
        "error: the verifier 'raising-canary' cannot create its canaries: RuntimeError: no canary today"
    )


def test_a_plugin_under_a_folder_that_nobody_may_enter_is_scored_with(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "packages").mkdir(mode=0o755)
    plugin = home / "mine.py"
    (home / "my_words.py").write_text("ANSWER = 'answer'\n")
    (home / "packages" / "my_helper.py").write_text("def same(a, b):\n    return a == b\n")
    plugin.write_text(
        "import my_words\n"
        "from prorl_verifiers import VerifierSpec\n"
        "def score(response, reference):\n"
        "    import my_helper\n"
        "    return my_helper.same(response, reference[my_words.ANSWER])\n"
        "SPEC = VerifierSpec(name='mine', score=score)\n"
    )
    asked = ("--plugin", str(plugin), "--verifier", "mine", "--gold", "a", "a", "--json")
    path = f"{home}{os.pathsep}{home / 'packages'}"
    run = prorl_apart(None, "verify", "answer", *asked, PYTHONPATH=path)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["reward"] == 1.0
