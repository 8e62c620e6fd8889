"""Run the attacks against the re-enacted in-process graders, each grader a program in one of our
boxes.

The box's scratch folder stands for the grader's file system, the grader's process for the trainer's
reward worker. What the walls of our own box would stop (``OUTER``) says nothing of the grader and
is not run.
"""

from __future__ import annotations

import ast
import importlib.resources
import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from prorl_common import NullProgress, Progress
from prorl_sandbox.attacks.bait import lay_bait
from prorl_sandbox.attacks.catalogue import source_for
from prorl_sandbox.attacks.runner import STDIN
from prorl_sandbox.attacks.types import ARGS, Attack
from prorl_sandbox.types import Limits, Outcome, Program, Sandbox

PEERS = ("livecodebench", "evalplus", "prime_code")
CALL_ONLY = ("evalplus",)
OUTER = frozenset(
    "A16 A17 R02 R03 R06 R09 R11 R13 R15 F05 F06 K02 K03 K04 K06 K08 N01 X05".split()  # noqa: SIM905
)
"""Cases that the walls of our own box would stop: not run, for they would say nothing of the
grader."""
NOT_APPLICABLE = frozenset(["A03", "A18", "A20", "A21", "N04", "N06", "X01", "X02", "X03", "X04"])
"""Not run: right answers, and cases about our channel, our checks or our reports."""
LEAVES_TRACES = frozenset(["R01", "R05", "F01", "F03"])
"""Cases that our box's walls would stop too, but that count where they leave files or processes."""

Ending = Literal["full marks", "escaped", "grader killed", "held", "not measured"]
ENDINGS: tuple[Ending, ...] = ("full marks", "escaped", "grader killed", "held", "not measured")
_LIMITS = Limits(
    wall_seconds=4.0, cpu_seconds=8.0, memory_mb=256, output_kb=256, processes=24, scratch_mb=16
)


@dataclass(frozen=True, slots=True)
class PeerResult:
    """What one attack did to one grader; ``detail`` names what was left beside it."""

    peer: str
    attack: Attack
    ending: Ending
    detail: str = ""


def run_peers(
    sandbox: Sandbox,
    attacks: Sequence[Attack],
    progress: Progress | None = None,
    threads: int = 3,
) -> list[PeerResult]:
    """Run each attack that applies against each grader, ``threads`` at once. Raises SandboxError."""
    shown = progress if progress is not None else NullProgress()
    pairs = [(peer, attack) for peer in PEERS for attack in attacks if applies(peer, attack)]
    shown.start("attacks on in-process graders", len(pairs))
    results = []
    with lay_bait() as bait, ThreadPoolExecutor(max_workers=threads) as pool:
        words = [bait.words(number % 1000) for number in range(len(pairs))]
        try:
            for result in pool.map(
                lambda pair, own: run_peer(sandbox, pair[0], pair[1], own), pairs, words
            ):
                results.append(result)
                shown.advance(last=result.attack.case)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    shown.finish()
    return results


def applies(peer: str, attack: Attack) -> bool:
    """Whether the attack says anything of this grader. Legal answers are no attacks."""
    if attack.case in NOT_APPLICABLE | OUTER or attack.legal or attack.legal_in_assert:
        return False
    return attack.run == "call" or (attack.run == "main" and peer not in CALL_ONLY)


def run_peer(sandbox: Sandbox, peer: str, attack: Attack, words: Mapping[str, str]) -> PeerResult:
    """Run one attack against one grader. Raises SandboxError."""
    test: dict[str, Any] = {"args": list(ARGS)} if attack.run == "call" else {"stdin": STDIN}
    expected = attack.expected
    if attack.run == "main" and not isinstance(expected, str):
        expected = f"{expected}\n"
    tests = [test | {"expected": expected}]
    outcome = grade(sandbox, peer, source_for(attack, words), attack.run, tests)
    line = read_verdict(outcome)
    if line is not None and line["passed"]:
        return PeerResult(peer, attack, "full marks")
    if "BREACH" in outcome.stdout and attack.case not in LEAVES_TRACES:
        told = outcome.stdout.partition("BREACH")[2].splitlines()[0].strip()
        return PeerResult(peer, attack, "escaped", told[:200])
    if line is None:
        measured = attack.case not in LEAVES_TRACES
        ending: Ending = "grader killed" if measured else "not measured"
        return PeerResult(peer, attack, ending, outcome.status)
    if line["beside"]:
        return PeerResult(peer, attack, "escaped", f"left {', '.join(line['beside'])[:200]}")
    if line["survivor"]:
        return PeerResult(peer, attack, "escaped", "a process outlived the verdict")
    if attack.case in LEAVES_TRACES:
        return PeerResult(peer, attack, "not measured")
    return PeerResult(peer, attack, "held")


def grade(
    sandbox: Sandbox, peer: str, source: str, run: str, tests: list[dict[str, Any]]
) -> Outcome:
    """Let a grader grade ``source`` on ``tests`` in a box; its last line is its verdict."""
    request = {"source": source, "call": "f" if run == "call" else None, "tests": tests}
    return sandbox.run(Program(peer_source(peer), stdin=json.dumps(request)), _LIMITS)


def read_verdict(outcome: Outcome) -> dict[str, Any] | None:
    """Return the grader's own line, None when it ended without one."""
    lines = [x for x in outcome.stdout.splitlines() if x.startswith('{"graded": true, ')]
    return dict(json.loads(lines[-1])) if outcome.status == "ok" and lines else None


_PARSING = threading.Lock()
"""CPython 3.11's parser miscounts its depth where threads parse at once (SystemError)."""


def peer_source(peer: str) -> str:
    """Return a grader as one program: the common part and its own, without our imports."""
    with _PARSING:
        return "\n".join(_without_own_imports(name) for name in ("common", f"{peer}_style"))


@lru_cache(maxsize=16)
def _without_own_imports(name: str) -> str:
    folder = importlib.resources.files("prorl_sandbox.attacks") / "peers"
    source = (folder / f"{name}.py").read_text(encoding="utf-8")
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            ("prorl_sandbox", "__future__")
        ):
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            lines[first:last] = [""] * (last - first)
    return "\n".join(lines) + "\n"
