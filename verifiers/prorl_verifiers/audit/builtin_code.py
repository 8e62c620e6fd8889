"""Built-in code tasks to attack: stdin/stdout, calls, asserts and check functions.

Every expected output is one that no constant program gives; chance is 0. Leaves out: other languages
(the comparison outside the box is the same).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prorl_verifiers.audit.items import Group, Item
from prorl_verifiers.tasks import load_task

_STDIO = (
    ("Read two integers and print 7a + 13b.", (("3 5", "86"), ("17 2", "145"), ("-4 11", "115"))),
    (
        "Read a line and print it reversed.",
        (("stone", "enots"), ("a bc d", "d cb a"), ("xyz1", "1zyx")),
    ),
    ("Read n numbers and print each times 11.", (("2\n3 4", "33 44"), ("3\n7 8 9", "77 88 99"))),
    ("Print the square root with six digits.", (("7", "2.645751"), ("13", "3.605551"))),
)
_CALLS = (
    ("scaled", (([3, 5], 86), ([17, 2], 145), ([-4, 11], 115))),
    ("mirrored", ((["stone"], "enots"), (["abc d"], "d cba"))),
    ("counted", ((["abca"], {"a": 2, "b": 1, "c": 1}), (["zz"], {"z": 2}))),
    ("Solver.spread", (([[3, 9]], [6, 12]), ([[17, 4, 11]], [13, 32, 7]))),
    ("halved", (([7], 3.5), ([15], 7.5))),
)
_ASSERTS = (
    ("def scaled(a, b)", ("assert scaled(3, 5) == 86", "assert scaled(17, 2) == 145")),
    (
        "def mirrored(text)",
        ("assert mirrored('stone') == 'enots'", "assert mirrored('abc') == 'cba'"),
    ),
    ("def even_parts(n)", ("assert even_parts(14) == [2, 4, 8]", "assert even_parts(6) == [2, 4]")),
    ("def joined(a, b)", ("assert joined(17, 23) == 1723", "assert joined(41, 29) == 4129")),
)
_ROOT = """def check(candidate):
    for n in (7, 13, 29):
        assert abs(candidate(n) - n ** 0.5) < 1e-6
"""
_ORDERED = """def check(candidate):
    for words in (['pear', 'fig'], ['b', 'a', 'c']):
        found = candidate(words)
        assert len(found) == len(words)
        assert all(x == y for x, y in zip(found, sorted(words)))
"""
_DIVISORS = """def check(candidate):
    assert candidate(21) == [1, 3, 7, 21]
    assert candidate(13) == [1, 13]
    assert not candidate(15) == [1, 15]
"""
_PAIRS = """def check(candidate):
    found = candidate([3, 5, 7])
    assert isinstance(found, list)
    assert (3, 5) in [tuple(p) for p in found] and len(found) == 3
"""
_CHECKS = (("root", _ROOT), ("ordered", _ORDERED), ("divisors", _DIVISORS), ("pairs", _PAIRS))


def code_groups() -> list[Group]:
    """Return the built-in code tasks, a group a kind of test."""
    stdio: list[tuple[str, Mapping[str, Any]]] = [
        (ask, {"tests": [{"stdin": given + "\n", "stdout": out + "\n"} for given, out in tests]})
        for ask, tests in _STDIO
    ]
    calls: list[tuple[str, Mapping[str, Any]]] = [
        (f"Write {name}.", {"tests": [{"call": name, "args": a, "expected": e} for a, e in tests]})
        for name, tests in _CALLS
    ]
    asserts: list[tuple[str, Mapping[str, Any]]] = [
        (ask, {"tests": [{"assert": test} for test in tests]}) for ask, tests in _ASSERTS
    ]
    checks: list[tuple[str, Mapping[str, Any]]] = [
        (f"Write {name}.", {"tests": [{"check": source}], "entry_point": name})
        for name, source in _CHECKS
    ]
    kinds = {
        "stdin and stdout": stdio,
        "calls": calls,
        "asserts": asserts,
        "check functions": checks,
    }
    return [_group(f"code: {kind}", pairs) for kind, pairs in kinds.items()]


def _group(name: str, pairs: Sequence[tuple[str, Mapping[str, Any]]]) -> Group:
    items = [
        Item(f"{name} {at}", load_task("code", reference), question, None, 0.0)
        for at, (question, reference) in enumerate(pairs, start=1)
    ]
    return Group(name, "code", items)
