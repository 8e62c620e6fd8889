"""The attack suite notices fake sandboxes that leak, lie or let an attack through."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_sandbox import FakeSandbox

from prorl_sandbox import Limits, Outcome, Program
from prorl_sandbox.attacks import suite as suite_module
from prorl_sandbox.attacks.bait import SECRET_NAME
from prorl_sandbox.attacks.catalogue import INVARIANTS, USUAL_LIMITS, Attack, Report
from prorl_sandbox.attacks.suite import HONEST, run_attack, run_suite, same

MARKER, PROCESS, BAIT, NEXT, MEMORY, FILES = INVARIANTS
ATTACK = Attack("A01", "a fake", "call", "tag = '@TAG@'", frozenset(["runtime-error"]))


@pytest.fixture(autouse=True)
def _look_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes leave traces at once, so the suite need not wait a second for them."""
    monkeypatch.setattr(suite_module, "_AFTERWARDS_SECONDS", 0.05)


class OneOutcomeSandbox(FakeSandbox):
    """Return the right result for honest programs and one fixed outcome for everything else."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.honest = 1137

    def run(self, program: Program, limits: Limits = USUAL_LIMITS) -> Outcome:
        if program == HONEST:
            return Outcome("ok", value=self.honest)
        self.attacked(program.source.split("'")[1])
        return self.outcome

    def attacked(self, tag: str) -> None:
        """Called for each attack; subclasses do something to the host here."""

    def run_check(
        self, program: Program, checker: str, entry_point: str, limits: Limits = USUAL_LIMITS
    ) -> Outcome:
        return self.outcome


def suite(sandbox: OneOutcomeSandbox) -> Report:
    return run_suite(lambda: sandbox, [ATTACK], threads=1)


CRASH = Outcome("runtime-error", exit_code=1)


def test_a_crash_is_held_and_the_report_is_clean() -> None:
    report = suite(OneOutcomeSandbox(CRASH))
    assert report.held
    assert [(r.finding, r.grade) for r in report.results] == [("held", "RTE")]


@pytest.mark.parametrize(
    "outcome",
    [Outcome("ok", value=1137), Outcome("runtime-error", stdout="x\nBREACH ('found',)\n")],
)
def test_full_marks_and_a_printed_breach_are_breaches(outcome: Outcome) -> None:
    report = suite(OneOutcomeSandbox(outcome))
    assert not report.held
    assert [result.finding for result in report.results] == ["BREACH"]


def test_an_ending_that_was_not_foreseen_is_unexpected() -> None:
    result = run_attack(OneOutcomeSandbox(Outcome("timeout")), ATTACK, {})
    assert result.finding == "unexpected"


def test_a_check_that_passes_is_full_marks() -> None:
    attack = replace(ATTACK, run="check", ends=frozenset(["ok"]))
    assert run_attack(OneOutcomeSandbox(Outcome("ok")), attack, {}).finding == "BREACH"
    assert run_attack(OneOutcomeSandbox(CRASH), attack, {}).finding == "held"


def test_a_legal_answer_must_be_accepted() -> None:
    attack = replace(ATTACK, legal=True, ends=frozenset(["ok"]))
    assert run_attack(OneOutcomeSandbox(Outcome("ok", value=1137)), attack, {}).finding == "held"
    assert run_attack(OneOutcomeSandbox(Outcome("ok", value=1)), attack, {}).finding == "unexpected"


def test_a_marker_on_the_host_breaks_an_invariant(tmp_path: Path) -> None:
    made: list[Path] = []

    class Marks(OneOutcomeSandbox):
        def attacked(self, tag: str) -> None:
            made.append(Path("/tmp") / f"{tag}-marker")
            made[-1].touch()

    try:
        report = suite(Marks(CRASH))
    finally:
        made[0].unlink()
    assert report.results[0].broken == (MARKER,)
    assert not report.held


def test_a_process_that_is_left_breaks_an_invariant() -> None:
    left: list[subprocess.Popen[bytes]] = []

    class Leaves(OneOutcomeSandbox):
        def attacked(self, tag: str) -> None:
            left.append(subprocess.Popen([sys.executable, "-c", "input()", tag], stdin=-1))

    try:
        report = suite(Leaves(CRASH))
    finally:
        left[0].kill()
        left[0].communicate()
    assert report.results[0].broken == (PROCESS,)
    assert any(line.startswith(PROCESS) for line in report.broken)


def test_a_file_left_open_breaks_an_invariant() -> None:
    kept: list[int] = []

    class Keeps(OneOutcomeSandbox):
        def attacked(self, tag: str) -> None:
            kept.append(os.open("/dev/null", os.O_RDONLY))

    try:
        report = suite(Keeps(CRASH))
    finally:
        os.close(kept[0])
    assert report.broken[0].startswith(FILES)


def test_memory_that_stays_breaks_an_invariant() -> None:
    kept: list[bytes] = []

    class Grows(OneOutcomeSandbox):
        def attacked(self, tag: str) -> None:
            kept.append(os.urandom(64 * 2**20))

    assert suite(Grows(CRASH)).broken[0].startswith(MEMORY)


def test_a_touched_bait_breaks_an_invariant() -> None:
    class Reaches(OneOutcomeSandbox):
        def attacked(self, tag: str) -> None:
            (folder,) = [p for p in Path("/tmp").glob("prorl-bait-*") if _secret_of(p)]
            (folder / "gold.json").write_text("changed")

    report = suite(Reaches(CRASH))
    assert len(report.results[0].broken) == 1
    assert report.results[0].broken[0].startswith(BAIT)


def _secret_of(folder: Path) -> bool:
    return (folder / "gold.json").read_text() == os.environ[SECRET_NAME]


def test_a_refused_honest_submission_breaks_an_invariant() -> None:
    class Sours(OneOutcomeSandbox):
        def attacked(self, tag: str) -> None:
            self.honest = 0

    assert suite(Sours(CRASH)).results[0].broken == (NEXT,)


def test_the_strict_comparison_knows_types_at_every_depth() -> None:
    assert same([1, {"a": (2.5, None)}], [1, {"a": (2.5, None)}])
    for gold, got in [
        (1, True),
        (1, 1.0),
        ([1], (1,)),
        ({"a": 1}, {"a": 1.0}),
        ({1: 0}, {True: 0}),
    ]:
        assert not same(gold, got)
