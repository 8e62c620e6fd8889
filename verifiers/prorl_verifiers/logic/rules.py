"""The scoring rule of each reasoning-gym dataset, and how it differs from reasoning-gym's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from prorl_verifiers.logic import boards, moves, numbers, text
from prorl_verifiers.logic.proposition import propositional
from prorl_verifiers.logic.text import PARTIAL, Entry, Upstream, beyond, loads, plain


def code_output(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``codeio``. The gold JSON object earns 1, and an object with over half of its values earns partial credit.

    Values that are easy to guess or are shown in the question do not count.
    """
    gold = loads(str(entry["answer"]))
    if plain(answer) == plain(str(entry["answer"])):
        return 1.0
    value = loads(answer)
    if not isinstance(gold, Mapping) or not isinstance(value, Mapping):
        return 0.0
    if _same_json(value, gold):
        return 1.0
    question = str(entry["question"])
    telling = [
        key
        for key, right in gold.items()
        if right not in (0, 1, "", None, [], {}) and json.dumps(right) not in question
    ]
    if set(value) != set(gold) or len(telling) < 2:
        return 0.0
    right = sum(_same_json(value[key], gold[key]) for key in telling)
    return min(PARTIAL, beyond(right / len(telling), 0.5))


def _same_json(one: Any, other: Any) -> bool:
    """Compare JSON values. Numbers may differ by a relative 1e-12, and a boolean never equals a number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or abs(one - other) <= 1e-12 * abs(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_json, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return set(one) == set(other) and all(_same_json(one[k], other[k]) for k in other)
    return bool(one == other)


Check = Callable[[str, Entry, Upstream], float]


@dataclass(frozen=True, slots=True)
class Rule:
    """The scoring rule of a dataset.

    ``partial``: what earns partial credit.
    ``change``: how the rule differs from upstream.
    """

    check: Check
    partial: str = ""
    change: str = ""


_CONTAINED = "upstream rewards text that contains the gold; white space lowers the score"
_EXACT = Rule(text.exact, "", _CONTAINED)
_DIGITS = Rule(text.exact_digits, "", _CONTAINED)
_WORD = Rule(text.exact_word, "", "case and white space are ignored; upstream's minimum score is 0")
_SOUND = Rule(text.above_floor, "", "upstream's minimum score becomes 0")
_FULL = Rule(text.full_marks, "", "upstream's partial credit becomes 0")
_GRID = Rule(text.above_floor, "", _SOUND.change + "; lists in the metadata become tuples again")
_SHORTEST = Rule(text.above_floor, "shortest length / length of a correct solution", _SOUND.change)
_PLACES = "correct positions, beyond the best constant"
_CELLS = "correct blank cells, beyond the best constant"
_EVALUATED = "upstream calls eval on the answer"
_STRICT = "an impossible move makes the answer wrong"
_GIVENS = "the rules are checked; upstream rewards given cells and constants"
_IGNORANT = "upstream rewards constants, echoes or long lists"

RULES: dict[str, Rule] = {
    "ab": _EXACT,
    "acre": _EXACT,
    "advanced_geometry": Rule(
        numbers.triangle,
        "0.5: radius right to 2 of 3 decimal places",
        "minimum scores become 0; upstream ignores a third and fourth coordinate",
    ),
    "aiw": _EXACT,
    "arc_1d": _EXACT,
    "arc_agi": _GRID,
    "base_conversion": _DIGITS,
    "basic_arithmetic": _EXACT,
    "bf": _DIGITS,
    "binary_alternation": _EXACT,
    "binary_matrix": Rule(boards.matrix_or_list, "0.1: a Python list", _EVALUATED),
    "bitwise_arithmetic": Rule(numbers.hexadecimal, "", "upstream calls eval on the problem"),
    "boxnet": Rule(moves.boxnet, "share of boxes at their targets", _STRICT),
    "caesar_cipher": _DIGITS,
    "calendar_arithmetic": Rule(
        numbers.count_or_day,
        "",
        "upstream gives 0.1 for any weekday, up to 1 for near counts, 1 for any number if the gold is -1",
    ),
    "chain_sum": Rule(text.exact_number, "", _CONTAINED),
    "circuit_logic": _EXACT,
    "codeio": Rule(
        code_output,
        "over half of the informative values are right",
        "upstream rewards the keys, which the question shows, and text around the object",
    ),
    "coin_flip": Rule(text.probability, "", "upstream rewards a common prefix: `0` earns 0.96"),
    "color_cube_rotation": _WORD,
    "complex_arithmetic": Rule(
        numbers.complex_number, "exp(-distance) above 0.5", "upstream accepts `nan`"
    ),
    "count_bits": _EXACT,
    "count_primes": _EXACT,
    "countdown": Rule(numbers.countdown, "", _EVALUATED),
    "course_schedule": _EXACT,
    "cryptarithm": Rule(
        text.letter_values, "", "upstream allows a letter two values; its minimum score becomes 0"
    ),
    "decimal_arithmetic": Rule(
        numbers.significant_digits,
        "",
        "upstream accepts `0` for golds below 0.001, and three decimals if 12 digits are requested",
    ),
    "decimal_chain_sum": Rule(text.exact_number, "", "commas are ignored"),
    "dice": Rule(numbers.reduced, "", "any notation of the fraction is accepted"),
    "emoji_mystery": Rule(text.letters, _PLACES, _IGNORANT),
    "family_relationships": _WORD,
    "figlet_font": Rule(text.letters, _PLACES, _IGNORANT),
    "fraction_simplification": Rule(
        numbers.rational, "", "upstream gives 0.1 for the question's fraction, 0.05 for any other"
    ),
    "futoshiki": Rule(boards.futoshiki, _CELLS, _GIVENS),
    "game_of_life": Rule(boards.game_of_life, _PLACES, "upstream gives 0.98 for a board of zeros"),
    "game_of_life_halting": Rule(text.exact, "", "upstream accepts any text"),
    "gcd": _EXACT,
    "graph_color": Rule(moves.graph_color, "", "upstream reads `true` as colour 1"),
    "group_anagrams": _SOUND,
    "gsm_symbolic": Rule(
        text.one_number, "", "upstream drops signs, reads 1,200 as 1 and accepts `not 59`"
    ),
    "intermediate_integration": Rule(
        numbers.antiderivative, "", _EVALUATED + " and accepts `Integral`"
    ),
    "isomorphic_strings": _EXACT,
    "jugs": _SOUND,
    "kakurasu": Rule(boards.kakurasu, "", "upstream finds cells in any text"),
    "knight_swap": _SHORTEST,
    "knights_knaves": Rule(
        text.claims, "", "upstream gives 0.3 for guessing one person, and finds claims in any text"
    ),
    "largest_island": _EXACT,
    "lcm": _EXACT,
    "leg_counting": _EXACT,
    "letter_counting": _EXACT,
    "letter_jumble": Rule(text.unscrambled, _PLACES, _IGNORANT),
    "list_functions": _EXACT,
    "mahjong_puzzle": Rule(text.exact_word, "", _CONTAINED),
    "manipulate_matrix": _EXACT,
    "maze": _EXACT,
    "mini_sudoku": Rule(boards.sudoku, _CELLS, _GIVENS),
    "modulo_grid": _EXACT,
    "n_queens": Rule(boards.n_queens, "0.5: a Python list", _EVALUATED + "; the rules are checked"),
    "needle_haystack": _WORD,
    "number_filtering": Rule(text.listed_numbers, "", _CONTAINED),
    "number_format": Rule(numbers.candidate, "", "upstream accepts any number within 0.01"),
    "number_sequence": _EXACT,
    "number_sorting": Rule(
        text.listed_numbers, "", "upstream accepts a list of NaN, and numbers that are off by 1"
    ),
    "palindrome_generation": _SOUND,
    "palindrome_partitioning": _SOUND,
    "path_star": _EXACT,
    "polynomial_equations": Rule(
        numbers.roots, "share of roots, if over half", "upstream rewards constants near a root"
    ),
    "polynomial_multiplication": Rule(numbers.polynomial, "", _EVALUATED),
    "pool_matrix": Rule(boards.pool_matrix, "", "upstream gives 0.1 for any matrix of this shape"),
    "power_function": _FULL,
    "prime_factorization": Rule(
        numbers.factors, "0.5: several factors, not all prime", "upstream gives 0.5 for one factor"
    ),
    "products": Rule(text.exact_number, "", _CONTAINED),
    "propositional_logic": Rule(
        propositional,
        "0.25: a restated premise; below 0.5: the share of assignments that are excluded",
        "upstream rewards tautologies, echoes and weak clauses, but not single variables",
    ),
    "puzzle24": Rule(numbers.puzzle24, "", "upstream accepts `1*2*3*4`; " + _EVALUATED),
    "quantum_lock": Rule(
        moves.quantum_lock, "0.5: longer than the shortest", "upstream finds letters in any text"
    ),
    "ransom_note": _EXACT,
    "rearc": _GRID,
    "rectangle_count": Rule(text.exact_number, "", "upstream rewards near counts: `3` earns 0.37"),
    "rotate_matrix": _EXACT,
    "rotten_oranges": _EXACT,
    "rubiks_cube": Rule(moves.rubiks_cube, "", "upstream ignores turns of inner layers"),
    "rush_hour": Rule(moves.rush_hour, "", _STRICT),
    "self_reference": _EXACT,
    "sentence_reordering": Rule(text.words_in_order, _PLACES, _IGNORANT),
    "shortest_path": Rule(moves.path, "0.5: longer than the shortest", "ignores commas and case"),
    "simple_equations": _EXACT,
    "simple_geometry": _EXACT,
    "simple_integration": Rule(numbers.antiderivative, "", _EVALUATED + " and accepts `Integral`"),
    "sokoban": Rule(moves.sokoban, "", _STRICT),
    "spell_backward": Rule(text.letters, _PLACES, _IGNORANT),
    "spiral_matrix": Rule(boards.matrix_or_list, "0.1: a Python list", _EVALUATED),
    "string_insertion": Rule(boards.string_or_list, "0.1: a Python list", _EVALUATED),
    "string_manipulation": _DIGITS,
    "string_splitting": _EXACT,
    "string_synthesis": _EXACT,
    "sudoku": Rule(boards.sudoku, _CELLS, _GIVENS),
    "survo": Rule(boards.survo, "", "the rules are checked; upstream accepts one solution only"),
    "syllogism": _EXACT,
    "time_intervals": Rule(numbers.duration, "", "upstream rewards near times: `12:00` earns 0.37"),
    "tower_of_hanoi": Rule(
        moves.tower_of_hanoi, _SHORTEST.partial, "upstream finds moves in any text"
    ),
    "tsumego": _WORD,
    "word_ladder": Rule(text.full_marks, "", _FULL.change + "; upstream gives 0.5 per non-word"),
    "word_sequence_reversal": _EXACT,
    "word_sorting": Rule(text.sorted_words, _PLACES, _IGNORANT),
    "zebra_puzzles": _WORD,
}
