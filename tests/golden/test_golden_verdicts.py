"""Verdicts on stored pairs, public test rows (PRORL_TEST_DATA) and reasoning-gym entries stay the same."""

from __future__ import annotations

import ast
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers import Task, TaskError, Verdict, VerifierPool, load_task
from prorl_verifiers.instruction.official_text import tagger_installed

TESTS = Path(__file__).resolve().parents[1]
GONE_METRICS = {"judge", "plugin"}
"""Removed metrics, which named a component and not a result."""
TAGGED = "words:start_verb"
"""It needs a tagger that not every machine has."""
RANDOM_KEYS = {1122, 3112}
"""Rows of IFEval whose published check is random."""
MODES = ("fixed", "reference")
ENTRIES = """
import json, sys
import reasoning_gym
from prorl_verifiers import logic_datasets
from prorl_verifiers.logic.witness import right_answer

def plain(value):
    return value.item() if hasattr(value, "item") else str(value)

for name in logic_datasets():
    if name != "codeio":  # it generates for seconds
        made = reasoning_gym.create_dataset(name, size=2, seed=7)
        entries = [json.loads(json.dumps(made[i], default=plain)) for i in range(2)]
        print("\\n" + json.dumps([name, [[entry, right_answer(name, entry) or ""] for entry in entries]]))
"""
"""Print two entries of each dataset with their right answers, one line per dataset."""
Row = tuple[str, str, str, Mapping[str, Any]]
"""Key, response, verifier, reference."""


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON lines file, gzip or plain."""
    content = path.read_bytes()
    plain = gzip.decompress(content) if path.suffix == ".gz" else content
    yield from map(json.loads, plain.splitlines())


def stored_pairs() -> Iterator[Row]:
    """Yield the labelled pairs of tests/data, and composed tasks made of the same pairs."""
    for split in ("dev", "heldout"):
        for at, row in enumerate(lines(TESTS / "data" / "verifier_pairs" / f"{split}.jsonl")):
            yield row["id"], row["response"], row["verifier"], row["reference"]
            if at % 50 == 0:
                yield from parts_of(row)
    for at, row in enumerate(lines(TESTS / "data" / "outside_pairs.jsonl")):
        reference = {"answer": row["gold"]}
        yield f"outside-{at:03}", rf"\boxed{{{row['answer']}}}", row["verifier"], reference


def parts_of(row: Mapping[str, Any]) -> Iterator[Row]:
    """Yield an exact match of a pair's last word, and a task composed of that and the pair's own task."""
    words = row["response"].split() or [""]
    exact = {"answer": words[-1].upper(), "ignore_case": True}
    yield f"{row['id']}-exact", words[-1], "exact_match", exact
    parts = [
        {"verifier": row["verifier"], "reference": row["reference"], "weight": 3},
        {"verifier": "exact_match", "reference": exact},
    ]
    yield f"{row['id']}-parts", row["response"], "composite", {"parts": parts}


def public_pairs(data: Path) -> Iterator[Row]:
    """Yield the unit tests of public graders as responses, whether they are right or not."""
    folder = data / "verifier"
    for at, row in enumerate(lines(folder / "foreign_pairs_even.jsonl.gz")):
        yield f"foreign-{at:03}", row["response"], row["verifier"], row["reference"]
    for at, row in enumerate(lines(folder / "math_verify_tests_even.jsonl.gz")):
        yield f"math-verify-{at:03}", row["pred"], "math", {"answer": row["gold"]}
        boxed = rf"\boxed{{{row['pred'].strip('$')}}}"
        yield f"math-verify-{at:03}-boxed", boxed, "math", {"answer": row["gold"].strip("$")}
    for at, row in enumerate(lines(folder / "lighteval_extractive_match_tests_even.jsonl.gz")):
        letters = "NativeLetters" in row["match_types"]
        reference = {"answer": row["gold"]} | ({"choices": ["p", "q", "r", "s"]} if letters else {})
        yield f"lighteval-{at:03}", row["pred"], "stem" if letters else "math", reference
    for at, row in enumerate(lines(folder / "grader_unit_cases_sample.jsonl.gz")):
        match row["args"]:
            case [str(response), str(gold)]:
                yield f"grader-{at:03}", response, "math", {"answer": gold}
    for at, row in enumerate(lines(folder / "open_instruct_verifier_cases.jsonl.gz")):
        if "label" in row:
            reference = {"answer": str(row["label"])}
            yield f"open-instruct-{at:03}", str(row["prediction"]), "math", reference


def instruction_rows(data: Path) -> Iterator[Row]:
    """Yield the graded responses of IFEval and IFBench and IFBench's unit tests, in both modes."""
    rows = list(_instruction_rows(data / "if"))
    for mode in MODES:
        for key, response, ids, kwargs in rows:
            if TAGGED not in ids or tagger_installed():
                reference = {"instruction_id_list": ids, "kwargs": kwargs, "mode": mode}
                yield f"{key}-{mode}", response, "instruction", reference


def _instruction_rows(folder: Path) -> Iterator[tuple[str, str, list[str], list[Any]]]:
    for row in lines(folder / "ifeval_mistral7b_graded.jsonl.gz"):
        if row["key"] not in RANDOM_KEYS:
            key = f"ifeval-{row['key']}"
            yield key, row["response"], row["instruction_id_list"], row["kwargs"]
    asked = {row["prompt"]: row for row in lines(folder / "ifbench_test.jsonl.gz")}
    for at, row in enumerate(lines(folder / "ifbench_sample_graded_even.jsonl.gz")):
        prompt = asked.get(row["prompt"])
        if prompt is not None:
            ids = row["instruction_id_list"]
            kwargs = [{k: v for k, v in one.items() if v is not None} for one in prompt["kwargs"]]
            yield f"ifbench-{at:03}", row["response"], ids, kwargs
    for at, row in enumerate(lines(folder / "ifbench_instructions_test_cases_even.jsonl.gz")):
        yield (
            f"ifbench-test-{at:03}",
            row["response"],
            [row["instruction_id"]],
            [row["kwargs"] or {}],
        )


def code_rows(data: Path) -> Iterator[Row]:
    """Yield canonical solutions of HumanEval and of every fourth MBPP task, each also with a wrong return value."""
    sources = []
    for row in lines(data / "code" / "humaneval_even.jsonl.gz"):
        check = {"tests": [{"check": row["test"]}], "entry_point": row["entry_point"]}
        sources.append((row["task_id"], row["prompt"] + row["canonical_solution"], check))
    for at, row in enumerate(lines(data / "code" / "mbpp_even.jsonl.gz")):
        if at % 4 == 0:
            tests = {"tests": [{"assert": text} for text in row["test_list"]]}
            source = row["test_setup_code"] + "\n" + row["code"]
            sources.append((f"MBPP/{row['task_id']}", source, tests))
    for key, source, reference in sources:
        yield f"{key}-right", f"```python\n{source}\n```\n", "code", reference
        yield f"{key}-wrong", f"```python\n{broken(source)}\n```\n", "code", reference


def broken(source: str) -> str:
    """Return ``source`` with None as the value of its last return statement."""
    tree = ast.parse(source)
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    if returns:
        returns[-1].value = ast.Constant(None)
    return ast.unparse(tree)


def logic_rows() -> Iterator[Row]:
    """Yield reasoning-gym entries, each with its right answer, another entry's and a constant."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}  # some generators iterate over sets
    command = [sys.executable, "-W", "ignore", "-c", ENTRIES]
    printed = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    for line in printed.splitlines():
        if not line.startswith(b"["):  # output of a generator itself
            continue
        name, entries = json.loads(line)
        for at, (entry, answer) in enumerate(entries):
            tried = {"right": answer, "other": entries[at - 1][1], "constant": "[1]"}
            for kind, text in tried.items():
                response = f"So it is <answer>{text}</answer>"
                yield f"{name}-{at}-{kind}", response, "logic", {"dataset": name, "entry": entry}


def verdicts(rows: list[Row]) -> dict[str, Verdict | TaskError]:
    """Score the rows in a pool; rejected tasks give their error."""
    tasks: dict[str, tuple[str, Task]] = {}
    found: dict[str, Verdict | TaskError] = {}
    for key, response, verifier, reference in rows:
        try:
            tasks[key] = (response, load_task(verifier, reference))
        except TaskError as error:
            found[key] = error
    with VerifierPool(2, timeout_seconds=60) as pool:
        scored = pool.score(list(tasks.values()))
    return found | dict(zip(tasks, scored, strict=True))


def kept(verdict: Verdict | TaskError) -> list[Any]:
    """Return the parts of a verdict that may not change: reward, status, extracted answer, metrics."""
    if isinstance(verdict, TaskError):
        return [None, "task_error", None, {}]
    metrics = {k: v for k, v in verdict.metrics.items() if k not in GONE_METRICS}
    return [verdict.reward, verdict.status, verdict.extracted, metrics]


def hashed(verdict: Verdict | TaskError, digest: Callable[[Any], str]) -> list[Any]:
    """Return reward, status and a hash of the rest."""
    reward, status, *rest = kept(verdict)
    return [reward, status, digest(rest)]


def test_every_25th_stored_pair_has_the_verdict_it_had(golden: Any) -> None:
    found = verdicts(list(stored_pairs())[::25])
    golden.check(
        "verdicts_pairs", {key: kept(verdict) for key, verdict in found.items()}, part=True
    )


@pytest.mark.slow
def test_every_stored_pair_has_the_verdict_it_had(golden: Any) -> None:
    found = verdicts(list(stored_pairs()))
    golden.check("verdicts_pairs", {key: kept(found[key]) for key in sorted(found)})


@pytest.mark.slow
@pytest.mark.parametrize("rows", [public_pairs, instruction_rows, code_rows])
def test_public_rows_have_the_verdicts_they_had(
    rows: Callable[[Path], Iterator[Row]], test_data: Path, golden: Any, digest: Any
) -> None:
    found = verdicts(list(rows(test_data)))
    golden.check(
        f"verdicts_{rows.__name__}", {key: hashed(found[key], digest) for key in sorted(found)}
    )


@pytest.mark.slow
def test_logic_entries_have_the_verdicts_they_had(golden: Any, digest: Any) -> None:
    found = verdicts(list(logic_rows()))
    golden.check("verdicts_logic", {key: hashed(found[key], digest) for key in sorted(found)})
