"""Explanations agree with verdicts on labelled pairs, real code and graded texts, and change none."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl

from prorl_common.frames import encode
from prorl_verifiers import (
    Finding,
    Score,
    Task,
    Verdict,
    VerifierPool,
    as_test_case,
    explained_row,
    load_task,
    note,
    read_items,
    verify,
)
from prorl_verifiers.findings import (
    DEEPEST,
    LONGEST_TEXT,
    MOST_FINDINGS,
    bounded,
    listening,
    noting,
    read_findings,
)
from prorl_verifiers.instruction.spec import SPEC as INSTRUCTION
from prorl_verifiers.math.reading.nodes import written
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.pool.protocol import read_reply
from prorl_verifiers.pool.workers import MAX_REPLY

PAIRS = Path(__file__).resolve().parents[1] / "data" / "verifier_pairs"
ADD = "```python\ndef add(a, b):\n    return a + b\n```"
ADD_TESTS = {
    "tests": [
        {"call": "add", "args": [1, 2], "expected": 3},
        {"call": "add", "args": [2, 2], "expected": 5},
        {"check": "def check(candidate):\n    assert candidate(1, 1) == 3, 'not three'"},
    ],
    "entry_point": "add",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with VerifierPool(2, timeout_seconds=30) as pool:
        yield pool


def explained(pool: VerifierPool, response: str, task: Task) -> Verdict:
    return pool.score([(response, task)], explain=True)[0]


def field(finding: Finding, label: str) -> str:
    return dict(finding.fields)[label]


def agrees(verdict: Verdict) -> bool:
    """Return whether the findings fit the verdict: full marks if and only if none has failed."""
    found = {finding.outcome for finding in verdict.explained()}
    return verdict.outcome in found and ("failed" in found) == (verdict.outcome == "failed")


def plain(verdict: Verdict) -> Verdict:
    return replace(verdict, findings=(), seconds=0.0)


def explained_as_scored(pool: VerifierPool, items: list[tuple[str, Task]]) -> list[Verdict]:
    """Return the verdicts with findings, which must otherwise equal those of ordinary scoring."""
    ordinary = pool.score(items)
    explained = pool.score(items, explain=True)
    assert all(verdict.findings == () for verdict in ordinary)
    assert [plain(verdict) for verdict in explained] == [plain(verdict) for verdict in ordinary]
    return explained


# ------------------------------------------------------------------------------- they agree with verdicts


@pytest.mark.parametrize("split", [pytest.param("dev", marks=pytest.mark.slow), "heldout"])
def test_on_labelled_pairs_an_explanation_says_what_the_verdict_says(
    pool: VerifierPool, split: str
) -> None:
    rows = [json.loads(line) for line in (PAIRS / f"{split}.jsonl").read_text().splitlines()]
    chosen = [row for row in rows if row["verifier"] in ("math", "stem")][::4]
    items = [(row["response"], load_task(row["verifier"], row["reference"])) for row in chosen]
    verdicts = explained_as_scored(pool, items)
    assert {verdict.reward for verdict in verdicts} == {0.0, 1.0}
    assert [
        item for item, verdict in zip(items, verdicts, strict=True) if not agrees(verdict)
    ] == []
    for (response, _), verdict in zip(items, verdicts, strict=True):
        for finding in verdict.findings:
            if finding.span is not None and field(finding, "found in") == "the last \\boxed{}":
                assert response[slice(*finding.span)].strip() == field(finding, "answer")


@pytest.mark.parametrize("mode", ["decided", "either", "ours", "math-verify"])
def test_in_every_mode_of_math_an_explanation_says_what_the_verdict_says(
    pool: VerifierPool, test_data: Path, mode: str
) -> None:
    with gzip.open(test_data / "verifier" / "math_verify_tests_even.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file][::4]
    pairs = [(f"\\boxed{{{row['pred']}}}", row["gold"]) for row in rows if row["gold"].strip()]
    items = [(text, load_task("math", {"answer": gold, "mode": mode})) for text, gold in pairs]
    verdicts = explained_as_scored(pool, items)
    assert all(map(agrees, verdicts)) and len({verdict.reward for verdict in verdicts}) == 2


def test_on_graded_texts_each_constraint_is_explained_as_it_was_counted(test_data: Path) -> None:
    with gzip.open(test_data / "if" / "ifeval_mistral7b_graded.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file][::4]
    assert INSTRUCTION.score is not None
    for row in rows:
        reference = {name: row[name] for name in ("instruction_id_list", "kwargs")}
        with noting() as findings:
            score = INSTRUCTION.score(row["response"], reference)
        assert isinstance(score, Score)
        assert [finding.title for finding in findings] == row["instruction_id_list"]
        for at, finding in enumerate(findings):
            strict = score.metrics[f"{at}:{finding.title}"] == 1.0
            loose = score.metrics[f"loose:{at}:{finding.title}"] == 1.0
            assert finding.outcome == ("passed" if strict else "failed")
            assert field(finding, "loosely") == ("met" if loose else "not met")


def test_on_real_code_the_tests_that_passed_are_those_that_count(
    pool: VerifierPool, test_data: Path
) -> None:
    with gzip.open(test_data / "code" / "mbpp_sanitized_even.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file if not json.loads(line)["test_imports"]][::40]
    items = []
    for row in rows:
        task = load_task("code", {"tests": [{"assert": test} for test in row["test_list"]]})
        spoilt = row["code"].replace("return ", "return None and ")
        items += [(f"```python\n{source}\n```", task) for source in (row["code"], spoilt)]
    verdicts = explained_as_scored(pool, items)
    assert all(map(agrees, verdicts)) and len({verdict.reward for verdict in verdicts}) > 1
    for verdict in verdicts:
        tests = [one for one in verdict.findings if one.title.startswith("test ")]
        passed = sum(one.outcome == "passed" for one in tests)
        assert (len(tests), passed) == (verdict.metrics["tests"], verdict.metrics["passed"])


def test_logic_answers_right_wrong_and_half_right_are_explained_by_the_rule(
    pool: VerifierPool,
) -> None:
    rg = pytest.importorskip("reasoning_gym")
    items = []
    for dataset in ("gcd", "sudoku", "knights_knaves", "countdown", "shortest_path"):
        entry = json.loads(json.dumps(rg.create_dataset(dataset, size=1, seed=3)[0], default=str))
        task = load_task("logic", {"dataset": dataset, "entry": entry})
        for answer in (f"**{entry['answer']}**", "7", "", "no idea"):
            items.append((f"<think>?</think> <answer>{answer}</answer>", task))
    verdicts = explained_as_scored(pool, items)
    assert all(map(agrees, verdicts))
    gcd = verdicts[0].findings
    assert (
        gcd[-1].title == "rules of gcd"
        and field(gcd[-1], "gold") == items[0][1].reference["entry"]["answer"]
    )
    assert items[0][0][slice(*gcd[0].span or ())] == field(gcd[0], "answer")


# ------------------------------------------------------------------------------- what they say


def test_math_says_the_answer_its_place_both_readings_and_the_rule(pool: VerifierPool) -> None:
    response = "<think>2?</think> so \\boxed{(1, 3)}"
    found = explained(pool, response, load_task("math", {"answer": "x=1, y=2"}))
    answer, compared = found.explained()
    assert response[slice(*answer.span or ())] == "(1, 3)"
    assert (found.outcome, compared.outcome) == ("failed", "failed")
    assert field(compared, "gold is") == "named parts"
    assert field(compared, "gold read as") == "x = 1, y = 2"
    first, second = compared.parts[0].parts[1:]
    assert (first.outcome, field(first, "gold"), field(first, "answer")) == ("passed", "1", "1")
    assert (second.outcome, field(second, "gold"), field(second, "answer")) == ("failed", "2", "3")


def test_a_science_number_is_shown_in_the_golds_unit_with_what_it_may_differ_by(
    pool: VerifierPool,
) -> None:
    found = explained(pool, "\\boxed{5300 m}", load_task("stem", {"answer": "5 km"}))
    (numbers,) = found.explained()[1].parts
    assert dict(numbers.fields) == {
        "answer": "5300 m", "in the gold's unit": "5.3", "gold": "5 km", "may differ by": "0.25",
    }  # fmt: skip


def test_each_test_of_code_says_input_expectation_output_errors_status_and_time(
    pool: VerifierPool,
) -> None:
    found = explained(pool, ADD, load_task("code", ADD_TESTS))
    code, first, second, third = found.explained()
    assert ADD[slice(*code.span or ())] == "def add(a, b):\n    return a + b"
    assert [one.outcome for one in (first, second, third)] == ["passed", "failed", "failed"]
    assert field(second, "input") == "add(2, 2)"
    assert (field(second, "expected"), field(second, "got")) == ("5", "4")
    assert "not three" in field(third, "standard error") and field(third, "status") != "ok"
    assert " s by the clock" in field(first, "time")


@pytest.mark.parametrize("mode", ["fixed", "reference"])
def test_a_constraint_says_what_was_counted_and_which_words_were_looked_for(
    pool: VerifierPool, mode: str
) -> None:
    reference = {
        "instruction_id_list": ["length_constraints:number_words", "keywords:existence"],
        "kwargs": [{"relation": "at least", "num_words": 5}, {"keywords": ["cat", "dog"]}],
        "mode": mode,
    }
    found = explained(pool, "A black cat.", load_task("instruction", reference))
    length, words = found.explained()
    assert dict(length.parts[0].fields) == {"there are": "3", "wanted": "at least 5"}
    looked = [dict(one.fields) for one in words.parts]
    assert looked == [{"word": "cat", "found": "yes"}, {"word": "dog", "found": "no"}]
    assert field(words, "keywords") == "cat, dog" and "keyword" in field(words, "asks for")


def test_of_a_binary_run_that_ends_early_the_tests_that_were_not_run_are_said(
    pool: VerifierPool,
) -> None:
    tests = [{"stdin": "", "stdout": text} for text in ("2", "1", "1")]
    task = load_task("code", {"tests": tests, "mode": "binary"})
    found = explained(pool, "```python\nprint(1)\n```", task)
    assert [one.title for one in found.explained()[1:]] == ["test 1", "2 of 3 tests were not run"]


def test_a_composite_shows_each_part_with_its_own_explanation_weight_and_gate(
    pool: VerifierPool,
) -> None:
    parts = [
        {"verifier": "math", "reference": {"answer": "2"}, "weight": 3, "name": "value"},
        {"verifier": "code", "reference": ADD_TESTS, "name": "program"},
    ]
    task = load_task("composite", {"parts": parts, "gate": ["value"]})
    found = explained(pool, f"\\boxed{{2}}\n{ADD}", task)
    whole, mean = found.explained()
    assert [one.title for one in whole.parts] == ["value (math)", "program (code)"]
    assert [one.outcome for one in (whole, *whole.parts)] == ["failed", "passed", "failed"]
    assert [one.outcome for one in whole.parts[1].parts[1:]] == ["passed", "failed", "failed"]
    assert field(mean, "value") == "reward 1, weight 3, needs at least 1"


def test_a_part_that_does_not_count_may_fail_under_full_marks(pool: VerifierPool) -> None:
    parts = [
        {"verifier": "math", "reference": {"answer": "2"}},
        {"verifier": "math", "reference": {"answer": "3"}, "name": "other", "weight": 0},
    ]
    found = explained(pool, "\\boxed{2}", load_task("composite", {"parts": parts}))
    assert found.outcome == "passed" and agrees(found)


def test_what_holds_no_answer_is_explained_by_the_verdict_itself(pool: VerifierPool) -> None:
    for response in ("no box", "<think>never ends"):
        found = explained(pool, response, load_task("math", {"answer": "2"}))
        (said,) = found.explained()
        assert (said.title, said.outcome) == ("verdict", "failed")
        assert field(said, "reason") == found.reason


def test_an_answer_that_never_gets_a_verdict_is_explained_as_a_timeout(hang: str) -> None:
    found = verify(hang, load_task("math", {"answer": "2"}), timeout_seconds=0.3, explain=True)
    assert found.status == "timeout"
    assert field(found.explained()[0], "status") == "timeout"


def test_an_explanation_is_json_that_holds_the_verdict_and_the_tree(pool: VerifierPool) -> None:
    found = explained(pool, "\\boxed{\ud800}", load_task("math", {"answer": "2"}))
    document = json.loads(json.dumps(explained_row(found)))
    assert (document["reward"], document["outcome"]) == (0.0, "failed")
    assert read_findings(document["findings"]) == found.explained()


# ------------------------------------------------------------------------------- notes


def test_a_note_that_nobody_listens_to_leaves_nothing() -> None:
    note("x", True, {"answer": "1"})
    with noting(listen=False) as found:
        assert not listening()
        note("x", True, {"answer": "1"})
    assert found == []


def test_long_texts_are_cut_and_their_length_is_said() -> None:
    with noting() as found:
        note("x", None, {"answer": "a" * 12_345, "none": None})
    (text,) = (text for _, text in found[0].fields)
    assert text == "a" * LONGEST_TEXT + "… (12,345 characters)"


class Unwritable:
    def __str__(self) -> str:
        raise KeyError("a bug of a verifier's own class")


def test_a_value_that_cannot_be_written_is_noted_by_its_type_and_raises_nothing() -> None:
    with noting() as found:
        note("x", None, {"long": 10**5000, "broken": Unwritable()})
    assert dict(found[0].fields) == {
        "long": "int, which cannot be written",
        "broken": "Unwritable, which cannot be written",
    }


def test_findings_of_any_size_fit_into_the_reply_of_a_worker() -> None:
    text = "\U0001f600" * LONGEST_TEXT
    wide = Finding(text, fields=tuple((text, text) for _ in range(50)), parts=(Finding("x"),) * 50)
    found = bounded([wide] * 5000)
    assert len(encode({"findings": [one.to_json() for one in found]})) < MAX_REPLY
    assert found[-1].title.endswith("more findings are left out")


def test_more_findings_than_can_be_kept_are_counted() -> None:
    found = bounded([Finding("x")] * (MOST_FINDINGS + 7))
    assert len(found) == MOST_FINDINGS + 1
    assert found[-1].title == "7 more findings are left out"


def test_findings_nested_without_end_are_cut() -> None:
    deep = Finding("x")
    for _ in range(100):
        deep = Finding("x", parts=(deep,))
    (found,) = bounded([deep])
    depth = 1
    while found.parts:
        (found,), depth = found.parts, depth + 1
    assert depth == DEEPEST + 1


GARBAGE: list[Callable[[dict[str, Any]], Any]] = [
    lambda one: "no list",
    lambda one: [one | {"outcome": "right"}],
    lambda one: [one | {"title": 1}],
    lambda one: [one | {"fields": [["label", 1]]}],
    lambda one: [one | {"fields": [["label"]]}],
    lambda one: [one | {"span": [3, 1]}],
    lambda one: [one | {"span": [0, 1.5]}],
    lambda one: [one | {"parts": [1]}],
    lambda one: [{"title": "x"}],
]


@pytest.mark.parametrize("spoil", GARBAGE)
def test_a_worker_that_sends_no_findings_sends_no_verdict(
    spoil: Callable[[dict[str, Any]], Any],
) -> None:
    result = {"reward": 1.0, "status": "scored", "reason": "", "extracted": None, "metrics": {}}
    good = [Finding("x", "passed", (("a", "b"),), (0, 1), (Finding("y"),)).to_json()]
    assert read_reply({"result": result, "findings": good}, "")[0].reward == 1.0
    verdict, _ = read_reply({"result": result, "findings": spoil(good[0])}, "")
    assert verdict.is_infra_error


PLUGIN = """
from prorl_verifiers import VerifierSpec, note

def score(response, reference):
    note("first", True, {"answer": response}, span=(0, len(response)))
    if response == "much":
        for _ in range(100_000):
            note("again", None, {"text": "x" * 10_000})
    return response == "right"

def in_sandbox(response, reference, sandbox):
    from prorl_sandbox import Program
    outcome = sandbox.run(Program("print(1)"))
    note("ran", outcome.status == "ok", {"printed": outcome.stdout})
    return outcome.status == "ok"

NOTING = VerifierSpec("noting", score)
RUNNING = VerifierSpec("running", score_in_sandbox=in_sandbox)
"""


def explained_by(plugin: Path, verifier: str, response: str) -> dict[str, Any]:
    """Return the output of ``prorl verify answer --explain --json``."""
    asked = ["--verifier", verifier, "--reference", "{}", "--explain", "--json", response]
    run = prorl(None, "verify", "answer", "--plugin", str(plugin), *asked)
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


def test_a_plug_ins_notes_come_from_its_worker_and_cannot_contradict_the_verdict(
    tmp_path: Path,
) -> None:
    plugin = tmp_path / "noting.py"
    plugin.write_text(PLUGIN)
    (right,) = explained_by(plugin, "noting", "<think>.</think>right")["findings"]
    assert right["span"] == [16, 21]
    much = explained_by(plugin, "noting", "much")["findings"]
    assert [much[0]["outcome"], much[-1]["outcome"]] == ["passed", "failed"]
    assert "more findings" in much[-2]["title"] and much[-1]["title"] == "verdict"
    ran = explained_by(plugin, "running", "x")
    assert ran["reward"] == 1.0 and ran["findings"][0]["fields"] == [["printed", "1\n"]]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\frac{1}{2}", "1 / 2"),
        (r"2\sqrt{3}x^{n+1}", "2 · root(3, 2) · (x^(n + 1))"),
        (r"\{1, -2\}", "{1, -2}"),
        (r"(-\infty, 3] \cup \{5\}", "(-inf, 3] ∪ {5}"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "[1, 2; 3, 4]"),
        (r"x \le 3", "x <= 3"),
        (r"30^\circ", "30°"),
        ("9" * 500, "a number of 1661 bits"),
    ],
)
def test_a_tree_is_written_as_it_was_read(text: str, shown: str) -> None:
    assert written(read(text)) == shown


# ------------------------------------------------------------------------------- test cases


def test_a_response_copied_as_a_test_case_is_a_line_of_verify_file(tmp_path: Path) -> None:
    task = load_task("math", {"answer": "2"})
    path = tmp_path / "cases.jsonl"
    row: Mapping[str, Any] = as_test_case("run-7/12", task, "\\boxed{2}", 1.0)
    path.write_text(json.dumps(row) + "\n")
    (item,) = read_items(path)
    assert (item.id, item.task, item.response, item.expected) == ("run-7/12", task, "\\boxed{2}", 1)
    assert item.expects(Verdict(1.0, "scored", "")) and not item.expects(Verdict(0.0, "scored", ""))
    assert not item.expects(Verdict(None, "infra_error", ""))
