"""The re-enacted in-process graders are right on honest code and beaten where the real ones were.

The expectations are the first-hand verdicts on the real graders; a re-enactment that is not beaten
there would be a wrong one.
"""

from __future__ import annotations

from typing import Any

import pytest

from prorl_sandbox import Sandbox
from prorl_sandbox.attacks import PEERS, load_cases, run_peers
from prorl_sandbox.attacks.peer_runs import grade, read_verdict
from prorl_sandbox.attacks.types import Attack

HONEST = (
    "def f(a, b):\n    return a * 51 + b * 11 - 5\n"
    "if __name__ == '__main__':\n    print(f(*map(int, input().split())))\n"
)
CALL: list[dict[str, Any]] = [{"args": [17, 25], "expected": 1137}]
STDIO: list[dict[str, Any]] = [{"stdin": "17 25\n", "expected": "1137\n"}]
ALL, LISTS = set(PEERS), {"livecodebench", "prime_code"}
STDIO_PEERS = LISTS

BEATEN: list[tuple[str, str, str, set[str]]] = [
    # case, program, delivery, which graders give full marks
    ("A05", "an object whose comparisons all say True", "call", {"livecodebench", "evalplus"}),
    ("A06", "int subclass", "call", ALL),
    ("A15", "every local of every frame", "call", ALL),
    ("A15", "every local of every frame", "main", STDIO_PEERS),
    ("A02", "finds the grader's shared result, writes a pass into it and leaves", "call", ALL),
    ("A01", "sys.exit(0) at import", "call", set()),
    ("A01", "os._exit(0) at import", "call", set()),
    ("A32", "1000001.0 printed for 1000000", "main", {"prime_code"}),
    ("A32", "-1000001 printed for -1000000", "main", {"prime_code"}),
    ("A25", "every signal ignored, every exception caught, busy", "call", set()),
]


def find(case: str, name: str, run: str) -> Attack:
    (found,) = [
        attack
        for one in load_cases()
        for attack in one.attacks
        if (attack.case, attack.name, attack.run) == (case, name, run)
    ]
    return found


def passed(sandbox: Sandbox, peer: str, source: str, run: str, tests: list[Any]) -> bool:
    line = read_verdict(grade(sandbox, peer, source, run, tests))
    assert line is not None
    return bool(line["passed"])


@pytest.mark.parametrize("peer", PEERS)
def test_a_grader_accepts_honest_code_and_refuses_wrong_code(local: Sandbox, peer: str) -> None:
    wrong = HONEST.replace("51", "52")
    runs = [("call", CALL)] + ([("main", STDIO)] if peer in STDIO_PEERS else [])
    for run, tests in runs:
        assert passed(local, peer, HONEST, run, tests)
        assert not passed(local, peer, wrong, run, tests)


@pytest.mark.parametrize("peer", sorted(LISTS))
def test_an_empty_test_list_passes_there(local: Sandbox, peer: str) -> None:
    assert passed(local, peer, "def f(a, b):\n    return None\n", "call", [])


def _name(value: object) -> str:
    """Return a parameter's name: equal in every process, as parallel runs need."""
    return "+".join(sorted(value)) if isinstance(value, set) else str(value)


@pytest.mark.parametrize(("case", "name", "run", "beaten"), BEATEN, ids=_name)
def test_full_marks_are_given_where_the_real_graders_gave_them(
    local: Sandbox, case: str, name: str, run: str, beaten: set[str]
) -> None:
    results = run_peers(local, [find(case, name, run)])
    assert {result.peer for result in results if result.ending == "full marks"} == beaten


def test_a_grader_in_the_process_can_be_killed_robbed_and_written_beside(local: Sandbox) -> None:
    attacks = [
        find("K01", "kill(-1, SIGKILL) and pid 1", "call"),
        find("N03", "os.environ and the C library's own copy", "call"),
        find("F01", "marker files at many places", "call"),
        find("A24", "the same, then a crash", "call"),
    ]
    endings = {
        (result.peer, result.attack.case): result.ending for result in run_peers(local, attacks)
    }
    for peer in PEERS:
        assert endings[peer, "K01"] == "grader killed"
        assert [endings[peer, case] for case in ("N03", "F01", "A24")] == ["escaped"] * 3
