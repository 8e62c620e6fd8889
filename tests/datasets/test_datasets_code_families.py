from __future__ import annotations

import json
from collections import Counter
from functools import cache
from random import Random

import pytest

from prorl_datasets.procedural import Family, Item, families
from prorl_datasets.procedural.code.forms import render_input, render_output
from prorl_datasets.procedural.code.problem import Problem, TooUniform, code_item, one_box
from prorl_verifiers import Task, VerifierPool

FAMILIES = list(families("code").values())
LEVELS = (1, 2, 3)
by_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@cache
def _item(family: Family, level: int, seed: int) -> Item:
    return family.generate(Random(seed), level)


def _key(item: Item) -> str:
    return json.dumps(item.parameters, sort_keys=True)


@by_family
def test_item_has_ten_tests_of_which_no_constant_passes_over_a_fifth(family: Family) -> None:
    for level in LEVELS:
        item = _item(family, level, 5)
        tests = item.task.reference["tests"]
        inputs = {json.dumps([test.get("args"), test.get("stdin")]) for test in tests}
        outputs = Counter(json.dumps(t.get("expected", t.get("stdout"))) for t in tests)
        assert len(inputs) == len(tests) >= 10
        assert max(outputs.values()) <= 0.2 * len(tests)


@by_family
def test_parameters_tell_the_levels_apart_and_leave_out_the_form(family: Family) -> None:
    items = [_item(family, level, 5) for level in LEVELS]
    assert len({_key(item) for item in items}) == 3
    for item in items:
        assert item.core and item.core in item.question
        assert "form" not in (item.parameters or {})


def test_both_forms_occur_and_say_how_input_and_output_look() -> None:
    forms = Counter[str]()
    for family in FAMILIES:
        for level in LEVELS:
            item = _item(family, level, 5 + FAMILIES.index(family) % 3)
            forms[item.metadata["form"]] += 1
            sample = item.task.reference["tests"][0]
            if item.metadata["form"] == "program":
                assert f"Sample input:\n```\n{sample['stdin']}```" in item.question
                assert "Input format: " in item.question and "Output format: " in item.question
            else:
                call = ", ".join(map(repr, sample["args"]))
                assert f"{sample['call']}({call}) == {sample['expected']!r}" in item.question
    assert min(forms["function"], forms["program"]) > 0.3 * forms.total()


@by_family
def test_problems_of_level_three_hardly_repeat(family: Family) -> None:
    assert len({_key(_item(family, 3, seed)) for seed in (5, 6, 7)}) == 3


@pytest.mark.parametrize(
    ("problems", "different"),
    [
        pytest.param(50, 47, marks=pytest.mark.slow),
        pytest.param(200, 190, marks=pytest.mark.nightly),
    ],
)
@by_family
def test_of_many_problems_of_level_three_at_most_a_twentieth_repeat(
    family: Family, problems: int, different: int
) -> None:
    keys = {_key(family.generate(Random(1000 + seed), 3)) for seed in range(problems)}
    assert len(keys) >= different


def test_gold_of_every_family_and_level_is_right() -> None:
    pairs = [
        (f"{family.name} {level}", one_box(item.task, item.gold))
        for family in FAMILIES
        for level in LEVELS
        for item in [_item(family, level, 5)]
    ]
    with VerifierPool(workers=1) as pool:
        verdicts = pool.score([pair for _, pair in pairs])
    wrong = [(n, v.reason) for (n, _), v in zip(pairs, verdicts, strict=True) if v.reward != 1.0]
    assert wrong == []


def _problem(addend: str = "1", step: int = 1) -> Problem:
    return Problem(
        "Given an integer `n`, find n + 1.",
        "n: int -> int",
        f"def solve(n):\n    return n + {addend}",
        lambda n: n * step + 1,
        lambda r: (r.randint(0, 99),),
        {"step": step},
        ((0,),),
    )


def test_one_box_agrees_with_the_full_path_on_right_and_wrong_golds() -> None:
    pairs: list[tuple[str, Task]] = []
    for form in ("function", "program"):
        drawn = ((s, code_item(Random(s), _problem())) for s in range(50))
        seed, right = next((s, item) for s, item in drawn if item.metadata["form"] == form)
        wrong = code_item(Random(seed), _problem("1 + n // 50"))
        assert right.task == wrong.task
        for gold in (right.gold, wrong.gold):
            pairs += [one_box(right.task, gold), (gold, right.task)]
    with VerifierPool(workers=1) as pool:
        rewards = [verdict.reward for verdict in pool.score(pairs)]
    for boxed, full, boxed_wrong, full_wrong in (rewards[:4], rewards[4:]):
        assert (boxed, full, boxed_wrong) == (1.0, 1.0, 0.0)
        assert full_wrong is not None and 0 < full_wrong < 1


def test_problem_with_one_output_is_refused() -> None:
    with pytest.raises(TooUniform):
        code_item(Random(1), _problem("1", 0))


def test_value_that_a_form_cannot_carry_is_refused() -> None:
    problem = Problem("x", "s: str -> str", "", lambda s: s + " ", lambda r: (str(r.random()),), {})
    with pytest.raises(ValueError, match="not of kind"):
        code_item(Random(1), problem)


def test_input_and_output_lines_follow_the_kinds() -> None:
    inputs = (("a", "ints"), ("g", "grid"), ("r", "rows"), ("w", "strs"), ("p", "pairs"))
    args: tuple[list[object], ...] = ([3, -1], [[1, 2], [3, 4]], ["ab", "cd"], [], [[5, 6]])
    assert render_input(inputs, args) == "2\n3 -1\n2 2\n1 2\n3 4\n2\nab\ncd\n0\n\n1\n5 6\n"
    assert render_output("grid", [[1, 2], [3, 4]]) == "1 2\n3 4\n"
    assert render_output("ints", []) == "\n"
