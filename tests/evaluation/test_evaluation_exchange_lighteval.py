"""Tasks of lighteval: configs are read with ast, prompt functions interpreted in part, nothing is imported."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from prorl_evaluation import EvaluationError
from prorl_evaluation.exchange.harness_task import RefusedTask
from prorl_evaluation.exchange.reading import read_foreign
from prorl_evaluation.exchange.suite_files import ForeignSuite
from prorl_verifiers.exact_match.spec import score

HEAD = '''
from string import ascii_uppercase
open("ran", "w").write("never")
TEMPLATE = dedent("""
Solve.

{question}
""").strip()
'''
PROMPT = '''
def prompt(line, task_name: str = None):
    """Ask."""
    query = TEMPLATE.format(question=line["q"])
    if line.get("hint"):
        query += f" Hint: {line['hint'].strip()}"
    query += "".join([f"\\n{key}. {c}" for key, c in zip(ascii_uppercase, line["choices"])])
    gold = line["gold"] if isinstance(line["gold"], list) else ascii_uppercase.index("A")
    return Doc(task_name=task_name, query=query, choices=line["choices"], gold_index=gold)
'''
CONFIG = """
one = LightevalTaskConfig(
    name="sums", prompt_function=prompt, hf_repo="some/sums", hf_subset="main",
    evaluation_splits=["test"], generation_size=32, stop_sequence=["\\n"],
    metrics=[Metrics.exact_match, Metrics.bleu], version=1,
)
"""
ROWS = [
    {"q": "1 + 1?", "choices": [" 2 ", "3"], "gold": 0, "hint": " small "},
    {"q": "2 + 2?", "choices": ["4", "four"], "gold": [0, 1]},
]


def suite(
    folder: Path, source: str = HEAD + PROMPT + CONFIG, task: str | None = None
) -> ForeignSuite:
    """Read a task of a file with that source."""
    file, data = folder / "task.py", folder / "test.jsonl"
    file.write_text(source)
    data.write_text("".join(json.dumps(r) + "\n" for r in ROWS))
    return read_foreign(file, {"test": data}, task=task)


def test_a_config_becomes_a_suite_and_nothing_of_it_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = suite(tmp_path)
    assert found.problems[0].prompt[0]["content"] == ("Solve.\n\n1 + 1? Hint: small\nA.  2 \nB. 3")
    assert found.sampling == {"n": 1, "temperature": 0.0, "top_p": 1.0, "max_tokens": 32}
    first, second = (p.task.reference for p in found.problems)
    assert score(" 2\nbecause", first).reward == 1.0 and score("3", first).reward == 0.0
    assert score("four", second).reward == 1.0
    assert "left out: metrics bleu" in found.notes
    assert not (tmp_path / "ran").exists()


def test_a_prompt_function_is_given_what_lighteval_gives_it(tmp_path: Path) -> None:
    body = """
def prompt(line, task_name=None):
    query = f"{task_name} {line['__index']} {line['__few_shots']} {line['q']}"
    return Doc(query=query, choices=["a"], gold_index=0)
"""
    asked = [p.prompt[0]["content"] for p in suite(tmp_path, body + CONFIG).problems]
    assert asked == ["sums 0 False 1 + 1?", "sums 1 False 2 + 2?"]
    with pytest.raises(RefusedTask, match="other arguments than a row and a task's name"):
        suite(tmp_path, body.replace("task_name=None", "task_name=None, shots=3") + CONFIG)


def test_thinking_is_taken_off_before_exact_match_as_lighteval_does(tmp_path: Path) -> None:
    reference = suite(tmp_path).problems[0].task.reference
    assert score("<think>3</think> 2", reference).reward == 1.0
    assert score("<think>3 2", reference).reward == 0.0


@pytest.mark.parametrize(
    ("instruction", "query", "asked"),
    [("Do. ", "Do.  q ", "Do. q"), ("Say. ", " q ", "Say.  q "), ("", " q ", "q")],
)
def test_an_instruction_stands_once_before_the_question(
    tmp_path: Path, instruction: str, query: str, asked: str
) -> None:
    doc = f"Doc(query={query!r}, choices=['a'], gold_index=0, instruction={instruction!r})"
    found = suite(tmp_path, f"def prompt(line):\n    return {doc}\n{CONFIG}")
    assert found.problems[0].prompt[0]["content"] == asked


def test_an_empty_answer_is_never_right_nor_the_word_none(tmp_path: Path) -> None:
    body = "def prompt(line, task_name=None):\n    return Doc(query='q', choices=['', 'a', None], gold_index={})\n"
    several = suite(tmp_path, body.format("[0, 1, 2]") + CONFIG).problems[0].task.reference
    assert [score(text, several).reward for text in ("a", "", "None")] == [1.0, 0.0, 0.0]
    with pytest.raises(EvaluationError, match="there is no gold answer"):
        suite(tmp_path, body.format(0) + CONFIG)


def test_mathematical_metrics_are_judged_by_our_verifier_and_it_is_said(tmp_path: Path) -> None:
    metrics = "[Metrics.avg_at_n_math(sample_params={'n': 8})]"
    found = suite(
        tmp_path, HEAD + PROMPT + CONFIG.replace("[Metrics.exact_match, Metrics.bleu]", metrics)
    )
    assert found.problems[0].task.verifier == "math" and found.sampling["n"] == 8
    assert "temperature" not in found.sampling
    assert any("math verifier judges in place" in note for note in found.notes)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("[Metrics.exact_match, Metrics.bleu]", "[Metrics.loglikelihood_acc]", "loglikelihood_acc"),
        (
            "Metrics.exact_match,",
            "Metrics.exact_match(sample_params={'normalize_gold': f}),",
            "comp",
        ),
        ('hf_subset="main"', 'hf_subset="main", hf_filter=lambda r: True', "hf_filter is computed"),
        ("prompt_function=prompt", "prompt_function=prompts.own", "not defined in the file"),
        ("query += ", "import os; query += ", "not interpreted: import os"),
        ("line.get(", "os.system(", "not interpreted: os.system"),
        ("query += ", "query = query * 9 + ", r"not interpreted: query \* 9"),
    ],
)
def test_what_is_not_read_is_refused_with_the_reason(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    with pytest.raises(RefusedTask, match=reason):
        suite(tmp_path, HEAD + (PROMPT + CONFIG).replace(old, new))


@pytest.mark.parametrize(
    "body",
    [
        "q = 'aa'\n" + "q = q + q\n" * 60 + "return Doc(query=q, choices=['1'], gold_index=0)",
        "q = ['aa', 'bb']\n"
        + "q = [q, q]\n" * 60
        + "return Doc(query=str(q), choices=[], gold_index=0)",
        "q = 'ab'\n"
        + "q = q.replace('a', q)\n" * 99
        + "return Doc(query=q, choices=[], gold_index=0)",
        "return Doc(query='{0.__class__}'.format(line), choices=['1'], gold_index=0)",
    ],
)
def test_hostile_functions_end_with_one_line(tmp_path: Path, body: str) -> None:
    function = "def prompt(line, task_name=None):\n" + textwrap.indent(body, "    ") + "\n"
    with pytest.raises(EvaluationError, match=r"grows beyond|not interpreted"):
        suite(tmp_path, function + CONFIG)


def test_a_file_of_several_tasks_asks_for_one(tmp_path: Path) -> None:
    source = HEAD + PROMPT + CONFIG + CONFIG.replace('"sums"', '"more"')
    with pytest.raises(EvaluationError, match="defines 2 tasks, name one with --task: sums, more"):
        suite(tmp_path, source)
    assert suite(tmp_path, source, "more").name == "more"
    with pytest.raises(EvaluationError, match="tasks made in loops"):
        suite(tmp_path, "tasks = [f(x) for x in y]\n")


TEXT = "S = '" + "a " * 400_000 + "'\n"


@pytest.mark.parametrize("made", ["S[1:]", "S.split()", "S.upper()", "'b' in S", "[S] == [S, 1]"])
def test_a_row_that_would_handle_gigabytes_is_ended_at_once(tmp_path: Path, made: str) -> None:
    body = f"    x = [{made} for _ in S[0:30000]]\n    return Doc(query='q', choices=['a'])\n"
    with pytest.raises(EvaluationError, match="a row handles more than"):
        suite(tmp_path, f"{TEXT}def prompt(line):\n{body}{CONFIG}")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("evaluation_splits=5", "evaluation_splits holds no texts"),
        ("stop_sequence=stops()", "stop_sequence holds no texts"),
        ("metrics=[Metrics.pass_at_k_math(sample_params={1: 2})]", "its metric is computed"),
        (f"generation_grammar={'+'.join(['x'] * 900)}", "generation_grammar is computed"),
    ],
)
def test_a_field_that_makes_no_sense_is_a_reason(tmp_path: Path, changed: str, said: str) -> None:
    fields = {
        "prompt_function": "prompt",
        "evaluation_splits": "['test']",
        "metrics": "[Metrics.exact_match]",
    }
    key, _, value = changed.partition("=")
    given = ", ".join(f"{k}={v}" for k, v in {**fields, key: value}.items())
    with pytest.raises(RefusedTask, match=said):
        suite(tmp_path, HEAD + PROMPT + f"one = LightevalTaskConfig(name='a', {given})\n")
