"""Run one attack in a sandbox and say whether it held, the way a grader would decide.

An attack prints BREACH only where it worked. Accepted means status ok and the gold, compared here
by exact built-in types or exact text, the simplest form of what the code verifier does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prorl_sandbox.attacks.catalogue import checker_for, source_for
from prorl_sandbox.attacks.types import ARGS, USUAL_LIMITS, Attack, AttackResult, Finding, Grade
from prorl_sandbox.types import Outcome, Program, Sandbox

STDIN = " ".join(map(str, ARGS)) + "\n"
OTHER_STDIN = "2 3\n"
HONEST = Program(
    "def f(a, b):\n    return a * 51 + b * 11 - 5\n",
    call="f",
    args=ARGS,
)
_HONEST_LIMITS = replace(USUAL_LIMITS, wall_seconds=30.0)
_GRADES: Mapping[str, Grade] = {
    "unserialisable": "WA",
    "timeout": "TLE",
    "memory": "MLE",
    "output-limit": "OLE",
    "compile-error": "CE",
}


def run_attack(sandbox: Sandbox, attack: Attack, words: Mapping[str, str]) -> AttackResult:
    """Run an attack as often as it asks. ``words`` fill its source. Raises SandboxError."""
    source = source_for(attack, words)
    outcomes = []
    for number in range(attack.repeat):
        other = attack.same_output and number > 0
        if attack.run == "main":
            program = Program(source, stdin=OTHER_STDIN if other else STDIN)
            outcomes.append(sandbox.run(program, attack.limits))
        elif attack.run == "call":
            program = Program(source, call="f", args=(2, 3) if other else ARGS)
            outcomes.append(sandbox.run(program, attack.limits))
        else:
            checker = checker_for(attack)
            outcomes.append(sandbox.run_check(Program(source), checker, "f", attack.limits))
    grade = max((grade_of(attack, outcome) for outcome in outcomes), key=lambda g: g == "AC")
    finding, detail = _judge(attack, outcomes, grade)
    seconds = sum(outcome.wall_seconds for outcome in outcomes)
    return AttackResult(attack, finding, grade, outcomes[-1].status, seconds, detail)


def grade_of(attack: Attack, outcome: Outcome) -> Grade:
    """Return the grade of one run, in the words of contest judges."""
    if outcome.status == "ok":
        if attack.run == "check":
            return "AC"
        if attack.run == "main":
            text = attack.expected if isinstance(attack.expected, str) else f"{attack.expected}\n"
            return "AC" if outcome.stdout.rstrip() == text.rstrip() else "WA"
        return "AC" if same(attack.expected, outcome.value) else "WA"
    return _GRADES.get(outcome.status, "RTE")


def same(gold: Any, got: Any) -> bool:
    """Whether two plain values are equal with exactly equal types at every depth."""
    if type(gold) is not type(got):
        return False
    if type(gold) in (list, tuple):
        return len(gold) == len(got) and all(map(same, gold, got))
    if type(gold) is dict:
        return list(map(type, gold)) == list(map(type, got)) and (
            gold.keys() == got.keys() and all(same(gold[key], got[key]) for key in gold)
        )
    return bool(gold == got)


def _judge(attack: Attack, outcomes: list[Outcome], grade: Grade) -> tuple[Finding, str]:
    for outcome in outcomes:
        _, found, rest = outcome.stdout.partition("BREACH")
        if found:
            return "BREACH", rest.split("\n")[0].strip()[:300]
    if grade == "AC" and not attack.legal:
        return "BREACH", "full marks without the answer"
    if attack.legal and grade != "AC":
        return "unexpected", f"a legal answer was graded {grade}"
    if attack.same_output and len({outcome.stdout for outcome in outcomes}) > 1:
        return "BREACH", "two runs see different surroundings"
    ends = attack.ends
    if attack.run == "check" and "ok" in ends:
        ends = ends | {"runtime-error"}  # a failed assertion of the check
    for outcome in outcomes:
        if outcome.status not in ends:
            last = outcome.stderr.strip().splitlines()[-1:] or [""]
            return "unexpected", f"ended as {outcome.status}: {last[0][:200]}"
    return "held", ""


def honest_is_accepted(sandbox: Sandbox) -> bool:
    """Run an honest submission and say whether its answer is right. Raises SandboxError."""
    outcome = sandbox.run(HONEST, _HONEST_LIMITS)
    return outcome.status == "ok" and same(1137, outcome.value)
