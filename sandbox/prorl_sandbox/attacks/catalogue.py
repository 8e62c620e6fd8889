"""Attack programs for testing the sandbox; they never run outside it.

Each file in ``programs/`` describes one case: a line ``A05: title``, other ``key: value`` lines, and programs. Lines
that start with ``#%`` before a program hold its name, ``key: value`` pairs and flags.
"""

from __future__ import annotations

import ast
import importlib.resources
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from prorl_sandbox.types import STATUSES, Limits

Delivery = Literal["main", "call", "check"]
Grade = Literal["AC", "WA", "TLE", "MLE", "OLE", "RTE", "CE"]
Finding = Literal["held", "BREACH", "unexpected"]

ARGS: tuple[Any, ...] = (17, 25)
ANSWER = 1137
"""Correct result of f(17, 25), the task on which attack programs are graded."""

USUAL_LIMITS = Limits(
    wall_seconds=10.0, cpu_seconds=8.0, memory_mb=200, output_kb=64, scratch_mb=16
)

INVARIANTS = (
    "no marker outside the box",
    "no surviving process one second later",
    "the host's services, files and processes untouched",
    "the next honest submission is accepted",
    "no growth in host memory",
    "no growth in open files",
)


@dataclass(frozen=True, slots=True)
class Attack:
    """A hostile program, how it is run, and which results are allowed.

    - ``ends``: allowed values of ``Outcome.status``.
    - ``expected``: the correct answer, which only a program with ``legal`` may give.
    - ``legal_in_assert``: the answer may pass a check that uses ``==``.
    - ``repeat``: number of runs. If ``same_output``, all runs must print the same text.
    """

    case: str
    name: str
    run: Delivery
    source: str
    ends: frozenset[str]
    expected: Any = ANSWER
    legal: bool = False
    legal_in_assert: bool = False
    checker: str | None = None
    repeat: int = 1
    same_output: bool = False
    limits: Limits = USUAL_LIMITS

    @property
    def title(self) -> str:
        return f"{self.case} {self.run}: {self.name}"


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of attack: its defence (``held_by``), and programs or why none are needed (``by_construction``)."""

    id: str
    title: str
    held_by: str
    attacks: tuple[Attack, ...]
    residual: str = ""
    by_construction: str = ""


@dataclass(frozen=True, slots=True)
class AttackResult:
    """The result of one attack: the status of its last run, and the violated ``INVARIANTS`` in ``broken``."""

    attack: Attack
    finding: Finding
    grade: Grade
    status: str
    seconds: float
    detail: str = ""
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Result of a test suite. ``growth`` maps ``memory_kib`` and ``open_files`` to (before, after)."""

    isolation: str
    seconds: float
    results: tuple[AttackResult, ...]
    growth: dict[str, tuple[int, int]] = field(default_factory=dict)
    broken: tuple[str, ...] = ()

    @property
    def held(self) -> bool:
        """Whether all attacks ended as allowed and all invariants held."""
        return not self.broken and all(r.finding == "held" and not r.broken for r in self.results)


_FLAGS = ("legal", "legal in assert", "same output")
_KEYS = ("run", "ends", "expected", "checker", "wall", "cpu", "repeat")
_HELPERS = {
    "breach": (
        'def breach(*a, _out=__import__("posix").write):\n'
        '    _out(1, ("\\nBREACH " + repr(a)).encode())\n'
    ),
    "denied": (
        "import ctypes as _c, os as _os\n"
        "_libc = _c.CDLL(None, use_errno=True)\n"
        "def denied(name, x86, arm, *args):\n"
        "    number = x86 if _os.uname().machine == 'x86_64' else arm\n"
        "    result = _libc.syscall(_c.c_long(number), *map(_c.c_long, args))\n"
        "    if result != -1 or _c.get_errno() not in (1, 38):\n"
        "        breach(name, result, _c.get_errno())\n"
    ),
    "name_me": (
        'def name_me():\n    __import__("ctypes").CDLL(None).prctl(15, b"@TAG@", 0, 0, 0)\n'
    ),
}
_NEEDS = {"denied": ("breach",)}
_FIXED = {"@PARENTHESES@": "(" * 10**5, "@NUL@": "\0\ud800"}


def load_cases() -> tuple[Case, ...]:
    """Return all cases. Raises ValueError for a malformed file."""
    folder = importlib.resources.files("prorl_sandbox.attacks") / "programs"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".txt")), key=lambda f: f.name)
    cases = [_read_case(file.name, file.read_text(encoding="utf-8")) for file in files]
    order = "ARFKNX"
    return tuple(sorted(cases, key=lambda case: (order.index(case.id[0]), case.id)))


def _read_case(file: str, text: str) -> Case:
    head: list[str] = []  # the lines above the first program
    blocks: list[tuple[list[str], list[str]]] = []  # (header, source lines) of each program
    for line in text.splitlines():
        if line.startswith("#% "):
            if not blocks or blocks[-1][1]:
                blocks.append(([], []))
            blocks[-1][0].append(line[3:].strip())
        elif blocks:
            blocks[-1][1].append(line)
        else:
            head.append(line)
    case_id, _, title = head[0].partition(": ")
    if file != f"{case_id}.txt":
        raise ValueError(f"{file} must begin with '{file[:-4]}: title', not {head[0]!r}")
    facts = dict(line.split(": ", 1) for line in head[1:] if line.strip())
    attacks: list[Attack] = []
    for header, lines in blocks:
        try:
            attacks += _read_attacks(case_id, header, "\n".join(lines).strip("\n") + "\n")
        except (ValueError, KeyError, SyntaxError) as error:
            raise ValueError(f"{file}: {header[0]}: {error}") from error
    return Case(
        case_id,
        title,
        facts.pop("held by", ""),
        tuple(attacks),
        facts.pop("residual", ""),
        facts.pop("by construction", ""),
    )


def _read_attacks(case_id: str, header: list[str], source: str) -> list[Attack]:
    facts = dict(line.split(": ", 1) for line in header[1:] if ": " in line)
    flags = {line for line in header[1:] if ": " not in line}
    if set(facts) - set(_KEYS) or flags - set(_FLAGS):
        raise ValueError(f"unknown header {sorted(set(facts) - set(_KEYS) | flags - set(_FLAGS))}")
    ends = frozenset(facts["ends"].split())
    if not ends or ends - set(STATUSES):
        raise ValueError(f"'ends' must list statuses of the sandbox, not {sorted(ends)}")
    values: dict[str, Any] = {}
    if "expected" in facts:
        values["expected"] = ast.literal_eval(facts["expected"])
    if "checker" in facts:
        values["checker"] = facts["checker"]
    called = [name for name in _HELPERS if f"{name}(" in source]
    needed = {need for name in called for need in _NEEDS.get(name, ())}
    helpers = [text for name, text in _HELPERS.items() if name in called or name in needed]
    limits = replace(
        USUAL_LIMITS,
        wall_seconds=float(facts.get("wall", USUAL_LIMITS.wall_seconds)),
        cpu_seconds=float(facts.get("cpu", USUAL_LIMITS.cpu_seconds)),
    )
    attacks = []
    for delivery in facts["run"].split():
        if delivery not in ("main", "call", "check"):
            raise ValueError(f"'run' must list main, call or check, not {delivery!r}")
        attack = Attack(
            case_id,
            header[0],
            delivery,  # type: ignore[arg-type]
            "".join(helpers) + source,
            ends,
            limits=limits,
            legal="legal" in flags,
            legal_in_assert="legal in assert" in flags,
            repeat=int(facts.get("repeat", "1")),
            same_output="same output" in flags,
            **values,
        )
        attacks.append(attack)
    return attacks


def source_for(attack: Attack, words: Mapping[str, str]) -> str:
    """Return the program with ``words`` filled in for its placeholders (``@TAG@``, ``@SECRET@`` ...)."""
    source = attack.source
    for word, text in (_FIXED | {f"@{name}@": value for name, value in words.items()}).items():
        source = source.replace(word, text)
    return source


def checker_for(attack: Attack) -> str:
    call = f"candidate({', '.join(map(repr, ARGS))})"
    body = attack.checker or f"assert {call} == {attack.expected!r}"
    return f"def check(candidate):\n    {body}\n"
