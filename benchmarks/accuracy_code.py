"""How well the code verifier judges: public canonical solutions and seeded mutants of them.

Reads HumanEval, MBPP and MBPP+ rows from PRORL_TEST_DATA. Truth is a plain run: the tests executed in one
ordinary Python process, which is fit for these trusted sources only. A canonical solution that passes
plainly must earn 1.0; each of five seeded mutants must be judged as its plain run says. Prints Markdown;
``benchmarks/verifier_accuracy.py`` takes it into docs/reference/verifier-accuracy.md.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_verifiers import Verdict, VerifierPool, load_task

MUTANTS = 5
PLUS_INPUTS = 20
"""Inputs taken of an MBPP+ task (its own order); it has about a hundred."""
SECONDS = 3.0
"""Program time of a whole submission, here and in the plain run; a mutant may never end."""
FILES = {
    "HumanEval": "humaneval_even.jsonl.gz",
    "MBPP": "mbpp_even.jsonl.gz",
    "MBPP+": "mbppplus_even.jsonl.gz",
}

_FLOATS = "within 1e-6 of an expected float, which is forgiven"
WHY = {
    "MBPP+/300": _FLOATS,
    "MBPP+/422": _FLOATS,
    "MBPP+/596": "sys.getsizeof of a list depends on how the list was made",
}
"""Task -> why the verifier differs from a plain run there."""

_PLAIN = """
import json, sys
names = {"__name__": "program"}
job = json.load(sys.stdin)
sys.stdin = open("/dev/null")
try:
    exec(job["source"], names)
except BaseException:
    print(json.dumps({"load": False})); sys.exit()
passed = []
for test in job["tests"]:
    try:
        if "assert" in test:
            exec(test["assert"], names)
            passed.append(True)
        elif "check" in test:
            scope = {}
            exec(test["check"], scope)
            scope["check"](names[job["entry_point"]])
            passed.append(True)
        else:
            value = names[test["call"]](*json.loads(json.dumps(test["args"])))
            value = json.loads(json.dumps(value))
            passed.append(value if "expected" not in test else value == test["expected"])
    except BaseException:
        passed.append(False if "call" not in test or "expected" in test else {"raises": True})
sys.stdout = sys.__stdout__
print("\\n" + json.dumps({"passed": passed}, default=lambda value: {"raises": True}))
"""


@dataclass(frozen=True)
class Item:
    """One public task: its canonical source and the reference that the verifier gets."""

    name: str
    source: str
    reference: dict[str, Any]


@dataclass
class Tally:
    """What came out for one data set."""

    canonical: int = 0
    canonical_right: int = 0
    mutants: int = 0
    mutants_right: int = 0
    killed: int = 0
    notes: list[str] = field(default_factory=list)


def rows(data: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one data set."""
    with gzip.open(data / "code" / FILES[name], "rt") as file:
        yield from map(json.loads, file)


def items(data: Path, name: str) -> list[Item]:
    """Return the tasks of a data set, with tests in the shapes of the contract."""
    limits = {"total_seconds": SECONDS, "wall_seconds": SECONDS, "cpu_seconds": SECONDS}
    found = []
    for row in rows(data, name):
        reference: dict[str, Any] = {"limits": limits}
        if name == "HumanEval":
            source = row["prompt"] + row["canonical_solution"]
            reference |= {"tests": [{"check": row["test"]}], "entry_point": row["entry_point"]}
        elif name == "MBPP":
            source = row["test_setup_code"] + "\n" + row["code"]
            reference |= {"tests": [{"assert": text} for text in row["test_list"]]}
        else:
            source = row["canonical_solution"]
            inputs = (row["base_input"] + row["plus_input"])[:PLUS_INPUTS]
            tests = expected(source, row["entry_point"], inputs)
            if not tests:
                continue
            reference |= {"tests": tests, "entry_point": row["entry_point"]}
        found.append(Item(f"{name}/{row['task_id']}", source, reference))
    return found


def expected(source: str, call: str, inputs: Sequence[list[Any]]) -> list[dict[str, Any]]:
    """Return call tests with what the canonical solution gives; inputs that it refuses are left out."""
    tests = [{"call": call, "args": args} for args in inputs]
    values = plain_run(source, {"tests": tests})
    if values is None:
        return []
    pairs = zip(tests, values, strict=True)
    return [test | {"expected": value} for test, value in pairs if value != {"raises": True}]


def plain_run(source: str, reference: dict[str, Any]) -> list[Any] | None:
    """Run the tests in one plain process; None when it did not load or did not end in time."""
    job = {"source": source, "tests": reference["tests"]}
    job["entry_point"] = reference.get("entry_point")
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _PLAIN],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS + 1,
        )
    except subprocess.TimeoutExpired:
        return None
    try:
        reply = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return None
    passed = reply.get("passed")
    return list(passed) if passed is not None else None


_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


class _Mutation(ast.NodeTransformer):
    """Changes the one place whose turn it is; counts the places."""

    def __init__(self, place: int = -1) -> None:
        self.place = place
        self.places = 0

    def visit(self, node: ast.AST) -> Any:
        """Return the node, or its mutant at the chosen place."""
        self.generic_visit(node)
        mutant = _mutant(node)
        if mutant is None:
            return node
        self.places += 1
        return ast.copy_location(mutant, node) if self.places - 1 == self.place else node


def _mutant(node: ast.AST) -> ast.AST | None:
    """Return the mutant of a node: another operator, constant, branch or result, or a lost statement."""
    swap = _SWAPS.get(type(node))
    if swap is not None:
        return swap()
    match node:
        case ast.Constant(value=bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value=int() as value):
            return ast.Constant(value + 1)
        case ast.If(test=test, body=body, orelse=orelse):
            return ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Return(value=ast.expr()):
            return ast.Return(ast.Constant(None))
        case ast.Assign() | ast.AugAssign():
            return ast.Pass()
    return None


def mutants(item: Item) -> list[str]:
    """Return up to MUTANTS different sources, each the canonical one with one place changed."""
    tree = ast.parse(item.source)
    counter = _Mutation()
    counter.visit(ast.parse(item.source))
    order = list(range(counter.places))
    random.Random(item.name).shuffle(order)
    found = []
    for place in order[:MUTANTS]:
        tree = ast.parse(item.source)
        changed = ast.fix_missing_locations(_Mutation(place).visit(tree))
        found.append(ast.unparse(changed))
    return found


def judge(pool: VerifierPool, pairs: Sequence[tuple[str, Item]]) -> list[Verdict]:
    """Score sources as responses."""
    batch = [
        (f"```python\n{source}\n```\n", load_task("code", item.reference)) for source, item in pairs
    ]
    return pool.score(batch)


def measure_set(data: Path, name: str, pool: VerifierPool, limit: int | None) -> Tally:
    """Measure one data set."""
    tally = Tally()
    tasks = items(data, name)[:limit]
    pairs = [(item.source, item) for item in tasks]
    pairs += [(source, item) for item in tasks for source in mutants(item)]
    verdicts = judge(pool, pairs)
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        plain = list(threads.map(lambda pair: plain_run(pair[0], pair[1].reference), pairs))
    for at, ((_, item), verdict, truth) in enumerate(zip(pairs, verdicts, plain, strict=True)):
        share = None if truth is None else sum(map(bool, truth)) / len(truth)
        if at < len(tasks):
            if share == 1.0:
                tally.canonical += 1
                tally.canonical_right += verdict.reward == 1.0
        else:
            tally.mutants += 1
            tally.mutants_right += same(share, verdict)
            tally.killed += share != 1.0
        wrong = verdict.reward != 1.0 if at < len(tasks) else not same(share, verdict)
        if wrong and not (at < len(tasks) and share != 1.0):
            what = "canonical" if at < len(tasks) else "mutant"
            tally.notes.append(
                f"{item.name} {what}: plain {share}, verifier {verdict.reward}"
                f" ({WHY.get(item.name, verdict.reason)})"
            )
    return tally


def same(share: float | None, verdict: Verdict) -> bool:
    """Whether the verdict is what the plain run found; one that never ended or loaded earns no full mark."""
    if share is None:
        return verdict.reward is not None and verdict.reward < 1.0
    return verdict.reward is not None and abs(verdict.reward - share) < 1e-9


def measure(data: Path, limit: int | None = None) -> list[str]:
    """Return the Markdown lines of the code section; ``data`` is the folder of PRORL_TEST_DATA."""
    lines = [
        "| data set | canonical, passing plainly | given 1.0 | mutants | failing plainly | judged as plainly |",
        "|---|---|---|---|---|---|",
    ]
    notes = []
    with VerifierPool(os.cpu_count() or 1) as pool:
        for name in FILES:
            tally = measure_set(data, name, pool, limit)
            lines.append(
                f"| {name} | {tally.canonical} | {tally.canonical_right} | {tally.mutants}"
                f" | {tally.killed} | {tally.mutants_right} |"
            )
            notes += tally.notes
    lines += ["", "Every disagreement:" if notes else "No disagreement.", ""]
    return lines + [f"- {note}" for note in notes]


def main() -> None:
    """Print the section."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--limit", type=int, default=None, help="tasks of each data set")
    arguments = parser.parse_args()
    data = os.environ.get("PRORL_TEST_DATA")
    if not data:
        raise SystemExit("set PRORL_TEST_DATA to the folder with the public test data")
    print("\n".join(measure(Path(data), arguments.limit)))


if __name__ == "__main__":
    main()
