from __future__ import annotations

from typing import Any

import pytest

from prorl_verifiers import Task, TaskError, VerifierPool, load_task
from prorl_verifiers.exact_match import SPEC, score

GSM = {
    "answer": "10 + 8 = 18\n#### 1,018",
    "until": ["Question:", "</s>"],
    "filters": [{"function": "regex", "regex_pattern": r"#### (\-?[0-9\.\,]+)"}],
    "regexes_to_ignore": [",", r"(?s).*#### ", r"\.$"],
    "ignore_case": True,
}
LAST = {"function": "regex", "regex_pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)", "group_select": -1}


def test_a_gold_solution_and_a_number_meet_once_ignored_parts_are_gone() -> None:
    assert score("so\n#### 1018.", GSM).reward == 1.0
    assert score("so\n#### 1019", GSM).reward == 0.0
    assert score("1018", GSM).status == "unparsable"
    assert score("Question: #### 1018", GSM).status == "unparsable"


@pytest.mark.parametrize(
    ("response", "changed", "found"),
    [
        ("1 then $2.50 then 7", {"filters": [LAST]}, "7"),
        ("1 then $2.50", {"filters": [LAST]}, "$2.50"),
        ("b", {"filters": [{"function": "uppercase"}]}, "B"),
        (" b ", {"filters": [{"function": "remove_whitespace"}]}, "b"),
        ("<think>a</think>b<think>c", {"filters": [{"function": "remove_thinking"}]}, "b<think>c"),
        (
            "a<thi<think>b</think>nk>c</think>d",
            {"filters": [{"function": "remove_thinking"}]},
            "ad",
        ),
        ("yes", {"filters": [{"function": "map", "mapping_dict": {"yes": "1"}}]}, "1"),
        ("a  b Q: c", {"until": ["Q:"]}, "a  b "),
        ("a\n\nb</think>", {"until": ["\n\n"]}, "a"),
        ("<think>a\n\nb", {"until": ["\n\n"]}, "<think>a"),
    ],
)
def test_filters_leave_what_is_compared(response: str, changed: dict[str, Any], found: str) -> None:
    assert score(response, {"answer": found, **changed}).extracted == found
    assert score(response, {"answer": found, **changed}).reward == 1.0


@pytest.mark.parametrize(
    ("given", "gold", "flag"),
    [
        ("Yes", "yes", "ignore_case"),
        ("a, b!", "a b", "ignore_punctuation"),
        ("abc1", "abc22", "ignore_numbers"),
    ],
)
def test_what_is_ignored_must_be_asked_for(given: str, gold: str, flag: str) -> None:
    assert score(given, {"answer": gold}).reward == 0.0
    assert score(given, {"answer": gold, flag: True}).reward == 1.0


def test_one_of_several_answers_is_enough_and_thinking_stays() -> None:
    assert score("b", {"answer": ["a", "b"]}).reward == 1.0
    names = [f"name {i}" for i in range(500)]  # as in trivia questions
    assert score("name 499", {"answer": names}).reward == 1.0
    assert not SPEC.strip_thinking


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({}, "'answer' must be a list of 1"),
        ({"answer": "a", "filters": [{"function": "regx"}]}, "did you mean 'regex'"),
        ({"answer": "a", "filters": [{"function": "regex"}]}, "needs a regular expression"),
        (
            {"answer": "a", "filters": [{**LAST, "regex_pattern": "("}]},
            "is not a regular expression",
        ),
        ({"answer": "a", "filters": [{**LAST, "group": 1}]}, "no option 'group'"),
        ({"answer": "a", "regexes_to_ignore": ["["]}, "is not a regular expression"),
        ({"answer": "a", "ignore_case": "yes"}, "must be true or false"),
        ({"answer": 3}, "must be a list"),
        ({"answer": "a", "untill": []}, "did you mean 'until'"),
    ],
)
def test_a_reference_that_cannot_be_scored_against_is_named(
    reference: dict[str, Any], message: str
) -> None:
    with pytest.raises(TaskError, match=message):
        load_task("exact_match", reference)


def test_an_expression_that_never_ends_is_a_timeout_and_no_hang() -> None:
    slow = {"answer": "a", "filters": [{"function": "regex", "regex_pattern": "^(a+)+$"}]}
    with VerifierPool(workers=1, timeout_seconds=1.0) as pool:
        (verdict,) = pool.score([("a" * 40 + "b", Task("exact_match", slow))])
    assert (verdict.status, verdict.reward) == ("timeout", 0.0)
