from typing import Any

import pytest

from prorl_verifiers import Task, TaskError, load_task, with_mode

STDIO = [{"stdin": "", "stdout": "1"}]
CALL = [{"call": "f", "args": [], "expected": 1}]
BAD: list[tuple[str, Any, str | None]] = [
    ("mth", {"answer": "1"}, "did you mean 'math'"),
    ("math", {}, "needs 'answer'"),
    ("math", {"answer": "  "}, "empty"),
    ("math", {"answer": True}, "needs 'answer'"),
    ("math", {"answr": "1"}, "did you mean 'answer'"),
    ("math", "{", "not valid JSON"),
    ("math", [], "must be a JSON object"),
    ("stem", {"answer": "E", "choices": ["a", "b"]}, "not one of the 'choices'"),
    ("stem", {"answer": "1", "tolerance": -1}, "tolerance"),
    ("code", {"tests": []}, "at least one test"),
    ("code", {}, "at least one test"),
    ("code", {"tests": [{"assert": "x = 1"}]}, "contains no assert"),
    ("code", {"tests": [{"assert": "assert ("}]}, "cannot be parsed"),
    ("code", {"tests": [{"check": "def test(f): pass"}]}, "must define check"),
    (
        "code",
        {"entry_point": "f", "tests": [{"check": "def check(f): yield f"}]},
        "not contain 'yield'",
    ),
    ("code", {"tests": [{"assert": "assert f() == " + "-" * 20_000 + "1"}]}, "cannot be parsed"),
    ("code", {"tests": [{"check": "def check(f): pass"}]}, "entry_point"),
    ("code", {"tests": [{"call": "f"}]}, "'args'"),
    ("code", {"tests": [{"output": "1"}]}, "got output"),
    (
        "code",
        {"tests": [{"stdin": "1", "stdout": "2", "expected": 3}]},
        "test 1: unknown key 'expected'",
    ),
    ("code", {"tests": [{"call": "f", "args": [], "expected": 1, "stdout": "1"}]}, "unknown key"),
    ("code", {"tests": [{"call": "f", "args": [], "expect": 1}]}, "did you mean 'expected'"),
    ("code", {"tests": [{"call": "f(x)", "args": [], "expected": 1}]}, "'call' must be the name"),
    ("code", {"tests": [{"call": "", "args": [], "expected": 1}]}, "'call' must be the name"),
    ("code", {"tests": [{"call": "class", "args": [], "expected": 1}]}, "'call' must be the name"),
    ("code", {"tests": [{"call": "a.b.c", "args": [], "expected": 1}]}, "'call' must be the name"),
    ("code", {"tests": [{"call": "f", "kwargs": {"1a": 2}, "expected": 1}]}, "named arguments"),
    (
        "code",
        {"tests": [{"calls": ["A", "1x"], "args": [[], []], "expected": [None, 1]}]},
        "each of 'calls'",
    ),
    (
        "code",
        {"tests": [{"call": "f", "args": [{"ListNode": 5}], "expected": 1}]},
        "list of values",
    ),
    (
        "code",
        {"tests": [{"call": "f", "args": [], "expected": [{"TreeNode": "1"}]}]},
        "list of values",
    ),
    ("code", {"tests": [{"call": "f", "args": [[1]], "expected": 1, "in_place": 1}]}, "'in_place'"),
    (
        "code",
        {"tests": [{"call": "f", "args": [[1]], "expected": 1, "in_place": True}]},
        "'in_place'",
    ),
    ("code", {"tests": CALL, "entry_point": "not a name"}, "'entry_point' must be the name"),
    ("code", {"tests": CALL, "entry_point": "other"}, "the tests call f, not the"),
    ("code", {"tests": [{"assert": "assert 1 == 1"}], "entry_point": "f"}, "does not call f"),
    ("code", {"tests": [{"assert": "assert (f(1) == 2, 'two')"}]}, "always passes"),
    (
        "code",
        {"tests": [{"check": "def check(candidate): pass"}], "entry_point": "f"},
        "must use its argument",
    ),
    (
        "code",
        {"tests": [{"check": "def check(): assert f(1)"}], "entry_point": "f"},
        "one argument",
    ),
    (
        "code",
        {"tests": [{"check": "def check(f, g): assert f(g)"}], "entry_point": "f"},
        "one argument",
    ),
    ("code", {"tests": [{"stdout": "x" * 9000}], "limits": {"output_kb": 1}}, "must be at least 8"),
    ("code", {"tests": STDIO, "limits": []}, "'limits' must be an object"),
    ("code", {"tests": STDIO, "language": "pyton"}, "did you mean 'python'"),
    ("code", {"tests": STDIO, "language": "cobol"}, "unknown language 'cobol'"),
    ("code", {"tests": STDIO, "language": 3}, "must be a string"),
    (
        "code",
        {"tests": CALL, "language": "C"},
        "JavaScript and Python, not in C: write a program that uses stdin",
    ),
    (
        "code",
        {"tests": STDIO + CALL, "language": "sh"},
        "test 2: functions can be called in .* not in Bash",
    ),
    ("code", {"tests": STDIO, "judge": "token"}, "did you mean 'tokens'"),
    (
        "code",
        {"tests": STDIO, "judge": "def check(*a): return True"},
        "floats, rows, tokens, unordered",
    ),
    ("code", {"tests": STDIO, "judge": ["tokens"]}, "must be one of floats"),
    ("code", {"tests": CALL, "judge": "tokens"}, "every test must have 'stdin'"),
    ("code", {"tests": STDIO, "limits": {"wall": 1}}, "did you mean 'wall_seconds'"),
    ("code", {"tests": STDIO, "limits": {"zero_over_total": True}}, "unknown limit"),
    ("code", {"tests": STDIO, "limits": {"partial": 1}}, "true or false"),
    ("code", {"tests": STDIO, "limits": {"total_seconds": 0}}, "above 0"),
    ("code", {"tests": STDIO, "limits": {"total_seconds": float("nan")}}, "above 0"),
    (
        "code",
        {"tests": STDIO, "limits": {"memory_mb": 1}},
        "memory_mb must be a whole number from 16",
    ),
    ("code", {"tests": STDIO, "limits": {"memory_mb": 99.5}}, "whole number"),
    ("code", {"tests": STDIO, "limits": {"processes": True}}, "above 0"),
    ("logic", {"dataset": "count_down", "entry": {}}, "did you mean 'countdown'"),
    ("logic", {"dataset": "countdown"}, "needs 'entry'"),
    ("logic", {"dataset": "ab", "entry": {"answer": "1", "metadata": {}}, "mode": "x"}, "mode"),
    ("instruction", {"instruction_id_list": []}, "at least one id"),
    ("instruction", {"instruction_id_list": ["punctuation:no_coma"], "kwargs": [{}]}, "no_comma"),
    (
        "instruction",
        {"instruction_id_list": ["keywords:existence"], "kwargs": [{}]},
        "'kwargs' needs 'keywords'",
    ),
    ("instruction", {"instruction_id_list": ["punctuation:no_comma"], "kwargs": []}, None),
    (
        "instruction",
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}, {}]},
        "list of 1",
    ),
]


@pytest.mark.parametrize(("verifier", "reference", "words"), BAD)
def test_a_malformed_task_is_found_when_it_is_loaded(
    verifier: str, reference: Any, words: str | None
) -> None:
    if words is None:  # missing kwargs are allowed: ids without arguments need none
        load_task(verifier, reference)
        return
    with pytest.raises(TaskError, match=words) as caught:
        load_task(verifier, reference)
    assert "\n" not in str(caught.value)


def test_good_tasks_load_from_objects_and_from_json() -> None:
    assert load_task("math", '{"answer": "1"}') == load_task("math", {"answer": "1"})
    load_task("stem", {"answer": "B", "choices": ["a", "b"], "unit": None})
    load_task("code", {"tests": [{"assert": "assert f(1) == 2"}], "limits": {"total_seconds": 5}})
    load_task("code", {"tests": STDIO, "language": None, "judge": None, "limits": None})
    limits = {"partial": True, "memory_mb": 256.0}
    load_task("code", {"tests": STDIO, "language": "C++", "judge": "tokens", "limits": limits})


def test_null_kwargs_count_as_absent() -> None:
    load_task(
        "instruction",
        {
            "instruction_id_list": ["punctuation:no_comma"],
            "kwargs": [{"keywords": None, "num_words": None}],
        },
    )


def test_a_language_check_without_its_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    reference = {
        "instruction_id_list": ["language:response_language"],
        "kwargs": [{"language": "de"}],
    }
    with pytest.raises(TaskError, match="needs py3langid, which is not installed: pip install"):
        load_task("instruction", reference)


def test_a_mode_is_written_into_tasks_that_have_none_of_their_own() -> None:
    plain, own = Task("math", {"answer": "4"}), Task("math", {"answer": "4", "mode": "ours"})
    assert with_mode(plain, {"math": "either"}).reference["mode"] == "either"
    assert with_mode(own, {"math": "either"}) is own
    assert with_mode(plain, {"logic": "reference"}) is plain


def test_a_gold_answer_that_is_no_finite_number_is_refused() -> None:
    for answer in (float("inf"), float("nan")):
        with pytest.raises(TaskError, match="finite"):
            load_task("math", {"answer": answer})
