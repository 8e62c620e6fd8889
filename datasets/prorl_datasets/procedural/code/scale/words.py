"""Problems on repeats, borders and subsequences of long words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.scale.rule import long_word
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_MOD = 1_000_000_007
_ALPHABETS = ("ab", "abc", "xyz", "acgt", "abcde")


def _parts(rng: Random, level: int) -> Problem:
    letters = rng.choice(_ALPHABETS)
    one, two = rng.sample(letters, 2)
    keep: Callable[[str], bool]
    if level == 1:
        body = f"How many contiguous parts of `s` (of at least one letter) hold as many '{one}' as '{two}'?"
        solution = WORDINGS.source("parts solution", one=one, two=two)
        keep, key = (lambda part: part.count(one) == part.count(two)), {"one": one, "two": two}
    elif level == 2:
        body = f"How many contiguous parts of `s` begin with '{one}', end with '{two}' and have an even number of letters?"
        solution = WORDINGS.source("parts solution 2", two=two, one=one)
        keep = lambda part: part[0] == one and part[-1] == two and len(part) % 2 == 0
        key = {"one": one, "two": two}
    else:
        body = WORDINGS.one("parts", letters=letters)
        solution = WORDINGS.source("parts solution 3", letters=letters)
        keep, key = (lambda part: set(part) == set(letters)), {"all": letters}

    def brute(s: str) -> int:
        return sum(bool(keep(s[i:j])) for i, j in combinations(range(len(s) + 1), 2))

    return long_word(rng, letters, body, solution, brute, {**key, "level": level})


def _orders(rng: Random, level: int) -> Problem:
    letters = rng.choice(_ALPHABETS)
    size = {1: 2, 2: 3, 3: 4}[level]
    pattern = "".join(rng.choice(letters) for _ in range(size))
    body = WORDINGS.one("orders", size=size, wanted=pattern, mod=_MOD)
    solution = WORDINGS.source("orders solution", size=size, wanted=pattern, mod=_MOD)
    return long_word(
        rng,
        letters,
        body,
        solution,
        lambda s: sum("".join(c) == pattern for c in combinations(s, size)) % _MOD,
        {"wanted": pattern},
    )


def _repeats(rng: Random, level: int) -> Problem:
    letters = rng.choice(("ab", "abc", "acgt"))
    size = rng.randint(3, 8) if level == 1 else rng.randint(2, 4)
    body = f"Take the contiguous parts of `s` with exactly {size} letters. "
    body += WORDINGS.one(f"repeats {level}")
    answer = WORDINGS.one(f"repeats of {level}")
    solution = WORDINGS.source("repeats solution", size_minus_1=size - 1, size=size, answer=answer)

    def brute(s: str) -> int:
        parts = [s[i : i + size] for i in range(max(0, len(s) - size + 1))]
        same = [(i, j) for i, j in combinations(range(len(parts)), 2) if parts[i] == parts[j]]
        return {
            1: len(parts) - len({j for _, j in same}),
            2: len({place for pair in same for place in pair}),
            3: len(same),
        }[level]

    return long_word(rng, letters, body, solution, brute, {"size": size, "level": level}, small=40)


FAMILIES = (
    code_family("long_word_parts", "parts of a long word by their letters", _parts),
    code_family("long_word_choices", "subsequences of a long word", _orders),
    code_family("long_word_repeats", "repeated parts of a long word", _repeats),
)
