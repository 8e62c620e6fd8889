"""Problems on bit masks, shuffles and bit counts."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family, ones
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _masked(rng: Random) -> Problem:
    mask, shift, kind = rng.randint(5, 255), rng.randint(0, 3), rng.randint(0, 2)
    op, name = (("&", "AND"), ("|", "OR"), ("^", "XOR"))[kind]
    count = rng.random() < 0.5

    def brute(n: int) -> int:
        x, y = n // 2**shift, mask
        bits = []
        while x or y:
            bits.append(
                ((x % 2) * (y % 2), (x + y + x * y) % 2 if x % 2 + y % 2 < 2 else 1, (x + y) % 2)[
                    kind
                ]
            )
            x, y = x // 2, y // 2
        return sum(bits) if count else sum(bit * 2**i for i, bit in enumerate(bits))

    shifted = f"n >> {shift}" if shift else "n"
    code = f"({shifted}) {op} {mask}" if shift else f"n {op} {mask}"
    what = "the number of ones in the binary form of" if count else "the value of"
    expression = f'bin({code}).count("1")' if count else code
    return Problem(
        f"Given an integer `n` (0 <= n <= 10^9), find {what} the bitwise {name} of {mask} and "
        + (f"n shifted right by {shift} bit{'s' * (shift > 1)}." if shift else "n."),
        "n: int -> int",
        f"def solve(n):\n    return {expression}",
        brute,
        lambda r: (r.randint(0, 2 ** r.randint(6, 29)),),
        {"v": 1, "mask": mask, "shift": shift, "kind": kind, "count": count},
    )


def _bit_shuffle(rng: Random) -> Problem:
    width, turn, mask = rng.choice((8, 10, 12, 16)), rng.randint(1, 7), rng.randint(1, 255)
    kind = rng.randint(0, 2)
    what = WORDINGS.all("bit shuffle")[kind]
    half = width // 2
    middle = (
        "s[::-1]",
        '"".join(s[i + 1] + s[i] for i in range(0, len(s), 2))',
        f"s[{half}:] + s[:{half}]",
    )[kind]
    code = WORDINGS.source("bit shuffle solution", width=width, middle=middle, turn=turn, mask=mask)

    def brute(n: int) -> int:
        result = 0
        for i in range(width):
            j = (width - 1 - i, i + 1 - i % 2 * 2, (i + half) % width)[kind]
            result += n // 2**i % 2 * 2 ** ((j + turn) % width)
        for i in range(8):
            if mask // 2**i % 2:
                result += -(2**i) if result // 2**i % 2 else 2**i
        return result

    return Problem(
        WORDINGS.one("bit shuffle 2", width=width, what=what, turn=turn, mask=mask),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randrange(2**width),),
        {"v": 2, "width": width, "turn": turn, "mask": mask, "kind": kind},
        ((0,),),
    )


def _bit_ranges(rng: Random) -> Problem:
    k, c, d = rng.randint(1, 15), rng.randint(0, 255), rng.randint(2, 5)
    r0 = rng.randrange(d)
    code = WORDINGS.source("bit ranges solution", c=c, k=k, d=d, r0=r0)

    def brute(n: int) -> int:
        odd = sum(2**i for i in range(1, 40, 2))
        values = (ones(x ^ c) + k * ones((x ^ c) & odd) for x in range(n + 1))
        return sum(1 for v in values if v % d == r0)

    return Problem(
        WORDINGS.one("bit ranges", k_plus_1=1 + k, c=c, r0=r0, d=d),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(1, 400),),
        {"v": 3, "k": k, "c": c, "d": d, "r": r0},
        ((0,),),
    )


FAMILIES = (
    leveled_family(
        "bit_patterns", "ones, runs and places in binary", _masked, _bit_shuffle, _bit_ranges
    ),
)
