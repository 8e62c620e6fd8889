"""Problems on unusual word orders and ranks of arrangements."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import permutations
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    draw_letters,
    listed,
    text_over,
    words,
)
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _ordered_brute(
    down: bool, drop: int, last: int, tie: bool, value: Callable[[str], int]
) -> Callable[[list[str]], list[str]]:
    def brute(w: list[str]) -> list[str]:
        out: list[str] = []
        for word in w:
            at = 0
            while at < len(out):
                x, y = value(word), value(out[at])
                before = (
                    (x > y if down else x < y)
                    if x != y
                    else (word > out[at] if tie else word < out[at])
                )
                if before:
                    break
                at += 1
            out.insert(at, word)
        del out[:drop]
        return out[::-1] if last else out

    return brute


def _ordered_value(letters: str, place: int) -> Callable[[str], int]:
    def value(word: str) -> int:
        return (
            len([*word]),
            LETTERS.index(word[-1]),
            sum(word.count(ch) for ch in letters),
            len([ch for i, ch in enumerate(word) if ch not in word[:i]]),
            LETTERS.index(word[0]) - LETTERS.index(word[-1]),
        )[place]

    return value


def _order_key(letters: str, place: int) -> tuple[str, str]:
    """Return (Python expression with the variable ``word``, description in words) of the sort key with index ``place``."""
    key = (
        "len(word)",
        "word[-1]",
        f'sum(ch in "{letters}" for ch in word)',
        "len(set(word))",
        "ord(word[0]) - ord(word[-1])",
    )[place]
    what = WORDINGS.all("order key", letters=listed(letters).replace(" and ", " or "))[place]
    return key, what


def _ordered(rng: Random) -> Problem:
    place, down, tie = (
        rng.choice((0, 1, 2, 2, 2, 2, 2, 2, 3, 4)),
        rng.random() < 0.5,
        rng.random() < 0.5,
    )
    letters = draw_letters(rng, 3, "aeioulnrst")
    last = rng.randint(0, 1)
    key, what = _order_key(letters, place)
    drop = rng.randint(0, 2)
    code = WORDINGS.source(
        "ordered solution",
        tie_word=("order = sorted(w)", "order = sorted(w, reverse=True)")[tie],
        key_=key,
        reverse_true=", reverse=True" if down else "",
        drop=drop,
        value="[::-1]" if last else "",
    )
    brute = _ordered_brute(down, drop, last, tie, _ordered_value(letters, place))
    removed = (
        f", then remove the first {'word' if drop == 1 else f'{drop} words'} of this order"
        if drop
        else ""
    )
    turned = ", and finally reverse the order" if last else ""
    return Problem(
        WORDINGS.one(
            "ordered",
            what=what,
            largest_or="largest or latest" if down else "smallest or earliest",
            latest="latest" if tie else "earliest",
            removed=removed,
            turned=turned,
        ),
        "w: strs -> strs",
        code,
        brute,
        lambda r: (words(r, 3, 8),),
        {
            "v": 1,
            "place": place,
            "down": down,
            "tie": tie,
            "letters": letters if place == 2 else "",
            "drop": drop,
            "last": last,
        },
        (([],),),
    )


def _alphabet_order(rng: Random) -> Problem:
    alphabet = list("abcdefgh")
    rng.shuffle(alphabet)
    order = "".join(alphabet)
    back, longer = rng.random() < 0.5, rng.random() < 0.5
    code = WORDINGS.source(
        "alphabet order solution",
        order=order,
        reversed_word="reversed(word)" if back else "word",
        value=" + [8]" if longer else "",
    )

    def brute(w: list[str]) -> list[str]:
        def compare(x: str, y: str) -> int:
            x, y = (x[::-1], y[::-1]) if back else (x, y)
            for a, b in zip(x, y, strict=False):
                if a != b:
                    return -1 if order.find(a) < order.find(b) else 1
            return (len(y) - len(x)) if longer else (len(x) - len(y))

        return sorted(w, key=cmp_to_key(compare))

    side = "from the last letter backwards" if back else "from the first letter on"
    return Problem(
        WORDINGS.one(
            "alphabet order",
            order=" < ".join(order),
            side=side,
            longer="longer" if longer else "shorter",
        ),
        "w: strs -> strs",
        code,
        brute,
        lambda r: (
            [
                text_over(r, "abcdefgh"[r.randint(0, 2) : r.randint(4, 8)], 1, 4)
                for _ in range(r.randint(3, 8))
            ],
        ),
        {"v": 2, "order": order, "back": back, "longer": longer},
        (([],),),
    )


def _arrangement_rank(rng: Random) -> Problem:
    order = "".join(rng.sample("abcde", 5))
    m, apart = rng.randint(1000, 99999), rng.random() < 0.5
    c = rng.randint(1, 40)
    code = WORDINGS.source(
        "arrangement rank solution",
        order=order,
        value=" - 1" if apart else "",
        value_2="" if apart else " + 1",
        c=c,
        m=m,
    )

    def brute(s: str) -> list[int]:
        keys = sorted({tuple(p) for p in permutations([order.index(ch) for ch in s])})
        before = keys.index(tuple(order.index(ch) for ch in s))
        after = len(keys) - before - 1
        values = (before, after) if apart else (before + 1, after + 1)
        return [value * c % m for value in values]

    what = (
        ("come before s", "come after s")
        if apart
        else ("are s itself or come before it", "are s itself or come after it")
    )
    return Problem(
        WORDINGS.one("arrangement rank", order=" < ".join(order), what=what, c=c, m=m),
        "s: str -> ints",
        f"import math\n\n\n{code}",
        brute,
        lambda r: (text_over(r, "abcde", 3, 6),),
        {"v": 3, "order": order, "m": m, "apart": apart, "c": c},
        (("a",),),
    )


FAMILIES = (
    leveled_family(
        "word_orders", "sorted by unusual keys", _ordered, _alphabet_order, _arrangement_rank
    ),
)
