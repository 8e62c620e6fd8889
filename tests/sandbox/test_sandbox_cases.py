from __future__ import annotations

import pytest

from prorl_common import UserError
from prorl_sandbox import (
    Budget,
    Call,
    Case,
    Check,
    Limits,
    LocalSandbox,
    Outcome,
    Program,
    Sandbox,
    Stdin,
)
from prorl_sandbox.run.sandbox import Account

LIMITS = Limits(wall_seconds=20.0, cpu_seconds=5.0, memory_mb=256)
DOUBLE = "def f(x):\n    return 2 * x\nif __name__ == '__main__':\n    print(f(int(input())))"
SPIN = "import time\ns = float(input())\nwhile time.process_time() < s: pass\nprint('done')"


def test_each_case_has_its_outcome_in_order(either: Sandbox) -> None:
    checks = [Check("def check(f):\n    assert f(3) == 6", "f"), Check("def check(f): 1/0", "f")]
    cases: list[Case] = [
        *(Stdin(f"{n}") for n in range(12)),
        *(Call("f", (n,)) for n in range(12)),
        *checks,
    ]
    found = list(either.run_cases(Program(DOUBLE), cases, LIMITS))
    assert [o.stdout.strip() for o in found[:12]] == [f"{2 * n}" for n in range(12)]
    assert [o.value for o in found[12:24]] == [2 * n for n in range(12)]
    assert [o.status for o in found[24:]] == ["ok", "runtime-error"]
    assert not any(o.over_budget for o in found)


def test_cases_of_all_kinds_may_alternate(sandbox: LocalSandbox) -> None:
    check = Check("def check(f):\n    assert f(3) == 6", "f")
    cases: list[Case] = [Stdin("1"), check, Call("f", (2,)), check, Stdin("3"), Call("g"), check]
    found = list(sandbox.run_cases(Program(DOUBLE), cases, LIMITS))
    statuses = ["ok", "ok", "ok", "ok", "ok", "runtime-error", "ok"]
    assert [o.status for o in found] == statuses


def test_nothing_of_a_case_is_left_for_the_next(sandbox: LocalSandbox) -> None:
    source = """
import os, socket, sys, threading
name = input()
seen = sorted(os.listdir('/scratch'))
for where in ('\\0prorl', ):
    end = socket.socket(socket.AF_UNIX)
    try:
        end.connect(where)
        seen.append('a socket')
    except OSError:
        pass
    server = socket.socket(socket.AF_UNIX)
    server.bind(where)
    server.listen()
open(f'/scratch/{name}', 'w').write(name)
if os.fork() == 0:
    os.setsid()
    while True: pass
print(os.getpid(), seen, hasattr(os, 'mark'))
os.mark = name
"""
    found = list(sandbox.run_cases(Program(source), [Stdin(f"{n}") for n in range(8)], LIMITS))
    assert {o.stdout for o in found} == {"1 [] False\n"}


def test_a_source_that_does_not_compile_says_so_for_each_case(sandbox: LocalSandbox) -> None:
    found = list(sandbox.run_cases(Program("def f(:"), [Stdin(), Call("f"), Stdin()], LIMITS))
    assert [o.status for o in found] == ["compile-error"] * 3
    assert all("SyntaxError" in o.stderr for o in found)


def test_other_languages_have_cases_too(sandbox: LocalSandbox) -> None:
    program = Program("const fs = require('fs');\nconsole.log(+fs.readFileSync(0) * 2)")
    program = Program(program.source, language="javascript")
    try:
        found = list(sandbox.run_cases(program, [Stdin("1"), Stdin("2")], LIMITS))
    except UserError as error:
        pytest.skip(f"{error}")
    assert [o.stdout for o in found] == ["2\n", "4\n"]


def test_the_case_that_uses_up_the_budget_and_those_after_it_say_so(either: Sandbox) -> None:
    budget = Budget(cpu_seconds=0.5, wall_seconds=60.0)
    cases = [Stdin("0.0"), Stdin("0.2"), Stdin("30"), Stdin("0.0"), Stdin("0.0")]
    found = list(either.run_cases(Program(SPIN), cases, LIMITS, budget))
    assert [o.over_budget for o in found] == [False, False, True, True, True]
    assert [(o.status, o.limit) for o in found[2:]] == [("timeout", "cpu")] * 3
    assert found[0].stdout == found[1].stdout == "done\n"
    assert all(o.cpu_seconds == 0.0 for o in found[3:])


def test_a_budget_by_the_clock_counts_sleep(sandbox: LocalSandbox) -> None:
    budget = Budget(cpu_seconds=60.0, wall_seconds=0.6)
    program = Program("import time\ntime.sleep(0.25)")
    found = list(sandbox.run_cases(program, [Stdin()] * 4, LIMITS, budget))
    assert [o.status for o in found] == ["ok", "ok", "timeout", "timeout"]
    assert [o.limit for o in found[2:]] == ["wall", "wall"]


def test_a_case_that_breaks_its_own_limit_is_not_over_the_budget(sandbox: LocalSandbox) -> None:
    limits = Limits(wall_seconds=20.0, cpu_seconds=0.3)
    cases = [Stdin("30"), Stdin("0.0")]
    found = list(sandbox.run_cases(Program(SPIN), cases, limits, Budget(5.0, 60.0)))
    assert [(o.status, o.over_budget) for o in found] == [("timeout", False), ("ok", False)]


def test_who_stops_asking_ends_what_runs(sandbox: LocalSandbox) -> None:
    outcomes = sandbox.run_cases(Program(SPIN), [Stdin("0.0"), *[Stdin("1000")] * 9], LIMITS)
    assert next(outcomes).stdout == "done\n"
    outcomes.close()
    assert sandbox.run(Program("print(1)"), LIMITS).stdout == "1\n"


def test_limits_and_arguments_are_checked(sandbox: LocalSandbox) -> None:
    with pytest.raises(UserError, match="memory_mb"):
        sandbox.run_cases(Program(""), [Stdin()], Limits(memory_mb=-1))
    with pytest.raises(UserError, match="cannot be sent"):
        list(sandbox.run_cases(Program(DOUBLE), [Call("f", (object(),))], LIMITS))


def test_no_cases_have_no_outcomes(sandbox: LocalSandbox) -> None:
    assert list(sandbox.run_cases(Program(DOUBLE), [], LIMITS)) == []


@pytest.mark.parametrize(
    ("outcome", "over"),
    [
        (Outcome("ok", cpu_seconds=1.9), False),
        (Outcome("ok", cpu_seconds=2.1), True),
        (Outcome("ok", wall_seconds=4.5, waited_seconds=1.0), False),
        (Outcome("ok", wall_seconds=4.5), True),
        (Outcome("timeout", limit="cpu", cpu_seconds=1.0), True),
        (Outcome("compile-error", cpu_seconds=9.0), False),
    ],
)
def test_what_is_left_of_a_budget_decides(outcome: Outcome, over: bool) -> None:
    account = Account(Budget(cpu_seconds=2.0, wall_seconds=4.0), Limits(cpu_seconds=3.0))
    assert account.charge(outcome).over_budget is over
    assert account.spent is over
