"""Where a changed answer may be another right one: what the audit does not try on a dataset.

Plans may be longer than the stored one and go on after the goal; sets have no order; some questions ask for no
precision. Everything else about an answer, denials and second answers above all, makes it wrong everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.audit.items import Kind

_PLAN: frozenset[Kind] = frozenset({"appended", "digit", "order"})
"""Another plan may reach the goal too."""
_ANY_ORDER: frozenset[Kind] = frozenset({"order"})
_ANY_SOLUTION: frozenset[Kind] = frozenset({"order"})
"""Rows that trade places may solve the puzzle too; a single changed cell breaks its sums or its Latin rows."""
_NO_PRECISION: frozenset[Kind] = frozenset({"precision"})
"""The question asks for no number of digits, or for fewer than the gold has (which may be noise of floats)."""
_UNIT: frozenset[Kind] = frozenset({"junk"})
"""A word beside the number may be its unit."""

MAY_BE_RIGHT: Mapping[str, frozenset[Kind]] = {
    **dict.fromkeys(
        (
            *("boxnet", "jugs", "knight_swap", "quantum_lock", "rubiks_cube", "rush_hour"),
            *("shortest_path", "sokoban", "tower_of_hanoi", "word_ladder"),
        ),
        _PLAN,
    ),
    "cryptarithm": frozenset({"digit", "order"}),  # a letter whose place values cancel out
    "graph_color": frozenset({"digit", "order"}),
    "propositional_logic": frozenset({"digit", "order"}),
    **dict.fromkeys(
        (
            *("codeio", "countdown", "group_anagrams", "intermediate_integration"),
            *("knights_knaves", "palindrome_partitioning", "polynomial_equations"),
            *("polynomial_multiplication", "prime_factorization", "puzzle24", "simple_integration"),
        ),
        _ANY_ORDER,
    ),
    **dict.fromkeys(
        ("futoshiki", "kakurasu", "mini_sudoku", "n_queens", "sudoku", "survo"), _ANY_SOLUTION
    ),
    **dict.fromkeys(("coin_flip", "number_format", "pool_matrix", "power_function"), _NO_PRECISION),
    "gsm_symbolic": _UNIT,
}
"""Dataset -> the kinds of mutations that may leave an answer right."""
