"""Golds that are no answers: each rule finds its kind and lets real golds be; votes find a majority against."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.data.app import app
from prorl_datasets import DatasetError
from prorl_datasets.golds import rules
from prorl_datasets.golds.audit import AGAINST, MANY_ROWS, TWO_ANSWERS, audit_golds, item_of
from prorl_datasets.golds.items import gold_items
from prorl_datasets.golds.votes import add_votes
from prorl_verifiers import Task, VerifierPool

REAL = [
    "7", "-1/2", r"\frac{1}{2}", "x = 3", "[1, 2)", r"\text{no solution}", "undefined", r"\infty", "Na", "NaCl", "A",
    "yes", "0", "3 or 4", r"\text{Los Angeles}", "the mitochondrial membrane", "$x^2 + 1$", r"\begin{pmatrix} a & b \end{pmatrix}",
    "December 25, 1642", "12 square feet", r"\left(\frac{1}{2}, \infty\right)", "50 figures", "increasing", "(1,2)", "1,2,3",
    r"a_n = a_{n-1} + 2^{n} \text{ for all } n \geq 1", "See", "above", "Nan Goldin",
]  # fmt: skip


@pytest.mark.parametrize("gold", REAL)
def test_real_golds_pass(gold: str) -> None:
    assert rules.clear(gold) is None
    assert rules.doubtful(gold, "What is it?") is None


@pytest.mark.parametrize(
    ("gold", "rule"),
    [
        ("", "empty"), ("  \n", "empty"), ("nan", "null word"), ("NaN", "null word"), ("null", "null word"),
        ("None", "null word"), ("N/A", "null word"), ("$\\ $", None), ("No answer found.", "null word"),
        ("See the proof above.", "points elsewhere"), ("see solution", "points elsewhere"),
        ("Refer to the attached figure for the answer", "points elsewhere"), ("As shown above.", "points elsewhere"),
        ("The proof is left to the reader", "points elsewhere"), ("Please see the explanation below", "points elsewhere"),
    ],
)  # fmt: skip
def test_what_is_clearly_no_answer_is_found(gold: str, rule: str | None) -> None:
    assert rules.clear(gold) == rule


@pytest.mark.parametrize(
    ("gold", "rule"),
    [
        ("none", "null word"), ("TODO", "placeholder"), ("?", "placeholder"), ("...", "placeholder"), ("[]", "placeholder"),
        ("your answer here", "placeholder"), ("https://example.org/a.png", "link"), ("Q.E.D.", "proof"), ("Proved.", "proof"),
        ("what  is IT?", "the question itself"), ("['4']", "a list written as text"),
        ("The rocket reaches its largest height of 500 feet after some seconds", "prose"),
    ],
)  # fmt: skip
def test_what_is_probably_no_answer_is_found(gold: str, rule: str) -> None:
    assert rules.doubtful(gold, "What is it?") == rule


def items(*rows: tuple[str, str], source: str = "s") -> list[Any]:
    return [
        item_of(f"r{n}", source, question, Task("math", {"answer": answer}), f"\\boxed{{{answer}}}")
        for n, (question, answer) in enumerate(rows)
    ]


def test_one_value_for_many_rows_and_not_a_common_answer() -> None:
    sevens = items(*((f"Question {n}?", "7") for n in range(10)))
    audit = audit_golds(sevens)
    assert audit.found == {MANY_ROWS: 10}
    assert audit.examples[MANY_ROWS][0].detail == "10 of 10 golds of s"
    fair = items(*((f"Question {n}?", str(n % 7)) for n in range(70)))
    letters = items(*((f"Choice {n}?", "AB"[n % 2]) for n in range(40)), source="t")
    assert not audit_golds([*fair, *letters]).found
    assert audit_golds(items(*((f"Choice {n}?", "A") for n in range(40)))).found == {MANY_ROWS: 40}


def test_two_answers_to_one_question_unless_they_accept_each_other(pool: VerifierPool) -> None:
    rows = items(
        ("What is 1/2?", "1/2"), ("what is  1/2?", "0.5"), ("Which?", "3"), ("Which?", "4")
    )
    assert audit_golds(rows).found == {TWO_ANSWERS: 2}
    audit = audit_golds(rows, scorer=pool)
    assert audit.found == {TWO_ANSWERS: 1}
    (finding,) = audit.examples[TWO_ANSWERS]
    assert (finding.place, finding.gold, finding.detail) == ("r3", "4", "r2 has '3'")


def test_a_majority_against_the_gold_is_found_and_others_are_not(
    tmp_path: Path, pool: VerifierPool
) -> None:
    golds = items(("Two and two?", "5"), ("One and one?", "2"), ("Hard?", "9"), ("Unasked?", "1"))
    said = {
        "r0": ["4", "4", "4.0", "4"],
        "r1": ["2", "2", "2", "3"],
        "r2": ["1", "2", "3", "4"],
    }
    lines: list[dict[str, Any]] = [
        {"id": place, "response": f"so \\boxed{{{answer}}}"}
        for place, answers in said.items()
        for answer in answers
    ]
    lines[0] = {"prompt": "two and  two?", "responses": [lines[0]["response"]]}
    (tmp_path / "v.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    audit = audit_golds(golds)
    add_votes(audit, golds, [tmp_path / "v.jsonl"], pool, 5)
    assert audit.votes == {"rows": 3, "agree": 1, "against": 1, "undecided": 1}
    (finding,) = audit.examples[AGAINST]
    assert (finding.place, finding.gold) == ("r0", "5")
    assert finding.detail == "3 of 4 responses say '4', none the gold"


@pytest.mark.parametrize(
    "line", ['{"id": "r0"}', '{"response": "x"}', '{"id": "r0", "response": 3}']
)
def test_votes_without_id_or_response_are_one_line(
    tmp_path: Path, pool: VerifierPool, line: str
) -> None:
    (tmp_path / "v.jsonl").write_text(line + "\n")
    golds = items(("Two?", "2"))
    with pytest.raises(DatasetError, match=r"v.jsonl:1: expected 'id'"):
        add_votes(audit_golds(golds), golds, [tmp_path / "v.jsonl"], pool, 5)


def run(*words: str) -> tuple[int, Any]:
    done = CliRunner().invoke(app, ["audit-golds", *words, "--json"])
    return done.exit_code, json.loads(done.stdout) if done.stdout else done.exception


def test_the_command_reads_datasets_recipes_and_files(
    tmp_path: Path, small_dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, found = run(str(small_dataset))
    assert (code, found["found"], found["rows"]) == (0, {}, 56)
    rows = [
        {"problem": f"Is {n} prime?", "answer": gold}
        for n, gold in enumerate(["yes", None, "See the proof above.", "?"])
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = {"empty": 1, "points elsewhere": 1, "placeholder": 1}
    code, found = run("a.jsonl")
    assert (code, found["found"]) == (1, expected)
    assert [e["place"] for e in found["examples"]] == ["a.jsonl:2", "a.jsonl:3", "a.jsonl:4"]
    (tmp_path / "r.yaml").write_text(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n  - {name: a, domain: math, count: {train: all},\n"
        "     source: {kind: file, path: a.jsonl, columns: {prompt: problem}}}\n"
    )
    assert run("r.yaml")[1]["found"] == expected
    code, error = run("a.jsonl", "--answer", "anwser")
    assert code == 1 and "no column 'anwser' (did you mean 'answer'?)" in str(error)


def test_real_sets_have_few_findings(test_data: Path) -> None:
    columns: dict[str, Any] = {"prompt": "Body", "answer": "Answer"}
    for name, options in (("math500", {}), ("svamp", columns), ("aime24", {})):
        target = str(test_data / "math" / f"{name}.jsonl.gz")
        assert not audit_golds(gold_items(target, **options)).found, name
    broken = gzip.decompress((test_data / "math" / "college_math.jsonl.gz").read_bytes()).count(
        b"\n"
    )
    audit = audit_golds(gold_items(str(test_data / "math" / "college_math.jsonl.gz")))
    assert audit.rows == broken and audit.found["prose"] > 20
