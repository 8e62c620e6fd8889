"""Hand-made answers for some rules of code problems, and the shared conditions."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from random import Random

from prorl_datasets.procedural.code.dp import edits as dp_edits
from prorl_datasets.procedural.code.grids import boards as grids_boards
from prorl_datasets.procedural.code.lists import games as lists_games
from prorl_datasets.procedural.code.lists import intervals as lists_intervals
from prorl_datasets.procedural.code.lists.common import condition, edge_list, rare_condition, source
from prorl_datasets.procedural.code.parsing import expressions as parsing_expressions
from prorl_datasets.procedural.code.parsing import numerals as parsing_numerals
from prorl_datasets.procedural.code.simulation import lifts as simulation_lifts
from prorl_datasets.procedural.wordings import ordinal


def test_both_writings_of_a_condition_agree(tmp_path: Path) -> None:
    drawn = [condition(Random(seed), low, low + 25) for low in (-20, 0, 7) for seed in range(150)]
    lines = [f"    [bool({one.on('v')}) for v in range(-40, 60)]," for one in drawn]
    file = tmp_path / "conditions.py"
    file.write_text("\n".join(["ALL = [", *lines, "]"]))
    written = runpy.run_path(str(file))["ALL"]
    for one, found in zip(drawn, written, strict=True):
        assert found == [one.holds(v) for v in range(-40, 60)], one.text


def test_conditions_hold_for_the_promised_share() -> None:
    for seed in range(150):
        shares = [
            sum(map(draw(Random(seed), 1, 20).holds, range(1, 21))) / 20
            for draw in (condition, rare_condition)
        ]
        assert 0.2 <= shares[0] <= 0.8 and 0.05 <= shares[1] <= 0.35


def test_equal_conditions_have_equal_keys_and_texts() -> None:
    texts: dict[str, str] = {}
    for seed in range(500):
        drawn = condition(Random(seed), 0, 30)
        assert texts.setdefault(json.dumps(drawn.key), drawn.text) == drawn.text
    assert len(set(texts.values())) == len(texts) > 50


def _as_read(words: str, value: int) -> bool:
    """Interpret a condition's words as a reader would, and return whether ``value`` meets them."""
    if words.startswith("not "):
        return not _as_read(words.removeprefix("not "), value)
    if words.startswith("neither "):
        either = words.removeprefix("neither ").replace(" nor ", " or ")
        return not _as_read(either, value)
    if " or " in words:
        return any(_as_read(part, value) for part in words.split(" or "))
    if " and " in words:
        return all(_as_read(part, value) for part in words.split(" and "))
    number = int(words.rsplit(" ", 1)[1])
    if words.startswith("divisible by "):
        return value % number == 0
    if words.startswith("congruent to "):
        return value % number == int(words.split()[2])
    compared = {"less than": value < number, "greater than": value > number}
    compared |= {"at least": value >= number, "at most": value <= number}
    return compared[words.rsplit(" ", 1)[0]]


def test_the_negation_of_a_condition_reads_as_its_opposite_and_is_not_ambiguous() -> None:
    for drawn in (condition(Random(seed), 0, 30) for seed in range(200)):
        assert not (drawn.negated.startswith("not ") and {"and", "or"} & set(drawn.text.split()))
        for value in range(31):
            assert _as_read(drawn.text, value) == drawn.holds(value), drawn.text
            assert _as_read(drawn.negated, value) != drawn.holds(value), drawn.negated


def test_edges_are_distinct_and_join_different_vertices() -> None:
    for seed in range(100):
        edges = edge_list(Random(seed), 6, 12, 9)
        ends = [tuple(sorted(edge[:2])) for edge in edges]
        assert len(set(ends)) == len(ends) >= 6
        assert all(0 <= u < v < 6 for u, v in ends) and all(1 <= e[2] <= 9 for e in edges)


def test_source_loses_its_indentation_and_keeps_dollar_names_out() -> None:
    text = source(
        """
        def solve(n):
            return n % $m
        """,
        m=7,
    )
    assert text == "def solve(n):\n    return n % 7\n"
    assert [ordinal(n) for n in (1, 2, 3, 4, 11)] == ["1st", "2nd", "3rd", "4th", "11th"]


def test_brute_forces_give_hand_made_answers() -> None:
    assert lists_games._best([3, 9, 1, 2], 1) == 11 - 4
    assert lists_intervals._joined([(0, 4), (5, 6), (9, 12)], 1) == [6, 3]
    assert grids_boards._slide(["O.#", ".OO"], "right", "O#.") == [".O#", ".OO"]
    assert grids_boards._slide(["O.#", ".OO"], "down", "O#.") == ["..#", "OOO"]
    assert parsing_numerals._worth("IVX", list("IVX"), [1, 5, 10]) == 4
    assert parsing_numerals._numeral(9, [(1, "I"), (4, "IV"), (5, "V"), (9, "IX")]) == "IX"
    assert simulation_lifts._nearest([9, 5, 9], (7, 1, 2, 0), [False] * 31, "higher") == [9, 5, 8]


def test_precedence_and_side_decide_the_value_of_an_expression() -> None:
    functions = {"#": lambda x, y: x + y, "@": lambda x, y: x - y}
    late = parsing_expressions._evaluate("9@3@2#1", [["@"], ["#"]], functions, True)
    early = parsing_expressions._evaluate("9@3@2#1", [["@"], ["#"]], functions, False)
    flat = parsing_expressions._evaluate("9@3@2#1", [["@", "#"]], functions, False)
    assert (late, early, flat) == (9 - (3 - 3), 9 - 3 - 3, 9 - 3 - 2 + 1)


def test_edit_costs_say_each_letter_takes_part_once() -> None:
    family = dp_edits.FAMILIES[0]
    item = family.generate(Random(3), 3)
    assert "at most one step" in item.question
