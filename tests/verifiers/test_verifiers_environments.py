from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from doubles import converse
from doubles import tool_call as call

from prorl_common import NullProgress
from prorl_common.interrupts import started_processes
from prorl_datasets import Sample, build, load, load_recipe
from prorl_sandbox import open_sandbox
from prorl_verifiers import Task, VerifierPool, next_task, no_isolation
from prorl_verifiers.environments import tools
from prorl_verifiers.environments.tools import TextSearch, answer_calls, calculator, python_session

RECIPE = """
name: environments
description: the three
seed: 1
decontamination: {benchmarks: []}
entries:
  - {name: sums, domain: math, verifier: tool-arithmetic, count: {train: 8},
     source: {kind: procedural, family: multiply, levels: [3]}}
  - {name: programs, domain: code, verifier: repair-code, count: {train: 2},
     source: {kind: procedural, family: coin_rules}}
  - {name: puzzles, domain: logic, verifier: reasoning-gym, count: {train: 2},
     source: {kind: reasoning_gym, task: number_sequence}}
"""
needs_sandbox = pytest.mark.skipif(no_isolation() is not None, reason="no isolation here")
Player = Callable[[Sample, int, str], str]
"""Takes (sample, turn, the environment's last message) and returns a response."""


@pytest.mark.parametrize(
    ("response", "result"),
    [
        (call("calculator", expression="12 * (3 + 4) / 5"), "16.8"),
        (call("calculator", expression="98765 * 4321"), "426763565"),
        (call("calculator", expression="1/3") + call("calculator", expression="2^10"), "1024"),
        (call("calculator", expression="1/0"), "error: cannot evaluate '1/0'"),
        (call("calculator", expression="-7 % 3"), "are ambiguous"),
        (call("calculator", expression="2**3**2"), "are ambiguous"),
        (call("calculator", expression="x + 1"), "error: cannot evaluate 'x + 1'"),
        (call("calculator", expression="2^1000000"), "error: cannot evaluate '2^1000000'"),
        (call("calculator", expression="__import__('os')"), "cannot evaluate"),
        (call("calculator", text="1"), "error: the argument 'expression' must be a string"),
        (call("calculater", expression="1"), "error: unknown tool 'calculater': the tools are"),
        ("<tool_call>{</tool_call>", "error: the call is not"),
        ("<tool_call>[1]</tool_call>", "error: a call must be an object"),
        ("<tool_call>" + "[" * 100_000 + "</tool_call>", "error: the call is"),
        ('<tool_call>{"name": "calculator"', "error: the call is not"),
        (call("long"), "xxxx ... (6000 more)"),
        (call("silent"), "(no output)"),
    ],
)
def test_a_call_is_answered_with_its_result_or_the_reason(response: str, result: str) -> None:
    tools = {"calculator": calculator, "long": lambda _: "x" * 10_000, "silent": lambda _: ""}
    message = answer_calls(response, tools)[-1]
    assert message["role"] == "tool" and result in message["content"]


def test_a_search_finds_the_paragraphs_with_the_rarest_words_of_the_query(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The sea is blue.\n\nThe sea has tides.\n\nThe moon is far.")
    search = TextSearch(tmp_path, most=1)
    assert search({"query": "the tides"}) == "a.txt: The sea has tides."
    assert search({"query": "nowhere"}) == "nothing found"


@needs_sandbox
def test_a_python_session_is_rebuilt_by_its_calls_without_those_that_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "CALL_SECONDS", 2.0)
    calls: list[str] = []
    with closing(open_sandbox()) as sandbox:

        def run(code: str) -> str:
            return python_session(calls, {"code": code}, sandbox)

        assert run("import random\nx = random.random()\nprint('hi')\nx < 1") == "hi\nTrue\n"
        assert run("while True: pass") == "timed out after 2 s"
        assert run("print(1)\nx = y") == "1\nNameError: name 'y' is not defined"
        first, second = run("x"), run("x")
    assert first == second and len(calls) == 4  # the same seed each time


def kill_program(killed: list[int]) -> None:
    """Kill the process of a box that has computed for 0.2 seconds."""
    while not killed:
        for process in map(Path, (f"/proc/{pid}" for pid in started_processes(os.getpid()))):
            with contextlib.suppress(OSError):
                state, *fields = (process / "stat").read_text().rpartition(")")[2].split()
                is_box = b"namespaces/template.py" in (process / "cmdline").read_bytes()
                if is_box and state == "R" and int(fields[10]) >= 20:
                    os.kill(int(process.name), signal.SIGKILL)
                    killed.append(int(process.name))
        time.sleep(0.01)


@needs_sandbox
def test_a_session_that_is_killed_from_outside_is_rebuilt_and_the_conversation_goes_on(
    pool: VerifierPool, samples: list[Sample]
) -> None:
    (sample, *_) = (s for s in samples if s.task.verifier == "repair-code")
    busy = "import time\nend = time.time() + 1\nwhile time.time() < end: pass\nx + 1"
    said = [call("python", code="x = 41"), call("python", code=busy), call("python", code="x")]
    killed: list[int] = []
    killer = threading.Thread(target=kill_program, args=(killed,))
    last = str(sample.metadata["gold_response"])
    start = lambda turn: killer.start() if turn == 1 else None
    verdict, told = converse(pool, "repair-code", sample.task.reference, [*said, last], start)
    killer.join()
    assert (verdict.reward, told) == (1.0, ["(no output)", "42\n", "41\n"])
    assert len(killed) == 1


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    folder = tmp_path_factory.mktemp("environments")
    (folder / "recipe.yaml").write_text(RECIPE)
    build(load_recipe(str(folder / "recipe.yaml")), folder / "data", progress=NullProgress())
    return load(folder / "data")


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with VerifierPool(workers=1) as opened:
        yield opened


def play(pool: VerifierPool, sample: Sample, player: Player, turns: int = 4) -> tuple[float, int]:
    """Return the reward and the number of responses."""
    state, message = None, ""
    for turn in range(1, turns + 1):
        task = next_task(sample.task, state, last=turn == turns)
        verdict = pool.score([(player(sample, turn, message), task)])[0]
        if verdict.turn is None:
            assert verdict.reward is not None, verdict.reason
            return verdict.reward, turn
        state, message = verdict.turn.state, verdict.turn.messages[-1]["content"]
    raise AssertionError("the last turn had no reward")


def test_arithmetic_counts_calls_and_those_that_failed(pool: VerifierPool) -> None:
    task = Task("tool-arithmetic", {"answer": "14"})
    response = call("calculator", expression="2 *") + "\\boxed{14}"
    verdict = pool.score([(response, next_task(task, None, last=True))])[0]
    assert (verdict.reward, verdict.metrics) == (1.0, {"calls": 1.0, "failed_calls": 1.0})


def perfect(sample: Sample, turn: int, message: str) -> str:
    """Try something wrong first, then use the result or the known answer."""
    if sample.task.verifier == "tool-arithmetic":
        factors = re.findall(r"\d+", sample.prompt[0]["content"])[:2]
        return (
            call("calculator", expression="*".join(factors))
            if turn == 1
            else f"\\boxed{{{message}}}"
        )
    wrong = {"repair-code": "```python\nprint(1 / 0)\n```", "reasoning-gym": "<answer>x</answer>"}
    if turn == 1:
        return wrong[sample.task.verifier]
    assert ("ZeroDivisionError" in message) or ("earns" in message)
    return str(sample.metadata["gold_response"])


def stubborn(sample: Sample, turn: int, message: str) -> str:
    return call("calculator", expression="1") + call("python", code="1") + "<answer>x</answer>"


@needs_sandbox
@pytest.mark.parametrize("verifier", ["tool-arithmetic", "repair-code", "reasoning-gym"])
def test_a_perfect_player_solves_in_two_turns_and_one_that_only_calls_ends_with_0(
    pool: VerifierPool, samples: list[Sample], verifier: str
) -> None:
    own = [sample for sample in samples if sample.task.verifier == verifier]
    assert own and all(play(pool, sample, perfect) == (1.0, 2) for sample in own)
    assert play(pool, own[0], stubborn) == (0.0, 4)
