from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from prorl_common import PluginError, plugins
from prorl_verifiers import (
    VERIFIERS,
    EnvironmentSpec,
    Task,
    TaskError,
    Verdict,
    VerifierPool,
    load_task,
    next_task,
    no_isolation,
    replay_run,
    runs_programs,
    verdict_row,
)
from prorl_verifiers.remote_pool import read_verdict

MISBEHAVING = Path(__file__).parents[1] / "plugins" / "misbehaving" / "environments.py"
TURNS, PROGRAMS = Task("turns", {}), Task("programs", {})
SAID = [("assistant", "go"), ("user", "turn 0"), ("assistant", "go"), ("user", "other")]
SAID += [("assistant", "end")]


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "_LOADED", plugins._Loaded())
        patch.delenv(plugins.ENVIRONMENT, raising=False)
        plugins.use_plugins([MISBEHAVING])
        with VerifierPool(workers=1, timeout_seconds=2.0) as opened:
            yield opened


def score(pool: Any, task: Task, response: str, state: Any = None, last: bool = False) -> Verdict:
    verdict: Verdict = pool.score([(response, next_task(task, state, last))])[0]
    return verdict


@pytest.mark.parametrize(
    ("responses", "last", "reward"),
    [
        (["end"], False, 1.0),
        (["go", "go", "end"], False, 0.5),
        (["go"], True, 1.0),
        (["go", "go", "go"], True, 0.5),
        (["<think>go</think>end"], False, 1.0),
    ],
)
def test_a_conversation_goes_on_until_the_environment_or_a_limit_ends_it(
    pool: VerifierPool, responses: list[str], last: bool, reward: float
) -> None:
    state = None
    for number, response in enumerate(responses[:-1]):
        verdict = score(pool, TURNS, response, state)
        assert (verdict.status, verdict.reward, verdict.is_infra_error) == (
            "unfinished",
            None,
            False,
        )
        assert verdict.turn is not None
        assert verdict.turn.messages == [{"role": "user", "content": f"turn {number}"}]
        state = verdict.turn.state
    verdict = score(pool, TURNS, responses[-1], state, last)
    assert (verdict.status, verdict.reward, verdict.turn) == ("scored", reward, None)
    assert verdict.reason == f"{len(responses)} turns"


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        ("raise", "infra_error", "RuntimeError: broken"),
        ("die", "infra_error", "worker exit code 3"),
        ("hang", "timeout", "no verdict after 2 s"),
        ("list", "infra_error", "a state must be a JSON object"),
        ("set", "infra_error", "its turn is invalid"),
        ("large", "infra_error", "a state may have at most 1000000 characters"),
        ("silent", "infra_error", "a turn needs a list of messages"),
        ("assistant", "infra_error", "a message needs the role user or tool"),
        ("shout", "infra_error", "the messages of a turn may have at most 200000 characters"),
        ("text", "infra_error", "a turn needs a list of messages"),
    ],
)
def test_a_broken_environment_never_gives_a_reward_of_0(
    pool: VerifierPool, response: str, status: str, reason: str
) -> None:
    verdict = score(pool, TURNS, response)
    assert (verdict.status, verdict.reward) == (status, 0.0 if status == "timeout" else None)
    assert reason in verdict.reason
    assert score(pool, TURNS, "end").reward == 1.0


def test_an_environment_that_gives_other_results_for_equal_arguments_is_found(
    pool: VerifierPool,
) -> None:
    score(pool, TURNS, "die")  # a new worker asks one item twice
    verdict = score(pool, TURNS, "random")
    assert verdict.is_infra_error
    assert "a different verdict when it scored the item again" in verdict.reason


@pytest.mark.skipif(no_isolation() is not None, reason="programs cannot be isolated here")
def test_an_environment_may_run_programs(pool: VerifierPool) -> None:
    assert runs_programs(PROGRAMS)
    first = score(pool, PROGRAMS, "print(6 * 7)")
    assert first.turn is not None and first.turn.messages[0] == {"role": "tool", "content": "42\n"}
    last = score(pool, PROGRAMS, "print(1)", first.turn.state, last=True)
    assert (last.status, last.reward) == ("scored", 1.0)
    assert score(pool, PROGRAMS, "raise").is_infra_error


def test_a_reward_server_carries_turns(pool: VerifierPool) -> None:
    verdict = score(pool, TURNS, "go")
    row = verdict_row(None, verdict) | {"isolation": verdict.isolation}
    assert replace(read_verdict(json.loads(json.dumps(row))), seconds=verdict.seconds) == verdict
    with pytest.raises(TypeError, match="a state must be a JSON object"):
        read_verdict(row | {"turn": {"state": [], "messages": []}})


def test_a_replay_gives_the_responses_again_and_counts_answers_that_differ(
    pool: VerifierPool, tmp_path: Path
) -> None:
    (tmp_path / "rollouts").mkdir()
    turns = [{"role": role, "content": text} for role, text in SAID]
    row = {"step": 1, "sample_id": "s", "verifier": "turns", "reference": "{}", "response": "end"}
    rows = [
        row | {"sample_index": i, "status": "scored", "turns": json.dumps(turns), "reward": reward}
        for i, reward in enumerate((0.5, 1.0))
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "rollouts" / "step_000001.parquet")
    found = replay_run(tmp_path, pool)
    assert (found.rows, found.agree, found.answers, found.changed) == (2, 1, 4, 2)
    assert [difference["sample_index"] for difference in found.differences] == [1]


@pytest.mark.parametrize(
    ("verifier", "reference", "words"),
    [
        ("turns", {"turn": 3}, "'turn' must be"),
        ("turns", {"turn": {"state": []}}, "'turn' must be"),
        ("turns", {"turn": {"sate": {}}}, "'turn' must be"),
        (
            "composite",
            {"parts": [{"verifier": "turns", "reference": {}}]},
            "turns is an environment, which cannot be a part",
        ),
    ],
)
def test_a_malformed_turn_is_a_task_error(
    pool: VerifierPool, verifier: str, reference: dict[str, Any], words: str
) -> None:
    with pytest.raises(TaskError, match=words):
        load_task(verifier, reference)


def test_an_environment_has_one_way_to_step() -> None:
    spec = VERIFIERS.get("reasoning-gym")
    assert spec.is_environment and not VERIFIERS.get("math").is_environment
    assert isinstance(spec, EnvironmentSpec) and replace(spec, name="two").score is not None
    for ways in ({"step": None}, {"step_in_sandbox": lambda state, response, sandbox: None}):
        with pytest.raises(PluginError, match="'reasoning-gym' needs exactly one of step=FUNCTION"):
            replace(spec, **ways)
