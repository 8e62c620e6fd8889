from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl
from hypothesis import given
from hypothesis import strategies as st

from prorl_common import UserError
from prorl_verifiers import (
    VERIFIERS,
    PoolClosedError,
    Task,
    TaskError,
    Verdict,
    VerifierPool,
    load_task,
    part_records,
    runs_programs,
    tasks_in,
    verify,
    with_mode,
)
from prorl_verifiers.adapters.openrlhf import rollout_item
from prorl_verifiers.adapters.verl import verl_task
from prorl_verifiers.composite import MAX_PARTS
from prorl_verifiers.pool.composed import put_together

MATH: dict[str, Any] = {"verifier": "math", "reference": {"answer": "4"}}
NO_COMMA: dict[str, Any] = {
    "verifier": "instruction",
    "name": "style",
    "reference": {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]},
}
CODE: dict[str, Any] = {"verifier": "code", "reference": {"tests": [{"stdin": "", "stdout": "4"}]}}
RIGHT_CODE = "\n```python\nprint(4)\n```"
BROKEN: dict[str, Any] = {"verifier": "math", "name": "broken", "reference": {}}
"""Its reference lacks the answer."""


def composite(*parts: dict[str, Any], **more: Any) -> Task:
    return load_task("composite", {"parts": list(parts), **more})


# ---------------------------------------------------------------------------------------- references


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ({}, "'parts' must be a list of 1 to 64 parts"),
        ({"parts": []}, "'parts' must be a list of 1 to 64 parts"),
        ({"parts": [MATH] * (MAX_PARTS + 1)}, "'parts' must be a list of 1 to 64 parts"),
        ({"parts": ["math"]}, "part 1: it must be an object"),
        ({"parts": [{"reference": {}}]}, "part 1: it needs 'verifier'"),
        ({"parts": [{"verifier": "math", "reference": "4"}]}, "part 1: it needs a 'reference'"),
        ({"parts": [MATH | {"wieght": 1}]}, "unknown key 'wieght'.*did you mean 'weight'"),
        ({"parts": [MATH | {"weight": -1}]}, "its weight -1.0 must be a finite number, 0 or more"),
        ({"parts": [MATH | {"weight": float("nan")}]}, "its weight nan must be a finite number"),
        ({"parts": [MATH | {"weight": 10**400}]}, "its weight inf must be a finite number"),
        ({"parts": [MATH | {"weight": True}]}, "its weight True is not a number"),
        ({"parts": [MATH | {"weight": 0}]}, "the weights are all 0"),
        ({"parts": [MATH | {"name": "a.b"}]}, "its name 'a.b' must be letters"),
        ({"parts": [MATH, MATH]}, "two parts are called 'math': give each its own 'name'"),
        ({"parts": [MATH | {"verifier": "maths"}]}, "part 'maths': .*did you mean 'math'"),
        ({"parts": [BROKEN]}, "part 'broken': math: the reference needs 'answer'"),
        (
            {"parts": [MATH], "gate": ["maht"]},
            "the gate names 'maht', which is not a part.*did you mean 'math'",
        ),
        ({"parts": [MATH], "gate": []}, "'gate' must be true, a list of names"),
        ({"parts": [MATH], "gate": "math"}, "'gate' must be true, a list of names"),
        ({"parts": [MATH], "gate": {"math": 0}}, "gate 'math': its minimum reward must be above 0"),
        ({"parts": [MATH], "gate": {"math": 1.5}}, "must be above 0 and at most 1"),
        ({"parts": [MATH], "gates": True}, "unknown key 'gates'"),
        ({"parts": [MATH], "modes": {"maths": "either"}}, "'modes': .*did you mean 'math'"),
        ({"parts": [MATH], "modes": {"math": "x"}}, "unknown mode 'x' of math"),
        ({"parts": [MATH], "modes": "either"}, "'modes' must be an object"),
        (
            {"parts": [{"verifier": "composite", "reference": {"parts": [MATH]}}]},
            "composed verifier",
        ),
    ],
)
def test_a_malformed_reference_is_one_clear_line(reference: dict[str, Any], words: str) -> None:
    with pytest.raises(TaskError, match=words) as caught:
        load_task("composite", reference)
    assert str(caught.value).startswith("composite: ") and "\n" not in str(caught.value)


def test_what_a_table_has_no_value_for_is_as_if_left_out() -> None:
    parts = [MATH | {"weight": None, "name": None}]
    task = load_task("composite", {"parts": parts, "gate": None})
    assert tasks_in(task) == [Task("math", {"answer": "4"})]


def test_a_task_runs_programs_where_one_of_its_parts_does() -> None:
    assert runs_programs(composite(MATH, CODE)) and not runs_programs(composite(MATH, NO_COMMA))
    assert runs_programs(load_task("code", CODE["reference"])) and not runs_programs(
        Task("math", {})
    )


def test_modes_are_handed_to_parts_that_name_none() -> None:
    own = {"verifier": "math", "name": "own", "reference": {"answer": "4", "mode": "ours"}}
    task = with_mode(composite(MATH, own, NO_COMMA), {"math": "either", "logic": "reference"})
    assert [part.reference.get("mode") for part in tasks_in(task)] == ["either", "ours", None]
    assert task == load_task("composite", task.reference_json())
    assert with_mode(task, {"math": "ours"}) is task
    plain = composite(NO_COMMA)
    assert with_mode(plain, {"math": "either"}) is plain


def test_parts_of_others_are_recorded_for_the_whole() -> None:
    assert part_records([composite(MATH, NO_COMMA)]) == []


def test_the_gold_is_the_one_response_on_which_all_parts_agree() -> None:
    spec = VERIFIERS.get("composite")
    twice = {"parts": [MATH, MATH | {"name": "again"}]}
    assert spec.data.gold(twice) == VERIFIERS.get("math").data.gold({"answer": "4"})
    assert spec.data.gold({"parts": [MATH, NO_COMMA]}) is None
    assert spec.data.answer({"parts": [MATH, NO_COMMA]}) == "4"
    assert spec.data.write("5", {"parts": [NO_COMMA, MATH]}) == "The answer is \\boxed{5}"
    assert spec.data.target_type is not None
    assert spec.data.target_type({"parts": [MATH, NO_COMMA]}) == "number + instruction"
    assert spec.data.topic_line({"parts": [MATH, NO_COMMA]}) == "math + style"


def test_trainers_rows_may_hold_composed_tasks() -> None:
    reference = {"parts": [MATH, NO_COMMA], "gate": ["style"]}
    task = load_task("composite", reference)
    assert verl_task("prorl/composite", json.dumps(reference)) == task
    assert verl_task("x", {"verifier": "composite", "reference": reference}) == task
    label = json.dumps({"verifier": "composite", "reference": reference})
    assert rollout_item("What is 2+2? Four", "What is 2+2?", label)[1] == task


# ------------------------------------------------------------------------------ one verdict of several


def scored(reward: float, status: Any = "scored", **more: Any) -> Verdict:
    return Verdict(reward, status, more.pop("reason", "so"), **more)


def together(reference: dict[str, Any], *verdicts: Verdict) -> Verdict:
    names = [str(part["name"]) for part in reference["parts"]]
    return put_together(Task("composite", reference), dict(zip(names, verdicts, strict=True)))


def named(*names: str, weights: tuple[float, ...] = (), gate: Any = None) -> dict[str, Any]:
    parts = [{**MATH, "name": name} for name in names]
    for part, weight in zip(parts, weights, strict=False):
        part["weight"] = weight
    return {"parts": parts, "gate": gate}


def test_the_reward_is_the_weighted_mean() -> None:
    verdict = together(named("a", "b", weights=(3, 1)), scored(1.0), scored(0.5, reason="half"))
    assert (verdict.reward, verdict.status) == (0.875, "scored")
    assert verdict.reason == "b 0.5: half"
    assert verdict.metrics == {"part.a": 1.0, "part.b": 0.5}


@pytest.mark.parametrize("weight", [5e-324, 0.1, 1e308])
def test_full_marks_are_1_and_no_mean_leaves_the_range_whatever_the_weights(weight: float) -> None:
    reference = named("a", "b", "c", weights=(weight, weight, weight))
    assert together(reference, *[scored(1.0)] * 3).reward == 1.0
    third = together(reference, scored(1.0), scored(0.0), scored(0.0)).reward
    assert third == pytest.approx(1 / 3)


@given(
    st.lists(st.tuples(st.floats(0, 1e308), st.floats(0, 1)), min_size=1, max_size=8).filter(
        lambda pairs: any(weight for weight, _ in pairs)
    )
)
def test_the_mean_lies_between_the_rewards_that_count(pairs: list[tuple[float, float]]) -> None:
    names = [f"p{at}" for at in range(len(pairs))]
    reference = named(*names, weights=tuple(weight for weight, _ in pairs))
    verdict = together(reference, *(scored(reward) for _, reward in pairs))
    counted = [reward for weight, reward in pairs if weight]
    assert verdict.reward is not None
    assert min(counted) <= verdict.reward <= max(counted)


def test_a_part_of_weight_0_is_measured_and_may_gate_but_is_not_counted() -> None:
    free, gated = (named("a", "b", weights=(1, 0), gate=gate) for gate in (None, ["b"]))
    verdict = together(free, scored(1.0), scored(0.0))
    assert (verdict.reward, verdict.metrics["part.b"]) == (1.0, 0.0)
    assert together(gated, scored(1.0), scored(0.0)).reward == 0.0
    assert together(gated, scored(0.5), scored(1.0)).reward == 0.5


@pytest.mark.parametrize(
    ("gate", "rewards", "reward"),
    [
        (True, (1.0, 1.0), 1.0),
        (True, (1.0, 0.99), 0.0),
        (False, (1.0, 0.5), 0.75),
        (["a"], (1.0, 0.5), 0.75),
        (["a"], (0.5, 1.0), 0.0),
        ({"b": 0.5}, (0.2, 0.5), 0.35),
        ({"b": 0.5}, (1.0, 0.4), 0.0),
        ({"b": 0.3}, (1.0, 0.1 + 0.1 + 0.1 - 1e-16), 0.65),
    ],
)
def test_a_gated_part_that_falls_short_leaves_nothing(
    gate: Any, rewards: tuple[float, float], reward: float
) -> None:
    verdict = together(named("a", "b", gate=gate), *(scored(r, reason=f"r{r}") for r in rewards))
    assert verdict.reward == pytest.approx(reward)
    assert verdict.reason.startswith("not through the gate: ") == (reward == 0.0)


def test_a_part_without_a_verdict_leaves_the_whole_without_one_even_behind_a_failed_gate() -> None:
    down = Verdict(None, "infra_error", "the sandbox is away")
    for gate in (None, True, ["a"]):
        verdict = together(named("a", "b", gate=gate), scored(0.0), down)
        assert (verdict.reward, verdict.status) == (None, "infra_error")
        assert verdict.reason == "part b: the sandbox is away"
        assert verdict.metrics == {"part.a": 0.0}


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        (("unparsable", "unparsable"), "unparsable"),
        (("unparsable", "scored"), "scored"),
        (("timeout", "scored"), "scored"),
        (("timeout", "timeout"), "timeout"),
        (("timeout", "unparsable"), "timeout"),
    ],
)
def test_the_whole_is_scored_where_one_part_is(statuses: tuple[str, str], status: str) -> None:
    verdict = together(named("a", "b"), *(scored(0.0, one, reason=one) for one in statuses))
    assert (verdict.reward, verdict.status) == (0.0, status)
    assert all(
        f"{name} 0: {one}" in verdict.reason for name, one in zip("ab", statuses, strict=True)
    )


def test_seconds_add_up_and_isolation_and_metrics_name_every_part() -> None:
    first = scored(1.0, seconds=0.25, isolation="w", metrics={"tests": 3.0}, extracted="4")
    verdict = together(named("a", "b"), first, scored(1.0, seconds=0.5, isolation="s"))
    assert (verdict.seconds, verdict.isolation, verdict.extracted) == (0.75, "s, w", "4")
    assert verdict.metrics == {"part.a": 1.0, "part.a.tests": 3.0, "part.b": 1.0}


# --------------------------------------------------------------------------------------- the real pool


def test_composed_and_plain_items_of_one_batch_keep_their_order() -> None:
    task = composite(MATH | {"weight": 3}, NO_COMMA)
    plain = load_task("math", {"answer": "4"})
    items = [
        (r"\boxed{4}", task),
        (r"\boxed{5}", plain),
        (r"So, \boxed{4}", task),
        (r"So, \boxed{5}", task),
        (r"\boxed{4}", plain),
    ] * 10
    heard: dict[int, Verdict] = {}
    with VerifierPool(2, timeout_seconds=30) as pool:
        verdicts = pool.score(items, heard.__setitem__)
        counted = pool.stats.items
        assert pool.submit(*items[2]).result(60).reward == 0.75
    assert [v.reward for v in verdicts] == [1.0, 0.0, 0.75, 0.0, 1.0] * 10
    assert all(heard[index] is verdicts[index] for index in heard) and len(heard) == len(items)
    assert counted == {("math", "scored"): 50, ("instruction", "scored"): 30}


def test_each_part_takes_the_thinking_out_by_its_own_rule() -> None:
    task = composite(MATH, NO_COMMA)
    verdict = verify(r"<think>one, two</think> \boxed{4}", task)
    assert verdict.reward == 1.0
    unclosed = verify(r"<think>one, two \boxed{4}", task)
    assert (unclosed.reward, unclosed.status) == (0.0, "unparsable")


def test_a_part_whose_scorer_fails_is_an_infra_error_of_the_whole_never_a_zero() -> None:
    entry = {"question": "?", "answer": "12", "metadata": {}}
    reference = {"dataset": "sudoku", "entry": entry}
    broken = {"verifier": "logic", "name": "broken", "reference": reference}
    for gate in (None, ["style"]):
        task = Task("composite", {"parts": [NO_COMMA, broken], "gate": gate})
        verdict = verify("<answer>one, two</answer>", task)
        assert (verdict.reward, verdict.status) == (None, "infra_error")
        assert verdict.reason.startswith("part broken: ") and "KeyError" in verdict.reason


def test_a_part_that_never_ends_is_its_own_zero_and_the_reason_names_it(hang: str) -> None:
    with VerifierPool(2, timeout_seconds=1) as pool:
        verdict, gated = pool.score(
            [(hang, composite(MATH, NO_COMMA)), (hang, composite(MATH, NO_COMMA, gate=["math"]))]
        )
    assert (verdict.reward, verdict.status) == (0.5, "scored")
    assert verdict.reason == "math 0: no verdict after 1 s"
    assert (gated.reward, gated.status) == (0.0, "scored")
    assert gated.reason.startswith("not through the gate: math: ")


def test_a_malformed_task_that_nobody_loaded_stops_the_call_before_anything_is_scored() -> None:
    with VerifierPool(1) as pool, pytest.raises(TaskError, match="'parts' must be a list"):
        pool.score([("4", Task("composite", {}))])


def test_a_pool_that_is_closed_ends_the_whole_not_a_part(hang: str) -> None:
    pool = VerifierPool(1, timeout_seconds=60)
    future = pool.submit(hang, composite(MATH, NO_COMMA))
    pool.close(drain_seconds=0.5)
    with pytest.raises(PoolClosedError):
        future.result(30)


@pytest.mark.slow
def test_a_part_that_runs_programs_goes_to_the_sandbox_beside_the_others() -> None:
    task = composite(MATH, CODE, gate=["code"])
    with VerifierPool(2, allow_weak=True) as pool:
        right, no_program, wrong = pool.score(
            [
                ("\\boxed{4}" + RIGHT_CODE, task),
                (r"\boxed{4}", task),
                ("\\boxed{5}" + RIGHT_CODE, task),
            ]
        )
    assert (right.reward, right.metrics["part.code.passed"]) == (1.0, 1.0)
    assert (no_program.reward, no_program.status) == (0.0, "scored")
    assert "code: no closed Python code block" in no_program.reason
    assert wrong.reward == 0.5 and "," in wrong.isolation


@pytest.mark.slow
def test_an_environment_that_a_part_needs_is_asked_for_before_anything_is_scored() -> None:
    part = {**CODE, "reference": {**CODE["reference"], "environment": "not-built-here"}}
    with VerifierPool(1, allow_weak=True) as pool, pytest.raises(UserError, match="not-built-here"):
        pool.require([Task("composite", {"parts": [part]})])


PLUGIN = """
from prorl_verifiers import Composition, Score, Task, TaskPart, VerifierSpec


def parts(reference):
    return [TaskPart("value", Task("math", {"answer": reference["answer"]})),
            TaskPart("words", Task("few-words", {"most": reference["most"]}))]


def combine(reference, verdicts):
    if reference["most"] == 99:
        return 2.0
    return Score(verdicts["value"].reward * verdicts["words"].reward, "their product")


FEW = VerifierSpec(name="few-words", score=lambda text, ref: len(text.split()) <= ref["most"])
BOTH = VerifierSpec(name="terse", compose=Composition(parts, combine))
"""


@pytest.mark.slow
def test_a_plugin_composes_ours_and_its_own_and_its_faults_are_no_rewards(tmp_path: Path) -> None:
    (tmp_path / "terse.py").write_text(PLUGIN)
    cases = [(3, r"\boxed{4}"), (3, r"so it is then \boxed{4}"), (99, r"\boxed{4}")]
    rows = [
        {
            "id": at,
            "response": text,
            "task": {"verifier": "terse", "reference": {"answer": "4", "most": most}},
        }
        for at, (most, text) in enumerate(cases)
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = prorl(tmp_path, "verify", "file", "in.jsonl", "--plugin", "terse.py")
    right, wordy, broken = [json.loads(line) for line in run.stdout.splitlines()]
    assert (right["reward"], wordy["reward"], right["reason"]) == (1.0, 0.0, "their product")
    assert right["metrics"]["plugin"] == right["metrics"]["part.words.plugin"]
    assert (broken["reward"], broken["status"]) == (None, "infra_error")
    assert "it returned 2.0" in broken["reason"]


def test_what_a_plugins_reference_lacks_is_one_line_and_exit_2(tmp_path: Path) -> None:
    (tmp_path / "terse.py").write_text(PLUGIN)
    words = ["verify", "answer", "--plugin", "terse.py", "--verifier", "terse"]
    run = prorl(tmp_path, *words, "--reference", '{"answer": "4"}', "4")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "error: terse: the parts of the terse task cannot be made: KeyError: 'most'\n"
    )
