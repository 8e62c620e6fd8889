"""Run attack programs in a sandbox and check that the host is unharmed.

After each attack, a harmless program must still be accepted. The host is then searched for leftover files and
processes.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from prorl_common import NullProgress, Progress
from prorl_sandbox.attacks.bait import (
    Bait,
    descendants,
    lay_bait,
    open_files,
    processes_named,
    resident_kib,
)
from prorl_sandbox.attacks.catalogue import (
    ARGS,
    INVARIANTS,
    USUAL_LIMITS,
    Attack,
    AttackResult,
    Finding,
    Grade,
    Report,
    checker_for,
    source_for,
)
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
    """Run an attack ``repeat`` times and judge all runs together. Raises SandboxError."""
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
    """Grade a run as an online judge does: AC (accepted), WA (wrong answer), TLE (time limit exceeded) ..."""
    if outcome.status == "ok":
        if attack.run == "check":
            return "AC"
        if attack.run == "main":
            text = attack.expected if isinstance(attack.expected, str) else f"{attack.expected}\n"
            return "AC" if outcome.stdout.rstrip() == text.rstrip() else "WA"
        return "AC" if same(attack.expected, outcome.value) else "WA"
    return _GRADES.get(outcome.status, "RTE")


def same(gold: Any, got: Any) -> bool:
    """Return whether two values are equal and have equal types, also inside lists, tuples and dicts."""
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
        _, breach, details = outcome.stdout.partition("BREACH")
        if breach:
            return "BREACH", details.split("\n")[0].strip()[:300]
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
    outcome = sandbox.run(HONEST, _HONEST_LIMITS)
    return outcome.status == "ok" and same(1137, outcome.value)


THREADS = 3
_AFTERWARDS_SECONDS = 1.0
_LOOK_EVERY_SECONDS = 0.4
_MEMORY_SLACK_KIB = 48 * 1024
_MARKER, _PROCESS, _BAIT, _HONEST, _MEMORY, _FILES = INVARIANTS


def run_suite(
    open_box: Callable[[], Sandbox],
    attacks: Sequence[Attack],
    progress: Progress | None = None,
    threads: int = THREADS,
) -> Report:
    """Run all attacks in the sandbox that ``open_box`` opens. Raises SandboxError."""
    began = time.monotonic()
    with lay_bait() as bait:
        family = descendants(os.getpid())
        files = _open_files()
        sandbox = open_box()
        try:
            if not honest_is_accepted(sandbox):
                raise AssertionError(
                    "the sandbox rejects a harmless program before any attack has run"
                )
            memory = resident_kib()
            results = _SuiteRun(bait, sandbox, progress or NullProgress()).run(attacks, threads)
            memory_after = resident_kib()
            isolation = sandbox.isolation
        finally:
            sandbox.close()
        files_after = _open_files()
        broken = []  # not caused by a particular attack
        if memory_after - memory > _MEMORY_SLACK_KIB:
            broken.append(f"{_MEMORY}: {memory} KiB before, {memory_after} KiB after")
        if files_after > files:
            broken.append(f"{_FILES}: {files} before, {files_after} after")
        deadline = time.monotonic() + _AFTERWARDS_SECONDS
        while (left := descendants(os.getpid()) - family) and time.monotonic() < deadline:
            time.sleep(0.05)
        if left or processes_named(bait.token):
            broken.append(f"{_PROCESS}: {len(left)} below this process")
        broken += [f"{_MARKER}: {path}" for path in bait.markers()]
    growth = {"memory_kib": (memory, memory_after), "open_files": (files, files_after)}
    return Report(isolation, time.monotonic() - began, tuple(results), growth, tuple(broken))


def _open_files() -> int:
    gc.collect()
    return open_files()


class _SuiteRun:
    def __init__(self, bait: Bait, sandbox: Sandbox, progress: Progress) -> None:
        self._bait = bait
        self._sandbox = sandbox
        self._progress = progress
        self._results: dict[int, AttackResult] = {}
        self._ended: list[tuple[float, int]] = []
        self._looked = 0.0

    def run(self, attacks: Sequence[Attack], threads: int) -> list[AttackResult]:
        self._progress.start("attacks", len(attacks))
        with ThreadPoolExecutor(max_workers=threads) as pool:
            running: set[Future[tuple[int, AttackResult]]] = {
                pool.submit(self._one, number, attack) for number, attack in enumerate(attacks)
            }
            try:
                while running or self._ended:
                    done, running = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
                    for future in done:
                        number, result = future.result()
                        self._results[number] = result
                        self._ended.append((time.monotonic(), number))
                    if not done:
                        time.sleep(0.05)
                    self._look()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        self._progress.finish()
        return [self._results[number] for number in range(len(attacks))]

    def _one(self, number: int, attack: Attack) -> tuple[int, AttackResult]:
        result = run_attack(self._sandbox, attack, self._bait.words(number))
        if not honest_is_accepted(self._sandbox):
            result = replace(result, broken=(_HONEST,))
        return number, result

    def _look(self) -> None:
        due_before = time.monotonic() - _AFTERWARDS_SECONDS
        due = [number for ended, number in self._ended if ended <= due_before]
        if not due or time.monotonic() < self._looked + _LOOK_EVERY_SECONDS:
            return
        self._looked = time.monotonic()
        self._ended = [(ended, number) for ended, number in self._ended if ended > due_before]
        names, markers = processes_named(self._bait.token), self._bait.markers()
        touched = self._bait.touched()
        for number in due:
            tag = self._bait.tag(number)
            broken = list(self._results[number].broken)
            broken += [_MARKER] if any(tag in path for path in markers) else []
            broken += [_PROCESS] if any(tag in name for name in names) else []
            broken += [f"{_BAIT} (about this time): {fact}" for fact in touched]
            self._results[number] = replace(self._results[number], broken=tuple(broken))
            self._progress.advance(last=self._results[number].attack.case)
