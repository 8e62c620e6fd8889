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


_CONTAINED = "upstream pays for text that holds the gold, and less than 1 with white space"
_EXACT = Rule(text.exact, "", _CONTAINED)
_DIGITS = Rule(text.exact_digits, "", _CONTAINED)
_WORD = Rule(text.exact_word, "", "case and white space forgiven, upstream's floor cut")
_SOUND = Rule(text.above_floor, "", "upstream's, without its floor")
_FULL = Rule(text.full_marks, "", "upstream's full marks only")
_GRID = Rule(text.above_floor, "", _SOUND.change + "; metadata mended after JSON")
_SHORTEST = Rule(text.above_floor, "shortest/length of a right solution", _SOUND.change)
_PLACES = "places right, above the base"
_CELLS = "blank cells right, above the base"
_EVALUATED = "upstream evaluates the answer"
_STRICT = "an impossible move is wrong"
_IGNORANT = "constants, echoes or heaps paid"

RULES: dict[str, Rule] = {
    "ab": _EXACT,
    "acre": _EXACT,
    "advanced_geometry": Rule(
        numbers.triangle,
        "0.5: radius right to 2 of 3 places",
        "floors cut; a third and fourth coordinate were passed over",
    ),
    "aiw": _EXACT,
    "arc_1d": _EXACT,
    "arc_agi": _GRID,
    "base_conversion": _DIGITS,
    "basic_arithmetic": _EXACT,
    "bf": _DIGITS,
    "binary_alternation": _EXACT,
    "binary_matrix": Rule(boards.matrix_or_list, "0.1: as a Python list", _EVALUATED),
    "bitwise_arithmetic": Rule(numbers.hexadecimal, "", "upstream evaluates the entry's problem"),
    "boxnet": Rule(moves.boxnet, "boxes brought home", _STRICT + "; upstream fails on odd JSON"),
    "caesar_cipher": _DIGITS,
    "calendar_arithmetic": Rule(
        numbers.count_or_day,
        "",
        "any weekday earned 0.1, near counts up to 1, any number 1 where the gold is -1",
    ),
    "chain_sum": Rule(text.exact_number, "", _CONTAINED),
    "circuit_logic": _EXACT,
    "codeio": Rule(
        code_output,
        "telling values right, from 1/2 on",
        "upstream pays for the keys, which the question shows, and for text around the object",
    ),
    "coin_flip": Rule(text.probability, "", "common prefix paid: `0` earned 0.96"),
    "color_cube_rotation": _WORD,
    "complex_arithmetic": Rule(
        numbers.complex_number, "exp(-distance) above 0.5", "`nan` was right; far misses paid"
    ),
    "count_bits": _EXACT,
    "count_primes": _EXACT,
    "countdown": Rule(numbers.countdown, "", _EVALUATED),
    "course_schedule": _EXACT,
    "cryptarithm": Rule(text.letter_values, "", "a letter could have two values; floor cut"),
    "decimal_arithmetic": Rule(
        numbers.significant_digits,
        "",
        "`0` was right for every gold below 0.001, three decimals where 12 digits are asked",
    ),
    "decimal_chain_sum": Rule(text.exact_number, "", "commas forgiven"),
    "dice": Rule(numbers.reduced, "", "any notation of the fraction"),
    "emoji_mystery": Rule(text.letters, _PLACES, _IGNORANT),
    "family_relationships": _WORD,
    "figlet_font": Rule(text.letters, _PLACES, _IGNORANT),
    "fraction_simplification": Rule(
        numbers.rational, "", "0.1 for the question's own fraction, 0.05 for any"
    ),
    "futoshiki": Rule(boards.futoshiki, _CELLS, "rules checked; givens and constants paid"),
    "game_of_life": Rule(boards.game_of_life, _PLACES, "a board of zeros earned 0.98"),
    "game_of_life_halting": Rule(text.exact, "", "any text was right: `bool(text)` was compared"),
    "gcd": _EXACT,
    "graph_color": Rule(moves.graph_color, "", "`true` was taken for colour 1; floor cut"),
    "group_anagrams": _SOUND,
    "gsm_symbolic": Rule(
        text.one_number,
        "",
        "upstream lost signs, cut 1,200 to 1 and took `not 59`; words that change the value are wrong",
    ),
    "intermediate_integration": Rule(
        numbers.antiderivative, "", _EVALUATED + "; an unevaluated integral was right"
    ),
    "isomorphic_strings": _EXACT,
    "jugs": _SOUND,
    "kakurasu": Rule(boards.kakurasu, "", "upstream read the cells out of any text"),
    "knight_swap": _SHORTEST,
    "knights_knaves": Rule(
        text.claims, "", "0.3 and more for guessing one person; claims read out of any text"
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
    "mini_sudoku": Rule(boards.sudoku, _CELLS, "rules checked; givens and constants paid"),
    "modulo_grid": _EXACT,
    "n_queens": Rule(boards.n_queens, "0.5: as a Python list", _EVALUATED + "; rules checked"),
    "needle_haystack": _WORD,
    "number_filtering": Rule(text.listed_numbers, "", _CONTAINED),
    "number_format": Rule(numbers.candidate, "", "any number within 0.01 was right"),
    "number_sequence": _EXACT,
    "number_sorting": Rule(
        text.listed_numbers, "", "a list of NaN was right; every number could be off by 1"
    ),
    "palindrome_generation": _SOUND,
    "palindrome_partitioning": _SOUND,
    "path_star": _EXACT,
    "polynomial_equations": Rule(
        numbers.roots, "roots found, more than 1/2", "constants near a root and words paid"
    ),
    "polynomial_multiplication": Rule(numbers.polynomial, "", _EVALUATED),
    "pool_matrix": Rule(boards.pool_matrix, "", "0.1 for any matrix of the shape"),
    "power_function": _FULL,
    "prime_factorization": Rule(
        numbers.factors, "0.5: several factors, not all prime", "0.5 for the number itself"
    ),
    "products": Rule(text.exact_number, "", _CONTAINED),
    "propositional_logic": Rule(
        propositional,
        "0.25: a premise restated; under 0.5: the share of what the premises rule out",
        "tautologies, echoes and the weakest clauses paid; single variables not",
    ),
    "puzzle24": Rule(numbers.puzzle24, "", "`1*2*3*4` was always right; " + _EVALUATED),
    "quantum_lock": Rule(
        moves.quantum_lock, "0.5: longer than the shortest", "letters were read out of any text"
    ),
    "ransom_note": _EXACT,
    "rearc": _GRID,
    "rectangle_count": Rule(text.exact_number, "", "near counts paid: `3` earned 0.37"),
    "rotate_matrix": _EXACT,
    "rotten_oranges": _EXACT,
    "rubiks_cube": Rule(moves.rubiks_cube, "", "floor of 0.01 cut; inner layers turned"),
    "rush_hour": Rule(moves.rush_hour, "", _STRICT),
    "self_reference": _EXACT,
    "sentence_reordering": Rule(text.words_in_order, _PLACES, _IGNORANT),
    "shortest_path": Rule(moves.path, "0.5: longer than the shortest", "commas and case forgiven"),
    "simple_equations": _EXACT,
    "simple_geometry": _EXACT,
    "simple_integration": Rule(
        numbers.antiderivative, "", _EVALUATED + "; an unevaluated integral was right"
    ),
    "sokoban": Rule(moves.sokoban, "", _STRICT),
    "spell_backward": Rule(text.letters, _PLACES, _IGNORANT),
    "spiral_matrix": Rule(boards.matrix_or_list, "0.1: as a Python list", _EVALUATED),
    "string_insertion": Rule(boards.string_or_list, "0.1: as a Python list", _EVALUATED),
    "string_manipulation": _DIGITS,
    "string_splitting": _EXACT,
    "string_synthesis": _EXACT,
    "sudoku": Rule(boards.sudoku, _CELLS, "rules checked; givens and constants paid"),
    "survo": Rule(boards.survo, "", "rules checked; upstream knew one solution"),
    "syllogism": _EXACT,
    "time_intervals": Rule(numbers.duration, "", "near times paid: `12:00` earned 0.37"),
    "tower_of_hanoi": Rule(
        moves.tower_of_hanoi, _SHORTEST.partial, _SOUND.change + "; moves were read out of any text"
    ),
    "tsumego": _WORD,
    "word_ladder": Rule(
        text.full_marks, "", _FULL.change + "; it pays 0.5 a word for letters that are no words"
    ),
    "word_sequence_reversal": _EXACT,
    "word_sorting": Rule(text.sorted_words, _PLACES, _IGNORANT),
    "zebra_puzzles": _WORD,
}
