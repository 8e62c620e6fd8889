"""The scorers of other projects, unchanged, beside ours: wrong verdicts, time, and what hostile answers do.

    PRORL_TEST_DATA=... python benchmarks/verifiers_originals.py [--limit N] [--docs FILE] [--json FILE]

verl (its gsm8k, math_reward, math_dapo, prime_math and math_verify), TRL and lighteval come as pinned wheels into the
cache folder, without their dependencies; math-verify alone is the one that is installed. Everyone sees the same
response and the same gold in one run, one process each, killed after 5 seconds. Writes the table that leads
docs/reference/verifier-accuracy.md. Leaves out NeMo-Gym, open-instruct and PRIME, which no registry has (PRIME's math
grader is verl's prime_math).
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path

import accuracy_cases
import accuracy_tables
from graders.original import PINS, unpacked
from graders.original_scorers import LOADERS
from graders.process import Graded, GraderProcess
from verifiers import mix

from prorl_verifiers import TaskError, VerifierPool, load_task

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs" / "reference" / "verifier-accuracy.md"
LIMIT = 5.0
SOLUTIONS = 60
SPOILT_GOLDS = 24
SPOILINGS = (
    r"\boxed{not %s}",
    r"\boxed{%s is wrong}",
    r"\boxed{It is false that %s}",
    r"\boxed{%s or %s}",
    r"The answer is not \boxed{%s}.",
    r"\boxed{%s} is wrong.",
    r"It is false that the answer is \boxed{%s}.",
    r"The answer is \boxed{%s} or \boxed{%s}.",
)
GROUPS = ("tests, in a box", "tests, bare", "worked solutions", "spoilt golds")
HOSTILE = {
    "nesting": "\\boxed{" + "(" * 5000 + "4" + ")" * 5000 + "}",
    "1 MB of braces": "\\boxed{" + "{" * 1_000_000,
    "`9**9**9`": r"\boxed{9**9**9}",
    "`9^{9^{9}}`": r"\boxed{9^{9^{9}}}",
}
"""Wrong answers to the gold 4."""


ABOUT = """The published scorers themselves, from their wheels: one process each, the same responses and golds, killed after
5 seconds (then the answer counts as refused). Modules that a scorer's file imports for other metrics are stand-ins.

- **tests**: unit tests of slime, AReaL, open-instruct, math-verify and lighteval, labelled as their authors expect, so
  math-verify and what builds on it is at home there. Answers of math-verify's tests were put in a box; choices and other
  languages are left out. *Bare* ones have no box and no line that states the answer: ours refuses them on purpose.
- **worked solutions**: those of the GSM8K and MATH-500 test sets with a box, every second one wrong. No model responses:
  the data holds none for math.
- **spoilt golds**: "not G", "G is wrong", "It is false that G" and "G or H", inside a box and around one, all wrong by
  our convention. Scorers that read a box without the words beside it pay for three of the eight forms.
- **hostile**: wrong answers that were not refused in time, of nested brackets, 1 MB of braces, `9**9**9` and `9^{9^{9}}`.
  *hang* is a kill at the limit (ours: `timeout` after a second try), *PAID* a reward.
- verl's gsm8k expects `#### G`, which few of these responses have: its refusals say little. verl's prime_math is PRIME's
  grader. TRL and lighteval get the gold between dollars.
- Left out: NeMo-Gym, open-instruct and PRIME's own repository, which no package registry has."""


@dataclass(frozen=True)
class Pair:
    """One labelled answer of a group."""

    group: str
    gold: str
    response: str
    right: bool


@dataclass
class Row:
    """What one scorer did. ``wrong``: group -> [false accepts, false rejects]."""

    scorer: str
    version: str
    wrong: dict[str, list[int]] = field(default_factory=lambda: {name: [0, 0] for name in GROUPS})
    milliseconds: list[float] = field(default_factory=list)
    faults: int = 0
    hostile: dict[str, str] = field(default_factory=dict)

    def at(self, share: float) -> float:
        """Return a quantile of the time, in milliseconds."""
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def pairs(data: Path, limit: int | None) -> list[Pair]:
    """Return all pairs: other projects' unit tests, worked solutions, and golds that were spoilt."""
    tests = [
        _test(case.gold, case.response, case.right) for case in accuracy_cases.public_cases(data)
    ] + list(_answer_pairs(data))
    solutions = mix(data, SOLUTIONS)
    solved = [Pair("worked solutions", one.gold, one.response, one.right) for one in solutions]
    draw = random.Random("spoilt golds")
    golds = sorted({one.gold for one in solutions if one.right})
    draw.shuffle(golds)
    spoilt = [
        Pair("spoilt golds", gold, text % (gold, other)[: text.count("%s")], False)
        for gold, other in itertools.pairwise(golds[: SPOILT_GOLDS + 1])
        for text in SPOILINGS
    ]
    return [pair for group in (tests, solved, spoilt) for pair in group[:limit]]


def _test(gold: str, response: str, right: bool) -> Pair:
    return Pair(GROUPS[0] if "boxed" in response else GROUPS[1], gold, response, right)


def _answer_pairs(data: Path) -> Iterator[Pair]:
    """Yield math-verify's and lighteval's tests of English math, the answer in a box where none is said."""
    for name in ("math_verify_tests_even", "lighteval_extractive_match_tests_even"):
        with gzip.open(data / "verifier" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                letters = "NativeLetters" in row["match_types"]
                if letters or row.get("language", "english") != "english":
                    continue
                gold, response = row["gold"].strip("$ "), row["pred"]
                if "boxed" not in response and name.startswith("math_verify"):
                    response = f"\\boxed{{{response.strip('$ ')}}}"
                yield _test(gold, response, bool(row["expected"]))


def ours(pool: VerifierPool, mode: str) -> Callable[[str, str], Graded]:
    """Return our math verifier in a mode; a gold that it refuses as a task is a rejection."""

    def grade(gold: str, response: str) -> Graded:
        try:
            task = load_task("math", {"answer": gold, "mode": mode})
        except TaskError:
            return Graded(False, 0.0, "no task")
        verdict = pool.score([(response, task)])[0]
        note = {"timeout": "hang", "infra_error": "process died"}.get(verdict.status, "")
        return Graded(verdict.reward == 1.0, verdict.seconds, note)

    return grade


def measure(row: Row, grade: Callable[[str, str], Graded], cases: list[Pair]) -> Row:
    """Ask one scorer everything."""
    for case in cases:
        found = grade(case.gold, case.response)
        row.milliseconds.append(found.seconds * 1000)
        row.faults += bool(found.note)
        if found.accepted != case.right:
            row.wrong[case.group][0 if found.accepted else 1] += 1
    for name, response in HOSTILE.items():
        found = grade("4", response)
        row.hostile[name] = "PAID" if found.accepted else found.note or "ok"
    wrong = ", ".join(f"{group} {a}/{r}" for group, (a, r) in row.wrong.items())
    print(
        f"{row.scorer} {row.version}: {wrong}; p99 {row.at(0.99):.1f} ms; {row.hostile}", flush=True
    )
    return row


def rows(cases: list[Pair]) -> Iterator[Row]:
    """Yield a row a scorer, ours first."""
    with VerifierPool(1, timeout_seconds=LIMIT) as pool:
        pool.score([(r"\boxed{\frac{x}{2}}", load_task("math", {"answer": "x"}))])
        pool.wait_until_warm()
        for mode in ("decided", "either"):
            name = "prorl" if mode == "decided" else f"prorl ({mode})"
            yield measure(Row(name, metadata.version("prorl")), ours(pool, mode), cases)
    with GraderProcess("graders.math_verify_alone", (), LIMIT) as alone:
        row = Row("math-verify alone", metadata.version("math-verify"))
        yield measure(row, alone.grade, cases)
    for name in LOADERS:
        project = name.split()[0].lower()
        place = (name, str(unpacked(project)))
        with GraderProcess("graders.original_scorers", place, LIMIT) as scorer:
            yield measure(Row(name, PINS[project][0].partition("==")[2]), scorer.grade, cases)


def table(found: list[Row], cases: list[Pair]) -> list[str]:
    """Return the table as Markdown."""
    sizes = {
        group: (
            sum(case.group == group and not case.right for case in cases),
            sum(case.group == group and case.right for case in cases),
        )
        for group in GROUPS
    }
    groups = " | ".join(f"{group} ({a} / {r})" for group, (a, r) in sizes.items())
    versions = {f"{row.scorer.split()[0]} {row.version}": None for row in found}
    silent = [f"{row.scorer} {row.faults}" for row in found if row.faults]
    lines = [
        *ABOUT.splitlines(),
        "",
        (
            "Cells: false accepts / false rejects; in the head, how many answers were wrong / right. Raised or"
            f" killed there: {', '.join(silent) or 'none'}."
        ),
        (
            f"{', '.join(versions)}. Load when the table was made: {os.getloadavg()[0]:.0f} on"
            f" {len(os.sched_getaffinity(0))} processors."
        ),
        "",
        f"| scorer | {groups} | p50 ms | p99 ms | hostile |",
        "|" + "---|" * (4 + len(GROUPS)),
    ]
    for row in found:
        wrong = " | ".join(f"{a} / {r}" for a, r in row.wrong.values())
        hostile = ", ".join(f"{name}: {end}" for name, end in row.hostile.items() if end != "ok")
        lines.append(
            f"| {row.scorer} | {wrong} | {row.at(0.5):.2f} | {row.at(0.99):.1f} | {hostile} |"
        )
    return lines


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--limit", type=int, help="use only so many pairs of each group")
    parser.add_argument("--docs", type=Path, help=f"the document to write ({DOCS.name})")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    options = parser.parse_args()
    value = os.environ.get("PRORL_TEST_DATA")
    if not value:
        raise SystemExit("set PRORL_TEST_DATA to the folder with the public test data")
    cases = pairs(Path(value), options.limit)
    found = list(rows(cases))
    lines = table(found, cases)
    print("\n".join(lines))
    if options.docs:
        before = options.docs.read_text(encoding="utf-8")
        text = accuracy_tables.document({"originals": lines}, Path(value), before)
        options.docs.write_text(text, encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in found]), encoding="utf-8")


if __name__ == "__main__":
    main()
