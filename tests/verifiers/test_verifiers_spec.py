import random
from typing import Any

import pytest

from prorl_common import PluginError, UserError
from prorl_verifiers import VERIFIERS, VerifierSpec, load_task, modes_for, parse_modes
from prorl_verifiers.instruction import scorer as instruction_scorer
from prorl_verifiers.logic import scorer as logic_scorer

OURS = ("code", "composite", "instruction", "logic", "math", "stem")
LEAST = VerifierSpec(
    name="exact", score=lambda response, reference: response == reference["answer"]
)


def test_ours_come_through_the_door_and_are_named_like_their_entry_points() -> None:
    assert set(OURS) <= set(VERIFIERS.names())
    assert [VERIFIERS.get(name).name for name in OURS] == list(OURS)
    assert VERIFIERS.records(OURS) == []


def test_the_least_spec_has_a_default_for_everything() -> None:
    reference = {"answer": "cat"}
    LEAST.check_reference(reference)
    assert (
        LEAST.data.gold(reference)
        == LEAST.data.answer(reference)
        == LEAST.data.topic_line(reference)
        == "cat"
    )
    assert LEAST.data.gold({}) is None
    assert LEAST.data.prompt.format(question="Which?") == "Which?"
    assert (LEAST.data.columns, LEAST.modes, LEAST.data.vote, LEAST.audit.probes) == (
        ("answer",),
        (),
        None,
        None,
    )
    assert not LEAST.quick_canaries(random.Random(0)) and not LEAST.deep_canaries()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "Exact"}, "lower-case letters"),
        ({"name": "exact"}, "needs exactly one of score=FUNCTION"),
        ({"name": "exact", "score": 1.0}, "needs exactly one of score=FUNCTION"),
        ({"name": "exact", "score": max, "score_in_sandbox": max}, "exactly one"),
        ({"name": "exact", "compose": max}, "needs exactly one of score=FUNCTION"),
        ({"name": "exact", "score": max, "mode_for": {"file": "strict"}}, "no mode 'strict'"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(PluginError, match=words):
        VerifierSpec(**fields)


def test_the_default_mode_is_the_first() -> None:
    assert VERIFIERS.get("instruction").modes[0] == instruction_scorer.DEFAULT_MODE
    assert VERIFIERS.get("logic").modes == logic_scorer.MODES
    math, box = VERIFIERS.get("math"), r"\boxed{\frac{2}{2}}"
    assert math.score is not None
    assert math.score(box, {"answer": "1"}) == math.score(
        box, {"answer": "1", "mode": math.modes[0]}
    )


def test_modes_by_purpose_are_those_that_were_in_force_before() -> None:
    assert {n: m for n, m in modes_for("file").items() if n in OURS} == {"instruction": "reference"}
    assert {n: m for n, m in modes_for("evaluation").items() if n in OURS} == {
        "code": "binary",
        "instruction": "reference",
    }
    assert {n: m for n, m in modes_for("faithful").items() if n in OURS} == {
        "math": "either",
        "logic": "reference",
    }


def test_an_unknown_verifier_in_a_mode_names_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'logic'"):
        parse_modes("logik=fixed")
    with pytest.raises(UserError, match="unknown mode 'x' of stem: use none"):
        parse_modes(["stem=x"])


@pytest.mark.parametrize("name", OURS)
def test_examples_and_canaries_are_tasks_that_load(name: str) -> None:
    spec = VERIFIERS.get(name)
    if spec.data.example is not None:
        load_task(name, spec.data.example)
    for canary in [*spec.quick_canaries(random.Random(1)), *spec.deep_canaries()]:
        load_task(name, canary.reference)


def test_gold_responses_are_written_as_each_verifier_wants_them() -> None:
    entry = {"question": "1 + 1", "answer": "2", "metadata": {}}
    assert VERIFIERS.get("math").data.gold({"answer": "2"}) == r"\boxed{2}"
    assert VERIFIERS.get("stem").data.gold({"answer": ["2", "3"]}) == r"\boxed{2} \boxed{3}"
    assert VERIFIERS.get("stem").data.topic_line({"answer": ["2", "3"]}) == "2; 3"
    assert (
        VERIFIERS.get("logic").data.gold({"dataset": "x", "entry": entry}) == "<answer>2</answer>"
    )
    assert VERIFIERS.get("code").data.gold({"tests": []}) is None
    two = {"instruction_id_list": ["b", "a"], "kwargs": [{}, {}]}
    assert VERIFIERS.get("instruction").data.gold(two) is None
    assert VERIFIERS.get("instruction").data.topic_line(two) == "a + b"
