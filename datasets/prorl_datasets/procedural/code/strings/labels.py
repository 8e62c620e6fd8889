"""Problems on labels that count in letters, and on the k-th string under rules."""

from __future__ import annotations

from functools import cache
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_SYMBOLS = "abcdefghijklmnopqrstuvwxyz"


def _label(rng: Random) -> Problem:
    alphabet = "".join(rng.sample("abcdefghijkmnpqrstuvwxyz", rng.randint(2, 6)))
    start = rng.randint(0, 9)
    code = WORDINGS.source(
        "label solution", value=1 - start, alphabet=len(alphabet), alphabet_2=alphabet
    )

    def brute(n: int) -> str:
        number, length = n - start, 1
        while number >= len(alphabet) ** length:
            number -= len(alphabet) ** length
            length += 1
        places = [number // len(alphabet) ** i % len(alphabet) for i in range(length)]
        return "".join(alphabet[place] for place in reversed(places))

    first = ", ".join(brute(start + i) for i in range(len(alphabet) + 2))
    return Problem(
        WORDINGS.one(
            "label", alphabet=", ".join(alphabet), first=first, start=start, start_plus_1=start + 1
        ),
        "n: int -> str",
        code,
        brute,
        lambda r: (start + r.randint(1, 10 ** r.randint(1, 12)),),
        {"v": 1, "alphabet": alphabet, "start": start},
        ((start,),),
    )


def _label_number(rng: Random) -> Problem:
    alphabet = "".join(rng.sample("abcdefghijkmnpqrstuvwxyz", rng.randint(3, 6)))
    step, back = rng.randint(2, 99), rng.random() < 0.5
    size = len(alphabet)
    code = WORDINGS.source(
        "label number solution",
        reversed_s="reversed(s)" if back else "s",
        size=size,
        alphabet=alphabet,
        step=step,
        value="" if back else "[::-1]",
    )

    def brute(s: str) -> str:
        letters = list(s if back else reversed(s))
        for _ in range(step):
            for i in range(len(letters) + 1):
                if i == len(letters):
                    letters.append(alphabet[0])
                    break
                at = alphabet.index(letters[i]) + 1
                letters[i] = alphabet[at % size]
                if at < size:
                    break
        return "".join(letters if back else reversed(letters))

    rule_text = (
        "last letter first: labels are compared from their last letter to their first"
        if back
        else ("first letter first: labels are compared from their first letter to their last")
    )
    return Problem(
        WORDINGS.one("label number", alphabet=", ".join(alphabet), told=rule_text, step=step),
        "s: str -> str",
        code,
        brute,
        lambda r: (text_over(r, alphabet, 1, 7),),
        {"v": 2, "alphabet": alphabet, "step": step, "back": back},
        ((alphabet[-1] * 2,),),
    )


def _kth_string(rng: Random) -> Problem:
    size = rng.randint(3, 5)
    order = "".join(rng.sample(_SYMBOLS[:size], size))
    banned = sorted({text_over(rng, order, 2, 2) for _ in range(rng.randint(1, size))})
    cap = rng.randint(1, 3)
    code = WORDINGS.source(
        "kth string solution", order=order, banned=repr(tuple(banned)), cap_plus_1=cap + 1
    )

    @cache
    def all_of(n: int) -> tuple[str, ...]:
        if n == 0:
            return ("",)
        labels = [t + ch for t in all_of(n - 1) for ch in order]
        long = [ch * (cap + 2) for ch in order]
        return tuple(t for t in labels if not any(t.endswith(bad) for bad in (*banned, *long)))

    def brute(n: int, k: int) -> str:
        return all_of(n)[k - 1] if k <= len(all_of(n)) else "none"

    return Problem(
        WORDINGS.one(
            "kth string", order=" < ".join(order), banned=", ".join(banned), cap_plus_1=cap + 1
        ),
        "n: int, k: int -> str",
        code,
        brute,
        lambda r: (r.randint(2, 5), r.randint(1, 2 ** r.randint(2, 5))),
        {"v": 3, "order": order, "banned": banned, "cap": cap},
        ((1, 50),),
    )


FAMILIES = (
    leveled_family(
        "letter_labels",
        "labels by length and alphabet, to and from numbers",
        _label,
        _label_number,
        _kth_string,
    ),
)
