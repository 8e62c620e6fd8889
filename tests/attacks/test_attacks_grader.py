"""Grading attacks on the real code verifier earn no reward, apart from the documented legal answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from prorl_sandbox import Sandbox
from prorl_sandbox.attacks.catalogue import (
    ARGS,
    USUAL_LIMITS,
    Attack,
    checker_for,
    load_cases,
    source_for,
)
from prorl_verifiers.code.scorer import score_code

Test = dict[str, object]
WORDS = dict.fromkeys(("TAG", "TERCES", "SOCKET", "BAIT", "PORT", "HOST", "CWD", "HOME"), "nothing")
GRADING = [
    attack
    for case in load_cases()
    for attack in case.attacks
    if case.id[0] in "AX" and attack.repeat == 1 and attack.limits == USUAL_LIMITS
]


def reward(sandbox: Sandbox, attack: Attack, tests: list[Test]) -> float | None:
    limits = asdict(attack.limits) | {"total_seconds": 30.0, "compile_seconds": 5.0}
    reference = {"tests": tests, "entry_point": "f", "limits": limits}
    text = f"Here it is.\n\n```python\n{source_for(attack, WORDS)}```\n"
    return score_code(text, reference, sandbox).reward


def gold_tests(attack: Attack) -> list[Test]:
    if attack.run == "main":
        gold = attack.expected if isinstance(attack.expected, str) else f"{attack.expected}\n"
        return [{"stdin": "17 25\n", "stdout": gold}]
    if attack.run == "check":
        return [{"check": checker_for(attack)}]
    return [{"call": "f", "args": list(ARGS), "expected": attack.expected}]


@pytest.mark.parametrize("attack", GRADING, ids=lambda attack: attack.title)
def test_an_attack_earns_nothing(local: Sandbox, attack: Attack) -> None:
    assert reward(local, attack, gold_tests(attack)) == (1.0 if attack.legal else 0.0)


ASSERTED = [a for a in GRADING if a.run == "call" and a.case in ("A05", "A06", "A32", "A34", "A35")]


@pytest.mark.parametrize("attack", ASSERTED, ids=lambda attack: attack.name)
def test_an_attack_earns_nothing_from_an_assert(local: Sandbox, attack: Attack) -> None:
    tests: list[Test] = [{"assert": f"assert f(17, 25) == {attack.expected!r}"}]
    assert reward(local, attack, tests) == (1.0 if attack.legal_in_assert else 0.0)


def test_several_blocks_in_one_answer_are_settled_by_the_last(local: Sandbox) -> None:
    right, wrong = "def f(a, b): return a * 51 + b * 11 - 5", "def f(a, b): return 0"
    tests = [{"call": "f", "args": list(ARGS), "expected": 1137}]
    for blocks, expected in (((wrong, right), 1.0), ((right, wrong), 0.0)):
        text = "\n".join(f"```python\n{block}\n```" for block in blocks)
        assert score_code(text, {"tests": tests}, local).reward == expected


def test_hostile_output_is_escaped_by_sandbox_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    make_run: Callable[[], None],
) -> None:  # fmt: skip
    (attack,) = [
        a for c in load_cases() for a in c.attacks if a.title == "N04 main: " + N04_PROGRAM
    ]
    path = tmp_path / "hostile.py"
    path.write_text(attack.source)
    monkeypatch.setattr(sys, "argv", ["prorl", "sandbox", "run", str(path)])
    make_run()
    shown = capsys.readouterr().out
    assert "owned" in shown
    assert not [c for c in shown if not c.isprintable() and c not in "\n\t"]


N04_PROGRAM = "terminal codes, HTML, formulas"


@pytest.fixture
def make_run() -> Callable[[], None]:
    from prorl_cli.main import main

    def run() -> None:
        try:
            main()
        except SystemExit as left:
            assert left.code in (0, None)

    return run
