"""The exploit search finds what a leaky scorer pays, allows for chance, and reports its findings."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from prorl_cli.verify.audit import audit
from prorl_common import NullProgress, UserError
from prorl_verifiers import Task, TaskError, Verdict, VerifierPool
from prorl_verifiers.audit.probes import generic_probes
from prorl_verifiers.audit.report import (
    as_document,
    cells,
    plain_lines,
    run_audit,
    verdict_of,
    with_modes,
)
from prorl_verifiers.audit.search import (
    GroupReport,
    GroupSearch,
    Settings,
    binomial_tail,
    group_chance,
    luck,
)
from prorl_verifiers.audit_shape import Group, Item
from prorl_verifiers.code.audit import code_groups
from prorl_verifiers.extract import last_boxed
from prorl_verifiers.instruction.audit import form_only, instruction_groups, registered
from prorl_verifiers.logic.generated import file_groups, logic_groups
from prorl_verifiers.math.audit import math_groups, stem_groups
from prorl_verifiers.spec import VERIFIERS

Rule = Callable[[str, str], float | None]


class FakePool:
    """Score by a rule (boxed answer, gold) -> reward; None is an infra_error."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self.asked = 0

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        return [self._one(response, task) for response, task in items]

    def _one(self, response: str, task: Task) -> Verdict:
        self.asked += 1
        reward = self._rule(last_boxed(response) or "", str(task.reference["answer"]))
        return Verdict(reward, "infra_error" if reward is None else "scored", "")


def group(golds: Sequence[str], chance: float | None = None) -> Group:
    items = [
        Item(str(at), Task("math", {"answer": gold}), f"Question {at}?", gold, chance)
        for at, gold in enumerate(golds)
    ]
    return Group("math: fake", "math", items)


def found(rule: Rule, golds: Sequence[str], rounds: int = 2) -> GroupReport:
    return GroupSearch(FakePool(rule), group(golds), Settings(rounds)).run()


PRIMES = [str(n) for n in (1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051, 1061, 1063, 1069)]


def exact(answer: str, gold: str) -> float:
    return float(answer == gold)


# ------------------------------------------------------------------------------------------- chance


def test_chance_is_the_share_of_the_commonest_gold() -> None:
    assert group_chance(group(["yes", "No", " no.", "no"])) == 0.75
    assert group_chance(group(["1", "2", "3", "4"])) == 0.25
    assert group_chance(group(["1", "2"], chance=0.0)) == 0.0


def test_chance_of_multiple_choice_is_at_least_one_of_the_options() -> None:
    items = [
        Item(str(at), Task("stem", {"answer": "AB"[at], "choices": ["p", "q"]}), "", "AB"[at])
        for at in range(2)
    ]
    assert group_chance(Group("stem: x", "stem", items)) == 0.5


def test_a_lucky_hit_among_many_probes_is_no_leak_and_a_constant_credit_is() -> None:
    assert luck([1.0] + [0.0] * 19, 0.05, 1) > 0.5
    assert luck([1.0] * 4 + [0.0] * 16, 0.05, 300) > 0.05
    assert luck([1.0] * 20, 0.05, 300) < 1e-9
    assert luck([0.6] * 20, 0.05, 300) < 0.05
    assert luck([0.5] * 20, 0.5, 1) == 1.0
    assert luck([0.1], 0.0, 1) == 0.0


def test_the_binomial_tail_is_exact() -> None:
    assert binomial_tail(3, 0, 0.3) == pytest.approx(1.0)
    assert binomial_tail(4, 2, 0.5) == pytest.approx(11 / 16)
    assert binomial_tail(20, 20, 0.5) == pytest.approx(0.5**20)


# -------------------------------------------------------------------------------------------- search


def test_an_honest_scorer_leaks_nothing() -> None:
    report = found(exact, PRIMES)
    assert report.leaks == [] and report.faults == []
    assert verdict_of(report) == "ok"


def test_a_gold_that_is_common_is_chance_and_no_leak() -> None:
    report = found(exact, ["yes"] * 8 + ["no"] * 4)
    assert report.leaks == []
    assert report.best is not None and report.best.earned == pytest.approx(8 / 12)


def test_a_scorer_that_takes_any_text_is_a_leak() -> None:
    report = found(lambda answer, gold: float(bool(answer)), PRIMES, rounds=0)
    assert report.leaks and report.leaks[0].earned == 1.0
    assert verdict_of(report) == "LEAK"


def test_containment_is_found_by_the_heap_of_golds() -> None:
    report = found(lambda answer, gold: float(gold in answer), PRIMES, rounds=0)
    assert "golds of all items" in report.leaks[0].probe


def test_partial_credit_for_everything_is_a_leak() -> None:
    report = found(lambda answer, gold: 0.6 if answer else 0.0, PRIMES, rounds=0)
    assert report.leaks[0].earned == pytest.approx(0.6)


def test_mutation_climbs_to_what_no_probe_says() -> None:
    def rule(answer: str, gold: str) -> float:
        return min(
            1.0,
            0.3 * answer.startswith("((") + 0.3 * answer.startswith("(((") + 0.2 * ("(" in answer),
        )

    without, climbed = found(rule, PRIMES, rounds=0), found(rule, PRIMES, rounds=2)
    assert without.best is not None and climbed.best is not None
    assert climbed.best.earned > without.best.earned
    assert climbed.tried > without.tried


def test_missing_verdicts_and_impossible_rewards_are_faults() -> None:
    assert {f.kind for f in found(lambda a, g: None, PRIMES, 0).faults} == {"no verdict"}
    assert {f.kind for f in found(lambda a, g: math.nan, PRIMES, 0).faults} >= {"reward"}
    assert {f.kind for f in found(lambda a, g: 1.5, PRIMES, 0).faults} == {"reward"}


def test_a_verdict_that_changes_is_a_fault() -> None:
    calls = iter(range(10**9))
    report = found(lambda answer, gold: float(next(calls) % 2), PRIMES, 0)
    assert "disagreement" in {fault.kind for fault in report.faults}


# ----------------------------------------------------------------------------------- tasks and probes


@pytest.mark.parametrize("verifier", VERIFIERS.names())
def test_probes_have_unique_names(verifier: str) -> None:
    names = [probe.name for probe in (VERIFIERS.get(verifier).audit.probes or generic_probes)()]
    assert len(names) == len(set(names)) >= 40


def test_every_registered_instruction_id_is_attacked() -> None:
    attacked = {group.name for group in instruction_groups()}
    assert attacked >= {f"instruction: {name}" for name in registered()}
    assert set(registered()) >= form_only()


def test_built_in_golds_are_no_constants() -> None:
    constants = {p.name for p in generic_probes() if p.name.startswith("constant")}
    for one in (*math_groups(), *stem_groups(), *code_groups()):
        assert len(one.items) >= 2
        if one.items[0].chance == 0.0:
            assert not {f"constant {item.gold!r}" for item in one.items} & constants


@pytest.fixture(scope="module")
def generated() -> list[Group]:
    """A dataset whose items depend on the hash seed, and one whose upstream scorer takes any text."""
    return list(logic_groups(["word_ladder", "game_of_life_halting"], 20, 7))


def test_generated_entries_do_not_depend_on_the_run(generated: list[Group]) -> None:
    assert [(one.name, len(one.items)) for one in generated] == [
        ("logic: word_ladder", 20),
        ("logic: game_of_life_halting", 20),
    ]
    again = list(logic_groups(["word_ladder"], 20, 7))
    assert list(again[0].items) == list(generated[0].items)
    assert all(item.gold and item.question for item in again[0].items)


def test_a_file_of_tasks_makes_a_group_a_verifier(tmp_path: Path) -> None:
    rows: list[object] = [
        {"id": 1, "task": {"verifier": "math", "reference": {"answer": "4173"}}},
        {"id": 2, "task": {"verifier": "stem", "reference": {"answer": "3.7", "unit": "m"}}},
        {
            "id": 3,
            "task": {"verifier": "math", "reference": {"answer": "17"}},
            "question": "4^2+1?",
        },
    ]
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    groups = file_groups(path)
    assert [(one.name, len(one.items)) for one in groups] == [
        ("math: tasks.jsonl", 2),
        ("stem: tasks.jsonl", 1),
    ]
    path.write_text('{"id": 1}\n')
    with pytest.raises(TaskError, match=r"tasks\.jsonl:1"):
        file_groups(path)


def test_a_mode_is_written_into_tasks_that_carry_none() -> None:
    (one,) = with_modes([group(["4"])], {"math": "either"})
    assert one.items[0].task.reference["mode"] == "either"
    with pytest.raises(TaskError, match="mode"):
        list(with_modes([group(["4"])], {"math": "lenient"}))


# --------------------------------------------------------------------------------- report and command


def test_the_report_puts_leaks_first_and_cannot_steer_a_terminal() -> None:
    bad = Group("math: \x1b[31mbad", "math", group(PRIMES).items)
    pool = FakePool(lambda answer, gold: float(bool(answer)))
    good = group(["1"], 1.0)
    report = run_audit(pool, [good, bad], Settings(0), NullProgress(), 2)
    assert [one.name for one in report.leaks] == ["math: \x1b[31mbad"]
    assert report.groups[0].leaks and "\x1b" not in "".join(plain_lines(report))
    document = json.loads(json.dumps(as_document(report, {})))
    assert document["leaks"] == 1 and document["groups"][0]["worst_leaks"]
    assert cells(report.groups[0])[0] == "LEAK"


def test_known_leaks_of_the_upstream_scorer_are_found_and_mended_ones_are_not(
    generated: list[Group],
) -> None:
    with VerifierPool(2, timeout_seconds=20) as pool:
        for mode, leaky in (("reference", True), ("fixed", False)):
            groups = with_modes(generated[1:], {"logic": mode})
            report = run_audit(pool, groups, Settings(0), NullProgress(), 1)
            assert bool(report.leaks) is leaky, report.groups[0].best


def command(words: list[str]) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(audit)
    result = CliRunner().invoke(app, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_the_command_audits_a_file_and_writes_json(tmp_path: Path) -> None:
    path, out = tmp_path / "tasks.jsonl", tmp_path / "report.json"
    row = {"id": "a", "task": {"verifier": "math", "reference": {"answer": "4173"}}}
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"id": "b"}) + "\n")
    code, output = command(
        ["--file", str(path), "--rounds", "0", "--json", "--out", str(out), "--fail-on-leak"]
    )
    assert code == 0
    assert json.loads(output) == json.loads(out.read_text())
    assert json.loads(output)["groups"][0]["name"] == "math: tasks.jsonl"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--verifier", "maths"], "did you mean 'math'"),
        (["--dataset", "coinflip"], "did you mean 'coin_flip'"),
        (["--verifier", "math", "--dataset", "coin_flip"], "--verifier logic"),
        (["--file", "x.jsonl", "--verifier", "math"], "omit"),
        (["--mode", "math"], "VERIFIER=MODE"),
    ],
)
def test_mistakes_name_their_cure(words: list[str], part: str) -> None:
    with pytest.raises(UserError, match=part):
        command(words)
