from __future__ import annotations

import importlib.resources

import pytest

from prorl_sandbox.attacks.catalogue import (
    Attack,
    Case,
    _read_case,
    checker_for,
    load_cases,
    source_for,
)

_LISTED = (
    "A01 A02 A03 A04 A05 A06 A08 A10 A11 A12 A13 A15 A16 A17 A18 A20 A21 A22 A24 A25 A26 A27 A28 A29 "
    "A32 A34 A35 A37 A39 R01 R02 R03 R05 R06 R09 R10 R11 R12 R13 R15 F01 F03 F05 F06 "
    "K01 K02 K03 K04 K06 K08 N01 N03 N04 N06"
)
PUBLISHED = _LISTED.split()
OWN = [f"X{number:02}" for number in range(1, 15)]
CASES = load_cases()


def test_every_published_case_is_covered_and_nothing_is_listed_twice() -> None:
    assert [case.id for case in CASES] == [*PUBLISHED, *OWN]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_has_programs_or_says_why_there_are_none(case: Case) -> None:
    assert bool(case.attacks) != bool(case.by_construction)
    assert bool(case.held_by) != bool(case.by_construction)
    titles = [attack.title for attack in case.attacks]
    assert len(titles) == len(set(titles))


def test_only_the_timing_channel_has_nothing_to_run() -> None:
    assert [case.id for case in CASES if case.by_construction] == ["N06"]


def test_the_residuals_are_named() -> None:
    assert [case.id for case in CASES if case.residual] == ["A18", "A21", "A22", "N06"]


def test_no_word_is_left_unfilled(attacks: list[Attack]) -> None:
    names = ("TAG", "TERCES", "SOCKET", "BAIT", "PORT", "HOST", "CWD", "HOME", "USERS")
    words = dict.fromkeys(names, "1")
    for attack in attacks:
        source = source_for(attack, words)
        assert not any(f"@{name}@" in source for name in (*names, "NUL", "PARENTHESES"))


def test_a_check_of_its_own_replaces_the_usual_one(attacks: list[Attack]) -> None:
    checks = {checker_for(attack) for attack in attacks if attack.run == "check"}
    assert "def check(candidate):\n    assert candidate(17, 25) == 1137\n" in checks
    assert any("sorted(data)" in check for check in checks)


@pytest.mark.parametrize(
    "header", ["#% name\n#% run: main\n#% ends: fine", "#% name\n#% run: eval\n#% ends: ok",
               "#% name\n#% run: main\n#% ends: ok\n#% colour: red"]
)  # fmt: skip
def test_a_malformed_program_is_refused(header: str) -> None:
    with pytest.raises(ValueError, match="name"):
        _read_case("A01.txt", f"A01: title\nheld by: nothing\n\n{header}\npass\n")


def test_hostile_programs_are_text_and_not_modules() -> None:
    folder = importlib.resources.files("prorl_sandbox.attacks") / "programs"
    assert {file.name.rpartition(".")[2] for file in folder.iterdir()} == {"txt"}
